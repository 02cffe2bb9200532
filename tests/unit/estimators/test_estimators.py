"""StructuralSVM as a scikit-learn estimator, and what it says about bad input."""

import pickle
import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from cases.own import Knapsack
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from maxmargin import ChainSVM, StructuralSVM
from maxmargin.core import OracleError
from maxmargin.losses import Hamming
from maxmargin.structures import Matching
from maxmargin.structures.classes import Multiclass


def matchings(n=24, seed=0):
    """Matchings that follow the first feature."""
    rng = np.random.default_rng(seed)
    X = np.empty(n, dtype=object)
    Y = np.empty(n, dtype=object)
    for i in range(n):
        X[i] = rng.normal(size=(3, 3, 2))
        order = np.argsort(X[i][:, :, 0].sum(axis=1) + 0.3 * rng.normal(size=3))
        Y[i] = order.tolist()
    return X, Y


def test_parameters_and_clone():
    model = StructuralSVM(Matching(), C=0.7, rescaling="slack", tol=0.01)
    params = model.get_params()
    assert params["C"] == 0.7
    assert params["structure"] == Matching()
    other = clone(model)
    assert other is not model
    assert other.get_params() == params
    model.set_params(C=2.0, penalty="squared")
    assert (model.C, model.penalty, other.C) == (2.0, "squared", 0.7)
    assert "Matching" in repr(model)


def test_fit_leaves_parameters_and_data_alone():
    X, Y = matchings()
    before = pickle.dumps((X, Y))
    structure = Matching()
    model = StructuralSVM(structure).fit(X, Y)
    assert pickle.dumps((X, Y)) == before
    assert model.structure is structure
    assert structure == Matching()
    assert model.structure_.dim == 2
    assert model.coef_ is model.result_.w


# Matchings of random numbers cannot be learned, and `fit` says so.
NOISE = pytest.mark.filterwarnings("ignore:hardly anything was learned")


@NOISE
def test_predictions_are_an_object_array():
    X, Y = matchings()
    model = StructuralSVM(Matching(), C=5.0).fit(X, Y)
    found = model.predict(X)
    assert found.shape == (len(X),)
    assert found.dtype == object
    assert all(sorted(y) == [0, 1, 2] for y in found)
    wrong = np.mean([np.sum(np.not_equal(a, b)) for a, b in zip(found, Y, strict=True)])
    assert model.score(X, Y) == pytest.approx(-wrong)
    assert model.predict(list(X[:1]))[0] == found[0]


def test_pickle_keeps_predictions_and_leaves_planes_behind():
    X, Y = matchings()
    model = StructuralSVM(Matching(), warm_start=True).fit(X, Y)
    data = pickle.dumps(model)
    again = pickle.loads(data)
    assert (again.coef_ == model.coef_).all()
    assert list(again.predict(X)) == list(model.predict(X))
    assert again.result_.status is model.result_.status
    assert len(data) < 50_000


def test_a_pickle_holds_weights_without_their_zeros():
    """Many features, most of them without weight: once, and not as a dense array."""
    rng = np.random.default_rng(0)
    Y = [[str(k) for k in rng.integers(0, 8, 6)] for _ in range(40)]
    X = [[[f"f{k}", f"r{rng.integers(10**6)}"] for k in row] for row in Y]
    model = ChainSVM(C=0.01, tol=0.1, warm_start=True).fit(X, Y)
    data = pickle.dumps(model)
    again = pickle.loads(data)
    assert again.coef_ is again.result_.w
    assert np.array_equal(again.coef_, model.coef_)
    model.result_ = replace(model.result_, w=np.zeros(10**6))
    model.coef_ = model.result_.w
    assert len(pickle.dumps(model)) < len(data) + 1000


@NOISE
def test_grid_search_and_cross_validation():
    X, Y = matchings()
    search = GridSearchCV(
        StructuralSVM(Matching()), {"C": [0.01, 1.0], "rescaling": ["margin", None]},
        cv=3,
    )  # fmt: skip
    search.fit(X, Y)
    assert set(search.best_params_) == {"C", "rescaling"}
    assert search.best_estimator_.result_.converged
    assert cross_val_score(StructuralSVM(Matching()), X, Y, cv=2).shape == (2,)


class Centre(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.mean_ = np.mean([x.mean(axis=(0, 1)) for x in X], axis=0)
        return self

    def transform(self, X):
        return [x - self.mean_ for x in X]


def test_pipeline():
    X, Y = matchings()
    pipe = Pipeline([("centre", Centre()), ("svm", StructuralSVM(Matching()))])
    pipe.fit(X, Y)
    assert pipe.predict(X).shape == (len(X),)
    assert pipe.score(X, Y) <= 0.0
    assert clone(pipe).set_params(svm__C=3.0).get_params()["svm__C"] == 3.0


class Pick(Knapsack):
    """Zero-one loss, so that every formulation of the papers applies."""

    def loss(self, y, y_hat):
        return float(tuple(y) != tuple(y_hat))


def picks():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(8)]
    return X, [Pick().argmax(np.array([1.0, -0.5]), x) for x in X]


@pytest.mark.parametrize(
    ("rescaling", "penalty"),
    [("margin", "linear"), (None, "linear"), (None, "squared"), (None, "hard")],
)
def test_an_object_with_three_methods(penalty, rescaling):
    X, Y = picks()
    model = StructuralSVM(Pick(), C=10.0, penalty=penalty, rescaling=rescaling)
    model.fit(X, Y)
    assert model.result_.converged
    assert model.result_.certificate == "exact"
    if penalty == "hard":
        assert list(model.predict(X)) == Y
    assert model.score(X, Y) >= -0.3


@pytest.mark.parametrize(
    ("rescaling", "penalty"),
    [("slack", "linear"), ("slack", "squared"), ("margin", "squared")],
)
def test_an_object_with_three_methods_and_bounds_only(penalty, rescaling):
    X, Y = picks()
    model = StructuralSVM(
        Pick(), C=10.0, penalty=penalty, rescaling=rescaling, max_iter=5
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    assert model.result_.certificate == "bound"
    assert 0 < model.result_.dual <= model.result_.primal
    assert model.score(X, Y) >= -0.5


def test_hard_margins_need_a_zero_one_loss():
    X = [np.eye(3)[:2], np.eye(3)]
    with pytest.raises(ValueError, match="`loss` must return 0 or 1"):
        StructuralSVM(Knapsack(), penalty="hard").fit(X, [(0,), (1, 2)])


def test_data_that_no_weights_separate_end_with_a_word():
    X = np.array([[1.0], [1.0], [-1.0]])
    model = StructuralSVM(Multiclass(), penalty="hard")
    with pytest.warns(ConvergenceWarning, match="no weights separate the data"):
        model.fit(X, np.array([0, 1, 1]))
    assert model.result_.status.name == "NOT_SEPARABLE"
    assert np.isfinite(model.coef_).all()


def test_a_limit_is_warned_about():
    X, Y = matchings()
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        StructuralSVM(Matching(), tol=1e-12, max_iter=1).fit(X, Y)


def test_warm_start_goes_on_and_never_mixes_data():
    X, Y = matchings()
    model = StructuralSVM(Matching(), tol=1e-5, warm_start=True).fit(X, Y)
    first = model.result_
    model.fit(X, Y)
    assert model.result_.oracle_calls < first.oracle_calls
    assert model.result_.primal == pytest.approx(first.primal, rel=1e-4)
    for changed in (
        {"C": 1.0}, {"rescaling": "slack"}, {"loss": "zero-one", "rescaling": None},
        {"penalty": "squared", "rescaling": None}, {"solver": "one-slack"},
    ):  # fmt: skip
        model.set_params(**changed)
        cold = clone(model).set_params(warm_start=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, Y)
            cold.fit(X, Y)
        bound = abs(cold.result_.primal)
        assert abs(model.result_.dual - cold.result_.dual) <= 1e-2 * bound, changed
    other, labels = matchings(seed=9)  # as many examples, but others
    model.fit(other, labels)
    cold = clone(model).set_params(warm_start=False).fit(other, labels)
    assert model.result_.dual == pytest.approx(cold.result_.dual, rel=1e-4)
    assert model.result_.dual <= cold.result_.primal


def test_planes_are_not_kept_without_warm_start():
    X, Y = matchings()
    model = StructuralSVM(Matching()).fit(X, Y)
    assert model._state is None


def test_threads_give_the_same_bits():
    X, Y = matchings(100)
    one = StructuralSVM(Matching(), n_jobs=1).fit(X, Y)
    four = StructuralSVM(Matching(), n_jobs=4).fit(X, Y)
    assert (one.coef_ == four.coef_).all()
    assert list(one.predict(X)) == list(four.predict(X))


def test_callbacks_and_progress(capsys):
    X, Y = matchings()
    rows = []
    model = StructuralSVM(Matching(), callbacks=rows.append, verbose=1).fit(X, Y)
    assert len(rows) == model.result_.iterations
    assert "primal" in capsys.readouterr().err
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        StructuralSVM(Matching(), tol=1e-9, callbacks=[lambda row: True]).fit(X, Y)


def interrupt(row):
    raise KeyboardInterrupt


def test_an_interrupt_is_said_and_the_weights_are_kept():
    X, Y = matchings()
    model = StructuralSVM(Matching(), tol=1e-9, callbacks=interrupt)
    with pytest.raises(KeyboardInterrupt):  # a search over parameters must stop, too
        model.fit(X, Y)
    assert model.result_.status.name == "INTERRUPTED"
    assert model.predict(X).shape == (len(X),)


class Liar(Knapsack):
    """Returns nothing, whatever is better."""

    def argmax(self, w, x, y=None):
        return ()


class Bad:
    X, Y = matchings(6)
    sets: ClassVar = [
        ({"C": 0.0}, X, Y, "C=0.0: the penalty must be a finite number greater than"),
        ({"C": -1}, X, Y, "C=-1: the penalty must be"),
        ({"C": np.inf}, X, Y, "C=inf"),
        ({"C": "1"}, X, Y, "C='1'"),
        ({}, X, Y[:5], "X has 6 examples, but y has 5"),
        ({}, X[:0], Y[:0], "nothing to learn from"),
        ({}, X, None, "requires y"),
        ({"loss": "cosine"}, X, Y, "loss='cosine' is not known here: choose from"),
        ({"loss": np.ones((3, 3))}, X, Y, "the truth must cost nothing"),
        ({"loss": np.eye(2)}, X, Y, "cost matrix has shape"),
        ({"loss": Hamming(class_weight=[1, -1, 1])}, X, Y, "class_weight.1. is -1"),
        ({"rescaling": "both"}, X, Y, "rescaling='both'"),
        ({"penalty": "cubic"}, X, Y, "penalty='cubic'"),
        ({"penalty": "summed", "solver": "n-slack"}, X, Y, "cannot train penalty='summed'"),
        ({"solver": "fast"}, X, Y, "solver='fast' is not known"),
        ({"tol": -0.1}, X, Y, "tol=-0.1"),
        ({}, [*X[:5], X[5][:2]], Y, "example 5: features of shape"),
        ({}, [*X[:5], X[5] * np.nan], Y, r"example 5, pair \(0, 0\): feature 0 is nan"),
        ({}, X, [*Y[:5], [0, 0, 1]], "example 5: .* is not a permutation"),
    ]  # fmt: skip


@pytest.mark.parametrize(("params", "X", "Y", "message"), Bad.sets)
def test_bad_input_is_named_and_changes_nothing(params, X, Y, message):
    good_X, good_Y = matchings(6)
    model = StructuralSVM(Matching()).fit(good_X, good_Y)
    kept = dict(vars(model))
    model.set_params(**params)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, Y)
    for name in ("coef_", "result_", "structure_"):
        assert getattr(model, name) is kept[name]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0] * 5, "sample_weight has shape"),
        ([1, 1, 1, -1, 1, 1], r"sample_weight\[3\] is -1"),
        ([1, np.nan, 1, 1, 1, 1], r"sample_weight\[1\] is nan"),
    ],
)
def test_bad_sample_weights(weight, message):
    X, Y = matchings(6)
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Matching()).fit(X, Y, sample_weight=weight)


def test_sample_weights_are_copies():
    X, Y = matchings(6)
    weight = np.array([2, 1, 1, 3, 1, 1])
    weighted = StructuralSVM(Matching(), tol=1e-6).fit(X, Y, sample_weight=weight)
    again = np.repeat(np.arange(6), weight)
    copied = StructuralSVM(Matching(), tol=1e-6).fit(X[again], Y[again])
    assert weighted.result_.primal == pytest.approx(copied.result_.primal, rel=1e-5)


def test_an_argmax_worse_than_the_truth_is_named():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(5)]
    with pytest.raises(OracleError, match=r"example \d: argmax of .* check_structure"):
        StructuralSVM(Liar(), C=10.0).fit(X, [(0, 1)] * 5)


def test_what_is_no_structure_is_refused():
    with pytest.raises(TypeError, match="it lacks joint_feature, loss, argmax"):
        StructuralSVM(object()).fit([1], [1])
    with pytest.raises(NotFittedError):
        StructuralSVM(Matching()).predict([])


def test_outputs_that_cannot_be_pickled_are_named():
    X = [np.eye(2)] * 2
    with pytest.raises(ValueError, match="example 1: the output cannot be pickled"):
        StructuralSVM(Knapsack()).fit(X, [(0,), lambda: 0])


def test_unknown_classes_and_widths_are_named():
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.arange(6) % 3
    model = StructuralSVM(Multiclass()).fit(X, y)
    with pytest.raises(ValueError, match="X has 4 features, but there were 3"):
        model.predict(np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"example 1: class 7 is not one of 0 .. 2"):
        model.score(X[:2], [0, 7])
