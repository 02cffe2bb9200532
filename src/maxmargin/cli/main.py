"""The command line: `maxmargin demo`, and what is to come."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from maxmargin import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="maxmargin",
        description="Max-margin structured prediction, with a certificate of "
        "optimality on every fit.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="read handwritten postcodes: a real training run in a few seconds",
        description="Train on scanned digits written as postcodes, once digit by "
        "digit and once as sequences; print the certificate and save a picture.",
    )
    demo.add_argument("--out", default="maxmargin-demo.png", help="picture to write")
    demo.add_argument("--seed", type=int, default=0, help="which postcodes are written")
    args = parser.parse_args(argv)
    if args.command == "demo":
        from maxmargin.cli.demo import run

        return run(args.out, args.seed)
    parser.print_help()
    return 2


if __name__ == "__main__":
    sys.exit(main())
