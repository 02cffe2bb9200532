"""The oracle of segmentations: fill the table of segment scores, find the best codes.

The score of a segment of label k, the tokens a .. b - 1, is

    sum_t <W[role of t, k] + U[k], x_t> + bias[role of t, k]  +  <V[k], g(x, a, b)>

where the role says whether a token is the first, an inner, the last or the only one.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import fill_scores
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.semi_markov import (
    best_codes,
    fill_costs,
    path_cost,
    path_score,
)


@loop
def best_rows(
    vptr, vidx, vval, gptr, gidx, ptr, ids, w, layout, pair, first, last, tptr, tdata,
    cost, wrong, missed, scale, weight,
):  # fmt: skip
    """Best codes of each id and their score; with a loss if `cost` has rows.

    Then also the score of the truth and the loss of the codes found.
    """
    C, N = layout.states, layout.labels - 1
    W, K = layout.widest, layout.tokens
    total, longest = 0, 0
    for i in ids:
        total += ptr[i + 1] - ptr[i]
        longest = max(longest, ptr[i + 1] - ptr[i])
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.empty(total, np.int32)
    score, true_score, loss = np.zeros(len(ids)), np.zeros(len(ids)), np.zeros(len(ids))
    nodes, table = np.empty(longest * K), np.empty(longest * W * C)
    costs = np.empty(longest * W * C if len(cost) > 0 else 0)
    into, best = np.empty((longest + 1) * C), np.empty((longest + 1) * C)
    width = np.empty((longest + 1) * C, np.int64)
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        found = out[out_ptr[q] : out_ptr[q] + L]
        out_ptr[q + 1] = out_ptr[q] + L
        if L == 0:
            continue
        _fill_table(vptr, vidx, vval, gptr, gidx, ptr[i], L, w, layout, nodes, table)
        if len(cost) > 0:
            truth = tdata[tptr[i] : tptr[i] + L]
            true_score[q] = path_score(table, pair, first, last, truth, W, C, N)
            fill_costs(truth, W, C, N, cost, wrong, missed, costs)
            _add(table, costs, L, W, C, N, weight[i] * scale[q])
        score[q] = best_codes(
            table, pair, first, last, L, W, C, N, into, best, width, found
        )
        if len(cost) > 0:
            loss[q] = scale[q] * path_cost(costs, found, W, C)
    return out_ptr, out, score, true_score, loss


@loop
def tables(vptr, vidx, vval, gptr, gidx, ptr, ids, w, layout):
    """Scores of all segments of the ids, for inference on tables."""
    size, total, longest = layout.widest * layout.states, 0, 0
    for i in ids:
        total += ptr[i + 1] - ptr[i]
        longest = max(longest, ptr[i + 1] - ptr[i])
    out_ptr, out = np.zeros(len(ids) + 1, np.int64), np.zeros(total * size)
    nodes = np.empty(longest * layout.tokens)
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        table = out[out_ptr[q] * size : (out_ptr[q] + L) * size]
        out_ptr[q + 1] = out_ptr[q] + L
        _fill_table(vptr, vidx, vval, gptr, gidx, ptr[i], L, w, layout, nodes, table)
    return out_ptr, out


@loop
def cost_tables(tptr, tdata, widest, states, labels, cost, wrong, missed):
    """Loss of each segment, in the shape of `tables`."""
    size = widest * states
    out = np.zeros(tptr[len(tptr) - 1] * size)
    for q in range(len(tptr) - 1):
        truth = tdata[tptr[q] : tptr[q + 1]]
        table = out[tptr[q] * size : tptr[q + 1] * size]
        fill_costs(truth, widest, states, labels, cost, wrong, missed, table)
    return out


@loop
def join(w, layout, legal):
    """Scores of pairs of states, of first and of last states.

    `legal` is added to pairs of labels. Tokens outside keep the last label.
    """
    S, C, N = layout.states, layout.labels, layout.labels - 1
    pair, first, last = np.full(S * S, -np.inf), np.full(S, -np.inf), np.zeros(S)
    for a in range(S):
        label = a if a <= N else 0
        seen = a if a <= N else a - N
        for b in range(C):
            v = w[layout.pairs + label * C + b]
            if len(legal) > 0:
                v += legal[label * C + b]
            if b > 0 and a > N:
                v += w[layout.skip + (seen - 1) * N + b - 1]
            to = N + seen if b == 0 and seen > 0 and S > C else b
            pair[a * S + to] = v
        if layout.start >= 0:
            last[a] = w[layout.end + label]
    for k in range(C):
        first[k] = w[layout.start + k] if layout.start >= 0 else 0.0
    return pair, first, last


@inner_loop
def _fill_table(vptr, vidx, vval, gptr, gidx, begin, L, w, layout, nodes, table):
    """Scores of the segments [t, w, k] of one sequence."""
    C, W, R, K = layout.states, layout.widest, layout.roles, layout.tokens
    kinds = layout.labels - 1
    for t in range(L):
        node = nodes[t * K : (t + 1) * K]
        fill_scores(vptr, vidx, vval, layout.width, begin + t, w, K, node)
        for k in range(K):
            node[k] += w[layout.bias + k]
        for k in range(kinds if layout.shared else 0):
            for r in range(R):
                node[1 + k * R + r] += node[1 + kinds * R + k]
    for t in range(L):
        table[t * W * C] = nodes[t * K]
        for k in range(kinds + 1, C):
            table[t * W * C + k] = nodes[t * K]
        most = min(W, L - t)
        for k in range(kinds):
            _fill_label(nodes, t, most, 1 + k * R, R, K, table[t * W * C + k + 1 :], C)
        for u in range(most):
            here = table[(t * W + u) * C : (t * W + u + 1) * C]
            g = (begin + t) * W + u
            for p in range(gptr[g], gptr[g + 1]):
                at = layout.pieces + np.int64(gidx[p]) * kinds
                for k in range(kinds):
                    here[k + 1] += w[at + k]


@inner_loop
def _fill_label(nodes, t, most, at, R, K, out, step):
    """Token scores of the segments of one label that begin at t, by width."""
    later = min(R - 1, 1)
    run = nodes[t * K + at]
    out[0] = nodes[t * K + at + 3] if R == 4 else run
    for u in range(1, most):
        node = (t + u) * K + at
        if R == 4:
            out[u * step] = run + nodes[node + 2]
        run += nodes[node + later]
        if R < 4:
            out[u * step] = run


@inner_loop
def _add(table, costs, L, W, C, N, factor):
    for t in range(L):
        for u in range(min(W, L - t)):
            at = (t * W + u) * C
            for k in range(0 if u == 0 else 1, C if u == 0 else N + 1):
                table[at + k] += factor * costs[at + k]
