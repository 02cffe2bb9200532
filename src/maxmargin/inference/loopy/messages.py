"""Message passing on graphs with cycles: loopy max-product and TRW-S.

    belief_v[a] = unary_v[a] + sum over the edges at v of (message to v)[a]

Every edge has two messages, one to each of its nodes, with a number per label. Nodes are
visited in order and back; each sweep renews the messages to later nodes,

    M_vu(b) = max_a  share * belief_v[a] - M_uv(a) + pairwise[a, b],   less its maximum.

Max-product has share = 1 and damps the change. It need not converge; the best labels of
all rounds are kept. Whatever the messages are, they only move score between nodes and
edges, so  sum_v max(belief_v) + sum_e max(pairwise - both messages)  is a bound.

TRW-S has share = 1 / max(edges to earlier nodes, edges to later nodes). The constants
taken out of beliefs and messages add up to an upper bound on the score of all labels,
because what a node does not hand on is at most zero. Bounds never rise; they tend to
that of a local optimum of the dual of the linear program.

[1] Pearl 1988 (max-product; Taskar et al. 2003 used it for hypertext).
[2] Kolmogorov 2006, Convergent tree-reweighted message passing, figures 3 and 4.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, longest, pointers
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.tables import (
    Best,
    GraphTables,
    improve,
    incidence,
    loose_bound,
)


def best_by_max_product(
    tables: GraphTables, max_iter: int = 50, damping: float = 0.5, tol: float = 1e-6
) -> Best:
    """Good labels of every graph, with a (weak) bound; exact on forests.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> t = GraphTables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], [[0, 1], [1, 2]], agree)
    >>> best_by_max_product(t).labels.tolist()
    [1, 1, 1]
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, but must be at least 0 and below 1")
    labels, bound = _run_damped(*tables, *_places(tables), max_iter, damping, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    bound = np.minimum(bound, loose_bound(tables))
    return Best(labels, score, np.maximum(bound, score))


def best_by_trws(tables: GraphTables, max_iter: int = 50, tol: float = 1e-6) -> Best:
    """Good labels of every graph, and a bound that no labels exceed.

    Parameters
    ----------
    tables : GraphTables
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
    >>> found = best_by_trws(GraphTables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], ring, agree))
    >>> found.labels.tolist(), found.score.round(6).tolist()
    ([1, 1, 1], [3.6])
    """
    labels, bound = _trws(tables, max_iter, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    return Best(labels, score, np.maximum(bound, score))


def trws_bound(tables: GraphTables, max_iter: int = 10) -> Floats:
    """An upper bound on the score of all labels of each graph."""
    return _trws(tables, max_iter, 1e-6)[1]


def _trws(tables: GraphTables, max_iter: int, tol: float) -> tuple[Labels, Floats]:
    parts = (*tables[:1], *tables[2:], *_places(tables))
    return _run_reweighted(*parts, max_iter, tol)


def _places(tables: GraphTables) -> tuple[Ints, Ints, Ints]:
    """Edges at each node (pointers, edges), and where the messages of edges start."""
    k = tables.n_labels
    start = pointers(k[tables.edges[:, 0]] + k[tables.edges[:, 1]])
    return *incidence(tables.edges, tables.n_nodes), start


@inner_loop
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


@inner_loop
def _renew(k, ku, forward, start, pairwise, message, belief, share, ready, fresh):
    """Fresh message over an edge; its maximum, and where the message has its place.

    `start` is where the two messages of the edge begin, the one to its first node
    first; `forward`: from the first node to the second. The table is that of the edge.
    """
    own, out = (start, start + k) if forward else (start + ku, start)
    for a in range(k):
        ready[a] = share * belief[a] - message[own + a]
    if forward:
        for b in range(ku):
            fresh[b] = -np.inf
        for a in range(k):
            for b in range(ku):
                fresh[b] = max(fresh[b], ready[a] + pairwise[a * ku + b])
    else:
        for b in range(ku):
            fresh[b] = -np.inf
            for a in range(k):
                fresh[b] = max(fresh[b], ready[a] + pairwise[b * k + a])
    top = fresh[0]
    for b in range(1, ku):
        top = max(top, fresh[b])
    return top, out


@loop
def _run_damped(
    node_ptr, edge_ptr, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start,
    max_iter, damping, tol,
):  # fmt: skip
    """Loopy max-product: labels, and bounds."""
    graphs = len(node_ptr) - 1
    message = np.zeros(start[-1])
    labels = np.zeros(len(label_ptr) - 1, np.int32)
    trial = np.zeros(len(label_ptr) - 1, np.int32)
    bounds = np.full(graphs, np.inf)
    most = longest(label_ptr)
    belief, ready, fresh = np.empty((3, most))
    for g in range(graphs):
        first, end = node_ptr[g], node_ptr[g + 1]
        top = -np.inf
        for i in range(max_iter):
            change = 0.0
            for forward in (True, False):
                keep = 0.0 if i == 0 else damping
                change = max(
                    change,
                    _sweep_damped(
                        first, end, forward, label_ptr, unary, edges, pair_ptr,
                        pairwise, ptr, near, start, message, belief, ready, fresh, keep,
                    ),
                )  # fmt: skip
            score, bound = _read(
                first, end, edge_ptr[g], edge_ptr[g + 1], label_ptr, unary, edges,
                pair_ptr, pairwise, ptr, near, start, message, belief, trial,
            )  # fmt: skip
            bounds[g] = min(bounds[g], bound)
            if score > top:
                top = score
                for v in range(first, end):
                    labels[v] = trial[v]
            if change <= tol:
                break
    return labels, bounds


@inner_loop
def _sweep_damped(
    first, end, forward, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start,
    message, belief, ready, fresh, keep,
):  # fmt: skip
    """Renew messages towards later nodes; the largest change."""
    change = 0.0
    for q in range(end - first):
        v = first + q if forward else end - 1 - q
        k = label_ptr[v + 1] - label_ptr[v]
        _gather(v, label_ptr, unary, edges, ptr, near, start, message, belief)
        for p in range(ptr[v], ptr[v + 1]):
            e = near[p]
            u = edges[e, 0] + edges[e, 1] - v
            if (u > v) != forward:
                continue
            ku = label_ptr[u + 1] - label_ptr[u]
            top, out = _renew(
                k, ku, edges[e, 0] == v, start[e], pairwise[pair_ptr[e] :], message,
                belief, 1.0, ready, fresh,
            )  # fmt: skip
            for b in range(ku):
                new = keep * message[out + b] + (1.0 - keep) * (fresh[b] - top)
                change = max(change, abs(new - message[out + b]))
                message[out + b] = new
    return change


@inner_loop
def _read(
    first, end, first_edge, end_edge, label_ptr, unary, edges, pair_ptr, pairwise, ptr,
    near, start, message, belief, labels,
):  # fmt: skip
    """Labels of highest belief, their score, and the bound of the messages."""
    score, bound = 0.0, 0.0
    for v in range(first, end):
        _gather(v, label_ptr, unary, edges, ptr, near, start, message, belief)
        best = 0
        for a in range(label_ptr[v + 1] - label_ptr[v]):
            if belief[a] > belief[best]:
                best = a
        labels[v] = best
        bound += belief[best]
        score += unary[label_ptr[v] + best]
    for e in range(first_edge, end_edge):
        u, v = edges[e, 0], edges[e, 1]
        ku = label_ptr[u + 1] - label_ptr[u]
        kv = label_ptr[v + 1] - label_ptr[v]
        score += pairwise[pair_ptr[e] + labels[u] * kv + labels[v]]
        top = -np.inf
        for a in range(ku):
            for b in range(kv):
                s = pairwise[pair_ptr[e] + a * kv + b]
                s -= message[start[e] + a] + message[start[e] + ku + b]
                top = max(top, s)
        bound += top
    return score, bound


@loop
def _run_reweighted(
    node_ptr, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start, max_iter,
    tol,
):  # fmt: skip
    """TRW-S: labels, and bounds."""
    graphs = len(node_ptr) - 1
    message = np.zeros(start[-1])
    labels = np.zeros(len(label_ptr) - 1, np.int32)
    trial = np.zeros(len(label_ptr) - 1, np.int32)
    bounds = np.full(graphs, np.inf)
    most = longest(label_ptr)
    belief, ready, fresh = np.empty((3, most))
    for g in range(graphs):
        first, end = node_ptr[g], node_ptr[g + 1]
        top = -np.inf
        stalled = 0
        for _ in range(max_iter):
            low = bounds[g]
            for forward in (True, False):
                value = _sweep_reweighted(
                    first, end, forward, label_ptr, unary, edges, pair_ptr, pairwise,
                    ptr, near, start, message, belief, ready, fresh,
                )  # fmt: skip
                bounds[g] = min(bounds[g], value)
            score = _round(
                first, end, label_ptr, unary, edges, pair_ptr, pairwise,
                ptr, near, start, message, belief, trial,
            )  # fmt: skip
            if score > top:
                top = score
                for v in range(first, end):
                    labels[v] = trial[v]
            size = 1.0 + abs(bounds[g])
            if bounds[g] - top <= tol * size:
                break
            stalled = stalled + 1 if low - bounds[g] <= tol * size else 0
            if stalled >= 5:
                break
    return labels, bounds


@inner_loop
def _sweep_reweighted(
    first, end, forward, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start,
    message, belief, ready, fresh,
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
            top, out = _renew(
                k, ku, edges[e, 0] == v, start[e], pairwise[pair_ptr[e] :], message,
                belief, share, ready, fresh,
            )  # fmt: skip
            bound += top
            for b in range(ku):
                message[out + b] = fresh[b] - top
    return bound


@inner_loop
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
