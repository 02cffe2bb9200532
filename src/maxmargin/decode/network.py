"""Labels of the nodes of a graph: scores of labels and of label pairs along edges.

    score(y) = sum_v unary[v, y_v] + sum_(u, v) pairwise[y_u, y_v]

Forests and graphs of low treewidth are solved exactly. Other graphs go to a cut if two
labels attract, else to sequential tree-reweighted messages, which give good labels and a
bound on the score of all others: `Decoded.bound`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged, pointers
from maxmargin.decode.machinery import partition
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cost_matrix,
    named_loss,
    padded_rows,
    position_costs,
    target_rows,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    Table,
    check_finite,
    main_table,
    named_tables,
    over_rows,
    row_sizes,
    side_table,
)
from maxmargin.inference.graph import decode, forest
from maxmargin.inference.graph.tables import Best, GraphTables


@dataclass(frozen=True)
class Network(ScoreStructure):
    """Labels of the nodes of graphs.

    Tables: "unary" (rows, nodes, labels); "pairwise" (labels, labels) for all edges, or
    (rows, edges, labels, labels), [first, second node's label]. Outputs: labels (rows,
    nodes), -1 behind each row. Edges that touch a masked node do not count. Losses:
    "hamming", "zero-one", or costs (labels, labels), [true, said].

    Parameters
    ----------
    edges : sequence of pairs
        Nodes that each edge joins, the same in every row of a batch.
    inference : str, default="auto"
        Method, as in `maxmargin.NetworkSVM`: "auto", "forest", "junction", "cut",
        "trws", "loopy", "expansion" or "search".

    Examples
    --------
    >>> ring = Network(edges=((0, 1), (1, 2), (2, 0)))
    >>> unary = np.array([[[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]]])
    >>> found = ring.best({"unary": unary, "pairwise": np.eye(2)})
    >>> found.outputs.tolist(), found.score.round(6).tolist()
    ([[1, 1, 1]], [3.6])
    """

    edges: tuple[tuple[int, int], ...] = ()
    inference: str = "auto"

    tables: ClassVar[tuple[str, ...]] = ("unary", "pairwise")
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Keep edges as a tuple of pairs of plain integers."""
        edges = tuple((int(u), int(v)) for u, v in self.edges)
        for k, (u, v) in enumerate(edges):
            if u == v or min(u, v) < 0:
                raise ValueError(f"edge {k} is ({u}, {v}): an edge joins two nodes")
        object.__setattr__(self, "edges", edges)
        if self.inference not in decode.METHODS or self.inference == "lp":
            raise ValueError(
                f"inference={self.inference!r} is not one of "
                f"{', '.join(repr(m) for m in decode.METHODS if m != 'lp')}"
            )

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Label pairs."""
        return {"pairwise": (main[-1], main[-1])}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the tables."""
        named = named_tables(scores, self.tables)
        main = main_table(named["unary"], "unary", 3, "(rows, nodes, labels)")
        b, nodes, k = main.shape
        sizes = row_sizes(mask, b, nodes)
        check_finite(main, lambda r: main[r, : sizes[r]], "unary")
        shapes = ((k, k), (b, len(self.edges), k, k))
        pairwise = side_table(named.get("pairwise"), "pairwise", shapes)
        ends = np.array(self.edges, np.int64).reshape(-1, 2)
        if len(ends) and ends.max() >= nodes:
            e = int(np.argmax(ends.max(axis=1)))
            raise ValueError(
                f"edge {e} joins nodes {self.edges[e]}, but unary has {nodes} nodes"
            )
        return ScoreBatch((main, pairwise), sizes[:, None], ends)

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Labels as they are."""
        return target_rows(target, batch, batch.main.shape[2], "label")

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Labels (rows, nodes)."""
        return padded_rows(rows, batch.main.shape[1])

    def _edges_of(self, batch: ScoreBatch, first: int, last: int) -> tuple[Ints, Ints]:
        """(row, edge) of all edges whose nodes are there."""
        ends = batch.extra
        top = ends.max(axis=1, initial=-1)
        there = top[None] < batch.sizes[first:last, 0][:, None]
        row, edge = np.nonzero(there)
        return row + first, edge

    def graphs(self, batch: ScoreBatch, first: int, last: int) -> GraphTables:
        """Rows first .. last - 1 as the flat tables of graph inference."""
        main, pairwise = batch.arrays
        sizes, k = batch.sizes[first:last, 0], main.shape[2]
        keep = np.arange(main.shape[1]) < sizes[:, None]
        row, edge = self._edges_of(batch, first, last)
        node_ptr = pointers(sizes)
        ends = batch.extra[edge] + node_ptr[row - first][:, None]
        at = (row * len(batch.extra) + edge) if pairwise.ndim == 4 else 0 * edge
        return GraphTables(
            node_ptr,
            pointers(np.bincount(row - first, minlength=last - first)),
            np.arange(int(sizes.sum()) + 1, dtype=np.int64) * k,
            np.asarray(main[first:last][keep], np.float64).reshape(-1),
            ends.astype(np.int32),
            at * k * k,
            np.asarray(pairwise, np.float64).reshape(-1),
        )

    def _plan(self, graphs: GraphTables) -> decode.GraphPlan:
        method = self.inference if self.inference in ("junction", "forest") else "auto"
        return decode.plan(
            graphs.node_ptr, graphs.edge_ptr, graphs.edges, graphs.n_labels, method
        )

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """The method that the graphs allow."""

        def task(first: int, last: int) -> Best:
            graphs = self.graphs(batch, first, last)
            return decode.decode(graphs, self._plan(graphs), self.inference)

        parts = over_rows(batch.rows, task, n_jobs)
        labels = np.concatenate([p.labels for p in parts])
        return (
            Ragged(pointers(batch.sizes[:, 0]), labels),
            np.concatenate([p.bound for p in parts]),
        )

    def is_exact(self, batch: ScoreBatch) -> bool:
        """Whether the answers for this batch are certain to be the best."""
        graphs = self.graphs(batch, 0, batch.rows)
        return self._plan(graphs).certificate(self.inference) == "exact"

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Labels, and label pairs of edges."""
        main, pairwise = batch.arrays
        _, V, K = main.shape
        row = np.repeat(np.arange(rows.n), rows.sizes)
        v = np.arange(len(row)) - rows.ptr[row]
        own, edge = self._edges_of(batch, 0, batch.rows)
        ends = rows.ptr[own][:, None] + batch.extra[edge]
        y = rows.data.astype(np.int64)[ends]
        pair = y[:, 0] * K + y[:, 1]
        if pairwise.ndim == 4:
            pair = pair + (own * len(batch.extra) + edge) * K * K
        return Cells(row, (row * V + v) * K + rows.data), Cells(own, pair)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Hamming, or a cost matrix [true label, label]."""
        cost = cost_matrix(loss, batch.main.shape[2], "labels")
        if cost is None:
            named_loss(loss, self.losses)
        cells = self.cells(batch, truth)[0]
        return position_costs(batch, cells, batch.sizes[:, 0], cost)

    def _refuse_bounds(self, batch: ScoreBatch, what: str) -> None:
        if not self.is_exact(batch):
            raise NotImplementedError(
                f"{what} of these graphs cannot be computed exactly: they have cycles "
                "and are too dense, or the inference chosen gives bounds only"
            )

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """By partition, where inference is exact."""
        self._refuse_bounds(batch, "the n best labels")
        return partition.nbest(self, batch, n, n_jobs)

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """The best labels with each label of each node, where inference is exact."""
        self._refuse_bounds(batch, "max-marginals")
        return partition.max_marginals(self, batch, n_jobs)

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Sum-product on forests."""
        graphs = self.graphs(batch, 0, batch.rows)
        if forest.count_cyclic(graphs.node_ptr, graphs.edge_ptr, graphs.edges).any():
            raise NotImplementedError(
                "the sum over all labels is computed on forests only: use the hinge, "
                "the perceptron or perturbation on graphs with cycles"
            )
        found = forest.marginals(graphs)
        main, pairwise = batch.arrays
        K = main.shape[2]
        unary, pairs = np.zeros(main.shape), np.zeros(pairwise.shape)
        keep = np.arange(main.shape[1]) < batch.sizes
        row, edge = self._edges_of(batch, 0, batch.rows)
        scale = np.repeat(factor, batch.sizes[:, 0])[:, None]
        unary[keep] = scale * found.node.reshape(-1, K)
        by_edge = factor[row][:, None, None] * found.edge.reshape(-1, K, K)
        if pairwise.ndim == 4:
            pairs[row, edge] = by_edge
        else:
            pairs += by_edge.sum(axis=0)
        return found.log_z, (unary, pairs)
