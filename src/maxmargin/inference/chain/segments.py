"""Segmentations of sequences: semi-Markov models on plain score tables.

A segmentation cuts tokens 0 .. n - 1 into segments (t, w, label): the w + 1 tokens from
t on, w < W. Its score is

    sum over segments  segments[t, w, label]  +  sum over neighbours  transitions[a, b]

and the best one is found from left to right in O(n W L + n L^2):

    best[j, b] = max_w segments[j - w - 1, w, b] + max_a best[j - w - 1, a] + transitions[a, b]

[1] Sarawagi and Cohen 2004, Semi-Markov conditional random fields.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import loop
from maxmargin.inference.hypergraph import Hypergraph, empty_edges


@loop
def best_segments(first, last, segments, sizes, transitions, rows, count, value):
    """Best segmentation of each row of the batch.

    rows[b] gets count[b] triples (first token, token after the last, label).
    """
    T, W, L = segments.shape[1], segments.shape[2], segments.shape[3]
    best, into = np.empty((T + 1, L)), np.empty((T + 1, L))
    width = np.empty((T + 1, L), np.int64)
    for b in range(first, last):
        n = sizes[b]
        for c in range(L):
            into[0, c] = 0.0
        for j in range(1, n + 1):
            for c in range(L):
                best[j, c], width[j, c] = -np.inf, 0
            for w in range(min(W, j)):
                t = j - w - 1
                for c in range(L):
                    v = into[t, c] + segments[b, t, w, c]
                    if v > best[j, c]:
                        best[j, c], width[j, c] = v, w
            for c in range(L):
                into[j, c] = -np.inf
            for a in range(L):
                for c in range(L):
                    into[j, c] = max(into[j, c], best[j, a] + transitions[a, c])
        value[b] = -np.inf
        label = 0
        for c in range(L):
            if best[n, c] > value[b]:
                value[b], label = best[n, c], c
        m, j = 0, n
        while j > 0 and value[b] > -np.inf:
            t = j - width[j, label] - 1
            rows[b, m], rows[b, m + 1], rows[b, m + 2] = t, j, label
            m += 3
            top, before = -np.inf, 0
            for a in range(L if t > 0 else 0):
                if best[t, a] + transitions[a, label] > top:
                    top, before = best[t, a] + transitions[a, label], a
            j, label = t, before
        count[b] = m // 3
        for q in range(m // 6):
            for k in range(3):
                one, two = 3 * q + k, m - 3 - 3 * q + k
                rows[b, one], rows[b, two] = rows[b, two], rows[b, one]


def segment_hypergraph(n: int, widest: int, labels: int, offset: int) -> Hypergraph:
    """All segmentations of n tokens.

    Cells: segments[t, w, c] at (t * widest + w) * labels + c; transitions[a, c] at
    offset + a * labels + c.
    """
    W, L = widest, labels
    ends = sum(min(W, j) for j in range(1, n + 1))
    edges = empty_edges(ends * L + (n - 1) * L * L + L)
    nodes = n * L + (n - 1) * L + 1
    ptr = np.zeros(nodes + 1, np.int64)
    _fill(n, W, L, offset, ptr, *edges)
    return Hypergraph(ptr, *edges)


@loop
def _fill(n, W, L, offset, ptr, tails, cells):
    """Nodes 2 L (j - 1) + c: a segment of label c ends at j; L more: one may begin."""
    v, e = 0, 0
    for j in range(1, n + 1):
        for c in range(L):
            for w in range(min(W, j)):
                t = j - w - 1
                if t > 0:
                    tails[e, 0] = 2 * L * (t - 1) + L + c
                cells[e, 0] = (t * W + w) * L + c
                e += 1
            v += 1
            ptr[v] = e
        for c in range(L if j < n else 0):
            for a in range(L):
                tails[e, 0] = 2 * L * (j - 1) + a
                cells[e, 0] = offset + a * L + c
                e += 1
            v += 1
            ptr[v] = e
    for c in range(L):
        tails[e, 0] = 2 * L * (n - 1) + c
        e += 1
    ptr[v + 1] = e
