"""One command line for the tables of this folder."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path


def command(run: Callable[..., dict], title: str) -> None:
    """Run a table and print published figures beside ours."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="a part of the data")
    parser.add_argument("--seed", type=int, default=0)
    default = os.environ.get("MAXMARGIN_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    args = parser.parse_args()
    result = run(args.data, args.quick, args.seed)
    print(result.pop("title", title))
    rows, notes = result.pop("rows"), result.pop("notes")
    widths = {k: max(len(str(r[k])) for r in [*rows, {k: k}]) for k in rows[0]}
    print("  ".join(f"{k:{n}}" for k, n in widths.items()))
    for row in rows:
        print("  ".join(f"{row[k]!s:{n}}" for k, n in widths.items()))
    for key, value in result.items():
        print(f"{key}: {value}")
    print(*notes, sep="\n")
