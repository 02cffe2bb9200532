"""Networks with a Mercer kernel on the inputs of nodes, and of edges.

The node part of psi is phi(x_v) (x) e(y_v) with phi known only through its products
K(x_u, x_v). Of the weights of label a there are the coefficients beta_a over the
training nodes,

    score of label a at node x = sum_v beta_a[v] K(x_v, x),

so w holds beta (labels x nodes) and the scores of all training nodes (labels x nodes),
which every step keeps up to date, by columns of the Gram matrix. Edges have weights as
in any network or, with a kernel on their inputs, coefficients and scores of the same
kind, with a row for every pair of labels that is told apart.

[1] Taskar, Guestrin and Koller 2003, end of section 4. [2] Yu 2011, equation (6.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.core.data.validation import Validated, check_matrix, require
from maxmargin.core.structure import (
    Answer,
    Augment,
    FactoredPlanes,
    MostViolated,
    P,
    Pieces,
)
from maxmargin.inference.graph.tables import GraphTables, spans
from maxmargin.inference.marginals.compiled_ascent import Ascent
from maxmargin.inference.marginals.directions import Direction
from maxmargin.structures.network import kernel_smo as moves
from maxmargin.structures.network import loops
from maxmargin.structures.network.graphs.encoding import Graphs
from maxmargin.structures.network.kernel_smo import GramSpace, Moves
from maxmargin.structures.network.layout import NetworkLayout, edge_pieces
from maxmargin.structures.network.smo_loops import ascend_kernel
from maxmargin.structures.network.structure import Network

BLOCK = 2048  # nodes or edges scored at once when predicting
DENSE_WIDTH = 1000  # features up to which products of dense rows are the faster


@dataclass(frozen=True)
class KernelNetwork(Network):
    """A network whose nodes, and edges, are compared by kernels.

    Parameters
    ----------
    kernel : callable
        Takes two matrices of rows, returns the matrix of kernel values.
    edge_kernel : callable, optional
        The same for the features of edges; without one they keep their weights.
    inference, pairwise, bias : as for `Network`
        With `bias` the kernel "linear" is the network without a kernel.
    """

    kernel: Any = None
    support: Any = None  # training nodes, a matrix
    rows: int = 0  # labels of all types: rows of beta
    edge_kernel: Any = None
    edge_support: Any = None  # training edges, a matrix

    @property
    def dim(self) -> int:
        """What stands for edges, beta and the scores of the training nodes."""
        if self.layout is None:  # not bound to data
            return 0
        return self._edge_dim + 2 * self.rows * _size(self.support)

    @property
    def _edge_dim(self) -> int:
        if self.edge_kernel is None:
            return int(self._layout.pair_at[-1])
        return 2 * self._edge_rows * _size(self.edge_support)

    @property
    def _edge_rows(self) -> int:
        """Pairs of labels that are told apart, over all classes of edges."""
        return int(self._layout.pair_at[-1]) // self._layout.edge_width

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know types and label sets, and keep the training nodes and edges."""
        bound = super().bind(X, Y)
        layout = bound._layout
        if len(set(bound._kinds.features)) > 1:
            raise ValueError(
                "a kernel compares nodes with the same features, but the types have "
                f"{bound._kinds.features} features"
            )
        if self.edge_kernel is not None and layout.shared:
            raise ValueError(
                "edge_kernel compares edges by their features, but they have none"
            )
        x = bound.encode(X)
        _refuse_large(len(x.node_type), "nodes", MEMORY)
        edges = None
        if self.edge_kernel is not None:
            left = MEMORY - 8.0 * len(x.node_type) ** 2
            _refuse_large(len(x.edge_class), "edges", left)
            edges = x.edge_val.reshape(-1, layout.edge_width)
        return replace(
            bound,
            layout=layout._replace(pair_at=layout.pair_at - layout.pair_at[0]),
            support=self._matrix(x, bound),
            rows=int(layout.label_ptr[-1]),
            edge_support=edges,
        )

    def _expected(self, layout: NetworkLayout) -> NetworkLayout:
        """Edges come first, and the training nodes and edges have their features."""
        require(callable(self.kernel), "the kernel is missing")
        require(self.phi is None, "a kernel and a map exclude each other")
        require(len(set(self._kinds.features)) == 1, "types differ in their features")
        for kernel in (self.kernel, self.edge_kernel):
            if isinstance(kernel, Validated):
                kernel.validate()
        require(self.rows == layout.label_ptr[-1], f"rows={self.rows} is wrong")
        check_matrix(self.support, _size(self.support), "training nodes")
        require(
            self.support.shape[1] == layout.width[0], "training nodes are misshapen"
        )
        if self.edge_kernel is None:
            require(self.edge_support is None, "training edges need a kernel")
        else:
            require(callable(self.edge_kernel), "the kernel of edges is not one")
            require(not layout.shared, "edges have no features to compare")
            check_matrix(self.edge_support, _size(self.edge_support), "training edges")
            width = self.edge_support.shape[1]
            require(width == layout.edge_width, "training edges are misshapen")
        return layout._replace(pair_at=layout.pair_at - layout.pair_at[0])

    def offers(self, capability: type[P]) -> P | None:
        """All that a network offers, except joint features written out."""
        if capability in (MostViolated, FactoredPlanes):
            return None
        return super().offers(capability)

    def with_gram(self, x: Graphs) -> Graphs:
        """The training graphs with their Gram matrices."""
        x = x._replace(gram=self.kernel(self.support, self.support))
        if self.edge_kernel is None:
            return x
        edges = self.edge_support
        return x._replace(edge_gram=self.edge_kernel(edges, edges))

    def _views(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """What stands for edges, beta and scores: views of w."""
        edge, rest = w[: self._edge_dim], w[self._edge_dim :]
        return edge, *_halves(rest, self.rows)

    def square(self, w: Floats) -> float:
        """Squared norm: beta K beta, and that of the edges."""
        edge, beta, scores = self._views(w)
        if self.edge_kernel is None:
            return float(edge @ edge + np.vdot(beta, scores))
        return float(np.vdot(*_halves(edge, self._edge_rows)) + np.vdot(beta, scores))

    def tables(self, x: Graphs, ids: Ints, w: Floats) -> GraphTables:
        """Scores through the kernels; edges without one as in any network."""
        layout = self._layout
        edge, beta, scores = self._views(w)
        nodes, links, label_ptr = loops.sizes(
            ids, x.node_ptr, x.edge_ptr, x.node_type, layout
        )
        own = spans(x.node_ptr, ids)[0]
        where = own
        if len(x.gram) == 0:
            where = np.arange(len(own))
            fresh = self._matrix(x, self)[own]
            scores = _expand(self.kernel, self.support, beta, fresh)
        unary = moves.node_scores(
            label_ptr, where, x.node_type[own], layout.label_ptr, scores
        )
        if self.edge_kernel is None:
            tables = loops.fill_pairwise(
                ids, x.edge_ptr, x.edges, x.edge_class, x.edge_val, layout, edge, nodes,
                links,
            )  # fmt: skip
        else:
            tables = moves.edge_scores(
                ids, x.edge_ptr, x.edges, x.edge_class, layout, nodes, links,
                *self._edge_scores(x, ids, edge),
            )  # fmt: skip
        return GraphTables(nodes, links, label_ptr, unary, *tables)

    def _edge_scores(self, x: Graphs, ids: Ints, edge: Floats) -> tuple[Ints, Floats]:
        """Columns of the edges of the graphs `ids`, and scores to read there."""
        beta, scores = _halves(edge, self._edge_rows)
        own = spans(x.edge_ptr, ids)[0]
        if len(x.edge_gram):
            return own, scores
        fresh = x.edge_val.reshape(-1, self._layout.edge_width)[own]
        made = _expand(self.edge_kernel, self.edge_support, beta, fresh)
        return np.arange(len(own)), made

    @staticmethod
    def _matrix(x: Graphs, network: Network) -> Any:
        """Node vectors as a matrix."""
        width = int(network._layout.width[0])
        vectors = x.vectors(width)
        matrix = vectors.csr()
        return matrix if vectors.sparse and width > DENSE_WIDTH else matrix.toarray()

    def cuts(self, x: Graphs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Slacks only: differences of psi have no coordinates here."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        delta = augment.loss.value(truth, found.labels)
        truth_score = self.tables(x, ids, w).score(self.local_labels(x, ids, truth))
        return Answer(
            found.labels, Rows.empty(len(ids)), delta, found.bound - truth_score
        )

    def features(self, x: Graphs, ids: Ints, labels: Ragged) -> Rows:
        """Refused: psi is not written out under a kernel."""
        raise ValueError(
            "a network with a kernel has no joint features, which this asks for; "
            "solver='smo' trains it"
        )

    def explain_pieces(self, x: Graphs, i: int, row: Labels) -> Pieces:
        """Nodes as kernel values with the training nodes, to be met by beta; edges."""
        names = [str(self._kinds.classes[c]) for c in row.tolist()]
        local = self.local_labels(x, np.array([i]), Ragged.pack([row]))
        layout, size = self._layout, _size(self.support)
        first, last = int(x.node_ptr[i]), int(x.node_ptr[i + 1])
        fresh = self._matrix(x, self)[first:last]
        values = np.asarray(self.kernel(fresh, self.support))
        titles, parts = [], []
        for v, a in enumerate(local):
            at = int(layout.label_ptr[x.node_type[first + v]]) + int(a)
            titles.append(f"node {v}: {names[v]}")
            parts.append((self._edge_dim + at * size + np.arange(size), values[v]))
        if self.edge_kernel is not None:
            x = self._kernel_edges(x, i)
            layout = layout._replace(
                pair_at=layout.pair_at // layout.edge_width * _size(self.edge_support),
                edge_width=_size(self.edge_support),
            )
        more, links = edge_pieces(x, i, layout, local, names)
        return Pieces(titles + more, Rows.pack(parts + links))

    def _kernel_edges(self, x: Graphs, i: int) -> Graphs:
        """Edges of graph i with kernel values for features, to be met by beta."""
        own = slice(int(x.edge_ptr[i]), int(x.edge_ptr[i + 1]))
        fresh = x.edge_val.reshape(-1, self._layout.edge_width)[own]
        values = np.zeros((len(x.edge_class), _size(self.edge_support)))
        values[own] = self.edge_kernel(fresh, self.edge_support)
        return x._replace(edge_val=values.ravel())

    def feature_names(self) -> Sequence[str]:
        """Of edges; then label and training node of each beta."""
        kinds, layout = self._kinds, self._layout
        plain = layout.shared or self.edge_kernel is not None
        extra = [] if plain else [f":{f}" for f in range(kinds.edge_features)]
        names: list[str] = []
        for c, kind in enumerate(kinds.edge_classes):
            names += self._edge_names(c, kind, extra)
        if self.edge_kernel is not None:
            names = _likeness(names, "edge", _size(self.edge_support))
        labels = [str(kinds.classes[c]) for c in layout.label]
        return names + _likeness(labels, "node", _size(self.support))

    def transfer(
        self,
        x: Any,
        ids: Ints,
        w: Floats,
        tables: GraphTables,
        way: Direction,
        gain: Floats,
    ) -> Floats:
        """Move mass along `way`; beta and the scores of all nodes follow."""
        edge, beta, scores = self._views(w)
        layout, groups = self._layout, len(way.room)
        nobody = np.zeros(groups + 1, np.int64), np.empty(0, np.int64)
        where = spans(x.node_ptr, ids)[0]
        links, where_edge = way.edges_by_group(tables), spans(x.edge_ptr, ids)[0]
        nodes = Moves(*moves.node_moves(
            *way.nodes_by_group(), where, x.node_type, layout.label_ptr,
            tables.label_ptr, way.node,
        ))  # fmt: skip
        edges, space = (
            moves.no_moves(groups),
            GramSpace(x.edge_gram, *_halves(edge[:0], 1)),
        )
        if self.edge_kernel is not None:
            edges = Moves(*moves.edge_moves(
                *links, where_edge, x.edge_class, layout, way.edge_ptr, way.edge
            ))  # fmt: skip
            space, links = (
                GramSpace(x.edge_gram, *_halves(edge, self._edge_rows)),
                nobody,
            )
        rows = loops.moved_rows(
            int(layout.pair_at[-1]), *nobody, *links, where, where_edge, *x[3:10],
            layout, tables.label_ptr, way.node, way.edge_ptr, way.edge,
        )  # fmt: skip
        return moves.walk(
            *rows,
            edge,
            gain,
            way.room,
            nodes,
            GramSpace(x.gram, beta, scores),
            edges,
            space,
        )

    def ascend(
        self, x: Graphs, ids: Ints, w: Floats, ascent: Ascent, steps: int, share: float,
        slack: Floats,
    ) -> float:  # fmt: skip
        """Several steps on each forest; what the loss term gained."""
        edge, beta, scores = self._views(w)
        pairwise = loops.fill_shared(self._layout, edge)
        return ascend_kernel(
            ids, steps, share, *x[:5], self._layout, ascent.forests,
            ascent.node, ascent.edge, edge, pairwise, ascent.work, slack,
            x.gram, beta, scores,
        )  # fmt: skip


def _size(support: Any) -> int:
    return 0 if support is None else int(support.shape[0])


def _halves(part: Floats, rows: int) -> tuple[Floats, Floats]:
    """Coefficients and scores, one row for each label: views."""
    half = len(part) // 2
    return part[:half].reshape(rows, -1), part[half:].reshape(rows, -1)


def _refuse_large(size: int, what: str, memory: float) -> None:
    instead = f"train on fewer {what}, or without a kernel on them"
    refuse_larger(8.0 * size**2, memory, f"the Gram matrix of {size} {what}", instead)


def _expand(kernel: Any, support: Any, beta: Floats, fresh: Any) -> Floats:
    """Scores (rows of beta, fresh rows) of what was not trained on."""
    active = np.flatnonzero(np.any(beta != 0.0, axis=0))
    used, weights = support[active], beta[:, active]
    out = np.zeros((len(beta), fresh.shape[0]))
    for s in range(0, fresh.shape[0] if len(active) else 0, BLOCK):
        out[:, s : s + BLOCK] = weights @ kernel(fresh[s : s + BLOCK], used).T
    return out


def _likeness(rows: Sequence[str], what: str, size: int) -> list[str]:
    """Names of coefficients, then of scores."""
    names = [f"{row}:like training {what} {s}" for row in rows for s in range(size)]
    return names + [
        f"{row}:score of training {what} {s}" for row in rows for s in range(size)
    ]
