"""Dual states from files that say anything: what `restore_into` refuses or copies."""

import mmap
import os

import numpy as np
import pytest
from small.problems import chain_problem

from maxmargin.core import Formulation, Rows
from maxmargin.solvers import OneSlack
from maxmargin.solvers.base import State
from maxmargin.solvers.distributed import Cocoa
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


@pytest.mark.parametrize("number", [np.inf, -1e300, np.nan])
def test_weights_that_overflow_are_refused(number):
    """An infinite weight gave a chart without a tree (IndexError)."""

    fresh, held = Weights(), snapshot_of(Weights())
    held["w"][1] = number
    with pytest.raises(ValueError, match="w has"):
        restore_into(fresh, held)


class Weights:
    """The smallest state with weights."""

    DUAL = ("w",)

    def __init__(self):
        self.w = np.zeros(DIM)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_long_arrays_of_planes_are_no_holes_in_the_heap():
    """What was outgrown goes back to the system at once."""
    from maxmargin.solvers.planes.store import PAGED, paged_zeros

    short, long = paged_zeros(3), paged_zeros(PAGED // 8)
    assert short.base is None and isinstance(long.base.obj, mmap.mmap)
    assert not long.any() and long.flags.writeable and long.flags.aligned
    child = os.fork()
    if child == 0:
        long[0] = 1.0  # pages are private: the parent does not see this
        os._exit(0)
    os.waitpid(child, 0)
    assert long[0] == 0.0


@pytest.mark.parametrize("name", ["val", "b", "alpha"])
def test_planes_that_overflow_are_refused(data, name):
    """Least squares of products that overflowed never came to an end."""
    data["_store"][name][0] = 1.7e308
    with pytest.raises(ValueError, match="beyond"):
        restore_into(blocks(), data)


def test_cuts_that_overflow_are_refused():
    held = snapshot_of(one_slack())
    held["a"] = [(np.array([0], np.int32), np.array([1.7e308]))]
    held["b"] = held["alpha"] = held["idle"] = np.zeros(1)
    held["gram"] = np.ones((1, 1))
    with pytest.raises(ValueError, match="a cut: a number is beyond"):
        restore_into(one_slack(), held)


def one_slack():
    return OneSlack().start(chain_problem(0, n=3, longest=2), None)


def handed_over():
    """A problem, a trainer, and what four rounds of it leave for a checkpoint."""
    problem = chain_problem(0, n=8)
    solver = Cocoa(tol=1e-12, shards=2, portions=2)
    state = solver.start(problem)
    for _ in range(4):
        solver.step(problem, state)
    return problem, solver, solver.snapshot(problem, state)


def gone_on(problem, solver, data):
    """The state after another round."""
    state = solver.start(problem)
    solver.restore(problem, state, data)
    solver.step(problem, state)
    return state


def test_shards_go_on():
    problem, solver, data = handed_over()
    assert gone_on(problem, solver, data).turn == 5


@pytest.mark.parametrize(
    "name, value",
    [
        ("shards", [(1, 5), (5, 9)]), ("shards", [(0, 4), (4, 9)]), ("shards", []),
        ("shards", [(0, 4), (4, 10**9)]), ("shards", [(0, 5), (4, 8)]),
        ("shards", [(0, 8), (8, 8)]), ("shards", [(-4, 4), (4, 8)]),
        ("shards", [(0, 8)]), ("shards", [0, 8]), ("turns", [4]), ("turns", [4, "x"]),
        ("turns", [4, 2**40]), ("turns", [-1, 4]), ("turn", 3), ("portions", 0),
        ("sigma", 0.0), ("gaps", ["x"]),
    ],
)  # fmt: skip
def test_shards_of_a_file_are_those_of_the_data(name, value):
    """Others would lead the search for constraints beyond the examples."""
    problem, solver, data = handed_over()
    data["lead"][name] = value
    with pytest.raises(ValueError):
        gone_on(problem, solver, data)


def test_a_shard_that_claims_a_round_that_it_cannot_repeat_begins_anew():
    problem, solver, data = handed_over()
    data["shards"][0]["turn"] = 5
    assert gone_on(problem, solver, data).turn == 5
