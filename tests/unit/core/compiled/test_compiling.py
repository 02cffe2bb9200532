"""Compile time: what workers spend, and the garbage collector, which rests meanwhile."""

import gc

import numba
import pytest

from maxmargin.core import Listener, listening
from maxmargin.core.compiled import compiling


class Seen(Listener):
    def __init__(self):
        self.enabled = []

    def started(self, name):
        self.enabled.append(gc.isenabled())


@pytest.mark.parametrize("before", [True, False])
def test_collection_goes_on_as_before(before):
    seen = Seen()
    (gc.enable if before else gc.disable)()
    try:
        with listening(seen):
            inner = numba.njit(lambda x: x + 1)
            assert numba.njit(lambda x: inner(x) + 1)(1) == 3
        after = gc.isenabled()
    finally:
        gc.enable()
    assert (seen.enabled, after) == ([False], before)


def test_collection_goes_on_after_a_failure():
    with pytest.raises(numba.TypingError):
        numba.njit(lambda x: x.nothing)(1)
    assert gc.isenabled()


def test_workers_that_compile_side_by_side_are_waited_for_once(monkeypatch):
    """By the clock; each worker compiles for `seconds` and says so at `now`."""
    monkeypatch.setattr(compiling, "_compilations", compiling._Compilations())
    waited = []
    for now, seconds in [(1, 1.0), (1, 1.0), (4, 1.0), (5, 0.5), (5.5, 1.75), (9, 1)]:
        monkeypatch.setattr(compiling.time, "perf_counter", lambda now=now: now)
        compiling.workers_compiled(seconds)
        waited.append(compiling.compile_seconds())
    assert waited == [1.0, 1.0, 2.0, 2.5, 3.5, 4.5]
