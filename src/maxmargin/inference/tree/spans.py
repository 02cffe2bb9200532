"""Binary trees over spans with labels: CKY on plain score tables.

A tree over tokens 0 .. n - 1 has 2 n - 1 spans (i, j), first and last token, each with
one label; its score is the sum of spans[i, j, label]. With the best label of each span
taken first,

    best[i, j] = max_label spans[i, j, label] + max_k best[i, k] + best[k + 1, j].

Row i is filled from left to right and hands best[i, k] on to all j at once, so the inner
loop runs over contiguous entries of two rows.

[1] Stern, Andreas, Klein 2017, A minimal span-based neural constituency parser.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.hypergraph import Hypergraph, empty_edges


@loop
def best_spans(first, last, spans, sizes, truth, penalty, rows, value):
    """Best tree of each row: 2 n - 1 triples (first token, last token, label).

    `penalty` is taken from the score of label truth[b, i, j] at (i, j), where that is
    not -1: loss-augmented trees without a copy of the table.
    """
    N = spans.shape[1]
    best, label = np.empty((N, N)), np.empty((N, N), np.int32)
    stack = np.empty((N + 1, 2), np.int64)
    for b in range(first, last):
        n = sizes[b]
        for i in range(n - 1, -1, -1):
            now = best[i]
            for j in range(i + 1, n):
                now[j] = -np.inf
            now[i] = 0.0
            for k in range(i, n):
                top, label[i, k] = _best_label(spans[b, i, k], truth[b, i, k], penalty)
                now[k] += top
                if k + 1 < n:
                    base, below = now[k], best[k + 1]
                    for j in range(k + 1, n):
                        now[j] = max(now[j], base + below[j])
        value[b] = best[0, n - 1]
        m, depth = 0, 1
        stack[0, 0], stack[0, 1] = 0, n - 1
        while depth > 0 and value[b] > -np.inf:
            depth -= 1
            i, j = stack[depth, 0], stack[depth, 1]
            rows[b, m], rows[b, m + 1], rows[b, m + 2] = i, j, label[i, j]
            m += 3
            if i < j:
                k = _split(best, i, j)
                stack[depth, 0], stack[depth, 1] = k + 1, j
                stack[depth + 1, 0], stack[depth + 1, 1] = i, k
                depth += 2


@inner_loop
def _best_label(scores, true, penalty):
    top, at = -np.inf, 0
    for c in range(len(scores)):
        v = np.float64(scores[c])
        if c == true:
            v -= penalty
        if v > top:
            top, at = v, c
    return top, at


@inner_loop
def _split(best, i, j):
    top, at = -np.inf, i
    for k in range(i, j):
        if best[i, k] + best[k + 1, j] > top:
            top, at = best[i, k] + best[k + 1, j], k
    return at


@loop
def sum_spans(first, last, spans, sizes, out, log_z, factor, wanted):
    """Log of the sum of exp(score) over trees; if wanted, factor * marginals in `out`.

    Inside probabilities of spans and, on the way back, the shares that each span has in
    the larger ones, all relative to the span's own sum.
    """
    N = spans.shape[1]
    inside, own = np.empty((N, N)), np.empty((N, N))
    inner, share = np.empty((N, N)), np.empty((N, N))
    term = np.empty(N)
    for b in range(first, last):
        n = sizes[b]
        for i in range(n - 1, -1, -1):
            for j in range(i, n):
                own[i, j] = _log_sum(spans[b, i, j])
                inner[i, j] = 0.0
                if j > i:
                    for k in range(i, j):
                        term[k - i] = inside[i, k] + inside[k + 1, j]
                    inner[i, j] = _log_sum(term[: j - i])
                inside[i, j] = own[i, j] + inner[i, j]
        log_z[b] = inside[0, n - 1]
        if not wanted or log_z[b] == -np.inf:
            continue
        for i in range(n):
            for j in range(i, n):
                share[i, j] = 0.0
        share[0, n - 1] = factor[b]
        for width in range(n - 1, -1, -1):
            for i in range(n - width):
                j = i + width
                if share[i, j] == 0.0:
                    continue
                for k in range(i, j):
                    s = inside[i, k] + inside[k + 1, j] - inner[i, j]
                    p = share[i, j] * np.exp(s)
                    share[i, k] += p
                    share[k + 1, j] += p
                for c in range(spans.shape[3]):
                    s = np.float64(spans[b, i, j, c]) - own[i, j]
                    out[b, i, j, c] = share[i, j] * np.exp(s)


@inner_loop
def _log_sum(values):
    top = -np.inf
    for c in range(len(values)):
        top = max(top, np.float64(values[c]))
    if top == -np.inf:
        return top
    s = 0.0
    for c in range(len(values)):
        s += np.exp(np.float64(values[c]) - top)
    return top + np.log(s)


def span_hypergraph(n: int, padded: int, labels: int) -> Hypergraph:
    """All trees of n tokens; cell (i * padded + j) * labels + c is spans[i, j, c]."""
    pairs = n * (n + 1) // 2
    splits = (n - 1) * n * (n + 1) // 6
    edges = empty_edges(pairs * labels + splits)
    ptr = np.zeros(pairs + (pairs - n) + 1, np.int64)
    _fill(n, padded, labels, ptr, *edges)
    return Hypergraph(ptr, *edges)


@loop
def _fill(n, padded, L, ptr, tails, cells):
    """A node per span without its label, where it has parts, then one with it."""
    number = np.zeros((n, n), np.int64)
    v, e = 0, 0
    for width in range(n):
        for i in range(n - width):
            j = i + width
            if width > 0:
                for k in range(i, j):
                    tails[e, 0], tails[e, 1] = number[i, k], number[k + 1, j]
                    e += 1
                v += 1
                ptr[v] = e
            for c in range(L):
                if width > 0:
                    tails[e, 0] = v - 1
                cells[e, 0] = (i * padded + j) * L + c
                e += 1
            number[i, j] = v
            v += 1
            ptr[v] = e
