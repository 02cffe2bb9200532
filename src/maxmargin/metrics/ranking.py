"""Measures of a ranking: documents sorted by score, equal scores in the given order.

Relevant means a grade above zero. All take the grades and scores of ONE query;
`mean_over_queries` averages. Definitions of LETOR 2.0/3.0: the evaluation script's
NDCG discount is 1 at the first two places, then 1 / log2(place) (`letor=True`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.arrays import real_numbers


def ranked(grades: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Grades in the order of falling scores."""
    try:
        g = real_numbers(grades)
    except (TypeError, ValueError):
        raise ValueError(f"{grades!r:.40} are not grades, one number each") from None
    s = real_numbers(scores)
    if g.shape != s.shape or g.ndim != 1:
        raise ValueError(f"{g.size} grades, but {s.size} scores")
    return g[np.argsort(-s, kind="stable")]


def precision_at_k(grades: ArrayLike, scores: ArrayLike, k: int) -> float:
    """Share of relevant documents in the first k.

    Examples
    --------
    >>> precision_at_k([0, 1, 2, 0], [0.1, 0.9, 0.5, 0.7], k=2)
    0.5
    """
    return float((ranked(grades, scores)[:k] > 0).sum() / k)


def ndcg_at_k(
    grades: ArrayLike, scores: ArrayLike, k: int, letor: bool = False
) -> float:
    """DCG of the first k over that of the best order; 0 without relevant ones.

    Examples
    --------
    >>> ndcg_at_k([0, 1, 2], [0.1, 0.2, 0.3], k=2)
    1.0
    """
    place = np.arange(1, k + 1)
    discount = 1.0 / np.log2(np.maximum(place, 2) if letor else place + 1)
    gain = 2.0 ** ranked(grades, scores) - 1.0
    best = np.sort(gain)[::-1][:k]
    ideal = float(best @ discount[: len(best)])
    return float(gain[:k] @ discount[: len(best)]) / ideal if ideal > 0 else 0.0


def average_precision(grades: ArrayLike, scores: ArrayLike) -> float:
    """Mean of the precision at each relevant document; 0 without any.

    Examples
    --------
    >>> average_precision([1, 0, 1], [3.0, 2.0, 1.0]) == (1 + 2 / 3) / 2
    True
    """
    hit = ranked(grades, scores) > 0
    if not hit.any():
        return 0.0
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].mean())


def roc_area(grades: ArrayLike, scores: ArrayLike) -> float:
    """Share of (relevant, other) pairs in the right order; equal scores count half.

    Examples
    --------
    >>> roc_area([1, 0, 0], [0.5, 0.5, 0.1])
    0.75
    """
    g, s = np.asarray(grades) > 0, real_numbers(scores)
    good, bad = s[g], np.sort(s[~g])
    if len(good) == 0 or len(bad) == 0:
        return float("nan")
    below = np.searchsorted(bad, good, side="left")
    at_most = np.searchsorted(bad, good, side="right")
    return float((below + at_most).sum() / (2.0 * len(good) * len(bad)))


def mean_over_queries(
    measure: Callable[..., float],
    grades: Sequence[ArrayLike],
    scores: Sequence[ArrayLike],
    *args: Any,
    **kwargs: Any,
) -> float:
    """Mean of a measure over queries, those without a value left out."""
    each = [measure(g, s, *args, **kwargs) for g, s in zip(grades, scores, strict=True)]
    return float(np.nanmean(each))
