"""The sequence labeller as scikit-learn and sklearn-crfsuite users meet it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

from maxmargin import ChainSVM, Sequences
from maxmargin.metrics import token_error

TEXT = """
Ana/NP/B-PER vive/VB/O en/SP/O Lima/NP/B-LOC
Lima/NP/B-LOC crece/VB/O
Luis/NP/B-PER Paz/NP/I-PER habla/VB/O
hoy/RG/O habla/VB/O Ana/NP/B-PER Paz/NP/I-PER
en/SP/O Quito/NP/B-LOC vive/VB/O Luis/NP/B-PER
"""
SENTENCES = [
    [tuple(token.split("/")) for token in line.split()]
    for line in TEXT.split("\n")[1:-1]
]


def word2features(sent, i):
    """The shape of sklearn-crfsuite's tutorial."""
    word, tag = sent[i][0], sent[i][1]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
    }
    if i > 0:
        features.update({"-1:word.lower()": sent[i - 1][0].lower()})
    else:
        features["BOS"] = True
    if i == len(sent) - 1:
        features["EOS"] = True
    return features


X = [[word2features(s, i) for i in range(len(s))] for s in SENTENCES]
y = [[label for _, _, label in s] for s in SENTENCES]


@pytest.fixture(scope="module")
def model():
    return ChainSVM(C=1.0).fit(X, y)


def test_tutorial_data_fits_unchanged(model):
    assert model.result_.converged
    assert model.result_.gap <= 1e-3
    found = model.predict(X)
    assert found.shape == (5,)
    assert [list(row) for row in found] == y
    assert model.score(X, y) == 1.0
    assert model.classes_ == ["B-LOC", "B-PER", "I-PER", "O"]


def test_nbest_and_confidence_agree(model):
    lists = model.predict_nbest(X, 3)
    margins = model.confidence(X)
    for row, best, margin in zip(lists, model.predict(X), margins, strict=True):
        assert row[0][0] == list(best)
        scores = [score for _, score in row]
        assert scores == sorted(scores, reverse=True)
        assert margin.min() == pytest.approx(scores[0] - scores[1])


def test_explain_adds_up_to_the_score(model):
    reasons = model.explain(X[0])
    total = sum(term.adds for reason in reasons for term in reason.terms)
    assert total == pytest.approx(model.predict_nbest([X[0]], 1)[0][0][1])
    assert [reason.label for reason in reasons] == y[0]
    np.testing.assert_allclose([r.margin for r in reasons], model.confidence([X[0]])[0])
    assert all(r.rival != r.label for r in reasons)
    assert len(model.explain(X[0], n=2)[0].terms) == 2


@pytest.mark.parametrize("options", [
    {"order": 3, "window": 1}, {"edge_features": True, "eta": 0.5, "order": 2},
    {"bias": False, "start_end": False},
])  # fmt: skip
@pytest.mark.parametrize("dense", [True, False])
def test_explain_adds_up_with_every_option(options, dense):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(n, 2)) for n in (4, 1, 3)]
    labels = [list("abca"), ["b"], list("bac")]
    some = [a.tolist() for a in arrays] if dense else [
        [{"u": p, "v": q} for p, q in a] for a in arrays
    ]  # fmt: skip
    model = ChainSVM(**options).fit(some, labels)
    total = sum(term.adds for r in model.explain(some[0]) for term in r.terms)
    assert total == pytest.approx(model.predict_nbest(some, 1)[0][0][1])
    names = model.structure_.feature_names()
    assert len(set(names)) == len(names) == len(model.coef_)


def test_weights_by_name(model):
    names = [name for name, _ in model.top_features("B-LOC", 5)]
    assert any("lima" in name or "quito" in name for name in names)
    worst = model.top_features("B-LOC", -3)
    assert worst[0][1] <= worst[1][1] <= 0
    pairs = model.transitions()
    assert pairs["B-PER", "I-PER"] > pairs["B-LOC", "I-PER"]
    with pytest.raises(ValueError, match="unknown label 'X'"):
        model.top_features("X")


def test_constraints_at_predict_time(model):
    forced = model.predict(X, forced=[{0: "O"}, None, ["O", "O", "O"], {}, {}])
    assert forced[0][0] == "O"
    assert forced[2] == ["O", "O", "O"]
    only_o = model.predict(X, allowed={("O", "O")}, forced=[{0: "O"}] * 5)
    assert {label for row in only_o for label in row} == {"O"}
    strict = model.predict(X, scheme="bio", forced=[{}, {}, {1: "I-PER"}, {}, {}])
    assert strict[2][:2] == ["B-PER", "I-PER"]


def test_scheme_in_training():
    strict = ChainSVM(C=1.0, scheme="bio").fit(X, y)
    assert strict.score(X, y) == 1.0
    with pytest.raises(ValueError, match="sequence 0, token 0"):
        ChainSVM(scheme="bio").fit(X, [["I-PER", *row[1:]] for row in y])


@pytest.mark.parametrize("options", [
    {"loss": "zero-one"}, {"loss": "hamming-mean"}, {"rescaling": "slack"},
    {"rescaling": None}, {"penalty": "squared"}, {"order": 2}, {"order": 3},
    {"class_weight": {"O": 0.5}}, {"class_weight": "balanced"}, {"penalty": "hard"},
    {"rescaling": "slack", "penalty": "squared"}, {"edge_features": True},
    {"loss": 1.0 - np.eye(4)}, {"window": 1}, {"n_jobs": 2},
])  # fmt: skip
def test_options_train_to_the_tolerance(options):
    model = ChainSVM(C=1.0, **options).fit(X, y)
    assert model.result_.converged
    assert model.result_.certificate == "exact"
    assert model.score(X, y) == 1.0


def test_slack_rescaling_without_a_common_unit_is_a_bound():
    weight = {"O": np.pi / 4, "B-LOC": np.e / 2}
    model = ChainSVM(C=1.0, class_weight=weight, rescaling="slack")
    with pytest.warns(ConvergenceWarning, match="inference is not exact"):
        model.fit(X, y)
    assert model.result_.certificate == "bound"


def test_sample_weight_of_zero_removes_a_sequence():
    wrong = [*y[:1], ["O", "O"], *y[2:]]
    model = ChainSVM(C=1.0).fit(X, wrong, sample_weight=[1, 0, 1, 1, 1])
    without = ChainSVM(C=1.0).fit(X[:1] + X[2:], y[:1] + y[2:])
    assert model.result_.primal == pytest.approx(without.result_.primal, rel=5e-3)


def test_grid_search_pipeline_clone_and_pickle(model):
    search = GridSearchCV(
        Pipeline([("labels", ChainSVM())]), {"labels__C": [0.01, 1.0]}, cv=KFold(2)
    ).fit(X, y)
    assert search.best_score_ > 0.5
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_flat_sequences_in_grid_search():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 6, 20)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    labels = rng.integers(3, size=ends[-1])
    flat = np.eye(3)[labels] + 0.1 * rng.normal(size=(ends[-1], 3))
    many, truth = Sequences(flat, ends), Sequences(labels, ends)
    model = ChainSVM(C=1.0).fit(many, truth)
    one_by_one = ChainSVM(C=1.0).fit(list(many), list(truth))
    assert model.predict(many).tolist() == one_by_one.predict(list(many)).tolist()
    assert token_error(truth, model.predict(many)) == 0.0
    search = GridSearchCV(ChainSVM(), {"C": [0.1, 1.0]}, cv=3).fit(many, truth)
    assert search.best_score_ > 0.9


def test_errors_before_and_in_fit(model):
    with pytest.raises(NotFittedError):
        ChainSVM().predict(X)
    with pytest.raises(ValueError, match="sequence 1 has 2 tokens but 1 labels"):
        ChainSVM().fit(X, [y[0], ["O"], *y[2:]])
    with pytest.raises(ValueError, match="unknown label"):
        ChainSVM(class_weight={"nope": 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="sequence 0, token 0 has no features"):
        model.predict([[{}]])
    assert model.predict([]).shape == (0,)
    assert model.predict([[]])[0] == []


def test_what_is_no_sentence_is_named(model):
    with pytest.raises(ValueError, match="sequence 0, token 0: feature names must be"):
        model.explain([[["a"]], [["b"]]])  # sentences where one is meant
    with pytest.raises(ValueError, match="sequence 0, token 0: feature names must be"):
        ChainSVM().fit([[["a"], ["b"]]], [["N", "V"]]).explain(X)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"word": ["a", "b"]})
    with pytest.raises(ValueError, match=r"sequence 0 is a DataFrame.*to_dict"):
        ChainSVM().fit([frame], [["N", "V"]])


def rare_spans(outside):
    """Sentences with one span among so many words outside."""
    words = [f"w{k % 7}" for k in range(outside)]
    X = [[*words, "Ana", "Ruiz"], [*words, "Lima", "es"], [*words, "es", "Ana"]]
    ends = [["B-PER", "I-PER"], ["B-LOC", "O"], ["O", "B-PER"]]
    return X, [["O"] * outside + end for end in ends]


def test_class_weight_is_said_in_words_that_are_known():
    X, y = rare_spans(3)
    with pytest.raises(ValueError, match="class_weight='even' is not 'balanced'"):
        ChainSVM(features="ner", class_weight="even").fit(X, y)
