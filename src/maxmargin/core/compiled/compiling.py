"""Compile time: it is left out of time limits, announced to users, and kept short.

`working_time` is the wall clock without the seconds spent on compiling, so that a limit
on training time does not depend on whether this is the first run on a machine.

A long wait is announced: to the logger "maxmargin", at level INFO, and once, in one
line, to people who look at a terminal, unless a progress bar tells them (`listening`).
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from maxmargin.core.compiled.packs import stores

log = logging.getLogger("maxmargin")
PATIENCE = 1.0  # seconds of compiling before a terminal is told


class Listener:
    """Is told of each loop that is compiled because Python has called it."""

    def started(self, name: str) -> None:
        """The loop `name` is about to be compiled."""

    def ended(self, name: str, number: int, seconds: float) -> None:
        """It is done: the `number`-th of this process, after `seconds` of compiling."""


_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell `listener` of loops compiled in the block; those around it hear nothing."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _Compilations(event.Listener):
    """Counts and times what Numba compiles; nested ones belong to the outermost.

    Numba tells of compilations under its own lock, so that there is one at a time. The
    garbage collector, which would take a sixth of the time, is switched off meanwhile.
    """

    def __init__(self) -> None:
        self.depth, self.number, self.seconds, self.begin = 0, 0, 0.0, 0.0
        self.elsewhere: list[tuple[float, float]] = []  # when workers compiled
        self.enabled = self.announced = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.begin = time.perf_counter()
            self.enabled = gc.isenabled()
            gc.disable()
            if _listeners:
                _listeners[-1].started(_name(event))
        self.depth += 1
        self._announce()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth > 0:
            return
        if self.enabled:
            gc.enable()
        took = time.perf_counter() - self.begin
        self.seconds += took
        self.number += 1
        name = _name(event)
        log.info("compiled %s in %.1f s; %d loops, %.1f s so far",
                 name, took, self.number, self.seconds)  # fmt: skip
        if _listeners:
            _listeners[-1].ended(name, self.number, self.seconds)

    def _announce(self) -> None:
        """One line for a terminal, once, if this takes a while and no bar says it."""
        if self.announced or _listeners or compile_seconds() < PATIENCE:
            return
        self.announced = True
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(
                f"maxmargin: compiling loops for this machine; {_later()}\n"
            )


def _later() -> str:
    """What becomes of compiled loops."""
    user = stores().user
    if user.folder is None or not user.writable:
        return f"later runs will compile again: {user.problem}"
    return "they are kept for later runs ('maxmargin warmup' compiles all ahead)"


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def _name(event: Any) -> str:
    """Name of the function that is compiled, as `module.function`."""
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__qualname__}"


def compiling_now() -> bool:
    """Whether a compilation is under way, in this thread or another."""
    return _compilations.depth > 0


def compile_seconds() -> float:
    """Seconds spent on compiling so far, here or by workers that were waited for."""
    running = time.perf_counter() - _compilations.begin if _compilations.depth else 0.0
    elsewhere = sum(end - begin for begin, end in _compilations.elsewhere)
    return _compilations.seconds + elsewhere + running


def workers_compiled(seconds: float) -> None:
    """Note that a worker has compiled for some seconds, up to now.

    Workers compile side by side, while this process waits once: times at which several
    of them compiled count once.

    Examples
    --------
    >>> before = compile_seconds()
    >>> for worker in range(3):
    ...     workers_compiled(0.5)
    >>> compile_seconds() - before < 0.6
    True
    """
    end = time.perf_counter()
    begin, spans = end - seconds, _compilations.elsewhere
    earlier = [span for span in spans if span[1] <= begin]
    begin = min([begin, *(span[0] for span in spans[len(earlier) :])])
    _compilations.elsewhere = [*earlier, (begin, end)]  # at once: others may read it


def compile_count() -> int:
    """Loops that this process has compiled because Python called them."""
    return _compilations.number


def working_time() -> float:
    """Seconds of a clock that stands still while loops are compiled.

    Examples
    --------
    >>> begin = working_time()
    >>> working_time() >= begin
    True
    """
    return time.perf_counter() - compile_seconds()
