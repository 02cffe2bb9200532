"""The ranking structure against enumeration."""

import numpy as np
import pytest
from cases import orders as full_case
from cases import ranking as case

from maxmargin.core import Augment, Ragged
from maxmargin.losses import AveragePrecision, NDCGAtK, PrecisionAtK, RocArea
from maxmargin.metrics import ranking as measures
from maxmargin.structures.ranking import Ranking

KINDS = (
    (case.tiny, PrecisionAtK()),
    (case.tiny_ndcg, NDCGAtK()),
    (full_case.tiny, AveragePrecision()),
    (full_case.tiny, RocArea()),
)


@pytest.mark.parametrize("seed", range(12))
def test_three_argmaxes(seed):
    rng = np.random.default_rng(seed)
    make, loss = KINDS[seed % 4]
    structure, X, Y = make(rng)
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    loss = loss.bind(structure.label_count())
    w = rng.normal(size=3)
    weight = rng.uniform(0.2, 3.0, size=x.n)
    ids = rng.permutation(x.n)
    plain = structure.argmax(x, ids, w)
    worst = structure.argmax(x, ids, w, Augment(truth, loss, weight))
    full = structure.complete(x, ids, w, truth)
    for q, i in enumerate(ids):
        rows = Ragged.pack(case.outputs(structure, x, i))
        score = structure.features(x, np.full(rows.n, i), rows).dot(w)
        assert plain.score[q] == pytest.approx(score.max())
        delta = loss.value(truth.take(np.full(rows.n, i)), rows)
        assert worst.score[q] == pytest.approx((score + weight[i] * delta).max())
        grades = np.minimum(Y[i], 1) if structure.binary else np.asarray(Y[i])
        ok = [
            s for row, s in zip(rows.unpack(), score, strict=True)
            if consistent(grades, row)
        ]  # fmt: skip
        there = structure.features(x, np.array([i]), full.take([q])).dot(w)[0]
        assert there == pytest.approx(max(ok))
        assert loss.value(truth.take([i]), full.take([q]))[0] == pytest.approx(0.0)


def test_losses_of_full_orders_are_the_measures():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 9))
        structure, X, _ = full_case.tiny(rng)
        X, y = [rng.normal(size=(n, 2))], rng.integers(2, size=n)
        y[0], y[1] = 0, 1
        structure = structure.bind(X, [y])
        x = structure.encode(X)
        truth = structure.encode_labels(x, [y])
        scores = rng.normal(size=n)
        row = Ragged.pack([np.argsort(-scores)])
        ap, area = measures.average_precision(y, scores), measures.roc_area(y, scores)
        assert AveragePrecision().value(truth, row)[0] == pytest.approx(1.0 - ap)
        assert RocArea().value(truth, row)[0] == pytest.approx(1.0 - area)


def consistent(grades, row):
    """Higher grades come first, and none that is left out is higher."""
    seen = grades[row]
    rest = np.delete(grades, row)
    return (np.diff(seen) <= 0).all() and (len(rest) == 0 or rest.max() <= seen[-1])


def test_losses_are_the_measures():
    structure = Ranking(k=2).bind([np.zeros((4, 1))], [[0] * 4])
    x = structure.encode([np.zeros((4, 1))])
    truth = structure.encode_labels(x, [[0, 1, 1, 1]])
    loss = PrecisionAtK().bind(2)
    for row, delta in (([1, 2], 0.0), ([0, 3], 0.5), ([2, 0], 0.5)):
        assert loss.value(truth, Ragged.pack([row]))[0] == delta
    few = structure.encode_labels(x, [[0, 1, 0, 0]])
    assert loss.value(few, Ragged.pack([[0, 1]]))[0] == 0.0
    graded = Ranking(k=2, discount=NDCGAtK(2).discount(), binary=False)
    graded = graded.bind([np.zeros((4, 1))], [[0] * 4])
    truth = graded.encode_labels(x, [[0, 2, 1, 0]])
    d = 1 / np.log2(3)
    got = NDCGAtK().bind(2).value(truth, Ragged.pack([[2, 1]]))[0]
    assert got == pytest.approx(1 - (1 + 3 * d) / (3 + d))


def test_bad_input_is_named():
    X, Y = [np.zeros((3, 2)), np.zeros((2, 2))], [[0, 1, 0], [1, 0]]
    with pytest.raises(ValueError, match="larger than every list"):
        Ranking(k=4).bind(X, Y)
    structure = Ranking(k=3).bind(X, Y)
    x = structure.encode(X)
    assert structure.encode_labels(x, Y).unpack() == [[1, 0, 2, 0, 1, 0], [0, 1, 1, 0]]
    with pytest.raises(ValueError, match="query 1 has 2 documents, but 3 grades"):
        structure.encode_labels(x, [[0, 1, 0], [1, 0, 1]])
    with pytest.raises(ValueError, match="query 0, document 2"):
        structure.encode_labels(x, [[0, 1, -1], [1, 0]])
    with pytest.raises(ValueError, match="query 1, document 0: feature 1 is nan"):
        structure.encode([X[0], np.array([[0.0, np.nan]])])
    with pytest.raises(ValueError, match="no documents"):
        structure.encode([np.zeros((0, 2))])
    with pytest.raises(ValueError, match="discount"):
        Ranking(k=2, discount=np.array([0.1, 0.9])).bind(X, Y)
