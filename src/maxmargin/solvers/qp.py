"""The small dense QP behind cutting-plane methods, warm-started.

    max_alpha  b' alpha - 1/2 alpha' (G + ridge) alpha

over  alpha >= 0, sum alpha <= upper  (infinite: a cone), or over the box
0 <= alpha <= upper. Pairwise steps do the bulk; where cuts are nearly parallel and
steps get small, Newton steps on the free variables (an active-set method) finish.
"""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import Floats
from maxmargin.solvers.steps import box_steps, pair_steps

ROUNDS = 200


def maximise(
    G: Floats,
    b: Floats,
    alpha: Floats,
    upper: float,
    ridge: float = 0.0,
    box: bool = False,
    tol: float = 1e-12,
) -> Floats:
    """Optimal alpha, started from a feasible `alpha` (which is not altered).

    Parameters
    ----------
    G : array (m, m)
        Gram matrix of the planes, positive semi-definite.
    b, alpha : arrays (m,)
        Linear term, and where to start.
    upper, ridge, box
        The dual set, see `formulations.DualSet`.
    tol : float
        Stop when no pair of variables can gain more than `tol` times the size of the
        gradient.

    Examples
    --------
    >>> G = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> maximise(G, np.array([1.0, 3.0]), np.zeros(2), upper=1.0).round(6).tolist()
    [0.0, 1.0]
    """
    m = len(b)
    G = np.ascontiguousarray(G, dtype=np.float64)
    alpha = np.array(alpha, dtype=np.float64)
    H = G if box else G + ridge
    tiny = tol * (1.0 + float(np.abs(b).max(initial=0.0)))
    for _ in range(ROUNDS):
        g = b - H @ alpha
        if box:
            rise = box_steps(G, m, g, alpha, upper, tiny, 20 * m + 20)
        else:
            rise = pair_steps(G, ridge, m, g, alpha, upper, tiny, 20 * m + 20)
        newton = _newton(H, b, alpha, upper, box)
        if rise + newton <= tol * abs(b @ alpha) or rise == 0.0:
            break
    return alpha


def _newton(H: Floats, b: Floats, alpha: Floats, upper: float, box: bool) -> float:
    """Move alpha to the optimum of its face, as far as the face goes; the rise."""
    free = alpha > 0.0
    if box:
        free &= alpha < upper
    where = np.flatnonzero(free)
    if len(where) == 0:
        return 0.0
    g = b[where] - H[where] @ alpha
    tight = not box and np.isfinite(upper) and alpha.sum() >= upper * (1.0 - 1e-12)
    A = H[np.ix_(where, where)]
    if tight:
        ones = np.ones((len(where), 1))
        A = np.block([[A, ones], [ones.T, np.zeros((1, 1))]])
        g_full = np.append(g, 0.0)
    else:
        g_full = g
    move = np.linalg.lstsq(A, g_full, rcond=1e-13)[0][: len(where)]
    slope, curve = float(g @ move), float(move @ H[np.ix_(where, where)] @ move)
    if slope <= 0.0:
        return 0.0
    step = min(1.0, slope / curve) if curve > 0 else 1.0
    step = _room(alpha[where], move, step, upper, box)
    rise = step * slope - 0.5 * step**2 * curve
    if rise <= 0.0:
        return 0.0
    new = alpha[where] + step * move
    alpha[where] = np.where(
        new < 1e-15 * max(upper if np.isfinite(upper) else 1, 1), 0.0, new
    )
    return rise


def _room(alpha: Floats, move: Floats, step: float, upper: float, box: bool) -> float:
    """The longest step up to `step` that stays feasible."""
    falls = move < 0
    if falls.any():
        step = min(step, float((-alpha[falls] / move[falls]).min()))
    if box:
        rises = move > 0
        if rises.any():
            step = min(step, float(((upper - alpha[rises]) / move[rises]).min()))
    elif np.isfinite(upper) and move.sum() > 0:
        step = min(step, max(upper - float(alpha.sum()), 0.0) / float(move.sum()))
    return step
