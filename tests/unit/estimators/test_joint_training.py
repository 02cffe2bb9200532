"""Joint kernels in StructuralSVM and MulticlassSVM.

`tests/contracts/test_joint_kernels.py` compares them with machines with weights, for
structures of the package with their outputs listed.
"""

import io
from functools import partial

import numpy as np
import pandas as pd
import pytest
from cases.joint import ListedKnapsack, SearchedKnapsack
from cases.own import Knapsack

from maxmargin import ChainSVM, KernelSVM, MulticlassSVM, StructuralSVM, load
from maxmargin.kernels import Joint, Linear, PairFunction, Rbf
from maxmargin.structures import Matching
from maxmargin.structures.joint import Growing

TIGHT = 1e-8


def knapsacks(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(m, 3)) for m in rng.integers(1, 4, n)]
    owner, w = Knapsack(), rng.normal(size=3)
    noisy = [
        max(
            owner.choices(x), key=lambda z: owner.joint_feature(x, z) @ w + rng.normal()
        )
        for x in X
    ]
    return X, noisy


def products(p, q):
    owner = Knapsack()
    return float(owner.joint_feature(*p) @ owner.joint_feature(*q))


@pytest.mark.parametrize("owner", [ListedKnapsack(), SearchedKnapsack()])
@pytest.mark.parametrize("kernel", ["linear", products])
def test_listed_and_searched_outputs_lead_to_the_same_machine(owner, kernel):
    X, y = knapsacks()
    linear = StructuralSVM(Knapsack(), C=1.0, tol=TIGHT).fit(X, y)
    model = StructuralSVM(owner, C=1.0, tol=TIGHT, kernel=kernel).fit(X, y)
    assert model.result_.dual == pytest.approx(linear.result_.dual, rel=1e-6)
    assert model.predict(X).tolist() == linear.predict(X).tolist()
    assert model.score(X, y) == linear.score(X, y)


@pytest.mark.parametrize("solver", ["one-slack", "n-slack", "bcfw", "block-dual"])
def test_every_trainer_takes_a_joint_kernel(solver):
    X, y = knapsacks()
    asked = partial(StructuralSVM, ListedKnapsack(), C=0.5, tol=1e-3, kernel="rbf")
    best = asked().set_params(tol=1e-7).fit(X, y).result_
    found = asked(solver=solver).fit(X, y).result_
    assert found.converged
    assert found.dual <= best.primal * (1 + 1e-6)
    assert found.primal == pytest.approx(best.primal, rel=2e-3)


def test_hard_margins_and_the_summed_error():
    X, y = knapsacks(5)

    class Different(ListedKnapsack):
        def loss(self, z, z_hat):
            return float(z != z_hat)

    hard = StructuralSVM(Different(), kernel="rbf", penalty="hard", tol=1e-4).fit(X, y)
    assert hard.score(X, y) == 0.0
    summed = StructuralSVM(ListedKnapsack(), kernel="rbf", penalty="summed").fit(X, y)
    assert summed.result_.dual > 0.0


def test_paths_start_from_each_other_and_end_where_single_fits_end():
    X, y = knapsacks()
    model = StructuralSVM(ListedKnapsack(), kernel="rbf", tol=1e-6)
    path = model.fit_path(X, y, [0.1, 1.0])
    for C, result in zip((0.1, 1.0), path, strict=True):
        alone = StructuralSVM(ListedKnapsack(), C=C, kernel="rbf", tol=1e-6).fit(X, y)
        assert result.dual == pytest.approx(alone.result_.dual, rel=1e-5)
    assert len(model.coef_) == model.structure_.dim


def test_models_over_pairs_are_saved_and_explained():
    X, y = knapsacks()
    model = StructuralSVM(ListedKnapsack(), kernel="rbf", C=1.0).fit(X, y)
    file = io.BytesIO()
    model.save(file)
    again = load(io.BytesIO(file.getvalue()), own=ListedKnapsack)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    told = model.explain(X[0])
    assert told.score == pytest.approx(model.best_few(X[0], 1)[0][1])
    with pytest.raises(ValueError, match="no weights to ask about"):
        model.support_structures(0, X, y)
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'"):
        _ = model.partial_fit


def test_what_cannot_be_is_refused():
    X, y = knapsacks(4)
    fit = partial(StructuralSVM, kernel="rbf")
    with pytest.raises(TypeError, match="Matching scores by weights"):
        fit(Matching()).fit(X, y)
    with pytest.raises(TypeError, match="outputs\\(x\\) or argmax"):
        fit(object()).fit(X, y)
    with pytest.warns(UserWarning, match="on one core"):
        fit(ListedKnapsack(), n_jobs=2).fit(X, y)
    with pytest.raises(ValueError, match="no checkpoints"):
        fit(ListedKnapsack(), checkpoint="here").fit(X, y)
    with pytest.raises(ValueError, match="warm_start is not available"):
        fit(ListedKnapsack(), warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        StructuralSVM(ListedKnapsack(), kernel=lambda p, q: -products(p, q) - 1.0).fit(
            X, y
        )
    with pytest.raises(ValueError, match="not symmetric"):
        StructuralSVM(
            ListedKnapsack(), kernel=lambda p, q: products(p, q) + len(p[1])
        ).fit(X, y)
    with pytest.raises(ValueError, match="not finite"):
        StructuralSVM(ListedKnapsack(), kernel=lambda p, q: np.nan).fit(X, y)


def test_kernel_values_that_do_not_fit_are_refused_with_their_size(monkeypatch):
    X, y = knapsacks()
    monkeypatch.setattr(Growing, "over", partial(Growing.over, memory=2000.0))
    model = StructuralSVM(ListedKnapsack(), kernel="rbf")
    with pytest.raises(MemoryError, match="support pairs and their kernel values with"):
        model.fit(X, y)


def points(n=30):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 3
    return np.eye(3)[y] + 0.4 * rng.normal(size=(n, 3)), np.array(list("abc"))[y]


@pytest.mark.parametrize("intercept", [False, True])
def test_multiclass_with_the_linear_joint_kernel_is_the_linear_machine(intercept):
    X, y = points()
    asked = partial(MulticlassSVM, C=0.5, tol=TIGHT, fit_intercept=intercept)
    linear = asked().fit(X, y)
    same = PairFunction(lambda p, q: float(p[0] @ q[0]) * (p[1] == q[1]))
    for kernel in (
        same,
        Joint(Linear(), np.eye(3)),
        Joint(lambda a, b: a @ b, np.eye(3)),
    ):
        model = asked(kernel=kernel).fit(X, y)
        assert model.result_.dual == pytest.approx(linear.result_.dual, rel=1e-6)
        np.testing.assert_allclose(
            _centred(model.decision_function(X)), _centred(linear.decision_function(X)),
            atol=1e-3,
        )  # fmt: skip


def _centred(scores):
    return scores - scores.mean(axis=1, keepdims=True)


def test_multiclass_products_have_all_kernel_methods():
    X, y = points()
    table = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    joint = Joint(Rbf(1.0), table)
    expected = MulticlassSVM(kernel=Rbf(1.0), class_similarity=table).fit(X, y)
    slow = MulticlassSVM(
        kernel=Joint(lambda a, b: np.exp(-((a - b) ** 2).sum()), table)
    )
    for model in (MulticlassSVM(kernel=joint), slow):
        model.set_params(tol=1e-6).fit(X, y)
        assert model.result_.primal == pytest.approx(expected.result_.primal, rel=2e-3)
    for method in ("cpsp", "nystroem", "cholesky", "sampled"):
        model = MulticlassSVM(kernel=joint, kernel_method=method, n_basis=20).fit(X, y)
        assert model.score(X, y) > 0.7


def test_multiclass_over_pairs_with_two_classes_is_saved_and_refuses_the_rest():
    X, y = points()
    X, y = X[y != "c"], y[y != "c"]
    model = MulticlassSVM(kernel=Joint(lambda a, b: float(a @ b), np.eye(2))).fit(X, y)
    assert model.decision_function(X).shape == (len(y),)
    plain = MulticlassSVM().fit(X, y)
    assert model.predict(X).tolist() == plain.predict(X).tolist()
    with pytest.raises(ValueError, match="a kernel has none"):
        model.top_features("a")
    with pytest.raises(ValueError, match="leave out taxonomy"):
        MulticlassSVM(kernel=model.kernel, class_similarity=np.eye(2)).fit(X, y)
    with pytest.raises(ValueError, match="kernel_method='cpsp' is not available"):
        MulticlassSVM(kernel=model.kernel, kernel_method="cpsp").fit(X, y)
    with pytest.raises(TypeError, match="MulticlassSVM takes joint kernels"):
        KernelSVM(kernel=Joint(Linear(), np.eye(2))).fit(X, y)
    with pytest.raises(TypeError, match="compares pairs"):
        ChainSVM(kernel=model.kernel).fit([X], [y])


def test_strings_and_sets_are_compared_by_a_gram_matrix():
    words = ["cat", "cats", "dog", "dogs", "frog", "catty"]
    grams = [{w[i : i + 2] for i in range(len(w) - 1)} for w in words]
    gram = np.array([[float(len(a & b)) for b in grams] for a in grams])

    class Pet:
        def outputs(self, x):
            return ["feline", "other"]

        def loss(self, y, y_hat):
            return float(y != y_hat)

    same = lambda a, b: float(a == b)  # noqa: E731
    y = ["feline", "feline", "other", "other", "other", "feline"]
    model = StructuralSVM(Pet(), C=10.0, kernel=Joint(gram, same)).fit(range(5), y[:5])
    assert model.predict(range(6)).tolist() == y
    by_function = Joint(lambda a, b: float(len(a & b)), same)
    twin = StructuralSVM(Pet(), C=10.0, kernel=by_function).fit(grams[:5], y[:5])
    assert twin.predict(grams).tolist() == y
    assert twin.result_.dual == pytest.approx(model.result_.dual, rel=1e-3)


def test_an_argmax_of_weights_is_told_what_it_gets():
    """Under a kernel there are no weights to give to a structure of one's own."""
    X, y = knapsacks(4)
    with pytest.raises(ValueError, match="matmul") as found:
        StructuralSVM(Knapsack(), kernel="rbf").fit(X, y)
    assert "argmax gets a function in their place" in found.value.__notes__[0]


WORDS = ["banana", "bandana", "cabana", "xylophone", "saxophone", "telephone"]
ENDS = ["an", "an", "an", "phone", "phone", "phone"]


def pairs_of(word):
    """Neighbouring letters."""
    return {word[i : i + 2] for i in range(len(word) - 1)}


def likeness(a, b):
    """How many neighbouring letters two words share."""
    return float(len(pairs_of(a) & pairs_of(b)))


@pytest.mark.parametrize("given", ["strings", "array", "sets", "series", "gram"])
def test_classes_of_objects_that_are_no_rows_of_numbers(given):
    """Strings, sets and numbers of a Gram matrix: the dual is that of the features."""
    letters = sorted(set().union(*map(pairs_of, WORDS)))
    rows = np.array([[float(p in pairs_of(w)) for p in letters] for w in WORDS])
    gram = np.array([[likeness(a, b) for b in WORDS] for a in WORDS])
    sets = [frozenset(pairs_of(w)) for w in WORDS]
    X, inputs = {
        "strings": (WORDS, likeness), "array": (np.array(WORDS), likeness),
        "sets": (sets, lambda a, b: float(len(a & b))),
        "series": (pd.Series(WORDS, index=range(6, 0, -1)), likeness),
        "gram": (np.arange(len(WORDS)), gram),
    }[given]  # fmt: skip
    model = MulticlassSVM(C=0.3, kernel=Joint(inputs, np.eye(2)), tol=1e-8).fit(X, ENDS)
    plain = MulticlassSVM(C=0.3, tol=1e-8).fit(rows, ENDS)
    assert model.result_.dual == pytest.approx(plain.result_.dual, rel=1e-6)
    assert model.result_.certificate == "exact"
    assert model.predict(X).tolist() == ENDS
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(rows), atol=1e-4
    )
    first = X.iloc[0] if given == "series" else X[0]
    told = model.explain(first)
    assert told.score == pytest.approx(sum(t.adds for t in told.parts[0].terms))
    assert {t.feature.split(": ")[1] for t in told.parts[0].terms} <= set(ENDS)
    assert model.best_few(first)[0][0] == "an"


def test_objects_that_cannot_be_a_list_of_inputs():
    model = MulticlassSVM(kernel=Joint(likeness, np.eye(2))).fit(WORDS, ENDS)
    with pytest.raises(TypeError, match=r"X is 'banana', not a list of inputs"):
        model.predict("banana")
    with pytest.raises(TypeError, match=r"X is a set, not a list: write list\(X\)"):
        model.predict({"banana"})
    with pytest.raises(ValueError, match="X has 6 examples, but y has 5"):
        model.fit(WORDS, ENDS[:5])
    with pytest.raises(ValueError, match="kernel on outputs has 1 rows, but row 1"):
        MulticlassSVM(kernel=Joint(likeness, np.eye(1))).fit(WORDS, ENDS)
    with pytest.raises(ValueError, match="takes one row of numbers per example"):
        MulticlassSVM().fit(WORDS, ENDS)
    assert model.predict([]).tolist() == []
    assert model.score(WORDS, ENDS) == 1.0
    again = model.set_params(kernel=None).fit(np.eye(6), ENDS)  # rows of numbers again
    assert again.n_features_in_ == 6
