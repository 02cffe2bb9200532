"""Probabilities of yes-or-no answers from margins, by a logistic function for each.

    p(yes) = 1 / (1 + exp(-(slope * margin + offset))),    slope >= 0
    min  - sum_i  t_i log p_i + (1 - t_i) log(1 - p_i)

over held-out examples, with the targets t = (yes + 1) / (yes + 2) and 1 / (no + 2) in
place of 1 and 0, so that a few separable examples do not make the model certain.

[1] Platt: Probabilistic outputs for support vector machines, 1999.
[2] Lin, Lin, Weng: A note on Platt's probabilistic outputs, 2007.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from maxmargin.core.data.arrays import Floats, real_numbers

STEPS = 100  # of Newton's method
RIDGE = 1e-10


def fit_sigmoid(margins: ArrayLike, truth: ArrayLike) -> tuple[float, float]:
    """Slope and offset that fit held-out answers best.

    Parameters
    ----------
    margins : array (n,)
    truth : array (n,) of zeros and ones

    Examples
    --------
    >>> slope, offset = fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> bool(slope > 0), abs(round(offset, 6))
    (True, 0.0)
    """
    x = real_numbers(margins).ravel()
    yes = np.asarray(truth).ravel().astype(bool)
    if x.shape != yes.shape or len(x) == 0:
        raise ValueError(f"{x.size} margins, but {yes.size} answers")
    if not np.isfinite(x).all():
        raise ValueError(f"margin {np.flatnonzero(~np.isfinite(x))[0]} is not finite")
    ones, zeros = float(yes.sum()), float((~yes).sum())
    target = np.where(yes, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))
    scale = float(np.abs(x).max()) or 1.0
    slope, offset = _newton(
        x / scale, target, float(np.log((ones + 1.0) / (zeros + 1.0)))
    )
    if slope < 0.0:  # larger margins never make an answer less likely
        share = float(target.mean())
        return 0.0, float(np.log(share / (1.0 - share)))
    return slope / scale, offset


def _newton(x: Floats, target: Floats, offset: float) -> tuple[float, float]:
    """Newton's method with halved steps on a convex function of two variables."""
    at = np.array([0.0, offset])
    rows = np.column_stack((x, np.ones(len(x))))
    value = _cost(rows, target, at)
    for _ in range(STEPS):
        p = expit(rows @ at)
        gradient = rows.T @ (p - target)
        curvature = (rows * (p * (1.0 - p))[:, None]).T @ rows + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        if np.abs(gradient).max() <= 1e-9 * len(x):
            break
        length = 1.0
        while length > 1e-10:
            moved = at - length * step
            lower = _cost(rows, target, moved)
            if lower <= value - 1e-4 * length * float(gradient @ step):
                break
            length /= 2.0
        else:
            break
        at, value = moved, lower
    return float(at[0]), float(at[1])


def _cost(rows: Floats, target: Floats, at: Floats) -> float:
    scores = rows @ at
    return -float(target @ log_expit(scores) + (1.0 - target) @ log_expit(-scores))
