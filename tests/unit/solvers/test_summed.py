"""Linear summed error: SDCD and cutting planes against the dense QP over the box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small.problems import all_planes, chain_problem, multiclass_problem, optimum

from maxmargin.core import Problem
from maxmargin.losses import ZeroOne
from maxmargin.solvers import Status
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated import Enumerated
from maxmargin.solvers.n_slack import SDM
from maxmargin.solvers.planes import PlaneBlocks
from maxmargin.solvers.summed import SDCD, LSECuttingPlane

ALL = 40  # more than a chain of three tokens and three labels has outputs
BOTH = [
    SDCD(tol=1e-6, k=ALL, outside=0.0),
    LSECuttingPlane(tol=1e-6, k=ALL, outside=0.0),
]


@pytest.mark.parametrize("solver", BOTH, ids=["sdcd", "cutting-plane"])
@settings(deadline=None, max_examples=3)
@given(seed=st.integers(0, 1000), C=st.sampled_from([0.02, 0.2, 1.0]))
def test_exact_where_all_outputs_are_asked_for(solver, seed, C):
    problem = chain_problem(seed, n=5, C=C, penalty="summed")
    best, w = optimum(problem)
    result, _ = solver.solve(problem)
    assert result.status is Status.CONVERGED
    assert result.certificate == "reduced"
    assert result.notes["outside_bound"] == 0.0
    assert abs(result.dual - best) <= 1e-5 * best
    assert 0.5 * np.sum((result.w - w) ** 2) <= result.primal - best + 1e-5 * best


@pytest.mark.parametrize("k", [1, 4])
def test_reduced_certificate_says_what_it_certifies(k):
    problem = chain_problem(2, n=8, C=0.3, penalty="summed")
    owner, A, b = all_planes(problem)
    best, _ = optimum(problem)
    result, state = SDCD(tol=1e-4, k=k).solve(problem)
    assert result.converged and result.certificate == "reduced"
    heights = b - A @ result.w
    full = 0.5 * result.w @ result.w + 0.3 * np.maximum(heights, 0).sum()
    assert result.dual <= best * (1 + 1e-6)
    assert result.primal <= full * (1 + 1e-9)
    # No output outside V_i is violated by more than the bound in the notes.
    held = np.array([len(s) - 1 for s in state.sets.known])
    assert held.sum() == result.planes == state.sets.blocks.planes
    for i in range(problem.n):
        own = np.sort(heights[owner == i])[::-1]
        if held[i] < len(own):
            positive = own[own > 1e-12]
            outside = state.sets.blocks.heights(i, result.w)
            left = np.sort(np.concatenate([positive, [0.0]]))[::-1]
            for h in outside[outside > 1e-12]:
                left = np.delete(left, np.argmin(np.abs(left - h)))
            assert left[0] <= result.notes["outside_bound"] + 1e-9
    assert result.notes["outputs_asked"] == k


def test_nbest_finds_what_the_most_violated_output_hides():
    problem = chain_problem(3, n=8, C=0.01, penalty="summed")
    best, _ = optimum(problem)
    one, _ = SDCD(tol=1e-5, k=1).solve(problem)
    many, _ = SDCD(tol=1e-5, k=10, outside=1e-3).solve(problem)
    assert many.planes > one.planes
    assert one.dual < many.dual <= best * (1 + 1e-6)


@pytest.mark.parametrize("solver", BOTH, ids=["sdcd", "cutting-plane"])
def test_monotone_and_repeatable(solver):
    problem = chain_problem(4, n=8, C=0.3, penalty="summed")
    first, _ = solver.solve(problem)
    again, _ = solver.solve(problem)
    assert (np.diff(first.history["dual"]) >= -1e-9 * first.dual).all()
    assert first.w.tobytes() == again.w.tobytes()


def test_rules_of_the_paper_stop_near_the_optimum():
    problem = chain_problem(5, n=8, C=0.3, penalty="summed")
    best, _ = optimum(problem)
    steady, _ = SDCD(change=1e-8, k=ALL, block=1, tol=0.0).solve(problem)
    assert steady.status is Status.STEADY
    assert abs(steady.dual - best) <= 1e-2 * best
    cuts, _ = LSECuttingPlane(epsilon=1e-3, k=ALL, tol=0.0).solve(problem)
    assert cuts.status is Status.WITHIN_EPSILON
    assert cuts.primal - cuts.dual <= 0.3 * 1.1e-3


def test_warm_start_after_another_C():
    problem = chain_problem(6, n=15, C=0.3, penalty="summed")
    solver = SDCD(tol=1e-4, k=8)
    _, state = solver.solve(problem)
    changed = problem.with_C(np.full(15, 0.33))
    warm, _ = solver.solve(changed, state)
    cold, _ = solver.solve(changed)
    assert warm.converged
    assert warm.iterations < cold.iterations
    assert abs(warm.dual - cold.dual) <= 0.02 * cold.dual


def test_multiclass_is_exact():
    problem = multiclass_problem(7, penalty="summed")
    best, _ = optimum(problem)
    solver = choose("sdcd", problem, tol=1e-5)
    assert isinstance(solver, Enumerated)
    result, _ = solver.solve(problem)
    assert result.certificate == "exact"
    assert abs(result.dual - best) <= 2e-5 * best
    for other in (SDCD(tol=1e-5, k=4), LSECuttingPlane(tol=1e-5, k=4)):
        again, _ = other.solve(problem)
        assert abs(again.dual - best) <= 1e-3 * best


def test_several_are_the_best_of_all():
    problem = chain_problem(8, n=6, penalty="summed")
    owner, A, b = all_planes(problem)
    w = np.random.default_rng(0).normal(size=problem.dim)
    ids = np.array([4, 1])
    got = problem.several(w, ids, 3)
    for i in ids:
        mine = got.slack[got.ids == i]
        theirs = np.append(b[owner == i] - A[owner == i] @ w, 0.0)  # and the truth
        size = min(3, len(theirs))
        assert np.allclose(mine, np.maximum(np.sort(theirs)[::-1][:size], 0.0))
        held = PlaneBlocks(
            6, problem.dim, problem.dual_set, parts=problem.outer_coordinates()
        )
        for q in np.flatnonzero(got.ids == i):
            rows = np.array([q])
            cut = got.ids[rows], got.a.take(rows), got.b[rows], got.slack[rows]
            held.take_in(*cut, w.copy(), news=-np.inf, closed=np.inf)
        assert np.allclose(np.maximum(held.heights(i, w), 0.0), mine)
    plain = Problem(
        problem.structure, ZeroOne().bind(3), problem.formulation, problem.x,
        problem.truth, problem.C,
    )  # fmt: skip
    top = plain.several(w, ids, 2)
    best = plain.cuts(w, ids)
    for q, i in enumerate(ids):
        assert np.isclose(top.slack[top.ids == i].max(), best.slack[q])


def test_auto_takes_sdcd_and_others_refuse():
    problem = chain_problem(9, penalty="summed")
    assert choose("auto", problem).resolve(problem).notes["chosen"] == "SDCD"
    with pytest.raises(ValueError, match="summed"):
        SDM().solve(problem)
    with pytest.raises(ValueError, match="linear"):
        SDCD().solve(chain_problem(9))
