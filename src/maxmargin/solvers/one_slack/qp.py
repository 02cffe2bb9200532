"""The small dense QP behind cutting-plane methods, warm-started.

    max_alpha  b' alpha - 1/2 alpha' (G + ridge) alpha

over  alpha >= 0, sum alpha <= upper  (infinite: a cone), or over the box
0 <= alpha <= upper. Pairwise steps do the bulk; where cuts are nearly parallel and
steps get small, Newton steps on the free variables finish: an active-set method, in
which pairwise steps choose the variables to free and Newton steps those to fix.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.solvers.planes.steps import box_steps, pair_steps

ROUNDS = 200


def maximise(
    G: Floats,
    b: Floats,
    alpha: Floats,
    upper: float,
    ridge: float = 0.0,
    box: bool = False,
    tol: float = 1e-12,
    enough: float = np.inf,
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
    enough : float
        Stop when the value is above this: on a cone it may have no bound.

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
        steps = m + 20
        if box:
            rise = box_steps(G, m, g, alpha, upper, tiny, steps)
        else:
            rise = pair_steps(G, ridge, m, g, alpha, upper, tiny, steps)
        rise += _newton(H, b, alpha, upper, box)
        value = float(b @ alpha)
        if rise <= tol * abs(value):
            break
        if value - 0.5 * float(alpha @ H @ alpha) > enough:
            break
    return alpha


def _newton(H: Floats, b: Floats, alpha: Floats, upper: float, box: bool) -> float:
    """Move alpha to the optimum of its face, fixing what reaches a bound; the rise."""
    total = 0.0
    for _ in range(len(b)):
        free = alpha > 0.0
        if box:
            free &= alpha < upper
        where = np.flatnonzero(free)
        if len(where) == 0:
            break
        g = b[where] - H[where] @ alpha
        tight = not box and np.isfinite(upper) and alpha.sum() >= upper * (1.0 - 1e-12)
        A = H[np.ix_(where, where)]
        move = _solve(A, g, tight)
        slope, curve = float(g @ move), float(move @ A @ move)
        if not slope > 0.0:
            break
        full = min(1.0, slope / curve) if curve > 0 else 1.0
        step = _room(alpha[where], move, full, upper, box)
        rise = step * slope - 0.5 * step**2 * curve
        if rise <= 0.0:
            break
        total += rise
        _advance(alpha, where, step * move, upper, box)
        if step >= full or (free == (alpha > 0.0)).all():
            break
    return total


def _solve(A: Floats, g: Floats, tight: bool) -> Floats:
    """The Newton direction A move = g, of sum zero if `tight`; A may be singular."""
    m = len(g)
    ridge = 1e-14 * float(np.trace(A)) / m
    try:
        factor = cho_factor(A + (ridge + 1e-300) * np.eye(m), check_finite=False)
    except np.linalg.LinAlgError:
        return _least_squares(A, g, tight)
    move = cho_solve(factor, g, check_finite=False)
    if tight:
        ones = cho_solve(factor, np.ones(m), check_finite=False)
        move = move - ones * (move.sum() / ones.sum())
    return move if np.isfinite(move).all() else _least_squares(A, g, tight)


def _least_squares(A: Floats, g: Floats, tight: bool) -> Floats:
    m = len(g)
    if tight:
        ones = np.ones((m, 1))
        A, g = np.block([[A, ones], [ones.T, np.zeros((1, 1))]]), np.append(g, 0.0)
    return np.asarray(np.linalg.lstsq(A, g, rcond=1e-13)[0][:m], np.float64)


def _advance(
    alpha: Floats, where: Ints, change: Floats, upper: float, box: bool
) -> None:
    """Add the change; what comes within rounding of a bound is set to it."""
    scale = upper if np.isfinite(upper) else max(float(alpha.max()), 1e-300)
    new = alpha[where] + change
    new[new < 1e-14 * scale] = 0.0
    if box:
        new[new > upper * (1.0 - 1e-14)] = upper
    alpha[where] = new


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
