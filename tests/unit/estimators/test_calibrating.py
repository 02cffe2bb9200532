"""Probabilities and sets of fitted models: they sum to one and keep their promises."""

import io
import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from small.models import same

import maxmargin as mm
from maxmargin.calibration import expected_calibration_error
from maxmargin.core.data import Sequences
from maxmargin.structures.classes import Taxonomy


def sequences(n, seed, labels=3):
    """Noisy observations of a sticky chain, as arrays."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 7))
        row = np.empty(size, int)
        for t in range(size):
            stay = t and rng.random() < 0.7
            row[t] = row[t - 1] if stay else rng.integers(labels)
        X.append(np.eye(labels)[row] + 0.9 * rng.normal(size=(size, labels)))
        y.append([f"L{k}" for k in row])
    return X, y


@pytest.fixture(scope="module")
def chain():
    model = mm.ChainSVM(C=0.1).fit(*sequences(150, 0))
    return model.calibrate(*sequences(800, 1), n=100)


def test_marginals_sum_to_one_and_have_labels(chain):
    X, _ = sequences(20, 2)
    for table, dicts, x in zip(chain.marginals(X), chain.predict_marginals(X), X):
        assert table.shape == (len(x), 3)
        assert np.allclose(table.sum(axis=1), 1.0)
        assert [list(d) for d in dicts] == [chain.classes_] * len(x)
        assert [list(d.values()) for d in dicts] == table.tolist()


def test_calibrated_marginals_say_how_often_they_are_right(chain):
    X, y = sequences(1500, 3)
    p = np.concatenate(chain.marginals(X))
    truth = np.array([chain.classes_.index(v) for row in y for v in row])
    best = p.argmax(axis=1)
    assert expected_calibration_error(p.max(axis=1), best == truth) < 0.03
    sharper = p**4 / (p**4).sum(axis=1, keepdims=True)
    assert expected_calibration_error(sharper.max(axis=1), best == truth) > 0.06


@pytest.mark.parametrize("per", ["token", "label", "sequence", "output"])
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_hold_the_truth_as_often_as_promised(chain, per, coverage):
    X, y = sequences(2000, 4)
    sets = chain.predict_set(X, coverage, per=per)
    if per == "output":
        held = [row in found for row, found in zip(y, sets)]
    else:
        inside = [[v in s for v, s in zip(row, f)] for row, f in zip(y, sets)]
        flat = [v for row in y for v in row]
        tokens = np.concatenate(inside)
        if per == "sequence":
            held = [all(row) for row in inside]
        elif per == "token":
            held = tokens
        else:
            held = tokens[np.array(flat) == "L1"]
    few = 3.0 * np.sqrt(coverage * (1 - coverage) * (1 / len(held) + 1 / 250))
    assert np.mean(held) > coverage - few
    if per == "output":
        assert np.mean([len(s) for s in sets]) < chain.calibration_.n


def test_ranked_outputs_are_probabilities_in_order(chain):
    X, y = sequences(1000, 5)
    ranked = chain.predict_ranked(X)
    assert same([r[0][0] for r in ranked], list(chain.predict(X)))
    for row in ranked[:50]:
        p = [v for _, v in row]
        assert np.isclose(sum(p), 1.0) and p == sorted(p, reverse=True)
    sure = np.array([row[0][1] for row in ranked])
    right = [row[0][0] == truth for row, truth in zip(ranked, y)]
    assert expected_calibration_error(sure, right) < 0.06


def test_calibration_travels_and_a_new_fit_drops_it(chain):
    X, y = sequences(30, 6)
    file = io.BytesIO()
    chain.save(file)
    loaded = mm.load(io.BytesIO(file.getvalue()))
    assert all(map(np.array_equal, loaded.marginals(X), chain.marginals(X)))
    assert loaded.predict_set(X, 0.9) == chain.predict_set(X, 0.9)
    again = clone(chain).fit(X, y)
    with pytest.raises(ValueError, match=r"not calibrated.*Call calibrate"):
        again.marginals(X)


def test_folds_stand_for_new_data():
    X, y = sequences(300, 7)
    model = mm.ChainSVM(C=0.1, calibration=3).fit(X, y)
    other = mm.ChainSVM(C=0.1).fit(X, y).calibrate(*sequences(800, 8))
    a, b = model.calibration_.labels, other.calibration_.labels
    assert 0.7 < a.inverse / b.inverse < 1.4
    y[0] = ["rare"] * len(y[0])  # a label that some fold has never seen
    model = mm.ChainSVM(C=0.1, calibration=3).fit(X, y)
    assert model.marginals(X)[0].shape[1] == 4


def test_spans_have_a_probability():
    rng = np.random.default_rng(0)
    words = [["Ana", "vive", "en", "Lima"], ["hoy", "Eva", "ríe"], ["en", "Lima", "no"]]
    tags = [["B-PER", "O", "O", "B-LOC"], ["O", "B-PER", "O"], ["O", "B-LOC", "O"]]
    some = rng.integers(3, size=40)
    X, y = [words[i] for i in some], [tags[i] for i in some]
    model = mm.ChainSVM(features="ner").fit(X, y).calibrate(X, y)
    (spans,) = model.span_confidences([["Ana", "vive", "en", "Lima"]])
    assert [s[:3] for s in spans] == [("PER", 0, 0), ("LOC", 3, 3)]
    assert all(0.5 < s.confidence <= 1.0 for s in spans)


def test_hidden_labels_and_illegal_truth_do_not_count(chain):
    X, y = sequences(200, 9)
    y = [[None if t == 0 else v for t, v in enumerate(row)] for row in y]
    found = clone(chain).fit(*sequences(100, 0)).calibrate(X, y)
    assert np.allclose(np.concatenate(found.marginals(X)).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="no true output"):
        found.predict_ranked(X)
    masked = mm.ChainSVM(allowed={("L0", "L0"), ("L0", "L1"), ("L1", "L0")})
    masked.fit([np.eye(2)[[0, 1]]], [["L0", "L1"]])
    masked.calibrate(
        [np.eye(2)[[1, 1]], np.eye(2)[[0, 1]]], [["L1", "L1"], ["L0", "L1"]]
    )
    assert np.allclose(np.concatenate(masked.marginals([np.eye(2)])).sum(axis=1), 1.0)


def test_classes_too():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2000)
    X = np.eye(3)[y] + 0.7 * rng.normal(size=(2000, 3))
    y = np.array(["a", "b", "c"])[y]
    model = mm.MulticlassSVM().fit(X[:500], y[:500]).calibrate(X[500:1000], y[500:1000])
    sets = model.predict_set(X[1000:], 0.9)
    held = np.mean([truth in s for truth, s in zip(y[1000:], sets)])
    assert 0.86 < held < 0.94
    ranked = model.predict_ranked(X[1000:])
    assert all(
        len(row) == 3 and np.isclose(sum(p for _, p in row), 1.0) for row in ranked
    )
    assert [row[0][0] for row in ranked] == model.predict(X[1000:]).tolist()


def test_trees_too_and_a_warning_where_lists_are_short():
    X = [["the", "cat", "sat"], ["I", "saw", "a", "dog"], ["I", "sat"]] * 4
    y = [
        ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")),
              ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
        ("S", ("NP", ("PRP", "I")), ("VP", ("VBD", "sat"))),
    ] * 4  # fmt: skip
    model = mm.GrammarSVM(C=1.0, terminals="words", rare=0).fit(X, y).calibrate(X, y)
    assert model.predict_set(X[:3], 0.8)[2][0] == y[2]
    with pytest.warns(UserWarning, match="sets hold all"):
        model.predict_set(X[:1], 0.99)


@pytest.mark.parametrize("kind", ["alignment", "grammar"])
def test_ranked_outputs_belong_to_their_inputs(kind):
    """Inputs of several sizes, with several outputs each."""
    if kind == "alignment":
        X = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW"), ("GHE", "GE")]
        y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW"), ("GHE", "G-E")]
        model = mm.AlignmentSVM(C=10.0).fit(X, y)
    else:
        X = [["N"] * size for size in (2, 4, 3)]
        y = [("S", ("N", "a"), ("N", "b"))]
        y.append(("S", ("S", ("N", "a"), ("N", "b")), ("S", ("N", "c"), ("N", "d"))))
        y.append(("S", ("S", ("N", "a"), ("N", "b")), ("N", "c")))
        model = mm.GrammarSVM(C=1.0).fit(X, y)
    ranked = model.calibrate(X, y, n=3).predict_ranked(X)
    assert max(map(len, ranked)) > 1
    for x, rows in zip(X, ranked, strict=True):
        expected = model.predict_nbest([x], len(rows))[0]
        assert [repr(output) for output, _ in rows] == [repr(o) for o, _ in expected]


MISTAKES = {
    "folds": ({"cv": 1}, "at least 2"),
    "too many folds": ({"cv": 100}, "only 30 examples"),
    "no outputs": ({"n": 0}, "n=0: a whole number of outputs"),
    "half an output": ({"n": 1.5}, "n=1.5: a whole number of outputs"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(chain, name):
    made, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        clone(chain).fit(*sequences(30, 0)).calibrate(*sequences(30, 0), **made)


def test_more_mistakes(chain):
    X, _ = sequences(10, 0)
    with pytest.raises(ValueError, match="per='word' is not one of 'token'"):
        chain.predict_set(X, per="word")
    with pytest.raises(ValueError, match="coverage=2"):
        chain.predict_set(X, 2)
    ranking = mm.RankingSVM(k=1).fit([np.eye(2)], [[1, 0]])
    with pytest.raises(ValueError, match="cannot list the n best outputs"):
        ranking.calibrate([np.eye(2)], [[1, 0]])


def test_few_examples_are_named_as_such():
    X, y = blobs(200, 0)
    model = mm.MulticlassSVM().fit(X[20:], y[20:]).calibrate(X[:8], y[:8])
    with pytest.warns(
        UserWarning, match="8 held-out examples are too few for coverage"
    ):
        assert len(model.predict_set(X[:1], coverage=0.9)[0]) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_set(X[:1], coverage=0.8)


def test_flat_sequences_can_be_calibrated(chain):
    X, y = sequences(200, 11)
    flat = Sequences(np.concatenate(X), np.cumsum([0, *map(len, X)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = clone(chain).fit(flat, y).calibrate(flat, y, cv=2)
    assert np.allclose(found.marginals(flat)[0].sum(axis=1), 1.0)


def blobs(n, seed, k=4):
    """Points around k centres on a line, so that neighbours are confused."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return np.c_[y, np.ones(n)] + rng.normal(scale=0.45, size=(n, 2)), y


PAIRS = {0: "low", 1: "low", 2: "high", 3: "high", "low": "all", "high": "all"}


@pytest.mark.parametrize("make", [mm.MulticlassSVM, mm.KernelSVM])
@pytest.mark.parametrize("k", [2, 4])
def test_probabilities_of_classes_are_calibrated(make, k):
    model = make(C=1.0, calibration=3).fit(*blobs(300, 0, k))
    X, y = blobs(3000, 1, k)
    p = model.predict_proba(X)
    assert p.shape == (3000, k) and np.allclose(p.sum(axis=1), 1.0)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
    assert expected_calibration_error(p.max(axis=1), model.predict(X) == y) < 0.05


def test_a_fold_may_lack_a_class():
    X, y = blobs(60, 2)
    y[0] = 9  # once: some model of a fold does not know it
    p = mm.MulticlassSVM(calibration=3).fit(X, y).predict_proba(X)
    assert p.shape == (60, 5)


def test_probabilities_are_there_only_after_calibration():
    X, y = blobs(60, 3)
    model = mm.MulticlassSVM().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "calibration=3" in str(error.value.__cause__)
    assert hasattr(model.calibrate(*blobs(60, 4)), "predict_proba")


def test_nodes_are_the_answers_of_least_expected_cost():
    model = mm.MulticlassSVM(C=1.0, taxonomy=PAIRS, calibration=3).fit(*blobs(300, 0))
    X, y = blobs(400, 5)
    p = model.predict_proba(X)
    tree = Taxonomy.of(PAIRS)
    nodes, table = tree.answer_costs(model.classes_.tolist(), 0.3)
    found = model.predict_node(X, cost=0.3)
    place = {z: r for r, z in enumerate(nodes)}
    risk = p @ table.T
    chosen = risk[np.arange(400), [place[z] for z in found]]
    assert np.allclose(chosen, risk.min(axis=1))
    assert {"low", "high"} & set(found.tolist())
    assert (model.predict_node(X, cost=1.0) == model.predict(X)).mean() > 0.95
    above = tree.paths(y, root=True)
    holds = np.mean([z in path for z, path in zip(found, above)])
    assert holds > np.mean(model.predict(X) == y) + 0.02


def test_nodes_need_a_taxonomy_and_a_cost_that_makes_sense():
    model = mm.MulticlassSVM(calibration=2).fit(*blobs(60, 6))
    with pytest.raises(ValueError, match="taxonomy"):
        model.predict_node(blobs(3, 7)[0])
    model = mm.MulticlassSVM(taxonomy=PAIRS, calibration=2).fit(*blobs(60, 6))
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.predict_node(blobs(3, 7)[0], cost=2.0)
    model = mm.MulticlassSVM(taxonomy=PAIRS).fit(*blobs(60, 6))
    with pytest.raises(AttributeError, match="set calibration=3 before fit"):
        model.predict_node(blobs(3, 7)[0])


def test_calibrated_classes_are_saved(tmp_path):
    model = mm.MulticlassSVM(calibration=2).fit(*blobs(60, 6))
    model.save(tmp_path / "model.mm")
    X = blobs(9, 8)[0]
    again = mm.load(tmp_path / "model.mm")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_truths_that_training_has_not_shown_are_never_covered(chain):
    """They count against the promise, and a warning says so."""
    X, y = blobs(400, 0)
    model = mm.MulticlassSVM().fit(X[y < 3], y[y < 3])
    with pytest.warns(
        UserWarning, match=r"of 400 held-out examples have a true output"
    ):
        model.calibrate(X, y)
    with pytest.warns(UserWarning, match="less often than"):  # a quarter is of class 3
        assert all(len(one) == 3 for one in model.predict_set(X[:5], coverage=0.9))
    chain, (X, y) = deepcopy(chain), sequences(60, 5)
    strange = [["new", *row[1:]] if i % 4 == 0 else row for i, row in enumerate(y)]
    with pytest.warns(UserWarning, match="15 of 60 held-out examples"):
        chain.calibrate(X, strange)
    n = chain.calibration_.n
    with pytest.warns(UserWarning, match=f"sets hold all {n}"):
        chain.predict_set(X[:2], coverage=0.9, per="output")
