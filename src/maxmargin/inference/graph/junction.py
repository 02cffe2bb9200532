"""Exact inference on graphs of low treewidth, by elimination (junction tree).

For each node v in an elimination order, with scope S (its later neighbours):

    message(y_S) = max over y_v of  unary_v + edges between v and S + messages at v

The messages of a min-fill order pass up the junction tree of the triangulated graph;
the choices are read back from the last node to the first. Tables of more than
`triangulation.MAX_TABLE` entries are refused, with the treewidth in the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, pointers
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.tables import Best, GraphTables
from maxmargin.inference.graph.triangulation import Elimination, eliminate


class EliminationOrders(NamedTuple):
    """Elimination orders of a batch, with the batch's node numbers."""

    order: Ints  # (nodes,)
    scope_ptr: Ints  # (nodes + 1,) by position in the order
    scope: Ints


def stack(parts: Sequence[Elimination], node_ptr: Ints) -> EliminationOrders:
    """The orders of the graphs of a batch, one after the other."""
    starts = node_ptr[:-1].tolist()
    pairs = list(zip(parts, starts, strict=True))
    return EliminationOrders(
        np.concatenate([p.order + at for p, at in pairs]).astype(np.int64),
        pointers(np.concatenate([np.diff(p.scope_ptr) for p in parts])),
        np.concatenate([p.scope + at for p, at in pairs]).astype(np.int64),
    )


def eliminate_all(tables: GraphTables) -> EliminationOrders:
    """Min-fill orders of all graphs; refuses graphs that are too dense."""
    parts = []
    for g in range(tables.n):
        a, b = tables.node_ptr[g], tables.node_ptr[g + 1]
        edges = tables.edges[tables.edge_ptr[g] : tables.edge_ptr[g + 1]] - a
        parts.append(eliminate(tables.n_labels[a:b], edges, what=f"graph {g}"))
    return stack(parts, tables.node_ptr)


def clique_pointers(tables: GraphTables, orders: EliminationOrders) -> Ints:
    """Where a table over each clique (scope..., node) starts, by position."""
    k = tables.n_labels
    out = _clique_sizes(k, *orders)
    return pointers(out)


def best_by_elimination(
    tables: GraphTables,
    orders: EliminationOrders | None = None,
    cliques: Floats | None = None,
) -> Best:
    """Best labels of every graph, exactly.

    `cliques` adds a table over every clique, laid out by `clique_pointers`; it counts
    in the choice and not in the score.

    Examples
    --------
    >>> odd = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> t = GraphTables.of([[0.1, 0], [0, 0], [0, 0]], [[0, 1], [1, 2], [2, 0]], odd)
    >>> best_by_elimination(t).score.tolist()
    [2.1]
    """
    if tables.n == 0:
        return Best(np.empty(0, np.int32), np.empty(0), np.empty(0))
    if orders is None:
        orders = eliminate_all(tables)
    extra = np.empty(0) if cliques is None else cliques
    labels = _best(*tables[:1], *tables[2:], *orders, extra)
    score = tables.score(labels)
    return Best(labels, score, score.copy())


@inner_loop
def _add_factor(joint, size, stride, factor, start, sign):
    """joint[index] += sign * factor[start + strides], over all indices."""
    axes = len(size)
    index = np.zeros(axes, np.int64)
    at = start
    last = size[axes - 1]
    step = stride[axes - 1]
    for base in range(0, len(joint), last):
        for j in range(last):
            joint[base + j] += sign * factor[at + j * step]
        for axis in range(axes - 2, -1, -1):
            index[axis] += 1
            at += stride[axis]
            if index[axis] < size[axis]:
                break
            at -= stride[axis] * size[axis]
            index[axis] = 0


@inner_loop
def _max_last(joint, last, message, choice):
    for q in range(len(joint) // last):
        at = 0
        most = joint[q * last]
        for a in range(1, last):
            if joint[q * last + a] > most:
                most = joint[q * last + a]
                at = a
        message[q] = most
        choice[q] = at


@inner_loop
def _place(label_ptr, edges, first, end, order, scope_ptr, scope, position):
    """Sizes of the messages of one graph; lists of edges and messages per position."""
    count = end - first
    size = np.ones(count, np.int64)
    head = np.full(count, -1)  # first message that arrives at the position
    following = np.full(count, -1)
    for q in range(count):
        nearest = count
        for p in range(scope_ptr[first + q], scope_ptr[first + q + 1]):
            u = scope[p]
            size[q] *= label_ptr[u + 1] - label_ptr[u]
            nearest = min(nearest, position[u])
        if nearest < count:
            following[q] = head[nearest]
            head[nearest] = q
    return size, head, following


@loop
def _clique_sizes(n_labels, order, scope_ptr, scope):
    out = np.empty(len(order), np.int64)
    for q in range(len(order)):
        out[q] = n_labels[order[q]]
        for p in range(scope_ptr[q], scope_ptr[q + 1]):
            out[q] *= n_labels[scope[p]]
    return out


@inner_loop
def _axes(label_ptr, v, scope, stride_of, size):
    """Sizes of the axes (scope..., v); stride_of[node] = axis."""
    for j in range(len(scope)):
        size[j] = label_ptr[scope[j] + 1] - label_ptr[scope[j]]
        stride_of[scope[j]] = j
    size[len(scope)] = label_ptr[v + 1] - label_ptr[v]
    stride_of[v] = len(scope)


@loop
def _best(
    node_ptr, label_ptr, unary, edges, pair_ptr, pairwise, order, scope_ptr, scope,
    cliques,
):  # fmt: skip
    nodes = len(order)
    at_clique = 0
    position = np.empty(nodes, np.int64)
    for g in range(len(node_ptr) - 1):
        for q in range(node_ptr[g], node_ptr[g + 1]):
            position[order[q]] = q - node_ptr[g]
    edge_head = np.full(nodes, -1)  # edges by the node that is eliminated first
    edge_next = np.full(len(edges), -1)
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        if position[v] < position[u]:
            u = v
        edge_next[e] = edge_head[u]
        edge_head[u] = e
    axis = np.zeros(nodes, np.int64)
    labels = np.zeros(nodes, np.int32)
    for g in range(len(node_ptr) - 1):
        first, end = node_ptr[g], node_ptr[g + 1]
        size, head, following = _place(
            label_ptr, edges, first, end, order, scope_ptr, scope, position
        )
        start = np.zeros(end - first + 1, np.int64)
        for q in range(end - first):
            start[q + 1] = start[q] + size[q]
        message = np.empty(start[-1])
        choice = np.empty(start[-1], np.int32)
        for q in range(end - first):
            v = order[first + q]
            own = scope[scope_ptr[first + q] : scope_ptr[first + q + 1]]
            width = len(own) + 1
            sizes = np.empty(width, np.int64)
            _axes(label_ptr, v, own, axis, sizes)
            joint = np.zeros(size[q] * sizes[width - 1])
            if len(cliques) > 0:
                for p in range(len(joint)):
                    joint[p] = cliques[at_clique + p]
                at_clique += len(joint)
            stride = np.zeros(width, np.int64)
            stride[width - 1] = 1
            _add_factor(joint, sizes, stride, unary, label_ptr[v], 1.0)
            e = edge_head[v]
            while e >= 0:
                stride[:] = 0
                a, b = edges[e, 0], edges[e, 1]
                stride[axis[a]] = label_ptr[b + 1] - label_ptr[b]
                stride[axis[b]] = 1
                _add_factor(joint, sizes, stride, pairwise, pair_ptr[e], 1.0)
                e = edge_next[e]
            m = head[q]
            while m >= 0:
                stride[:] = 0
                step = 1
                for p in range(
                    scope_ptr[first + m + 1] - 1, scope_ptr[first + m] - 1, -1
                ):
                    u = scope[p]
                    stride[axis[u]] = step
                    step *= label_ptr[u + 1] - label_ptr[u]
                _add_factor(joint, sizes, stride, message, start[m], 1.0)
                m = following[m]
            _max_last(joint, sizes[width - 1], message[start[q] :], choice[start[q] :])
        for q in range(end - first - 1, -1, -1):
            at = 0
            for p in range(scope_ptr[first + q], scope_ptr[first + q + 1]):
                u = scope[p]
                at = at * (label_ptr[u + 1] - label_ptr[u]) + labels[u]
            labels[order[first + q]] = choice[start[q] + at]
    return labels
