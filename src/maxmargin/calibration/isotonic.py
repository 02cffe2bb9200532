"""An increasing function from confidence to probability, by isotonic regression.

    min  sum_i weight_i (f(x_i) - correct_i)^2      over increasing f,

solved by pooling adjacent violators; between its points f is linear.

[1] Zadrozny, Elkan: Transforming classifier scores into accurate multiclass probability
    estimates, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.calibration.measures import check_answers, checked_weights
from maxmargin.core.data.arrays import Floats, real_numbers
from maxmargin.core.jit import loop


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Increasing, piecewise linear function; see the module docstring.

    Parameters
    ----------
    x, y : arrays
        Points of the function, both increasing.

    Examples
    --------
    >>> fitted = Isotonic.fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted([0.0, 0.25, 0.4]).tolist()
    [0.0, 0.5, 1.0]
    """

    x: Floats
    y: Floats

    def __post_init__(self) -> None:
        fits = self.x.ndim == 1 and self.x.shape == self.y.shape and len(self.x) > 0
        if not fits or not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise ValueError("an increasing function needs finite points")
        if (np.diff(self.x) < 0.0).any() or (np.diff(self.y) < 0.0).any():
            raise ValueError("the points of an increasing function fall")

    @classmethod
    def fit(
        cls,
        confidence: ArrayLike,
        correct: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Isotonic:
        """Fit on held-out examples: how sure, and whether right (0 or 1)."""
        x = real_numbers(confidence).ravel()
        y = real_numbers(correct).ravel()
        if len(x) != len(y) or len(x) == 0:
            raise ValueError(f"{len(x)} confidences, {len(y)} answers")
        w = checked_weights(sample_weight, len(x))
        if not np.isfinite(x).all():
            raise ValueError("a confidence is not finite")
        check_answers(y)
        points, group = np.unique(x, return_inverse=True)
        weight = np.bincount(group, w)
        if (weight <= 0.0).any():
            raise ValueError("all weights are zero at a point")
        means = np.bincount(group, w * y) / weight
        return cls(*_pooled(points, means, weight))

    def __call__(self, confidence: ArrayLike) -> Floats:
        """Probabilities of being right."""
        return np.interp(real_numbers(confidence), self.x, self.y)


@loop
def _pooled(x, y, weight):
    """First and last point of each level of the increasing fit."""
    n = len(x)
    level, mass = np.empty(n), np.empty(n)
    first = np.empty(n + 1, np.int64)
    m = 0
    for i in range(n):
        level[m], mass[m], first[m] = y[i], weight[i], i
        while m > 0 and level[m - 1] >= level[m]:
            total = mass[m - 1] + mass[m]
            level[m - 1] = (level[m - 1] * mass[m - 1] + level[m] * mass[m]) / total
            mass[m - 1] = total
            m -= 1
        m += 1
    first[m] = n
    xs, ys = np.empty(2 * m), np.empty(2 * m)
    p = 0
    for j in range(m):
        xs[p], ys[p] = x[first[j]], level[j]
        p += 1
        if first[j + 1] - 1 > first[j]:
            xs[p], ys[p] = x[first[j + 1] - 1], level[j]
            p += 1
    return xs[:p].copy(), ys[:p].copy()
