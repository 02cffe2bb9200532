"""L1 regularisation: proximal steps against a linear program over all constraints."""

import operator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small.problems import all_planes, chain_problem, multiclass_problem

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM
from maxmargin.core import Formulation
from maxmargin.kernels import Joint, Rbf
from maxmargin.solvers import BlockDual, ProximalL1, Status
from maxmargin.solvers.choose import choose


def l1(problem, rescaling="margin"):
    return replace(problem, formulation=Formulation(rescaling, "linear", "l1"))


def optimum(problem):
    """min ||w||_1 + sum C slack by a dense LP: value and weights."""
    owner, A, b = all_planes(problem)
    dim, slack = problem.dim, np.eye(problem.n)[owner]
    found = linprog(
        np.concatenate([np.ones(2 * dim), problem.C]),
        A_ub=np.hstack([-A, A, -slack]),
        b_ub=-b,
    )
    return found.fun, found.x[:dim] - found.x[dim : 2 * dim]


@settings(deadline=None, max_examples=6)
@given(
    seed=st.integers(0, 1000),
    C=st.sampled_from([0.1, 0.5, 2.0]),
    rescaling=st.sampled_from(["margin", "slack"]),
)
def test_agrees_with_the_dense_lp(seed, C, rescaling):
    problem = l1(chain_problem(seed, n=6, C=C), rescaling)
    best, _ = optimum(problem)
    result, state = ProximalL1(tol=1e-3).solve(problem)
    assert result.status is Status.CONVERGED, result.summary()
    slip = 1e-7 * max(best, 1.0)
    assert result.dual <= best + slip <= result.primal + 2 * slip
    assert result.primal - result.dual <= 1e-3 * result.primal + slip
    # The primal is what it says, and v belongs to alpha.
    owner, A, b = all_planes(problem)
    heights = b - A @ result.w
    slack = [max(heights[owner == i].max(), 0.0) for i in range(problem.n)]
    primal = np.abs(result.w).sum() + problem.C @ slack
    assert result.primal == pytest.approx(primal, rel=1e-8, abs=1e-9)
    np.testing.assert_allclose(state.v, state.blocks.weights(), atol=1e-8)
    assert (np.diff(result.history["dual"]) >= 0.0).all()


def test_weights_are_sparse_and_zero_where_C_is_small():
    problem = l1(multiclass_problem(3, C=0.2))
    result, _ = ProximalL1(tol=1e-4).solve(problem)
    assert 0 < result.notes["weights_kept"] <= 0.75 * problem.dim
    assert result.notes["weights_kept"] == np.count_nonzero(result.w)
    tiny, _ = ProximalL1().solve(problem.with_C(np.full(problem.n, 1e-3)))
    assert tiny.notes["weights_kept"] == 0 and tiny.gap <= 1e-3


def test_warm_start_after_another_C_and_repeatable():
    problem = l1(chain_problem(4, n=15, C=0.3))
    solver = ProximalL1(tol=1e-3)
    first, state = solver.solve(problem)
    again, _ = solver.solve(problem)
    assert first.w.tobytes() == again.w.tobytes()
    changed = problem.with_C(np.full(15, 0.36))
    warm, _ = solver.solve(changed, state)
    assert warm.converged
    assert warm.dual == pytest.approx(optimum(changed)[0], rel=2e-3)


def test_users_ask_by_a_parameter():
    rng = np.random.default_rng(0)
    Y = [rng.integers(3, size=5).tolist() for _ in range(30)]
    X = [np.hstack([np.eye(3)[y], rng.normal(size=(5, 20))]) for y in Y]
    dense = ChainSVM().fit(X, Y)
    sparse = ChainSVM(C=1.0, regularizer="l1").fit(X, Y)
    assert sparse.result_.notes["chosen"] == "ProximalL1"
    assert sparse.result_.converged and sparse.result_.certificate == "exact"
    kept = np.count_nonzero(sparse.coef_)
    assert kept == sparse.result_.notes["weights_kept"]
    assert kept < 0.5 * np.count_nonzero(dense.coef_)
    assert sparse.score(X, Y) > 0.95


def test_what_cannot_be_is_refused():
    X, y = np.eye(3), [0, 1, 2]
    with pytest.raises(ValueError, match="regularizer='l3' is neither"):
        MulticlassSVM(regularizer="l3").fit(X, y)
    with pytest.raises(ValueError, match="regularizer='l1' is there for penalty"):
        MulticlassSVM(regularizer="l1", penalty="squared").fit(X, y)
    with pytest.raises(ValueError, match=r"BlockDual cannot train regularizer='l1'"):
        BlockDual().solve(l1(chain_problem(1)))
    with pytest.raises(ValueError, match=r"ProximalL1 cannot train regularizer='l2'"):
        ProximalL1().solve(chain_problem(1))
    with pytest.raises(ValueError, match="a kernel has none"):
        MulticlassSVM(regularizer="l1", kernel="rbf").fit(X, y)
    joint = Joint(Rbf(1.0), operator.eq)
    with pytest.raises(ValueError, match="a joint kernel has none"):
        MulticlassSVM(regularizer="l1", kernel=joint).fit(X, y)
    with pytest.raises(
        ValueError, match="partial_fit is not available for regularizer='l1'"
    ):
        MulticlassSVM(regularizer="l1").partial_fit(X, y)
    with pytest.raises(ValueError, match="not available for outputs with hidden parts"):
        ChainSVM(regularizer="l1").fit([[["a"], ["b"]]] * 2, [["A", None], ["A", "B"]])
    assert "regularizer" not in KernelSVM().get_params()
    problem = l1(chain_problem(1))
    assert choose("auto", problem).resolve(problem).notes["chosen"] == "ProximalL1"


@pytest.mark.parametrize("sigma", [0.0, -1.0, 5e-324, 1e300, np.inf])
def test_a_checkpoint_with_an_impossible_sigma_is_refused(sigma):
    problem = replace(multiclass_problem(0), formulation=Formulation(regularizer="l1"))
    solver = ProximalL1()
    data = solver.snapshot(problem, solver.start(problem))
    fresh = solver.start(problem)
    solver.restore(problem, fresh, data)  # as it is
    with pytest.raises(ValueError, match="the checkpoint's sigma is"):
        solver.restore(problem, fresh, {**data, "sigma": float(sigma)})
