"""The oracle of a chain: fill tables, find the best labels.

The score of labels y_1 .. y_L for tokens x_1 .. x_L is, with K labels and order m,

    sum_t <W[y_t], x_t> + bias[y_t]  +  sum_{t>1} <E[y_{t-1}, y_t], x_t>
    + eta * (start[y_1] + end[y_L] + sum_{j=1..m} sum_{t>j} T_j[y_{t-j}, .., y_t]).

`inference.chain.viterbi` finds the best labels once the tables of a sequence are filled.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.arrays import inner
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.viterbi import backward, forward, path_score


@loop
def best_sequences(
    vptr, vidx, vval, ptr, forced, ids, w, layout, pair, first, last, tptr, tdata, cost,
    scale, weight,
):  # fmt: skip
    """Best labels of each id and their score; with a loss if `cost` has rows.

    Then also the score of the truth and the loss of the labels found.
    """
    K, order = layout.labels, layout.order
    total, longest = _lengths(ptr, ids)
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.empty(total, np.int32)
    score, true_score, loss = np.zeros(len(ids)), np.zeros(len(ids)), np.zeros(len(ids))
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
            true_score[q] = path_score(nodes, edges, pair, first, last, truth, K, order)
            factor = weight[i] * scale[q]
            for t in range(L):
                row = cost[truth[t]]
                for k in range(K):
                    nodes[t * K + k] += factor * row[k]
        score[q], state = forward(
            nodes, edges, pair, first, last, L, K, order, local, values
        )
        backward(edges, pair, L, K, order, values, state, found)
        if len(cost) > 0:
            for t in range(L):
                loss[q] += cost[truth[t], found[t]]
            loss[q] *= scale[q]
    return out_ptr, out, score, true_score, loss


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
