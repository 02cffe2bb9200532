"""Viterbi: the best label sequence of one chain, as loops that other loops call.

With scores of labels at each token, of labels after the `order` labels before them, and
of first and last labels (see `variants` for the formula), and states s = a * B + b,
B = K^(order - 1), that hold the last `order` labels, the oldest, `a`, first,

    value_t[b, c] = nodes[t, c] + max_a  value_{t-1}[a, b] + pair[a, b, c].

Only values are stored. The path is found again from them, at one maximum over `a` per
token, so that the inner loop is a plain running maximum over the new label c, which
vectorises.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop


@inner_loop
def joined_scores(w, layout, eta, legal):
    """For j = 1 .. m scores of label c after j labels s, at [s * K + c]; the ends."""
    K, order = layout.labels, layout.order
    size, rows = 0, 1
    for _ in range(order):
        rows *= K
        size += rows * K
    pair, first, last = np.empty(size), np.empty(K), np.empty(K)
    join_scores(w, layout, eta, legal, pair, first, last)
    return pair, first, last


@inner_loop
def join_scores(w, layout, eta, legal, pair, first, last):
    """Fill what `joined_scores` returns."""
    K, order = layout.labels, layout.order
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
    for k in range(K):
        first[k] = eta * w[layout.start + k] if layout.start >= 0 else 0.0
        last[k] = eta * w[layout.end + k] if layout.end >= 0 else 0.0
        if len(legal) > 0:
            first[k] += legal[K * K + k]
            last[k] += legal[K * K + K + k]


@inner_loop
def forward(nodes, edges, pair, first, last, L, K, order, local, values):
    """Best value of each state at each token; returns the best of all and its state."""
    known, ends = legal_states(pair, K, order)
    return forward_among(
        nodes, edges, pair, first, last, L, K, order, local, values, known, ends
    )


@inner_loop
def forward_among(
    nodes, edges, pair, first, last, L, K, order, local, values, known, ends
):
    """As `forward`, with the `legal_states`."""
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
            if len(known) > 0:
                _legal_step(prev, score, K, known, ends, cur)
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
def backward(edges, pair, L, K, order, values, state, out):
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
def legal_states(pair, K, order):
    """States (a, b) that a mask allows before each b: (states, where those of b end).

    Empty if there is no mask. Each b has 2, 6, 10, .. of them, the last one repeated, so
    that `_legal_step` can take four at a time.
    """
    masked = False
    for s in range(K * K if order > 1 else 0):
        masked |= pair[s] == -np.inf
    B = K ** (order - 1)
    if not masked:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    states, ends = np.empty(B * (K + 4), np.int64), np.empty(B, np.int64)
    m = 0
    for b in range(B):
        begin, s = m, b
        for a in range(K):
            if pair[a * K + b // (B // K)] > -np.inf:
                s = a * B + b
                states[m] = s
                m += 1
        while m < begin + 2 or (m - begin) % 4 != 2:
            states[m] = s
            m += 1
        ends[b] = m
    return states, ends


@inner_loop
def _legal_step(prev, pair, K, states, ends, cur):
    """As `_step`, over the states that a mask allows."""
    q = 0
    for b in range(len(ends)):
        best = cur[b * K : b * K + K]
        s0, s1 = states[q], states[q + 1]
        p0, p1 = prev[s0], prev[s1]
        r0, r1 = pair[s0 * K : s0 * K + K], pair[s1 * K : s1 * K + K]
        for c in range(K):
            v0, v1 = p0 + r0[c], p1 + r1[c]
            best[c] = v0 if v0 > v1 else v1
        q += 2
        while q < ends[b]:
            s0, s1, s2, s3 = states[q], states[q + 1], states[q + 2], states[q + 3]
            p0, p1, p2, p3 = prev[s0], prev[s1], prev[s2], prev[s3]
            r0, r1 = pair[s0 * K : s0 * K + K], pair[s1 * K : s1 * K + K]
            r2, r3 = pair[s2 * K : s2 * K + K], pair[s3 * K : s3 * K + K]
            for c in range(K):
                v0, v1, v2, v3 = p0 + r0[c], p1 + r1[c], p2 + r2[c], p3 + r3[c]
                v0 = v0 if v0 > v1 else v1
                v2 = v2 if v2 > v3 else v3
                v0 = v0 if v0 > v2 else v2
                best[c] = v0 if v0 > best[c] else best[c]
            q += 4


@inner_loop
def _add_edges(pair, edge, K, out):
    """Out = pair + edge scores of (last label of the state, new label)."""
    for s in range(len(pair) // K):
        e = (s % K) * K
        for c in range(K):
            out[s * K + c] = pair[s * K + c] + edge[e + c]


@inner_loop
def insert_sorted(values, codes, v, code):
    """Keep `values` falling; equal ones stay in order of arrival."""
    j = len(values) - 1
    while j > 0 and values[j - 1] < v:
        values[j] = values[j - 1]
        codes[j] = codes[j - 1]
        j -= 1
    values[j] = v
    codes[j] = code
