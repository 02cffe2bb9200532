"""`python -m maxmargin`."""

import sys

from maxmargin.cli.main import main

sys.exit(main())
