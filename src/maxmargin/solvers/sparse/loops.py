"""Loops of the L1 trainer: ascent on the dual of a proximal step, block by block.

    max_alpha  sum alpha b - h(v),   v = sum alpha a,
    h(v) = max_w <v, w> - ||w||_1 - ||w - anchor||^2 / (2 sigma),

whose maximiser is w = soft(anchor + sigma v, sigma), soft thresholding. h is smooth but not
quadratic, so weight moves between two planes of an example by an exact line search: along
a difference d of planes the slope  b_up - b_down - <d, w(v + t d)>  falls piecewise
linearly in t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop

SEARCHES = 12  # evaluations of a slope per line search
CLOSE = 0.1  # share of the first slope at which a line search ends
SMALL = 0.02  # share of the first slope of a visit below which its moves end


class Local(NamedTuple):
    """Work space of one example: values on its support; `d` is 0 between calls."""

    anchor: Floats
    v: Floats
    w: Floats
    d: Floats
    g: Floats  # (planes,)


@loop
def soft(anchor, v, sigma, w):
    """Soft thresholding into w: anchor + sigma v, moved towards zero by sigma."""
    for c in range(len(w)):
        w[c] = _soft(anchor[c] + sigma * v[c], sigma)


@inner_loop
def _soft(z, sigma):
    if z > sigma:
        return z - sigma
    if z < -sigma:
        return z + sigma
    return 0.0


@inner_loop
def _heights(store, local, i):
    """Values b - <a, w> of the planes of example i into g."""
    for j in range(store.count[i]):
        s = store.first[i] + j
        h = store.b[s]
        for e in range(store.start[s], store.stop[s]):
            h -= store.val[e] * local.w[store.idx[e]]
        local.g[j] = h


@inner_loop
def _slope(local, size, sigma, rise, t):
    """Slope of the dual after a step t along d, and how fast it falls."""
    slope, curve = rise, 0.0
    for p in range(size):
        d = local.d[p]
        if d != 0.0:
            new = _soft(local.anchor[p] + sigma * (local.v[p] + t * d), sigma)
            slope -= d * (new - local.w[p])
            if new != 0.0:
                curve += sigma * d * d
    return slope, curve


@inner_loop
def _search(local, size, sigma, rise, most):
    """A step up to `most` at which the slope has fallen to zero, nearly; not beyond."""
    low, high = 0.0, most
    slope, curve = _slope(local, size, sigma, rise, 0.0)
    t = most
    if curve > 0.0 and rise < most * curve:
        t = rise / curve
    for _ in range(SEARCHES):
        slope, curve = _slope(local, size, sigma, rise, t)
        if slope >= 0.0:
            low = t
            if slope <= CLOSE * rise or t >= most:
                break
        else:
            high = t
        new = 0.5 * (low + high)
        if curve > 0.0:
            newton = t + slope / curve
            if low < newton < high:
                new = newton
            elif slope > 0.0 and newton >= high and high >= most:
                new = most
        elif slope > 0.0 and high >= most:
            new = most
        t = new
    return low


@inner_loop
def _add_plane(store, local, s, factor):
    """Add factor * plane s to d."""
    for e in range(store.start[s], store.stop[s]):
        local.d[store.idx[e]] += factor * store.val[e]


@inner_loop
def _move(store, local, i, upper, left, sigma, tiny):
    """One step between two planes of example i: (what is left of C, slope found)."""
    m, f, size = store.count[i], store.first[i], store.width[i]
    up, best = -1, 0.0  # -1 is the zero plane, which takes what is left of C
    for j in range(m):
        if local.g[j] > best:
            up, best = j, local.g[j]
    down, worst = -2, best
    if left > 1e-14 * upper and up >= 0:
        down, worst = -1, 0.0
    for j in range(m):
        if store.alpha[f + j] > 0.0 and local.g[j] < worst:
            down, worst = j, local.g[j]
    rise = best - worst
    if down == -2 or rise <= tiny:
        return left, 0.0
    if up >= 0:
        _add_plane(store, local, f + up, 1.0)
    if down >= 0:
        _add_plane(store, local, f + down, -1.0)
    most = store.alpha[f + down] if down >= 0 else left
    t = _search(local, size, sigma, rise, most)
    if up >= 0:
        store.alpha[f + up] += t
    else:
        left += t
    if down >= 0:
        new = store.alpha[f + down] - t
        store.alpha[f + down] = new if new > 1e-14 * upper else 0.0
    else:
        left = max(left - t, 0.0)
    for p in range(size):
        if local.d[p] != 0.0:
            local.v[p] += t * local.d[p]
            local.w[p] = _soft(local.anchor[p] + sigma * local.v[p], sigma)
            local.d[p] = 0.0
    _heights(store, local, i)
    return left, rise if t > 0.0 else 0.0


@loop
def improve(store, local, upper, order, anchor, sigma, v, w, steps, gaps):
    """Move weight between planes of the examples in `order`; v and w follow.

    gaps[i] is the gap that example i had on its planes, C max(0, g) - sum alpha g. With
    no steps only the gaps are computed.
    """
    for i in order:
        m, f, at, size = (
            store.count[i], store.first[i], store.support_at[i], store.width[i],
        )  # fmt: skip
        gaps[i] = 0.0
        if m == 0 or upper[i] == 0.0:
            continue
        for p in range(size):
            c = store.support[at + p]
            local.anchor[p], local.v[p], local.w[p] = anchor[c], v[c], w[c]
        _heights(store, local, i)
        top, inner, left = 0.0, 0.0, upper[i]
        for j in range(m):
            top = max(top, local.g[j])
            inner += store.alpha[f + j] * local.g[j]
            left -= store.alpha[f + j]
        gaps[i] = upper[i] * top - inner
        left, moved, tiny = max(left, 0.0), False, 1e-12
        for _ in range(steps):
            left, rise = _move(store, local, i, upper[i], left, sigma, tiny)
            if rise == 0.0:
                break
            if not moved:
                tiny = max(tiny, SMALL * rise)
            moved = True
        for j in range(m):
            store.idle[f + j] = 0 if store.alpha[f + j] > 0.0 else store.idle[f + j] + 1
        if moved:
            for p in range(size):
                c = store.support[at + p]
                v[c], w[c] = local.v[p], local.w[p]


def local_space(width: int, planes: int) -> Local:
    """Work space for supports of this width and as many planes of an example."""
    anchor, v, w, d = np.zeros((4, width))
    return Local(anchor, v, w, d, np.zeros(planes))
