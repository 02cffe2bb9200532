"""The LP relaxation: marginals that agree locally, possibly fractional.

    max  sum unary * mu_v + sum pairwise * mu_uv
    s.t. sum_a mu_v[a] = 1,  sum_b mu_uv[a, b] = mu_u[a],  sum_a mu_uv[a, b] = mu_v[b]

and mu >= 0: constraints (9) of Taskar et al. 2003 with C = 1. On forests its optimum is
the best labels; elsewhere it bounds them from above. Graphs whose labels and TRW-S
bound meet need no LP; the others are solved by HiGHS through scipy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.inference.graph.tables import Best, GraphTables, improve
from maxmargin.inference.loopy import messages


class Relaxed(NamedTuple):
    """Locally consistent marginals of every graph, and labels rounded from them."""

    node: Floats  # like `unary`
    edge_ptr: Ints  # (m + 1,) where the table of each edge starts: never shared
    edge: Floats
    value: Floats  # (graphs,) score of the marginals: no labels score more
    labels: Labels  # (nodes,)
    score: Floats  # (graphs,) of the labels

    @property
    def integral(self) -> np.ndarray:
        """Which graphs have a 0/1 solution, hence exact labels."""
        size = 1e-7 * (1.0 + np.abs(self.value))
        return np.asarray(self.value - self.score <= size)


def relax(tables: GraphTables) -> Relaxed:
    """Solve the relaxation of each graph.

    Examples
    --------
    >>> odd = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> ring = [[0, 1], [1, 2], [2, 0]]
    >>> found = relax(GraphTables.of([[0.0, 0.0]] * 3, ring, odd))
    >>> found.value.round(6).tolist(), found.score.tolist()
    ([3.0], [2.0])
    """
    k = tables.n_labels
    edge_ptr = pointers(k[tables.edges[:, 0]] * k[tables.edges[:, 1]])
    first = messages.best_by_trws(tables, max_iter=30)
    node, edge = _indicators(tables, edge_ptr, first.labels)
    value = first.score.copy()
    # Between labels and a bound that meet there is no room for a better relaxation.
    loose = first.bound - first.score > 1e-9 * (1.0 + np.abs(first.score))
    for g in np.flatnonzero(loose):
        nodes = slice(tables.node_ptr[g], tables.node_ptr[g + 1])
        edges = slice(tables.edge_ptr[g], tables.edge_ptr[g + 1])
        at_node = slice(tables.label_ptr[nodes.start], tables.label_ptr[nodes.stop])
        at_edge = slice(edge_ptr[edges.start], edge_ptr[edges.stop])
        node[at_node], edge[at_edge], value[g] = _solve(tables, nodes, edges)
    rounded = _round(tables, node)
    better = tables.score(rounded) > first.score
    labels = np.where(better[tables.graph_of_node()], rounded, first.labels)
    score = tables.score(labels)
    return Relaxed(node, edge_ptr, edge, np.maximum(value, score), labels, score)


def relax_within(
    tables: GraphTables, node: Floats, edge: Floats, empty: Floats
) -> Relaxed:
    """The marginals of least score among those with the support of given ones.

    Parameters
    ----------
    node, edge : arrays
        Marginals, edges with tables of their own.
    empty : array (graphs,)
        Mass at or below which a part is taken as empty.
    """
    k = tables.n_labels
    edge_ptr = pointers(k[tables.edges[:, 0]] * k[tables.edges[:, 1]])
    flipped = tables._replace(unary=-tables.unary, pairwise=-tables.pairwise)
    out, out_edge = np.zeros_like(node), np.zeros_like(edge)
    value = np.zeros(tables.n)
    for g in range(tables.n):
        nodes = slice(tables.node_ptr[g], tables.node_ptr[g + 1])
        edges = slice(tables.edge_ptr[g], tables.edge_ptr[g + 1])
        at = slice(tables.label_ptr[nodes.start], tables.label_ptr[nodes.stop])
        at_edge = slice(edge_ptr[edges.start], edge_ptr[edges.stop])
        allowed = np.concatenate([node[at], edge[at_edge]]) > empty[g]
        out[at], out_edge[at_edge], value[g] = _solve(flipped, nodes, edges, allowed)
    labels = np.zeros(tables.n_nodes, np.int32)
    return Relaxed(out, edge_ptr, out_edge, -value, labels, -value)


def best_by_relaxation(tables: GraphTables) -> Best:
    """Labels rounded from the relaxation; its value is the bound."""
    found = relax(tables)
    return Best(found.labels, found.score, found.value)


def _indicators(
    tables: GraphTables, edge_ptr: Ints, labels: Labels
) -> tuple[Floats, Floats]:
    """Marginals that put all weight on the labels."""
    node, edge = np.zeros(len(tables.unary)), np.zeros(edge_ptr[-1])
    node[tables.label_ptr[:-1] + labels] = 1.0
    u, v = tables.edges[:, 0], tables.edges[:, 1]
    edge[edge_ptr[:-1] + labels[u] * tables.n_labels[v] + labels[v]] = 1.0
    return node, edge


def _solve(
    tables: GraphTables, nodes: slice, edges: slice, allowed: np.ndarray | None = None
) -> tuple[Floats, Floats, float]:
    """Marginals of the nodes and edges of one graph, and their score."""
    k = tables.n_labels[nodes]
    first = tables.label_ptr[nodes.start]
    unary = tables.unary[first : tables.label_ptr[nodes.stop]]
    ends = tables.edges[edges].astype(np.int64) - nodes.start
    pairs = [tables.table(e).ravel() for e in range(edges.start, edges.stop)]
    gain = np.concatenate([unary, *pairs])
    matrix, right = _constraints(k, ends)
    bounds = (0, None)
    if allowed is not None:
        bounds = np.c_[np.zeros(len(gain)), np.where(allowed, np.inf, 0.0)]
    found = scipy.optimize.linprog(
        -gain, A_eq=matrix, b_eq=right, bounds=bounds, method="highs"
    )
    if found.x is None:
        raise ValueError(f"HiGHS could not solve the relaxation: {found.message}")
    mu = np.where(found.x > 1e-9, found.x, 0.0)
    return mu[: len(unary)], mu[len(unary) :], float(-found.fun)


def _constraints(k: Ints, ends: Ints) -> tuple[sp.csr_array, Floats]:
    """Sums of nodes are one; both sides of every edge agree with its nodes."""
    at_node = pointers(k)
    ku, kv = k[ends[:, 0]], k[ends[:, 1]]
    at_edge = at_node[-1] + pointers(ku * kv)
    rows = [np.repeat(np.arange(len(k)), k)]
    columns = [np.arange(at_node[-1])]
    values = [np.ones(at_node[-1])]
    free = len(k)
    for e, (u, v) in enumerate(ends.tolist()):
        grid = at_edge[e] + np.arange(ku[e] * kv[e]).reshape(ku[e], kv[e])
        for table, node in ((grid, u), (grid.T, v)):
            n, m = table.shape
            lines = free + np.arange(n)
            rows += [np.repeat(lines, m), lines]
            columns += [table.ravel(), at_node[node] + np.arange(n)]
            values += [np.ones(n * m), -np.ones(n)]
            free += n
    right = np.zeros(free)
    right[: len(k)] = 1.0
    entries = (
        np.concatenate(values),
        (np.concatenate(rows), np.concatenate(columns)),
    )
    return sp.csr_array(entries, shape=(free, at_edge[-1])), right


def _round(tables: GraphTables, node: Floats) -> Labels:
    """The label of largest marginal of each node, then single changes that help."""
    most = np.maximum.reduceat(node, tables.label_ptr[:-1]) if len(node) else node
    first = np.zeros(tables.n_nodes, np.int32)
    owner = np.repeat(np.arange(tables.n_nodes), tables.n_labels)
    top = np.flatnonzero(node >= most[owner])[::-1]
    first[owner[top]] = (top - tables.label_ptr[owner[top]]).astype(np.int32)
    return improve(tables, first)
