"""The oracle of a chain: fill tables, find the best labels.

The score of labels y_1 .. y_L for tokens x_1 .. x_L is, with K labels and order m,

    sum_t <W[y_t], x_t> + bias[y_t]  +  sum_{t>1} <E[y_{t-1}, y_t], e_t>
    + eta * (start[y_1] + end[y_L] + sum_{j=1..m} sum_{t>j} T_j[y_{t-j}, .., y_t]).

where e_t are the edge features: x_t again, or features of their own. Loops get x_t in the
arrays v.., e_t in the arrays e... `inference.chain.viterbi` finds the best labels once the
tables of a sequence are filled.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import inner
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.viterbi import (
    backward,
    forward,
    joined_scores,
    path_score,
)


@loop
def best_sequences(
    vptr, vidx, vval, eptr, eidx, evals, ptr, forced, ids, w, layout, pair, first, last,
    tptr, tdata, cost, scale, weight,
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
        _fill_tables(
            vptr, vidx, vval, eptr, eidx, evals, forced, ptr[i], L, w, layout, nodes,
            edges,
        )  # fmt: skip
        if len(cost) > 0:
            truth = tdata[tptr[i] : tptr[i] + L]
            if truth.max() < K:  # labels that are not known have no score
                true_score[q] = path_score(
                    nodes, edges, pair, first, last, truth, K, order
                )
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
def tables(vptr, vidx, vval, eptr, eidx, evals, ptr, forced, ids, w, layout):
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
            vptr, vidx, vval, eptr, eidx, evals, forced, ptr[i], L, w, layout,
            nodes[a * K : b * K], here,
        )  # fmt: skip
    return out_ptr, nodes, edges


@loop
def row_weights(vptr, vidx, vval, w, layout):
    """Weights of rows of features in place of features: sums, then all other weights."""
    K, n = layout.labels, len(vptr) - 1
    other = layout.width * K
    out = np.zeros(n * K + len(w) - other)
    for r in range(n):
        _fill(vptr, vidx, vval, layout.width, r, w, K, out[r * K : (r + 1) * K])
    for k in range(len(w) - other):
        out[n * K + k] = w[other + k]
    return out


@loop
def join(w, layout, eta, legal):
    """Scores of label tuples and of first and last labels, see `joined_scores`."""
    return joined_scores(w, layout, eta, legal)


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
def _fill_tables(
    vptr, vidx, vval, eptr, eidx, evals, forced, begin, L, w, layout, nodes, edges
):
    """Nodes (L, K) and, with edge features, edges (L, K * K), flat."""
    K = layout.labels
    for k in range(K):
        bias = w[layout.bias + k] if layout.bias >= 0 else 0.0
        for t in range(L):
            nodes[t * K + k] = bias
    edges[: L * K * K if layout.edge >= 0 else 0] = 0.0
    for t in range(L):
        row = nodes[t * K : (t + 1) * K]
        _fill(vptr, vidx, vval, layout.width, begin + t, w, K, row)
    if layout.edge >= 0:
        size, weights = K * K, w[layout.edge :]
        width = len(weights) // size
        for t in range(L):
            row = edges[t * size : (t + 1) * size]
            _fill(eptr, eidx, evals, width, begin + t, weights, size, row)
    for t in range(L if len(forced) > 0 else 0):
        for k in range(K):
            if forced[begin + t] >= 0 and forced[begin + t] != k:
                nodes[t * K + k] = -np.inf
