"""Exact inference on forests: the best labels, and sums over all labels.

    up_v(a) = unary_v[a] + sum over children c of  max_b  pairwise[a, b] + up_c(b)

Nodes are visited from the leaves to the roots, then back (max-product; Viterbi on a
chain). With log-sum-exp for max the same passes give log Z and the marginals of nodes
and edges. Linear in nodes and edges; a batch of graphs is one forest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.tables import Best, GraphTables, incidence


class Rooted(NamedTuple):
    """A spanning forest: every node after its parent in `order`."""

    order: Ints  # (nodes,)
    parent: Ints  # (nodes,) edge to the parent, -1 for roots


class Marginals(NamedTuple):
    """Probabilities under exp(score) / Z, in the layout of the tables."""

    node: Floats  # like `unary`
    edge_ptr: Ints  # (m + 1,) where the table of each edge starts: never shared
    edge: Floats
    log_z: Floats  # (graphs,)


def count_cyclic(node_ptr: Ints, edge_ptr: Ints, edges: Labels) -> Ints:
    """Number of edges of each graph that close a cycle; 0 for forests."""
    return _cyclic(node_ptr, edge_ptr, edges)


def rooted(tables: GraphTables) -> Rooted:
    """Roots, parents and an order; refuses graphs with cycles."""
    extra = count_cyclic(tables.node_ptr, tables.edge_ptr, tables.edges)
    if extra.any():
        g = int(np.flatnonzero(extra)[0])
        raise ValueError(
            f"graph {g} is not a forest: {extra[g]} of its edges close cycles"
        )
    near = incidence(tables.edges, tables.n_nodes)
    return Rooted(*_root(tables.edges, *near))


def best_in_forest(tables: GraphTables) -> Best:
    """Best labels of every graph, exactly.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> t = GraphTables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], [[0, 1], [1, 2]], agree)
    >>> found = best_in_forest(t)
    >>> found.labels.tolist(), found.score.tolist()
    ([1, 1, 1], [2.6])
    """
    tree = rooted(tables)
    labels = _best(*tables[2:], *tree)
    score = tables.score(labels)
    return Best(labels, score, score.copy())


def marginals(tables: GraphTables) -> Marginals:
    """Log Z of each graph, marginals of nodes and edges (sum-product)."""
    tree = rooted(tables)
    k = tables.n_labels
    edge_ptr = pointers(k[tables.edges[:, 0]] * k[tables.edges[:, 1]])
    node, edge, log_z = _marginals(*tables[2:], *tree, edge_ptr)
    by_graph = np.zeros(tables.n)
    np.add.at(by_graph, tables.graph_of_node(), log_z)
    return Marginals(node, edge_ptr, edge, by_graph)


@loop
def _cyclic(node_ptr, edge_ptr, edges):
    n = len(node_ptr) - 1
    out = np.zeros(n, np.int64)
    up = np.arange(node_ptr[-1])
    for g in range(n):
        for e in range(edge_ptr[g], edge_ptr[g + 1]):
            a, b = np.int64(edges[e, 0]), np.int64(edges[e, 1])
            while up[a] != a:
                up[a] = up[up[a]]
                a = up[a]
            while up[b] != b:
                up[b] = up[up[b]]
                b = up[b]
            if a == b:
                out[g] += 1
            else:
                up[max(a, b)] = min(a, b)
    return out


@loop
def _root(edges, ptr, near):
    nodes = len(ptr) - 1
    order = np.empty(nodes, np.int64)
    parent = np.full(nodes, -1)
    seen = np.zeros(nodes, np.bool_)
    m = 0
    head = 0
    for root in range(nodes):
        if seen[root]:
            continue
        seen[root] = True
        order[m] = root
        m += 1
        while head < m:
            v = order[head]
            head += 1
            for p in range(ptr[v], ptr[v + 1]):
                e = near[p]
                u = edges[e, 0] + edges[e, 1] - v
                if not seen[u]:
                    seen[u] = True
                    parent[u] = e
                    order[m] = u
                    m += 1
    return order, parent


@loop
def _best(label_ptr, unary, edges, pair_ptr, pairwise, order, parent):
    up = unary.copy()
    nodes = len(order)
    start = np.zeros(nodes, np.int64)  # where the choices for each parent label are
    size = 0
    for v in range(nodes):
        if parent[v] >= 0:
            p = edges[parent[v], 0] + edges[parent[v], 1] - v
            start[v] = size
            size += label_ptr[p + 1] - label_ptr[p]
    choice = np.empty(size, np.int32)
    for q in range(nodes - 1, -1, -1):
        v = order[q]
        e = parent[v]
        if e < 0:
            continue
        p = edges[e, 0] + edges[e, 1] - v
        k = label_ptr[v + 1] - label_ptr[v]
        kp = label_ptr[p + 1] - label_ptr[p]
        below = up[label_ptr[v] : label_ptr[v + 1]]
        table = pairwise[pair_ptr[e] : pair_ptr[e] + k * kp]
        row, column = (kp, 1) if edges[e, 0] == v else (1, k)
        for b in range(kp):
            at = 0
            most = -np.inf
            for a in range(k):
                s = below[a] + table[a * row + b * column]
                if s > most:
                    most = s
                    at = a
            up[label_ptr[p] + b] += most
            choice[start[v] + b] = at
    labels = np.zeros(nodes, np.int32)
    for q in range(nodes):
        v = order[q]
        e = parent[v]
        if e < 0:
            labels[v] = np.argmax(up[label_ptr[v] : label_ptr[v + 1]])
        else:
            labels[v] = choice[start[v] + labels[edges[e, 0] + edges[e, 1] - v]]
    return labels


@inner_loop
def _log_sum(values):
    most = values.max()
    if most == -np.inf:
        return most
    s = 0.0
    for a in range(len(values)):
        s += np.exp(values[a] - most)
    return most + np.log(s)


@loop
def _marginals(label_ptr, unary, edges, pair_ptr, pairwise, order, parent, edge_ptr):
    nodes = len(order)
    up = unary.copy()
    most = 0
    for v in range(nodes):
        most = max(most, label_ptr[v + 1] - label_ptr[v])
    sent = np.zeros(nodes * most)  # message of each node to its parent
    term = np.empty(most)
    log_z = np.zeros(nodes)
    for q in range(nodes - 1, -1, -1):
        v = order[q]
        e = parent[v]
        k = label_ptr[v + 1] - label_ptr[v]
        if e < 0:
            log_z[v] = _log_sum(up[label_ptr[v] : label_ptr[v + 1]])
            continue
        p = edges[e, 0] + edges[e, 1] - v
        kp = label_ptr[p + 1] - label_ptr[p]
        row, column = (kp, 1) if edges[e, 0] == v else (1, k)
        for b in range(kp):
            for a in range(k):
                at = pair_ptr[e] + a * row + b * column
                term[a] = up[label_ptr[v] + a] + pairwise[at]
            sent[v * most + b] = _log_sum(term[:k])
            up[label_ptr[p] + b] += sent[v * most + b]
    node = np.empty(len(unary))
    edge = np.empty(edge_ptr[-1])
    for q in range(nodes):
        v = order[q]
        e = parent[v]
        k = label_ptr[v + 1] - label_ptr[v]
        if e < 0:
            for a in range(k):
                node[label_ptr[v] + a] = np.exp(up[label_ptr[v] + a] - log_z[v])
            continue
        p = edges[e, 0] + edges[e, 1] - v
        kp = label_ptr[p + 1] - label_ptr[p]
        row, column = (kp, 1) if edges[e, 0] == v else (1, k)
        node[label_ptr[v] : label_ptr[v + 1]] = 0.0
        for b in range(kp):
            for a in range(k):
                at = a * row + b * column
                given = up[label_ptr[v] + a] + pairwise[pair_ptr[e] + at]
                share = np.exp(given - sent[v * most + b]) * node[label_ptr[p] + b]
                edge[edge_ptr[e] + at] = share
                node[label_ptr[v] + a] += share
    return node, edge, log_z
