"""The best labels of a forest for every value of an integer cost, exactly.

    F_v(a, d) = best score of the subtree of v with y_v = a and cost d in the subtree

where the cost of labels y is sum_v cost_v[y_v]. Children are merged one at a time by
(max, +) convolution over d; costs above `cap` share the last layer, so cap=1 asks for
the best labels with cost 0 and the best with any cost. This is what slack rescaling
and the per-error-level functions M_d of Taskar et al. 2003 (Definition A.4) need.

`eliminated_by_cost` does the same for graphs of low treewidth and their factors: tables
of the junction tree have a further axis, the cost of what has been eliminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.core.jit import loop
from maxmargin.inference.graph.decode import DENSE, FOREST, GraphPlan
from maxmargin.inference.graph.forest import rooted
from maxmargin.inference.graph.junction import EliminationOrders, clique_pointers
from maxmargin.inference.graph.tables import GraphTables, spans

MAX_ENTRIES = 1 << 26  # of the largest array kept: half a gigabyte
MOST_LAYERED = (
    1 << 20
)  # entries of a table of a junction tree, with an axis for the cost


class Layered(NamedTuple):
    """Attainable costs of each graph, lowest first: rows ptr[g]:ptr[g + 1]."""

    ptr: Ints  # (graphs + 1,)
    cost: Ints  # (rows,) the cap where the cost is at least the cap
    score: Floats  # (rows,)
    label_ptr: Ints  # (rows + 1,)
    labels: Labels  # local labels of the nodes of the graph


def best_by_cost(tables: GraphTables, cost: Ints, cap: int | None = None) -> Layered:
    """Best labels of each graph for each attainable cost.

    Parameters
    ----------
    tables : GraphTables
        Of forests.
    cost : int64 array, like `tables.unary`
        Cost >= 0 of each label of each node.
    cap : int, optional
        Costs from here on share one layer.

    Examples
    --------
    >>> t = GraphTables.of([[3.0, 0.0], [1.0, 0.0]], [[0, 1]], np.array([[0.0, 2], [0, 0]]))
    >>> layers = best_by_cost(t, np.array([0, 1, 0, 1]))
    >>> layers.cost.tolist(), layers.score.tolist()
    ([0, 1, 2], [4.0, 5.0, 0.0])
    """
    tree = rooted(tables)
    top = np.iinfo(np.int32).max if cap is None else cap
    graph = tables.graph_of_node()
    depth, edge_size, node_size = _sizes(
        tables.label_ptr, tables.edges, *tree, graph, tables.n, cost, top
    )
    at_node, at_edge = pointers(node_size), pointers(edge_size)
    largest = max(at_node[-1], at_edge[-1])
    if largest > MAX_ENTRIES:
        raise ValueError(
            f"the layers of these graphs need {largest} entries, more than "
            f"{MAX_ENTRIES}: the loss takes too many values on graphs of this size"
        )
    value, choice, first, second = _merge(
        *tables[2:], *tree, graph, tables.n, cost, top, depth, at_node, at_edge
    )
    roots = tables.n_nodes + np.arange(tables.n)
    found = [value[at_node[r] : at_node[r] + depth[r] + 1] for r in roots]
    costs = [np.flatnonzero(f > -np.inf) for f in found]
    ptr = pointers([len(c) for c in costs])
    level = np.concatenate(costs) if costs else np.empty(0, np.int64)
    sizes = np.repeat(np.diff(tables.node_ptr), np.diff(ptr))
    label_ptr = pointers(sizes)
    labels = _trace(
        tables.label_ptr, tables.edges, *tree, tables.node_ptr,
        depth, at_edge, choice, first, second, ptr, level, label_ptr,
    )  # fmt: skip
    score = np.concatenate([f[c] for f, c in zip(found, costs, strict=True)])
    return Layered(ptr, level, score, label_ptr, labels)


def small_trees(graphs: GraphPlan, n_labels: Ints) -> bool:
    """Whether the best labels for each cost can be had: forests and small tables."""
    if (graphs.kind == DENSE).any():
        return False
    nodes, orders = np.diff(graphs.node_ptr), graphs.orders()
    scope = np.add.reduceat(
        np.append(np.log2(n_labels[orders.scope]), 0.0), orders.scope_ptr[:-1]
    )
    scope[np.diff(orders.scope_ptr) == 0] = 0.0
    entries = 2.0**scope * n_labels[orders.order] * np.repeat(nodes + 1, nodes)
    return bool(entries.max(initial=0.0) <= MOST_LAYERED)


def layers_of(
    tables: GraphTables, graphs: GraphPlan, cost: Ints, cap: int | None = None
) -> Layered:
    """Best labels of each graph for each cost: along forests and junction trees.

    Parameters
    ----------
    tables, cost, cap
        As for `best_by_cost`.
    graphs : GraphPlan
        Of these graphs, none of them DENSE.
    """
    parts, forests = [], graphs.kind == FOREST
    for some in (np.flatnonzero(forests), np.flatnonzero(~forests)):
        if len(some) == 0:
            continue
        own, nodes = tables.take(some), spans(tables.node_ptr, some)[0]
        costs = cost[spans(tables.label_ptr, nodes)[0]]
        if forests[some[0]]:
            parts.append((some, best_by_cost(own, costs, cap)))
            continue
        orders = graphs.take(some).orders()
        none = np.zeros(clique_pointers(own, orders)[-1])
        parts.append((some, eliminated_by_cost(own, orders, none, costs, cap)))
    return joined_layers(parts) if parts else best_by_cost(tables, cost, cap)


def joined_layers(parts: Sequence[tuple[Ints, Layered]]) -> Layered:
    """The layers of all graphs; a part has the numbers of its graphs."""
    if len(parts) == 1:
        return parts[0][1]
    pieces = []
    for ids, one in parts:
        for q, g in enumerate(ids.tolist()):
            rows = slice(one.ptr[q], one.ptr[q + 1])
            ends = one.label_ptr[one.ptr[q] : one.ptr[q + 1] + 1]
            labels = one.labels[ends[0] : ends[-1]]
            pieces.append((g, one.cost[rows], one.score[rows], np.diff(ends), labels))
    pieces.sort(key=lambda piece: piece[0])
    return Layered(
        pointers([len(piece[1]) for piece in pieces]),
        np.concatenate([piece[1] for piece in pieces]),
        np.concatenate([piece[2] for piece in pieces]),
        pointers(np.concatenate([piece[3] for piece in pieces])),
        np.concatenate([piece[4] for piece in pieces]),
    )


class CostMessage(NamedTuple):
    """What an eliminated node sends: a value for labels of `axes` and each cost."""

    sender: int  # position in the elimination order
    axes: tuple[int, ...]  # nodes
    value: Floats  # one axis for each of them, and one for the cost


def eliminated_by_cost(
    tables: GraphTables, orders: EliminationOrders, factors: Floats, cost: Ints,
    cap: int | None = None,
) -> Layered:  # fmt: skip
    """Best labels of each graph for each attainable cost, along a junction tree.

    Parameters
    ----------
    tables, cost, cap
        As for `best_by_cost`, but of any graphs.
    orders : EliminationOrders
    factors : array
        Tables of further factors over the cliques, laid out by `clique_pointers`.

    Examples
    --------
    >>> from maxmargin.inference.graph.junction import eliminate_all
    >>> odd = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> t = GraphTables.of([[0.1, 0], [0, 0], [0, 0]], [[0, 1], [1, 2], [2, 0]], odd)
    >>> orders = eliminate_all(t)
    >>> none = np.zeros(clique_pointers(t, orders)[-1])
    >>> layers = eliminated_by_cost(t, orders, none, np.array([0, 1] * 3))
    >>> layers.cost.tolist(), layers.score.tolist()
    ([0, 1, 2, 3], [0.1, 2.1, 2.1, 0.0])
    """
    joint = _with_edges(tables, orders, factors)
    rows: list[tuple[int, float, Labels]] = []
    sizes = []
    for g in range(tables.n):
        found = _CostElimination(tables, orders, joint, cost, cap, g).layers()
        sizes.append(len(found))
        rows += found
    flat = [labels for _, _, labels in rows]
    return Layered(
        pointers(sizes), np.array([c for c, _, _ in rows], np.int64),
        np.array([s for _, s, _ in rows]), pointers([len(r) for r in flat]),
        np.concatenate([*flat, np.empty(0, np.int32)]).astype(np.int32),
    )  # fmt: skip


def _with_edges(
    tables: GraphTables, orders: EliminationOrders, factors: Floats
) -> Floats:
    """Tables over the cliques with the scores of nodes and edges added."""
    start, k = clique_pointers(tables, orders), tables.n_labels
    joint = factors.copy()
    position = np.empty(tables.n_nodes, np.int64)
    position[orders.order] = np.arange(tables.n_nodes)
    for q, v in enumerate(orders.order.tolist()):
        own = joint[start[q] : start[q + 1]].reshape(-1, k[v])
        own += tables.unary[tables.label_ptr[v] : tables.label_ptr[v + 1]]
    for e, (u, v) in enumerate(tables.edges.tolist()):
        first, later = (u, v) if position[u] < position[v] else (v, u)
        q, table = int(position[first]), tables.table(e)
        axes = orders.scope[orders.scope_ptr[q] : orders.scope_ptr[q + 1]].tolist()
        shape = np.ones(len(axes) + 1, np.int64)
        shape[axes.index(later)], shape[-1] = k[later], k[first]
        both = joint[start[q] : start[q + 1]].reshape(k[[*axes, first]])
        both += (table.T if first == u else table).reshape(shape)
    return joint


class _CostElimination:
    """The elimination of one graph, with costs, and labels read back from it."""

    def __init__(
        self, tables: GraphTables, orders: EliminationOrders, joint: Floats, cost: Ints,
        cap: int | None, g: int,
    ) -> None:  # fmt: skip
        self.first, self.last = int(tables.node_ptr[g]), int(tables.node_ptr[g + 1])
        self.k, self.label_ptr, self.cost = tables.n_labels, tables.label_ptr, cost
        self.orders, self.joint, self.cap = orders, joint, cap
        self.start = clique_pointers(tables, orders)
        self.inbox: dict[int, list[CostMessage]] = {}
        self.roots: list[CostMessage] = []

    def layers(self) -> list[tuple[int, float, Labels]]:
        """(cost, score, labels), lowest cost first."""
        position = {int(self.orders.order[q]): q for q in range(self.first, self.last)}
        for q in range(self.first, self.last):
            message = CostMessage(q, tuple(self._axes(q)[:-1]), self._eliminated(q))
            if message.axes:
                to = min(position[v] for v in message.axes)
                self.inbox.setdefault(to, []).append(message)
            else:
                self.roots.append(message)
        total: Floats = np.zeros(1)
        for root in self.roots:
            total = _merged(total, root.value, self.cap)
        found = np.flatnonzero(total > -np.inf)
        return [(int(c), float(total[c]), self._labels(int(c))) for c in found]

    def _axes(self, q: int) -> list[int]:
        ptr, order = self.orders.scope_ptr, self.orders.order
        return [*self.orders.scope[ptr[q] : ptr[q + 1]].tolist(), int(order[q])]

    def _own(self, q: int, at: tuple[int, ...] | None = None) -> Floats:
        """Scores of the clique with a cost axis; only at labels `at` of its scope."""
        axes = self._axes(q)
        table = self.joint[self.start[q] : self.start[q + 1]].reshape(self.k[axes])
        table = table if at is None else table[at]
        v = axes[-1]
        cost = self.cost[self.label_ptr[v] : self.label_ptr[v + 1]]
        cost = cost if self.cap is None else np.minimum(cost, self.cap)
        out = np.full((*table.shape, int(cost.max(initial=0)) + 1), -np.inf)
        for a, c in enumerate(cost.tolist()):
            out[..., a, c] = table[..., a]
        return out

    def _eliminated(self, q: int) -> Floats:
        """The best over the labels of the node, for its scope and each cost."""
        axes, out = self._axes(q), self._own(q)
        place = {v: axis for axis, v in enumerate(axes)}
        for message in self.inbox.get(q, []):
            order = np.argsort([place[v] for v in message.axes])
            shape = np.ones(len(axes) + 1, np.int64)
            for v in message.axes:
                shape[place[v]] = self.k[v]
            shape[-1] = message.value.shape[-1]
            value = message.value.transpose([*order.tolist(), len(order)])
            out = _merged(out, value.reshape(shape), self.cap)
        best: Floats = out.max(axis=-2)
        return best

    def _labels(self, cost: int) -> Labels:
        """Labels with this cost and the best score of it."""
        labels = np.full(self.last - self.first, -1, np.int32)
        spent: dict[int, int] = {}
        self._divide(
            np.zeros(1), self.roots, [r.value for r in self.roots], cost, spent
        )
        for q in range(self.last - 1, self.first - 1, -1):
            *scope, v = self._axes(q)
            at = tuple(int(labels[u - self.first]) for u in scope)
            inbox, own = self.inbox.get(q, []), self._own(q, at)
            best, choice, parts = -np.inf, -1, []
            for a in range(int(self.k[v])):
                labels[v - self.first] = a
                values = [
                    m.value[tuple(labels[u - self.first] for u in m.axes)]
                    for m in inbox
                ]
                whole: Floats = own[a]
                for value in values:
                    whole = _merged(whole, value, self.cap)
                d = spent[q]
                if d < len(whole) and (choice < 0 or whole[d] > best):
                    best, choice, parts = whole[d], a, values
            labels[v - self.first] = choice
            self._divide(own[choice], inbox, parts, spent[q], spent)
        return labels

    def _divide(
        self, own: Floats, senders: list[CostMessage], values: list[Floats], cost: int,
        spent: dict[int, int],
    ) -> None:  # fmt: skip
        """How much of the cost each sender has in the best sum."""
        sums = [own]
        for value in values:
            sums.append(_merged(sums[-1], value, self.cap))
        for j in range(len(values) - 1, -1, -1):
            before, value = sums[j], values[j]
            both = before[:, None] + value[None, :]
            joined = np.add.outer(np.arange(len(before)), np.arange(len(value)))
            if self.cap is not None:
                joined = np.minimum(joined, self.cap)
            both = np.where(joined == cost, both, -np.inf)
            i, c = np.unravel_index(int(np.argmax(both)), both.shape)
            spent[senders[j].sender], cost = int(c), int(i)


def _merged(a: Floats, b: Floats, cap: int | None) -> Floats:
    """(max, +) convolution over the last axis; costs above `cap` share its place."""
    size = a.shape[-1] + b.shape[-1] - 1
    size = size if cap is None else min(size, cap + 1)
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    out = np.full((*shape, size), -np.inf)
    for j in range(b.shape[-1]):
        both = a + b[..., j : j + 1]
        fit = min(a.shape[-1], size - j)
        if fit > 0:
            part = out[..., j : j + fit]
            np.maximum(part, both[..., :fit], out=part)
        if fit < a.shape[-1]:
            rest = both[..., max(fit, 0) :].max(axis=-1)
            np.maximum(out[..., -1], rest, out=out[..., -1])
    return out


def common_unit(cost: Floats) -> float:
    """The largest number of which all costs are multiples.

    Examples
    --------
    >>> common_unit(np.array([0.0, 0.5, 2.0, 0.75]))
    0.25
    """
    values = [
        Fraction(float(v)).limit_denominator(10**6) for v in np.unique(cost[cost > 0])
    ]
    if not values:
        return 1.0
    bottom = lcm(*(v.denominator for v in values))
    top = gcd(*(v.numerator * (bottom // v.denominator) for v in values))
    unit = top / bottom
    if max(float(v) for v in values) / unit > 1e5:
        raise ValueError(
            "slack rescaling and squared penalties need costs that are multiples of a "
            f"common unit; these would need {float(max(values)) / unit:.3g} layers per "
            "node: round the costs"
        )
    return unit


@loop
def _sizes(label_ptr, edges, order, parent, graph, n, cost, top):
    """Deepest layer of each node (and graph), sizes of its arrays."""
    nodes = len(order)
    depth = np.zeros(nodes + n, np.int64)
    edge_size = np.zeros(nodes, np.int64)
    node_size = np.zeros(nodes + n, np.int64)
    for v in range(nodes):
        depth[v] = min(top, cost[label_ptr[v] : label_ptr[v + 1]].max())
    for q in range(nodes - 1, -1, -1):
        v = order[q]
        e = parent[v]
        p = nodes + graph[v] if e < 0 else edges[e, 0] + edges[e, 1] - v
        k = 1 if e < 0 else label_ptr[p + 1] - label_ptr[p]
        depth[p] = min(top, depth[p] + depth[v])
        edge_size[v] = k * (depth[p] + 1)
    for v in range(nodes + n):
        k = label_ptr[v + 1] - label_ptr[v] if v < nodes else 1
        node_size[v] = k * (depth[v] + 1)
    return depth, edge_size, node_size


@loop
def _merge(
    label_ptr, unary, edges, pair_ptr, pairwise, order, parent, graph, n, cost, top,
    depth, at_node, at_edge,
):  # fmt: skip
    nodes = len(order)
    value = np.full(at_node[-1], -np.inf)
    choice = np.zeros(at_edge[-1], np.int32)  # label of the child
    first = np.zeros(at_edge[-1], np.int32)  # layer left to the parent
    second = np.zeros(at_edge[-1], np.int32)  # layer of the child
    for v in range(nodes):
        for a in range(label_ptr[v + 1] - label_ptr[v]):
            d = min(top, cost[label_ptr[v] + a])
            value[at_node[v] + a * (depth[v] + 1) + d] = unary[label_ptr[v] + a]
    for g in range(n):
        value[at_node[nodes + g]] = 0.0
    now = np.zeros(nodes + n, np.int64)
    for v in range(nodes):
        now[v] = min(top, cost[label_ptr[v] : label_ptr[v + 1]].max())
    widest = depth.max() + 1
    message = np.empty(widest)
    label = np.empty(widest, np.int32)
    merged = np.empty(widest)
    for q in range(nodes - 1, -1, -1):
        v = order[q]
        e = parent[v]
        p = nodes + graph[v] if e < 0 else edges[e, 0] + edges[e, 1] - v
        kp = 1 if e < 0 else label_ptr[p + 1] - label_ptr[p]
        k = label_ptr[v + 1] - label_ptr[v]
        row, column = (0, 0)
        if e >= 0:
            row, column = (kp, 1) if edges[e, 0] == v else (1, k)
        wide = depth[v] + 1
        after = min(top, now[p] + depth[v])
        for b in range(kp):
            for d in range(wide):
                message[d] = -np.inf
                label[d] = 0
            for a in range(k):
                s = pairwise[pair_ptr[e] + a * row + b * column] if e >= 0 else 0.0
                below = at_node[v] + a * wide
                for d in range(wide):
                    t = s + value[below + d]
                    if t > message[d]:
                        message[d] = t
                        label[d] = a
            own = at_node[p] + b * (depth[p] + 1)
            out = at_edge[v] + b * (after + 1)
            for d in range(after + 1):
                merged[d] = -np.inf
            for i in range(now[p] + 1):
                if value[own + i] == -np.inf:
                    continue
                for d in range(wide):
                    t = value[own + i] + message[d]
                    j = min(top, i + d)
                    if t > merged[j]:
                        merged[j] = t
                        choice[out + j] = label[d]
                        first[out + j] = i
                        second[out + j] = d
            for d in range(after + 1):
                value[own + d] = merged[d]
        now[p] = after
    return value, choice, first, second


@loop
def _trace(
    label_ptr, edges, order, parent, node_ptr, depth, at_edge, choice, first, second,
    ptr, level, out_ptr,
):  # fmt: skip
    nodes = len(order)
    labels = np.zeros(out_ptr[-1], np.int32)
    left = np.zeros(nodes, np.int64)  # layer that the rest of the subtree still has
    now = np.zeros(nodes, np.int32)
    after = np.zeros(nodes, np.int64)  # width of the parent's layers at the merge
    for v in range(nodes):
        e = parent[v]
        end = at_edge[v + 1] - at_edge[v]
        k = 1
        if e >= 0:
            p = edges[e, 0] + edges[e, 1] - v
            k = label_ptr[p + 1] - label_ptr[p]
        after[v] = end // k
    for g in range(len(ptr) - 1):
        for r in range(ptr[g], ptr[g + 1]):
            remaining = level[r]
            for q in range(node_ptr[g], node_ptr[g + 1]):
                v = order[q]  # order is by component: graphs are contiguous
                e = parent[v]
                if e < 0:
                    at = at_edge[v] + remaining
                    remaining = first[at]
                else:
                    p = edges[e, 0] + edges[e, 1] - v
                    at = at_edge[v] + now[p] * after[v] + left[p]
                    left[p] = first[at]
                now[v] = choice[at]
                left[v] = second[at]
            base = out_ptr[r] - node_ptr[g]
            for v in range(node_ptr[g], node_ptr[g + 1]):
                labels[base + v] = now[v]
    return labels
