"""The best labels that differ from given ones, as the zero-one loss needs them.

On forests `best_by_cost` with a cap of one finds them exactly. On graphs of
low treewidth the outputs other than y fall into classes, one per node v: those that
agree with y before v and differ at v; each is one exact search. On other graphs the
best change of a single node is taken, and the bound on all labels is the bound.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Labels
from maxmargin.inference.graph import junction
from maxmargin.inference.graph.decode import FOREST, NARROW, GraphPlan, decode
from maxmargin.inference.graph.layers import best_by_cost
from maxmargin.inference.graph.tables import Best, GraphTables, best_flip, spans


def best_other(
    tables: GraphTables, graphs: GraphPlan, method: str, given: Labels
) -> Best:
    """Best labels of each graph that are not the given ones.

    Graphs without other labels get the given ones, with score and bound -inf.

    Examples
    --------
    >>> from maxmargin.inference.graph.decode import plan
    >>> t = GraphTables.of([[3.0, 0.0], [1.0, 0.5]], [[0, 1]], np.zeros((2, 2)))
    >>> graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "auto")
    >>> best_other(t, graphs, "auto", np.array([0, 0], np.int32)).labels.tolist()
    [0, 1]
    """
    if (graphs.kind == FOREST).all():
        return _on_forests(tables, given)
    best = decode(tables, graphs, method)
    same = ~np.logical_or.reduceat(best.labels != given, tables.node_ptr[:-1])
    labels, score, bound = best.labels.copy(), best.score.copy(), best.bound.copy()
    exact = same & (graphs.kind == NARROW) & (method in ("auto", "junction"))
    trees = np.flatnonzero(same & (graphs.kind == FOREST))
    if len(trees):
        where = spans(tables.node_ptr, trees)[0]
        found = _on_forests(tables.take(trees), given[where])
        labels[where], score[trees], bound[trees] = found
    rest = np.flatnonzero(same & ~exact & (graphs.kind != FOREST))
    if len(rest):
        where = spans(tables.node_ptr, rest)[0]
        some = tables.take(rest)
        flipped, exists = best_flip(some, given[where])
        labels[where] = flipped
        score[rest] = np.where(exists, some.score(flipped), -np.inf)
        bound[rest] = np.where(exists, bound[rest], -np.inf)
    for g in np.flatnonzero(exact):
        own = slice(tables.node_ptr[g], tables.node_ptr[g + 1])
        labels[own], score[g] = _by_classes(
            tables.take([g]), graphs.take(np.array([g])), given[own]
        )
        bound[g] = score[g]
    return Best(labels, score, bound)


def _on_forests(tables: GraphTables, given: Labels) -> Best:
    cost = np.ones(len(tables.unary), np.int64)
    cost[tables.label_ptr[:-1] + given] = 0
    layers = best_by_cost(tables, cost, cap=1)
    last = layers.ptr[1:] - 1  # the layer of cost one, where there is one
    rows, _ = spans(layers.label_ptr, last)
    score = np.where(layers.cost[last] == 1, layers.score[last], -np.inf)
    return Best(layers.labels[rows], score, score.copy())


def _by_classes(
    tables: GraphTables, graphs: GraphPlan, given: Labels
) -> tuple[Labels, float]:
    """One graph of low treewidth."""
    labels, top = given.copy(), -np.inf
    unary = tables.unary.copy()
    for v in range(tables.n_nodes):
        own = slice(tables.label_ptr[v], tables.label_ptr[v + 1])
        kept = unary[own].copy()
        unary[own.start + given[v]] = -np.inf
        if own.stop - own.start > 1:
            found = junction.best_by_elimination(
                tables._replace(unary=unary), graphs.orders()
            )
            if found.score[0] > top:
                labels, top = found.labels, float(found.score[0])
        unary[own] = -np.inf
        unary[own.start + given[v]] = kept[given[v]]
    return labels, top
