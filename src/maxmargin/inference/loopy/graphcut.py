"""Graph cuts: exact for two labels that attract, expansion moves for more.

Two labels, with  t[0, 0] + t[1, 1] >= t[0, 1] + t[1, 0]  on every edge (submodular):
the best labels are a minimum cut. More labels: an alpha-expansion lets every node keep
its label or take alpha, again a cut where the tables are metric; moves are made while
the score rises. A table that is not metric is clipped for the move, and the move is
kept only if the true score rises, so any tables may be given.

[1] Kolmogorov and Zabih 2004, What energy functions can be minimized via graph cuts?
[2] Boykov, Veksler and Zabih 2001, Fast approximate energy minimization via graph cuts.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Labels
from maxmargin.core.jit import loop
from maxmargin.inference.graph.tables import Best, GraphTables, Incidence, incidence
from maxmargin.inference.loopy import messages
from maxmargin.inference.loopy.maxflow import min_cut


def submodular(tables: GraphTables) -> np.ndarray:
    """Which graphs have two labels everywhere and tables that attract."""
    two = np.ones(tables.n, bool)
    np.logical_and.at(two, tables.graph_of_node(), tables.n_labels == 2)
    out = two.copy()
    edges = np.flatnonzero(two[tables.graph_of_edge()])
    where = tables.pair_ptr[edges]
    t = tables.pairwise
    attract = t[where] + t[where + 3] >= t[where + 1] + t[where + 2] - 1e-12
    np.logical_and.at(out, tables.graph_of_edge()[edges], attract)
    return out


def best_by_cut(tables: GraphTables) -> Best:
    """Best labels, exactly; refuses what is not binary and submodular.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ring = [[0, 1], [1, 2], [2, 0]]
    >>> best_by_cut(GraphTables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], ring, agree)).labels
    array([1, 1, 1], dtype=int32)
    """
    fit = submodular(tables)
    if not fit.all():
        g = int(np.flatnonzero(~fit)[0])
        raise ValueError(
            f"graph {g} cannot be solved by one cut: every node must have two labels "
            "and every edge must prefer equal ones (t00 + t11 >= t01 + t10); "
            "'expansion' takes any tables"
        )
    near = incidence(tables.edges, tables.n_nodes)
    labels = np.zeros(tables.n_nodes, np.int32)
    labels = np.where(_move(tables, near, labels, 1), 1, 0).astype(np.int32)
    score = tables.score(labels)
    return Best(labels, score, score.copy())


def expand(tables: GraphTables, sweeps: int = 10, bound_sweeps: int = 10) -> Best:
    """Labels that no single expansion improves, with the bound of a few TRW-S sweeps.

    Examples
    --------
    >>> found = expand(GraphTables.of([[1.0, 0, 0], [0, 0, 0.9]], [[0, 1]], np.eye(3)))
    >>> found.labels.tolist(), found.score.tolist()
    ([0, 0], [2.0])
    """
    near = incidence(tables.edges, tables.n_nodes)
    graph = tables.graph_of_node()
    labels = _first(tables)
    score = tables.score(labels)
    most = int(tables.n_labels.max(initial=0))
    unchanged = 0
    for turn in range(sweeps * most):
        alpha = turn % most
        taken = _move(tables, near, labels, alpha)
        trial = np.where(taken, alpha, labels).astype(np.int32)
        after = tables.score(trial)
        better = after > score + 1e-10 * (1.0 + np.abs(score))
        labels = np.where(better[graph], trial, labels).astype(np.int32)
        score = np.where(better, after, score)
        unchanged = 0 if better.any() else unchanged + 1
        if unchanged >= most:
            break
    bound = messages.trws_bound(tables, bound_sweeps)
    return Best(labels, score, np.maximum(bound, score))


def _first(tables: GraphTables) -> Labels:
    """Best label of each node alone."""
    return _argmax_rows(tables.label_ptr, tables.unary)


def _move(
    tables: GraphTables, near: Incidence, labels: Labels, alpha: int
) -> np.ndarray:
    """Nodes that take alpha in the best expansion move."""
    excess, capacity = _move_graph(*tables[2:], labels, alpha)
    return min_cut(tables.edges, near, excess, capacity)


@loop
def _argmax_rows(ptr, values):
    out = np.zeros(len(ptr) - 1, np.int32)
    for v in range(len(out)):
        out[v] = np.argmax(values[ptr[v] : ptr[v + 1]])
    return out


@loop
def _move_graph(label_ptr, unary, edges, pair_ptr, pairwise, labels, alpha):
    """Costs of the binary move: 0 keeps the label, 1 takes alpha."""
    nodes = len(labels)
    excess = np.zeros(nodes)
    capacity = np.zeros(2 * len(edges))
    for v in range(nodes):
        if label_ptr[v] + alpha >= label_ptr[v + 1]:
            excess[v] = 1e30  # this node has no such label: it keeps its own
        else:
            excess[v] = unary[label_ptr[v] + labels[v]] - unary[label_ptr[v] + alpha]
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[v + 1] - label_ptr[v]
        a, b = labels[u], labels[v]
        at = pair_ptr[e]
        # a node without the label alpha keeps its own: any entry serves
        up = alpha if alpha < label_ptr[u + 1] - label_ptr[u] else a
        vp = alpha if alpha < k else b
        keep = -pairwise[at + a * k + b]
        second = -pairwise[at + a * k + vp]
        first = -pairwise[at + up * k + b]
        both = -pairwise[at + up * k + vp]
        excess[u] += first - keep
        excess[v] += both - first
        capacity[2 * e] = max(second + first - keep - both, 0.0)
    return excess, capacity
