"""The loops of a chain: fill tables, find the best labels, write differences.

The score of labels y_1 .. y_L for tokens x_1 .. x_L is, with K labels and order m,

    sum_t <W[y_t], x_t> + bias[y_t]  +  start[y_1] + end[y_L]
    + eta * sum_{j=1..m} sum_{t>j} T_j[y_{t-j}, .., y_t]  +  sum_{t>1} <E[y_{t-1}, y_t], x_t>

A state is the tuple of the last m labels, the oldest first: s = a * B + b, B = K^(m-1),
where `a` is forgotten next. Viterbi keeps values only; the path is found again from
them at one maximum over `a` per token, so the inner loop is a plain running maximum
over the NEW label, which vectorises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.jit import loop


class Layout(NamedTuple):
    """Where the parts of a chain's weights begin; -1 where a part is absent."""

    labels: int  # K
    order: int  # m
    width: int  # input features F; their weights (F * K) come first
    pairs: int  # T_1 (K^2), T_2 (K^3), .. T_m
    start: int  # (K,)
    end: int  # (K,)
    bias: int  # (K,)
    edge: int  # E, the weights of F features and K^2 "labels"
    dim: int


@loop
def cuts(
    vptr,
    vidx,
    vval,
    ptr,
    forced,
    ids,
    w,
    layout,
    eta,
    legal,
    tptr,
    tdata,
    cost,
    scale,
    weight,
):
    """Best loss-augmented labels of each id, and psi(truth) - psi(best) as rows."""
    K = layout.labels
    total, longest = _lengths(ptr, ids)
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.empty(total, np.int32)
    delta, bound = np.zeros(len(ids)), np.zeros(len(ids))
    pair, first, last = join(w, layout, eta, legal)
    nodes, edges, local, values = _scratch(layout, longest)
    size = 0
    for q in range(len(ids)):
        i = ids[q]
        begin, L = ptr[i], ptr[i + 1] - ptr[i]
        found = out[out_ptr[q] : out_ptr[q] + L]
        truth = tdata[tptr[i] : tptr[i] + L]
        out_ptr[q + 1] = out_ptr[q] + L
        if L == 0:
            continue
        _fill_tables(vptr, vidx, vval, forced, begin, L, w, layout, nodes, edges)
        own = path_score(nodes, edges, pair, first, last, truth, K, layout.order)
        factor = weight[i] * scale[q]
        for t in range(L):
            row = cost[truth[t]]
            for k in range(K):
                nodes[t * K + k] += factor * row[k]
        best, state = _forward(
            nodes, edges, pair, first, last, L, K, layout.order, local, values
        )
        _backward(edges, pair, L, K, layout.order, values, state, found)
        bound[q] = best - own
        for t in range(L):
            delta[q] += cost[truth[t], found[t]]
        delta[q] *= scale[q]
        size += _room(vptr, begin, truth, found, layout)
    row_ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        i = ids[q]
        found = out[out_ptr[q] : out_ptr[q + 1]]
        truth = tdata[tptr[i] : tptr[i] + len(found)]
        m = _write(vptr, vidx, vval, ptr[i], truth, found, layout, eta, idx, val, m)
        row_ptr[q + 1] = m
    return out_ptr, out, row_ptr, idx[:m], val[:m], delta, bound


@loop
def argmax(
    vptr, vidx, vval, ptr, forced, ids, w, layout, eta, legal, tptr, tdata, cost, factor
):
    """Best labels of each id and their score; with a loss table if `cost` has rows."""
    K = layout.labels
    total, longest = _lengths(ptr, ids)
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.empty(total, np.int32)
    score = np.zeros(len(ids))
    pair, first, last = join(w, layout, eta, legal)
    nodes, edges, local, values = _scratch(layout, longest)
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        out_ptr[q + 1] = out_ptr[q] + L
        if L == 0:
            continue
        _fill_tables(vptr, vidx, vval, forced, ptr[i], L, w, layout, nodes, edges)
        if len(cost) > 0:
            for t in range(L):
                row = cost[tdata[tptr[i] + t]]
                for k in range(K):
                    nodes[t * K + k] += factor[q] * row[k]
        score[q], state = _forward(
            nodes, edges, pair, first, last, L, K, layout.order, local, values
        )
        _backward(
            edges,
            pair,
            L,
            K,
            layout.order,
            values,
            state,
            out[out_ptr[q] : out_ptr[q + 1]],
        )
    return out_ptr, out, score


@loop
def tables(vptr, vidx, vval, ptr, forced, ids, w, layout, eta, legal):
    """All scores of the ids, for inference on tables: nodes, edges, pair, first, last."""
    K = layout.labels
    total, longest = _lengths(ptr, ids)
    out_ptr, nodes = np.zeros(len(ids) + 1, np.int64), np.empty(total * K)
    edges = np.empty(total * K * K if layout.edge >= 0 else 0)
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        a, b = out_ptr[q], out_ptr[q] + L
        out_ptr[q + 1] = b
        here = edges[a * K * K : b * K * K] if layout.edge >= 0 else edges
        _fill_tables(
            vptr, vidx, vval, forced, ptr[i], L, w, layout, nodes[a * K : b * K], here
        )
    pair, first, last = join(w, layout, eta, legal)
    return out_ptr, nodes, edges, pair, first, last


@loop
def differences(vptr, vidx, vval, ptr, ids, layout, eta, aptr, adata, bptr, bdata):
    """psi(row q of a) - psi(row q of b) for each id; a coordinate may occur again."""
    size = 0
    for q in range(len(ids)):
        one, two = adata[aptr[q] : aptr[q + 1]], bdata[bptr[q] : bptr[q + 1]]
        size += _room(vptr, ptr[ids[q]], one, two, layout)
    row_ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        one, two = adata[aptr[q] : aptr[q + 1]], bdata[bptr[q] : bptr[q + 1]]
        m = _write(vptr, vidx, vval, ptr[ids[q]], one, two, layout, eta, idx, val, m)
        row_ptr[q + 1] = m
    return row_ptr, idx[:m], val[:m]


@loop
def _lengths(ptr, ids):
    total, longest = 0, 0
    for i in ids:
        total += ptr[i + 1] - ptr[i]
        longest = max(longest, ptr[i + 1] - ptr[i])
    return total, longest


@loop
def _scratch(layout, longest):
    K, edge = layout.labels, layout.edge >= 0
    states = K**layout.order
    nodes = np.empty(longest * K)
    edges = np.empty(longest * K * K if edge else 0)
    local = np.empty(states * K if edge else 0)
    return nodes, edges, local, np.empty(longest * states)


@loop
def join(w, layout, eta, legal):
    """pair: for j = 1 .. m the score of c after j labels s, at [s * K + c]; the ends."""
    K, order = layout.labels, layout.order
    size, rows = 0, 1
    for _ in range(order):
        rows *= K
        size += rows * K
    pair = np.empty(size)
    at, below, rows = 0, 0, 1
    for j in range(order):
        rows *= K
        for s in range(rows):
            short = below + (s % (rows // K)) * K
            for c in range(K):
                v = eta * w[layout.pairs + at + s * K + c]
                if j > 0:
                    v += pair[short + c]
                elif len(legal) > 0:
                    v += legal[s * K + c]
                pair[at + s * K + c] = v
        below = at
        at += rows * K
    first, last = np.zeros(K), np.zeros(K)
    for k in range(K):
        if layout.start >= 0:
            first[k] = eta * w[layout.start + k]
        if layout.end >= 0:
            last[k] = eta * w[layout.end + k]
        if len(legal) > 0:
            first[k] += legal[K * K + k]
            last[k] += legal[K * K + K + k]
    return pair, first, last


@loop
def _fill(vptr, vidx, vval, width, r, w, K, out):
    """out[:K] += <vector r, weights of each label>; four features at a time."""
    p, stop = vptr[r], vptr[r + 1]
    if len(vidx) > 0:
        while p + 4 <= stop:
            a, b = np.int64(vidx[p]) * K, np.int64(vidx[p + 1]) * K
            c, d = np.int64(vidx[p + 2]) * K, np.int64(vidx[p + 3]) * K
            wa, wb, wc, wd = w[a : a + K], w[b : b + K], w[c : c + K], w[d : d + K]
            va, vb, vc, vd = vval[p], vval[p + 1], vval[p + 2], vval[p + 3]
            for k in range(K):
                out[k] += (va * wa[k] + vb * wb[k]) + (vc * wc[k] + vd * wd[k])
            p += 4
        while p < stop:
            a = np.int64(vidx[p]) * K
            wa, va = w[a : a + K], vval[p]
            for k in range(K):
                out[k] += va * wa[k]
            p += 1
    else:
        x = vval[p:stop]
        for k in range(K):
            weights = w[k * width : k * width + len(x)]
            s = 0.0
            for f in range(len(x)):
                s += x[f] * weights[f]
            out[k] += s


@loop
def _fill_tables(vptr, vidx, vval, forced, begin, L, w, layout, nodes, edges):
    """Nodes (L, K) and, with edge features, edges (L, K * K), flat."""
    K, width = layout.labels, layout.width
    for t in range(L):
        row = nodes[t * K : t * K + K]
        if layout.bias >= 0:
            row[:] = w[layout.bias : layout.bias + K]
        else:
            row[:] = 0.0
        _fill(vptr, vidx, vval, width, begin + t, w, K, row)
        if len(forced) > 0 and forced[begin + t] >= 0:
            for k in range(K):
                if k != forced[begin + t]:
                    row[k] = -np.inf
        if layout.edge >= 0:
            row = edges[t * K * K : (t + 1) * K * K]
            row[:] = 0.0
            _fill(vptr, vidx, vval, width, begin + t, w[layout.edge :], K * K, row)


@loop
def _add_edges(pair, edge, K, out):
    """Out = pair + edge scores of (last label of the state, new label)."""
    for s in range(len(pair) // K):
        e = (s % K) * K
        for c in range(K):
            out[s * K + c] = pair[s * K + c] + edge[e + c]


@loop
def _step(prev, pair, K, B, cur):
    """cur[b, c] = max_a prev[a, b] + pair[a, b, c]."""
    for b in range(B):
        best = cur[b * K : b * K + K]
        p, row = prev[b], pair[b * K : b * K + K]
        for c in range(K):
            best[c] = p + row[c]
        a = 1
        while a + 4 <= K:
            s0, s1, s2, s3 = (
                a * B + b,
                (a + 1) * B + b,
                (a + 2) * B + b,
                (a + 3) * B + b,
            )
            p0, p1, p2, p3 = prev[s0], prev[s1], prev[s2], prev[s3]
            r0, r1 = pair[s0 * K : s0 * K + K], pair[s1 * K : s1 * K + K]
            r2, r3 = pair[s2 * K : s2 * K + K], pair[s3 * K : s3 * K + K]
            for c in range(K):
                v0, v1, v2, v3 = p0 + r0[c], p1 + r1[c], p2 + r2[c], p3 + r3[c]
                v0 = v0 if v0 > v1 else v1
                v2 = v2 if v2 > v3 else v3
                v0 = v0 if v0 > v2 else v2
                best[c] = v0 if v0 > best[c] else best[c]
            a += 4
        while a < K:
            s = a * B + b
            p, row = prev[s], pair[s * K : s * K + K]
            for c in range(K):
                v = p + row[c]
                best[c] = v if v > best[c] else best[c]
            a += 1


@loop
def _forward(nodes, edges, pair, first, last, L, K, order, local, values):
    """Best value of each state at each token; returns the best of all and its state."""
    states = K**order
    for k in range(K):
        values[k] = first[k] + nodes[k]
    rows, at = 1, 0
    for t in range(1, L):
        prev, cur = (
            values[(t - 1) * states : t * states],
            values[t * states : (t + 1) * states],
        )
        if t <= order:
            at += rows * K if t > 1 else 0
            rows *= K
        score = pair[at : at + rows * K]
        if len(edges) > 0:
            _add_edges(score, edges[t * K * K : (t + 1) * K * K], K, local)
            score = local[: rows * K]
        node = nodes[t * K : t * K + K]
        if t < order:
            for s in range(rows):
                for c in range(K):
                    cur[s * K + c] = prev[s] + score[s * K + c] + node[c]
        else:
            _step(prev, score, K, rows // K, cur)
            for b in range(rows // K):
                for c in range(K):
                    cur[b * K + c] += node[c]
    ended = states if order <= L else K**L
    best, state = -np.inf, 0
    tip = values[(L - 1) * states : L * states]
    for s in range(ended):
        v = tip[s] + last[s % K]
        if v > best:
            best, state = v, s
    return best, state


@loop
def _backward(edges, pair, L, K, order, values, state, out):
    """Labels of the best path that ends in `state`."""
    states = K**order
    B = states // K
    full = pair[len(pair) - states * K :]
    s = state
    t = L - 1
    while t >= order:
        c, b = s % K, s // K
        prev = values[(t - 1) * states : t * states]
        best, arg = -np.inf, 0
        for a in range(K):
            v = prev[a * B + b] + full[(a * B + b) * K + c]
            if len(edges) > 0:
                v += edges[t * K * K + ((a * B + b) % K) * K + c]
            if v > best:
                best, arg = v, a
        out[t] = c
        s = arg * B + b
        t -= 1
    while t >= 0:
        out[t] = s % K
        s //= K
        t -= 1


@loop
def path_score(nodes, edges, pair, first, last, labels, K, order):
    """Score of given labels (at least one)."""
    L = len(labels)
    total = first[labels[0]] + nodes[labels[0]] + last[labels[L - 1]]
    rows, at, s = 1, 0, np.int64(labels[0])
    for t in range(1, L):
        if t <= order:
            at += rows * K if t > 1 else 0
            rows *= K
        total += pair[at + s * K + labels[t]] + nodes[t * K + labels[t]]
        if len(edges) > 0:
            total += edges[t * K * K + labels[t - 1] * K + labels[t]]
        s = (s * K + labels[t]) % (rows * K if t < order else rows)
    return total


@loop
def _room(vptr, begin, one, two, layout):
    """An upper bound on the entries of psi(one) - psi(two); two may be empty."""
    size, L = 0, len(one)
    if layout.start >= 0 or layout.end >= 0:
        size += 4
    for t in range(L):
        if len(two) == 0 or one[t] != two[t]:
            here = vptr[begin + t + 1] - vptr[begin + t]
            size += 2 * here + 2 + (layout.order + 1) * (layout.order + 2)
            if layout.edge >= 0:
                after = vptr[begin + t + 2] - vptr[begin + t + 1] if t + 1 < L else 0
                size += 2 * (here + after)
    return size


@loop
def _write(vptr, vidx, vval, begin, one, two, layout, eta, idx, val, m):
    """Write psi(one) - psi(two) from place m on; returns the place after it."""
    K, L, width, plain = layout.labels, len(one), layout.width, len(two) == 0
    if L == 0:
        return m
    run = layout.order + 1  # tokens since the last difference
    for t in range(L):
        run += 1
        y = np.int64(one[t])
        o = y if plain else np.int64(two[t])
        if plain or y != o:
            run = 0
            m = _write_node(
                vptr, vidx, vval, width, begin + t, 0, K, y, o, plain, idx, val, m
            )
            if layout.bias >= 0:
                m = _put(layout.bias + y, layout.bias + o, 1.0, plain, idx, val, m)
        at, rows, power, sy, so = layout.pairs, 1, 1, y, o
        for j in range(1, min(layout.order, t) + 1):
            power *= K
            rows *= K
            sy += np.int64(one[t - j]) * power
            so += np.int64(one[t - j] if plain else two[t - j]) * power
            if run <= j:
                m = _put(at + sy, at + so, eta, plain, idx, val, m)
            at += rows * K
        if layout.edge >= 0 and t > 0 and run <= 1:
            sy = one[t - 1] * K + y
            so = sy if plain else two[t - 1] * K + o
            m = _write_node(
                vptr,
                vidx,
                vval,
                width,
                begin + t,
                layout.edge,
                K * K,
                sy,
                so,
                plain,
                idx,
                val,
                m,
            )
    for part, t in ((layout.start, 0), (layout.end, L - 1)):
        if part >= 0 and (plain or one[t] != two[t]):
            o = one[t] if plain else two[t]
            m = _put(part + one[t], part + o, eta, plain, idx, val, m)
    return m


@loop
def _put(plus, minus, value, plain, idx, val, m):
    idx[m], val[m] = plus, value
    if plain:
        return m + 1
    idx[m + 1], val[m + 1] = minus, -value
    return m + 2


@loop
def _write_node(vptr, vidx, vval, width, r, base, K, y, o, plain, idx, val, m):
    sparse = len(vidx) > 0
    for p in range(vptr[r], vptr[r + 1]):
        f = np.int64(vidx[p]) if sparse else p - vptr[r]
        v = vval[p]
        if v == 0.0:
            continue
        if sparse:
            m = _put(base + f * K + y, base + f * K + o, v, plain, idx, val, m)
        else:
            m = _put(base + y * width + f, base + o * width + f, v, plain, idx, val, m)
    return m
