"""Ascent on the dual of one block of planes, from its Gram matrix.

    max_alpha  sum_j alpha_j h_j - 1/2 (alpha - alpha0)' (G + ridge) (alpha - alpha0)

over  alpha >= 0, sum alpha <= upper  (infinite upper: a cone), or over the box
0 <= alpha_j <= upper. `g` is the gradient, h - ridge * sum(alpha), kept up to date.
The zero plane, which takes what is left of `upper`, has index m.

Pairs are chosen as in SMO with second-order information: weight moves to the plane with
the largest gradient, from the plane for which the dual rises most by this.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import loop


@loop
def pair_steps(G, ridge, m, g, alpha, upper, tiny, steps):
    """Pairwise steps in place; returns the rise of the dual."""
    left = upper
    for j in range(m):
        left -= alpha[j]
    left = max(left, 0.0)
    total = 0.0
    for _ in range(steps):
        up, best = m, 0.0  # the zero plane: its gradient is zero
        for j in range(m):
            if g[j] > best:
                up, best = j, g[j]
        up_curve = G[up, up] + ridge if up < m else 0.0
        down, gain, move = -1, 0.0, 0.0
        for j in range(m + 1):
            have = alpha[j] if j < m else left
            if j == up or have <= 0.0:
                continue
            rise = best - (g[j] if j < m else 0.0)
            if rise <= tiny:
                continue
            curve = up_curve
            if j < m:
                curve += G[j, j] + ridge
                if up < m:
                    curve -= 2.0 * (G[up, j] + ridge)
            size = have
            if curve > 0.0 and rise < size * curve:
                size = rise / curve
            if size == np.inf:
                size = 1e6
            made = size * (rise - 0.5 * size * curve)
            if made > gain:
                down, gain, move = j, made, size
        if down < 0:
            break
        total += gain
        if up < m:
            alpha[up] += move
            for j in range(m):
                g[j] -= move * (G[j, up] + ridge)
        else:
            left += move
        if down < m:
            alpha[down] -= move
            if alpha[down] < 1e-15 * move:
                alpha[down] = 0.0
            for j in range(m):
                g[j] += move * (G[j, down] + ridge)
        else:
            left -= move
    return total


@loop
def box_steps(G, m, g, alpha, upper, tiny, steps):
    """Single steps in the box 0 <= alpha <= upper, in place; returns the rise."""
    total = 0.0
    for _ in range(steps):
        best, gain, move = -1, 0.0, 0.0
        for j in range(m):
            if G[j, j] > 0.0:
                to = min(max(alpha[j] + g[j] / G[j, j], 0.0), upper)
            else:
                to = upper if g[j] > 0.0 else alpha[j]
            size = to - alpha[j]
            if abs(g[j]) <= tiny or size == 0.0:
                continue
            made = size * (g[j] - 0.5 * size * G[j, j])
            if made > gain:
                best, gain, move = j, made, size
        if best < 0:
            break
        total += gain
        alpha[best] = min(max(alpha[best] + move, 0.0), upper)
        for j in range(m):
            g[j] -= move * G[j, best]
    return total


@loop
def block_gap(m, g, alpha, upper, ridge, box):
    """Duality gap of one block on the planes at hand (hard margins: a KKT measure)."""
    top, inner, total = 0.0, 0.0, 0.0
    for j in range(m):
        total += alpha[j]
    if box:
        for j in range(m):
            inner += upper * max(g[j], 0.0) - alpha[j] * g[j]
        return inner
    for j in range(m):
        h = g[j] + ridge * total
        top = max(top, h)
        inner += alpha[j] * h
    if upper < np.inf:
        return upper * top - inner
    if ridge > 0.0:
        return 0.5 * top * top / ridge + 0.5 * ridge * total * total - inner
    worst = top
    for j in range(m):
        if alpha[j] > 0.0:
            worst = max(worst, -g[j])
    return worst * (1.0 + total)
