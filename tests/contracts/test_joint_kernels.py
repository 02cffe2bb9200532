"""Training over support pairs against a dense QP over the Gram matrix of all pairs.

The linear joint kernel must lead to the dual of the machine with weights, for structures
of the package with their outputs listed.
"""

from dataclasses import replace

import cases
import numpy as np
import pytest
from cases.joint import ListedKnapsack
from dense import ROWS, Dense, optimum, table

from maxmargin import StructuralSVM
from maxmargin.core import Formulation, Problem, Ragged
from maxmargin.core.data.pairs import PairList
from maxmargin.kernels import FeatureKernel, Joint, Polynomial, Rbf
from maxmargin.losses import OwnLoss
from maxmargin.solvers import BlockDual, OneSlack, run
from maxmargin.structures.joint import Growing, OwnPairs


class Different(ListedKnapsack):
    """The same with the zero-one loss."""

    def loss(self, y, y_hat):
        """Whether they differ."""
        return float(y != y_hat)


def shared(s, t):
    """Likeness of two choices."""
    return 1.0 + len(set(s) & set(t))


def kernels(owner):
    """A kernel on joint features, and a product of kernels on inputs and outputs."""
    return [
        FeatureKernel(owner, Rbf(0.3)),
        FeatureKernel(owner, Polynomial(2, 0.5)),
        Joint(lambda a, b: float(np.exp(-abs(a.sum() - b.sum()))), shared),
    ]


def written_out(name, owner, kernel, X, Y, C):
    """All constraints, with features whose products are the Gram matrix of all pairs."""
    outputs = [owner.outputs(x) for x in X]
    pairs = [(x, y) for x, each in zip(X, outputs, strict=True) for y in each]
    prepared = kernel.prepared(PairList(*map(list, zip(*pairs, strict=True))))
    values, vectors = np.linalg.eigh(kernel(prepared, prepared))
    psi = vectors * np.sqrt(np.maximum(values, 0.0))
    examples, first = [], 0
    for each, y in zip(outputs, Y, strict=True):
        own = psi[first : first + len(each)]
        first += len(each)
        delta = np.array([owner.loss(y, z) for z in each])
        other = np.array([z != y for z in each])
        examples.append(table(name, delta, own[each.index(y)] - own, other))
    return Dense(examples, C, ROWS[name][1], [], [])


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("name", [row for row in ROWS if row != "LSE"])
def test_the_optimum_is_that_of_all_constraints(name, which):
    rng = np.random.default_rng(which)
    owner = Different() if ROWS[name][0] is None else ListedKnapsack()
    kernel = kernels(owner)[which]
    X = [rng.normal(size=(m, 3)) for m in (3, 1, 4, 2, 3)]
    Y = [owner.choices(x)[rng.integers(len(owner.choices(x)))] for x in X]
    C = rng.uniform(0.2, 2.0, size=len(X))
    best, _ = optimum(written_out(name, owner, kernel, X, Y, C))
    plain = OwnPairs(kernel, owner=owner)
    x = plain.encode(X)
    problem = Problem(
        Growing.over(plain, x), OwnLoss(owner), Formulation(*ROWS[name]), x,
        plain.encode_labels(x, Y), C,
    )  # fmt: skip
    if not np.isfinite(best):
        pytest.skip("the data cannot be separated")
    result = run(BlockDual(1e-7), problem).result
    assert result.primal == pytest.approx(best, rel=1e-5)
    assert result.dual == pytest.approx(best, rel=1e-5)
    again = run(OneSlack(1e-4), problem).result  # in the coordinates of the first run
    assert again.dual == pytest.approx(best, rel=1e-3)
    check_model(problem, result.w, X, owner)


def check_model(problem, w, X, owner):
    """The model over support pairs predicts what the coordinates say, also for new X."""
    model, beta = problem.structure.model(w)
    ids = np.arange(len(X))
    inside = problem.structure.argmax(problem.x, ids, w)
    found = model.argmax(model.encode(X), ids, beta)
    np.testing.assert_allclose(found.score, inside.score, rtol=1e-6, atol=1e-6)
    square = beta @ model.pair_values(model.inputs, model.outputs) @ beta
    assert square == pytest.approx(w @ w, rel=1e-6)
    fresh = [-x for x in X]
    found = model.argmax(model.encode(fresh), ids, beta)
    for i, x in enumerate(fresh):
        choices = owner.choices(x)
        scores = model.pair_values([x] * len(choices), choices) @ beta
        assert found.score[i] == pytest.approx(scores.max())


TIGHT = 1e-8
CASES = cases.modules()
LINEAR = {  # name: the case, and what is changed in its structure
    "multiclass": ("multiclass", {}),
    "chain": ("chain", {"edge_features": False, "order": 1}),
    "chain with edge features": ("chain", {"edge_features": True, "order": 1}),
    "chain of order two": ("chain", {"edge_features": True, "order": 2}),
    "grammar": ("grammar", {"anchors": ()}),
    "grammar with anchors": ("grammar", {"anchors": ("length", "starts", "split")}),
    "own": ("own", {}),
    "matching": ("matching", {}),
    "network with cliques": ("network_cliques", {}),
}


class Everything:
    """A structure of the package with all outputs listed; inputs are example numbers."""

    def __init__(self, case, structure, x, loss):
        self.case, self.structure, self.x, self.bound = case, structure, x, loss

    def outputs(self, i):
        return [tuple(row) for row in self.case.outputs(self.structure, self.x, i)]

    def loss(self, y, y_hat):
        rows = Ragged.pack([y]), Ragged.pack([y_hat])
        return float(self.bound.value(*rows)[0])

    def joint_feature(self, i, y):
        rows = self.structure.features(self.x, np.array([i]), Ragged.pack([y]))
        return rows.csr(self.structure.dim).toarray().ravel()


@pytest.mark.parametrize("name", LINEAR)
def test_the_linear_joint_kernel_has_the_dual_of_the_machine_with_weights(name):
    which, changed = LINEAR[name]
    case = CASES[which]
    unbound, X, Y = case.tiny(np.random.default_rng(3))
    structure = (replace(unbound, **changed) if changed else unbound).bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    loss = case.LOSSES[0].bind(structure.label_count())
    C = np.full(x.n, 0.7)
    plain = Problem(structure, loss, Formulation(), x, truth, C)
    expected = run(BlockDual(TIGHT), plain).result
    every = Everything(case, structure, x, loss)
    ids, rows = list(range(x.n)), [tuple(row) for row in truth.unpack()]
    model = StructuralSVM(every, C=0.7, kernel="linear", tol=TIGHT).fit(ids, rows)
    assert model.result_.certificate == "exact"
    assert model.result_.dual == pytest.approx(expected.dual, rel=1e-6)
    assert model.result_.primal == pytest.approx(expected.primal, rel=1e-6)
    best = structure.argmax(x, np.arange(x.n), expected.w).score
    inputs = model.structure_.encode(ids)
    found = model.structure_.argmax(inputs, np.arange(x.n), model.coef_).score
    np.testing.assert_allclose(found, best, atol=1e-3)
