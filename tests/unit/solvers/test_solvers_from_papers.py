"""SDM, BCFW and subgradient: the dense QP, each other, monotone duals, same bits."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small.problems import chain_problem, multiclass_problem, optimum

from maxmargin.core import Cuts, Ragged, Rows
from maxmargin.estimators import StructuralSVM
from maxmargin.solvers import Status, Subgradient
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated import Enumerated
from maxmargin.solvers.frank_wolfe import BCFW, Aggregates
from maxmargin.solvers.n_slack import SDM, BlockDual, NSlack, NSlackBlock
from maxmargin.structures.chain import Chain

EXACT = [
    SDM(tol=1e-5),
    SDM(tol=1e-5, block=1, kappa1=2, kappa2=3),
    BCFW(tol=1e-3, average=False),
    BCFW(tol=1e-3),
    BCFW(tol=1e-3, sampling="gap", block=1),
    BCFW(tol=1e-4, steps="pairwise", cache=30, average=False),
    BCFW(tol=1e-4, steps="away", cache=30),
    BCFW(tol=1e-3, cache=5, sampling="gap"),
]


def name(solver):
    extra = [getattr(solver, k, None) for k in ("steps", "cache", "sampling", "block")]
    return " ".join(str(v) for v in [type(solver).__name__, *extra] if v is not None)


@pytest.mark.parametrize("solver", EXACT, ids=name)
def test_agrees_with_the_dense_qp(solver):
    problem = chain_problem(1)
    best, w = optimum(problem)
    result, _ = solver.solve(problem)
    assert result.status is Status.CONVERGED
    slip = 1e-7 * best
    assert result.dual <= best + slip <= result.primal + 2 * slip
    assert result.primal - best <= solver.tol * result.primal + slip
    # strong convexity: 1/2 ||w - w*||^2 <= primal - best
    assert 0.5 * np.sum((result.w - w) ** 2) <= result.primal - best + 1e-6 * best


@settings(deadline=None, max_examples=3)
@given(st.integers(0, 1000), st.sampled_from([0.05, 0.5, 3.0]))
def test_all_agree_on_random_chains(seed, C):
    problem = chain_problem(seed, C=C)
    best, _ = optimum(problem)
    for solver in (SDM(tol=1e-4), BCFW(tol=3e-2, max_iter=20000), BlockDual(tol=1e-4)):
        result, _ = solver.solve(problem)
        assert result.dual <= best * (1 + 1e-6) + 1e-9
        assert result.primal >= best * (1 - 1e-6) - 1e-9
        assert result.gap <= solver.tol


def test_squared_penalty():
    problem = chain_problem(3, penalty="squared")
    best, _ = optimum(problem)
    result, _ = SDM(tol=1e-5).solve(problem)
    assert result.converged
    assert abs(result.dual - best) <= 2e-5 * best
    rough, _ = Subgradient(max_iter=200).solve(problem)
    assert rough.dual <= best * (1 + 1e-7) <= rough.primal * (1 + 2e-7)
    assert rough.gap < 0.2


def test_slack_rescaling():
    problem = chain_problem(4, rescaling="slack")
    best, _ = optimum(problem)
    for solver in (SDM(tol=1e-4), BCFW(tol=1e-3)):
        result, _ = solver.solve(problem)
        assert result.dual <= best * (1 + 1e-6) <= result.primal * (1 + 2e-6)
        assert result.converged


def test_subgradient_bounds_both_sides():
    problem = chain_problem(5, C=0.3)
    best, _ = optimum(problem)
    result, _ = Subgradient(max_iter=300, tol=1e-2).solve(problem)
    assert result.dual <= best * (1 + 1e-7) <= result.primal * (1 + 2e-7)
    assert result.gap < 0.05


@pytest.mark.parametrize("solver", [*EXACT, Subgradient(max_iter=20)], ids=name)
def test_dual_never_falls_and_runs_repeat(solver):
    problem = chain_problem(6, n=10, C=0.5)
    first, _ = solver.solve(problem)
    again, _ = solver.solve(problem)
    assert (np.diff(first.history["dual"]) >= -1e-12 * first.dual).all()
    assert first.w.tobytes() == again.w.tobytes()
    assert first.history["dual"].tobytes() == again.history["dual"].tobytes()


@pytest.mark.parametrize("solver", [SDM(tol=1e-4), BCFW(tol=1e-3)], ids=name)
def test_warm_start_after_another_C(solver):
    problem = chain_problem(7, n=25, C=0.5)
    _, state = solver.solve(problem)
    changed = problem.with_C(np.full(25, 0.6))
    warm, _ = solver.solve(changed, state)
    cold, _ = solver.solve(changed)
    assert warm.converged
    assert abs(warm.primal - cold.primal) <= 2 * solver.tol * cold.primal
    assert warm.oracle_calls < cold.oracle_calls


@pytest.mark.parametrize("kind", [BlockDual, NSlack, SDM, BCFW, Enumerated])
@pytest.mark.parametrize("ratio", [0.01, 3.0, 1e4])
def test_a_much_larger_C_does_not_lower_the_dual(kind, ratio):
    """Alpha that is multiplied by the ratio of both C lies far beyond the optimum."""
    make = multiclass_problem if kind is Enumerated else chain_problem
    problem = make(2, C=0.5)
    _, state = kind(tol=1e-2).solve(problem)
    before = state.dual
    start = kind(tol=1e-2).start(problem.with_C(ratio * problem.C), state)
    assert start.dual >= min(1.0, ratio) * before - 1e-9
    if kind in (BlockDual, NSlack, SDM):
        assert start.dual == pytest.approx(start.blocks.dual(start.blocks.weights()))
        sums = [a.sum() for a in start.blocks.alphas()]
        assert max(sums) <= 0.5 * ratio * (1 + 1e-9)


@pytest.mark.parametrize("memory", [1e6, 960.0])  # the second holds 32 entries
def test_aggregates_keep_the_average_of_all_iterates(memory):
    rng = np.random.default_rng(0)
    kept = Aggregates(3, 6, np.full(3, 0.7), memory)
    w, gaps = np.zeros(6), np.zeros(3)
    mean, mean_b = np.zeros(6), 0.0
    for k in range(20):
        a = Rows.from_dense(rng.normal(size=(1, 6)) * (rng.random((1, 6)) < 0.6))
        b = np.array([rng.random()])
        slack = np.maximum(b - a.dot(w), 0.0)
        cut = Cuts(np.array([k % 3]), a, b, slack, Ragged.single([0]))
        before = kept.dual(w)
        rise, _ = kept.take_in(cut, w, gaps)
        assert np.isclose(kept.dual(w) - before, rise, atol=1e-12)
        mean = (k * mean + 2 * w) / (k + 2)
        total = kept.dual(w) + 0.5 * w @ w
        mean_b = (k * mean_b + 2 * total) / (k + 2)
    assert np.allclose(kept.weights(), w)
    got, value = kept.mean(w)
    assert np.allclose(got, mean)
    assert np.isclose(value, mean_b - 0.5 * mean @ mean)
    assert kept.nbytes <= 3 * 32 + 8 + 0.8 * memory


@pytest.mark.parametrize("kind", [NSlack, NSlackBlock])
def test_an_epsilon_that_is_met_is_named(kind):
    problem = chain_problem(2)
    result, _ = kind(epsilon=0.3, tol=1e-9).solve(problem)
    assert result.status is Status.WITHIN_EPSILON and result.gap > 1e-9
    sharp, _ = kind(tol=1e-5).solve(problem)
    assert sharp.converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the user's rule was met: nothing to warn of
        model = StructuralSVM(Chain(), solver=kind(epsilon=0.3, tol=1e-9))
        model.fit([[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]])
    assert model.result_.status.as_asked


def test_names_and_refusals():
    problem = chain_problem(9)
    for key, kind in (("sdm", SDM), ("bcfw", BCFW), ("subgradient", Subgradient)):
        assert type(choose(key, problem, tol=0.1)) is kind
    with pytest.raises(ValueError, match="cache"):
        BCFW(steps="pairwise")
    with pytest.raises(ValueError, match="steps"):
        BCFW(steps="sideways")
    with pytest.raises(ValueError, match="penalty='hard'"):
        BCFW().solve(chain_problem(9, penalty="hard"))
