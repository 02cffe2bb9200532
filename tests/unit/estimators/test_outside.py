"""The constant for the label O, beside folds and counts in plain Python."""

import io
import pickle

import numpy as np
import pytest

import maxmargin
from maxmargin import ChainSVM
from maxmargin.estimators.calibrating.held_out import folds
from maxmargin.estimators.calibrating.outside import FOLDS, SHIFTS
from maxmargin.metrics import spans


def rare_names(n=240, seed=0):
    """Sentences of twenty words; half of the names in them do not count as such."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = [{"w": f"w{rng.integers(30)}", "c": "low"} for _ in range(20)]
        labels = ["O"] * 20
        for at in np.flatnonzero(rng.random(18) < 0.06):
            words[at] = {"w": f"n{rng.integers(40)}", "c": "cap"}
            if rng.random() < 0.5:
                labels[at] = "B-X"
                if rng.random() < 0.3:
                    words[at + 1], labels[at + 1] = {"w": "m", "c": "cap"}, "I-X"
        X.append(words)
        y.append(labels)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rare_names()
    return ChainSVM(C=0.5).fit(X, y), X, y


def shifted_by_hand(model, d):
    """A model whose weight of O is d larger."""
    other = pickle.loads(pickle.dumps(model))
    other.outside_shift_ = 0.0
    other.coef_ = model.coef_.copy()
    at = model.structure_.layout.bias + model.classes_.index("O")
    other.coef_[at] += d
    return other


def test_the_shift_is_the_best_of_folds_counted_in_plain_python(fitted):
    model, X, y = fitted
    counts = np.zeros((len(SHIFTS), 3))
    for test in np.array_split(np.arange(len(X)), FOLDS):
        weight = np.ones(len(X))
        weight[test] = 0.0
        one = ChainSVM(C=0.5, tol=0.1, outside_shift=0.0).fit(X, y, weight)
        for k, d in enumerate(SHIFTS):
            found = shifted_by_hand(one, d).predict([X[i] for i in test])
            for i, said in zip(test, found, strict=True):
                a, b = set(spans(y[i])), set(spans(said))
                counts[k] += len(a & b), len(b), len(a)
    f1 = 2 * counts[:, 0] / (counts[:, 1] + counts[:, 2])
    mean = [f1[max(k - 1, 0) : k + 2].sum() for k in range(len(f1))]
    mean[0] += f1[0]
    mean[-1] += f1[-1]
    best = SHIFTS[np.isclose(mean, max(mean))]
    assert model.outside_shift_ == best[np.argmin(np.abs(best))]
    assert model.outside_shift_ < 0  # half of the names: equal costs find too few


def test_weights_and_certificate_stay_those_of_training(fitted):
    model, X, y = fitted
    plain = ChainSVM(C=0.5, outside_shift=0.0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.coef_ is model.result_.w
    assert model.result_.gap == plain.result_.gap
    assert plain.outside_shift_ == 0.0
    rows = zip(model.bounds(X, y), plain.bounds(X, y), strict=True)
    assert all(str(one) == str(other) for one, other in rows)
    assert list(model.predict(X)) != list(plain.predict(X))


def test_all_predictions_have_the_shift(fitted):
    model, X, _ = fitted
    hand = shifted_by_hand(model, model.outside_shift_)
    found = list(model.predict(X))
    assert found == list(hand.predict(X))
    assert [model.tag(x) for x in X[:30]] == found[:30]
    assert [rows[0][0] for rows in model.predict_nbest(X, 2)] == found
    for one, other in zip(model.max_marginals(X), hand.max_marginals(X), strict=True):
        np.testing.assert_array_equal(one, other)
    best = [t.argmax(axis=1) for t in model.max_marginals(X[:30])]
    named = [[model.classes_[k] for k in row] for row in best]
    assert named == found[:30]
    explained = model.explain(X[0])
    assert explained.score == pytest.approx(model.predict_nbest(X[:1], 1)[0][0][1])


def test_files_and_pickles_keep_the_shift(fitted):
    model, X, _ = fitted
    file = io.BytesIO()
    model.save(file)
    for again in (
        maxmargin.load(io.BytesIO(file.getvalue())),
        pickle.loads(pickle.dumps(model)),
    ):
        assert again.outside_shift_ == model.outside_shift_
        assert list(again.predict(X)) == list(model.predict(X))


def test_folds_of_a_calibration_have_the_shift_of_the_model(fitted):
    model, X, y = fitted
    for one, _ in folds(model, X, y, 2):
        assert one.outside_shift_ == model.outside_shift_


@pytest.mark.parametrize("options", [
    {"class_weight": {"O": 1.0}}, {"loss": "hamming-mean"}, {"bias": False},
    {"loss": np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0.0]])}, {"outside_shift": 0.0},
])  # fmt: skip
def test_nothing_is_chosen_where_it_does_not_apply(options):
    X, y = rare_names()
    assert ChainSVM(tol=0.1, **options).fit(X, y).outside_shift_ == 0.0


def test_nothing_is_chosen_without_many_rare_spans():
    X, y = rare_names()
    model = ChainSVM(tol=0.1)
    assert model.fit(X[:40], y[:40]).outside_shift_ == 0.0  # few
    often = [
        ["B-X" if v == "O" and t % 9 == 0 else v for t, v in enumerate(s)] for s in y
    ]
    assert model.fit(X, often).outside_shift_ == 0.0
    tags = [["N" if v == "O" else v for v in s] for s in y]
    assert model.fit(X, tags).outside_shift_ == 0.0  # no O
    hidden = [[None, *y[0][1:]], *y[1:]]
    assert model.fit(X, hidden).outside_shift_ == 0.0
    model = ChainSVM(tol=0.1).partial_fit(X, y)
    assert model.outside_shift_ == 0.0


def test_a_number_is_used_everywhere():
    X, y = rare_names(60)
    model = ChainSVM(outside_shift=-0.3).fit(X, y)
    assert model.outside_shift_ == -0.3
    assert ChainSVM(outside_shift=-0.3).partial_fit(X, y).outside_shift_ == -0.3
    model.fit_path(X, y, [0.1, 0.2])
    assert model.outside_shift_ == -0.3


@pytest.mark.parametrize(("options", "message"), [
    ({"outside_shift": "even"}, "'even' is neither 'auto' nor a number"),
    ({"outside_shift": float("nan")}, "nan is neither"),
    ({"outside_shift": True}, "True is"),
    ({"outside_shift": -0.1, "kernel": "quadratic"}, "without a kernel"),
    ({"outside_shift": -0.1, "bias": False}, "needs a label 'O' and bias=True"),
])  # fmt: skip
def test_wrong_shifts_are_refused(options, message):
    X, y = rare_names(20)
    with pytest.raises((ValueError, TypeError), match=message):
        ChainSVM(**options).fit(X, y)
    with pytest.raises(ValueError, match="needs a label 'O'"):
        ChainSVM(outside_shift=0.1).fit([[["a"], ["b"]]], [["N", "V"]])
