"""The motif structure against enumeration."""

import numpy as np
import pytest
from cases import motif as case

from maxmargin.core import Augment, Ragged, Structure
from maxmargin.losses import MotifLoss
from maxmargin.structures import Motif


def made(seed):
    structure, X, Y = case.tiny(np.random.default_rng(seed))
    structure = structure.bind(X, Y)
    x = structure.encode(X)
    return structure, x, structure.encode_labels(x, Y), X


def enumerated(structure, x, i, w):
    rows = case.outputs(structure, x, i)
    ids = np.full(len(rows), i)
    return rows, structure.features(x, ids, Ragged.pack(rows)).dot(w)


@pytest.mark.parametrize("seed", range(6))
def test_three_argmaxes(seed):
    structure, x, truth, _ = made(seed)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=structure.dim)
    ids = rng.permutation(x.n)
    loss = case.LOSSES[seed % 2].bind(2)
    weight = rng.uniform(0.5, 4.0, size=x.n)
    plain = structure.argmax(x, ids, w)
    worst = structure.argmax(x, ids, w, Augment(truth, loss, weight))
    full = structure.complete(x, ids, w, truth)
    for q, i in enumerate(ids):
        rows, score = enumerated(structure, x, i, w)
        assert plain.score[q] == pytest.approx(score.max())
        own = Ragged.pack([truth.row(i)] * len(rows))
        added = score + weight[i] * loss.value(own, Ragged.pack(rows))
        assert worst.score[q] == pytest.approx(added.max())
        label = truth.row(i)[0]
        best = max(s for r, s in zip(rows, score, strict=True) if r[0] == label)
        there = structure.features(x, np.array([i]), full.take([q])).dot(w)[0]
        assert there == pytest.approx(best)
        assert full.row(q)[0] == label


@pytest.mark.parametrize("seed", range(4))
def test_cuts_are_the_default_ones(seed):
    structure, x, truth, _ = made(seed)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=structure.dim)
    truth = structure.complete(x, np.arange(x.n), rng.normal(size=len(w)), truth)
    augment = Augment(truth, MotifLoss(), np.ones(x.n))
    a = structure.cuts(x, np.arange(x.n), w, augment)
    b = Structure.cuts(structure, x, np.arange(x.n), w, augment)
    assert np.allclose(
        a.dpsi.csr(structure.dim).toarray(), b.dpsi.csr(structure.dim).toarray()
    )
    assert np.allclose(a.bound, b.bound)


def test_layers_hold_both_labels():
    structure, x, truth, _ = made(1)
    w = np.random.default_rng(0).normal(size=structure.dim)
    layers = structure.argmax_by_loss(
        x, np.arange(x.n), w, Augment(truth, MotifLoss(), np.ones(x.n))
    )
    for i in range(x.n):
        _, score = enumerated(structure, x, i, w)
        here = layers.score[layers.ptr[i] : layers.ptr[i + 1]]
        assert here.max() == pytest.approx(score.max())
        assert len(here) == (2 if len(score) > 1 else 1)


def test_reverse_strand_reads_the_complement():
    structure = Motif(length=4, order=0, both_strands=True).bind(["AACCGG"], [1])
    x = structure.encode(["GATTAC", "GTAATC"])
    w = np.zeros(structure.dim)
    for j, c in enumerate("GATT"):
        w[4 * j + "ACGT".index(c)] = 1.0
    place, gain = structure.gains(x, np.arange(x.n), w)
    assert place.tolist() == [[1, 0, 0], [1, 2, 1]]
    assert gain.tolist() == [4.0, 4.0]


def test_background_counts_contexts():
    structure = Motif(length=1, order=2).bind(["ACGT"], [0])
    x = structure.encode(["ACGNT"])
    names = structure.feature_names()
    rows = structure.features(x, np.array([0]), Ragged.pack([[0, 0, 0]]))
    seen = [names[k] for k in rows.idx]
    assert seen == [f"background: {s}" for s in ("A", "AC", "ACG", "T")]
    assert len(names) == structure.dim


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="longer than every sequence"):
        Motif(length=9).bind(["ACGT"], [0])
    structure = Motif(length=4)
    x = structure.encode(["ACGTA", "ACG"])
    with pytest.raises(ValueError, match="sequence 1 has 3 bases"):
        structure.encode_labels(x, [1, 1])
    with pytest.raises(ValueError, match=r"sequence 1, position 2: '!'"):
        structure.encode(["ACGT", "AC!T"])
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        structure.encode_labels(x, [3, 0])
