"""Loops of the trainers over all outputs: visits to examples.

With psi(x, y) = phi(x) (x) Lambda(y) the planes of example i with truth t are

    a_y = c_y phi (x) (Lambda(t) - Lambda(y)),   <a_u, a_v> = ||phi||^2 * curve(t, u, v)

so the products of phi with the weights of each output feature give all heights
b_y - <a_y, w> at once. A visit solves its block over a list of outputs exactly: by a
projection where outputs are canonical, by pairwise or single steps otherwise.

[1] Keerthi et al.: A sequential dual method for large scale multi-class linear SVMs,
    KDD 2008, section 3. [2] Balamurugan et al. 2012, Algorithm 2 (the box).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    add_scores,
    fill_scores,
    inner,
)
from maxmargin.core.jit import dense_loop, inner_loop, loop

STEPS = 50  # pairwise steps per visit
CHUNK = 1024  # examples whose scores stay in the cache while columns are added
NEIGHBOURS = 5  # weights of neighbouring labels that cost as much as one alone


class Tables(NamedTuple):
    """The problem in factored form."""

    ptr: Ints  # vectors: see arrays.Vectors
    idx: Labels
    val: Floats
    width: int
    lambdas: Floats  # (k, z)
    plain: bool  # Lambda is the identity
    even: bool  # and no plane is scaled: a block step is a projection
    inner: Floats  # (k, k) <Lambda(y), Lambda(y')>
    square: Floats  # (n,) ||phi(x_i)||^2
    truth: Ints  # (n,)
    b: Floats  # (k, k) height of the plane, by (true output, output)
    c: Floats  # (k, k) its factor on dpsi
    upper: Floats  # (n,)
    ridge: Floats  # (n,)
    box: bool


@dense_loop
def squares(ptr, val):
    """Squared length of each vector."""
    out = np.empty(len(ptr) - 1)
    for i in range(len(out)):
        s = 0.0  # not out[i]: see `core.jit` on sums in memory
        for p in range(ptr[i], ptr[i + 1]):
            s += val[p] * val[p]
        out[i] = s
    return out


@loop
def sweep(t, order, held, w, alpha, gaps, closed):
    """Visit the examples in `order`; returns (rise of the dual, work).

    A visit sees all outputs, or only those with alpha > 0 if `held` (and it pays).
    Its gap over the outputs seen goes to `gaps`; up to `closed` nothing is done.
    """
    # Tables are taken apart here: to pass them on costs more than a short visit.
    ptr, idx, val, width, lambdas = t.ptr, t.idx, t.val, t.width, t.lambdas
    truth, uppers, ridges, B, C, D = t.truth, t.upper, t.ridge, t.b, t.c, t.inner
    sparse, plain = len(idx) > 0, t.plain
    k, z = lambdas.shape
    W = w.reshape((width, z)) if sparse else w.reshape((z, width))
    labels, row, K = np.empty(k, np.int64), np.empty(z), np.empty((k, k))
    h, g, a, change = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    rise, work = 0.0, 0
    for i in order:
        y, xx, upper, ridge = truth[i], t.square[i], uppers[i], ridges[i]
        few = held and plain and (not sparse or _few(alpha, i))
        m = _list(alpha, i, y, few, labels, a)
        work += m + 1
        if plain and not sparse:
            x = val[ptr[i] : ptr[i + 1]]
            for e in range(m + 1):
                h[e] = inner(W[labels[e]], x)
        elif plain:
            _products(ptr, idx, val, W, i, labels, m, few, row, h)
        else:
            fill_scores(ptr, idx, val, width, i, w, z, row)
            _combine(lambdas, labels, m, row, h)
        _to_heights(B, C, y, labels, m, h)
        gaps[i] = gap = _gap(m, h, a, upper, ridge, t.box)
        if gap <= closed:
            continue
        if t.even and xx > 0.0:
            _project(m, h, a, xx, upper, ridge, change)
        else:
            m = _shorten(m, ridge, labels, h, a)
            _gram(D, C, y, xx, labels, m, K)
            for e in range(m):
                g[e], change[e] = h[e], a[e]
            if t.box:
                _box_steps(K, m, g, a, upper)
            else:
                _pair_steps(K, ridge, m, g, a, upper)
            for e in range(m):
                change[e] = a[e] - change[e]
        rise += _move(alpha, i, labels, m, h, change, ridge)
        _coefficients(C, lambdas, plain, y, labels, m, change, row)
        if plain and not sparse:
            x = val[ptr[i] : ptr[i + 1]]
            for e in range(m + 1):
                _add_to(W[labels[e]], row[labels[e]], x)
        elif plain:
            _add(ptr, idx, val, W, i, labels, m, row)
        else:
            add_scores(ptr, idx, val, width, i, row, z, w)
        rise -= 0.5 * xx * (_length(labels, m, row) if plain else inner(row, row))
    return rise, work


@loop
def sweep_block(t, ids, order, K, S, alpha, R, gaps, closed):
    """Visit examples of a working set, known by their kernel values; returns their gap.

    S (z, q) are scores of the output features of the examples `ids`, K (q, q) their
    kernel values. The change of w = sum_p R_p phi(x_p) is added to R (q, z), and its
    effect to S. Examples with a gap up to `closed` are left as they are.
    """
    truth, uppers, ridges, B, C, D = t.truth, t.upper, t.ridge, t.b, t.c, t.inner
    lambdas, plain = t.lambdas, t.plain
    k, z = lambdas.shape
    labels, row, G = np.empty(k, np.int64), np.empty(z), np.empty((k, k))
    h, g, a, change = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    total = 0.0
    for p in order:
        i = ids[p]
        y, xx, upper, ridge = truth[i], float(K[p, p]), uppers[i], ridges[i]
        m = _list(alpha, i, y, False, labels, a)
        for f in range(z):
            row[f] = S[f, p]
        if plain:
            for e in range(m + 1):
                h[e] = row[labels[e]]
        else:
            _combine(lambdas, labels, m, row, h)
        _to_heights(B, C, y, labels, m, h)
        gaps[p] = gap = _gap(m, h, a, upper, ridge, t.box)
        total += gap
        if gap <= closed:
            continue
        if t.even and xx > 0.0:
            _project(m, h, a, xx, upper, ridge, change)
        else:
            m = _shorten(m, ridge, labels, h, a)
            _gram(D, C, y, xx, labels, m, G)
            for e in range(m):
                g[e], change[e] = h[e], a[e]
            if t.box:
                _box_steps(G, m, g, a, upper)
            else:
                _pair_steps(G, ridge, m, g, a, upper)
            for e in range(m):
                change[e] = a[e] - change[e]
        _move(alpha, i, labels, m, h, change, ridge)
        row[:] = 0.0
        _coefficients(C, lambdas, plain, y, labels, m, change, row)
        for f in range(z):
            if row[f] != 0.0:
                R[p, f] += row[f]
                _add_to(S[f], K.dtype.type(row[f]), K[p])
    return total


@loop
def block_of(store, places, ids, constant, K):
    """K[p, q] = kernel value of examples ids[p], ids[q], and a constant; ids ascend."""
    for p in range(len(ids)):
        column = store[places[p]]
        for q in range(len(ids)):
            K[p, q] = column[ids[q]] + constant


@loop
def add_columns(store, places, R, scores):
    """Add to scores (z, n) those of sum_p R_p phi(x_p), from columns of kernel values."""
    z, n = scores.shape
    for start in range(0, n, CHUNK):
        end = min(start + CHUNK, n)
        for p in range(len(places)):
            column = store[places[p], start:end]
            for f in range(z):
                if R[p, f] != 0.0:
                    _add_to(scores[f, start:end], R[p, f], column)


@loop
def score_gaps(t, scores, alpha, gaps, slack):
    """Fill gap and slack of every example, from scores (z, n) of output features."""
    k, z = t.lambdas.shape
    labels, row, h, a = np.empty(k, np.int64), np.empty(z), np.empty(k), np.empty(k)
    B, C = t.b, t.c
    for i in range(len(gaps)):
        y = t.truth[i]
        m = _list(alpha, i, y, False, labels, a)
        for f in range(z):
            row[f] = scores[f, i]
        if t.plain:
            for e in range(m + 1):
                h[e] = row[labels[e]]
        else:
            _combine(t.lambdas, labels, m, row, h)
        _to_heights(B, C, y, labels, m, h)
        gaps[i] = _gap(m, h, a, t.upper[i], t.ridge[i], t.box)
        top = 0.0
        for e in range(m):
            top = top + max(h[e], 0.0) if t.box else max(top, h[e])
        slack[i] = top


@loop
def slacks(t, w):
    """Slack of each example at w; with the box, the sum over outputs."""
    k, z = t.lambdas.shape
    labels, row, h = np.empty(k, np.int64), np.empty(z), np.empty(k)
    out, B, C = np.zeros(len(t.truth)), t.b, t.c
    ptr, idx, val, width, lambdas = t.ptr, t.idx, t.val, t.width, t.lambdas
    for j in range(k):
        labels[j] = j
    for i in range(len(out)):
        y = t.truth[i]
        fill_scores(ptr, idx, val, width, i, w, z, row)
        if t.plain:
            for j in range(k):
                h[j] = row[j]
        else:
            _combine(lambdas, labels, k - 1, row, h)
        own = h[y]
        for j in range(k):
            height = B[y, j] - C[y, j] * (own - h[j])
            if t.box:
                out[i] += max(height, 0.0)
            else:
                out[i] = max(out[i], height)
    return out


@loop
def weights(t, alpha, w):
    """Add the sum of alpha * a to w."""
    k, z = t.lambdas.shape
    labels, row, a = np.empty(k, np.int64), np.empty(z), np.empty(k)
    for i in range(len(t.truth)):
        y = t.truth[i]
        m = _list(alpha, i, y, True, labels, a)
        if m > 0:
            row[:] = 0.0
            _coefficients(t.c, t.lambdas, t.plain, y, labels, m, a, row)
            add_scores(t.ptr, t.idx, t.val, t.width, i, row, z, w)


@inner_loop
def _few(alpha, i):
    """Whether sparse products with the labels held alone cost less than with all."""
    count = 0
    for j in range(alpha.shape[1]):
        count += alpha[i, j] > 0.0
    return NEIGHBOURS * count < alpha.shape[1]


@inner_loop
def _list(alpha, i, y, few, labels, a):
    """Outputs other than the truth y, with their alpha, then y; returns how many."""
    m = 0
    for j in range(alpha.shape[1]):
        if j != y and (alpha[i, j] > 0.0 or not few):
            labels[m] = j
            a[m] = alpha[i, j]
            m += 1
    labels[m] = y
    return m


@inner_loop
def _products(ptr, idx, val, W, i, labels, m, few, row, h):
    """h[e] = <phi(x_i), weights of labels[e]>, e <= m; sparse, outputs canonical."""
    start, end = ptr[i], ptr[i + 1]
    if few:
        for e in range(m + 1):
            s, j = 0.0, labels[e]
            for p in range(start, end):
                s += val[p] * W[idx[p], j]
            h[e] = s
    else:
        row[:] = 0.0
        for p in range(start, end):
            v, own = val[p], W[idx[p]]
            for j in range(len(row)):
                row[j] += v * own[j]
        for e in range(m + 1):
            h[e] = row[labels[e]]


@inner_loop
def _combine(lambdas, labels, m, row, h):
    """h[e] = <Lambda(labels[e]), row>, e <= m."""
    for e in range(m + 1):
        h[e] = inner(lambdas[labels[e]], row)


@inner_loop
def _add_to(u, c, v):
    if c != 0.0:
        for f in range(len(u)):
            u[f] += c * v[f]


@inner_loop
def _length(labels, m, row):
    """Squared length of row at the labels listed."""
    s = 0.0
    for e in range(m + 1):
        s += row[labels[e]] * row[labels[e]]
    return s


@inner_loop
def _to_heights(B, C, y, labels, m, h):
    """Scores to heights b - <a, w>."""
    own = h[m]
    for e in range(m):
        j = labels[e]
        h[e] = B[y, j] - C[y, j] * (own - h[e])


@inner_loop
def _gap(m, h, a, upper, ridge, box):
    """Exact gap over the outputs listed (hard margins: a KKT measure)."""
    top, held, total, summed, worst = 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(m):
        top = max(top, h[e])
        summed += max(h[e], 0.0)
        held += a[e] * h[e]
        total += a[e]
        if a[e] > 0.0:
            worst = max(worst, -h[e])
    if box:
        return upper * summed - held
    if upper < np.inf:
        return upper * top - held
    if ridge > 0.0:
        return 0.5 * top * top / ridge + 0.5 * ridge * total * total - held
    return max(top, worst) * (1.0 + total)


@inner_loop
def _project(m, h, a, xx, upper, ridge, v):
    """Exact step where a_y = phi (x) (e_truth - e_y): v = max(v - theta, 0) - a.

    v = a + (h - top) / xx, top the largest height, so that outputs of that height lose no
    digits where xx is tiny. With a bound on the sum the truth, of height zero, takes what
    is left of it and theta makes the sum right; on a cone theta = S - S0 - top / xx +
    ridge S / xx for the sums S, S0 of new and old a. Outputs at or below theta are
    dropped until none is: theta only grows. The change of a is left in v.
    """
    total, sum_v = 0.0, 0.0
    top = 0.0 if upper < np.inf else -np.inf
    for e in range(m):
        top = max(top, h[e])
    for e in range(m):
        total += a[e]
        v[e] = a[e] + (h[e] - top) / xx
        sum_v += v[e]
    if upper < np.inf:
        left, sum_to, extra, active = max(upper - total, 0.0), upper, 0.0, m + 1
        left -= top / xx
        sum_v += left
    else:
        extra = 1.0 / (1.0 + ridge / xx)
        left, sum_to, active = -np.inf, extra * total + top / (xx + ridge), m
    theta = 0.0
    while active + extra > 0.0:
        theta = (sum_v - sum_to) / (active + extra)
        kept, sum_v = 0, 0.0
        if left > theta:
            kept, sum_v = 1, left
        for e in range(m):
            if v[e] > theta:
                kept += 1
                sum_v += v[e]
        if kept >= active:  # fewer each time, but for rounding
            break
        active = kept
    for e in range(m):
        v[e] = max(v[e] - theta, 0.0) - a[e]


@inner_loop
def _shorten(m, ridge, labels, h, a):
    """Keep the outputs that hold alpha or could gain some; returns how many."""
    total, kept = 0.0, 0
    for e in range(m):
        total += a[e]
    y = labels[m]
    for e in range(m):
        if a[e] > 0.0 or h[e] > ridge * total:
            labels[kept], h[kept], a[kept] = labels[e], h[e], a[e]
            kept += 1
    labels[kept] = y
    return kept


@inner_loop
def _gram(D, C, y, xx, labels, m, K):
    """K[e, f] = <a_u, a_v> for outputs u, v listed."""
    for e in range(m):
        u = labels[e]
        own = D[y, y] - D[u, y]
        for f in range(e + 1):
            v = labels[f]
            K[e, f] = xx * C[y, u] * C[y, v] * (own - D[y, v] + D[u, v])
            K[f, e] = K[e, f]


@inner_loop
def _pair_steps(K, ridge, m, g, a, upper):
    """As steps.pair_steps: the zero plane, the truth's own, has index m."""
    total, top = 0.0, 0.0
    for e in range(m):
        total += a[e]
    for e in range(m):
        g[e] -= ridge * total
        top = max(top, abs(g[e]))
    left = max(upper - total, 0.0)
    for _ in range(STEPS):
        up, best = m, 0.0
        for e in range(m):
            if g[e] > best:
                up, best = e, g[e]
        up_curve = K[up, up] + ridge if up < m else 0.0
        down, gain, move = -1, 0.0, 0.0
        for e in range(m + 1):
            have = left if e == m else a[e]
            rise = best - (0.0 if e == m else g[e])
            if e == up or have <= 0.0 or rise <= 1e-12 * top:
                continue
            curve = up_curve
            if e < m:
                curve += K[e, e] + ridge
                if up < m:
                    curve -= 2.0 * (K[up, e] + ridge)
            size = have
            if curve > 0.0 and rise < size * curve:
                size = rise / curve
            if size == np.inf:
                size = 1e6
            made = size * (rise - 0.5 * size * curve)
            if made > gain:
                down, gain, move = e, made, size
        if down < 0:
            return
        if up < m:
            a[up] += move
            for e in range(m):
                g[e] -= move * (K[up, e] + ridge)
        else:
            left += move
        if down < m:
            a[down] = max(a[down] - move, 0.0)
            for e in range(m):
                g[e] += move * (K[down, e] + ridge)
        else:
            left -= move


@inner_loop
def _box_steps(K, m, g, a, upper):
    """Single steps in the box, the largest rise first."""
    for _ in range(STEPS):
        best, gain, move = -1, 0.0, 0.0
        for e in range(m):
            if K[e, e] > 0.0:
                to = min(max(a[e] + g[e] / K[e, e], 0.0), upper)
            else:
                to = upper if g[e] > 0.0 else 0.0
            size = to - a[e]
            made = size * (g[e] - 0.5 * size * K[e, e])
            if made > gain:
                best, gain, move = e, made, size
        if best < 0:
            return
        a[best] = min(max(a[best] + move, 0.0), upper)
        for e in range(m):
            g[e] -= move * K[best, e]


@inner_loop
def _move(alpha, i, labels, m, h, change, ridge):
    """Alpha += change; returns the rise of the dual but for the curvature of w."""
    rise, before, after = 0.0, 0.0, 0.0
    for e in range(m):
        j = labels[e]
        before += alpha[i, j]
        alpha[i, j] = max(alpha[i, j] + change[e], 0.0)
        after += alpha[i, j]
        rise += change[e] * h[e]
    return rise - 0.5 * ridge * (after * after - before * before)


@inner_loop
def _coefficients(C, lambdas, plain, y, labels, m, change, row):
    """Row with phi (x) row = sum of change * a; if plain, at the labels listed."""
    if plain:
        own = 0.0
        for e in range(m):
            j = labels[e]
            row[j] = -change[e] * C[y, j]
            own -= row[j]
        row[y] = own
        return
    row[:] = 0.0
    for e in range(m):
        j = labels[e]
        amount = change[e] * C[y, j]
        if amount != 0.0:
            for f in range(len(row)):
                row[f] += amount * (lambdas[y, f] - lambdas[j, f])


@inner_loop
def _add(ptr, idx, val, W, i, labels, m, row):
    """Add row[j] * phi(x_i) to the weights of the labels j listed; sparse."""
    start, end, changed = ptr[i], ptr[i + 1], 0
    for e in range(m + 1):
        changed += row[labels[e]] != 0.0
    if m + 1 == len(row) and NEIGHBOURS * changed >= m:
        for p in range(start, end):
            v, own = val[p], W[idx[p]]
            for j in range(len(row)):
                own[j] += v * row[j]
        return
    for e in range(m + 1):
        j = labels[e]
        c = row[j]
        if c != 0.0:
            for p in range(start, end):
                W[idx[p], j] += c * val[p]
