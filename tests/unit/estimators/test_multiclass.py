"""MulticlassSVM: scikit-learn's contract, the formulations, output features, errors."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import MulticlassSVM

TREE = {"setosa": "top", "versicolor": "tall", "virginica": "tall", "tall": "top"}
COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [3.0, 1.0, 0.0]])
FORMULATIONS = [
    (None, "hard"), (None, "linear"), (None, "squared"), ("margin", "linear"),
    ("slack", "linear"), ("margin", "squared"), ("slack", "squared"),
    ("margin", "summed"),
]  # fmt: skip
GAP = "weights equal repetition at the optimum; training stops at a duality gap"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": GAP,
    "check_sample_weight_equivalence_on_sparse_data": GAP,
}


@parametrize_with_checks(
    [MulticlassSVM()], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), load_iris().target_names[y]


def primal(model, X, y, cost, C):
    """The objective of margin rescaling, canonical outputs, from coef_ alone."""
    scores = X @ model.coef_.T
    y = np.searchsorted(model.classes_, y)
    own = scores[np.arange(len(y)), y]
    slack = (cost[y] + scores - own[:, None]).max(axis=1)
    return 0.5 * np.sum(model.coef_**2) + C * slack.sum()


def test_coef_has_the_primal_value_of_the_certificate(iris):
    X, y = iris
    model = MulticlassSVM(C=0.5, loss=COST, fit_intercept=False).fit(X, y)
    value = primal(model, X, y, COST, 0.5)
    assert value == pytest.approx(model.result_.primal, rel=1e-9)
    assert model.result_.converged and model.result_.gap <= 1e-3


def test_same_optimum_as_crammer_and_singer():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16.0, y[:400]
    ours = MulticlassSVM(C=0.1, fit_intercept=False, tol=1e-5).fit(X, y)
    theirs = LinearSVC(
        C=0.1, multi_class="crammer_singer", fit_intercept=False, tol=1e-6,
        max_iter=20000,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X, y)
    cost = 1.0 - np.eye(10)
    values = [primal(m, X, y, cost, 0.1) for m in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    sparse = clone(ours).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, ours.coef_, atol=2e-2)


@pytest.mark.parametrize(("rescaling", "penalty"), FORMULATIONS)
@pytest.mark.parametrize("taxonomy", [None, TREE])
def test_formulations_agree_with_a_general_solver(iris, rescaling, penalty, taxonomy):
    X, y = iris
    if penalty == "hard":
        X, y = X[:100], y[:100]  # separable
    cost = "zero-one" if penalty == "hard" else COST
    tree = None if penalty == "hard" else taxonomy
    model = MulticlassSVM(
        C=0.05, loss=cost, rescaling=rescaling, penalty=penalty, taxonomy=tree,
        tol=1e-4,
    ).fit(X, y)  # fmt: skip
    assert model.result_.converged and model.result_.gap >= 0
    if penalty == "summed":
        return
    other = clone(model).set_params(solver="n-slack-block", tol=1e-3).fit(X, y)
    assert model.result_.primal <= other.result_.primal * (1 + 1e-4)
    assert model.result_.dual >= other.result_.dual * (1 - 1e-4)


def test_slack_rescaling_of_zero_one_is_margin_rescaling(iris):
    X, y = iris
    one = MulticlassSVM(tol=1e-5).fit(X, y)
    two = MulticlassSVM(rescaling="slack", tol=1e-5).fit(X, y)
    assert one.result_.primal == pytest.approx(two.result_.primal, rel=1e-9)


def test_hard_margin_on_mixed_classes_says_so(iris):
    X, _ = iris
    y = np.arange(len(X)) % 3
    with pytest.warns(ConvergenceWarning, match="hard margin has no solution"):
        model = MulticlassSVM(penalty="hard").fit(X, y)
    assert model.result_.status.name == "NOT_SEPARABLE"


def test_two_classes_have_one_score(iris):
    X, y = iris
    X, y = X[50:], y[50:]
    model = MulticlassSVM().fit(X, y)
    assert model.coef_.shape == (1, 4) and model.intercept_.shape == (1,)
    score = model.decision_function(X)
    np.testing.assert_allclose(score, X @ model.coef_[0] + model.intercept_[0])
    assert (model.predict(X) == model.classes_[(score > 0).astype(int)]).all()


def test_intercept_scaling_loosens_the_intercept(iris):
    X, y = iris
    tight, loose = (
        MulticlassSVM(intercept_scaling=s, tol=1e-5).fit(X + 3.0, y) for s in (0.01, 9)
    )
    assert np.abs(loose.intercept_).max() > 10 * np.abs(tight.intercept_).max()
    assert not MulticlassSVM(fit_intercept=False).fit(X, y).intercept_.any()


def test_weights_act_as_repetition_and_zero_as_absence(iris):
    X, y = iris
    count = np.arange(len(y)) % 3
    weighted = MulticlassSVM(tol=1e-6).fit(X, y, sample_weight=count)
    repeated = MulticlassSVM(tol=1e-6).fit(np.repeat(X, count, 0), np.repeat(y, count))
    assert weighted.result_.primal == pytest.approx(repeated.result_.primal, rel=1e-5)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-2)
    by_class = MulticlassSVM(class_weight={"setosa": 2.0}, tol=1e-6).fit(X, y)
    doubled = MulticlassSVM(tol=1e-6).fit(X, y, np.where(y == "setosa", 2.0, 1.0))
    assert by_class.result_.primal == pytest.approx(doubled.result_.primal, rel=1e-9)
    even = MulticlassSVM(class_weight="balanced").fit(X, y)
    assert even.result_.primal == pytest.approx(
        MulticlassSVM().fit(X, y).result_.primal, rel=1e-9
    )


def test_output_features_are_kernels_on_classes(iris):
    X, y = iris
    tree = MulticlassSVM(taxonomy=TREE, tol=1e-6, fit_intercept=False).fit(X, y)
    same = np.array([[1.0, 0, 0], [0, 2.0, 1.0], [0, 1.0, 2.0]])
    by_similarity = MulticlassSVM(class_similarity=same, tol=1e-6, fit_intercept=False)
    by_similarity.fit(X, y)
    assert tree.result_.primal == pytest.approx(by_similarity.result_.primal, rel=1e-5)
    words = {"setosa": [0.0], "versicolor": [1.0], "virginica": [1.0]}
    described = clone(by_similarity).set_params(
        class_similarity=None, class_features=words
    )
    described.fit(X, y)
    assert described.result_.primal == pytest.approx(tree.result_.primal, rel=1e-5)
    np.testing.assert_allclose(described.coef_, tree.coef_, atol=1e-2)


def test_node_weights_move_the_optimum(iris):
    X, y = iris
    plain = MulticlassSVM(fit_intercept=False, tol=1e-6).fit(X, y)
    no_inner = MulticlassSVM(
        taxonomy=TREE, node_weights={"tall": 0.0}, fit_intercept=False, tol=1e-6
    ).fit(X, y)
    assert no_inner.result_.primal == pytest.approx(plain.result_.primal, rel=1e-5)


def test_costs_by_pairs_of_labels(iris):
    X, y = iris
    by_pair = {("versicolor", "virginica"): 0.5, ("virginica", "setosa"): 4.0}
    table = 1.0 - np.eye(3)
    table[1, 2], table[2, 0] = 0.5, 4.0
    one, two = (MulticlassSVM(loss=loss).fit(X, y) for loss in (by_pair, table))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_pipeline_search_pickle_and_warm_start(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), MulticlassSVM())
    search = GridSearchCV(pipe, {"multiclasssvm__C": [0.02, 0.2]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    model = MulticlassSVM(warm_start=True, tol=1e-5).fit(X, y)
    steps = model.result_.iterations
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.fit(X, y).result_.iterations < max(steps, 2)


def bad(X, y, i, j, value):
    X = X.copy()
    X[i, j] = value
    return X, y


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (lambda X, y: bad(X, y, 7, 2, np.nan), {}, "NaN: row 7, column 2"),
        (lambda X, y: bad(X, y, 3, 1, np.inf), {}, "infinity: row 3, column 1"),
        (
            lambda X, y: (sp.csr_array(bad(X, y, 4, 0, np.inf)[0]), y),
            {},
            "infinity: row 4, column 0",
        ),
        (lambda X, y: (X, y[:-1]), {}, "150, 149"),
        (lambda X, y: (X[:50], y[:50]), {}, "one class only"),
        (lambda X, y: (X, y), {"C": 0.0}, "C=0.0"),
        (lambda X, y: (X, y), {"C": -1.0}, "greater than zero"),
        (lambda X, y: (X, y), {"loss": np.ones((2, 2))}, r"shape \(2, 2\)"),
        (lambda X, y: (X, y), {"loss": {("setosa", "rose"): 1.0}}, "'rose'"),
        (lambda X, y: (X, y), {"loss": "taxonomy"}, "needs a taxonomy"),
        (lambda X, y: (X, y), {"taxonomy": {"setosa": "top"}}, "'versicolor' has no"),
        (
            lambda X, y: (X, y),
            {"taxonomy": {**TREE, "top": "tall"}},
            "cycle: .*tall -> top -> tall|cycle: .*top -> tall -> top",
        ),
        (lambda X, y: (X, y), {"class_similarity": -np.eye(3)}, "eigenvalue is -1"),
        (lambda X, y: (X, y), {"class_weight": {"rose": 1.0}}, "'rose'"),
        (lambda X, y: (X, y), {"node_weights": {"tall": 1.0}}, "no taxonomy"),
        (lambda X, y: (X, y), {"intercept_scaling": 0.0}, "intercept_scaling"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(iris, change, settings, message):
    X, y = change(*iris)
    model = MulticlassSVM(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "coef_") and not hasattr(model, "result_")


def test_score_counts_unknown_labels_as_errors(iris):
    X, y = iris
    model = MulticlassSVM().fit(X, y)
    strange = y.astype(object)
    strange[5] = "rose"
    right = model.predict(X) == y
    assert right[5] and model.score(X, strange) == (right.sum() - 1) / len(y)


def test_top_features_of_classes():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    X = pd.DataFrame({name: (y == name) + 0.1 * rng.normal(size=60) for name in "abc"})
    model = MulticlassSVM(C=1.0).fit(X, y)
    for label in "abc":
        (name, weight), *_ = model.top_features(label, n=2)
        assert name == label and weight > 0
        (name, weight), *_ = model.top_features(label, n=-2)
        assert name != label and weight < 0
    assert model.top_features("a", 1, names=["x", "y", "z"])[0][0] == "x"
    two = MulticlassSVM(C=1.0).fit(X[:40], y[:40])
    assert two.top_features("a", 1)[0] == ("a", -two.coef_[0, 0])
    assert two.top_features("b", 1)[0][0] == "b"
    with pytest.raises(ValueError, match="'d' is not a class"):
        model.top_features("d")
    with pytest.raises(ValueError, match="2 names were given for 3"):
        model.top_features("a", names=["x", "y"])
