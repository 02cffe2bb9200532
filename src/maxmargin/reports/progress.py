"""Progress of a run on standard error: a bar with rich, plain lines without."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any


def progress(tol: float) -> Callable[[Any], bool]:
    """A callback that shows each row of the history."""
    bar = _Bar(tol) if sys.stderr.isatty() else None

    def show(row: Any) -> bool:
        if bar is not None:
            bar.show(row)
        else:
            print(line(row), file=sys.stderr)
        return False

    return show


def line(row: Any) -> str:
    """One row of the history in words."""
    return (
        f"{row['iteration']:5d}  {row['seconds']:8.2f} s  primal {row['primal']:12.6g}"
        f"  dual {row['dual']:12.6g}  gap {row['gap']:9.2e}  planes {row['planes']}"
    )


class _Bar:
    """One line that is rewritten: how far the gap has come, on a log scale."""

    def __init__(self, tol: float, width: int = 24) -> None:
        self.tol, self.width = tol, width

    def show(self, row: Any) -> None:
        gap = min(max(float(row["gap"]), self.tol), 1.0)
        share = math.log(gap) / math.log(self.tol) if self.tol < 1 else 1.0
        filled = int(self.width * share)
        bar = "#" * filled + "." * (self.width - filled)
        certified = row["gap"] <= self.tol and math.isfinite(row["primal"])
        end = "\n" if certified else ""
        sys.stderr.write(f"\r[{bar}] {line(row)}{end}")
        sys.stderr.flush()
