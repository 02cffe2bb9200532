"""Other questions about segmentations: n best, best by loss, max-marginals.

Codes and tables are those of `semi_markov`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged, longest
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.semi_markov import fill_best, write_segment
from maxmargin.inference.chain.viterbi import insert_sorted


class SegmentTables(NamedTuple):
    """Scores of several sequences; everything flat."""

    ptr: Ints  # (n + 1,) first token of each
    segments: Floats  # (tokens * W * C,)
    pair: Floats  # (C * C,)
    first: Floats  # (C,)
    last: Floats  # (C,)
    widest: int  # W
    states: int  # C
    labels: int  # N


def best_by_cost(
    tables: SegmentTables, units: Ints, most: Ints
) -> tuple[Ints, Ragged, Floats]:
    """Best segmentation for each total cost up to most[q]; higher ones share its layer.

    `units` are whole costs of the entries of `tables.segments`, none negative.
    """
    ptr, row_ptr, codes, score = _by_cost(*(*tables, units, most))
    return ptr, Ragged(row_ptr, codes), score


def best_many(tables: SegmentTables, k: int) -> tuple[Ints, Ragged, Floats]:
    """The k best segmentations of each sequence, best first."""
    if k < 1:
        raise ValueError(f"k={k} is not a positive number of outputs")
    ptr, row_ptr, codes, score = _many(*(*tables, k))
    return ptr, Ragged(row_ptr, codes), score


def max_marginals(tables: SegmentTables) -> Floats:
    """(tokens, codes): score of the best segmentation with that code there."""
    return _max_marginals(*tables).reshape(-1, 2 * tables.labels + 1)


@loop
def _by_cost(ptr, segments, pair, first, last, W, C, N, units, most):
    n, D, total, cells = len(ptr) - 1, 1, 0, 0
    for q in range(n):
        D = max(D, most[q] + 1)
        total += most[q] + 1
        cells += (most[q] + 1) * (ptr[q + 1] - ptr[q])
    long = longest(ptr)
    size = (long + 1) * C * D
    into, best = np.empty(size), np.empty(size)
    width, from_layer = np.empty(size, np.int32), np.empty(size, np.int32)
    from_label = np.empty(size, np.int32)
    out_ptr, tops = np.zeros(n + 1, np.int64), np.empty(D)
    labels = np.empty(D, np.int64)
    row_ptr, score = np.zeros(total + 1, np.int64), np.empty(total)
    out, row = np.empty(cells, np.int32), 0
    for q in range(n):
        L, begin = ptr[q + 1] - ptr[q], ptr[q] * W * C
        table, cost = segments[begin:], units[begin:]
        top = most[q]
        _fill_by_cost(
            table, cost, pair, first, L, W, C, N, D, top, into, best, width, from_layer,
            from_label,
        )  # fmt: skip
        for d in range(top + 1):
            tops[d], labels[d] = -np.inf, 0
            for k in range(C if L > 0 else 0):
                v = best[(L * C + k) * D + d] + last[k]
                if v > tops[d]:
                    tops[d], labels[d] = v, k
            if L == 0 and d == 0:
                tops[d] = 0.0
            if tops[d] == -np.inf:
                continue
            codes = out[row_ptr[row] : row_ptr[row] + L]
            _trace_cost(L, C, N, D, labels[d], d, width, from_layer, from_label, codes)
            score[row] = tops[d]
            row_ptr[row + 1] = row_ptr[row] + L
            row += 1
        out_ptr[q + 1] = row
    return out_ptr, row_ptr[: row + 1], out[: row_ptr[row]], score[:row]


@inner_loop
def _fill_by_cost(
    table,
    cost,
    pair,
    first,
    L,
    W,
    C,
    N,
    D,
    top,
    into,
    best,
    width,
    from_layer,
    from_label,
):
    for k in range(C):
        for d in range(top + 1):
            into[k * D + d] = first[k] if d == 0 else -np.inf
    for j in range(1, L + 1):
        for k in range(C):
            here = (j * C + k) * D
            for d in range(top + 1):
                best[here + d] = -np.inf
            for w in range(min(W, j) if 0 < k <= N else 1):
                t = j - w - 1
                u = cost[(t * W + w) * C + k]
                s = table[(t * W + w) * C + k]
                for d in range(top + 1):
                    v = into[(t * C + k) * D + d] + s
                    to = here + min(d + u, top)
                    if v > best[to]:
                        best[to], width[to], from_layer[to] = v, w, d
        for k in range(C if j < L else 0):
            for d in range(top + 1):
                high, label = -np.inf, 0
                for a in range(C):
                    v = best[(j * C + a) * D + d] + pair[a * C + k]
                    if v > high:
                        high, label = v, a
                into[(j * C + k) * D + d] = high
                from_label[(j * C + k) * D + d] = label


@inner_loop
def _trace_cost(L, C, N, D, k, d, width, from_layer, from_label, codes):
    j = L
    while j > 0:
        at = (j * C + k) * D + d
        t = j - 1 - width[at]
        write_segment(t, j, k, N, codes)
        d = from_layer[at]
        if t > 0:
            k = from_label[(t * C + k) * D + d]
        j = t


@loop
def _many(ptr, segments, pair, first, last, W, C, N, k):
    n, long, total = len(ptr) - 1, longest(ptr), ptr[len(ptr) - 1]
    size = (long + 1) * C * k
    into, best = np.empty(size), np.empty(size)
    came, left = np.empty(size, np.int64), np.empty(size, np.int64)
    tops, codes = np.empty(k), np.empty(k, np.int64)
    out_ptr, row_ptr = np.zeros(n + 1, np.int64), np.zeros(n * k + 1, np.int64)
    score, out, row = np.empty(n * k), np.empty(total * k, np.int32), 0
    for q in range(n):
        L, table = ptr[q + 1] - ptr[q], segments[ptr[q] * W * C :]
        _fill_many(table, pair, first, L, W, C, N, k, into, best, came, left)
        for r in range(k):
            tops[r], codes[r] = -np.inf, 0
        if L == 0:
            tops[0] = 0.0
        for c in range(C if L > 0 else 0):
            for r in range(k):
                v = best[(L * C + c) * k + r] + last[c]
                if not v > tops[k - 1]:
                    break
                insert_sorted(tops, codes, v, c * k + r)
        for r in range(k):
            if tops[r] == -np.inf:
                break
            labels = out[row_ptr[row] : row_ptr[row] + L]
            _trace_many(L, C, N, k, codes[r], came, left, labels)
            score[row] = tops[r]
            row_ptr[row + 1] = row_ptr[row] + L
            row += 1
        out_ptr[q + 1] = row
    return out_ptr, row_ptr[: row + 1], out[: row_ptr[row]], score[:row]


@inner_loop
def _fill_many(table, pair, first, L, W, C, N, k, into, best, came, left):
    """The k best of each place and state; came: width * k + rank, left: state * k + rank."""
    for i in range(C * k):
        into[i] = first[i // k] if i % k == 0 else -np.inf
    for i in range(C * k, (L + 1) * C * k):
        into[i] = best[i] = -np.inf
    for j in range(1, L + 1):
        for c in range(C):
            here = (j * C + c) * k
            values, codes = best[here : here + k], came[here : here + k]
            for w in range(min(W, j) if 0 < c <= N else 1):
                t = j - w - 1
                s = table[(t * W + w) * C + c]
                for r in range(k):
                    v = into[(t * C + c) * k + r] + s
                    if not v > values[k - 1]:
                        break
                    insert_sorted(values, codes, v, w * k + r)
        for c in range(C if j < L else 0):
            here = (j * C + c) * k
            values, codes = into[here : here + k], left[here : here + k]
            for a in range(C):
                for r in range(k):
                    v = best[(j * C + a) * k + r] + pair[a * C + c]
                    if not v > values[k - 1]:
                        break
                    insert_sorted(values, codes, v, a * k + r)


@inner_loop
def _trace_many(L, C, N, k, code, came, left, out):
    j = L
    while j > 0:
        c, r = code // k, code % k
        move = came[(j * C + c) * k + r]
        t = j - 1 - move // k
        write_segment(t, j, c, N, out)
        code = left[(t * C + c) * k + move % k] if t > 0 else 0
        j = t


@loop
def _max_marginals(ptr, segments, pair, first, last, W, C, N):
    n, long, codes = len(ptr) - 1, longest(ptr), 2 * N + 1
    size = (long + 1) * C
    into, best, after = np.empty(size), np.empty(size), np.empty(size)
    width = np.empty(size, np.int64)
    out = np.full(ptr[n] * codes, -np.inf)
    for q in range(n):
        L, table = ptr[q + 1] - ptr[q], segments[ptr[q] * W * C :]
        if L == 0:
            continue
        fill_best(table, pair, first, L, W, C, N, into, best, width)
        for k in range(C):
            after[L * C + k] = last[k]
        for j in range(L - 1, 0, -1):  # best score of what follows a segment of label k
            for k in range(C):
                top = -np.inf
                for b in range(C):
                    for w in range(min(W, L - j) if 0 < b <= N else 1):
                        v = table[(j * W + w) * C + b] + after[(j + w + 1) * C + b]
                        top = max(top, v + pair[k * C + b])
                after[j * C + k] = top
        place = out[ptr[q] * codes :]
        for t in range(L):
            for k in range(C):
                for w in range(min(W, L - t) if 0 < k <= N else 1):
                    v = into[t * C + k] + table[(t * W + w) * C + k]
                    v += after[(t + w + 1) * C + k]
                    code = 2 * k - 1 if 0 < k <= N else 0
                    for s in range(t, t + w + 1):
                        at = s * codes + (code if s == t else code + 1)
                        place[at] = max(place[at], v)
    return out
