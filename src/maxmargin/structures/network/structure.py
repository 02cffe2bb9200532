"""Pairwise Markov networks on any graph.

An output has a label for every node of a graph, from the label set of the node's type.
Its features are a sum over nodes and edges,

    psi(x, y) = sum_v phi(x_v) (x) e(y_v) + sum_uv phi(x_uv) (x) e(y_u, y_v)

with weights per node type and edge class. The best y is the best labelling of tables
of scores, found by `inference.graph.decode`: exactly on forests and at low treewidth, else
with a bound, or relaxed to marginals that may be fractional. A fractional answer mu is
a plane like any other: dpsi = psi(truth) - E_mu psi, delta = E_mu loss.

[1] Taskar, Guestrin and Koller 2003, sections 2 and 4.
[2] Yu 2011, section 6.2 (node and edge features).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, Vectors
from maxmargin.core.data.validation import FeatureMap, check_types, require, same_fields
from maxmargin.core.factored import CompiledAscent
from maxmargin.core.structure import (
    Answer,
    Augment,
    ByLoss,
    Found,
    Layers,
    OuterCoordinates,
    P,
    Pieces,
    Structure,
)
from maxmargin.inference.graph.best_other import best_other
from maxmargin.inference.graph.decode import FOREST, METHODS, GraphPlan, decode
from maxmargin.inference.graph.layers import (
    Layered,
    common_unit,
    layers_of,
    small_trees,
)
from maxmargin.inference.graph.tables import GraphTables, spans, sum_by
from maxmargin.inference.loopy import relaxation
from maxmargin.inference.marginals.compiled_ascent import Ascent
from maxmargin.inference.marginals.directions import Direction
from maxmargin.structures.network import loops
from maxmargin.structures.network import outer_coordinates as outer
from maxmargin.structures.network.graphs.encoding import (
    Graphs,
    encode_graphs,
    with_constant_column,
)
from maxmargin.structures.network.graphs.graph import plain
from maxmargin.structures.network.layout import (
    Kinds,
    NetworkLayout,
    computed_layout,
    network_pieces,
    survey,
    widened,
)
from maxmargin.structures.network.smo_loops import ascend_linear

CERTIFICATES = ("exact", "relaxed", "bound")
BY_TREES = ("auto", "junction")  # ways of inference that use junction trees
SCALAR = str | int | float | np.generic  # labels that arrays of one type may hold
ASCENT_NODES = 500  # of a graph whose nodes are compared with each other


@dataclass(frozen=True)
class Network(Structure):
    """Labels of the nodes of a graph.

    Parameters
    ----------
    inference : str
        "auto", "forest", "junction", "cut", "search", "lp", "trws", "loopy" or
        "expansion"; see `maxmargin.inference.graph.decode`.
    pairwise : {"full", "symmetric", "potts"}
        What edges tell apart: ordered pairs of labels, unordered pairs, or only
        whether both labels are equal.
    bias : bool
        Append a constant to the features of nodes, and of edges that have any.

    Examples
    --------
    >>> X = [([[1.0], [0.2]], [[0, 1]]), ([[-1.0]], [])]
    >>> Y = [["up", "up"], ["down"]]
    >>> network = Network().bind(X, Y)
    >>> network.dim, network.certificate
    (8, 'exact')
    """

    inference: str = "auto"
    pairwise: str = "full"
    bias: bool = True
    kinds: Kinds | None = None
    layout: NetworkLayout | None = None
    worth: str = "exact"  # certificate on the training graphs
    phi: FeatureMap | None = field(default=None, repr=False, compare=False)
    forests: bool = False  # the training graphs are all forests
    ascends: bool = False  # forests that compiled ascent can take
    lists_losses: bool = False  # the best labels for each value of the loss can be had

    @property
    def exact(self) -> bool:
        """Whether argmax is exact on the training graphs."""
        return self.worth == "exact"

    @property
    def certificate(self) -> str:
        """How good inference is on the training graphs."""
        return self.worth

    @property
    def dim(self) -> int:
        """Length of w; 0 before the network is bound to data."""
        return 0 if self.layout is None else int(self.layout.pair_at[-1])

    @property
    def _layout(self) -> NetworkLayout:
        if self.layout is None:
            raise ValueError("this network is not bound to data yet: call bind(X, Y)")
        return self.layout

    @property
    def _kinds(self) -> Kinds:
        assert self.kinds is not None
        return self.kinds

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know types, label sets, widths, and what the graphs allow."""
        kinds, layout = survey(X, Y, self.bias, self.pairwise)
        x = encode_graphs(X, kinds, layout, self.bias, self.inference, features=False)
        graphs, n_labels = x.plan, np.diff(layout.label_ptr)[x.node_type]
        forests = bool((graphs.kind == FOREST).all())
        # Ascent keeps a Gram matrix of the nodes of a graph.
        small = bool(np.diff(graphs.node_ptr).max(initial=0) <= ASCENT_NODES)
        return replace(
            self,
            kinds=kinds,
            layout=layout,
            worth=graphs.certificate(self.inference),
            forests=forests,
            lists_losses=self.inference in BY_TREES and small_trees(graphs, n_labels),
            ascends=forests and layout.shared and small,
        )

    def validate(self) -> None:
        """The layout is that of the kinds, label sets and settings."""
        check_types(self)
        require(self.inference in METHODS, f"inference={self.inference!r} is not known")
        require(self.worth in CERTIFICATES, f"worth={self.worth!r} is not known")
        if self.kinds is None or self.layout is None:
            require(self.kinds is None and self.layout is None, "the layout is missing")
            return
        self.kinds.validate()
        layout = computed_layout(
            self.kinds, self.layout, bool(self.bias), self.pairwise
        )
        same_fields(self.layout, self._expected(layout), "layout of the weights")

    def _expected(self, layout: NetworkLayout) -> NetworkLayout:
        """The layout of plain weights as this network has it."""
        if self.phi is None:
            return layout
        require(len(self._kinds.types) == 1, "a map takes nodes of one type")
        known = (None, self._kinds.features[0])
        require(self.phi.inputs in known, "the map takes other features")
        return widened(layout, self.phi.width + bool(self.bias))

    @classmethod
    def upgraded(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Fields read from a model file; those of version 0.1 name capabilities."""
        known = super().upgraded(fields)
        if "provides" in fields:
            known["forests"] = "argmax_by_loss" in fields["provides"]
            known["ascends"] = "ascend" in fields["provides"]
        return known

    def offers(self, capability: type[P]) -> P | None:
        """Outputs by loss where trees are small; ascent on forests of plain edges."""
        if capability is ByLoss and not (self.forests or self.lists_losses):
            return None
        if capability is CompiledAscent and not self.ascends:
            return None
        return super().offers(capability)

    def plan(self, x: Graphs) -> GraphPlan:
        """How inference treats each graph."""
        return x.plan

    def encode(self, X: Sequence[Any]) -> Graphs:
        """Graphs, or tuples (nodes, edges, ...), as flat arrays."""
        kinds, layout = self._kinds, self._layout
        x = encode_graphs(X, kinds, layout, self.bias, self.inference)
        if self.phi is None:
            return x
        return self.with_inputs(x, self.phi(_matrix(x, kinds, self.bias)))

    def mapped(self, phi: Any) -> Self:
        """The same labels over phi(x_v) in place of x_v, for nodes of one type."""
        width = phi.width + self.bias
        return replace(self, phi=phi, layout=widened(self._layout, width))

    def input_matrix(self, x: Graphs) -> Any:
        """Nodes, all of one type, as rows without their constant."""
        types = self._kinds.types
        if len(types) != 1:
            many = ", ".join(map(repr, types))
            raise ValueError(f"node types {many} need kernel_method='exact'")
        return _matrix(x, self._kinds, self.bias)

    def with_inputs(self, x: Graphs, matrix: Any) -> Graphs:
        """The same graphs with other node vectors."""
        if self.bias:
            matrix = with_constant_column(matrix)
        vectors = Vectors.of(matrix, sp.issparse(matrix))
        own = np.arange(vectors.n, dtype=np.int32)
        return x._replace(row=own, ptr=vectors.ptr, idx=vectors.idx, val=vectors.val)

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of the nodes' features (features, labels), and all others."""
        width, k = int(self._layout.width[0]), int(self._layout.label_ptr[-1])
        nodes, rest = w[: width * k], w[width * k :]
        sparse = self.phi.sparse if self.phi is not None else self._kinds.sparse
        inputs = nodes.reshape(width, k) if sparse else nodes.reshape(k, width).T
        if not self.bias:
            return inputs, rest
        return inputs[:-1], np.concatenate((inputs[-1], rest))

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""
        k = int(self._layout.label_ptr[-1])
        if self.bias:
            inputs, rest = np.vstack((inputs, rest[:k])), rest[k:]
        sparse = self.phi.sparse if self.phi is not None else self._kinds.sparse
        return np.append(inputs if sparse else inputs.T, rest)

    def encode_labels(self, x: Graphs, Y: Sequence[Any]) -> Ragged:
        """Codes of the labels of the nodes."""
        layout, kinds = self._layout, self._kinds
        code = {label: c for c, label in enumerate(kinds.classes)}
        rows = []
        for i, labels in enumerate(Y):
            given = plain(labels)
            types = x.node_type[x.node_ptr[i] : x.node_ptr[i + 1]]
            if len(given) != len(types):
                raise ValueError(
                    f"graph {i} has {len(types)} nodes, but {len(given)} labels"
                )
            row = [code.get(label, -1) for label in given]
            for v, (c, t) in enumerate(zip(row, types.tolist(), strict=True)):
                if c < 0 or layout.local[t * layout.codes + c] < 0:
                    among = self.labels_of(t)
                    raise ValueError(
                        f"graph {i}, node {v}: label {given[v]!r} is not one of the "
                        f"labels of its type {kinds.types[t]!r}: {among}"
                    )
            rows.append(row)
        return Ragged.pack(rows)

    def labels_of(self, t: int) -> list[Any]:
        """Labels of node type number t."""
        layout = self._layout
        codes = layout.label[layout.label_ptr[t] : layout.label_ptr[t + 1]]
        return [self._kinds.classes[c] for c in codes]

    def decode_labels(self, x: Graphs, labels: Ragged) -> list[Any]:
        """Labels of the nodes of each graph, an array each."""
        names = np.empty(len(self._kinds.classes), dtype=object)
        names[:] = self._kinds.classes
        if all(isinstance(label, SCALAR) for label in self._kinds.classes):
            common = np.array(list(self._kinds.classes))
            if common.dtype.kind in "iufbU" and common.tolist() == names.tolist():
                names = common
        flat = names[labels.data]
        return np.split(flat, labels.ptr[1:-1])

    def label_count(self) -> int:
        """Number of labels over all types."""
        return len(self._kinds.classes)

    def work(self, x: Graphs) -> Floats:
        """Products with the weights, and visits of the tables."""
        layout = self._layout
        k = np.diff(layout.label_ptr)[x.node_type]
        node = np.concatenate(([0.0], np.cumsum(np.diff(x.ptr)[x.row] * k)))
        size = np.diff(layout.map_ptr)[x.edge_class].astype(float)
        edge = np.concatenate(([0.0], np.cumsum(size)))
        rounds = np.where(x.plan.kind == FOREST, 2.0, 60.0)
        return np.diff(node[x.node_ptr]) + rounds * np.diff(edge[x.edge_ptr])

    def tables(self, x: Graphs, ids: Ints, w: Floats) -> GraphTables:
        """Scores of labels and label pairs of the graphs `ids`."""
        layout = self._layout
        nodes, links, label_ptr = loops.sizes(
            ids, x.node_ptr, x.edge_ptr, x.node_type, layout
        )
        unary = loops.fill_unary(
            ids, x.node_ptr, x.node_type, *x[5:9], layout, w, nodes, label_ptr
        )  # fmt: skip
        ends, start, pairwise = loops.fill_pairwise(
            ids, x.edge_ptr, x.edges, x.edge_class, x.edge_val, layout, w, nodes, links
        )
        return GraphTables(nodes, links, label_ptr, unary, ends, start, pairwise)

    def costs(
        self, x: Graphs, ids: Ints, tables: GraphTables, augment: Augment
    ) -> Floats:
        """Cost of each label of each node against the truth, not scaled."""
        out = np.zeros(len(tables.unary))
        loops.add_loss(
            ids, x.node_ptr, x.node_type, self._layout, tables.node_ptr,
            tables.label_ptr, *augment.truth, _cost_table(augment),
            np.ones(len(ids)), out,
        )  # fmt: skip
        return out

    def features(self, x: Graphs, ids: Ints, labels: Ragged) -> Rows:
        """Joint features of the labels."""
        local = self.local_labels(x, ids, labels)
        return Rows(
            *loops.features(ids, *x[:10], self._layout, self.dim, labels.ptr, local)
        )

    def argmax(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best labels that the inference finds, and what no labels exceed."""
        if augment is not None:
            return self._best(x, ids, w, augment)[0]
        tables = self.tables(x, ids, w)
        best = decode(tables, x.plan.take(ids), self.inference)
        return Found(self._codes(x, ids, tables, best.labels), *best[1:])

    def _best(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment
    ) -> tuple[Found, Floats]:
        """Best labels with the loss added, and the scores of the true ones."""
        tables = self.tables(x, ids, w)
        if augment.loss.form == "zero-one":
            return self._zero_one(x, ids, tables, augment)
        tables = self.augmented(x, ids, tables, augment)
        best = decode(tables, x.plan.take(ids), self.inference)
        true = self.local_labels(x, ids, augment.truth.take(ids))
        truth_score = tables.score(true)
        worse = (best.score < truth_score)[tables.graph_of_node()]
        labels = np.where(worse, true, best.labels).astype(np.int32)
        score = np.maximum(best.score, truth_score)
        codes = self._codes(x, ids, tables, labels)
        return Found(codes, score, np.maximum(best.bound, truth_score)), truth_score

    def cuts(self, x: Graphs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Differences to the truth; with "lp" from marginals that may be fractional."""
        graphs = *x[:10], self._layout, self.dim
        return self._cuts(x, ids, w, augment, graphs, loops)

    def outer_coordinates(self, x: Graphs) -> OuterCoordinates | None:
        """(node, label) and (edge, pair of labels), then other weights."""
        return outer.coordinates(x, self._layout)

    def outer_cuts(self, x: Graphs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """As `cuts`, in the coordinates of `outer_coordinates`."""
        return self._cuts(x, ids, w, augment, self._outer_graphs(x), outer)

    def outer_features(self, x: Graphs, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in the coordinates of `outer_coordinates`."""
        local, graphs = self.local_labels(x, ids, labels), self._outer_graphs(x)
        return Rows(*outer.features(ids, *graphs, labels.ptr, local))

    def _outer_graphs(self, x: Graphs) -> tuple[Any, ...]:
        """What loops in outer coordinates read of the graphs."""
        layout = self._layout
        number = outer.numbering(x, layout)
        return x.node_ptr, x.edge_ptr, x.edges, x.edge_class, layout, number

    def _cuts(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment,
        graphs: tuple[Any, ...], rows: ModuleType,
    ) -> Answer:  # fmt: skip
        """Answers with rows made by the loops of a module from `graphs`."""
        if self.inference == "lp" and augment.loss.form != "zero-one":
            return self._relaxed_cuts(x, ids, w, augment, graphs, rows)
        found, truth_score = self._best(x, ids, w, augment)
        truth = augment.truth.take(ids)
        true = self.local_labels(x, ids, truth)
        local = self.local_labels(x, ids, found.labels)
        dpsi = Rows(*rows.difference(ids, *graphs, truth.ptr, true, local))
        delta = augment.loss.value(truth, found.labels)
        return Answer(found.labels, dpsi, delta, found.bound - truth_score)

    def _relaxed_cuts(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment,
        graphs: tuple[Any, ...], rows: ModuleType,
    ) -> Answer:  # fmt: skip
        plain_tables = self.tables(x, ids, w)
        tables = self.augmented(x, ids, plain_tables, augment)
        found = relaxation.relax(tables)
        truth = augment.truth.take(ids)
        true = self.local_labels(x, ids, truth)
        dpsi = Rows(
            *rows.expected_difference(
                ids, *graphs, truth.ptr, true, tables.label_ptr, found.node,
                tables.edge_ptr, found.edge_ptr, found.edge,
            )
        )  # fmt: skip
        cost = self.costs(x, ids, tables, augment) * found.node
        owner = np.repeat(tables.graph_of_node(), tables.n_labels)
        delta = sum_by(owner, cost, tables.n) * augment.loss.scale(augment.truth)[ids]
        codes = self._codes(x, ids, tables, found.labels)
        whole = found.integral
        labels = Ragged.pack([
            codes.row(q) if whole[q] else [] for q in range(codes.n)
        ])  # fmt: skip
        return Answer(labels, dpsi, delta, found.value - plain_tables.score(true))

    def argmax_by_loss(
        self, x: Graphs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best labels of each graph for every value of the loss.

        Of forests, and of graphs whose junction trees are small.
        """
        tables = self.tables(x, ids, w)
        cost = self.costs(x, ids, tables, augment)
        unit = 1.0 if augment.loss.form == "zero-one" else common_unit(cost)
        whole = np.rint(cost / unit).astype(np.int64)
        cap = 1 if augment.loss.form == "zero-one" else None
        found = self._best_by_cost(x, ids, w, tables, whole, cap)
        sizes = np.diff(found.ptr)
        rows = np.repeat(np.arange(len(ids)), sizes)
        codes = loops.to_codes(
            ids[rows], x.node_ptr, x.node_type, self._layout, found.label_ptr,
            found.labels,
        )  # fmt: skip
        scale = np.ones(len(ids))
        if augment.loss.form != "zero-one":
            scale = augment.loss.scale(augment.truth)[ids]
        loss = np.repeat(scale, sizes) * unit * found.cost
        return Layers(found.ptr, Ragged(found.label_ptr, codes), found.score, loss)

    def _best_by_cost(
        self, x: Graphs, ids: Ints, w: Floats, tables: GraphTables, cost: Ints,
        cap: int | None,
    ) -> Layered:  # fmt: skip
        """Best labels for each cost: along forests and junction trees."""
        return layers_of(tables, self.plan(x).take(ids), cost, cap)

    def local_labels(self, x: Graphs, ids: Ints, labels: Ragged) -> Labels:
        """Labels as places in the label sets of their nodes."""
        return loops.to_local(ids, x.node_ptr, x.node_type, self._layout, *labels)

    def transfer(
        self, x: Graphs, ids: Ints, w: Floats, tables: GraphTables, way: Direction,
        gain: Floats,
    ) -> Floats:  # fmt: skip
        """Move mass along `way`, one group of nodes after the other; w follows.

        Each step is the best for the dual: `gain` is what the loss term earns per
        unit. Returns how far each group went.
        """
        return loops.walk(*self.moved_rows(x, ids, tables, way), w, gain, way.room)

    def moved_rows(
        self, x: Graphs, ids: Ints, tables: GraphTables, way: Direction
    ) -> tuple[Ints, Labels, Floats]:
        """Minus the change of psi along `way`, a row for each group of nodes."""
        return loops.moved_rows(
            self.dim, *way.nodes_by_group(), *way.edges_by_group(tables),
            spans(x.node_ptr, ids)[0], spans(x.edge_ptr, ids)[0], *x[3:10],
            self._layout, tables.label_ptr, way.node, way.edge_ptr, way.edge,
        )  # fmt: skip

    def ascend(
        self, x: Graphs, ids: Ints, w: Floats, ascent: Ascent, steps: int, share: float,
        slack: Floats,
    ) -> float:  # fmt: skip
        """Several steps on each forest; what the loss term gained."""
        pairwise = loops.fill_shared(self._layout, w)
        return ascend_linear(
            ids, steps, share, *x[:9], self._layout, ascent.forests, ascent.node,
            ascent.edge, w, pairwise, ascent.work, slack,
        )  # fmt: skip

    def _zero_one(
        self, x: Graphs, ids: Ints, tables: GraphTables, augment: Augment
    ) -> tuple[Found, Floats]:
        """The best labels, or the best that differ from the truth plus the weight."""
        true = self.local_labels(x, ids, augment.truth.take(ids))
        truth_score = tables.score(true)
        other = best_other(tables, x.plan.take(ids), self.inference, true)
        score = other.score + augment.weight[ids]
        better = (score > truth_score)[tables.graph_of_node()]
        labels = np.where(better, other.labels, true).astype(np.int32)
        bound = np.maximum(other.bound + augment.weight[ids], truth_score)
        codes = self._codes(x, ids, tables, labels)
        return Found(codes, np.maximum(score, truth_score), bound), truth_score

    def augmented(
        self, x: Graphs, ids: Ints, tables: GraphTables, augment: Augment
    ) -> GraphTables:
        """Tables with weight * loss added to the scores of labels."""
        weight = (augment.weight * augment.loss.scale(augment.truth))[ids]
        unary = tables.unary.copy()
        loops.add_loss(
            ids, x.node_ptr, x.node_type, self._layout, tables.node_ptr,
            tables.label_ptr, *augment.truth, augment.loss.table, weight, unary,
        )  # fmt: skip
        return tables._replace(unary=unary)

    def _codes(
        self, x: Graphs, ids: Ints, tables: GraphTables, local: Labels
    ) -> Ragged:
        codes = loops.to_codes(
            ids, x.node_ptr, x.node_type, self._layout, tables.node_ptr, local
        )
        return Ragged(tables.node_ptr, codes)

    def explain_pieces(self, x: Graphs, i: int, row: Labels) -> Pieces:
        """One part per node and per edge."""
        names = [str(self._kinds.classes[c]) for c in row.tolist()]
        local = self.local_labels(x, np.array([i]), Ragged.pack([row]))
        return network_pieces(x, i, self._layout, local, names)

    def feature_names(self) -> Sequence[str]:
        """Type, label and feature number of every coordinate of w."""
        kinds, layout = self._kinds, self._layout
        names: list[str] = []
        for t, kind in enumerate(kinds.types):
            labels = self.labels_of(t)
            prefix = "" if kind is None else f"{kind}:"
            columns = [str(f) for f in range(kinds.features[t])]
            columns += ["constant"] * self.bias
            if kinds.sparse:
                names += [f"{prefix}{a}:{f}" for f in columns for a in labels]
            else:
                names += [f"{prefix}{a}:{f}" for a in labels for f in columns]
        extra = [] if layout.shared else [f":{f}" for f in range(kinds.edge_features)]
        for c, kind_ in enumerate(kinds.edge_classes):
            names += self._edge_names(c, kind_, extra)
        return names

    def _edge_names(self, c: int, kind: tuple[Any, ...], extra: list[str]) -> list[str]:
        layout = self._layout
        pairs = [
            f"{a}-{b}"
            for a in self.labels_of(layout.first_type[c])
            for b in self.labels_of(layout.second_type[c])
        ]
        mapped = layout.pair_map[layout.map_ptr[c] : layout.map_ptr[c + 1]]
        columns = [*extra, ":constant"] if extra and self.bias else extra or [""]
        prefix = "edge:" if kind[0] is None else f"edge {kind[0]}:"
        first = [int(np.flatnonzero(mapped == p)[0]) for p in range(mapped.max() + 1)]
        return [f"{prefix}{pairs[q]}{f}" for q in first for f in columns]


def _cost_table(augment: Augment) -> Floats:
    return np.ascontiguousarray(augment.loss.table, dtype=np.float64)


def _matrix(x: Graphs, kinds: Kinds, bias: bool) -> Any:
    """Node vectors as they were given, as rows of a matrix."""
    width = kinds.features[0]
    return x.vectors(width + bias).matrix()[:, :width]
