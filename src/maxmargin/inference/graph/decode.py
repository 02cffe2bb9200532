"""Which inference method is used for which graph, and whether its answer is exact.

| method      | on                      | certificate                                |
|-------------|-------------------------|--------------------------------------------|
| "forest"    | forests                 | exact                                      |
| "junction"  | low treewidth           | exact                                      |
| "cut"       | two labels, submodular  | exact                                      |
| "search"    | any (needs pytoulbar2)  | exact, or a bound when time runs out       |
| "lp"        | any                     | relaxed: marginals that may be fractional  |
| "trws"      | any                     | a bound                                    |
| "loopy"     | any                     | a bound                                    |
| "expansion" | any, best if metric     | a bound                                    |

"auto": forests exactly, then low treewidth exactly, then a cut, then "trws".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, pointers
from maxmargin.inference.graph import forest, junction
from maxmargin.inference.graph import toulbar2 as search
from maxmargin.inference.graph.tables import Best, GraphTables, spans
from maxmargin.inference.graph.triangulation import (
    Elimination,
    eliminate,
    try_eliminate,
)
from maxmargin.inference.loopy import graphcut, messages, relaxation

METHODS = (
    "auto", "forest", "junction", "cut", "search", "lp", "trws", "loopy", "expansion",
)  # fmt: skip
AUTO_TABLE = 1 << 15  # the largest table for which "auto" prefers a junction tree

FOREST, NARROW, DENSE = 0, 1, 2


class GraphPlan(NamedTuple):
    """What each graph of a batch allows; depends on its edges only."""

    node_ptr: Ints  # (graphs + 1,)
    kind: Ints  # (graphs,) FOREST, NARROW or DENSE
    width: Ints  # (graphs,) of the elimination order; -1 if DENSE
    order: Ints  # (nodes,) elimination orders, nodes counted within the graph
    scope_ptr: Ints  # (nodes + 1,)
    scope: Ints

    def take(self, ids: Ints) -> GraphPlan:
        """The graphs `ids`, in that order."""
        nodes, node_ptr = spans(self.node_ptr, ids)
        entries, scope_ptr = spans(self.scope_ptr, nodes)
        return GraphPlan(
            node_ptr,
            self.kind[ids],
            self.width[ids],
            self.order[nodes],
            scope_ptr,
            self.scope[entries],
        )

    def orders(self) -> junction.EliminationOrders:
        """The orders with node numbers of the whole batch."""
        shift = np.repeat(self.node_ptr[:-1], np.diff(self.node_ptr))
        return junction.EliminationOrders(
            self.order + shift,
            self.scope_ptr,
            self.scope + np.repeat(shift, np.diff(self.scope_ptr)),
        )

    def certificate(self, method: str) -> str:
        """How good the answers are: "exact", "relaxed" or "bound"."""
        if method == "lp":
            forests = bool((self.kind == FOREST).all())
            return "exact" if forests else "relaxed"
        if method in ("forest", "junction", "cut"):
            return "exact"
        if method == "auto" and bool((self.kind != DENSE).all()):
            return "exact"
        return "bound"


def plan(
    node_ptr: Ints, edge_ptr: Ints, edges: Labels, n_labels: Ints, method: str
) -> GraphPlan:
    """Look at the graphs of a batch; `edges` hold node numbers of the whole batch."""
    if method not in METHODS:
        raise ValueError(
            f"inference={method!r} is not one of {', '.join(map(repr, METHODS))}"
        )
    extra = forest.count_cyclic(node_ptr, edge_ptr, edges)
    if method == "forest" and extra.any():
        g = int(np.flatnonzero(extra)[0])
        raise ValueError(
            f"graph {g} is not a forest: {extra[g]} of its edges close cycles, so "
            "inference='forest' does not fit; 'auto' takes any graph"
        )
    parts: list[Elimination] = []
    known: dict[tuple[bytes, bytes], Elimination | None] = {}
    kind = np.where(extra > 0, DENSE, FOREST)
    for g in range(len(node_ptr) - 1):
        a, b = node_ptr[g], node_ptr[g + 1]
        part = None
        if method == "junction" or (method == "auto" and extra[g]):
            own = edges[edge_ptr[g] : edge_ptr[g + 1]] - a
            key = (n_labels[a:b].tobytes(), own.tobytes())
            if key not in known and method == "junction":
                known[key] = eliminate(n_labels[a:b], own, what=f"graph {g}")
            elif key not in known:
                known[key] = try_eliminate(n_labels[a:b], own, AUTO_TABLE)
            part = known[key]
        if part is not None and extra[g]:
            kind[g] = NARROW
        parts.append(part or _no_order(int(b - a), 1 if extra[g] == 0 else -1))
    width = np.array([p.width for p in parts], dtype=np.int64)
    return GraphPlan(
        node_ptr,
        kind,
        width,
        _join([p.order for p in parts]),
        pointers(_join([np.diff(p.scope_ptr) for p in parts])),
        _join([p.scope for p in parts]),
    )


def decode(tables: GraphTables, graphs: GraphPlan, method: str) -> Best:
    """Best labels that `method` finds for each graph, with their bound.

    Examples
    --------
    >>> odd = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> t = GraphTables.of([[0.1, 0], [0, 0], [0, 0]], [[0, 1], [1, 2], [2, 0]], odd)
    >>> graphs = plan(t.node_ptr, t.edge_ptr, t.edges, t.n_labels, "auto")
    >>> decode(t, graphs, "auto").score.tolist(), graphs.width.tolist()
    ([2.1], [2])
    """
    if method == "junction":
        return junction.best_by_elimination(tables, graphs.orders())
    if method != "auto":
        return _SINGLE[method](tables)
    kind = graphs.kind.copy()
    dense = np.flatnonzero(kind == DENSE)
    if len(dense):
        fit = graphcut.submodular(tables.take(dense))
        kind[dense[fit]] = DENSE + 1
    found = set(kind.tolist())
    if len(found) == 1:
        return _auto(tables, graphs, found.pop())
    labels = np.zeros(tables.n_nodes, np.int32)
    score, bound = np.zeros(tables.n), np.zeros(tables.n)
    for one in sorted(found):
        ids = np.flatnonzero(kind == one)
        part = _auto(tables.take(ids), graphs.take(ids), one)
        labels[spans(tables.node_ptr, ids)[0]] = part.labels
        score[ids], bound[ids] = part.score, part.bound
    return Best(labels, score, bound)


def _auto(tables: GraphTables, graphs: GraphPlan, kind: int) -> Best:
    """Graphs of one kind."""
    if kind == FOREST:
        return forest.best_in_forest(tables)
    if kind == NARROW:
        return junction.best_by_elimination(tables, graphs.orders())
    if kind == DENSE:
        return messages.best_by_trws(tables)
    return graphcut.best_by_cut(tables)


def _loopy(tables: GraphTables) -> Best:
    """Loopy max-product, with the better bound of a few TRW-S sweeps."""
    found = messages.best_by_max_product(tables)
    bound = np.minimum(found.bound, messages.trws_bound(tables))
    return Best(found.labels, found.score, np.maximum(bound, found.score))


_SINGLE: dict[str, Callable[[GraphTables], Best]] = {
    "forest": forest.best_in_forest,
    "cut": graphcut.best_by_cut,
    "search": search.best_by_search,
    "lp": relaxation.best_by_relaxation,
    "trws": messages.best_by_trws,
    "loopy": _loopy,
    "expansion": graphcut.expand,
}


def _no_order(nodes: int, width: int) -> Elimination:
    return Elimination(
        np.arange(nodes), np.zeros(nodes + 1, np.int64), np.empty(0, np.int64), width
    )


def _join(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
