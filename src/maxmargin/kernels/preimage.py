"""Points whose span comes nearest to an expansion: the preimage problem.

For v_a = sum_i R_ia phi(x_i), a = 1 .. z, and points b_1 .. b_m, what the span of the
points holds of v is, with G = K(b, b) and h = K(b, x) R,

    ||P v||^2 = sum_a h_a' G^-1 h_a,     ||v - P v||^2 = ||v||^2 - ||P v||^2.

`refine` moves all points up the gradient of it: for differentiable kernels points need
not be training rows. `fixed_point` is the iteration for one point of the RBF kernel.
`descend` moves points, coefficients and further weights together, down the objective
itself: v changes as points move, and steps at a fixed v stop far from where that ends.

[1] Yu 2011, equation (6.9). [2] Burges 1996; Schoelkopf et al. 1999 (fixed points).
[3] Wu, Schoelkopf, Bakir: A direct method for building sparse kernel learning
    algorithms, 2006 (gradients in all points, and of the objective).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from maxmargin.core.arrays import Floats
from maxmargin.kernels.functions import Rbf

BLOCK, VALUES = 1024, 1 << 18  # rows at once, or kernel values if these are more
SEEN, SHORT = 256, 1e-5  # rows looked at, and how far single precision may be off
JITTER = 1e-9  # share of the diagonal added to G: near points are nearly dependent


def held(
    kernel: Any, X: Any, R: Floats, points: Floats
) -> tuple[float, Floats, Floats]:
    """||P v||^2, its gradient in the points (m, d), and beta with P v = sum beta phi.

    Examples
    --------
    >>> X, R = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
    >>> value, slope, _ = held(Rbf(1.0), X, R, np.array([[0.0]]))
    >>> round(value, 6), slope.tolist()
    (1.0, [[0.0]])
    """
    cross = kernel(X, points)
    gram = kernel(points, points)
    h = cross.T @ R
    ridge = JITTER * float(gram.diagonal().mean()) * np.eye(len(points))
    try:
        beta = cho_solve(cho_factor(gram + ridge, check_finite=False), h)
    except LinAlgError:
        beta = np.linalg.lstsq(gram + ridge, h, rcond=1e-10)[0]
    slope = kernel.slope(X, points, cross, 2.0 * (R @ beta.T))
    slope -= kernel.slope(points, points, gram, 2.0 * (beta @ beta.T))
    return float(np.vdot(h, beta)), slope, beta


def refine(kernel: Any, X: Any, R: Floats, points: Floats, steps: int = 20) -> Floats:
    """Points that hold more of v than those given, by a few quasi-Newton steps."""
    shape = points.shape
    first, _, _ = held(kernel, X, R, points)
    scale = 1.0 / max(first, 1e-300)

    def fall(flat: Floats) -> tuple[float, Floats]:
        value, slope, _ = held(kernel, X, R, flat.reshape(shape))
        return -scale * value, -scale * slope.ravel()

    found = minimize(
        fall, points.ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": steps + steps // 2 + 2},
    )  # fmt: skip
    return found.x.reshape(shape) if found.fun <= -1.0 else points


def fixed_point(
    kernel: Rbf, X: Floats, R: Floats, start: Floats, steps: int = 50
) -> Floats:
    """The point b that holds most of v, from a start: b = sum_i c_i x_i / sum_i c_i.

    c_i = <R_i, v(b)> K(x_i, b). Steps stop when b no longer gains, or where the sum of
    c is near zero.
    """
    point, best = start, -np.inf
    for _ in range(steps):
        values = kernel(X, point[None, :]).ravel()
        at = values @ R
        gain = float(at @ at)
        if gain <= best * (1.0 + 1e-10):
            break
        best, kept = gain, point
        c = (R @ at) * values
        total = float(c.sum())
        if abs(total) <= 1e-12 * float(np.abs(c).sum()):
            break
        point = (c @ X) / total
    return kept


Risk = Callable[[Floats, Floats], tuple[float, Floats, Floats]]


def descend(
    kernel: Any, X: Any, risk: Risk, points: Floats, beta: Floats, rest: Floats,
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
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", callback=stop,
        options={"maxiter": steps, "maxfun": steps + steps // 4 + 2, "ftol": 1e-5},
    )  # fmt: skip
    b, c, u = np.split(found.x if found.fun < 1.0 else start, ends)
    return b.reshape(shape), c.reshape(m, -1), u


def _objective(
    kernel: Any, X: Any, risk: Risk, b: Floats, c: Floats, u: Floats
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
    R = R.astype(kind, copy=False)
    for s in range(0, n, step):
        part = slice(s, s + step)
        if np.any(R[part]):
            by_points -= kernel.slope(X[part], points, cross[part], R[part] @ weights.T)
    return value, (by_points, whole - cross.T @ R, u - fall)


def shortened(kernel: Any, X: Any, points: Floats) -> Any:
    """X in single precision, where kernel values come out about the same from it."""
    if not isinstance(X, np.ndarray):
        return X
    few = X[:: max(1, len(X) // SEEN)]
    short = few.astype(np.float32)
    exact, values = kernel(few, points), kernel(short, points.astype(np.float32))
    scale = np.abs(exact).max(initial=0.0)
    fits = np.abs(exact - values).max(initial=0.0) <= SHORT * scale
    return X.astype(np.float32) if fits else X
