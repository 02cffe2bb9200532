"""Networks with cliques: labels of more than two nodes that depend on each other.

    psi(x, y) = sum_v phi(x_v) (x) e(y_v) + sum_uv phi(x_uv) (x) e(y_u, y_v)
                + sum_c e(y_c)

where e(y_c) says which joint label, or which pattern, the nodes of clique c have. The
best labels are found by elimination where the junction tree is narrow enough, which is
exact; else by message passing on a graph with a node for each clique, with a bound, or
by an LP over marginals of nodes, edges and cliques, which may be fractional.

The factored dual has marginals of the cliques of that junction tree (`solvers.smo`).
A chain of order k is the network with the cliques (t, t + 1, ..., t + k).

[1] Taskar, Guestrin and Koller 2003, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.validation import require, same_fields
from maxmargin.core.factored import CompiledAscent
from maxmargin.core.structure import (
    Answer,
    Augment,
    FactoredPlanes,
    Found,
    MappedInputs,
    P,
    Pieces,
    Structure,
)
from maxmargin.inference.graph.cliques import (
    Cliques,
    decode_cliques,
    in_elimination,
    plan_cliques,
    relax_cliques,
)
from maxmargin.inference.graph.decode import NARROW
from maxmargin.inference.graph.layers import Layered, eliminated_by_cost, small_trees
from maxmargin.inference.graph.tables import GraphTables, spans, sum_by
from maxmargin.inference.marginals.directions import Direction
from maxmargin.structures.network import loops
from maxmargin.structures.network.cliques import (
    CliqueLayout,
    beside,
    clique_names,
    encode_cliques,
    lay_out_cliques,
    survey_cliques,
)
from maxmargin.structures.network.graphs.encoding import Graphs, Scopes, encode_graphs
from maxmargin.structures.network.layout import survey
from maxmargin.structures.network.structure import BY_TREES, Network


@dataclass(frozen=True)
class CliqueNetwork(Network):
    """Labels of the nodes of a graph with cliques.

    Parameters
    ----------
    inference : {"auto", "junction", "trws", "loopy", "lp"}
        "auto" is exact where the junction tree is narrow, else "trws".
    pairwise, bias : as for `Network`
    patterns : str, tuple or mapping
        What the weights of cliques tell apart: "table", "equal", ("at most", k, label),
        or a mapping from clique types to these.

    Examples
    --------
    >>> from maxmargin.structures.network.graphs.graph import Graph
    >>> X = [Graph([[1.0], [0.2], [0.1]], [], cliques=[[0, 1, 2]])]
    >>> network = CliqueNetwork(patterns="equal").bind(X, [["up", "up", "down"]])
    >>> network.dim, network.certificate, network.feature_names()[-1]
    (5, 'exact', 'clique:equal')
    """

    patterns: Any = "table"
    cliques: CliqueLayout | None = None

    @property
    def _cliques(self) -> CliqueLayout:
        assert self.cliques is not None
        return self.cliques

    @property
    def _first(self) -> int:
        """First weight of a clique."""
        return int(self._layout.pair_at[-1])

    @property
    def dim(self) -> int:
        """Length of w; 0 before the network is bound to data."""
        return 0 if self.layout is None else self._first + self._cliques.size

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know types, label sets, widths, and what the graphs allow."""
        kinds, layout = survey(X, Y, self.bias, self.pairwise)
        cliques = survey_cliques(X, kinds, layout, self.patterns)
        bound = replace(self, kinds=kinds, layout=layout, cliques=cliques)
        x = bound.encode(X)
        n_labels = np.diff(layout.label_ptr)[x.node_type]
        return replace(
            bound, worth=x.plan.certificate(self.inference),
            lists_losses=self.inference in BY_TREES and small_trees(x.plan, n_labels),
        )  # fmt: skip

    def validate(self) -> None:
        """The layout of cliques is that of their classes and patterns."""
        super().validate()
        if self.layout is None:
            require(self.cliques is None, "the layout is missing")
            return
        require(self.cliques is not None, "the layout of cliques is missing")
        require(self.phi is None, "cliques and a map exclude each other")
        self._cliques.validate()
        expected = lay_out_cliques(
            self._cliques.classes, self._kinds, self._layout, self.patterns
        )
        same_fields(self._cliques, expected, "layout of cliques")

    def offers(self, capability: type[P]) -> P | None:
        """No compiled ascent, no factored planes, no kernels."""
        if capability in (CompiledAscent, MappedInputs, FactoredPlanes):
            return None
        return super().offers(capability)

    def encode(self, X: Sequence[Any]) -> Graphs:
        """Graphs with their cliques as flat arrays."""
        kinds, layout = self._kinds, self._layout
        x = encode_graphs(X, kinds, layout, self.bias, "trws", cliques=True)
        scopes = encode_cliques(X, self._cliques)
        n_labels = np.diff(layout.label_ptr)[x.node_type]
        plan = plan_cliques(
            x.node_ptr, x.edge_ptr, x.edges, _each_scope(scopes), n_labels,
            self.inference,
        )  # fmt: skip
        return x._replace(plan=plan, cliques=scopes)

    def factors(self, x: Graphs, ids: Ints, w: Floats) -> Cliques:
        """Tables of the cliques of the graphs `ids`."""
        scopes, cliques = x.cliques, self._cliques
        some, graph_ptr = spans(scopes.ptr, ids)
        where, node_ptr = spans(scopes.node_ptr, some)
        starts = pointers(np.diff(x.node_ptr)[ids])[:-1]
        shift = np.repeat(np.repeat(starts, np.diff(graph_ptr)), np.diff(node_ptr))
        tables = cliques.tables(w[self._first :])
        return Cliques(
            graph_ptr, node_ptr, scopes.nodes[where] + shift,
            cliques.map_ptr[scopes.kind[some]], tables,
        )  # fmt: skip

    def features(self, x: Graphs, ids: Ints, labels: Ragged) -> Rows:
        """Joint features of the labels."""
        plain = super().features(x, ids, labels)
        local = self.local_labels(x, ids, labels)
        empty = np.zeros(self.dim)
        factors = self.factors(x, ids, empty)
        n_labels = self._n_labels(x, ids)
        entry = factors.table_ptr + factors.entries(n_labels, local)
        kind = x.cliques.kind[spans(x.cliques.ptr, ids)[0]]
        weight = self._cliques.map[entry]
        counts = weight >= 0
        at = (self._first + self._cliques.at[kind] + weight)[counts]
        sizes = np.bincount(factors.graph_of()[counts], minlength=len(ids))
        own = Rows(pointers(sizes), at.astype(np.int32), np.ones(len(at)))
        return beside(plain, own)

    def _n_labels(self, x: Graphs, ids: Ints) -> Ints:
        types = x.node_type[spans(x.node_ptr, ids)[0]]
        return np.diff(self._layout.label_ptr)[types]

    def argmax(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best labels that the inference finds, and what no labels exceed."""
        tables, factors = self.tables(x, ids, w), self.factors(x, ids, w)
        plan = x.plan.take(ids)
        if augment is None:
            best = decode_cliques(tables, factors, plan, self.inference)
            return Found(self._codes(x, ids, tables, best.labels), *best[1:])
        true = self.local_labels(x, ids, augment.truth.take(ids))
        if augment.loss.form == "zero-one":
            return self._best_other(x, ids, tables, factors, augment, true)
        tables = self.augmented(x, ids, tables, augment)
        best = decode_cliques(tables, factors, plan, self.inference)
        truth_score = tables.score(true) + factors.score(tables, true)
        worse = (best.score < truth_score)[tables.graph_of_node()]
        labels = np.where(worse, true, best.labels).astype(np.int32)
        score = np.maximum(best.score, truth_score)
        codes = self._codes(x, ids, tables, labels)
        return Found(codes, score, np.maximum(best.bound, truth_score))

    def _best_by_cost(
        self, x: Graphs, ids: Ints, w: Floats, tables: GraphTables, cost: Ints,
        cap: int | None,
    ) -> Layered:  # fmt: skip
        """Along the junction tree of each graph."""
        orders = x.plan.take(ids).orders()
        factors = in_elimination(tables, self.factors(x, ids, w), orders)
        return eliminated_by_cost(tables, orders, factors, cost, cap)

    def _best_other(
        self, x: Graphs, ids: Ints, tables: GraphTables, factors: Cliques,
        augment: Augment, true: Labels,
    ) -> Found:  # fmt: skip
        """The truth, or the best other labels plus the weight of the loss."""
        rows, score, bound = [], np.empty(len(ids)), np.empty(len(ids))
        for q, i in enumerate(ids):
            own = slice(tables.node_ptr[q], tables.node_ptr[q + 1])
            one = tables.take([q])
            some = factors.take(tables.node_ptr, np.array([q]))
            plan = x.plan.take(np.array([i]))
            given = true[own]
            itself = float((one.score(given) + some.score(one, given))[0])
            labels, best, most = _other(one, some, plan, self.inference, given)
            weight = float(augment.weight[i])
            wins = best + weight > itself
            rows.append(labels if wins else given)
            score[q] = max(best + weight, itself)
            bound[q] = max(most + weight, itself)
        flat = np.concatenate([*rows, np.empty(0, np.int32)]).astype(np.int32)
        return Found(self._codes(x, ids, tables, flat), score, bound)

    def cuts(self, x: Graphs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Differences to the truth; with "lp" from marginals that may be fractional."""
        if self.inference != "lp" or augment.loss.form == "zero-one":
            return Structure.cuts(self, x, ids, w, augment)
        parts = [self._relaxed_cut(x, int(i), w, augment) for i in ids]
        if not parts:
            return Answer(Ragged.pack([]), Rows.empty(), np.empty(0), np.empty(0))
        return Answer(
            Ragged.concat([p.labels for p in parts]),
            Rows.concat([p.dpsi for p in parts]),
            np.concatenate([p.delta for p in parts]),
            np.concatenate([p.bound for p in parts]),
        )

    def transfer(
        self, x: Graphs, ids: Ints, w: Floats, tables: GraphTables, way: Direction,
        gain: Floats,
    ) -> Floats:  # fmt: skip
        """As in `Network`; the marginals of cliques move with those of their nodes."""
        assert way.ends is not None
        plain = Rows(*self.moved_rows(x, ids, tables, way))
        rows = beside(plain, self._moved_cliques(x, ids, way))
        return loops.walk(*rows, w, gain, way.room)

    def _moved_cliques(self, x: Graphs, ids: Ints, way: Direction) -> Rows:
        """Minus the change of the features of cliques, a row for each group of nodes."""
        factors, cliques = self.factors(x, ids, np.zeros(self.dim)), self._cliques
        kind = x.cliques.kind[spans(x.cliques.ptr, ids)[0]]
        owner = np.repeat(np.arange(factors.size), np.diff(factors.node_ptr))
        group = np.full(factors.size, -1, np.int64)
        np.maximum.at(group, owner, way.group[factors.nodes])
        places, values, groups = [], [], []
        for labels, sign in zip(way.ends or (), (-1.0, 1.0), strict=True):
            entry = factors.table_ptr + factors.entries(self._n_labels(x, ids), labels)
            weight = cliques.map[entry]
            held = np.flatnonzero((weight >= 0) & (group >= 0))
            places.append(self._first + (cliques.at[kind] + weight)[held])
            values.append(np.full(len(held), sign))
            groups.append(group[held])
        keys = np.concatenate(groups) * np.int64(self.dim) + np.concatenate(places)
        distinct, where = np.unique(keys, return_inverse=True)
        change = sum_by(where, np.concatenate(values), len(distinct))
        some = np.flatnonzero(change)
        sizes = np.bincount(distinct[some] // self.dim, minlength=len(way.room))
        at = (distinct[some] % self.dim).astype(np.int32)
        return Rows(pointers(sizes), at, change[some])

    def _relaxed_cut(self, x: Graphs, i: int, w: Floats, augment: Augment) -> Answer:
        """The plane of marginals mu of graph i: psi(truth) - E psi, E loss."""
        ids = np.array([i])
        plain, factors = self.tables(x, ids, w), self.factors(x, ids, w)
        tables = self.augmented(x, ids, plain, augment)
        found = relax_cliques(tables, factors)
        truth = augment.truth.take(ids)
        true = self.local_labels(x, ids, truth)
        edge_ptr = pointers([e.size for e in found.edge])
        flat = np.concatenate([*[e.ravel() for e in found.edge], np.empty(0)])
        dpsi = Rows(
            *loops.expected_difference(
                ids, *x[:10], self._layout, self._first, truth.ptr, true,
                tables.label_ptr, found.node, tables.edge_ptr, edge_ptr, flat,
            )
        )  # fmt: skip
        dpsi = beside(dpsi, self._expected_cliques(x, i, found.clique, factors, true))
        cost = float(self.costs(x, ids, tables, augment) @ found.node)
        delta = cost * augment.loss.scale(augment.truth)[ids]
        itself = plain.score(true) + factors.score(plain, true)
        bound = np.array([found.value]) - itself
        whole = bool(np.isclose(found.node.max(initial=1.0), 1.0)) and bool(
            (np.minimum(found.node, 1.0 - found.node) < 1e-7).all()
        )
        codes = self._codes(x, ids, tables, found.labels)
        rows = codes if whole else Ragged.pack([[]])
        return Answer(rows, dpsi, delta, np.maximum(bound, 0.0))

    def _expected_cliques(
        self, x: Graphs, i: int, marginals: list[Floats], factors: Cliques, true: Labels
    ) -> Rows:
        """Features of the cliques of graph i: those of the truth less the expected."""
        ids, cliques = np.array([i]), self._cliques
        kind = x.cliques.kind[spans(x.cliques.ptr, ids)[0]]
        entry = factors.entries(self._n_labels(x, ids), true)
        total = np.zeros(cliques.size)
        for c, mu in enumerate(marginals):
            own = cliques.map[cliques.map_ptr[kind[c]] : cliques.map_ptr[kind[c] + 1]]
            change = -mu.ravel()
            change[entry[c]] += 1.0
            held = own >= 0
            np.add.at(total, cliques.at[kind[c]] + own[held], change[held])
        at = np.flatnonzero(total)
        return Rows.pack([(self._first + at, total[at])])

    def work(self, x: Graphs) -> Floats:
        """Visits of the tables of nodes, edges and cliques."""
        size = np.diff(self._cliques.map_ptr)[x.cliques.kind].astype(np.float64)
        owner = np.repeat(np.arange(x.n), np.diff(x.cliques.ptr))
        rounds = np.where(x.plan.kind == NARROW, 2.0, 60.0)
        return super().work(x) + rounds * sum_by(owner, size, x.n)

    def explain_pieces(self, x: Graphs, i: int, row: Labels) -> Pieces:
        """One part per node, per edge and per clique whose pattern counts."""
        plain = super().explain_pieces(x, i, row)
        ids = np.array([i])
        names = [str(self._kinds.classes[c]) for c in row.tolist()]
        local = self.local_labels(x, ids, Ragged.pack([row]))
        factors = self.factors(x, ids, np.zeros(self.dim))
        entry = factors.table_ptr + factors.entries(self._n_labels(x, ids), local)
        kind = x.cliques.kind[spans(x.cliques.ptr, ids)[0]]
        titles, parts = list(plain.names), []
        for c in range(factors.size):
            weight = int(self._cliques.map[entry[c]])
            if weight >= 0:
                scope = factors.scope(c).tolist()
                nodes, said = (
                    "-".join(map(str, scope)),
                    "-".join(names[v] for v in scope),
                )
                titles.append(f"clique {nodes}: {said}")
                at = self._first + int(self._cliques.at[kind[c]]) + weight
                parts.append((np.array([at]), np.ones(1)))
        return Pieces(titles, Rows.concat([plain.psi, Rows.pack(parts)]))

    def feature_names(self) -> Sequence[str]:
        """Those of nodes and edges, then those of cliques."""
        more = clique_names(self._cliques, self._kinds, self._layout, self.patterns)
        return [*super().feature_names(), *more]


def _each_scope(scopes: Scopes) -> list[list[Ints]]:
    """Nodes of the cliques of each graph."""
    each = np.split(scopes.nodes, scopes.node_ptr[1:-1])
    pairs = zip(scopes.ptr[:-1].tolist(), scopes.ptr[1:].tolist(), strict=True)
    return [each[a:b] for a, b in pairs]


def _other(
    tables: GraphTables, factors: Cliques, plan: Any, method: str, given: Labels
) -> tuple[Labels, float, float]:
    """Best labels of one graph that are not the given ones, their score, and a bound.

    Other labels fall into classes, one for each node v: those that agree with the given
    ones before v and differ at v.
    """
    first = decode_cliques(tables, factors, plan, method)
    if not np.array_equal(first.labels, given):
        return first.labels, float(first.score[0]), float(first.bound[0])
    labels, top, most = given, -np.inf, -np.inf
    low = 1.0 + 2.0 * (np.abs(tables.unary).sum() + np.abs(tables.pairwise).sum())
    low += 2.0 * np.abs(factors.tables).sum() * max(factors.size, 1)
    unary = tables.unary.copy()
    for v in range(tables.n_nodes):
        own = slice(int(tables.label_ptr[v]), int(tables.label_ptr[v + 1]))
        kept, truth = unary[own].copy(), own.start + int(given[v])
        if own.stop - own.start > 1:
            unary[truth] = kept[given[v]] - low
            found = decode_cliques(tables._replace(unary=unary), factors, plan, method)
            differs = not np.array_equal(found.labels, given)
            if differs and float(found.score[0]) > top:
                labels, top = found.labels, float(found.score[0])
            most = max(most, float(found.bound[0]))
        unary[own] = kept - low
        unary[truth] = kept[given[v]]
    if np.isfinite(top):
        top = float((tables.score(labels) + factors.score(tables, labels))[0])
    return labels, top, max(most, top)
