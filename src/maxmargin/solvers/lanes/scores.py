"""Scores of tokens and label tuples at the weights of a lane, and changes of these.

Leaf loops that `loops.py` calls; the arrays are described there.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import inner
from maxmargin.core.jit import inner_loop

FEW = 6  # labels of a token are looked at one by one if they are 1 / FEW of all or less


@inner_loop
def fill(inputs, lane, layout, begin, low, high, out):
    """Scores of all labels at the tokens from `low` to `high` - 1."""
    ptr, idx, val, w = inputs.ptr, inputs.idx, inputs.val, lane.w
    K, bias, width = layout.labels, layout.bias, layout.width
    for t in range(low, high):
        r = begin + t
        row = out[t * K : t * K + K]
        for k in range(K):
            row[k] = lane.tail[bias + k] if bias >= 0 else 0.0
        if len(idx) == 0:
            x = val[ptr[r] : ptr[r + 1]]
            for k in range(K):
                row[k] += inner(x, w[k * width : k * width + len(x)])
        else:
            _sum_rows(idx, val, ptr[r], ptr[r + 1], w, K, row)


@inner_loop
def note(lane, t, K, k, d):
    """Put label k of token t on the list of the token; its change grows by d."""
    m = lane.number[t]
    for j in range(t * K, t * K + m):
        if lane.columns[j] == k:
            lane.change[j] += d
            return
    lane.columns[t * K + m], lane.change[t * K + m] = k, d
    lane.number[t] = m + 1


@inner_loop
def fill_listed(inputs, lane, layout, begin, low, high, out):
    """Scores of the labels on the lists of tokens, which are emptied; their number."""
    ptr, idx, val, w = inputs.ptr, inputs.idx, inputs.val, lane.w
    K, bias, width, filled = layout.labels, layout.bias, layout.width, np.int64(0)
    for t in range(low, high):
        m = np.int64(lane.number[t])
        if m == 0:
            continue
        lane.number[t], r = 0, begin + t
        filled += m
        if len(idx) > 0 and m * FEW > K:
            fill(inputs, lane, layout, begin, t, t + 1, out)
            continue
        for j in range(t * K, t * K + m):
            k = np.int64(lane.columns[j])
            v = lane.tail[bias + k] if bias >= 0 else 0.0
            if len(idx) == 0:
                x = val[ptr[r] : ptr[r + 1]]
                v += inner(x, w[k * width : k * width + len(x)])
            else:
                v += _column(idx, val, ptr[r], ptr[r + 1], w, K, k)
            out[t * K + k] = v
    return filled


@inner_loop
def _column(idx, val, p, stop, w, K, k):
    """The sum of val * w[feature, k]."""
    one, two = 0.0, 0.0
    while p + 2 <= stop:
        one += val[p] * w[np.int64(idx[p]) * K + k]
        two += val[p + 1] * w[np.int64(idx[p + 1]) * K + k]
        p += 2
    if p < stop:
        one += val[p] * w[np.int64(idx[p]) * K + k]
    return one + two


@inner_loop
def _sum_rows(idx, val, p, stop, w, K, row):
    """Add the sum of val * rows of w to `row`, four features at a time."""
    while p + 4 <= stop:
        a, b = np.int64(idx[p]) * K, np.int64(idx[p + 1]) * K
        c, d = np.int64(idx[p + 2]) * K, np.int64(idx[p + 3]) * K
        wa, wb, wc, wd = w[a : a + K], w[b : b + K], w[c : c + K], w[d : d + K]
        va, vb, vc, vd = val[p], val[p + 1], val[p + 2], val[p + 3]
        for k in range(K):
            row[k] += (va * wa[k] + vb * wb[k]) + (vc * wc[k] + vd * wd[k])
        p += 4
    while p < stop:
        a, v = np.int64(idx[p]) * K, val[p]
        wa = w[a : a + K]
        for k in range(K):
            row[k] += v * wa[k]
        p += 1


@inner_loop
def add(inputs, lane, layout, begin, low, high):
    """Add x_t (x) change_t to the weights for labels on the lists, which are emptied.

    Shared weights change `times` as much. Where there is a log, changes of the others
    are noted in it.
    """
    ptr, mid, idx, val = inputs.ptr, inputs.mid, inputs.idx, inputs.val
    K, bias, width, w = layout.labels, layout.bias, layout.width, lane.w
    for t in range(low, high):
        m = np.int64(lane.number[t])
        if m == 0:
            continue
        lane.number[t], r = 0, begin + t
        columns = lane.columns[t * K : t * K + m]
        row = lane.change[t * K : t * K + m]
        if bias >= 0:
            for j in range(m):
                lane.tail[bias + columns[j]] += lane.times * row[j]
        if len(idx) == 0:
            x = val[ptr[r] : ptr[r + 1]]
            for j in range(m):
                k, d = np.int64(columns[j]), lane.times * row[j]
                wk = w[k * width : k * width + len(x)]
                for f in range(len(x)):
                    wk[f] += d * x[f]
            continue
        add_rows(idx, val, ptr[r], mid[r], columns, row, lane.times, w, K)
        if mid[r] < ptr[r + 1]:
            add_rows(idx, val, mid[r], ptr[r + 1], columns, row, 1.0, w, K)
            if len(lane.log_from) > 0:
                _put_into_log(lane, idx, val, mid[r], ptr[r + 1], columns, row)


@inner_loop
def _put_into_log(lane, idx, val, start, stop, columns, row):
    e = lane.logged[0]
    at, to = lane.log_at[e], lane.log_from[e]
    for j in range(len(columns)):
        lane.log_column[at + j], lane.log_change[at + j] = columns[j], row[j]
    for p in range(start, stop):
        lane.log_feature[to], lane.log_value[to] = idx[p], val[p]
        to += 1
    lane.log_from[e + 1], lane.log_at[e + 1] = to, at + len(columns)
    lane.logged[0] = e + 1


@inner_loop
def add_rows(idx, val, start, stop, columns, row, factor, w, K):
    """Add factor * val (x) row to some columns of w for the features in a range."""
    if len(columns) == 2:  # as most often
        one, two = np.int64(columns[0]), np.int64(columns[1])
        d, e = factor * row[0], factor * row[1]
        for p in range(start, stop):
            a, v = np.int64(idx[p]) * K, val[p]
            w[a + one] += v * d
            w[a + two] += v * e
        return
    for p in range(start, stop):
        a, v = np.int64(idx[p]) * K, factor * val[p]
        for j in range(len(columns)):
            w[a + columns[j]] += v * row[j]


@inner_loop
def tuples(layout, truth, labels, a, T, at, low, high, w, amount):
    """<tuples of the truth less those of an island, w>; also w += amount * them.

    Tokens of the example are a .. a + T - 1; labels[at + t - low] are those of the
    island, from its token `low` to `high`, counted from the example's first.
    """
    K, order = layout.labels, layout.order
    total = 0.0
    for t in range(low, min(high + order + 1, T)):
        one, rows = layout.pairs, 1
        y = np.int64(truth[a + t])
        o = np.int64(labels[at + t - low]) if t <= high else y
        ty, to, same = y, o, y == o
        for j in range(1, min(order, t) + 1):
            rows *= K
            y = np.int64(truth[a + t - j])
            o = np.int64(labels[at + t - j - low]) if low <= t - j <= high else y
            same = same and y == o
            ty += y * rows
            to += o * rows
            if not same:
                total += w[one + ty] - w[one + to]
                if amount != 0.0:
                    w[one + ty] += amount
                    w[one + to] -= amount
            one += rows * K
        for part in range(2):
            end = layout.end if part else layout.start
            if end >= 0 and t == part * (T - 1) and t <= high:
                y, o = truth[a + t], labels[at + t - low]
                if y != o:
                    total += w[end + y] - w[end + o]
                    if amount != 0.0:
                        w[end + y] += amount
                        w[end + o] -= amount
    return total


@inner_loop
def product(share, truth, a, one, at1, low1, high1, two, at2, low2, high2):
    """Inner product of two islands of a block that begins at token a, tuples apart."""
    out = 0.0
    for t in range(low1, high1 + 1):
        y, o = truth[a + t], one[at1 + t - low1]
        if y == o:
            continue
        for u in range(low2, high2 + 1):
            z, p = truth[a + u], two[at2 + u - low2]
            if z == p:
                continue
            c = np.int64(y == z) - np.int64(y == p) - np.int64(o == z)
            c += np.int64(o == p)
            if c != 0:
                r = t * (t + 1) // 2 + u if u <= t else u * (u + 1) // 2 + t
                out += c * share[r]
    return out


@inner_loop
def products_at(share, truth, a, labels, at, low, high, first, last, K, table):
    """Products of an island with each label at the tokens from `first` to `last`.

    That of label k at token u comes to table[u * K + k]; arguments as in `product`.
    """
    for e in range(first * K, (last + 1) * K):
        table[e] = 0.0
    for t in range(low, high + 1):
        y, o = np.int64(truth[a + t]), np.int64(labels[at + t - low])
        if y == o:
            continue
        for u in range(first, last + 1):
            r = t * (t + 1) // 2 + u if u <= t else u * (u + 1) // 2 + t
            table[u * K + y] += share[r]
            table[u * K + o] -= share[r]


@inner_loop
def product_from(table, truth, a, labels, at, low, high, K):
    """Inner product with an island by what `products_at` has made, tuples apart."""
    out = 0.0
    for u in range(low, high + 1):
        z, p = np.int64(truth[a + u]), np.int64(labels[at + u - low])
        if z != p:
            out += table[u * K + z] - table[u * K + p]
    return out


@inner_loop
def group_step(G, room, m, g, alpha, group, j0, upper, stretch, tiny, least):
    """The best pairwise step in the group of island j0, in place; the rise it makes.

    There is none where slopes are below `tiny`, or where it would rise `least` or less.
    """
    left, up, best, mine = upper, m, 0.0, group[j0]
    for j in range(j0, m):
        if group[j] == mine:
            left -= alpha[j]
            if g[j] > best:
                up, best = j, g[j]
    left = max(left, 0.0)
    curve_up = G[up * room + up] if up < m else 0.0
    down, gain, move = -1, least, 0.0
    for j in range(j0, m + 1):
        if j == up or (j < m and group[j] != mine):
            continue
        have = alpha[j] if j < m else left
        rise = best - (g[j] if j < m else 0.0)
        if have <= 0.0 or rise <= tiny:
            continue
        curve = curve_up
        if j < m:
            curve += G[j * room + j]
            if up < m:
                curve = max(curve - 2.0 * G[up * room + j], 1e-7 * curve)
        curve *= stretch
        size = have
        if curve > 0.0 and rise < size * curve:
            size = rise / curve
        made = size * (rise - 0.5 * size * curve)
        if made > gain:
            down, gain, move = j, made, size
    if down < 0:
        return 0.0
    if up < m:
        alpha[up] += move
        for j in range(m):
            g[j] -= stretch * move * G[up * room + j]
    if down < m:
        alpha[down] -= move
        if alpha[down] < 1e-15 * move:
            alpha[down] = 0.0
        for j in range(m):
            g[j] += stretch * move * G[down * room + j]
    return gain
