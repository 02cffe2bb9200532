"""The best labels of a forest for every value of an integer cost, exactly.

    F_v(a, d) = best score of the subtree of v with y_v = a and cost d in the subtree

where the cost of labels y is sum_v cost_v[y_v]. Children are merged one at a time by
(max, +) convolution over d; costs above `cap` share the last layer, so cap=1 asks for
the best labels with cost 0 and the best with any cost. This is what slack rescaling
and the per-error-level functions M_d of Taskar et al. 2003 (Definition A.4) need.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.core.jit import loop
from maxmargin.inference.graph.forest import rooted
from maxmargin.inference.graph.tables import GraphTables

MAX_ENTRIES = 1 << 26  # of the largest array kept: half a gigabyte


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
