"""Dynamic programs written out as hypergraphs, and what can be asked of all of them.

A node is a partial result; an edge makes one from zero, one or two smaller ones and
picks up the scores of at most two cells of the score tables:

    value(edge) = score[cell 1] + score[cell 2] + value(tail 1) + value(tail 2)

Tails have smaller numbers than their head, and the last node is the goal. Chains,
segments, trees and alignments differ in their edges only, so the questions are
answered once, here: the k best derivations, the best per value of an integer cost,
the best with each cell, and the log of the sum of exp(score) with its derivatives.
Every output must have exactly one derivation. -inf forbids a cell.

[1] Huang and Chiang 2005, Better k-best parsing. [2] Goodman 1999, Semiring parsing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.jit import inner_loop, loop


class Hypergraph(NamedTuple):
    """Edges sorted by head; -1 stands for no tail and no cell.

    Examples
    --------
    Two tokens, two labels, label scores only:

    >>> ptr = np.array([0, 2, 4])
    >>> tails = np.array([[-1, -1], [-1, -1], [0, -1], [0, -1]], np.int32)
    >>> cells = np.array([[0, -1], [1, -1], [2, -1], [3, -1]], np.int32)
    >>> graph = Hypergraph(ptr, tails, cells)
    >>> found, score = k_best(graph, np.array([1.0, 0.0, 0.0, 5.0]), 2)
    >>> found.unpack(), score.tolist()
    ([[3, 0], [3, 1]], [6.0, 5.0])
    >>> log_z, marginal = sum_product(graph, np.zeros(4))
    >>> round(float(np.exp(log_z))), marginal.tolist()
    (4, [0.5, 0.5, 0.5, 0.5])
    """

    ptr: Ints  # (nodes + 1,)
    tails: Labels  # (edges, 2)
    cells: Labels  # (edges, 2)


def k_best(graph: Hypergraph, score: Floats, k: int) -> tuple[Ragged, Floats]:
    """Cells of the k best derivations, or of all if there are fewer; their scores."""
    if k < 1:
        raise ValueError(f"n={k!r}: at least one output must be asked for")
    ptr, cells, value = _k_best(*graph, score, k)
    return Ragged(ptr, cells), value


def best_by_cost(
    graph: Hypergraph, score: Floats, units: Ints, low: int, high: int
) -> tuple[Ints, Ragged, Floats]:
    """For each total cost low .. high that occurs: the best derivation.

    Parameters
    ----------
    units : array (cells,)
        Cost of each cell, a whole number of either sign.
    low, high : int
        No part of a derivation may cost less or more.

    Returns
    -------
    costs, cells of the derivation, score
    """
    cost, ptr, cells, value = _by_cost(*graph, score, units, low, high)
    return cost, Ragged(ptr, cells), value


def max_marginals(graph: Hypergraph, score: Floats) -> Floats:
    """Score of the best derivation that has each cell; -inf if none has it."""
    return _max_marginals(*graph, score)


def sum_product(graph: Hypergraph, score: Floats) -> tuple[float, Floats]:
    """Log of the sum of exp(score) over derivations, and its gradient (marginals)."""
    return _sum_product(*graph, score)


def empty_edges(count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Room for the tails and the cells of edges."""
    return np.full((count, 2), -1, np.int32), np.full((count, 2), -1, np.int32)


@inner_loop
def _own(cells, e, score):
    """Score that an edge picks up itself."""
    v = 0.0
    if cells[e, 0] >= 0:
        v += score[cells[e, 0]]
    if cells[e, 1] >= 0:
        v += score[cells[e, 1]]
    return v


@inner_loop
def _insert(value, edge, rank, v, e, r):
    """Keep `value` falling; of equals the first to come stays in front."""
    j = len(value) - 1
    while j > 0 and value[j - 1] < v:
        value[j], edge[j], rank[j] = value[j - 1], edge[j - 1], rank[j - 1]
        j -= 1
    value[j], edge[j], rank[j] = v, e, r


@loop
def _k_best(ptr, tails, cells, score, k):
    nodes = len(ptr) - 1
    value = np.full((nodes, k), -np.inf)
    edge, rank = np.empty((nodes, k), np.int32), np.empty((nodes, k), np.int64)
    for v in range(nodes):
        for e in range(ptr[v], ptr[v + 1]):
            own, one, two = _own(cells, e, score), tails[e, 0], tails[e, 1]
            if one < 0:
                if own > value[v, k - 1]:
                    _insert(value[v], edge[v], rank[v], own, e, 0)
                continue
            for r in range(k):
                s = own + value[one, r]
                if two < 0:
                    if not s > value[v, k - 1]:
                        break
                    _insert(value[v], edge[v], rank[v], s, e, r * k)
                    continue
                if s == -np.inf:
                    break
                for q in range(k // (r + 1)):
                    if not s + value[two, q] > value[v, k - 1]:
                        break
                    _insert(value[v], edge[v], rank[v], s + value[two, q], e, r * k + q)
    found = 0
    while found < k and value[nodes - 1, found] > -np.inf:
        found += 1
    out_ptr, room = np.zeros(found + 1, np.int64), 64
    out, stack = np.empty(room, np.int32), np.empty((nodes + 2, 2), np.int64)
    size = 0
    for j in range(found):
        stack[0, 0], stack[0, 1] = nodes - 1, j
        depth = 1
        while depth > 0:
            depth -= 1
            v, r = stack[depth, 0], stack[depth, 1]
            e, code = edge[v, r], rank[v, r]
            out = _room_for(out, size + 2)
            for c in range(2):
                if cells[e, c] >= 0:
                    out[size] = cells[e, c]
                    size += 1
                if tails[e, c] >= 0:
                    stack[depth, 0] = tails[e, c]
                    stack[depth, 1] = code // k if c == 0 else code % k
                    depth += 1
        out_ptr[j + 1] = size
    return out_ptr, out[:size].copy(), value[nodes - 1, :found].copy()


@inner_loop
def _room_for(out, size):
    """At least `size` entries, twice as many as before where there were fewer."""
    if size <= len(out):
        return out
    more = np.empty(2 * size, np.int32)
    for q in range(len(out)):
        more[q] = out[q]
    return more


@loop
def _by_cost(ptr, tails, cells, score, units, low, high):
    nodes, M = len(ptr) - 1, high - low + 1
    value = np.full((nodes, M), -np.inf)
    edge, part = np.empty((nodes, M), np.int32), np.empty((nodes, M), np.int32)
    for v in range(nodes):
        for e in range(ptr[v], ptr[v + 1]):
            own, one, two = _own(cells, e, score), tails[e, 0], tails[e, 1]
            if own == -np.inf:
                continue
            cost = np.int64(0)
            for c in range(2):
                if cells[e, c] >= 0:
                    cost += units[cells[e, c]]
            if one < 0:
                _raise(value[v], edge[v], part[v], cost - low, own, e, 0)
                continue
            for a in range(M):
                s = own + value[one, a]
                if s == -np.inf:
                    continue
                if two < 0:
                    _raise(value[v], edge[v], part[v], a + cost, s, e, a)
                    continue
                for b in range(M):
                    t = s + value[two, b]
                    if t > -np.inf:
                        _raise(value[v], edge[v], part[v], a + b + low + cost, t, e, a)
    return _read_costs(tails, cells, units, low, value, edge, part)


@inner_loop
def _raise(value, edge, part, m, s, e, a):
    """Replace layer m if s is better; `a` is the layer of the first tail."""
    if s > value[m]:
        value[m], edge[m], part[m] = s, e, a


@inner_loop
def _read_costs(tails, cells, units, low, value, edge, part):
    """Derivations of the layers of the goal that have one."""
    nodes, M = value.shape
    costs, scores = np.empty(M, np.int64), np.empty(M)
    out_ptr, out = np.zeros(M + 1, np.int64), np.empty(64, np.int32)
    stack = np.empty((nodes + 2, 2), np.int64)
    found, size = 0, 0
    for m in range(M):
        if value[nodes - 1, m] == -np.inf:
            continue
        stack[0, 0], stack[0, 1] = nodes - 1, m
        depth = 1
        while depth > 0:
            depth -= 1
            v, layer = stack[depth, 0], stack[depth, 1]
            e, a = edge[v, layer], part[v, layer]
            out = _room_for(out, size + 2)
            cost = np.int64(0)
            for c in range(2):
                if cells[e, c] >= 0:
                    cost += units[cells[e, c]]
                    out[size] = cells[e, c]
                    size += 1
            if tails[e, 0] >= 0:
                stack[depth, 0], stack[depth, 1] = tails[e, 0], a
                depth += 1
            if tails[e, 1] >= 0:
                stack[depth, 0] = tails[e, 1]
                stack[depth, 1] = layer - a - low - cost
                depth += 1
        costs[found], scores[found] = m + low, value[nodes - 1, m]
        found += 1
        out_ptr[found] = size
    return costs[:found], out_ptr[: found + 1], out[:size].copy(), scores[:found]


@loop
def _max_marginals(ptr, tails, cells, score):
    nodes = len(ptr) - 1
    inside, outside = np.full(nodes, -np.inf), np.full(nodes, -np.inf)
    for v in range(nodes):
        for e in range(ptr[v], ptr[v + 1]):
            inside[v] = max(inside[v], _inner(tails, cells, e, score, inside))
    out = np.full(len(score), -np.inf)
    outside[nodes - 1] = 0.0
    for v in range(nodes - 1, -1, -1):
        for e in range(ptr[v], ptr[v + 1]):
            whole = outside[v] + _inner(tails, cells, e, score, inside)
            if whole == -np.inf:
                continue
            for c in range(2):
                if cells[e, c] >= 0:
                    out[cells[e, c]] = max(out[cells[e, c]], whole)
                t = tails[e, c]
                if t >= 0:
                    outside[t] = max(outside[t], whole - inside[t])
    return out


@inner_loop
def _inner(tails, cells, e, score, inside):
    """Value of an edge with its tails."""
    v = _own(cells, e, score)
    if tails[e, 0] >= 0:
        v += inside[tails[e, 0]]
    if tails[e, 1] >= 0:
        v += inside[tails[e, 1]]
    return v


@loop
def _sum_product(ptr, tails, cells, score):
    nodes = len(ptr) - 1
    inside, share = np.empty(nodes), np.zeros(nodes)
    weight = np.empty(len(tails))
    for v in range(nodes):
        top = -np.inf
        for e in range(ptr[v], ptr[v + 1]):
            weight[e] = _inner(tails, cells, e, score, inside)
            top = max(top, weight[e])
        total = 0.0
        for e in range(ptr[v], ptr[v + 1]):
            weight[e] = np.exp(weight[e] - top) if top > -np.inf else 0.0
            total += weight[e]
        inside[v] = top + np.log(total) if top > -np.inf else -np.inf
        for e in range(ptr[v], ptr[v + 1]):
            weight[e] /= max(total, 1.0)
    out = np.zeros(len(score))
    share[nodes - 1] = 1.0
    for v in range(nodes - 1, -1, -1):
        if share[v] == 0.0:
            continue
        for e in range(ptr[v], ptr[v + 1]):
            p = share[v] * weight[e]
            for c in range(2):
                if cells[e, c] >= 0:
                    out[cells[e, c]] += p
                if tails[e, c] >= 0:
                    share[tails[e, c]] += p
    return inside[nodes - 1], out
