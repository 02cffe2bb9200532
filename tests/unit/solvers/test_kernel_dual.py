"""KernelDual against the block dual over an explicit map of all rows."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM, MulticlassSVM
from maxmargin.core import Formulation, Problem
from maxmargin.kernels import Rbf
from maxmargin.kernels.gram import Columns, fits_short
from maxmargin.losses import ZeroOne
from maxmargin.solvers.base import Status
from maxmargin.solvers.enumerated import kernel_dual
from maxmargin.structures import Multiclass

COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
ALIKE = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])


def sample(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noise = 0.3 * rng.normal(size=n)
    return X, np.digitize(X[:, 0] * X[:, 1] + noise, np.linspace(-0.5, 0.5, k - 1))


CASES = {
    "plain": {},
    "squared": {"penalty": "squared"},
    "no constant": {"fit_intercept": False},
    "large constant": {"intercept_scaling": 7.0},
    "costs": {"loss": COSTS},
    "slack rescaling": {"loss": COSTS, "rescaling": "slack"},
    "classes alike": {"class_similarity": ALIKE},
    "class weights": {"class_weight": "balanced"},
    "quadratic": {"kernel": "quadratic"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_the_optimum_is_that_of_the_map_of_all_rows(case, tol, monkeypatch):
    """Small working sets, so that many are needed."""
    monkeypatch.setattr(kernel_dual, "TOGETHER", 16)
    X, y = sample()
    given = {"C": 2.0, "kernel": "rbf"} | CASES[case]
    own = MulticlassSVM(**given, tol=tol).fit(X, y)
    other = MulticlassSVM(**given, tol=1e-6, solver="block-dual").fit(X, y)
    assert own.result_.notes["chosen"] == "KernelDual"
    assert own.result_.status is Status.CONVERGED
    assert own.result_.certificate == "exact"
    best = other.result_.primal
    assert own.result_.dual <= best * (1.0 + 1e-9)  # weak duality
    assert best * (1.0 - 2e-6) <= own.result_.primal <= best * (1.0 + 1.01 * tol)
    if tol < 1e-5:
        assert own.decision_function(X) == pytest.approx(
            other.decision_function(X), abs=0.02
        )


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_certificate_is_that_of_the_machine_returned(tol):
    """The primal is computed here from the scores of the model."""
    X, y = sample(150)
    model = KernelSVM(C=3.0, gamma=0.7, tol=tol).fit(X, y)
    R, K = np.zeros((len(y), 3)), Rbf(0.7)(X, X)
    R[model.support_] = model.dual_coef_
    square = float(np.vdot(R, K @ R)) + float(model.intercept_ @ model.intercept_)
    scores = model.decision_function(X)
    own = scores[np.arange(len(y)), y]
    heights = 1.0 + scores - own[:, None]
    heights[np.arange(len(y)), y] = 0.0
    primal = 0.5 * square + 3.0 * heights.max(axis=1).sum()
    assert model.result_.primal == pytest.approx(primal, rel=1e-12)
    # alpha >= 0, and at most C for each example; the dual from R alone
    alpha = -R.copy()
    alpha[np.arange(len(y)), y] = 0.0
    assert alpha.min() >= 0.0 and alpha.sum(axis=1).max() <= 3.0 * (1.0 + 1e-12)
    dual = float(alpha.sum()) - 0.5 * square
    assert model.result_.dual == pytest.approx(dual, rel=1e-12)
    rounding = model.result_.rounding
    assert 0.0 < rounding < 1e-8 * primal
    gap = (primal + rounding - dual) / primal
    assert model.result_.gap == pytest.approx(gap, rel=1e-6)


def test_a_large_c_converges_to_a_small_gap(monkeypatch):
    monkeypatch.setattr(kernel_dual, "TOGETHER", 16)
    X, y = sample()
    result = MulticlassSVM(C=300.0, kernel="rbf", tol=1e-5).fit(X, y).result_
    assert result.converged and result.gap <= 1e-5


def test_few_columns_at_a_time_lead_to_the_same_optimum():
    X, y = sample(200)
    whole = KernelSVM(C=2.0, tol=1e-4).fit(X, y)
    tight = KernelSVM(C=2.0, tol=1e-4, memory=20_000.0).fit(X, y)
    assert tight.result_.notes["columns kept"] == 20
    assert tight.result_.notes["columns made"] > 200  # some more than once
    assert tight.result_.converged
    assert tight.result_.primal == pytest.approx(whole.result_.primal, rel=2e-4)


def test_a_path_ends_where_single_fits_do():
    X, y = sample(80)
    Cs = [0.5, 4.0]
    path = KernelSVM(tol=1e-5, gamma=1.0).fit_path(X, y, Cs)
    for C, result in zip(Cs, path, strict=True):
        alone = KernelSVM(C, tol=1e-5, gamma=1.0).fit(X, y).result_
        assert result.converged
        assert result.primal == pytest.approx(alone.primal, rel=3e-5)


def test_a_warm_start_needs_no_steps_again_and_forgets_other_rows():
    X, y = sample(80)
    model = KernelSVM(tol=1e-4, gamma=1.0, warm_start=True).fit(X, y)
    first = model.result_
    again = model.fit(X, y).result_
    assert again.iterations < first.iterations
    assert again.primal == pytest.approx(first.primal, rel=2e-4)
    other = model.fit(X[::-1] * 1.5, y).result_
    alone = KernelSVM(tol=1e-4, gamma=1.0).fit(X[::-1] * 1.5, y).result_
    assert other.primal == alone.primal


def test_no_time_ends_with_a_certificate():
    X, y = sample(80)
    with pytest.warns(UserWarning):
        result = KernelSVM(max_time=0.0).fit(X, y).result_
    assert result.status is Status.MAX_TIME
    assert result.dual <= result.primal < np.inf


def test_columns_that_single_precision_cannot_hold_are_made_in_double():
    """A stall, or a promise not kept, ends single precision."""
    X, y = sample(60)
    far = X + 3e4  # squares of 1e9: distances are lost in single precision
    assert not fits_short(Rbf(0.5), far)
    near = KernelSVM(gamma=0.5, tol=1e-4).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="below the rounding error"):
        model = KernelSVM(gamma=0.5, tol=1e-4).fit(far, y)  # kernel values lose digits
    assert model.result_.primal == pytest.approx(near.result_.primal, rel=1e-3)
    assert model.result_.primal - model.result_.dual < 1e-4 * model.result_.primal


def test_columns_are_thrown_out_oldest_first_and_come_back():
    X = np.random.default_rng(0).normal(size=(10, 2))
    columns = Columns(Rbf(1.0), X, memory=8 * 10 * 5)  # room for four
    assert columns.hold(np.array([1, 3, 5])).tolist() == [1, 3, 5]
    assert columns.hold(np.array([5, 7, 8])).tolist() == [5, 7, 8]
    assert columns.where[5] >= 0 and (columns.where >= 0).sum() == 4
    for i in (5, 7, 8):
        expected = Rbf(1.0)(X, X[[i]]).ravel()
        assert columns.store[columns.where[i]] == pytest.approx(expected)
    assert columns.hold(np.array([0, 2]), late=lambda: True).tolist() == []


def test_results_repeat_bit_for_bit():
    X, y = sample(120, k=4)
    first, second = (KernelSVM(random_state=3).fit(X, y) for _ in range(2))
    assert np.array_equal(first.dual_coef_, second.dual_coef_)


def test_single_precision_alone_does_not_end_training():
    """After a missed certificate the dual comes from inexact scores: no proof."""
    X, y = sample()
    structure = Multiclass().bind(X, y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, y)
    loss = ZeroOne().bind(structure.label_count())
    problem = Problem(structure, loss, Formulation(), x, truth, np.ones(len(y)))
    solver = kernel_dual.KernelDual(kernel=Rbf(1.0), tol=1e-3)
    state = solver.start(problem)
    solver.step(problem, state)
    assert state.columns.short and not state.fresh
    state.primal = state.dual  # as if an earlier, exact primal were this close
    assert state.gap() <= solver.tol and solver.verdict(state) is None
    solver.certify(problem, state)
    state.primal = state.dual
    assert solver.verdict(state) is Status.CONVERGED
