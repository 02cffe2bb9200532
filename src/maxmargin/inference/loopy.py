"""Loopy max-product with damping: belief propagation where it need not converge.

    M_vu(b) <- damping * M_vu(b) + (1 - damping) * max over a of
               unary_v[a] + sum of messages to v except from u + pairwise[a, b]

Nodes are visited in order and back. The best labels of all rounds are kept. Any
messages move score between nodes and edges without changing the total, so
sum_v max(unary + messages) + sum_e max(pairwise - both messages) is a valid bound.

[1] Pearl 1988; the inference that Taskar et al. 2003 used for hypertext.
"""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import pointers
from maxmargin.inference.tables import Best, Tables, improve, incidence, loose_bound
from maxmargin.jit import loop


def best(
    tables: Tables, max_iter: int = 50, damping: float = 0.5, tol: float = 1e-6
) -> Best:
    """Good labels of every graph, with a (weak) bound; exact on forests.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> t = Tables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], [[0, 1], [1, 2]], agree)
    >>> best(t).labels.tolist()
    [1, 1, 1]
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, but must be at least 0 and below 1")
    k = tables.n_labels
    start = pointers(k[tables.edges[:, 0]] + k[tables.edges[:, 1]])
    near = incidence(tables.edges, tables.n_nodes)
    labels, bound = _run(*tables, *near, start, max_iter, damping, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    bound = np.minimum(bound, loose_bound(tables))
    return Best(labels, score, np.maximum(bound, score))


@loop
def _run(
    node_ptr, edge_ptr, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, start,
    max_iter, damping, tol,
):  # fmt: skip
    graphs = len(node_ptr) - 1
    message = np.zeros(start[-1])
    labels = np.zeros(len(label_ptr) - 1, np.int32)
    trial = np.zeros(len(label_ptr) - 1, np.int32)
    bounds = np.full(graphs, np.inf)
    most = 1
    for v in range(len(label_ptr) - 1):
        most = max(most, label_ptr[v + 1] - label_ptr[v])
    belief = np.empty(most)
    fresh = np.empty(most)
    for g in range(graphs):
        first, end = node_ptr[g], node_ptr[g + 1]
        top = -np.inf
        for i in range(max_iter):
            change = 0.0
            for forward in (True, False):
                keep = 0.0 if i == 0 else damping
                change = max(
                    change,
                    _sweep(
                        first, end, forward, label_ptr, unary, edges, pair_ptr,
                        pairwise, ptr, near, start, message, belief, fresh, keep,
                    ),
                )  # fmt: skip
            score, bound = _read(
                first, end, edge_ptr[g], edge_ptr[g + 1], label_ptr, unary, edges,
                pair_ptr, pairwise, ptr, near, start, message, belief, trial,
            )  # fmt: skip
            bounds[g] = min(bounds[g], bound)
            if score > top:
                top = score
                labels[first:end] = trial[first:end]
            if change <= tol:
                break
    return labels, bounds


@loop
def _gather(v, label_ptr, unary, edges, ptr, near, start, message, belief):
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
    message, belief, fresh, keep,
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
            if edges[e, 0] == v:
                own, out, row, column = start[e], start[e] + k, ku, 1
            else:
                own, out, row, column = start[e] + ku, start[e], 1, k
            fresh[:ku] = -np.inf
            for a in range(k):
                s = belief[a] - message[own + a]
                for b in range(ku):
                    t = s + pairwise[pair_ptr[e] + a * row + b * column]
                    if t > fresh[b]:
                        fresh[b] = t
            top = fresh[:ku].max()
            for b in range(ku):
                new = keep * message[out + b] + (1.0 - keep) * (fresh[b] - top)
                change = max(change, abs(new - message[out + b]))
                message[out + b] = new
    return change


@loop
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
