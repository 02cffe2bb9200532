"""The coreference structure against enumeration."""

import numpy as np
import pytest
from cases import coreference as case

from maxmargin.core import Ragged
from maxmargin.losses import ForestLoss
from maxmargin.structures.clusters import Coreference, PairFeatures


@pytest.mark.parametrize("seed", range(6))
def test_completion_is_the_best_forest_of_the_clusters(seed):
    rng = np.random.default_rng(seed)
    structure, X, Y = case.tiny(rng)
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    w = rng.normal(size=3)
    ids = rng.permutation(x.n)
    full = structure.complete(x, ids, w, truth)
    loss = ForestLoss()
    for q, i in enumerate(ids):
        rows = Ragged.pack(case.outputs(structure, x, i))
        score = structure.features(x, np.full(rows.n, i), rows).dot(w)
        zero = loss.value(truth.take(np.full(rows.n, i)), rows) == 0
        there = structure.features(x, np.array([i]), full.take([q])).dot(w)[0]
        assert there == pytest.approx(score[zero].max())
        same = structure.decode_labels(x, full.take([q]))
        assert same == [Y[i]]
        decoded = np.array(structure.decode_labels(x, rows), object)
        assert all(
            (d == Y[i]) == z for d, z in zip(decoded.tolist(), zero, strict=True)
        )


def test_loss_by_hand():
    truth = Ragged.pack([[0, 0, 1, 3]])  # {0, 1, 2}, {3}
    for r in (1.0, 0.01):
        loss = ForestLoss(r).bind(0)
        assert loss.value(truth, Ragged.pack([[0, 1, 2, 3]]))[0] == 2.0
        assert loss.value(truth, Ragged.pack([[0, 0, 0, 0]]))[0] == r
        assert loss.value(truth, Ragged.pack([[0, 1, 2, 0]]))[0] == 2.0 + r
    with pytest.raises(ValueError, match="r=-1"):
        ForestLoss(-1.0).bind(0)


def test_bad_input_is_named():
    X = [np.zeros((3, 2)), np.zeros((0, 2))]
    structure = Coreference().bind(X, [[0, 0, 0], [0]])
    x = structure.encode(X)
    assert x.mentions.tolist() == [3, 1]
    with pytest.raises(ValueError, match="document 0 has 3 mentions, but 2 clusters"):
        structure.encode_labels(x, [[0, 0], [0]])
    with pytest.raises(ValueError, match="document 1 has 2 pairs"):
        structure.encode([X[0], np.zeros((2, 2))])
    with pytest.raises(ValueError, match="document 0 has 3 features"):
        structure.encode([np.zeros((3, 3))])
    nothing = structure.encode([PairFeatures(0, np.zeros((0, 2)))])
    assert structure.argmax(nothing, np.array([0]), np.ones(2)).labels.sizes[0] == 0
