"""Progress of a run on standard error: a bar on a terminal, plain lines elsewhere.

The gap falls by about a constant factor per second, so the bar is on a log scale of the
gap, and the remaining time is extrapolated from the rate so far. With the package rich
its progress bar is used; without it, one line that is rewritten. Before that, a terminal
shows what is going on (reading, encoding), and while loops are compiled for the first
time, which takes seconds, how many and how long. All of it fits 60 columns.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.core.compiled.compiling import (
    Listener,
    compile_count,
    compile_seconds,
    listening,
)

EVERY = 5.0  # seconds between two lines where there is no terminal
WIDE = 80  # columns of a terminal with room for all figures
NARROW = 12  # columns of the bar on narrower terminals


def progress(tol: float) -> Progress:
    """A callback that shows each row of the history; `close` ends the line."""
    if not sys.stderr.isatty():
        return Progress(tol)
    end_status()
    try:
        return _RichBar(tol)
    except ImportError:
        return _Bar(tol)


class Progress(Listener):
    """A line per row of the history; the base of the bars."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._first: tuple[float, float] | None = None
        self._latest: Any = None
        self._shown, self._step = 0.0, 1

    def __call__(self, row: Any) -> bool:
        """Show a row; never asks to stop."""
        self.show(row)
        return False

    def show(self, row: Any) -> None:
        """Print it, if enough time or many steps have passed since the last line."""
        self._latest = row
        now, step = float(row["seconds"]), int(row["iteration"])
        if step > 1 and now - self._shown < EVERY and step < 2 * self._step:
            return
        self._print()

    def _print(self) -> None:
        row, self._latest = self._latest, None
        if row is not None:
            self._shown, self._step = float(row["seconds"]), int(row["iteration"])
            print(line(row), file=sys.stderr)

    def started(self, name: str) -> None:
        """Say on a terminal that a loop is being compiled."""
        self.say(compiling_line())

    def ended(self, name: str, number: int, seconds: float) -> None:
        """Count it."""
        self.say(compiling_line())

    def say(self, text: str) -> None:
        """Show a text where the bar is; only terminals have one."""

    def close(self) -> None:
        """The run has ended: print its last row, if that has not been done."""
        self._print()

    def share(self, row: Any) -> float:
        """Progress of the gap from 1 to the tolerance, on a log scale, 0 to 1."""
        gap = min(max(float(row["gap"]), self.tol, 1e-300), 1.0)
        return math.log(gap) / math.log(self.tol) if 0.0 < self.tol < 1.0 else 1.0

    def to_go(self, row: Any) -> float:
        """Remaining seconds at the rate so far; NaN while the rate is unknown."""
        share, seconds = self.share(row), float(row["seconds"])
        if self._first is None:
            self._first = share, seconds
        done, took = share - self._first[0], seconds - self._first[1]
        return took * (1.0 - share) / done if done > 0.0 and took > 0.0 else math.nan


def line(row: Any) -> str:
    """One row of the history in words."""
    return (
        f"{row['iteration']:5d}  {row['seconds']:8.2f} s  primal {primal_of(row):>12s}"
        f"  dual {row['dual']:12.6g}  gap {row['gap']:9.2e}  planes {row['planes']}"
    )


def compiling_line() -> str:
    """How far compiling has come, in words."""
    done, seconds = compile_count(), compile_seconds()
    if shutil.get_terminal_size().columns < WIDE:
        return f"compiling loops (once): {done}, {seconds:.0f} s"
    return f"compiling loops, once for this machine: {done} done, {seconds:.0f} s"


def primal_of(row: Any) -> str:
    """The primal value; where none is known yet, its estimate from the gap, with a ~.

    Examples
    --------
    >>> primal_of({"primal": math.inf, "dual": 3.0, "gap": 0.25})
    '~4'
    """
    primal, dual, gap = (float(row[name]) for name in ("primal", "dual", "gap"))
    if math.isfinite(primal):
        return f"{primal:.6g}"
    if not 0.0 <= gap < 1.0:
        return "?"
    return f"~{dual / (1.0 - gap):.6g}"


def waiting(seconds: float) -> str:
    """The remaining time in words.

    Examples
    --------
    >>> waiting(12.3), waiting(4000.0), waiting(math.nan)
    ('12 s to go', '67 min to go', '')
    """
    if math.isnan(seconds) or seconds > 1e6:
        return ""
    if seconds > 600.0:
        return f"{seconds / 60.0:.0f} min to go"
    return f"{seconds:.0f} s to go"


def short_line(row: Any, tol: float) -> str:
    """The gap alone, for narrow terminals."""
    return f"gap {row['gap']:.1e} of {tol:.0e}"


class _Bar(Progress):
    """One line that is rewritten."""

    def __init__(self, tol: float, width: int = 24) -> None:
        super().__init__(tol)
        self.width, self._open = width, False

    def show(self, row: Any) -> None:
        filled = int(self.width * self.share(row))
        bar = "#" * filled + "." * (self.width - filled)
        left = f"{waiting(self.to_go(row)):14s}"
        text = f"[{bar}] {line(row)}  {left}"
        wide = shutil.get_terminal_size().columns
        if len(text) >= wide:
            bar = bar if wide >= WIDE else bar[:: self.width // NARROW]
            text = f"[{bar}] {short_line(row, self.tol)}  {left}"
        self._write(text)

    def say(self, text: str) -> None:
        wide = shutil.get_terminal_size().columns >= WIDE
        self._write(f"[{'.' * (self.width if wide else NARROW)}] {text}")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()
        self._open = True

    def close(self) -> None:
        """End the line, whether the tolerance was met or not."""
        if self._open:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._open = False


class _RichBar(Progress):
    """The bar of rich, which knows the width of the terminal."""

    def __init__(self, tol: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Rich

        super().__init__(tol)
        console = Console(file=sys.stderr)
        width = 24 if console.width >= WIDE else NARROW
        bar = BarColumn(bar_width=width, complete_style="blue", finished_style="green")
        columns = (bar, TextColumn("{task.fields[text]}"))
        self._rich = Rich(*columns, console=console)
        self._task = self._rich.add_task("", total=1.0, text="")
        self._rich.start()

    def show(self, row: Any) -> None:
        text = short_line(row, self.tol)
        if self._rich.console.width >= WIDE:
            text = (
                f"step {row['iteration']}  primal {primal_of(row)}  dual "
                f"{row['dual']:.6g}  gap {row['gap']:.1e} of {self.tol:.1e}"
            )
        text = f"{text}  {waiting(self.to_go(row))}"
        self._rich.update(self._task, completed=self.share(row), text=text)

    def say(self, text: str) -> None:
        self._rich.update(self._task, text=text)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._rich.stop()


class _Line(Listener):
    """A line of a terminal that is rewritten, and erased at the end."""

    def __init__(self) -> None:
        self._width = 0

    def started(self, name: str) -> None:
        """Say that a loop is being compiled."""
        self.write(f"{compiling_line()}, now {name.rpartition('.')[2]}")

    def ended(self, name: str, number: int, seconds: float) -> None:
        """Count it."""
        self.write(compiling_line())

    def write(self, text: str) -> None:
        """Show a text instead of what is there."""
        text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        """Erase the line."""
        if self._width:
            self.write("")
            sys.stderr.write("\r")
            sys.stderr.flush()


_STATUS = _Line()


def status(text: str) -> None:
    """Show on a terminal what is going on, until the bar of a run or `end_status`."""
    if sys.stderr.isatty():
        _STATUS.write(text)


def end_status() -> None:
    """Erase what `status` has shown."""
    if sys.stderr.isatty():
        _STATUS.close()


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Show on a terminal how compiling goes on in the block."""
    if not sys.stderr.isatty():
        yield
        return
    shown = _Line()
    try:
        with listening(shown):
            yield
    finally:
        shown.close()
