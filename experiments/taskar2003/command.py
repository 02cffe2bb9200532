"""One command line for the figures of this folder."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path


def command(run: Callable[..., dict], title: str) -> None:
    """Run a figure and print published figures beside ours."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="a part of the data")
    parser.add_argument("--seed", type=int, default=0)
    default = os.environ.get("MAXMARGIN_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--parts", nargs="*", help="folds, schools or data sets")
    args = parser.parse_args()
    result = run(args.data, args.quick, args.seed, args.parts)
    print(title)
    rows = result["rows"]
    widths = {k: max(len(str(r[k])) for r in [*rows, {k: k}]) for k in rows[0]}
    print("  ".join(f"{k:{n}}" for k, n in widths.items()))
    for row in rows:
        print("  ".join(f"{row[k]!s:{n}}" for k, n in widths.items()))
    print(*result["notes"], sep="\n")
