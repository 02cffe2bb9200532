"""Planes stay under the bytes asked for, after every step of every trainer."""

import numpy as np
import pytest
from small.problems import chain_problem, optimum

from maxmargin.solvers import OneSlack
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.solvers.n_slack import SDM, BlockDual, NSlack, NSlackBlock
from maxmargin.solvers.one_slack.cutting_plane import VECTORS
from maxmargin.solvers.planes import store as stores
from maxmargin.solvers.summed import SDCD, LSECuttingPlane
from maxmargin.solvers.summed.cutting_plane_as_written import LSECuttingPlaneAsWritten

MERGING = {  # these forget and average planes: bound, and no less of the dual
    "block-dual": (BlockDual, {}),
    "sdm": (SDM, {}),
    "n-slack": (NSlack, {}),
    "n-slack-block": (NSlackBlock, {}),
    "one-slack": (OneSlack, {}),
    "bcfw-pairwise": (BCFW, {"steps": "pairwise", "cache": 30, "average": False}),
    "bcfw-cached": (BCFW, {"cache": 10}),
}
GROWING = {"sdcd": SDCD, "lse-cutting-plane": LSECuttingPlane}  # sets stop growing


def held(state) -> int:
    """Bytes of planes, sums and cuts in a state."""
    parts = [getattr(state, name, None) for name in ("blocks", "kept")]
    if hasattr(state, "sets"):
        parts.append(state.sets.blocks)
    own = getattr(state, "nbytes", 0)
    return own + sum(part.nbytes for part in parts if part is not None)


def watched(solver, problem, steps):
    """Bytes and dual after each step."""
    state = solver.start(problem)
    rows = [(held(state), state.dual)]
    for _ in range(steps):
        solver.step(problem, state)
        rows.append((held(state), state.dual))
        if state.gap() <= solver.tol:
            break
    return state, *np.array(rows).T


@pytest.mark.parametrize("name", MERGING)
def test_merged_planes_keep_the_bound_and_the_dual(name):
    kind, settings = MERGING[name]
    problem = chain_problem(8, n=60, C=1.0, longest=4)
    best = BlockDual(tol=1e-6).solve(problem)[0].primal
    _, bytes_, duals = watched(kind(tol=1e-4, **settings), problem, 60)
    bound = bytes_.max()  # half of it: old and new arrays exist while planes move
    state, bytes_, duals = watched(
        kind(tol=1e-4, memory=bound, **settings), problem, 200
    )
    assert bytes_.max() <= bound
    assert (np.diff(duals) >= -1e-9 * duals[-1]).all()
    assert 0.9 * best <= duals[-1] <= best * (1 + 1e-9)
    if hasattr(state, "blocks"):
        np.testing.assert_allclose(state.blocks.weights(), state.w, atol=1e-7)


def test_sums_of_planes_keep_the_bound():
    problem = chain_problem(8, n=60, C=1.0)
    _, free, _ = watched(BCFW(tol=1e-2), problem, 200)
    bound = 0.8 * free.max()
    state, bytes_, _ = watched(BCFW(tol=1e-2, memory=bound), problem, 2000)
    assert bytes_.max() <= bound and state.gap() <= 1e-2


@pytest.mark.parametrize("name", GROWING)
def test_sets_stop_growing_at_the_bound(name):
    problem = chain_problem(3, n=40, C=1.0, penalty="summed", longest=4)
    _, free, _ = watched(GROWING[name](tol=1e-3), problem, 300)
    bound = 0.2 * free.max()
    solver = GROWING[name](tol=1e-3, memory=bound)
    state, bytes_, duals = watched(solver, problem, 1000)
    assert bytes_.max() <= bound and state.sets.full
    assert state.gap() <= 1e-3  # of the problem over the sets as they are
    alphas = state.sets.blocks.alphas()
    assert all((a >= 0).all() and (a <= 1.0 + 1e-12).all() for a in alphas)
    best, _ = optimum(problem)
    assert duals[-1] <= best * (1 + 1e-6)


@pytest.mark.parametrize("name", [*MERGING, "bcfw"])
def test_a_bound_that_holds_nothing_is_refused(name):
    kind, settings = MERGING.get(name, (BCFW, {}))
    problem = chain_problem(8, n=60, C=1.0)
    with pytest.raises(MemoryError, match="allow more"):
        kind(memory=500.0, **settings).solve(problem)


@pytest.mark.parametrize("name", GROWING)
def test_sets_that_may_hold_nothing_say_so(name):
    problem = chain_problem(8, n=60, C=1.0, penalty="summed")
    result, _ = GROWING[name](memory=500.0).solve(problem)
    assert result.planes == 0 and result.notes["outside_found"] > 0


@pytest.mark.parametrize("name", [*MERGING, "bcfw"])
def test_too_little_memory_is_refused_before_training_begins(name):
    """Enough for the arrays of examples, but not for a plane of each."""
    kind, settings = MERGING.get(name, (BCFW, {}))
    problem = chain_problem(8, n=60, C=1.0)
    told, memory = "plane for each of 60 examples needs", 60 * 300.0
    if kind is OneSlack:  # it holds sums, whose number does not depend on the examples
        told, memory = f"a cut of {problem.dim} weights needs", 12.0 * problem.dim
    with pytest.raises(MemoryError, match=told):
        kind(memory=memory, **settings).start(problem)


def test_cuts_leave_room_for_vectors_as_long_as_the_weights():
    """Each cut takes a tenth of the memory, the vectors a step works with as much."""
    problem = chain_problem(8, n=60, C=1.0)
    bound = 200.0 * problem.dim
    state, bytes_, duals = watched(OneSlack(tol=1e-3, memory=bound), problem, 300)
    assert bytes_.max() <= bound - 8 * VECTORS * problem.dim
    assert state.made > len(state.b) and (np.diff(duals) >= -1e-9 * duals[-1]).all()


@pytest.mark.parametrize("kind", [LSECuttingPlane, LSECuttingPlaneAsWritten])
def test_sets_leave_room_for_vectors_as_long_as_the_weights(kind):
    problem = chain_problem(3, n=40, C=1.0, penalty="summed", longest=4)
    bound = 1000.0 * problem.dim
    state = kind(memory=bound).start(problem)
    assert state.sets.blocks.memory == 0.75 * bound - 8 * VECTORS * problem.dim


def test_packed_planes_are_the_same_planes():
    problem = chain_problem(8, n=60, C=1.0, longest=4)
    blocks = BlockDual(tol=1e-9, max_iter=3).solve(problem)[1].blocks
    w, dual, planes = blocks.weights(), blocks.dual(blocks.weights()), blocks.planes
    blocks.forget_idle(1)  # leaves holes
    left, top = blocks.planes, blocks.store.top.copy()
    heights = [blocks.heights(i, w) for i in range(problem.n)]
    stores.pack(blocks.store)
    assert 0 < left <= planes == blocks.planes + planes - left
    assert (blocks.store.top <= top).all() and blocks.store.top[3] < top[3]
    np.testing.assert_array_equal(blocks.weights(), w)
    assert blocks.dual(w) == dual
    for i, before in enumerate(heights):
        np.testing.assert_array_equal(blocks.heights(i, w), before)
    blocks.check_restored()  # no two blocks overlap
    diagonal = [
        np.diag(blocks.store.gram[at : at + m * m].reshape(m, m))[:held]
        for at, m, held in zip(
            blocks.store.gram_at, blocks.store.room, blocks.store.count, strict=True
        )
    ]
    assert max(d.max() for d in diagonal if len(d)) == blocks.radius()
