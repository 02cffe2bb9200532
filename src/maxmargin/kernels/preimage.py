"""Points whose span comes nearest to an expansion: the preimage problem.

For v_a = sum_i R_ia phi(x_i), a = 1 .. z, and points b_1 .. b_m, what the span of the
points holds of v is, with G = K(b, b) and h = K(b, x) R,

    ||P v||^2 = sum_a h_a' G^-1 h_a,     ||v - P v||^2 = ||v||^2 - ||P v||^2.

`refine` moves all points up the gradient of it: for differentiable kernels points need
not be training rows. `fixed_point` is the iteration for one point of the RBF kernel.
Training then moves points, coefficients and further weights together
(`solvers/kernel/moving_points.py`).

[1] Yu 2011, equation (6.9). [2] Burges 1996; Schoelkopf et al. 1999 (fixed points).
[3] Wu, Schoelkopf, Bakir: A direct method for building sparse kernel learning
    algorithms, 2006 (gradients in all points).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.core.data.arrays import Floats
from maxmargin.kernels.functions import Rbf

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

    found = scipy.optimize.minimize(
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
