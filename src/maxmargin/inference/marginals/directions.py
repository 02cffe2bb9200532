"""Directions in the marginal polytope, and how far one may go along each.

A move of mass from the labels `down` to the labels `up` falls apart: where the two
agree nothing moves, and every connected group of nodes in which they differ can be
moved by itself, with its own step, as far as its own parts carry mass. On a long graph
that is thousands of steps for one search of labels instead of one. At low treewidth
nodes are connected if they share a clique of the triangulation.

[1] Taskar, Guestrin and Koller 2003, equation (12), for one group after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.graph.junction import EliminationOrders
from maxmargin.inference.graph.tables import GraphTables, sum_by


class Direction(NamedTuple):
    """A change of marginals, in the layout of a batch: own tables for every edge."""

    node: Floats
    edge_ptr: Ints  # (m + 1,)
    edge: Floats
    room: Floats  # (groups,) how far each group may go
    group: Ints  # (nodes,) the group of each node, -1 where nothing moves
    ends: tuple[Labels, Labels] | None = None  # labels that gain mass, and that lose it

    def gain(self, tables: GraphTables, values: Floats) -> Floats:
        """Sum over nodes and labels of values * change, per group."""
        owner = np.repeat(self.group, tables.n_labels)
        moved = owner >= 0
        return sum_by(owner[moved], (values * self.node)[moved], len(self.room))

    def group_of_edge(self, tables: GraphTables) -> Ints:
        """The group that moves each edge, -1 for none."""
        ends: Ints = self.group[tables.edges]
        return ends.max(axis=1) if len(ends) else np.empty(0, np.int64)

    def graph_of_group(self, tables: GraphTables) -> Ints:
        """The graph that each group belongs to."""
        out = np.zeros(len(self.room), np.int64)
        moved = self.group >= 0
        out[self.group[moved]] = tables.graph_of_node()[moved]
        return out

    def nodes_by_group(self) -> tuple[Ints, Ints]:
        """Nodes of each group: pointers and numbers."""
        return _by_group(self.group, len(self.room))

    def edges_by_group(self, tables: GraphTables) -> tuple[Ints, Ints]:
        """Edges that each group moves: pointers and numbers."""
        return _by_group(self.group_of_edge(tables), len(self.room))


def _by_group(group: Ints, count: int) -> tuple[Ints, Ints]:
    order = np.argsort(group, kind="stable").astype(np.int64)
    ptr = np.searchsorted(group[order], np.arange(count + 1)).astype(np.int64)
    return ptr - ptr[0], order[ptr[0] :]


def connected(tables: GraphTables, differs: np.ndarray, more: Ints) -> Ints:
    """Group of each node that differs, by the edges and by the pairs `more`; else -1.

    Groups are numbered in the order of their first nodes.

    Examples
    --------
    >>> chain = GraphTables.of(np.zeros((4, 2)), [[0, 1], [1, 2], [2, 3]], np.eye(2))
    >>> connected(chain, np.array([1, 0, 1, 1], bool), np.empty((0, 2), int)).tolist()
    [0, -1, 1, 1]
    """
    return _connected(tables.edges, more, differs)


def clique_pairs(orders: EliminationOrders, where: Ints) -> Ints:
    """Pairs of nodes that a triangulation joins; `where` numbers them in the batch."""
    sizes = np.diff(orders.scope_ptr)
    first = np.repeat(where[orders.order], sizes)
    return np.column_stack((first, where[orders.scope])).astype(np.int64)


@inner_loop
def _top(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@loop
def _connected(edges, more, differs):
    n = len(differs)
    parent = np.arange(n)
    for e in range(len(edges) + len(more)):
        if e < len(edges):
            u, v = np.int64(edges[e, 0]), np.int64(edges[e, 1])
        else:
            u, v = more[e - len(edges), 0], more[e - len(edges), 1]
        if differs[u] and differs[v]:
            a, b = _top(parent, u), _top(parent, v)
            if a < b:  # the smallest node is the top: groups in order of first nodes
                parent[b] = a
            else:
                parent[a] = b
    group = np.full(n, -1, np.int64)
    count = 0
    for w in range(n):
        if differs[w]:
            top = _top(parent, w)
            if top == w:
                group[w] = count
                count += 1
            else:
                group[w] = group[top]
    return group


@loop
def room_of_groups(label_ptr, edges, edge_ptr, node, edge, up, down, group, groups):
    """Least mass of the parts that the labels `down` have and `up` have not."""
    room = np.full(groups, np.inf)
    for v in range(len(label_ptr) - 1):
        if up[v] != down[v]:
            g = group[v]
            room[g] = min(room[g], node[label_ptr[v] + down[v]])
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        if up[u] != down[u] or up[v] != down[v]:
            g = max(group[u], group[v])
            k = label_ptr[v + 1] - label_ptr[v]
            room[g] = min(room[g], edge[edge_ptr[e] + down[u] * k + down[v]])
    return room


@loop
def room_of_graphs(
    label_ptr, edges, edge_ptr, link_ptr, node, edge, change, change_edge
):
    """How far each graph may go as a whole before a part is empty."""
    graphs = len(link_ptr) - 1
    room = np.full(graphs, np.inf)
    for g in range(graphs):
        for e in range(link_ptr[g], link_ptr[g + 1]):
            for at in range(edge_ptr[e], edge_ptr[e + 1]):
                if change_edge[at] < -1e-12:
                    room[g] = min(room[g], -edge[at] / change_edge[at])
            for side in range(2):
                v = edges[e, side]
                for a in range(label_ptr[v], label_ptr[v + 1]):
                    if change[a] < -1e-12:
                        room[g] = min(room[g], -node[a] / change[a])
        if room[g] == np.inf:
            room[g] = 0.0
    return room


@inner_loop
def _clique_index(n_labels, v, scope, labels):
    at = 0
    for j in range(len(scope)):
        at = at * n_labels[scope[j]] + labels[scope[j]]
    return at * n_labels[v] + labels[v]


@loop
def fill_cliques(n_labels, order, scope_ptr, scope, labels, by, start, clique):
    """Add by[v] to the entry of the labels in the clique that ends with node v."""
    for q in range(len(order)):
        own = scope[scope_ptr[q] : scope_ptr[q + 1]]
        at = start[q] + _clique_index(n_labels, order[q], own, labels)
        clique[at] += by[order[q]]


@loop
def move_cliques(n_labels, order, scope_ptr, scope, up, down, by, start, clique):
    """Mass by[v] of the nodes that differ goes from the labels `down` to `up`."""
    for q in range(len(order)):
        own = scope[scope_ptr[q] : scope_ptr[q + 1]]
        high = _clique_index(n_labels, order[q], own, up)
        low = _clique_index(n_labels, order[q], own, down)
        if high == low:
            continue
        step = by[order[q]] if up[order[q]] != down[order[q]] else 0.0
        for v in own:
            if up[v] != down[v]:
                step = by[v]  # all that differ in a clique are of one group
        clique[start[q] + high] += step
        clique[start[q] + low] = max(clique[start[q] + low] - step, 0.0)


@loop
def clique_room(n_labels, order, scope_ptr, scope, up, down, start, clique, group,
                room):  # fmt: skip
    """Lower the room of each group to the least mass of its cliques."""
    for q in range(len(order)):
        own = scope[scope_ptr[q] : scope_ptr[q + 1]]
        high = _clique_index(n_labels, order[q], own, up)
        low = _clique_index(n_labels, order[q], own, down)
        if high != low:
            g = group[order[q]]
            for v in own:
                g = max(g, group[v])
            room[g] = min(room[g], clique[start[q] + low])
