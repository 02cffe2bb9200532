"""How long a motif is, by cross-validation, and how the sites of one are masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from maxmargin.core.data.arrays import Floats

LENGTHS = (6, 8, 11, 14, 17, 21, 26)
FOLDS = 3


def tried_lengths(length: Any, X: Sequence[Any], present: np.ndarray) -> list[int]:
    """The lengths that `length` asks for, as far as the sequences are long enough."""
    if isinstance(length, str):
        if length != "auto":
            raise ValueError(f"length={length!r} is neither a number nor 'auto'")
        shortest = min(len(x) for x, p in zip(X, present, strict=True) if p)
        tried = [k for k in LENGTHS if k <= shortest]
        return tried or [int(shortest)]
    tried = list(length)
    whole = all(isinstance(k, int | np.integer) and k > 0 for k in tried)
    if not tried or not whole:
        raise ValueError(f"length={length!r}: lengths are whole numbers above zero")
    return [int(k) for k in tried]


def length_scores(
    model: Any, lengths: Sequence[int], X: Any, present: np.ndarray, weight: Any
) -> dict[int, float]:
    """Mean ROC area in cross-validation with motifs of each length."""
    if len(lengths) == 1:
        return {lengths[0]: float("nan")}
    y = present.astype(int)
    folds = min(FOLDS, int(np.bincount(y, minlength=2).min()))
    if folds < 2:
        raise ValueError(
            "to choose the length, at least two sequences of each label are needed"
        )
    split = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(y, y))
    weights: Floats = np.ones(len(y)) if weight is None else np.asarray(weight)
    out = {}
    for length in lengths:
        areas = []
        for train, test in split:
            one = clone(model).set_params(length=length)
            one.fit([X[i] for i in train], y[train], weights[train])
            scores = one.decision_function([X[i] for i in test])
            areas.append(roc_auc_score(y[test], np.maximum(scores, -1e300)))
        out[length] = float(np.mean(areas))
    return out


def masked(
    X: Sequence[str],
    sites: np.ndarray,
    length: int,
    has: np.ndarray,
    unknown: str = "N",
) -> list[str]:
    """Sequences with N (or another letter) at the sites of those that have the motif.

    Examples
    --------
    >>> sites = np.array([(1,), (0,)], dtype=[("start", int)])
    >>> masked(["ACGTA", "ACGTA"], sites, 3, np.array([True, False]))
    ['ANNNA', 'ACGTA']
    """
    out = []
    for x, start, known in zip(X, sites["start"].tolist(), has, strict=True):
        if known:
            x = x[:start] + unknown * length + x[start + length :]
        out.append(x)
    return out
