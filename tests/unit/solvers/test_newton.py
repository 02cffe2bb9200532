"""Newton steps against the block dual over enumerated outputs."""

import numpy as np
import pytest

from maxmargin import KernelSVM
from maxmargin.solvers import Status
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated import Enumerated, Newton, newton_applies
from maxmargin.solvers.kernel import TokenCuts, carried


def crossed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n))
    return X, y


def trained(solver, C=3.0, weight=None, n_basis=25, **options):
    X, y = crossed()
    model = KernelSVM(
        C, kernel_method="nystroem", n_basis=n_basis, solver=solver, random_state=0,
        **options,
    )  # fmt: skip
    return model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("C", [0.01, 3.0, 1000.0])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_same_optimum_as_the_block_dual(C, rescaling):
    ours = trained(Newton(1e-6), C, rescaling=rescaling).result_
    theirs = trained(Enumerated(1e-6), C, rescaling=rescaling).result_
    assert ours.status is Status.CONVERGED
    assert ours.dual <= theirs.primal * (1 + 1e-9)
    assert theirs.dual <= ours.primal * (1 + 1e-9)
    assert ours.primal == pytest.approx(theirs.primal, rel=3e-6)


def test_weights_of_examples():
    weight = np.random.default_rng(1).uniform(0.0, 2.0, 300)
    weight[::7] = 0.0
    ours = trained(Newton(1e-6), weight=weight).result_
    theirs = trained(Enumerated(1e-6), weight=weight).result_
    assert ours.primal == pytest.approx(theirs.primal, rel=3e-6)


def test_hessians_from_some_examples_lead_to_the_same_end(monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.enumerated.newton.SHARE", 2)
    few = trained(Newton(1e-5), n_basis=10).result_
    assert few.status is Status.CONVERGED
    assert few.primal == pytest.approx(
        trained(Enumerated(1e-5), n_basis=10).result_.primal, rel=3e-5
    )


def test_dual_variables_give_the_dual_value():
    problem = over_basis(20)
    result, state = Newton(1e-4).solve(problem)
    assert (state.alpha >= 0).all()
    assert (state.alpha.sum(axis=1) <= problem.C * (1 + 1e-12)).all()
    vectors, _ = problem.outputs().product
    sign = np.where(problem.truth.data > 0, 1.0, -1.0)
    mass = state.alpha.sum(axis=1)
    v = (sign * mass) @ np.asarray(vectors.matrix())
    np.testing.assert_allclose(v, state.w, atol=1e-9 * np.abs(v).max())
    assert mass.sum() - 0.5 * v @ v == pytest.approx(result.dual, rel=1e-9)


def test_warm_start_goes_on():
    problem = over_basis(20)
    cold, state = Newton(1e-5).solve(problem)
    warm, _ = Newton(1e-5).solve(problem, carried(state))
    assert warm.gap <= 1e-5
    assert warm.iterations < cold.iterations


def over_basis(m):
    """A problem over m features, as a turn of a kernel method sees it."""
    model = KernelSVM(kernel_method="nystroem", n_basis=m, random_state=0)
    return model._plan(model._training_data(*crossed(), None)).problem


def test_auto_takes_it_for_two_classes_with_few_features():
    problem = over_basis(10)
    assert newton_applies(problem)
    solver, _, notes = choose("auto", problem).resolve(problem)
    assert isinstance(solver, Newton) and "two outputs" in notes["why"]
    assert not newton_applies(over_basis(100))  # too many for 300 rows


def test_other_problems_are_refused():
    X, _ = crossed()
    model = KernelSVM(kernel_method="nystroem", n_basis=9, solver=Newton())
    with pytest.raises(ValueError, match="two outputs"):
        model.fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match="penalty"):
        trained(Newton(), penalty="squared")


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "options",
    [{}, {"penalty": "squared"}, {"rescaling": "slack"}, {"fit_intercept": False}],
)
def test_slopes_of_products_are_those_of_the_oracle(k, options):
    X, _ = crossed(50)
    model = KernelSVM(kernel_method="sampled", n_basis=5, **options)
    plan = model._plan(model._training_data(X, np.arange(50) % k, None))
    cuts, rng = TokenCuts(plan.problem), np.random.default_rng(0)
    scores, rest = rng.normal(size=(50, cuts.z)), rng.normal(size=cuts.others)
    fast = cuts.slope(scores, rest, 0.3)
    cuts.product = None
    plain = cuts.slope(scores, rest, 0.3)
    assert fast.risk == pytest.approx(plain.risk)
    np.testing.assert_allclose(fast.R, plain.R, atol=1e-12)
    np.testing.assert_allclose(fast.rest, plain.rest, atol=1e-12)


@pytest.mark.parametrize("width", [0.0, -0.1, 1.0, np.inf])
def test_a_checkpoint_with_an_impossible_mu_is_refused(width):
    problem, solver = over_basis(20), Newton()
    data = solver.snapshot(problem, solver.start(problem))
    fresh = solver.start(problem)
    solver.restore(problem, fresh, data)  # as it is
    with pytest.raises(ValueError, match="the checkpoint's mu is"):
        solver.restore(problem, fresh, {**data, "width": float(width)})
