"""Projective dependency trees: Eisner's algorithm on a table of arc scores.

Token m has one head: 0 is the root, h > 0 is token h - 1. A tree scores the sum of
arcs[m, head(m), label]; it is projective if arcs do not cross when drawn above the
sentence. Spans are complete (R: head at the left end, L: at the right end) or
incomplete (an arc joins their ends):

    open[i, j]  = max_k R[i, k] + L[k + 1, j]
    R[i, j]     = max_k open[i, k] + arc(i -> k) + R[k, j]
    L[i, j]     = max_k L[i, k] + open[k, j] + arc(j -> k)

Rows are filled as in `spans.py`, O(n^3) with contiguous inner loops. Every tree has one
derivation, so the same items serve sums and n-best lists.

[1] Eisner 1996, Three new probabilistic models for dependency parsing.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.hypergraph import Hypergraph, empty_edges

OPEN, RIGHT, LEFT = 0, 1, 2


@loop
def best_projective(first, last, arcs, sizes, single, rows, value):
    """Head h and label c of each token, as h * labels + c in rows[b, m].

    `single` allows one child of the root only.
    """
    N = arcs.shape[1] + 1
    score, label = np.empty((N, N)), np.empty((N, N), np.int32)
    gap = np.empty((N, N))  # open, without the score of an arc
    right, left = np.empty((N, N)), np.empty((N, N))
    to_left = np.empty((N, N))  # open[k, j] + arc(j -> k)
    stack = np.empty((3 * N + 3, 3), np.int64)
    L = arcs.shape[3]
    for b in range(first, last):
        n = sizes[b]
        _best_labels(arcs[b], n, score, label)
        for i in range(n, -1, -1):
            if i > 0 or not single:
                _fill_row(i, n, score, gap, right, left, to_left)
        depth = 1
        if single:
            value[b], r = -np.inf, 1
            for q in range(1, n + 1):
                v = left[1, q] + score[0, q] + right[q, n]
                if v > value[b]:
                    value[b], r = v, q
            rows[b, r - 1] = label[0, r]
            stack[0, 0], stack[0, 1], stack[0, 2] = LEFT, 1, r
            stack[1, 0], stack[1, 1], stack[1, 2] = RIGHT, r, n
            depth = 2
        else:
            value[b] = right[0, n]
            stack[0, 0], stack[0, 1], stack[0, 2] = RIGHT, 0, n
        if value[b] > -np.inf:
            _trace(stack, depth, score, gap, right, left, to_left, label, L, rows[b])


@inner_loop
def _best_labels(arcs, n, score, label):
    """score[head, modifier] with its best label, positions 0 (root) .. n."""
    for m in range(1, n + 1):
        score[m, 0] = -np.inf
        for h in range(n + 1):
            top, at = -np.inf, 0
            for c in range(arcs.shape[2] if h != m else 0):
                if arcs[m - 1, h, c] > top:
                    top, at = np.float64(arcs[m - 1, h, c]), c
            score[h, m], label[h, m] = top, at


@inner_loop
def _fill_row(i, n, score, gap, right, left, to_left):
    for j in range(i + 1, n + 1):
        gap[i, j] = right[i, j] = left[i, j] = -np.inf
    right[i, i] = left[i, i] = 0.0
    one, two, three = gap[i], right[i], left[i]
    for j in range(i + 1, n + 1):
        one[j] = left[i + 1, j]
    for k in range(i + 1, n + 1):
        base, below = one[k] + score[i, k], right[k]
        for j in range(k, n + 1):
            two[j] = max(two[j], base + below[j])
        if k < n:
            base, after = two[k], left[k + 1]
            for j in range(k + 1, n + 1):
                one[j] = max(one[j], base + after[j])
        to_left[i, k] = one[k] + score[k, i]
        three[k] = max(three[k], to_left[i, k])
        base, arc = three[k], to_left[k]
        for j in range(k + 1, n + 1):
            three[j] = max(three[j], base + arc[j])


@inner_loop
def _trace(stack, depth, score, gap, right, left, to_left, label, L, row):
    """Heads of the items on the stack."""
    while depth > 0:
        depth -= 1
        kind, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if i == j:
            continue
        top, at = -np.inf, i
        if kind == RIGHT:
            for k in range(i + 1, j + 1):
                v = gap[i, k] + score[i, k] + right[k, j]
                if v > top:
                    top, at = v, k
            row[at - 1] = i * L + label[i, at]
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = RIGHT, at, j
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = OPEN, i, at
        elif kind == LEFT:
            for k in range(i, j):
                v = left[i, k] + to_left[k, j]
                if v > top:
                    top, at = v, k
            row[at - 1] = j * L + label[j, at]
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = LEFT, i, at
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = OPEN, at, j
        else:
            for k in range(i, j):
                v = right[i, k] + left[k + 1, j]
                if v > top:
                    top, at = v, k
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = RIGHT, i, at
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = LEFT, at + 1, j
        depth += 1


def projective_hypergraph(n: int, padded: int, labels: int, single: bool) -> Hypergraph:
    """All projective trees of n tokens.

    Cell (m * (padded + 1) + h) * labels + c is arcs[m, h, c].
    """
    p = n + 1
    pairs, splits = p * (p - 1) // 2, (p - 1) * p * (p + 1) // 6
    edges = empty_edges(3 * splits + 2 * pairs * labels + 2 * p + 2 * n)
    ptr = np.zeros(5 * pairs + 2 * p + n + 2, np.int64)
    v, e = _fill(n, padded + 1, labels, single, ptr, *edges)
    return Hypergraph(ptr[: v + 1], edges[0][:e], edges[1][:e])


@loop
def _fill(n, padded, L, single, ptr, tails, cells):
    """Nodes: R, L, open, open with an arc to the right, with one to the left."""
    number = np.zeros((5, n + 1, n + 1), np.int64)
    v, e = 0, 0
    for i in range(n + 1):
        for kind in range(2):
            number[kind, i, i] = v
            e, v = e + 1, v + 1
            ptr[v] = e
    for width in range(1, n + 1):
        for i in range(1 if single else 0, n + 1 - width):
            j = i + width
            for k in range(i, j):
                tails[e, 0], tails[e, 1] = number[0, i, k], number[1, k + 1, j]
                e += 1
            number[2, i, j] = v
            v += 1
            ptr[v] = e
            for side in range(2 if i > 0 else 1):
                head, child = (i, j) if side == 0 else (j, i)
                for c in range(L):
                    tails[e, 0] = number[2, i, j]
                    cells[e, 0] = ((child - 1) * padded + head) * L + c
                    e += 1
                number[3 + side, i, j] = v
                v += 1
                ptr[v] = e
            for k in range(i + 1, j + 1):
                tails[e, 0], tails[e, 1] = number[3, i, k], number[0, k, j]
                e += 1
            number[0, i, j] = v
            v += 1
            ptr[v] = e
            if i > 0:
                for k in range(i, j):
                    tails[e, 0], tails[e, 1] = number[1, i, k], number[4, k, j]
                    e += 1
                number[1, i, j] = v
                v += 1
                ptr[v] = e
    begin = e
    if single:
        v, e = _fill_roots(n, padded, L, ptr, tails, cells, number, v, e)
        return v, e
    tails[begin, 0] = number[0, 0, n]
    ptr[v + 1] = begin + 1
    return v + 1, begin + 1


@inner_loop
def _fill_roots(n, padded, L, ptr, tails, cells, number, v, e):
    """One child r of the root: its two sides, then the arc to it."""
    base = v
    for r in range(1, n + 1):
        tails[e, 0], tails[e, 1] = number[1, 1, r], number[0, r, n]
        e, v = e + 1, v + 1
        ptr[v] = e
    for r in range(1, n + 1):
        for c in range(L):
            tails[e, 0] = base + r - 1
            cells[e, 0] = (r - 1) * padded * L + c
            e += 1
    ptr[v + 1] = e
    return v + 1, e
