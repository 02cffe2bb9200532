"""The oracle of a chain: fill tables, find the best labels.

The score of labels y_1 .. y_L for tokens x_1 .. x_L is, with K labels and order m,

    sum_t <W[y_t], x_t> + bias[y_t]  +  sum_{t>1} <E[y_{t-1}, y_t], x_t>
    + eta * (start[y_1] + end[y_L] + sum_{j=1..m} sum_{t>j} T_j[y_{t-j}, .., y_t]).

A state is the tuple of the last m labels, the oldest first: s = a * B + b, B = K^(m-1),
where `a` is forgotten next. Viterbi keeps values only; the path is found again from
them at one maximum over `a` per token, so the inner loop is a plain running maximum
over the NEW label, which vectorises.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.arrays import inner
from maxmargin.core.jit import inner_loop, loop


@loop
def best(
    vptr, vidx, vval, ptr, forced, ids, w, layout, pair, first, last, tptr, tdata, cost,
    scale, weight,
):  # fmt: skip
    """Best labels of each id and their score; with a loss if `cost` has rows.

    Then also the score of the truth and the loss of the labels found.
    """
    K, order = layout.labels, layout.order
    total, longest = _lengths(ptr, ids)
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.empty(total, np.int32)
    score, own, loss = np.zeros(len(ids)), np.zeros(len(ids)), np.zeros(len(ids))
    nodes, edges, local, values = _scratch(layout, longest)
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        found = out[out_ptr[q] : out_ptr[q] + L]
        out_ptr[q + 1] = out_ptr[q] + L
        if L == 0:
            continue
        _fill_tables(vptr, vidx, vval, forced, ptr[i], L, w, layout, nodes, edges)
        if len(cost) > 0:
            truth = tdata[tptr[i] : tptr[i] + L]
            own[q] = _path_score(nodes, edges, pair, first, last, truth, K, order)
            factor = weight[i] * scale[q]
            for t in range(L):
                row = cost[truth[t]]
                for k in range(K):
                    nodes[t * K + k] += factor * row[k]
        score[q], state = _forward(
            nodes, edges, pair, first, last, L, K, order, local, values
        )
        _backward(edges, pair, L, K, order, values, state, found)
        if len(cost) > 0:
            for t in range(L):
                loss[q] += cost[truth[t], found[t]]
            loss[q] *= scale[q]
    return out_ptr, out, score, own, loss


@loop
def tables(vptr, vidx, vval, ptr, forced, ids, w, layout):
    """All scores of the ids, for inference on tables."""
    K = layout.labels
    total = _lengths(ptr, ids)[0]
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
    return out_ptr, nodes, edges


@loop
def join(w, layout, eta, legal):
    """For j = 1 .. m scores of label c after j labels s, at [s * K + c]; the ends."""
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


@inner_loop
def _lengths(ptr, ids):
    total, longest = 0, 0
    for i in ids:
        total += ptr[i + 1] - ptr[i]
        longest = max(longest, ptr[i + 1] - ptr[i])
    return total, longest


@inner_loop
def _scratch(layout, longest):
    K, edge = layout.labels, layout.edge >= 0
    states = K**layout.order
    nodes = np.empty(longest * K)
    edges = np.empty(longest * K * K if edge else 0)
    local = np.empty(states * K if edge else 0)
    return nodes, edges, local, np.empty(longest * states)


@inner_loop
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
            out[k] += inner(x, w[k * width : k * width + len(x)])


@inner_loop
def _fill_tables(vptr, vidx, vval, forced, begin, L, w, layout, nodes, edges):
    """Nodes (L, K) and, with edge features, edges (L, K * K), flat."""
    K, width = layout.labels, layout.width
    for k in range(K):
        bias = w[layout.bias + k] if layout.bias >= 0 else 0.0
        for t in range(L):
            nodes[t * K + k] = bias
    edges[: L * K * K if layout.edge >= 0 else 0] = 0.0
    size, out, weights = K, nodes, w
    for _ in range(2 if layout.edge >= 0 else 1):
        for t in range(L):
            row = out[t * size : (t + 1) * size]
            _fill(vptr, vidx, vval, width, begin + t, weights, size, row)
        size, out, weights = K * K, edges, w[layout.edge :]
    for t in range(L if len(forced) > 0 else 0):
        for k in range(K):
            if forced[begin + t] >= 0 and forced[begin + t] != k:
                nodes[t * K + k] = -np.inf


@inner_loop
def _add_edges(pair, edge, K, out):
    """Out = pair + edge scores of (last label of the state, new label)."""
    for s in range(len(pair) // K):
        e = (s % K) * K
        for c in range(K):
            out[s * K + c] = pair[s * K + c] + edge[e + c]


@inner_loop
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


@inner_loop
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


@inner_loop
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


@inner_loop
def _path_score(nodes, edges, pair, first, last, labels, K, order):
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
