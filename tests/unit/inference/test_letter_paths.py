"""Alignments by letters against tables and enumeration: values, paths, choice of ties."""

import numpy as np
import pytest
from cases.alignment import paths
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maxmargin.core import Augment, Ragged
from maxmargin.inference.alignment import MODES
from maxmargin.inference.alignment.letter_paths import TRACE
from maxmargin.losses import AlignedPairs
from maxmargin.structures.alignment import Alignment, Gaps, simple
from maxmargin.structures.alignment.oracle import (
    LetterScores,
    Penalty,
    best_alignments,
    number_types,
)

modes = pytest.mark.parametrize("mode", MODES)
gap_kinds = pytest.mark.parametrize("affine", [True, False])
seeds = st.integers(0, 2**31)


def bound(mode, affine):
    """A model of four letters that is bound to its alphabet."""
    return Alignment(
        mode=mode, model=simple(["residue"]), gaps=Gaps(affine=affine),
        alphabets={"residue": "ABCD"},
    ).bind([("ABCD", "ABCD")], [])  # fmt: skip


def pairs(rng, sizes):
    return [tuple("".join(rng.choice(list("ABCD"), k)) for k in both) for both in sizes]


def weights(rng, structure, kind):
    """Small integers (many ties), halves, large integers, or floats; any sign of gaps."""
    if kind == "floats":
        return rng.normal(size=structure.dim)
    top = {"integers": 4, "halves": 7, "large": int(10 ** rng.uniform(1, 10))}[kind]
    w = rng.integers(-top, top + 1, structure.dim).astype(float)
    gaps = slice(16, None)
    if rng.integers(3):
        w[gaps] = -np.abs(w[gaps])
    return w / 2 if kind == "halves" else w


def both_ways(structure, x, w, penalty):
    """What the loop over letters finds, and what tables give."""
    where = structure._scores(x, np.arange(x.n), w)
    rules = structure._rules()
    assert rules.even
    return [
        best_alignments(*where, rules._replace(even=even), penalty)
        for even in (True, False)
    ]


def assert_same(found, expected):
    assert found[1].tolist() == expected[1].tolist()
    assert found[0].unpack() == expected[0].unpack()


@modes
@gap_kinds
@pytest.mark.parametrize("kind", ["integers", "halves", "large", "floats"])
@settings(max_examples=25, deadline=None)
@example(seed=0)
@given(seed=seeds)
def test_paths_are_those_of_tables(mode, affine, kind, seed):
    rng = np.random.default_rng(seed)
    structure = bound(mode, affine)
    sizes = rng.integers(1, 40, (4, 2))
    sizes[0, 1] = rng.choice([1, 31, 32, 33, 511, 512, 513, 700, 1100])
    x = structure.encode(pairs(rng, sizes))
    nothing = Penalty(Ragged.pack([]), 0, np.zeros(x.n))
    w = weights(rng, structure, kind)
    found, expected = both_ways(structure, x, w, nothing)
    assert_same(found, expected)
    assert structure.scores(x, np.arange(x.n), w).tolist() == expected[1].tolist()


@modes
@gap_kinds
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_paths_with_a_loss_are_those_of_tables(mode, affine, seed):
    rng = np.random.default_rng(seed)
    structure = bound(mode, affine)
    sizes = rng.integers(1, 40, (3, 2))
    sizes[0, 1] = rng.choice([5, 512, 600])
    x = structure.encode(pairs(rng, sizes))
    w = weights(rng, structure, rng.choice(["integers", "floats"]))
    # The best paths at other weights are the truth.
    truth = structure.argmax(x, np.arange(x.n), rng.normal(size=structure.dim)).labels
    penalty = Penalty(truth, int(rng.choice([0, 1, 4])), rng.random(x.n))
    penalty.saved[rng.integers(x.n)] = 0.0
    assert_same(*both_ways(structure, x, w, penalty))


@modes
@gap_kinds
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_integers_against_enumeration(mode, affine, seed):
    rng = np.random.default_rng(seed)
    structure = bound(mode, affine)
    x = structure.encode(pairs(rng, rng.integers(1, 5, (3, 2))))
    w, ids = weights(rng, structure, "integers"), np.arange(x.n)
    found = structure.argmax(x, ids, w)
    again = structure.features(x, ids, found.labels).dot(w)
    assert again.tolist() == found.score.tolist()
    for i, (m, n) in enumerate(zip(*x.sizes, strict=True)):
        every = Ragged.pack(paths(int(m), int(n), mode))
        value = structure.features(x, np.full(every.n, i), every).dot(w)
        assert found.score[i] == value.max()


@modes
@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_long_pairs_are_filled_again_strip_by_strip(mode, kind):
    rng = np.random.default_rng(3)
    structure = bound(mode, True)
    first, other = pairs(rng, [(6000, 2900)])[0]
    keep = np.sort(rng.choice(6000, 2900, replace=False))
    second = "".join(
        first[k] if rng.random() < 0.7 else v for k, v in zip(keep, other, strict=True)
    )
    x = structure.encode([(first, second), ("ABCD", "ACD")])
    assert len(first) * len(second) > TRACE
    w = np.append(np.eye(4).ravel() * 5 - 3, [-4, -1, -5, -1])
    if kind == "floats":
        w += 0.1 * rng.normal(size=len(w))
    nothing = Penalty(Ragged.pack([]), 0, np.zeros(x.n))
    assert_same(*both_ways(structure, x, w, nothing))
    if kind == "floats":
        truth = structure.argmax(x, np.arange(x.n), np.rint(w)).labels
        assert_same(*both_ways(structure, x, w, Penalty(truth, 1, np.ones(x.n))))


def test_loss_enters_the_search():
    structure = bound("global", True)
    x = structure.encode([("ABCD", "ABCD")])
    truth = structure.encode_labels(x, [("ABCD", "ABCD")])
    w = np.append(np.eye(4).ravel(), [-0.1] * 4)
    ids, augment = np.arange(1), Augment(truth, AlignedPairs(), np.full(1, 9.0))
    assert structure.argmax(x, ids, w).labels.unpack() == truth.unpack()
    found = structure.argmax(x, ids, w, augment)
    assert AlignedPairs().value(truth, found.labels).tolist() == [1.0]


def test_numbers_get_wider_as_sums_grow():
    letters = np.zeros(1, np.int32)
    scores = LetterScores(letters, letters, np.full((2, 2), 11.0), -np.ones(4))
    sizes = np.array([10, 2000, 2900, 3000, 10**9])
    assert number_types(scores, sizes, sizes)[1].tolist() == [0, 0, 0, 1, 2]
    learned = scores._replace(match=np.full((2, 2), 0.1))
    assert number_types(learned, sizes, sizes)[1].tolist() == [2] * 5
