"""Thresholds that are best for F1 on data that training has not seen.

    F1 = 2 tp / (2 tp + fp + fn)

An SVM says yes above zero, which is right for few errors. Where yes is rare, F1 is higher
with a lower threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, real_numbers


def best_f1_threshold(scores: ArrayLike, truth: ArrayLike) -> tuple[float, float]:
    """The threshold on scores with the highest F1, and that F1.

    Scores above the threshold say yes. It lies in the middle between two scores, and of
    equally good ones the nearest to zero is taken. Without a true yes there is nothing
    to choose by: the threshold is zero then.

    Parameters
    ----------
    scores : array (n,)
    truth : array (n,) of zeros and ones

    Examples
    --------
    >>> best_f1_threshold([-3.0, -1.0, -0.5, 2.0], [0, 1, 0, 1])
    (-2.0, 0.8)
    """
    values = real_numbers(scores).ravel()
    told = np.asarray(truth).ravel()
    if values.shape != told.shape:
        raise ValueError(f"{values.size} scores, but {told.size} true values")
    if len(told) and told.dtype.kind not in "biuf":
        raise ValueError("true values are 0 and 1, not text")
    if not ((told == 0) | (told == 1)).all():
        i = int(np.flatnonzero((told != 0) & (told != 1))[0])
        raise ValueError(f"true value {i} is {told[i]}, not 0 or 1")
    yes = told.astype(bool)
    if not np.isfinite(values).all():
        raise ValueError(
            f"score {np.flatnonzero(~np.isfinite(values))[0]} is not finite"
        )
    if not yes.any():
        return 0.0, 0.0
    order = np.argsort(-values, kind="stable")
    ranked, found = values[order], np.cumsum(yes[order])
    last = np.append(
        np.flatnonzero(np.diff(ranked)), len(ranked) - 1
    )  # of equal scores
    f1: Floats = 2.0 * found[last] / (last + 1.0 + yes.sum())
    below = np.append(ranked[last[:-1] + 1], ranked[-1] - 1.0)
    middle = (ranked[last] + below) / 2.0
    best = np.flatnonzero(f1 == f1.max())
    at = best[np.argmin(np.abs(middle[best]))]
    return float(middle[at]), float(f1[at])
