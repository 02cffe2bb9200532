"""Move the points of an expansion, its coefficients and further weights together.

    F(b, beta, u) = 1/2 sum_a beta_a' G beta_a + 1/2 ||u||^2 + risk(K(x, b) beta, u)

Steps follow the gradient of the objective itself. `kernels.preimage.refine` moves points
towards a fixed function v; v changes as points move, so its steps end at a much higher
objective.

[1] Wu, Schoelkopf, Bakir: A direct method for building sparse kernel learning
    algorithms, 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from maxmargin.core.data.arrays import Floats
from maxmargin.kernels.gram import fits_short

BLOCK, VALUES = 1024, 1 << 18  # rows at once, or kernel values if these are more

RiskSlope = Callable[[Floats, Floats], tuple[float, Floats, Floats]]


def descend(
    kernel: Any, X: Any, risk: RiskSlope, points: Floats, beta: Floats, rest: Floats,
    steps: int, late: Callable[[], bool] = bool,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    r"""Points, coefficients and further weights of a lower objective.

    .. math:: F(b, \beta, u) = \tfrac12 \sum_a \beta_a' G \beta_a
       + \tfrac12 \|u\|^2 + \mathrm{risk}(K(x, b) \beta, u)

    Parameters
    ----------
    risk : function (scores, rest) -> (risk, fall in scores, fall in rest)
        The risk and its negative gradient.
    late : function
        Whether the time is up: no further steps are made then.
    """
    shape, m, X = points.shape, len(points), shortened(kernel, X, points)
    first, ends = None, np.cumsum([points.size, beta.size])

    def objective(flat: Floats) -> tuple[float, Floats]:
        nonlocal first
        b, c, u = np.split(flat, ends)
        b, c = b.reshape(shape), c.reshape(m, -1)
        value, slopes = _objective(kernel, X, risk, b, c, u)
        first = max(abs(value), 1e-300) if first is None else first
        return value / first, np.concatenate([s.ravel() for s in slopes]) / first

    def stop(intermediate_result: Any) -> None:
        if late():
            raise StopIteration

    start = np.concatenate((points.ravel(), beta.ravel(), rest))
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", callback=stop,
        options={"maxiter": steps, "maxfun": steps + steps // 4 + 2, "ftol": 1e-5},
    )  # fmt: skip
    b, c, u = np.split(found.x if found.fun < 1.0 else start, ends)
    return b.reshape(shape), c.reshape(m, -1), u


def _objective(
    kernel: Any, X: Any, risk: RiskSlope, b: Floats, c: Floats, u: Floats
) -> tuple[float, tuple[Floats, Floats, Floats]]:
    """The objective of `descend` and its gradient in points, coefficients, weights."""
    n, m, kind = X.shape[0], len(b), X.dtype
    points, weights = b.astype(kind, copy=False), c.astype(kind, copy=False)
    cross, gram = np.empty((n, m), kind), kernel(b, b)
    step = max(BLOCK, VALUES // m)
    for s in range(0, n, step):
        cross[s : s + step] = kernel(X[s : s + step], points)
    value, R, fall = risk((cross @ weights).astype(np.float64, copy=False), u)
    whole = gram @ c
    value += 0.5 * float(np.vdot(c, whole)) + 0.5 * float(u @ u)
    by_points = kernel.slope(b, b, gram, c @ c.T)
    R, by_weights = R.astype(kind, copy=False), whole
    moved = np.flatnonzero(R.any(axis=1))  # other rows have no slack, and no slope
    for s in range(0, len(moved), step):
        ids = moved[s : s + step]
        values, own = cross[ids], R[ids]
        by_points -= kernel.slope(X[ids], points, values, own @ weights.T)
        by_weights = by_weights - values.T @ own
    return value, (by_points, by_weights, u - fall)


def shortened(kernel: Any, X: Any, points: Floats) -> Any:
    """X in single precision, where kernel values come out about the same from it."""
    return X.astype(np.float32) if fits_short(kernel, X, points) else X
