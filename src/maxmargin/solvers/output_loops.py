"""Loops of `Enumerated`: visits to examples, their outputs at hand.

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

from maxmargin.arrays import Floats, Ints, Labels, add_scores, fill_scores
from maxmargin.jit import loop

STEPS = 50  # pairwise steps per visit
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


@loop
def squares(ptr, val):
    """Squared length of each vector."""
    out = np.zeros(len(ptr) - 1)
    for i in range(len(out)):
        for p in range(ptr[i], ptr[i + 1]):
            out[i] += val[p] * val[p]
    return out


@loop
def sweep(t, order, held, w, alpha, gaps, closed):
    """Visit the examples in `order`; returns (rise of the dual, work).

    A visit sees all outputs, or only those with alpha > 0 if `held`. Its gap over
    the outputs seen goes to `gaps`; where that is at most `closed`, nothing is done.
    """
    k, z = t.lambdas.shape
    labels, row, coef = np.empty(k, np.int64), np.empty(z), np.empty(z)
    h, g, a, change = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    rise, work = 0.0, 0
    for i in order:
        m = _outputs(t, i, alpha[i], held, labels, a)
        work += m + 1
        _heights(t, i, w, labels, m, row, h)
        gaps[i] = _gap(t, i, m, h, a)
        if gaps[i] <= closed:
            continue
        for e in range(m):
            change[e], g[e] = a[e], h[e]
        if t.even and t.square[i] > 0.0:
            _project(t, i, m, g, a)
        elif t.box:
            _box_steps(t, i, labels, m, g, a)
        else:
            _pair_steps(t, i, labels, m, g, a)
        before, after = 0.0, 0.0
        for e in range(m):
            before += change[e]
            after += a[e]
            change[e] = a[e] - change[e]
            alpha[i, labels[e]] = a[e]
            rise += change[e] * h[e]
        moved = _add(t, i, labels, m, change, coef, w)
        rise -= 0.5 * t.square[i] * moved
        rise -= 0.5 * t.ridge[i] * (after * after - before * before)
    return rise, work


@loop
def sweep_even(t, order, held, w, alpha, gaps, closed):
    """`sweep` for canonical outputs whose planes are not scaled, in one piece.

    The same visits without calls: passing tables costs more than a short visit.
    """
    ptr, idx, val, width = t.ptr, t.idx, t.val, t.width
    truth, b, square, uppers, ridges = t.truth, t.b, t.square, t.upper, t.ridge
    k = alpha.shape[1]
    labels, row = np.empty(k, np.int64), np.empty(k)
    h, v, a = np.empty(k), np.empty(k), np.empty(k)
    sparse = len(idx) > 0
    W = w.reshape((width, k)) if sparse else w.reshape((k, width))
    rise, work = 0.0, 0
    for i in order:
        y, xx, upper, ridge = truth[i], square[i], uppers[i], ridges[i]
        few = 0
        for j in range(k):
            few += alpha[i, j] > 0.0
        few = held and (not sparse or NEIGHBOURS * few < k)
        m, total = 0, 0.0
        for j in range(k):
            if j != y and (alpha[i, j] > 0.0 or not few):
                labels[m] = j
                a[m] = alpha[i, j]
                total += a[m]
                m += 1
        work += m + 1
        labels[m] = y
        if not sparse:
            x = val[ptr[i] : ptr[i + 1]]
            for e in range(m + 1):
                weights, s = W[labels[e]], 0.0
                for f in range(len(x)):
                    s += x[f] * weights[f]
                h[e] = s
        elif few:
            for e in range(m + 1):
                s, j = 0.0, labels[e]
                for p in range(ptr[i], ptr[i + 1]):
                    s += val[p] * W[idx[p], j]
                h[e] = s
        else:
            fill_scores(ptr, idx, val, width, i, w, k, row)
            for e in range(m + 1):
                h[e] = row[labels[e]]
        own = h[m]
        top, inner = 0.0, 0.0
        for e in range(m):
            h[e] += b[y, labels[e]] - own
            top = max(top, h[e])
            inner += a[e] * h[e]
        if upper < np.inf:
            gap = upper * top - inner
        else:
            gap = 0.5 * top * top / ridge + 0.5 * ridge * total * total - inner
        gaps[i] = gap
        if gap <= closed:
            continue
        sum_v, sum_to, extra, active = 0.0, upper, 0.0, m + 1
        for e in range(m):
            v[e] = a[e] + h[e] / xx
            sum_v += v[e]
        v[m] = max(upper - total, 0.0)
        if upper < np.inf:
            sum_v += v[m]
        else:
            extra = 1.0 / (1.0 + ridge / xx)
            v[m], sum_to, active = -np.inf, extra * total, m
        theta = 0.0
        while active + extra > 0.0:
            theta = (sum_v - sum_to) / (active + extra)
            kept, sum_v = 0, 0.0
            for e in range(m + 1):
                if v[e] > theta:
                    kept += 1
                    sum_v += v[e]
            if kept == active:
                break
            active = kept
        after, moved = 0.0, 0.0
        for e in range(m):
            to = max(v[e] - theta, 0.0)
            after += to
            alpha[i, labels[e]] = to
            v[e] = a[e] - to
            rise -= v[e] * h[e]
            moved += v[e] * v[e]
        v[m] = after - total
        moved += v[m] * v[m]
        rise -= 0.5 * xx * moved + 0.5 * ridge * (after * after - total * total)
        changed = 0
        for e in range(m + 1):
            changed += v[e] != 0.0
            row[labels[e]] = v[e]
        if sparse and not few and NEIGHBOURS * changed >= k:
            for p in range(ptr[i], ptr[i + 1]):
                weights = W[idx[p]]
                for j in range(k):
                    weights[j] += val[p] * row[j]
            continue
        for e in range(m + 1):
            c, j = v[e], labels[e]
            if c == 0.0:
                continue
            if sparse:
                for p in range(ptr[i], ptr[i + 1]):
                    W[idx[p], j] += c * val[p]
            else:
                x, weights = val[ptr[i] : ptr[i + 1]], W[j]
                for f in range(len(x)):
                    weights[f] += c * x[f]
    return rise, work


@loop
def slacks(t, w):
    """Slack of each example at w; with the box, the sum over outputs."""
    k, z = t.lambdas.shape
    labels, row, h, a = np.empty(k, np.int64), np.empty(z), np.empty(k), np.empty(k)
    out, zero = np.zeros(len(t.truth)), np.zeros(k)
    for i in range(len(out)):
        m = _outputs(t, i, zero, False, labels, a)
        _heights(t, i, w, labels, m, row, h)
        for e in range(m):
            if t.box:
                out[i] += max(h[e], 0.0)
            else:
                out[i] = max(out[i], h[e])
    return out


@loop
def weights(t, alpha, w):
    """W += sum of alpha * a."""
    k, z = t.lambdas.shape
    labels, coef, a = np.empty(k, np.int64), np.empty(z), np.empty(k)
    for i in range(len(t.truth)):
        m = _outputs(t, i, alpha[i], True, labels, a)
        _add(t, i, labels, m, a, coef, w)


@loop
def _outputs(t, i, alpha, held, labels, a):
    """List the outputs other than the truth, and their alpha; returns how many."""
    m, y = 0, t.truth[i]
    for j in range(len(alpha)):
        if j != y and (alpha[j] > 0.0 or not held):
            labels[m] = j
            a[m] = alpha[j]
            m += 1
    return m


@loop
def _score(t, i, w, j):
    """<phi(x_i), weights of output j>, outputs canonical."""
    s, start, end = 0.0, t.ptr[i], t.ptr[i + 1]
    if len(t.idx) > 0:
        column = w.reshape((t.width, len(t.lambdas)))[:, j]
        for p in range(start, end):
            s += t.val[p] * column[t.idx[p]]
    else:
        x, weights = t.val[start:end], w[j * t.width : (j + 1) * t.width]
        for f in range(len(x)):
            s += x[f] * weights[f]
    return s


@loop
def _heights(t, i, w, labels, m, row, h):
    """h[e] = b - <a, w> of output labels[e] of example i."""
    k, z = t.lambdas.shape
    y = t.truth[i]
    if t.plain and (2 * m < k or len(t.idx) == 0):
        own = _score(t, i, w, y)
        for e in range(m):
            h[e] = _score(t, i, w, labels[e])
    else:
        fill_scores(t.ptr, t.idx, t.val, t.width, i, w, z, row)
        own = row[y] if t.plain else _combine(t.lambdas[y], row)
        for e in range(m):
            j = labels[e]
            h[e] = row[j] if t.plain else _combine(t.lambdas[j], row)
    for e in range(m):
        j = labels[e]
        h[e] = t.b[y, j] - t.c[y, j] * (own - h[e])


@loop
def _combine(features, row):
    s = 0.0
    for e in range(len(row)):
        s += features[e] * row[e]
    return s


@loop
def _add(t, i, labels, m, change, coef, w):
    """W += sum of change * a; returns ||that||^2 / ||phi||^2. `coef` is scratch."""
    z, y = t.lambdas.shape[1], t.truth[i]
    for e in range(z):
        coef[e] = 0.0
    for e in range(m):
        j = labels[e]
        amount = change[e] * t.c[y, j]
        if amount != 0.0:
            if t.plain:
                coef[y] += amount
                coef[j] -= amount
            else:
                for f in range(z):
                    coef[f] += amount * (t.lambdas[y, f] - t.lambdas[j, f])
    add_scores(t.ptr, t.idx, t.val, t.width, i, coef, z, w)
    return _combine(coef, coef)


@loop
def _gap(t, i, m, h, a):
    """Exact gap over the outputs listed (hard margins: a KKT measure)."""
    top, inner, total, summed, worst = 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(m):
        top = max(top, h[e])
        summed += max(h[e], 0.0)
        inner += a[e] * h[e]
        total += a[e]
        if a[e] > 0.0:
            worst = max(worst, -h[e])
    upper, ridge = t.upper[i], t.ridge[i]
    if t.box:
        return upper * summed - inner
    if upper < np.inf:
        return upper * top - inner
    if ridge > 0.0:
        return 0.5 * top * top / ridge + 0.5 * ridge * total * total - inner
    return max(top, worst) * (1.0 + total)


@loop
def _project(t, i, m, g, a):
    """Exact step where a_y = phi (x) (e_truth - e_y): a = max(v - theta, 0).

    `g` holds the heights at `a`. With a bound on the sum the truth takes what is left
    of it and theta makes the sum right; on a cone theta = S - S0 + ridge S / ||phi||^2
    for the sums S, S0 of new and old a. Outputs at or below theta are dropped until
    none is: theta only grows.
    """
    xx, upper = t.square[i], t.upper[i]
    total, sum_v = 0.0, 0.0
    for e in range(m):
        total += a[e]
        g[e] = a[e] + g[e] / xx
        sum_v += g[e]
    left, sum_to, extra, active = -np.inf, 0.0, 0.0, m
    if upper < np.inf:
        left, sum_to, active = max(upper - total, 0.0), upper, m + 1
        sum_v += left
    else:
        extra = 1.0 / (1.0 + t.ridge[i] / xx)
        sum_to = extra * total
    theta = 0.0
    while active + extra > 0.0:
        theta = (sum_v - sum_to) / (active + extra)
        kept, sum_v = 0, 0.0
        if left > theta:
            kept, sum_v = 1, left
        for e in range(m):
            if g[e] > theta:
                kept += 1
                sum_v += g[e]
        if kept == active:
            break
        active = kept
    for e in range(m):
        a[e] = max(g[e] - theta, 0.0)


@loop
def _curve(t, y, u, v):
    """<a_u, a_v> / ||phi||^2 for outputs u, v of an example with truth y."""
    inner = t.inner[y, y] - t.inner[y, v] - t.inner[u, y] + t.inner[u, v]
    return t.c[y, u] * t.c[y, v] * inner


@loop
def _pair_steps(t, i, labels, m, g, a):
    """As steps.pair_steps, with the Gram matrix formed on the way.

    The zero plane, which is the truth's own, has index m.
    """
    y, xx, ridge = t.truth[i], t.square[i], t.ridge[i]
    total, top = 0.0, 0.0
    for e in range(m):
        total += a[e]
    for e in range(m):
        g[e] -= ridge * total
        top = max(top, abs(g[e]))
    left = max(t.upper[i] - total, 0.0)
    for _ in range(STEPS):
        up, best = m, 0.0
        for e in range(m):
            if g[e] > best:
                up, best = e, g[e]
        u = labels[up] if up < m else y
        up_curve = xx * _curve(t, y, u, u) + ridge if up < m else 0.0
        down, gain, move = -1, 0.0, 0.0
        for e in range(m + 1):
            have = left if e == m else a[e]
            rise = best - (0.0 if e == m else g[e])
            if e == up or have <= 0.0 or rise <= 1e-12 * top:
                continue
            curve = up_curve
            if e < m:
                v = labels[e]
                curve += xx * _curve(t, y, v, v) + ridge
                if up < m:
                    curve -= 2.0 * (xx * _curve(t, y, u, v) + ridge)
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
                g[e] -= move * (xx * _curve(t, y, labels[e], u) + ridge)
        else:
            left += move
        if down < m:
            a[down] = max(a[down] - move, 0.0)
            v = labels[down]
            for e in range(m):
                g[e] += move * (xx * _curve(t, y, labels[e], v) + ridge)
        else:
            left -= move


@loop
def _box_steps(t, i, labels, m, g, a):
    """Single steps in the box, the largest rise first."""
    y, xx, upper = t.truth[i], t.square[i], t.upper[i]
    for _ in range(STEPS):
        best, gain, move = -1, 0.0, 0.0
        for e in range(m):
            own = xx * _curve(t, y, labels[e], labels[e])
            if own > 0.0:
                to = min(max(a[e] + g[e] / own, 0.0), upper)
            else:
                to = upper if g[e] > 0.0 else a[e]
            size = to - a[e]
            made = size * (g[e] - 0.5 * size * own)
            if made > gain:
                best, gain, move = e, made, size
        if best < 0:
            return
        a[best] = min(max(a[best] + move, 0.0), upper)
        for e in range(m):
            g[e] -= move * xx * _curve(t, y, labels[e], labels[best])
