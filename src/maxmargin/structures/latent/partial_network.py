"""Networks of which some nodes have no label: those labels are hidden parts.

    Delta(y, y', h') = loss on the labels that were given;  h = the labels that were not

Completion is inference with the given labels held: every other label of such a node is
lowered by more than all the rest can win. With K labels in all, a hidden node of a true
row holds K + label; before the first completion, any label of its type.

[1] Yu 2011, Optimization Problem 5.1, with h the missing labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.data.validation import check_range, require
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Latent,
    MappedInputs,
    MostViolated,
    P,
)
from maxmargin.inference.graph.decode import decode
from maxmargin.inference.graph.tables import GraphTables
from maxmargin.structures.network.graphs.encoding import Graphs
from maxmargin.structures.network.graphs.graph import (
    Graph,
    SharedRow,
    as_graph,
    node_types,
    plain,
)
from maxmargin.structures.network.structure import Network


@dataclass(frozen=True)
class PartialNetwork(Network):
    """A network with None for labels that are not known (see the module docstring).

    Examples
    --------
    >>> X = [([[1.0], [2.0]], [[0, 1]]), ([[3.0]], [])]
    >>> network = PartialNetwork().bind(X, [["up", None], ["down"]])
    >>> x = network.encode(X)
    >>> row = network.encode_labels(x, [["up", None], ["down"]])
    >>> network.decode_labels(x, row)[0].tolist()
    ['up', None]
    """

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Bind with unknown labels replaced by the commonest of their type."""
        return super().bind(X, filled(X, Y))

    def offers(self, capability: type[P]) -> P | None:
        """Completion, and what does not depend on labels that may be hidden."""
        offered = capability in (Latent, MappedInputs, MostViolated)
        return super().offers(capability) if offered else None

    def encode_labels(self, x: Graphs, Y: Sequence[Any]) -> Ragged:
        """Codes of the labels; K + some label of the node's type where it is None."""
        layout = self._layout
        some = layout.label[layout.label_ptr[:-1]]
        rows = []
        for i, labels in enumerate(Y):
            row, first = plain(labels), int(x.node_ptr[i])
            for v, y in enumerate(row[: int(x.node_ptr[i + 1]) - first]):
                if y is None:
                    row[v] = self._kinds.classes[some[x.node_type[first + v]]]
            rows.append(row)
        codes = super().encode_labels(x, rows)
        hidden = np.array([y is None for row in Y for y in plain(row)], bool)
        data = np.where(hidden, codes.data + self.label_count(), codes.data)
        return Ragged(codes.ptr, data.astype(np.int32))

    def decode_labels(self, x: Graphs, labels: Ragged) -> list[Any]:
        """Labels; None where not known, whether completed or not."""
        names = np.empty(2 * self.label_count(), dtype=object)
        names[: self.label_count()] = self._kinds.classes
        return np.split(names[labels.data], labels.ptr[1:-1])

    def local_labels(self, x: Graphs, ids: Ints, labels: Ragged) -> Labels:
        """Labels as places in the label sets of their nodes, hidden or not."""
        return super().local_labels(x, ids, Ragged(labels.ptr, self._unmarked(labels)))

    def complete(self, x: Graphs, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Inference with the known labels held."""
        asked = truth.take(ids)
        hidden = asked.data >= self.label_count()
        tables = self.tables(x, ids, w)
        true = self.local_labels(x, ids, asked)
        held = tables._replace(unary=_held(tables, true, ~hidden))
        best = decode(held, x.plan.take(ids), self.inference)
        free = np.where(hidden, best.labels, true).astype(np.int32)
        # Inference without a certificate may end below what is held already.
        worse = (tables.score(free) < tables.score(true))[tables.graph_of_node()]
        labels = np.where(worse, true, free).astype(np.int32)
        codes = self._codes(x, ids, tables, labels).data
        marked = np.where(hidden, codes + self.label_count(), codes)
        return Ragged(asked.ptr, marked.astype(np.int32))

    def check_completed(self, x: Graphs, truth: Ragged, completed: Ragged) -> None:
        """Known labels are unchanged, hidden ones are labels of their node's type."""
        k, layout = self.label_count(), self._layout
        require(np.array_equal(truth.ptr, completed.ptr), NOT_COMPLETED)
        hidden = truth.data >= k
        same = (completed.data == truth.data) | hidden
        require(same.all(), NOT_COMPLETED)
        check_range(completed.data[hidden], k, 2 * k, NOT_COMPLETED)
        codes = completed.data[hidden] - k
        local = layout.local[x.node_type[hidden] * layout.codes + codes]
        require((local >= 0).all(), NOT_COMPLETED)

    def known(
        self, X: Sequence[Any], Y: Sequence[Any]
    ) -> tuple[Any, Any, Ragged, Ints]:
        """The graphs of known nodes alone, a start for training.

        Returns the network, inputs, outputs, and the graph that each one is from.
        """
        graphs, labels, owner = [], [], []
        for i, (given, row) in enumerate(zip(X, Y, strict=True)):
            seen = [y is not None for y in plain(row)]
            if any(seen):
                graphs.append(part_of(as_graph(i, given), np.array(seen)))
                labels.append([y for y in plain(row) if y is not None])
                owner.append(i)
        network = self.observed()
        x = network.encode(graphs)
        return network, x, network.encode_labels(x, labels), np.array(owner)

    def observed(self) -> Network:
        """The same network without hidden labels."""
        return Network(
            self.inference,
            self.pairwise,
            self.bias,
            self.kinds,
            self.layout,
            self.worth,
        )

    def _unmarked(self, labels: Ragged) -> Labels:
        k = self.label_count()
        return np.where(labels.data >= k, labels.data - k, labels.data).astype(np.int32)


def _held(tables: GraphTables, labels: Labels, keep: Any) -> Floats:
    """Scores of labels, with all but `labels` lowered at the nodes to keep."""
    owner = np.repeat(tables.graph_of_node(), tables.n_labels)
    reach = 1.0 + 2.0 * np.bincount(owner, np.abs(tables.unary), tables.n)
    reach += 2.0 * np.abs(tables.pairwise).max(initial=0.0) * np.diff(tables.edge_ptr)
    lowered = tables.unary - np.repeat(keep, tables.n_labels) * reach[owner]
    at = tables.label_ptr[:-1][keep] + labels[keep]
    lowered[at] = tables.unary[at]
    return lowered


def filled(X: Sequence[Any], Y: Sequence[Any]) -> list[list[Any]]:
    """Unknown labels replaced by the commonest of the node's type."""
    counts: dict[Hashable, Counter[Hashable]] = {}
    types = [node_types(as_graph(i, g)) for i, g in enumerate(X)]
    for kinds, row in zip(types, Y, strict=True):
        for kind, y in zip(kinds, plain(row), strict=False):
            own = counts.setdefault(kind, Counter())
            if y is not None:
                own[y] += 1
    for kind, own in counts.items():
        if not own:
            raise ValueError(f"all labels of nodes of type {kind!r} are None")
    common = {kind: own.most_common(1)[0][0] for kind, own in counts.items()}
    rows = [plain(row) for row in Y]
    for kinds, row in zip(types, rows, strict=True):
        for v, kind in enumerate(kinds[: len(row)]):
            if row[v] is None:
                row[v] = common[kind]
    return rows


def part_of(graph: Graph, keep: Any) -> Graph:
    """The nodes to keep and the edges between them."""
    inner = keep[graph.edges].all(axis=1)
    number = np.cumsum(keep) - 1
    rows = np.flatnonzero(keep)
    nodes = graph.nodes
    if isinstance(nodes, SharedRow):
        nodes = SharedRow(nodes.row, len(rows))
    elif sp.issparse(nodes) or isinstance(nodes, np.ndarray):
        nodes = nodes[rows]
    else:
        nodes = [nodes[v] for v in rows]

    def chosen(values: Any, some: Any) -> Any:
        return None if values is None else [values[q] for q in np.flatnonzero(some)]

    extra = graph.edge_features
    extra = None if extra is None else np.asarray(extra)[inner]
    return Graph(
        nodes, number[graph.edges[inner]], extra, chosen(graph.node_types, keep),
        chosen(graph.edge_types, inner),
    )  # fmt: skip
