"""Factors over more than two nodes: exact by elimination, or through auxiliary nodes.

    score(y) = sum_v unary_v[y_v] + sum_uv pairwise_uv[y_u, y_v] + sum_c table_c[y_c]

Elimination adds the table of a factor to that clique of the triangulated graph in which
the first of its nodes is eliminated. Where this needs tables that are too large, a
factor becomes a node whose labels are the joint labels of the factor, linked to each of
its nodes by a table that forbids what does not agree; any pairwise method then finds
labels and a bound. `relax_cliques` is the LP over marginals of nodes, edges and factors.

[1] Taskar, Guestrin and Koller 2003, sections 4 and 8.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.inference.graph.decode import (
    AUTO_TABLE,
    DENSE,
    NARROW,
    GraphPlan,
    decode,
    plan,
)
from maxmargin.inference.graph.junction import (
    EliminationOrders,
    best_by_elimination,
    clique_pointers,
)
from maxmargin.inference.graph.tables import Best, GraphTables, spans, sum_by
from maxmargin.inference.graph.triangulation import (
    Elimination,
    eliminate,
    try_eliminate,
)

METHODS = ("auto", "junction", "trws", "loopy", "lp")


class Cliques(NamedTuple):
    """Factors of a batch of graphs; several may share a table.

    Examples
    --------
    >>> t = GraphTables.of([[0.0, 0.1]] * 3, [], [])
    >>> odd = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]])
    >>> c = Cliques.of([[0, 1, 2]], [odd])
    >>> c.score(t, np.array([0, 0, 1], np.int32)).tolist()
    [1.0]
    """

    graph_ptr: Ints  # (graphs + 1,) factors of each graph
    node_ptr: Ints  # (factors + 1,)
    nodes: Ints  # counted over the whole batch
    table_ptr: Ints  # (factors,) where the table starts: row-major over the nodes
    tables: Floats

    @classmethod
    def of(cls, nodes: list[list[int]], tables: list[Floats]) -> Cliques:
        """Factors of one graph."""
        flat = [np.asarray(t, dtype=np.float64).ravel() for t in tables]
        return cls(
            np.array([0, len(nodes)]),
            pointers([len(c) for c in nodes]),
            np.array([v for c in nodes for v in c], dtype=np.int64),
            pointers([len(t) for t in flat])[:-1],
            np.concatenate(flat) if flat else np.empty(0),
        )

    @property
    def size(self) -> int:
        """Number of factors."""
        return len(self.table_ptr)

    def graph_of(self) -> Ints:
        """Graph of each factor."""
        return np.repeat(np.arange(len(self.graph_ptr) - 1), np.diff(self.graph_ptr))

    def scope(self, c: int) -> Ints:
        """Nodes of factor c."""
        return self.nodes[self.node_ptr[c] : self.node_ptr[c + 1]]

    def table(self, c: int, n_labels: Ints) -> Floats:
        """Table of factor c, with an axis for each of its nodes."""
        shape = n_labels[self.scope(c)]
        start = self.table_ptr[c]
        return self.tables[start : start + int(shape.prod())].reshape(shape)

    def entries(self, n_labels: Ints, labels: Labels) -> Ints:
        """Place of the labels in the table of each factor."""
        k, own = n_labels[self.nodes], labels[self.nodes].astype(np.int64)
        out = np.zeros(self.size, np.int64)
        width = np.diff(self.node_ptr)
        for j in range(int(width.max(initial=0))):
            has = np.flatnonzero(width > j)
            at = self.node_ptr[has] + j
            out[has] = out[has] * k[at] + own[at]
        return out

    def score(self, tables: GraphTables, labels: Labels) -> Floats:
        """What the factors add to the score of each graph."""
        at = self.table_ptr + self.entries(tables.n_labels, labels)
        return sum_by(self.graph_of(), self.tables[at], tables.n)

    def take(self, node_ptr: Ints, ids: Ints) -> Cliques:
        """Those of the graphs `ids`; `node_ptr` is that of the whole batch."""
        some, graph_ptr = spans(self.graph_ptr, ids)
        where, own = spans(self.node_ptr, some)
        starts = pointers(np.diff(node_ptr)[ids])[:-1]
        shift = np.repeat(starts - node_ptr[ids], np.diff(graph_ptr))
        nodes = self.nodes[where] + np.repeat(shift, np.diff(own))
        return Cliques(graph_ptr, own, nodes, self.table_ptr[some], self.tables)


def joined_edges(edges: Labels, scopes: list[Ints]) -> Labels:
    """Edges of one graph, and all pairs of nodes of a factor that are no edges yet."""
    known = {(min(u, v), max(u, v)) for u, v in edges.tolist()}
    more = []
    for scope in scopes:
        own = sorted(scope.tolist())
        for j, u in enumerate(own):
            for v in own[j + 1 :]:
                if (u, v) not in known:
                    known.add((u, v))
                    more.append((u, v))
    added = np.array(more, dtype=np.int32).reshape(-1, 2)
    return np.concatenate([edges.astype(np.int32), added])


def plan_cliques(
    node_ptr: Ints, edge_ptr: Ints, edges: Labels, scopes: list[list[Ints]],
    n_labels: Ints, method: str,
) -> GraphPlan:  # fmt: skip
    """How inference treats each graph of a batch.

    Parameters
    ----------
    edges : array (m, 2)
        Nodes counted within their graph.
    scopes : list of lists
        Nodes of the factors of each graph, counted within it.
    method : {"auto", "junction", "trws", "loopy", "lp"}
        "junction" refuses graphs whose tables would be too large, "auto" takes another
        method for them.
    """
    if method not in METHODS:
        raise ValueError(
            f"inference={method!r} is not available for cliques: choose from "
            f"{', '.join(map(repr, METHODS))}"
        )
    parts: list[Elimination] = []
    kind = np.full(len(node_ptr) - 1, DENSE)
    known: dict[tuple[bytes, bytes], Elimination | None] = {}
    for g in range(len(node_ptr) - 1):
        k = n_labels[node_ptr[g] : node_ptr[g + 1]]
        part = None
        if method in ("auto", "junction"):
            own = joined_edges(edges[edge_ptr[g] : edge_ptr[g + 1]], scopes[g])
            key = k.tobytes(), own.tobytes()
            if key not in known and method == "junction":
                known[key] = eliminate(k, own, what=f"graph {g}")
            elif key not in known:
                known[key] = try_eliminate(k, own, AUTO_TABLE)
            part = known[key]
        if part is not None:
            kind[g] = NARROW
        parts.append(part or _no_order(len(k)))
    return GraphPlan(
        node_ptr,
        kind,
        np.array([p.width for p in parts], dtype=np.int64),
        _joined([p.order for p in parts]),
        pointers(_joined([np.diff(p.scope_ptr) for p in parts])),
        _joined([p.scope for p in parts]),
    )


def _no_order(nodes: int) -> Elimination:
    return Elimination(
        np.arange(nodes), np.zeros(nodes + 1, np.int64), np.empty(0, np.int64), -1
    )


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def decode_cliques(
    tables: GraphTables, cliques: Cliques, graphs: GraphPlan, method: str
) -> Best:
    """Best labels that `method` finds; `graphs` is a plan that knows the factors.

    Examples
    --------
    >>> t = GraphTables.of([[0.0, 0.1]] * 3, [], [])
    >>> equal = np.zeros((2, 2, 2))
    >>> equal[0, 0, 0] = 1.0
    >>> c = Cliques.of([[0, 1, 2]], [equal])
    >>> graphs = plan_cliques(
    ...     t.node_ptr, t.edge_ptr, t.edges, [[c.scope(0)]], t.n_labels, "junction")
    >>> found = decode_cliques(t, c, graphs, "junction")
    >>> found.labels.tolist(), found.score.tolist()
    ([0, 0, 0], [1.0])
    """
    has = np.diff(cliques.graph_ptr) > 0
    exact = method in ("auto", "junction")
    by_tree = has & (graphs.kind != DENSE) & exact
    labels = np.zeros(tables.n_nodes, np.int32)
    score, bound = np.empty(tables.n), np.empty(tables.n)
    for where, how in ((~has, 0), (by_tree, 1), (has & ~by_tree, 2)):
        ids = np.flatnonzero(where)
        if len(ids) == 0:
            continue
        some, own = tables.take(ids), cliques.take(tables.node_ptr, ids)
        if how == 0:
            part = decode(some, graphs.take(ids), method)
        elif how == 1:
            part = _eliminated(some, own, graphs.take(ids))
        else:
            part = _through_nodes(some, own, "trws" if method == "auto" else method)
        labels[spans(tables.node_ptr, ids)[0]] = part.labels
        score[ids], bound[ids] = part.score, part.bound
    return Best(labels, score, bound)


def _eliminated(tables: GraphTables, cliques: Cliques, graphs: GraphPlan) -> Best:
    orders = graphs.orders()
    found = best_by_elimination(tables, orders, in_elimination(tables, cliques, orders))
    score = found.score + cliques.score(tables, found.labels)
    return Best(found.labels, score, score.copy())


def in_elimination(
    tables: GraphTables, cliques: Cliques, orders: EliminationOrders
) -> Floats:
    """Tables of the factors, each added to that of a clique of the triangulation.

    It is the clique in which the first node of the factor is eliminated; the tables are
    laid out by `clique_pointers`.
    """
    start = clique_pointers(tables, orders)
    extra = np.zeros(start[-1])
    position = np.empty(tables.n_nodes, np.int64)
    position[orders.order] = np.arange(tables.n_nodes)
    k = tables.n_labels
    for c in range(cliques.size):
        scope = cliques.scope(c)
        q = int(position[scope].min())
        axes = orders.scope[orders.scope_ptr[q] : orders.scope_ptr[q + 1]].tolist()
        axes.append(int(orders.order[q]))
        place = {v: axis for axis, v in enumerate(axes)}
        order = np.argsort([place[v] for v in scope.tolist()])
        shape = np.ones(len(axes), np.int64)
        for v in scope.tolist():
            shape[place[v]] = k[v]
        table = cliques.table(c, k).transpose(order).reshape(shape)
        joint = extra[start[q] : start[q + 1]].reshape(k[axes])
        joint += table
    return extra


def _through_nodes(tables: GraphTables, cliques: Cliques, method: str) -> Best:
    """Labels and bound of the pairwise graph with a node for each factor."""
    parts, nodes = [], np.diff(tables.node_ptr)
    for g in range(tables.n):
        one = tables.take([g])
        own = cliques.take(tables.node_ptr, np.array([g]))
        parts.append(with_nodes(one, own))
    wide = GraphTables.batch(parts)
    graphs = plan(wide.node_ptr, wide.edge_ptr, wide.edges, wide.n_labels, method)
    found = decode(wide, graphs, method)
    kept = np.concatenate([
        np.arange(a, a + n) for a, n in zip(wide.node_ptr[:-1], nodes, strict=True)
    ])  # fmt: skip
    labels = found.labels[kept]
    score = tables.score(labels) + cliques.score(tables, labels)
    return Best(labels, score, np.maximum(found.bound, score))


def with_nodes(tables: GraphTables, cliques: Cliques) -> GraphTables:
    """One graph with a further node for each factor, labelled by its joint labels."""
    k = tables.n_labels
    unary = [tables.unary[a:b] for a, b in pairwise(tables.label_ptr)]
    edges = tables.edges.tolist()
    links = [tables.table(e) for e in range(len(edges))]
    # Labels that do not agree cost more than all tables together could give.
    spread = [np.ptp(u) for u in unary] + [np.ptp(p) for p in links]
    made = [cliques.table(c, k) for c in range(cliques.size)]
    never = 1.0 + sum(spread) + sum(np.ptp(t) for t in made)
    for c, table in enumerate(made):
        node = len(unary)
        unary.append(table.ravel())
        joint = np.unravel_index(np.arange(table.size), table.shape)
        for own, v in zip(joint, cliques.scope(c).tolist(), strict=True):
            edges.append([node, v])
            links.append(np.where(own[:, None] == np.arange(k[v]), 0.0, -never))
    return GraphTables.of(unary, edges, links)


class RelaxedCliques(NamedTuple):
    """Marginals of one graph that agree locally, possibly fractional."""

    node: Floats  # like `unary`
    edge: list[Floats]  # one table per edge
    clique: list[Floats]  # one table per factor
    value: float  # no labels score more
    labels: Labels  # rounded


def relax_cliques(tables: GraphTables, cliques: Cliques) -> RelaxedCliques:
    """The LP over marginals of one graph: nodes, edges and factors.

    max  sum unary * mu_v + sum pairwise * mu_uv + sum table * mu_c,   mu >= 0,
    s.t. sum_a mu_v[a] = 1, and edges and factors have the marginals mu_v at their nodes.

    Examples
    --------
    >>> t = GraphTables.of([[0.0, 0.1]] * 3, [], [])
    >>> equal = np.zeros((2, 2, 2))
    >>> equal[0, 0, 0] = 1.0
    >>> relax_cliques(t, Cliques.of([[0, 1, 2]], [equal])).value
    1.0
    """
    k, first = tables.n_labels, tables.label_ptr
    scopes = [edge for edge in tables.edges] + [
        cliques.scope(c) for c in range(cliques.size)
    ]
    gains = [tables.table(e) for e in range(len(tables.edges))]
    gains += [cliques.table(c, k) for c in range(cliques.size)]
    start = first[-1] + pointers([g.size for g in gains])
    rows: list[Ints] = [np.repeat(np.arange(len(k)), k)]
    columns: list[Ints] = [np.arange(first[-1])]
    values: list[Floats] = [np.ones(first[-1])]
    row = len(k)
    for at, scope, gain in zip(start, scopes, gains, strict=False):
        joint = np.unravel_index(np.arange(gain.size), gain.shape)
        for own, v in zip(joint, np.asarray(scope).tolist(), strict=True):
            rows += [row + own, row + np.arange(k[v])]
            columns += [at + np.arange(gain.size), first[v] + np.arange(k[v])]
            values += [np.ones(gain.size), -np.ones(k[v])]
            row += int(k[v])
    matrix = sp.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(row, int(start[-1])),
    )
    target = np.zeros(row)
    target[: len(k)] = 1.0
    cost = np.concatenate([tables.unary, *[g.ravel() for g in gains]])
    found = scipy.optimize.linprog(
        -cost, A_eq=matrix, b_eq=target, bounds=(0, None), method="highs"
    )
    if found.status != 0:
        raise RuntimeError(f"the relaxation was not solved: {found.message}")
    mu = np.maximum(found.x, 0.0)
    parts = [
        mu[at : at + gain.size].reshape(gain.shape)
        for at, gain in zip(start, gains, strict=False)
    ]
    labels = [int(mu[a:b].argmax()) for a, b in pairwise(first)]
    cut = len(tables.edges)
    return RelaxedCliques(
        mu[: first[-1]], parts[:cut], parts[cut:], float(cost @ mu),
        np.array(labels, dtype=np.int32),
    )  # fmt: skip
