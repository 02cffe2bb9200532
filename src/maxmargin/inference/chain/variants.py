"""The best of a chain's tables: per cost, k best, and best with a given label.

A label sequence of length L scores

    first[y_1] + last[y_L] + sum_t nodes[t, y_t] + sum_{t>1} edges[t, y_{t-1}, y_t]
    + sum_{t>1} pair_j[y_{t-j} .. y_t],     j = min(t - 1, order);

-inf forbids. States are the last `order` labels, the oldest first.

[1] Layers by loss value: for slack rescaling, Tsochantaridis et al. 2005, section 2.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.viterbi import insert_sorted

LAYERS = 1024  # costs beyond this many units share the last layer
PARTS = 24  # a unit is at least the smallest cost divided by this


class ChainTables(NamedTuple):
    """Scores of several sequences; everything flat."""

    ptr: Ints  # (n + 1,) first token of each
    nodes: Floats  # (tokens * K,)
    edges: Floats  # (tokens * K * K,) or empty
    pair: Floats  # K^2 after one label, K^3 after two, ..
    first: Floats  # (K,)
    last: Floats  # (K,)
    labels: int  # K
    order: int


def check_layers(ids: Ints, needed: Ints) -> None:
    """Refuse what the last layer, shared by all higher costs, would make inexact."""
    over = np.flatnonzero(needed > LAYERS)
    if len(over):
        raise ValueError(
            f"sequence {int(ids[over[0]])}: its loss may take {int(needed[over[0]])} "
            f"values, more than the {LAYERS} layers that slack rescaling and squared "
            "penalties are computed in: split the sequence, use coarser costs, or "
            "rescaling='margin' with penalty='linear'"
        )


def whole_costs(table: Floats) -> Ints:
    """Express the cost table in whole units; ValueError if there is no common unit.

    Examples
    --------
    >>> whole_costs(np.array([[0.0, 0.5], [1.25, 0.0]])).tolist()
    [[0, 2], [5, 0]]
    """
    positive = table[table > 0]
    if len(positive) == 0:
        return np.zeros(table.shape, np.int64)
    parts = _parts(positive)
    if not parts:
        raise ValueError(
            "the costs are not multiples of a common unit, so outputs cannot be "
            "layered by their loss: round the costs, or use rescaling='margin'"
        )
    return np.rint(table / (positive.min() / parts)).astype(np.int64)


def have_unit(table: Floats) -> bool:
    """Whether all costs are multiples of a common unit.

    Examples
    --------
    >>> have_unit(np.array([0.5, 1.25])), have_unit(np.array([1.0, np.pi]))
    (True, False)
    """
    positive = table[table > 0]
    return len(positive) == 0 or _parts(positive) > 0


def _parts(costs: Floats) -> int:
    """Units in the smallest cost; 0 if there is no common unit."""
    for parts in range(1, PARTS + 1):
        units = costs / (costs.min() / parts)
        if np.abs(units - np.rint(units)).max() < 1e-9 * units.max():
            return parts
    return 0


def best_by_cost(
    tables: ChainTables, truth: Ragged, units: Ints, most: int
) -> tuple[Ints, Ragged, Floats]:
    """Best labels of each total cost 0, 1, .. `most` units (the last: that or more)."""
    ptr, rows, labels, score = _by_cost(*tables, *truth, units, most)
    return ptr, Ragged(rows, labels), score


def best_many(tables: ChainTables, k: int) -> tuple[Ints, Ragged, Floats]:
    """Find the k best label sequences of each, or all if there are fewer."""
    if k < 1:
        raise ValueError(f"k={k!r}: at least one sequence must be asked for")
    ptr, rows, labels, score = _many(*tables, k)
    return ptr, Ragged(rows, labels), score


def max_marginals(tables: ChainTables) -> Floats:
    """(tokens, K): score of the best sequence that has this label at this token."""
    return _max_marginals(*tables).reshape(-1, tables.labels)


@inner_loop
def _level(t, K, order):
    """Where the scores of token t after min(t, order) labels begin, and their rows."""
    at, rows = 0, K
    for _ in range(1, min(t, order)):
        at += rows * K
        rows *= K
    return at, rows


@inner_loop
def _scores(t, pair, edges, begin, K, order, local):
    """Scores of (state before, label of token t) into `local`; returns the rows."""
    at, rows = _level(t, K, order)
    for s in range(rows):
        for c in range(K):
            local[s * K + c] = pair[at + s * K + c]
    if len(edges) > 0:
        edge = edges[(begin + t) * K * K : (begin + t + 1) * K * K]
        for s in range(rows):
            for c in range(K):
                local[s * K + c] += edge[(s % K) * K + c]
    return rows


@loop
def _by_cost(ptr, nodes, edges, pair, first, last, K, order, tptr, truth, units, most):
    n, states = len(ptr) - 1, K**order
    limit = np.zeros(n, np.int64)
    room, tokens, longest = 0, 0, 0
    for q in range(n):
        for t in range(tptr[q], tptr[q + 1]):
            limit[q] += units[truth[t]].max()
        limit[q] = min(limit[q], most)
        room += limit[q] + 1
        tokens += (limit[q] + 1) * (tptr[q + 1] - tptr[q])
        longest = max(longest, (limit[q] + 1) * (tptr[q + 1] - tptr[q]))
    out_ptr, row_ptr = np.zeros(n + 1, np.int64), np.zeros(room + 1, np.int64)
    out, score = np.empty(tokens, np.int32), np.empty(room)
    back = np.empty(longest * states, np.int32)
    local, best, arg = (
        np.empty(states * K),
        np.empty(states),
        np.empty(states, np.int32),
    )
    row = 0
    for q in range(n):
        begin, L = ptr[q], ptr[q + 1] - ptr[q]
        M = limit[q] + 1
        y = truth[tptr[q] : tptr[q + 1]]
        if L == 0:
            score[row] = 0.0
            row_ptr[row + 1] = row_ptr[row]
            row += 1
            out_ptr[q + 1] = row
            continue
        prev, cur = np.full((M, states), -np.inf), np.empty((M, states))
        for c in range(K):
            layer = min(units[y[0], c], M - 1)
            prev[layer, c] = first[c] + nodes[begin * K + c]
        reach = min(units[y[0]].max(), M - 1)
        for t in range(1, L):
            rows = _scores(t, pair, edges, begin, K, order, local)
            cur[:] = -np.inf
            for layer in range(reach + 1):
                _advance(prev[layer], local, rows, t < order, K, best, arg)
                for s in range(rows * K if t < order else rows):
                    c = s % K
                    to = min(layer + units[y[t], c], M - 1)
                    v = best[s] + nodes[(begin + t) * K + c]
                    if v > cur[to, s]:
                        cur[to, s] = v
                        back[(t * M + to) * states + s] = arg[s] * M + layer
            reach = min(reach + units[y[t]].max(), M - 1)
            prev, cur = cur, prev
        for layer in range(M):
            top, state = -np.inf, 0
            for s in range(states if order <= L else K**L):
                v = prev[layer, s] + last[s % K]
                if v > top:
                    top, state = v, s
            if top == -np.inf:
                continue
            labels = out[row_ptr[row] : row_ptr[row] + L]
            _trace(back, M, states, K, order, L, state, layer, labels)
            score[row] = top
            row_ptr[row + 1] = row_ptr[row] + L
            row += 1
        out_ptr[q + 1] = row
    return out_ptr, row_ptr[: row + 1], out[: row_ptr[row]], score[:row]


@inner_loop
def _advance(prev, local, rows, grows, K, best, arg):
    """best[s'] and the label forgotten on the way there, for the states after."""
    if grows:
        for s in range(rows):
            for c in range(K):
                best[s * K + c] = prev[s] + local[s * K + c]
                arg[s * K + c] = 0
        return
    B = rows // K
    best[:rows] = -np.inf
    arg[:rows] = 0
    for a in range(K):
        for b in range(B):
            p = prev[a * B + b]
            if p == -np.inf:
                continue
            for c in range(K):
                v = p + local[(a * B + b) * K + c]
                if v > best[b * K + c]:
                    best[b * K + c] = v
                    arg[b * K + c] = a


@inner_loop
def _trace(back, M, states, K, order, L, state, layer, out):
    """Follow `back` from a state of the last token; arg * M + layer at each step."""
    t, B = L - 1, states // K
    while t >= 1:
        out[t] = state % K
        code = np.int64(back[(t * M + layer) * states + state])
        layer = code % M
        state = (code // M) * B + state // K if t >= order else state // K
        t -= 1
    out[0] = state % K


@loop
def _many(ptr, nodes, edges, pair, first, last, K, order, k):
    n, states = len(ptr) - 1, K**order
    longest, room, tokens = 0, 0, 0
    wanted = np.empty(n, np.int64)
    for q in range(n):
        L = ptr[q + 1] - ptr[q]
        wanted[q] = 1
        for _ in range(L):
            wanted[q] = min(wanted[q] * K, k)
        longest = max(longest, L)
        room += wanted[q]
        tokens += wanted[q] * L
    out_ptr, row_ptr = np.zeros(n + 1, np.int64), np.zeros(room + 1, np.int64)
    out, score = np.empty(tokens, np.int32), np.empty(room)
    back = np.empty(longest * states * k, np.int32)
    local = np.empty(states * K)
    prev, cur = np.empty((states, k)), np.empty((states, k))
    tops, codes = np.empty(k), np.empty(k, np.int64)
    row = 0
    for q in range(n):
        begin, L = ptr[q], ptr[q + 1] - ptr[q]
        if L == 0:
            score[row] = 0.0
            row_ptr[row + 1] = row_ptr[row]
            row += 1
            out_ptr[q + 1] = row
            continue
        prev[:] = -np.inf
        for c in range(K):
            prev[c, 0] = first[c] + nodes[begin * K + c]
        for t in range(1, L):
            rows = _scores(t, pair, edges, begin, K, order, local)
            cur[:] = -np.inf
            step = 1 if t < order else K
            after = rows * K // step
            for s in range(after):
                place = back[(t * states + s) * k : (t * states + s + 1) * k]
                node = nodes[(begin + t) * K + s % K]
                for a in range(step):
                    p = a * (states // K) + s // K if step > 1 else s // K
                    add = local[p * K + s % K] + node
                    for r in range(k):
                        v = prev[p, r] + add
                        if not v > cur[s, k - 1]:
                            break
                        insert_sorted(cur[s], place, v, a * k + r)
            prev, cur = cur, prev
        tops[:] = -np.inf
        for s in range(states if order <= L else K**L):
            for r in range(k):
                v = prev[s, r] + last[s % K]
                if not v > tops[k - 1]:
                    break
                insert_sorted(tops, codes, v, s * k + r)
        for j in range(k):
            if tops[j] == -np.inf:
                break
            labels = out[row_ptr[row] : row_ptr[row] + L]
            _trace_rank(
                back, states, K, order, L, codes[j] // k, codes[j] % k, k, labels
            )
            score[row] = tops[j]
            row_ptr[row + 1] = row_ptr[row] + L
            row += 1
        out_ptr[q + 1] = row
    return out_ptr, row_ptr[: row + 1], out[: row_ptr[row]], score[:row]


@inner_loop
def _trace_rank(back, states, K, order, L, state, rank, k, out):
    t, B = L - 1, states // K
    while t >= 1:
        out[t] = state % K
        code = np.int64(back[(t * states + state) * k + rank])
        rank = code % k
        state = (code // k) * B + state // K if t >= order else state // K
        t -= 1
    out[0] = state % K


@loop
def _max_marginals(ptr, nodes, edges, pair, first, last, K, order):
    states = K**order
    longest = 0
    for q in range(len(ptr) - 1):
        longest = max(longest, ptr[q + 1] - ptr[q])
    values, local = np.empty((longest, states)), np.empty(states * K)
    arg = np.empty(states, np.int32)
    after, before = np.empty(states), np.empty(states)
    out = np.full(len(nodes), -np.inf)
    for q in range(len(ptr) - 1):
        begin, L = ptr[q], ptr[q + 1] - ptr[q]
        for c in range(K if L > 0 else 0):
            values[0, c] = first[c] + nodes[begin * K + c]
        for t in range(1, L):
            rows = _scores(t, pair, edges, begin, K, order, local)
            _advance(values[t - 1], local, rows, t < order, K, values[t], arg)
            for s in range(rows * K if t < order else rows):
                values[t, s] += nodes[(begin + t) * K + s % K]
        for s in range(states):
            after[s] = last[s % K]
        for t in range(L - 1, -1, -1):
            rows = states if t + 1 >= order else K ** (t + 1)
            if t < L - 1:
                size = _scores(t + 1, pair, edges, begin, K, order, local)
                for s in range(size):
                    top = -np.inf
                    for c in range(K):
                        to = (s * K + c) % states
                        v = (
                            local[s * K + c]
                            + nodes[(begin + t + 1) * K + c]
                            + after[to]
                        )
                        top = max(top, v)
                    before[s] = top
                after, before = before, after
            for s in range(rows):
                place = (begin + t) * K + s % K
                v = values[t, s] + after[s]
                if v > out[place]:
                    out[place] = v
    return out
