"""CCCP against enumeration on the user's own structures."""

import warnings
from itertools import product

import numpy as np
import pytest

from maxmargin import StructuralSVM
from maxmargin.core import Formulation, Problem
from maxmargin.solvers import CCCP, OneSlack
from maxmargin.solvers.n_slack import BlockDual, NSlackBlock
from maxmargin.structures import OwnStructure, own_loss

DIM = 5


class Bags:
    """Multiple instances: y in {0, 1}, h one of the vectors of the bag."""

    def joint_feature(self, x, y):
        label, h = y
        return label * x[h]

    def loss(self, y, y_hat):
        return float(y[0] != y_hat[0])

    def argmax(self, w, x, y=None):
        def worth(z):
            gain = 0.0 if y is None else self.loss(y, z)
            return w @ self.joint_feature(x, z) + gain

        return max(product((0, 1), range(len(x))), key=worth)

    def complete(self, w, x, y):
        label = y[0]
        if w is None or label == 0:
            return (label, 0)
        return (label, int(np.argmax(x @ w)))


class Plain(Bags):
    """The hidden part is seen: completion leaves it."""

    def complete(self, w, x, y):
        return y


class Seen(Bags):
    complete = None


def bags(seed, n=30):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for i in range(n):
        bag = rng.normal(size=(int(rng.integers(2, 6)), DIM))
        bag[:, -1] = 1.0
        label = i % 2
        if label:
            bag[rng.integers(len(bag)), 0] += 3.0
        X.append(bag)
        Y.append((label, 0))
    return X, Y


def problem(X, Y, C=0.5, owner=None, formulation=None):
    structure = OwnStructure(owner or Bags()).bind(X, Y)
    x = structure.encode(X)
    return Problem(
        structure, own_loss(structure), formulation or Formulation(), x,
        structure.encode_labels(x, Y), np.full(len(X), C),
    )  # fmt: skip


def objective(w, X, Y, C):
    """The latent objective by enumeration."""
    owner, total = Bags(), 0.5 * w @ w
    for x, y in zip(X, Y, strict=True):
        outputs = list(product((0, 1), range(len(x))))
        worst = max(w @ owner.joint_feature(x, z) + owner.loss(y, z) for z in outputs)
        own = max(w @ owner.joint_feature(x, z) for z in outputs if z[0] == y[0])
        total += C * (worst - own)
    return total


@pytest.mark.parametrize("solver", [BlockDual, OneSlack, NSlackBlock])
def test_objective_is_the_latent_one_and_never_rises(solver):
    X, Y = bags(0)
    p = problem(X, Y)
    result, _ = CCCP(solver(tol=1e-4)).solve(p)
    assert result.converged
    assert result.primal == pytest.approx(objective(result.w, X, Y, 0.5), rel=1e-8)
    assert (np.diff(result.outer["objective"]) <= 1e-12).all()
    assert len(result.outer) >= 2
    assert (result.outer["changed"] > 0).any()


def test_result_is_a_fixed_point():
    X, Y = bags(1)
    p = problem(X, Y)
    result, _ = CCCP(BlockDual(tol=1e-7)).solve(p)
    again, _ = BlockDual(tol=1e-7).solve(p.with_truth(result.truth))
    assert again.primal == pytest.approx(result.primal, rel=1e-5)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_moved_planes_are_planes(rescaling, penalty):
    """After `shift` every plane lies below the slack of the new problem."""
    X, Y = bags(2, n=8)
    rng = np.random.default_rng(0)
    p = problem(X, Y, formulation=Formulation(rescaling, penalty))
    old = p.with_truth(p.structure.complete(p.x, np.arange(p.n), np.ones(DIM), p.truth))
    _, state = BlockDual(tol=1e-2, max_iter=20).solve(old)
    run_w = -np.ones(DIM)
    new = p.with_truth(p.structure.complete(p.x, np.arange(p.n), run_w, p.truth))
    moved = np.arange(p.n)
    change = p.structure.features(p.x, moved, new.truth).minus(
        p.structure.features(p.x, moved, old.truth)
    )
    before = [a.copy() for a in state.blocks.alphas()]
    state.blocks.shift(moved, change, new.formulation.scales)
    for a, b in zip(before, state.blocks.alphas(), strict=True):
        assert np.array_equal(a, b)
    for _ in range(5):
        w = rng.normal(size=DIM)
        slack = new.cuts(w).slack
        for i in range(p.n):
            assert (state.blocks.heights(i, w) <= slack[i] + 1e-9).all()
    if not new.exact:
        return
    warm, _ = BlockDual(tol=1e-6).solve(new, state)
    cold, _ = BlockDual(tol=1e-6).solve(new)
    assert warm.primal == pytest.approx(cold.primal, rel=1e-5)
    assert warm.dual == pytest.approx(cold.dual, rel=1e-5)


def test_without_hidden_parts_it_is_the_convex_solution():
    X, Y = bags(3)
    latent = StructuralSVM(Plain(), C=0.5).fit(X, Y)
    convex = StructuralSVM(Seen(), C=0.5).fit(X, Y)
    assert np.array_equal(latent.coef_, convex.coef_)
    assert len(latent.result_.outer) == 1


def test_same_seed_same_result_and_restarts_help():
    X, Y = bags(4, n=40)
    p = problem(X, Y, C=2.0)
    one, _ = CCCP(BlockDual(seed=3)).solve(p)
    two, _ = CCCP(BlockDual(seed=3)).solve(p)
    many, _ = CCCP(BlockDual(seed=3), restarts=4).solve(p)
    assert np.array_equal(one.w, two.w)
    assert many.primal <= one.primal
    assert set(many.outer["restart"]) == {0, 1, 2, 3}


def test_initial_weights_are_a_bound():
    X, Y = bags(5)
    w = np.zeros(DIM)
    w[0] = 1.0
    p = problem(X, Y)
    result, _ = CCCP(BlockDual(), w=w).solve(p)
    assert result.primal <= objective(w, X, Y, 0.5)
    with pytest.raises(ValueError, match="initial weights"):
        CCCP(BlockDual(), w=np.ones(2)).solve(p)


def test_estimator_with_one_more_method():
    X, Y = bags(6, n=60)
    model = StructuralSVM(Bags(), C=1.0, restarts=2).fit(X, Y)
    right = np.mean([a[0] == b[0] for a, b in zip(model.predict(X), Y, strict=True)])
    assert right > 0.85
    assert model.score(X, Y) == pytest.approx(right - 1.0)


def test_warm_start_goes_on_from_weights_truth_and_dual():
    X, Y = bags(9, n=60)
    model = StructuralSVM(Bags(), C=0.3, restarts=3, warm_start=True).fit(X, Y)
    first = model.result_
    again = model.fit(X, Y).result_
    assert again.oracle_calls < first.oracle_calls / 4
    assert again.primal <= first.primal
    assert len(again.outer) <= 2
    model.set_params(C=0.6).fit(X, Y)
    assert model.result_.primal <= objective(first.w, X, Y, 0.6) * (1 + 1e-9)
    value = objective(model.coef_, X, Y, 0.6)
    assert model.result_.primal == pytest.approx(value, rel=1e-8)
    assert model.result_.dual <= value * (1 + 1e-9)
    other = bags(10, n=60)
    cold = StructuralSVM(Bags(), C=0.6, restarts=3).fit(*other)
    assert np.array_equal(model.fit(*other).coef_, cold.coef_)


def test_path_over_c_with_hidden_parts():
    X, Y = bags(11)
    path = StructuralSVM(Bags()).fit_path(X, Y, [0.1, 1.0])
    for C, result in zip([0.1, 1.0], path, strict=True):
        value = objective(result.w, X, Y, C)
        assert result.primal == pytest.approx(value, rel=1e-8)


def test_time_limit_keeps_the_best_weights():
    X, Y = bags(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = StructuralSVM(Bags(), max_time=1e-6).fit(X, Y)
    assert model.result_.status.name == "MAX_TIME"
    assert np.isfinite(model.result_.primal)


def test_needs_the_capability():
    X, Y = bags(8)
    with pytest.raises(ValueError, match="Latent"):
        CCCP(BlockDual()).solve(problem(X, Y, owner=Seen()))


@pytest.mark.parametrize(
    "name, value",
    [
        ("rounds", "x"), ("rounds", -1), ("calls", 1.5), ("warm", 7), ("status", "x"),
        ("outer", np.array([[np.inf, 0.0]])),
    ],
)  # fmt: skip
def test_numbers_of_a_checkpoint_are_numbers(name, value):
    solver, p = CCCP(OneSlack(tol=1e-2)), problem(*bags(0))
    _, state = solver.solve(p)
    held = {**solver.snapshot(p, state), name: value}
    with pytest.raises(ValueError, match=r"checkpoint|negative"):
        solver.restore(p, state, held)
