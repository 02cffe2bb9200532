"""Messages between the nodes of a graph: what loopy max-product and TRW-S share.

    belief_v[a] = unary_v[a] + sum over the edges at v of (message to v)[a]

Every edge has two messages, to its first and to its second node, one number per label.
Nodes are visited in order and back; a sweep renews the messages to later nodes. The two
methods differ in what a node hands on and in how labels are read: see `loopy`, `trws`.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.arrays import Ints, longest, pointers
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.tables import Tables, incidence


def places(tables: Tables) -> tuple[Ints, Ints, Ints]:
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


@loop
def run_damped(
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
                    _sweep_damped(
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
                for v in range(first, end):
                    labels[v] = trial[v]
            if change <= tol:
                break
    return labels, bounds


@inner_loop
def _sweep_damped(
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
def run_reweighted(
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
    belief = np.empty(most)
    ready = np.empty(most)
    for g in range(graphs):
        first, end = node_ptr[g], node_ptr[g + 1]
        top = -np.inf
        stalled = 0
        for _ in range(max_iter):
            low = bounds[g]
            for forward in (True, False):
                value = _sweep_reweighted(
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
