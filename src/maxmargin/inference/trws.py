"""A convergent dual bound with rounding: sequential tree-reweighted messages, TRW-S.

A sweep visits the nodes in order. With D = unary_v + all messages at v and
gamma = 1 / max(edges to earlier nodes, edges to later nodes), each later neighbour gets

    M(b) = max over a of  gamma * D[a] - (its message to v)[a] + pairwise[a, b]

and the constants taken out of D and M add up to an upper bound on the score of all
labels: what a node does not hand on is at most zero, so the bound holds whatever the
messages are. Bounds never rise; they tend to that of a local optimum of the LP's dual.

[1] Kolmogorov 2006, Convergent tree-reweighted message passing, figures 3 and 4.
"""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import Floats, pointers
from maxmargin.inference.tables import Best, Tables, improve, incidence
from maxmargin.jit import loop


def best(tables: Tables, max_iter: int = 50, tol: float = 1e-6) -> Best:
    """Good labels of every graph, and a bound that no labels exceed.

    Parameters
    ----------
    tables : Tables
        Any graphs.
    max_iter : int
        Pairs of sweeps (forward and back), at most.
    tol : float
        Stop a graph when bound and score agree to this, relative to their size, or
        when the bound has stopped falling.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ring = [[0, 1], [1, 2], [2, 0]]
    >>> found = best(Tables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], ring, agree))
    >>> found.labels.tolist(), found.score.round(6).tolist()
    ([1, 1, 1], [3.6])
    """
    messages = np.zeros(_message_ptr(tables)[-1])
    labels, bound = _solve(tables, messages, max_iter, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    return Best(labels, score, np.maximum(bound, score))


def bound(tables: Tables, max_iter: int = 10) -> Floats:
    """An upper bound on the score of all labels of each graph."""
    messages = np.zeros(_message_ptr(tables)[-1])
    return _solve(tables, messages, max_iter, 1e-6)[1]


def _message_ptr(tables: Tables) -> np.ndarray:
    k = tables.n_labels
    return pointers(k[tables.edges[:, 0]] + k[tables.edges[:, 1]])


def _solve(
    tables: Tables, messages: Floats, max_iter: int, tol: float
) -> tuple[np.ndarray, Floats]:
    near = incidence(tables.edges, tables.n_nodes)
    start = _message_ptr(tables)
    return _run(*tables[:1], *tables[2:], *near, start, messages, max_iter, tol)


@loop
def _run(
    node_ptr, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start, message,
    max_iter, tol,
):  # fmt: skip
    graphs = len(node_ptr) - 1
    labels = np.zeros(len(label_ptr) - 1, np.int32)
    trial = np.zeros(len(label_ptr) - 1, np.int32)
    bounds = np.full(graphs, np.inf)
    most = 1
    for v in range(len(label_ptr) - 1):
        most = max(most, label_ptr[v + 1] - label_ptr[v])
    belief = np.empty(most)
    ready = np.empty(most)
    for g in range(graphs):
        first, end = node_ptr[g], node_ptr[g + 1]
        top = -np.inf
        stalled = 0
        for _ in range(max_iter):
            low = bounds[g]
            for forward in (True, False):
                value = _sweep(
                    first, end, forward, label_ptr, unary, edges, pair_ptr, pairwise,
                    ptr, near, start, message, belief, ready,
                )  # fmt: skip
                bounds[g] = min(bounds[g], value)
            score = _round(
                first, end, label_ptr, unary, edges, pair_ptr, pairwise,
                ptr, near, start, message, belief, trial,
            )  # fmt: skip
            if score > top:
                top = score
                labels[first:end] = trial[first:end]
            size = 1.0 + abs(bounds[g])
            if bounds[g] - top <= tol * size:
                break
            stalled = stalled + 1 if low - bounds[g] <= tol * size else 0
            if stalled >= 5:
                break
    return labels, bounds


@loop
def _gather(v, label_ptr, unary, edges, ptr, near, start, message, belief):
    """Belief: unary + all messages at v."""
    k = label_ptr[v + 1] - label_ptr[v]
    for a in range(k):
        belief[a] = unary[label_ptr[v] + a]
    for p in range(ptr[v], ptr[v + 1]):
        e = near[p]
        at = start[e] if edges[e, 0] == v else start[e + 1] - k
        for a in range(k):
            belief[a] += message[at + a]


@loop
def _sweep(
    first, end, forward, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start,
    message, belief, ready,
):  # fmt: skip
    """Send messages in one direction; the bound that their constants add up to."""
    bound = 0.0
    for q in range(end - first):
        v = first + q if forward else end - 1 - q
        k = label_ptr[v + 1] - label_ptr[v]
        later = 0
        for p in range(ptr[v], ptr[v + 1]):
            e = near[p]
            later += 1 if edges[e, 0] + edges[e, 1] > 2 * v else 0
        degree = ptr[v + 1] - ptr[v]
        share = 1.0 / max(later, degree - later, 1)
        _gather(v, label_ptr, unary, edges, ptr, near, start, message, belief)
        top = belief[:k].max()
        bound += top
        for a in range(k):
            belief[a] -= top
        for p in range(ptr[v], ptr[v + 1]):
            e = near[p]
            u = edges[e, 0] + edges[e, 1] - v
            if (u > v) != forward:
                continue
            ku = label_ptr[u + 1] - label_ptr[u]
            at = pair_ptr[e]
            if edges[e, 0] == v:
                own, out = start[e], start[e] + k
                for b in range(ku):
                    message[out + b] = -np.inf
                for a in range(k):
                    s = share * belief[a] - message[own + a]
                    for b in range(ku):
                        message[out + b] = max(message[out + b], s + pairwise[at + b])
                    at += ku
            else:
                own, out = start[e] + ku, start[e]
                for a in range(k):
                    ready[a] = share * belief[a] - message[own + a]
                for b in range(ku):
                    t = -np.inf
                    for a in range(k):
                        t = max(t, ready[a] + pairwise[at + a])
                    message[out + b] = t
                    at += k
            top = message[out : out + ku].max()
            bound += top
            for b in range(ku):
                message[out + b] -= top
    return bound


@loop
def _round(
    first, end, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start, message,
    belief, labels,
):  # fmt: skip
    """Fix nodes in order: tables to fixed neighbours, messages from the others."""
    score = 0.0
    for v in range(first, end):
        k = label_ptr[v + 1] - label_ptr[v]
        for a in range(k):
            belief[a] = unary[label_ptr[v] + a]
        for p in range(ptr[v], ptr[v + 1]):
            e = near[p]
            u = edges[e, 0] + edges[e, 1] - v
            ku = label_ptr[u + 1] - label_ptr[u]
            if u > v:
                at = start[e] if edges[e, 0] == v else start[e + 1] - k
                for a in range(k):
                    belief[a] += message[at + a]
            elif edges[e, 0] == v:
                for a in range(k):
                    belief[a] += pairwise[pair_ptr[e] + a * ku + labels[u]]
            else:
                for a in range(k):
                    belief[a] += pairwise[pair_ptr[e] + labels[u] * k + a]
        best = 0
        for a in range(k):
            if belief[a] > belief[best]:
                best = a
        labels[v] = best
        score += belief[best]
        for p in range(ptr[v], ptr[v + 1]):
            e = near[p]
            if edges[e, 0] + edges[e, 1] > 2 * v:
                at = start[e] if edges[e, 0] == v else start[e + 1] - k
                score -= message[at + best]
    return score
