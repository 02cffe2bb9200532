"""Binary trees over spans with labels: CKY on plain score tables.

A tree over tokens 0 .. n - 1 has 2 n - 1 spans (i, j), first and last token, each with
one label; its score is the sum of spans[i, j, label]. With the best label of each span
taken first,

    best[i, j] = max_label spans[i, j, label] + max_k best[i, k] + best[k + 1, j].

Row i is filled from left to right and hands best[i, k] on to all j at once, so the inner
loop runs over contiguous entries of two rows. Loops get whole tables and a place in them:
a part of a table is counted as a reference, which takes as long as the search in it.

[1] Stern, Andreas, Klein 2017, A minimal span-based neural constituency parser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.hypergraph import Hypergraph, empty_edges

LARGE = 1e90  # beyond this, sums are done with logarithms


@loop
def best_spans(first, last, spans, sizes, truth, penalty, rows, value):
    """Best tree of each row: 2 n - 1 triples (first token, last token, label).

    `penalty` is taken from the score of label truth[b, i, j] at (i, j), where that is
    not -1: loss-augmented trees without a copy of the table.
    """
    N = spans.shape[1]
    best = np.empty((N, N))
    stack = np.empty((N + 1, 2), np.int64)
    for b in range(first, last):
        n = sizes[b]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                best[i, j] = -np.inf
            best[i, i] = 0.0
            for k in range(i, n):
                if truth[b, i, k] < 0:
                    best[i, k] += _top(spans, b, i, k)
                else:
                    best[i, k] += _best_label(spans, b, i, k, truth[b, i, k], penalty)[
                        0
                    ]
                base = best[i, k]
                for j in range(k + 1, n):
                    best[i, j] = max(best[i, j], base + best[k + 1, j])
        value[b] = best[0, n - 1]
        m, depth = 0, 1
        stack[0, 0], stack[0, 1] = 0, n - 1
        while depth > 0 and value[b] > -np.inf:
            depth -= 1
            i, j = stack[depth, 0], stack[depth, 1]
            rows[b, m], rows[b, m + 1] = i, j
            rows[b, m + 2] = _best_label(spans, b, i, j, truth[b, i, j], penalty)[1]
            m += 3
            if i < j:
                k = _split(best, i, j)
                stack[depth, 0], stack[depth, 1] = k + 1, j
                stack[depth + 1, 0], stack[depth + 1, 1] = i, k
                depth += 2


@inner_loop
def _top(spans, b, i, j):
    """Largest label score; four at a time do not wait for each other."""
    L = spans.shape[3]
    t0 = spans[b, i, j, 0]
    if L < 4:
        for c in range(1, L):
            t0 = max(t0, spans[b, i, j, c])
        return np.float64(t0)
    t1, t2, t3 = spans[b, i, j, 1], spans[b, i, j, 2], spans[b, i, j, 3]
    c = 4
    while c + 3 < L:
        t0, t1 = max(t0, spans[b, i, j, c]), max(t1, spans[b, i, j, c + 1])
        t2, t3 = max(t2, spans[b, i, j, c + 2]), max(t3, spans[b, i, j, c + 3])
        c += 4
    while c < L:
        t0 = max(t0, spans[b, i, j, c])
        c += 1
    return np.float64(max(max(t0, t1), max(t2, t3)))


@inner_loop
def _best_label(spans, b, i, j, true, penalty):
    top, at = -np.inf, 0
    for c in range(spans.shape[3]):
        v = np.float64(spans[b, i, j, c])
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
def span_cells(ptr, triples, tokens, labels):
    """Row and flat place of each span in a table (rows, tokens, tokens, labels)."""
    row = np.empty(len(triples) // 3, np.int64)
    place = np.empty(len(triples) // 3, np.int64)
    for b in range(len(ptr) - 1):
        for k in range(ptr[b] // 3, ptr[b + 1] // 3):
            first, last = np.int64(triples[3 * k]), np.int64(triples[3 * k + 1])
            row[k] = b
            place[k] = ((b * tokens + first) * tokens + last) * labels + triples[
                3 * k + 2
            ]
    return row, place


@loop
def count_spans(table, sizes, labels):
    """Spans with a label in each row; (row, first, last) of one that cannot be, or -1."""
    rows, N = table.shape[0], table.shape[1]
    count, where = np.zeros(rows, np.int64), np.full(3, -1)
    for b in range(rows):
        for i in range(N):
            for j in range(N):
                label = table[b, i, j]
                if label >= 0:
                    count[b] += 1
                    if j < i or j >= sizes[b] or label >= labels:
                        where[0], where[1], where[2] = b, i, j
    return count, where


@loop
def fill_binary(first, last, table, sizes, empty, rows, count):
    """Spans of the binary tree that holds the given ones, from the root down.

    table[b, i, j] is the label of a given span, -1 elsewhere. A span without parts is
    divided after its first token, one with given spans after the largest that begins
    with it. count[b] is the number of given spans met: fewer than there are if some
    cross.
    """
    stack = np.empty((table.shape[1] + 1, 2), np.int64)
    for b in range(first, last):
        depth, m = 1, 0
        stack[0, 0], stack[0, 1] = 0, sizes[b] - 1
        while depth > 0:
            depth -= 1
            i, j = stack[depth, 0], stack[depth, 1]
            label = table[b, i, j]
            count[b] += label >= 0
            rows[b, m], rows[b, m + 1] = i, j
            rows[b, m + 2] = label if label >= 0 else empty
            m += 3
            if i < j:
                k = j - 1
                while k > i and table[b, i, k] < 0:
                    k -= 1
                stack[depth, 0], stack[depth, 1] = k + 1, j
                stack[depth + 1, 0], stack[depth + 1, 1] = i, k
                depth += 2


def sum_spans(
    b: int,
    spans: NDArray[np.floating[Any]],
    n: int,
    out: Floats,
    log_z: Floats,
    factor: Floats,
    wanted: bool,
) -> bool:
    """Log of the sum of exp(score) over trees; if wanted, factor * marginals in `out`.

    Tells whether probabilities go beyond `LARGE`; `sum_spans_logs` does such rows.
    With exp(-a) per token, a chosen so that the sum is near one,

        inside[i, j] = own[i, j] * sum_k inside[i, k] * inside[k + 1, j]

    needs no exponential, and its inner loop runs over contiguous entries.
    """
    power = np.empty((n * (n + 1) // 2, spans.shape[3]))
    top = np.empty(len(power))
    _less_the_largest(spans[b], n, power, top)
    np.exp(power, out=power)  # NumPy takes several numbers at a time
    return bool(_sum_scaled(b, n, power, top, out, log_z, factor, wanted))


@loop
def _less_the_largest(spans, n, power, top):
    """Label scores of the spans (i, j), row by row, less the largest of each (`top`)."""
    at = 0
    for i in range(n):
        for j in range(i, n):
            scores, own = spans[i, j], power[at]
            most = -np.inf
            for c in range(len(own)):
                most = max(most, np.float64(scores[c]))
            base = most if most > -np.inf else 0.0
            for c in range(len(own)):
                own[c] = np.float64(scores[c]) - base
            top[at] = most
            at += 1


@loop
def _sum_scaled(b, n, power, top, out, log_z, factor, wanted):
    """`sum_spans` of row b from exp(score - top) of all labels of its spans."""
    own, part = np.empty((n, n)), np.empty((n, n))
    inside, across = np.empty((n, n)), np.empty((n, n))
    down, up = np.empty((n, n)), np.empty((n, n))
    at = len(top)
    for i in range(n - 1, -1, -1):
        at -= n - i
        for j in range(i, n):
            total = 0.0
            for p in power[at + j - i]:
                total += p
            part[i, j] = 1.0 / total if total > 0.0 else 0.0
            own[i, j] = top[at + j - i] + np.log(total) if total > 0.0 else -np.inf
        _fill_best(i, n, own, inside)
    best = inside[0, n - 1]
    slope = best / n + 0.7 if n > 1 else best
    if not best > -np.inf:
        log_z[b] = -np.inf
        return False
    _fill_inside(n, slope, own, inside, across)
    total = inside[0, n - 1]
    largest = 0.0
    for i in range(n):
        for j in range(i, n):
            largest = max(largest, inside[i, j])
    if not (1.0 / LARGE < total < LARGE and largest < LARGE):
        return True
    log_z[b] = np.log(total) + slope * n
    if not wanted:
        return False
    largest = _fill_outside(n, own, inside, across, down, up)
    if not largest < LARGE * LARGE:
        return True
    at = 0
    for i in range(n):
        for j in range(i, n):
            p = factor[b] * inside[i, j] * (down[i, j] + up[j, i]) / total * part[i, j]
            row, cells = power[at], out[b, i, j]
            for c in range(len(row)):
                cells[c] = p * row[c]
            at += 1
    return False


@inner_loop
def _fill_best(i, n, own, best):
    """Row i of the best tree's scores; rows below are there."""
    now = best[i]
    for j in range(i + 1, n):
        now[j] = -np.inf
    now[i] = 0.0
    for k in range(i, n):
        now[k] += own[i, k]
        if k + 1 < n:
            base, below = now[k], best[k + 1]
            for j in range(k + 1, n):
                now[j] = max(now[j], base + below[j])


@inner_loop
def _fill_inside(n, slope, own, inside, across):
    """Scaled inside sums, and `own` as a factor; across[j, i] is inside[i, j]."""
    for i in range(n - 1, -1, -1):
        now = inside[i]
        for j in range(i + 1, n):
            now[j] = 0.0
        now[i] = 1.0
        for k in range(i, n):
            own[i, k] = np.exp(own[i, k] - slope) if k == i else np.exp(own[i, k])
            now[k] *= own[i, k]
            across[k, i] = now[k]
            if k + 1 < n:
                base, below = now[k], inside[k + 1]
                for j in range(k + 1, n):
                    now[j] += base * below[j]


@inner_loop
def _fill_outside(n, own, inside, across, down, up):
    """Outside sums of spans as left parts, down[i, j], and right parts, up[j, i]."""
    for i in range(n):
        for j in range(n):
            down[i, j] = up[i, j] = 0.0
    down[0, n - 1] = 1.0
    largest = 1.0
    for i in range(n):
        for j in range(n - 1, i - 1, -1):
            whole = down[i, j] + up[j, i]
            largest = max(largest, whole)
            g = whole * own[i, j]
            left, right = down[i], up[j]
            one, two = inside[i], across[j]
            if g != 0.0:
                for k in range(i, j):
                    left[k] += g * two[k + 1]
                    right[k + 1] += g * one[k]
    return largest


@loop
def sum_spans_logs(b, spans, sizes, out, log_z, factor, wanted):
    """One row with logarithms throughout."""
    n = sizes[b]
    inside, own = np.empty((n, n)), np.empty((n, n))
    inner, share, term = np.empty((n, n)), np.zeros((n, n)), np.empty(n)
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
        return
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
