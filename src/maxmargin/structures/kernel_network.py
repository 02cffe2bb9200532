"""Networks with a Mercer kernel on the inputs of nodes.

The node part of psi is phi(x_v) (x) e(y_v) with phi known only through its products
K(x_u, x_v); the edge part stays as it is. Of the weights of label a there are the
coefficients beta_a over the training nodes,

    score of label a at node x = sum_v beta_a[v] K(x_v, x),

so w holds edge weights, beta (labels x nodes), and the scores of all training nodes
(labels x nodes), which every step keeps up to date, by columns of the Gram matrix.

[1] Taskar, Guestrin and Koller 2003, end of section 4. [2] Yu 2011, equation (6.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels, Ragged, Rows, Vectors
from maxmargin.inference.decode import Plan
from maxmargin.inference.polytope import Direction
from maxmargin.inference.tables import Tables
from maxmargin.jit import loop
from maxmargin.structures import network_loops as loops
from maxmargin.structures.base import Answer, Augment, Pieces
from maxmargin.structures.network import Network
from maxmargin.structures.network_ascent import ascend_kernel
from maxmargin.structures.network_pieces import edge_pieces

MEMORY = 4e9  # bytes for the Gram matrix
BLOCK = 2048  # nodes scored at once when predicting
DENSE_WIDTH = 1000  # features up to which products of dense rows are the faster


class KernelGraphs(NamedTuple):
    """Encoded inputs; `gram` is empty unless they are the training graphs."""

    node_ptr: Ints
    edge_ptr: Ints
    edges: Labels
    node_type: Labels
    edge_class: Labels
    ptr: Ints
    idx: Labels
    val: Floats
    edge_val: Floats
    plan: Plan
    gram: Floats  # (nodes, nodes), or (0, 0)

    @property
    def n(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1


@dataclass(frozen=True)
class KernelNetwork(Network):
    """A network whose nodes are compared by a kernel.

    Parameters
    ----------
    kernel : callable
        Takes two matrices of rows, returns the matrix of kernel values.
    inference, pairwise, bias : as for `Network`
        With `bias` the kernel "linear" is the network without a kernel.
    """

    kernel: Any = None
    support: Any = None  # training nodes, a matrix
    rows: int = 0  # labels of all types: rows of beta

    @property
    def dim(self) -> int:  # type: ignore[override]
        """Edge weights, beta and the scores of the training nodes."""
        return self._edge_dim + 2 * self.rows * self._support_size

    @property
    def _edge_dim(self) -> int:
        return int(self._layout.pair_at[-1])

    @property
    def _support_size(self) -> int:
        return 0 if self.support is None else int(self.support.shape[0])

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know types and label sets, and keep the training nodes."""
        bound = super().bind(X, Y)
        layout = bound._layout
        if len(set(bound._kinds.features)) > 1:
            raise ValueError(
                "a kernel compares nodes with the same features, but the types have "
                f"{bound._kinds.features} features"
            )
        nodes = super(KernelNetwork, bound).encode(X)
        size = 8.0 * len(nodes.node_type) ** 2
        if size > MEMORY:
            raise ValueError(
                f"the Gram matrix of {len(nodes.node_type)} nodes needs "
                f"{size / 1e9:.1f} GB, more than the {MEMORY / 1e9:.1f} GB allowed: "
                "train on fewer nodes, or without a kernel"
            )
        return replace(
            bound,
            layout=layout._replace(pair_at=layout.pair_at - layout.pair_at[0]),
            support=self._matrix(nodes, bound),
            rows=int(layout.label_ptr[-1]),
            provides=(*bound.provides, "factored-only"),
        )

    def with_gram(self, x: KernelGraphs) -> KernelGraphs:
        """The training graphs with their Gram matrix."""
        return x._replace(gram=self.kernel(self.support, self.support))

    def encode(self, X: Sequence[Any]) -> KernelGraphs:  # type: ignore[override]
        """Graphs as flat arrays, without kernel values."""
        return KernelGraphs(*super().encode(X), np.empty((0, 0)))

    def parts(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """Edge weights, beta and scores: views of w."""
        size = self.rows * self._support_size
        edge, rest = w[: self._edge_dim], w[self._edge_dim :]
        shape = (self.rows, self._support_size)
        return edge, rest[:size].reshape(shape), rest[size:].reshape(shape)

    def square(self, w: Floats) -> float:
        """Squared norm: edge weights plus beta K beta."""
        edge, beta, scores = self.parts(w)
        return float(edge @ edge + np.vdot(beta, scores))

    def tables(self, x: Any, ids: Ints, w: Floats) -> Tables:
        """Scores through the kernel; edges as in any network."""
        layout = self._layout
        edge, beta, scores = self.parts(w)
        nodes, links, label_ptr = loops.sizes(
            ids, x.node_ptr, x.edge_ptr, x.node_type, layout
        )
        if len(x.gram):
            where = _nodes_of(ids, x.node_ptr, nodes)
        else:
            where = np.arange(nodes[-1])
            scores = self._new_scores(x, ids, nodes, beta)
        types = x.node_type[_nodes_of(ids, x.node_ptr, nodes)]
        unary = _pick(label_ptr, where, types, layout.label_ptr, scores)
        ends, start, pairwise = loops.fill_pairwise(
            ids, x.edge_ptr, x.edges, x.edge_class, x.edge_val, layout, edge, nodes,
            links,
        )  # fmt: skip
        return Tables(nodes, links, label_ptr, unary, ends, start, pairwise)

    def _new_scores(self, x: Any, ids: Ints, nodes: Ints, beta: Floats) -> Floats:
        """Scores of nodes that were not trained on, from the support nodes."""
        active = np.flatnonzero(np.any(beta != 0.0, axis=0))
        used, weights = self.support[active], beta[:, active]
        fresh = self._matrix(x, self)[_nodes_of(ids, x.node_ptr, nodes)]
        out = np.empty((self.rows, fresh.shape[0]))
        for s in range(0, fresh.shape[0], BLOCK):
            out[:, s : s + BLOCK] = weights @ self.kernel(fresh[s : s + BLOCK], used).T
        return out

    @staticmethod
    def _matrix(x: Any, network: Network) -> Any:
        """Node vectors as a matrix."""
        width = int(network._layout.width[0])
        vectors = Vectors(x.ptr, x.idx, x.val, width)
        matrix = vectors.csr()
        return matrix if vectors.sparse and width > DENSE_WIDTH else matrix.toarray()

    def cuts(self, x: Any, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Slacks only: differences of psi have no coordinates here."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        delta = augment.loss.value(truth, found.labels)
        own = self.tables(x, ids, w).score(self.local_labels(x, ids, truth))
        return Answer(found.labels, Rows.empty(len(ids)), delta, found.bound - own)

    def features(self, x: Any, ids: Ints, labels: Ragged) -> Rows:
        """Refused: psi is not written out under a kernel."""
        raise ValueError(
            "a network with a kernel has no joint features; train it with solver='smo'"
        )

    def pieces(self, x: Any, i: int, row: Labels) -> Pieces:
        """Nodes as kernel values with the training nodes, to be met by beta; edges."""
        names = [str(self._kinds.classes[c]) for c in row.tolist()]
        local = self.local_labels(x, np.array([i]), Ragged.pack([row]))
        layout, size = self._layout, self._support_size
        first, last = int(x.node_ptr[i]), int(x.node_ptr[i + 1])
        fresh = self._matrix(x, self)[first:last]
        values = np.asarray(self.kernel(fresh, self.support))
        titles, parts = [], []
        for v, a in enumerate(local):
            at = int(layout.label_ptr[x.node_type[first + v]]) + int(a)
            titles.append(f"node {v}: {names[v]}")
            parts.append((self._edge_dim + at * size + np.arange(size), values[v]))
        more, links = edge_pieces(x, i, layout, local, names)
        return Pieces(titles + more, Rows.pack(parts + links))

    def feature_names(self) -> Sequence[str]:  # type: ignore[override]
        """Edges as in any network; then label and training node of each beta."""
        kinds, layout = self._kinds, self._layout
        extra = [] if layout.shared else [f":{f}" for f in range(kinds.edge_features)]
        names: list[str] = []
        for c, kind in enumerate(kinds.edge_classes):
            names += self._edge_names(c, kind, extra)
        labels = [kinds.classes[c] for c in layout.label]
        size = range(self._support_size)
        names += [f"{y}:like training node {s}" for y in labels for s in size]
        return names + [f"{y}:score of training node {s}" for y in labels for s in size]

    def transfer(
        self, x: Any, ids: Ints, w: Floats, tables: Tables, way: Direction, gain: Floats
    ) -> Floats:
        """Move mass along `way`; beta and the scores of all nodes follow."""
        edge, beta, scores = self.parts(w)
        layout = self._layout
        rows = loops.expected_edges(
            ids, x.edge_ptr, x.edges, x.edge_class, x.edge_val, layout,
            self._edge_dim, tables.node_ptr, tables.label_ptr, tables.edge_ptr,
            way.edge_ptr, way.edge,
        )  # fmt: skip
        where = _nodes_of(ids, x.node_ptr, tables.node_ptr)
        return _walk(
            *rows, edge, gain, way.room, tables.node_ptr, tables.label_ptr, where,
            x.node_type, layout.label_ptr, way.node, x.gram, beta, scores,
        )  # fmt: skip

    def ascend(
        self, x: Any, ids: Ints, w: Floats, state: Any, steps: int, share: float,
        slack: Floats,
    ) -> float:  # fmt: skip
        """Several steps on each forest; what the loss term gained."""
        edge, beta, scores = self.parts(w)
        pairwise = loops.fill_shared(self._layout, edge)
        return ascend_kernel(
            ids, steps, share, *x[:5], self._layout, state.forests,
            state.point.node, state.point.edge, edge, pairwise, state.work, slack,
            x.gram, beta, scores,
        )  # fmt: skip


def _nodes_of(ids: Ints, node_ptr: Ints, nodes: Ints) -> Ints:
    """Node numbers of the graphs `ids`, in order."""
    shift = np.repeat(node_ptr[ids] - nodes[:-1], np.diff(nodes))
    return np.arange(nodes[-1]) + shift


@loop
def _pick(label_ptr, where, types, type_ptr, scores):
    out = np.empty(label_ptr[-1])
    for v in range(len(where)):
        row = type_ptr[types[v]]
        for a in range(label_ptr[v + 1] - label_ptr[v]):
            out[label_ptr[v] + a] = scores[row + a, where[v]]
    return out


@loop
def _walk(
    ptr, idx, val, w, gain, room, node_ptr, label_ptr, where, node_type, type_ptr,
    change, gram, beta, scores,
):  # fmt: skip
    """As `network_loops.walk`, with nodes through the Gram matrix."""
    out = np.zeros(len(ptr) - 1)
    for q in range(len(ptr) - 1):
        slope, square = gain[q], 0.0
        for p in range(ptr[q], ptr[q + 1]):
            slope -= val[p] * w[idx[p]]
            square += val[p] * val[p]
        for v in range(node_ptr[q], node_ptr[q + 1]):
            row = type_ptr[node_type[where[v]]]
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                d = change[label_ptr[v] + a]
                if d == 0.0:
                    continue
                slope += d * scores[row + a, where[v]]
                for u in range(node_ptr[q], node_ptr[q + 1]):
                    if node_type[where[u]] == node_type[where[v]]:
                        other = change[label_ptr[u] + a]
                        square += d * other * gram[where[v], where[u]]
        if slope <= 0.0:
            continue
        step = room[q] if slope >= room[q] * square else slope / square
        out[q] = step
        for p in range(ptr[q], ptr[q + 1]):
            w[idx[p]] += step * val[p]
        for v in range(node_ptr[q], node_ptr[q + 1]):
            row = type_ptr[node_type[where[v]]]
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                d = step * change[label_ptr[v] + a]
                if d != 0.0:
                    beta[row + a, where[v]] -= d
                    scores[row + a] -= d * gram[where[v]]
    return out
