"""Before anything is compiled: one cache of compiled loops for all test runs.

Entries are named by a hash of all that a loop depends on (`core/compiled`), so that the
cache can outlive any edit, and checkouts of several branches can share it.
"""

import getpass
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

CACHE = Path(tempfile.gettempdir()) / f"maxmargin-tests-{getpass.getuser()}"
os.environ.setdefault("MAXMARGIN_CACHE_DIR", str(CACHE))

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile(
    "maxmargin",
    deadline=None,
    derandomize="MAXMARGIN_EXPLORE" not in os.environ,  # set it to try new instances
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("maxmargin")

if str(ROOT / "tests") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests"))


@pytest.fixture(scope="session")
def data():
    """Folder with the data sets; tests that need it are skipped without it."""
    path = Path(os.environ.get("MAXMARGIN_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip("no data sets here: set MAXMARGIN_DATA to their folder")
    return path


@pytest.fixture(autouse=True)
def _close_figures():
    """Matplotlib keeps figures until someone closes them, and warns at twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
