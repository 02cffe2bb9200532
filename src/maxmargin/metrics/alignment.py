"""How good alignments are, from columns (k, 2) of positions with -1 for a gap.

    Q      share of the matches of the reference that are found
    Q4     the same, where a match may be up to 4 positions off (any shift)
    precision   share of the matches made that are in the reference
    identity    share of the matches that pair equal letters

[1] Yu 2011, section 4.3.1 (Q and Q4, shift along the first sequence).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def q_scores(
    truth: Sequence[ArrayLike], found: Sequence[ArrayLike], shift: int = 0
) -> NDArray[np.float64]:
    """Share of reference matches (u, j) with (i, j) found, |i - u| <= shift.

    Examples
    --------
    >>> truth = [[[-1, 0], [0, 1], [1, 2], [2, 3], [3, -1]]]
    >>> found = [[[0, 0], [-1, 1], [1, 2], [2, 3], [3, -1]]]
    >>> q_scores(truth, found).round(3).tolist()
    [0.667]
    """
    if len(truth) != len(found):
        raise ValueError(f"{len(truth)} references, but {len(found)} alignments")
    return np.array([_hits(a, b, shift) for a, b in zip(truth, found, strict=True)])


def precisions(
    truth: Sequence[ArrayLike], found: Sequence[ArrayLike], shift: int = 0
) -> NDArray[np.float64]:
    """Share of the matches found that the reference has; 1 where none is made."""
    return np.array([_hits(b, a, shift) for a, b in zip(truth, found, strict=True)])


def identities(
    pairs: Sequence[tuple[Any, Any]],
    columns: Sequence[ArrayLike],
    track: str = "residue",
) -> NDArray[np.float64]:
    """Share of equal letters among the matches of each alignment."""
    out = []
    for (s, t), aligned in zip(pairs, columns, strict=True):
        a, b = (v if isinstance(v, str) else v[track] for v in (s, t))
        matches = _matches(aligned)
        same = [a[i] == b[j] for i, j in matches.tolist()]
        out.append(float(np.mean(same)) if same else 0.0)
    return np.array(out)


def _matches(columns: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(columns, np.int64).reshape(-1, 2)
    return array[(array >= 0).all(axis=1)]


def _hits(reference: ArrayLike, other: ArrayLike, shift: int) -> float:
    """Share of the matches of `reference` met by one of `other` within the shift."""
    true, made = _matches(reference), _matches(other)
    if len(true) == 0:
        return 1.0
    size = int(max(true[:, 1].max(), made[:, 1].max(initial=0))) + 1
    partner = np.full(size, -(10**9))
    partner[made[:, 1]] = made[:, 0]
    return float(np.mean(np.abs(partner[true[:, 1]] - true[:, 0]) <= shift))
