"""The garbage collector rests while loops are compiled, and only then."""

import gc

import numba
import pytest

from maxmargin.core import Listener, listening


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
