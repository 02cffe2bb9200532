"""Scores of a clustering against the true one: MUC (MITRE), B-cubed, CEAF, pairs.

All take the cluster of each item in both; singletons count, except in MUC, which looks
at links only. `*_counts` return numerators and denominators (p, P, r, R) that may be
added over documents before precision p / P, recall r / R and F1 are formed.

[1] Vilain et al. 1995 (MUC, the MITRE score); Bagga and Baldwin 1998 (B-cubed);
    Luo 2005 (CEAF).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy


class Score(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


Counts = tuple[float, float, float, float]


def table(truth: Sequence[Any], found: Sequence[Any]) -> np.ndarray:
    """Items in each (true cluster, found cluster)."""
    if len(truth) != len(found):
        raise ValueError(f"{len(truth)} items, but {len(found)} were clustered")
    rows = np.unique(np.asarray(truth), return_inverse=True)[1]
    cols = np.unique(np.asarray(found), return_inverse=True)[1]
    out = np.zeros((rows.max(initial=-1) + 1, cols.max(initial=-1) + 1))
    np.add.at(out, (rows, cols), 1.0)
    return out


def muc_counts(truth: Sequence[Any], found: Sequence[Any]) -> Counts:
    """Links right over links made, of the found and of the true clusters."""
    both = table(truth, found)
    parts = float((both > 0).sum())
    n = float(both.sum())
    return n - parts, n - both.shape[1], n - parts, n - both.shape[0]


def b3_counts(truth: Sequence[Any], found: Sequence[Any]) -> Counts:
    """Share of an item's cluster that is in the same true cluster, summed over items."""
    both = table(truth, found)
    n = float(both.sum())
    square = both**2
    precision = float((square / np.maximum(both.sum(axis=0), 1)).sum())
    recall = float((square / np.maximum(both.sum(axis=1), 1)[:, None]).sum())
    return precision, n, recall, n


def ceaf_counts(
    truth: Sequence[Any], found: Sequence[Any], entities: bool = True
) -> Counts:
    """Similarity of clusters under the best one-to-one assignment.

    `entities`: similarity 2 |a and b| / (|a| + |b|) (phi 4); else |a and b| (phi 3).
    """
    both = table(truth, found)
    rows, cols = both.sum(axis=1), both.sum(axis=0)
    if entities:
        alike = 2.0 * both / np.maximum(rows[:, None] + cols[None, :], 1.0)
        sizes = float(len(cols)), float(len(rows))
    else:
        alike, sizes = both, (float(cols.sum()), float(rows.sum()))
    value = float(alike[scipy.optimize.linear_sum_assignment(-alike)].sum())
    return value, sizes[0], value, sizes[1]


def score(
    counts: Callable[..., Counts],
    truths: Iterable[Sequence[Any]],
    founds: Iterable[Sequence[Any]],
    **kwargs: Any,
) -> Score:
    """Precision, recall, F1 over documents.

    Examples
    --------
    >>> score(muc_counts, [[0, 0, 0, 1]], [[0, 0, 1, 1]])
    Score(precision=0.5, recall=0.5, f1=0.5)
    """
    sums = np.zeros(4)
    for truth, found in zip(truths, founds, strict=True):
        sums += counts(truth, found, **kwargs)
    p = float(sums[0] / sums[1]) if sums[1] else 0.0
    r = float(sums[2] / sums[3]) if sums[3] else 0.0
    return Score(p, r, 2 * p * r / (p + r) if p + r else 0.0)


def mitre_loss(truth: Sequence[Any], found: Sequence[Any]) -> float:
    """100 (1 - F1 of MUC) of one document; without any links on both sides 0.

    Examples
    --------
    >>> mitre_loss([0, 0, 1], [5, 5, 6]), mitre_loss([0, 0, 1], [0, 1, 2])
    (0.0, 100.0)
    """
    p, P, _, R = muc_counts(truth, found)
    return 100.0 * (1.0 - 2.0 * p / (P + R)) if P + R else 0.0


def pair_loss(truth: Sequence[Any], found: Sequence[Any]) -> float:
    """Percentage of pairs that are together in one clustering and not in the other.

    Examples
    --------
    >>> pair_loss([0, 0, 1], [0, 0, 0])
    66.66666666666667
    """
    both = table(truth, found)
    n = float(both.sum())
    if n < 2:
        return 0.0
    same = _pairs(both.sum(axis=1)) + _pairs(both.sum(axis=0)) - 2.0 * _pairs(both)
    return 100.0 * same / (n * (n - 1) / 2.0)


def _pairs(sizes: np.ndarray) -> float:
    return float((sizes * (sizes - 1) / 2.0).sum())
