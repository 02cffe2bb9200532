"""Bounds of the papers: what happens obeys them, and R, Delta by enumeration."""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from cases import grammar
from hypothesis import given, settings
from hypothesis import strategies as st
from small.problems import all_planes, chain_problem, multiclass_problem

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM, bounds
from maxmargin.core import Formulation, Ragged
from maxmargin.kernels import PairFunction
from maxmargin.losses import Hamming
from maxmargin.solvers import OneSlack, Status
from maxmargin.solvers.n_slack import NSlack
from maxmargin.structures.chain import Chain
from maxmargin.structures.classes import Multiclass
from maxmargin.structures.grammar import Grammar

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "squared")]
each_form = pytest.mark.parametrize(("rescaling", "penalty"), FORMS)


@dataclass(frozen=True)
class Recording(NSlack):
    """Algorithm 1 that writes down the rise of the dual of each added constraint."""

    made: list = field(default_factory=list)

    def _violated(self, problem, state, cuts):
        self.made.append([state.blocks.dual(state.w), np.nan])
        if super()._violated(problem, state, cuts):
            return True
        self.made.pop()
        return False

    def optimise(self, problem, state, i):
        super().optimise(problem, state, i)
        self.made[-1][1] = state.blocks.dual(state.w)


@each_form
@pytest.mark.parametrize("seed", [1, 2])
def test_propositions_14_to_17_and_theorem_18(rescaling, penalty, seed):
    epsilon = 0.1
    problem = chain_problem(seed, n=6, C=0.5, rescaling=rescaling, penalty=penalty)
    solver = Recording(epsilon=epsilon, tol=1e-8)
    result, state = solver.solve(problem)
    assert result.status.as_asked
    rise = np.diff(np.array(solver.made), axis=1)
    assert len(rise) == state.made == result.notes["constraints_added"] > 0
    least = bounds.smallest_rise(problem, epsilon)
    assert rise.min() >= least * (1 - 1e-6) > 0
    rows = bounds.training_bounds(problem, epsilon, result.notes)
    assert rows[0].happened == state.made <= rows[0].bound and rows[0].holds
    # The theorem follows from the propositions: dual <= C Delta, or half of it.
    _n, C, _R, Delta = bounds.constants_of(problem)
    top = C * Delta * (0.5 if penalty == "squared" else 1.0)
    assert rows[0].bound == pytest.approx(top / least, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 0.05])
@pytest.mark.parametrize("make", [chain_problem, multiclass_problem])
def test_theorem_3_1(make, epsilon):
    problem = make(3, C=0.2)
    result, state = OneSlack(epsilon=epsilon, tol=0.0).solve(problem)
    assert result.status is Status.WITHIN_EPSILON
    cuts = bounds.training_bounds(problem, epsilon, result.notes)[1]
    assert cuts.name == "cuts" and 0 < cuts.happened == state.made <= cuts.bound
    assert "happened" in bounds.table([cuts])


def test_users_ask_a_fitted_model():
    rng = np.random.default_rng(0)
    Y = [rng.integers(3, size=4).tolist() for _ in range(20)]
    X = [np.eye(3)[row] + 0.5 * rng.random((4, 3)) for row in Y]
    one = ChainSVM(solver=OneSlack(epsilon=0.1, tol=0.0)).fit(X, Y).bounds(X, Y, 0.1)
    names = ["constraints", "cuts", "training loss", "loss per label"]
    assert [row.name for row in one] == names
    assert one[1].happened > 0 and np.isnan(one[0].happened)
    many = ChainSVM(solver=NSlack(epsilon=0.1, tol=0.0)).fit(X, Y).bounds(X, Y, 0.1)
    assert many[0].happened > 0 and all(row.holds for row in [*one, *many])
    zero_one = ChainSVM(loss="zero-one").fit(X, Y).bounds(X, Y, 0.1)
    assert [row.name for row in zero_one] == names[:3]


def test_theorems_are_not_quoted_for_other_problems():
    """Theorem 18 and Theorem 3.1 are about 1/2 ||w||^2 and plain or squared slacks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    for form in ({"penalty": "summed"}, {"regularizer": "l1"}):
        rows = MulticlassSVM(**form).fit(X, y).bounds(X, y)
        assert [row.name for row in rows] == ["training loss"], form
        assert rows[0].holds


@pytest.mark.parametrize("make", [ChainSVM, MulticlassSVM, KernelSVM])
def test_the_lengths_behind_a_kernel_are_asked_for(make):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    if make is ChainSVM:
        X, y = [X[:15], X[15:]], [y[:15].tolist(), y[15:].tolist()]
    solver = {} if make is KernelSVM else {"solver": OneSlack(epsilon=0.1, tol=0.0)}
    model = make(kernel="rbf", **solver).fit(X, y)
    with pytest.raises(ValueError, match=r"behind a kernel .* give R"):
        model.bounds(X, y)
    R = bounds.class_difference(1.0) if make is not ChainSVM else 50.0
    rows = {row.name: row for row in model.bounds(X, y, R=R)}
    assert set(rows) == {"constraints", "cuts"}
    assert make is KernelSVM or rows["cuts"].happened > 0
    assert rows["cuts"].holds


def test_bounds_of_a_joint_kernel_need_its_lengths():
    X, y = np.eye(3).repeat(5, axis=0), np.arange(15) % 3
    J = PairFunction(lambda p, q: float(p[0] @ q[0]) * (p[1] == q[1]))
    model = MulticlassSVM(kernel=J, fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match="give R"):
        model.bounds(X, y)
    rows = model.bounds(X, y, R=bounds.class_difference(1.0))
    assert [row.name for row in rows] == ["constraints", "cuts", "training loss"]
    assert all(row.holds for row in rows)


def test_bounds_that_are_broken_are_seen():
    assert not bounds.Comparison("cuts", "", 3.0, 4.0).holds
    assert bounds.Comparison("cuts", "", 3.0, float("nan")).holds
    form = Formulation("margin", "summed")
    with pytest.raises(ValueError, match="penalty='summed'"):
        bounds.most_constraints(form, 0.1, 10, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"epsilon=0\.0"):
        bounds.least_rise(Formulation(), 0.0, 10, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"between 0 and 8 R\^2 C\^2 = 8"):
        bounds.expected_sampled_cuts(9.0, 10, 1.0, 1.0)
    with pytest.raises(ValueError, match="margin=0"):
        bounds.complexity_term(0, 1.0, 1.0, 10, 3, 2, 3)


def largest(problem, outputs):
    """max ||psi(y) - psi(y')|| over all outputs of all examples."""
    best = 0.0
    for i in range(problem.n):
        rows = Ragged.pack(outputs(i))
        ids = np.full(rows.n, i)
        psi = problem.structure.features(problem.x, ids, rows)
        psi = psi.csr(problem.structure.dim).toarray()
        apart = psi[:, None] - psi[None, :]
        best = max(best, np.sqrt(np.einsum("ijk,ijk->ij", apart, apart).max()))
    return best


def sequences(problem):
    k = problem.structure.label_count()
    return lambda i: list(product(range(k), repeat=len(problem.truth.row(i))))


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 1000), positive=st.booleans())
def test_proposition_25_by_enumeration(seed, positive):
    rng = np.random.default_rng(seed)
    Y = [rng.integers(3, size=size) for size in (1, 3, 2)]
    X = [rng.normal(size=(len(y), 2)) for y in Y]
    X = [np.abs(x) for x in X] if positive else X
    problem = replace(chain_problem(1, n=3), structure=Chain(bias=False).bind(X, Y))
    x = problem.structure.encode(X)
    problem = replace(problem, x=x, truth=problem.structure.encode_labels(x, Y))
    true, ours = (
        largest(problem, sequences(problem)),
        bounds.largest_difference(problem),
    )
    assert true <= ours * (1 + 1e-12)
    length = max(np.linalg.norm(row) for x in X for row in x)
    # Start and end weights are not in the proposition; they add 2 to a square at most.
    printed = bounds.sequence_difference(length, 3, 1.0, positive)
    assert ours <= np.sqrt(printed**2 + 16.0)


def test_propositions_20_and_24_by_enumeration():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), [0, 1, 2, 0, 1, 2]
    length = np.linalg.norm(X, axis=1).max()
    plain = multiclass_problem(1, n=6, k=3, d=3)
    for outputs in (None, np.abs(rng.normal(size=(3, 2))), rng.normal(size=(3, 2))):
        structure = Multiclass(outputs, bias=0.0).bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        problem = replace(plain, structure=structure, x=x, truth=truth)
        true = largest(problem, lambda i: [[0], [1], [2]])
        assert bounds.largest_difference(problem) == pytest.approx(true)
        if outputs is None:
            assert true == pytest.approx(bounds.class_difference(length))
        else:
            S = np.linalg.norm(outputs, axis=1).max()
            nonnegative = bool((outputs @ outputs.T >= 0).all())
            assert true <= bounds.product_difference(length, S, nonnegative) * (
                1 + 1e-9
            )


def test_proposition_24_as_printed_needs_products_that_are_not_negative():
    X, y, signs = np.array([[1.0], [1.0]]), [0, 1], np.array([[-1.0], [1.0]])
    structure = Multiclass(signs, bias=0.0).bind(X, y)
    x = structure.encode(X)
    plain = multiclass_problem(1, n=4, k=2, d=1)
    truth = structure.encode_labels(x, y)
    problem = replace(plain, structure=structure, x=x, truth=truth)
    true = largest(problem, lambda i: [[0], [1]])
    assert true == 2.0 > bounds.product_difference(1.0, 1.0)
    assert true <= bounds.product_difference(1.0, 1.0, nonnegative=False)


def test_norm_of_trees_by_enumeration():
    """Section 4.5.3, for trees in Chomsky normal form over four words."""
    leaf = ("a", "x")
    trees = [
        ("S", leaf, ("S", leaf, ("S", leaf, leaf))),
        ("S", ("T", leaf, leaf), ("T", leaf, leaf)),
        ("T", ("S", leaf, ("T", leaf, leaf)), leaf),
    ]
    X = [[("x", "a")] * 4 for _ in trees]
    structure = Grammar().bind(X, trees)
    x = structure.encode(X)
    problem = SimpleNamespace(structure=structure, x=x, n=x.n)
    true = largest(problem, lambda i: grammar.outputs(structure, x, i))
    assert 0.0 < true <= bounds.tree_difference(4)
    with pytest.raises(ValueError, match=r"no bound on differences of psi.*give R"):
        bounds.largest_difference(problem)


def alignments(a, b):
    """Counts of operations of all global alignments of two strings."""
    if not a and not b:
        return [Counter()]
    out = []
    if a:
        out += [c + Counter([("delete", a[0])]) for c in alignments(a[1:], b)]
    if b:
        out += [c + Counter([("insert", b[0])]) for c in alignments(a, b[1:])]
    if a and b:
        pair = ("substitute", a[0], b[0])
        out += [c + Counter([pair]) for c in alignments(a[1:], b[1:])]
    return out


@pytest.mark.parametrize("strings", [("aaa", "aaa", "bbb"), ("aab", "ba", "abb")])
def test_norm_of_alignments_by_enumeration(strings):
    """Section 4.4.3: of one sequence with each of two others."""
    first, *others = strings
    counts = [c for other in others for c in alignments(first, other)]
    worst = max(
        sum((c[op] - d[op]) ** 2 for op in {*c, *d}) for c in counts for d in counts
    )
    assert 0 < worst <= bounds.alignment_difference(3) ** 2
    assert max(sum(c.values()) for c in counts) <= 2 * 3


def test_largest_losses():
    truth = Ragged.pack([[0, 1], [1, 1, 0]])
    cost = np.array([[0.0, 2.0], [5.0, 0.0]])
    assert bounds.largest_loss(Hamming(cost=cost).bind(2), truth) == 12.0
    mean = Hamming(normalize=True).bind(2)
    assert bounds.largest_loss(mean, truth) == pytest.approx(1.0)
    _owner, _, b = all_planes(chain_problem(1))
    problem = chain_problem(1)
    assert b.max() == bounds.largest_loss(problem.loss, problem.truth)


class NoLayers(Chain):
    """A chain that cannot find the best labels for each loss."""

    def layered(self, loss):
        return False


def perturbed(problem, w, margin, i):
    """L^margin of example i by enumeration, per label."""
    rows = Ragged.pack(sequences(problem)(i))
    ids = np.full(rows.n, i)
    score = problem.structure.features(problem.x, ids, rows).dot(w)
    loss = problem.loss.value(problem.truth.take(ids), rows)
    best = 0.0
    for j in range(rows.n):
        others = np.delete(score - margin * loss, j)
        if score[j] + margin * loss[j] >= others.max(initial=-np.inf):
            best = max(best, loss[j])
    return best / len(problem.truth.row(i))


@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 1000), margin=st.sampled_from([0.01, 0.3, 2.0]))
def test_the_first_term_of_theorem_6_1_by_enumeration(seed, margin):
    problem = chain_problem(seed, n=5)
    w = np.random.default_rng(seed).normal(size=problem.dim)
    got, exact = bounds.margin_losses(problem, w, margin)
    true = [perturbed(problem, w, margin, i) for i in range(problem.n)]
    assert exact
    np.testing.assert_allclose(got, true)
    other = object.__new__(NoLayers)
    other.__dict__.update(problem.structure.__dict__)
    above, exact = bounds.margin_losses(replace(problem, structure=other), w, margin)
    assert not exact
    assert (above >= np.array(true) - 1e-9).all() and (above <= 1.0).all()


@pytest.mark.parametrize("make", [chain_problem, multiclass_problem])
@pytest.mark.parametrize("missing", [1, -1])
def test_weights_of_another_length_are_refused(make, missing):
    problem = replace(make(2), loss=Hamming().bind(3))
    w = np.zeros(problem.dim - missing)  # compiled loops would read beyond its end
    with pytest.raises(ValueError, match="its shape is"):
        bounds.risk_bound(problem, w)
    with pytest.raises(ValueError, match="its shape is"):
        bounds.generalisation_bound(problem, w)


def test_theorem_6_1_in_full():
    problem = chain_problem(2, n=20)
    w = OneSlack().solve(problem)[0].w
    found = bounds.margin_bound(problem, w)
    edges = bounds.edges_of(problem)
    assert edges.degree == 2 and edges.classes == 3 and edges.labels == 3
    norm = np.linalg.norm(w)
    # The proof written out once more, at the margin that was chosen.
    i = round(np.log2(edges.R * norm / found.margin))
    count = 20 * 3 * 2 * (3**2 - 1)
    bits = 36 * (2 * 2**i) ** 2
    bits *= np.log2(1 + 2 * np.ceil(4 * 2 * 2**i + 2) * count)
    inner = np.log(4) + np.log(2) * bits + np.log(2**i / 0.05)
    assert found.complexity == pytest.approx(np.sqrt(32 / 20 * inner))
    assert found.loss == bounds.margin_losses(problem, w, 2 * found.margin)[0].mean()
    wrong = bounds.margin_losses(problem, w, 0.0)[0].mean()
    assert found.total >= found.loss >= wrong
    row = bounds.generalisation_bound(problem, w, error=wrong)
    assert row.holds and row.bound == found.total
    many = bounds.complexity_term(found.margin, norm, edges.R, 10**9, 3, 2, 3)
    assert many < found.complexity
    zero_one = replace(problem, loss=problem.loss.zero_one(3))
    with pytest.raises(ValueError, match="use Hamming"):
        bounds.margin_bound(zero_one, w)
