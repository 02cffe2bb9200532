"""How often the features of a segment were seen at true segments of each label.

A name that training shows once has a weight of its own, which says little: in training it
stands only there. That a name, or the word before it, was seen at places ANYWHERE ELSE in
the training data says how far to trust such sightings, and one weight is learned for all
names. So a feature j of a view (the phrase, the words around) has further features

    (view, label k, c_jk in a range, c_jk / n_j in a range)      for each k with c_jk > 0

with c_jk the number of true segments of label k that have j, and n_j that of the places
where j stands: segments that have it, divided by the lengths that they may have where j is
a word before or after. For training, both are counted on the other tenths of the data (on
neighbours: sentences of one text share their names), for prediction on all of them.

[1] Wolpert 1992, Stacked generalization: features from other folds.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, pointers
from maxmargin.core.data.validation import check_range, require
from maxmargin.structures.segments.vocabulary import SegmentVocabulary

SEEN = "seen"  # its name among the features of segments
VIEWS = ("phrase", "before", "after", "around")
ANY_LENGTH = ("before", "after")  # views of segments of all lengths at a place
COUNTS, RATES = (2, 4), (0.2, 0.6, 0.9)  # where ranges begin
BINS = (len(COUNTS) + 1) * (len(RATES) + 1)
FOLDS = 10


def n_seen(labels: int) -> int:
    """Number of features for this many labels of segments."""
    return len(VIEWS) * labels * BINS


def seen_names(labels: Sequence[Hashable]) -> list[str]:
    """Name of each feature.

    Examples
    --------
    >>> names = seen_names(["LOC", "PER"])
    >>> names[0], names[13], len(names) == n_seen(2)
    ('seen phrase: LOC 1x <20%', 'seen phrase: PER 1x 20-60%', True)
    """
    counts, rates = ("1x", "2-3x", "4+x"), ("<20%", "20-60%", "60-90%", ">=90%")
    return [
        f"seen {view}: {label} {count} {rate}"
        for view in VIEWS
        for label in labels
        for count in counts
        for rate in rates
    ]


def evidence_of(
    known: SegmentVocabulary, pieces: Ragged, truth: Ragged, labels: int, widest: int
) -> Ragged:
    """Further features of each feature of segments, by counts on all sentences."""
    counts, total = _counted(known.n, pieces, truth.data, labels, widest)
    return _features(_views(known), counts, total, widest)


def check_evidence(evidence: Ragged, known: int, n: int) -> None:
    """Of each of the `known` features of segments, further ones from known to n - 1."""
    evidence.validate()
    require(evidence.n == known, "the evidence is of other features")
    check_range(evidence.data, known, n, "evidence")


def with_evidence(pieces: Ragged, evidence: Ragged) -> Ragged:
    """Segments with the further features of their features.

    Examples
    --------
    >>> pieces, evidence = Ragged.pack([[0, 1], [], [1]]), Ragged.pack([[], [5, 6]])
    >>> with_evidence(pieces, evidence).unpack()
    [[0, 1, 5, 6], [], [1, 5, 6]]
    """
    more = evidence.sizes[pieces.data]
    at = pointers(more)
    data = np.empty(len(pieces.data) + at[-1], np.int32)
    own = np.zeros(len(data), np.bool_)
    own[np.arange(len(pieces.data)) + at[:-1]] = True
    data[own], data[~own] = pieces.data, evidence.take(pieces.data).data
    return Ragged(pieces.ptr + at[pieces.ptr], data)


def cross_fitted(
    known: SegmentVocabulary, pieces: Ragged, truth: Ragged, labels: int, widest: int
) -> Ragged:
    """The features of the training data, with evidence from other tenths of them."""
    own = pieces.data < known.n
    pieces = Ragged(pointers(own)[pieces.ptr], pieces.data[own])
    counts, total = _counted(known.n, pieces, truth.data, labels, widest)
    views, parts = _views(known), []
    ends = truth.ptr[np.linspace(0, truth.n, FOLDS + 1).astype(np.int64)]
    for a, b in pairwise(ends.tolist()):
        ptr = pieces.ptr[a * widest : b * widest + 1]
        here = Ragged(ptr - ptr[0], pieces.data[ptr[0] : ptr[-1]])
        less = _counted(known.n, here, truth.data[a:b], labels, widest)
        other = _features(views, counts - less[0], total - less[1], widest)
        parts.append(with_evidence(here, other))
    return Ragged.concat(parts)


def _counted(
    n: int, pieces: Ragged, codes: Labels, labels: int, widest: int
) -> tuple[Floats, Floats]:
    """(features, labels) true segments, and all segments, that have each feature."""
    begin = np.flatnonzero(codes % 2 == 1)
    stops = np.append(np.flatnonzero((codes == 0) | (codes % 2 == 1)), len(codes))
    end = stops[np.searchsorted(stops, begin, "right")]
    true = pieces.take(begin * widest + end - begin - 1)
    label = np.repeat((codes[begin].astype(np.int64) - 1) // 2, true.sizes)
    pairs = np.bincount(true.data * np.int64(labels) + label, minlength=n * labels)
    total = np.bincount(pieces.data, minlength=n)
    return pairs.reshape(n, labels).astype(np.float64), total.astype(np.float64)


def _features(views: Ints, counts: Floats, total: Floats, widest: int) -> Ragged:
    """The further features of each feature."""
    n, labels = counts.shape
    j, k = np.nonzero((counts > 0) & (views[:, None] >= 0))
    seen = counts[j, k]
    lengths = np.array([widest if view in ANY_LENGTH else 1 for view in VIEWS])
    ranges = np.digitize(seen, COUNTS) * (len(RATES) + 1)
    ranges += np.digitize(seen * lengths[views[j]] / total[j], RATES)
    number = n + (views[j] * labels + k) * BINS + ranges
    return Ragged(pointers(np.bincount(j, minlength=n)), number.astype(np.int32))


def _views(known: SegmentVocabulary) -> Ints:
    """Number of the view of each feature of segments, -1 for the others."""
    of = [VIEWS.index(f) if f in VIEWS else -1 for f in known.families]
    out = np.full(known.n, -1, np.int64)
    out[known.columns] = np.array([*of, -1])[known.paths.data[known.paths.ptr[:-1]]]
    return out
