"""Dual states from files that say anything: what `restore_into` refuses or copies."""

import numpy as np
import pytest

from maxmargin.core import Formulation, Rows
from maxmargin.solvers.base import State
from maxmargin.solvers.planes import PlaneBlocks
from maxmargin.solvers.resume import restore_into, snapshot_of

N, DIM = 3, 5


def blocks():
    return PlaneBlocks(N, DIM, Formulation().dual_set(np.ones(N)), most=4, memory=1e6)


@pytest.fixture
def data():
    """The dual state of blocks with two planes per example."""
    full = blocks()
    ids, w = np.arange(N), np.zeros(DIM)
    for turn in range(2):
        ptr = 2 * np.arange(N + 1)
        idx = np.tile(np.array([turn, turn + 2], np.int32), N)
        cuts = Rows(ptr, idx, np.arange(1.0, 2 * N + 1) + turn)
        high = np.full(N, 10.0**turn)
        full.take_in(ids, cuts, high, high, w, closed=np.inf)
    assert full.planes == 2 * N
    return snapshot_of(full)


def test_a_state_comes_back(data):
    fresh = blocks()
    restore_into(fresh, data)
    assert fresh.planes == 2 * N


def test_an_array_that_a_file_names_twice_is_copied(data):
    data["_store"]["idle"] = data["_store"]["start"] = np.zeros_like(
        data["_store"]["start"]
    )
    data["_store"]["stop"] = data["_store"]["start"]
    fresh = blocks()
    restore_into(fresh, data)
    assert not np.shares_memory(fresh.store.idle, fresh.store.stop)


@pytest.mark.parametrize("name", ["first", "gram_at", "support_at", "start"])
def test_blocks_that_overlap_are_refused(data, name):
    array = data["_store"][name]
    other = int(np.flatnonzero(array != array[0])[0])
    array[other] = array[0]
    if name == "start":
        data["_store"]["stop"][other] = data["_store"]["stop"][0]
    with pytest.raises(ValueError, match="overlap"):
        restore_into(blocks(), data)


def test_an_integer_beyond_64_bits_is_no_number():
    state = State(np.zeros(2))
    data = snapshot_of(state) | {"primal": 2**70}
    with pytest.raises(ValueError, match="primal"):
        restore_into(state, data)
