"""A point of the marginal polytope of each graph, and moves of mass within it.

    mu_v[a], mu_uv[a, b] >= 0,   sum_b mu_uv[a, b] = mu_u[a],   sum_a mu_v[a] = mass

On forests these parts describe every density over labels (Taskar et al. 2003, Theorem
4.1). On graphs of low treewidth the point also has marginals of the cliques of a
triangulation, which make it exact again. Elsewhere it lies in the relaxed polytope.
Mass moves from one labelling to another by (12) of the paper; `down` finds labels that
still carry mass and score least, `room` is the mass that they can give.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, pointers
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.core.jit import loop
from maxmargin.inference.graph import forest, junction
from maxmargin.inference.graph.cliques import Cliques, in_elimination
from maxmargin.inference.graph.decode import FOREST, NARROW, GraphPlan
from maxmargin.inference.graph.tables import GraphTables, spans
from maxmargin.inference.loopy import messages, relaxation
from maxmargin.inference.marginals import directions
from maxmargin.inference.marginals.directions import Direction

EMPTY = 1e-10  # of the mass: what rounding leaves


class Point:
    """Marginals of many graphs, changed in place.

    Parameters
    ----------
    tables : GraphTables
        Of all graphs; only sizes and edges are read.
    graphs : GraphPlan
        What each graph allows.
    labels : int array (nodes,)
        Where all mass is at first.
    mass : array (graphs,)
        Mass of each graph.

    Attributes
    ----------
    node, edge : arrays
        Marginals; edges have a table each, at `edge_ptr`.
    """

    DUAL = ("node", "edge", "clique")  # what a checkpoint holds

    def __init__(
        self, tables: GraphTables, graphs: GraphPlan, labels: Labels, mass: Floats
    ) -> None:
        self.mass, self.graphs = mass, graphs
        self._last: tuple[Labels, Labels] | None = None
        self.node_ptr, self.link_ptr = tables.node_ptr, tables.edge_ptr
        self.label_ptr = tables.label_ptr
        k = tables.n_labels
        self.edge_ptr = pointers(k[tables.edges[:, 0]] * k[tables.edges[:, 1]])
        self.node = np.zeros(self.label_ptr[-1])
        self.edge = np.zeros(self.edge_ptr[-1])
        self.node[self.label_ptr[:-1] + labels] = mass[tables.graph_of_node()]
        u, v = tables.edges[:, 0], tables.edges[:, 1]
        at = self.edge_ptr[:-1] + labels[u] * k[v] + labels[v]
        self.edge[at] = mass[tables.graph_of_edge()]
        self._place_cliques(tables, labels)

    def _place_cliques(self, tables: GraphTables, labels: Labels) -> None:
        """Tables over the cliques of graphs of low treewidth, none for the others."""
        narrow = self.graphs.kind == NARROW
        sizes = np.diff(junction.clique_pointers(tables, self.graphs.orders()))
        sizes[~narrow[tables.graph_of_node()]] = 0
        self.clique_ptr = pointers(sizes)
        refuse_larger(
            8.0 * float(self.clique_ptr[-1]), MEMORY, "the marginals of all cliques",
            "use solver='block-dual', which holds constraints instead, or smaller cliques",
        )  # fmt: skip
        self.clique = np.zeros(self.clique_ptr[-1])
        ids = np.flatnonzero(narrow)
        if len(ids):
            nodes = spans(tables.node_ptr, ids)[0]
            mass = self.mass[tables.graph_of_node()][nodes]
            directions.fill_cliques(
                tables.n_labels[nodes], *self.graphs.take(ids).orders(), labels[nodes],
                mass, self.clique_ptr[nodes], self.clique,
            )  # fmt: skip

    def toward(
        self, ids: Ints, tables: GraphTables, up: Labels, factors: Cliques | None = None
    ) -> Direction:
        """From the worst labels that carry mass to the labels `up`.

        With `factors` (tables of cliques) all graphs must be of low treewidth. Graphs
        without such labels move from the point as a whole; where inference is not exact,
        those in which most of what differs has no such labels.
        """
        down = self._worst(ids, tables, factors)
        edge_ptr = self._edge_ptr(ids)
        node = np.zeros(len(tables.unary))
        edge = np.zeros(edge_ptr[-1])
        group, room = self._groups(ids, tables, up, down)
        _indicate(*_shape(tables), edge_ptr, up, 1.0, node, edge)
        _indicate(*_shape(tables), edge_ptr, down, -1.0, node, edge)
        moved, graph = group >= 0, tables.graph_of_node()
        stuck = moved & (np.append(room, 1.0)[group] <= 0.0)
        moving, held = (
            np.bincount(graph, k, minlength=len(ids)) for k in (moved, stuck)
        )
        exact = (self.graphs.kind[ids] == FOREST) | (self.graphs.kind[ids] == NARROW)
        whole = np.where(exact, held > 0, 2 * held > moving) | (moving == 0)
        if whole.any():
            for g in np.flatnonzero(whole):
                self._whole(ids, tables, edge_ptr, int(g), up, node, edge)
            group, room = _joined(group, room, whole[graph], graph)
            down = np.where(whole[graph], up, down).astype(np.int32)
        self._last = (up, down)
        return Direction(node, edge_ptr, edge, room, group, self._last)

    def toward_relaxed(
        self, ids: Ints, tables: GraphTables, up: relaxation.Relaxed
    ) -> Direction:
        """From the worst vertex within the support to the relaxed optimum `up`."""
        node, edge = self._parts(ids)
        worst = relaxation.relax_within(tables, node, edge, self._empty(ids))
        change, change_edge = up.node - worst.node, up.edge - worst.edge
        room = directions.room_of_graphs(
            *_shape(tables), up.edge_ptr, tables.edge_ptr, node, edge, change,
            change_edge,
        )  # fmt: skip
        self._last = None
        graph = tables.graph_of_node()
        return Direction(change, up.edge_ptr, change_edge, room, graph)

    def move(self, ids: Ints, tables: GraphTables, way: Direction, by: Floats) -> None:
        """Each group goes `by` along the direction that was asked for last."""
        at_node = spans(self.label_ptr, spans(self.node_ptr, ids)[0])[0]
        at_edge = spans(self.edge_ptr, spans(self.link_ptr, ids)[0])[0]
        by = np.append(by, 0.0)  # of what does not move
        step, step_edge = by[way.group], by[way.group_of_edge(tables)]
        node_by = np.repeat(step, tables.n_labels)
        edge_by = np.repeat(step_edge, np.diff(way.edge_ptr))
        self.node[at_node] = np.maximum(self.node[at_node] + node_by * way.node, 0.0)
        self.edge[at_edge] = np.maximum(self.edge[at_edge] + edge_by * way.edge, 0.0)
        narrow = np.flatnonzero(self.graphs.kind[ids] == NARROW)
        if self._last is None or len(narrow) == 0:
            return
        up, down = self._last
        own, orders, start = self._cliques(ids, tables, narrow)
        directions.move_cliques(
            tables.n_labels[own], *orders, up[own], down[own], step[own], start,
            self.clique,
        )  # fmt: skip

    def scale(self, factor: float) -> None:
        """All masses times a factor."""
        self.mass = self.mass * factor
        for part in (self.node, self.edge, self.clique):
            part *= factor

    def _edge_ptr(self, ids: Ints) -> Ints:
        return spans(self.edge_ptr, spans(self.link_ptr, ids)[0])[1]

    def _parts(self, ids: Ints) -> tuple[Floats, Floats]:
        at_node = spans(self.label_ptr, spans(self.node_ptr, ids)[0])[0]
        at_edge = spans(self.edge_ptr, spans(self.link_ptr, ids)[0])[0]
        return self.node[at_node], self.edge[at_edge]

    def _empty(self, ids: Ints) -> Floats:
        return EMPTY * self.mass[ids]

    def _worst(self, ids: Ints, tables: GraphTables, factors: Cliques | None) -> Labels:
        """Labels of least score in the support; beyond it where none were found."""
        kind = self.graphs.kind[ids]
        down = np.zeros(tables.n_nodes, np.int32)
        for one in np.unique(kind):
            own = np.flatnonzero(kind == one)
            part = tables.take(own) if len(own) < len(ids) else tables
            where = spans(tables.node_ptr, own)[0]
            if one == NARROW:
                some = None if factors is None else factors.take(tables.node_ptr, own)
                down[where] = self._worst_narrow(ids[own], part, some)
                continue
            node, edge = self._parts(ids[own])
            low = -np.inf if one == FOREST else -1e3 * _spread(part)
            masked = _masked(
                part, self._edge_ptr(ids[own]), node, edge, self._empty(ids[own]), low
            )
            if one == FOREST:
                down[where] = forest.best_in_forest(masked).labels
            else:
                down[where] = messages.best_by_trws(masked, max_iter=20).labels
        return down

    def _worst_narrow(
        self, ids: Ints, part: GraphTables, factors: Cliques | None
    ) -> Labels:
        nodes = spans(self.node_ptr, ids)[0]
        entries = spans(self.clique_ptr, nodes)[0]
        sizes = np.diff(self.clique_ptr)[nodes]
        empty = np.repeat(self._empty(ids)[part.graph_of_node()], sizes)
        mask = np.where(self.clique[entries] > empty, 0.0, -np.inf)
        flipped = part._replace(unary=-part.unary, pairwise=-part.pairwise)
        orders = self.graphs.take(ids).orders()
        if factors is not None:
            mask -= in_elimination(part, factors, orders)
        return junction.best_by_elimination(flipped, orders, mask).labels

    def _groups(
        self, ids: Ints, tables: GraphTables, up: Labels, down: Labels
    ) -> tuple[Ints, Floats]:
        """Nodes that move together, and the mass that `down` can give to `up`."""
        differs = up != down
        narrow = np.flatnonzero(self.graphs.kind[ids] == NARROW)
        pairs = np.empty((0, 2), np.int64)
        if len(narrow):
            own, orders, start = self._cliques(ids, tables, narrow)
            pairs = directions.clique_pairs(orders, own)
        group = directions.connected(tables, differs, pairs)
        node, edge = self._parts(ids)
        room = directions.room_of_groups(
            *_shape(tables), self._edge_ptr(ids), node, edge, up, down, group,
            int(group.max(initial=-1)) + 1,
        )  # fmt: skip
        if len(narrow):
            directions.clique_room(
                tables.n_labels[own], *orders, up[own], down[own], start, self.clique,
                group[own], room,
            )  # fmt: skip
        return group, room

    def _cliques(
        self, ids: Ints, tables: GraphTables, narrow: Ints
    ) -> tuple[Ints, junction.EliminationOrders, Ints]:
        """Nodes of the graphs of low treewidth, their orders, where tables start."""
        own = spans(tables.node_ptr, narrow)[0]
        start = self.clique_ptr[spans(self.node_ptr, ids[narrow])[0]]
        return own, self.graphs.take(ids[narrow]).orders(), start

    def _whole(
        self, ids: Ints, tables: GraphTables, edge_ptr: Ints, g: int, up: Labels,
        node: Floats, edge: Floats,
    ) -> None:  # fmt: skip
        """Direction from the whole point of graph g to all mass on `up`."""
        if self.graphs.kind[ids[g]] == NARROW:
            own = slice(tables.label_ptr[tables.node_ptr[g]],
                        tables.label_ptr[tables.node_ptr[g + 1]])  # fmt: skip
            node[own] = 0.0
            edge[edge_ptr[tables.edge_ptr[g]] : edge_ptr[tables.edge_ptr[g + 1]]] = 0.0
            return  # cliques move between labellings only
        part = tables.take([g])
        one, one_edge = self._parts(ids[[g]])
        fresh = np.zeros_like(one)
        fresh_edge = np.zeros_like(one_edge)
        own_ptr = self._edge_ptr(ids[[g]])
        where = slice(tables.node_ptr[g], tables.node_ptr[g + 1])
        _indicate(*_shape(part), own_ptr, up[where], self.mass[ids[g]], fresh,
                  fresh_edge)  # fmt: skip
        start = tables.label_ptr[tables.node_ptr[g]]
        node[start : start + len(one)] = fresh - one
        start = edge_ptr[tables.edge_ptr[g]]
        edge[start : start + len(one_edge)] = fresh_edge - one_edge


def _joined(
    group: Ints, room: Floats, whole: np.ndarray, graph: Ints
) -> tuple[Ints, Floats]:
    """Groups with the nodes marked `whole` moved by graphs, with room for all."""
    alone = np.where(whole, -1, group)
    kept = np.unique(alone[alone >= 0])
    graphs = np.unique(graph[whole])
    out = np.where(whole, len(kept) + np.searchsorted(graphs, graph), -1)
    rest = alone >= 0
    out[rest] = np.searchsorted(kept, alone[rest])
    return out, np.concatenate((room[kept], np.ones(len(graphs))))


def _shape(tables: GraphTables) -> tuple[Ints, Labels]:
    return tables.label_ptr, tables.edges


def _spread(tables: GraphTables) -> float:
    """A number larger than any difference of scores."""
    top = np.abs(tables.unary).max(initial=0.0) + np.abs(tables.pairwise).max(
        initial=0.0
    )
    return float(1.0 + top)


def _masked(
    tables: GraphTables, edge_ptr: Ints, node: Floats, edge: Floats, empty: Floats,
    low: float,
) -> GraphTables:  # fmt: skip
    """Negated tables, with `low` where a part carries no mass."""
    unary, pairwise = _mask(
        *tables[2:], edge_ptr, node, edge, empty[tables.graph_of_node()],
        empty[tables.graph_of_edge()], low,
    )  # fmt: skip
    return tables._replace(unary=unary, pair_ptr=edge_ptr[:-1], pairwise=pairwise)


@loop
def _mask(
    label_ptr, unary, edges, pair_ptr, pairwise, edge_ptr, node, edge, node_empty,
    edge_empty, low,
):  # fmt: skip
    out = -unary
    for v in range(len(label_ptr) - 1):
        for a in range(label_ptr[v], label_ptr[v + 1]):
            if node[a] <= node_empty[v]:
                out[a] = low
    pairs = np.empty(edge_ptr[-1])
    for e in range(len(edges)):
        for j in range(edge_ptr[e + 1] - edge_ptr[e]):
            at = edge_ptr[e] + j
            pairs[at] = -pairwise[pair_ptr[e] + j]
            if edge[at] <= edge_empty[e]:
                pairs[at] = low
    return out, pairs


@loop
def _indicate(label_ptr, edges, edge_ptr, labels, value, node, edge):
    """Add value to the parts of the labels."""
    for v in range(len(label_ptr) - 1):
        node[label_ptr[v] + labels[v]] += value
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[v + 1] - label_ptr[v]
        edge[edge_ptr[e] + labels[u] * k + labels[v]] += value
