"""Constituency trees from scores of labelled spans, as in span-based neural parsers.

    score(y) = sum over the spans (i, j) of a binary tree  spans[i, j, label]

A label that stands for "no constituent", usually of score zero, makes wider nodes out of
binary ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cut_rows,
    named_loss,
    position_costs,
    target_tuples,
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
)
from maxmargin.inference.hypergraph import Hypergraph
from maxmargin.inference.tree.spans import (
    best_spans,
    count_spans,
    fill_binary,
    span_cells,
    span_hypergraph,
    sum_spans,
    sum_spans_logs,
)

Span = tuple[int, int, int]


@dataclass(frozen=True)
class SpanTree(ScoreStructure):
    """Binary trees whose spans have labels.

    Table: "spans" (rows, tokens, tokens, labels), [i, j, c] for the tokens i to j, both
    included. Outputs: lists of (first token, last token, label), 2 n - 1 of them, the
    root first. Targets: such lists, or labels (rows, tokens, tokens) with -1 where there
    is no span; spans of the label `empty` may be left out: they are filled in so that
    the tree is binary, the rest of a wide node branching to the right. Losses:
    "hamming", spans of the answer that the target does not have; "zero-one".

    Parameters
    ----------
    empty : int, default=0
        The label that stands for no constituent.

    Examples
    --------
    >>> scores = np.zeros((1, 3, 3, 2))
    >>> scores[0, 1, 2, 1] = scores[0, 0, 2, 1] = 1.0
    >>> SpanTree().best(scores).outputs[0]
    [(0, 2, 1), (0, 0, 0), (1, 2, 1), (1, 1, 0), (2, 2, 0)]
    """

    empty: int = 0

    tables: ClassVar[tuple[str, ...]] = ("spans",)

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """There are no others."""
        return {}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the table."""
        named = named_tables(scores, self.tables)
        main = main_table(named["spans"], "spans", 4, "(rows, tokens, tokens, labels)")
        if main.shape[1] != main.shape[2]:
            raise ValueError(f"spans has shape {main.shape}: sides 1 and 2 differ")
        sizes = row_sizes(mask, *main.shape[:2])

        def valid(b: int) -> Any:
            n = sizes[b]
            upper = np.triu(np.ones((n, n), bool))[:, :, None]
            return np.where(upper, main[b, :n, :n], 0.0)

        check_finite(main, valid, "spans")
        return ScoreBatch((main,), sizes[:, None])

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Spans of the binary tree, from the root down."""
        table, given = self._given(batch, target)
        sizes = batch.sizes[:, 0].copy()
        width = 3 * (2 * batch.main.shape[1] - 1)
        rows = np.empty((batch.rows, width), np.int32)
        count = np.zeros(batch.rows, np.int64)
        fill_binary(0, batch.rows, table, sizes, self.empty, rows, count)
        for b in np.flatnonzero(count != given).tolist():
            raise ValueError(f"row {b}: spans of the target cross each other")
        out = cut_rows(rows, 3 * (2 * sizes - 1))
        return out

    def _given(self, batch: ScoreBatch, target: Any) -> tuple[Labels, Ints]:
        """Labels of the given spans (rows, tokens, tokens), -1 elsewhere; how many."""
        _, N, _, L = batch.main.shape
        table = target
        if isinstance(target, np.ndarray):
            if target.shape != (batch.rows, N, N):
                raise ValueError(
                    f"target has shape {target.shape}, not ({batch.rows}, {N}, {N})"
                )
            if target.dtype.kind not in "iu":
                raise ValueError(f"target must hold whole numbers, not {target.dtype}")
        else:
            table = np.full((batch.rows, N, N), -1, np.int32)
            for b, spans in enumerate(target_tuples(target, batch, 3, "spans")):
                self._mark(b, int(batch.sizes[b, 0]), L, spans, table[b])
        table = np.ascontiguousarray(table, np.int32)
        given, where = count_spans(table, batch.sizes[:, 0].copy(), L)
        if where[0] >= 0:
            b, i, j = map(int, where)
            raise ValueError(
                f"row {b}: ({i}, {j}, {table[b, i, j]}) of the target is not a span of "
                f"{batch.sizes[b, 0]} tokens with a label 0 .. {L - 1}"
            )
        return table, given

    def _mark(self, b: int, n: int, labels: int, spans: Ints, table: Labels) -> None:
        """Labels of listed spans into the table of row b."""
        first, last, label = spans.T
        bad = (
            (first < 0) | (last < first) | (last >= n) | (label < 0) | (label >= labels)
        )
        for k in np.flatnonzero(bad).tolist():
            raise ValueError(
                f"row {b}: ({first[k]}, {last[k]}, {label[k]}) of the target is not a span of "
                f"{n} tokens with a label 0 .. {labels - 1}"
            )
        table[first, last] = label
        for k in np.flatnonzero(table[first, last] != label).tolist():
            raise ValueError(f"row {b}: span ({first[k]}, {last[k]}) has two labels")

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> list[list[Span]]:
        """Lists of triples."""
        columns = rows.data.reshape(-1, 3).T.tolist()
        flat = list(zip(*columns, strict=True))
        return [flat[a:b] for a, b in pairwise((rows.ptr // 3).tolist())]

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """CKY."""
        none = np.full(batch.main.shape[:3], -1, np.int32)
        return self._cky(batch, none, 0.0, n_jobs)

    def _cky(
        self, batch: ScoreBatch, truth: Labels, penalty: float, n_jobs: int
    ) -> tuple[Ragged, Floats]:
        sizes, value = batch.sizes[:, 0].copy(), np.empty(batch.rows)
        width = 3 * (2 * batch.main.shape[1] - 1)
        rows = np.empty((batch.rows, width), np.int32)

        def task(first: int, last: int) -> None:
            best_spans(first, last, batch.main, sizes, truth, penalty, rows, value)

        over_rows(batch.rows, task, n_jobs, _work(batch), apart=True)
        return cut_rows(rows, np.where(value > -np.inf, 3 * (2 * sizes - 1), 0)), value

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Spans."""
        _, N, _, L = batch.main.shape
        return (Cells(*span_cells(rows.ptr, rows.data, N, L)),)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """One per span that the target does not have."""
        named_loss(loss, self.losses)
        spans: Ints = 2 * batch.sizes[:, 0] - 1
        return position_costs(batch, self.cells(batch, truth)[0], spans)

    def find_augmented(
        self, batch: ScoreBatch, costs: Costs, n_jobs: int = 1
    ) -> tuple[Ragged, Floats]:
        """CKY with the true spans one lower, without a copy of the table."""
        L = batch.main.shape[3]
        truth = np.full(batch.main.shape[:3], -1, np.int32)
        truth.reshape(-1)[costs.place // L] = costs.place % L
        rows, value = self._cky(batch, truth, 1.0, n_jobs)
        return rows, value + costs.constant

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph:
        """Spans from the shortest to the longest."""
        return span_hypergraph(
            int(batch.sizes[b, 0]), batch.main.shape[1], batch.main.shape[3]
        )

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Any:
        """Spans, larger and earlier ones first: from the root down, left to right."""
        _, N, _, L = batch.main.shape
        first, last, label = cells // (N * L), cells // L % N, cells % L
        order = np.lexsort((-last, first))
        return np.stack([first, last, label], axis=1)[order].ravel()

    def log_partition(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Inside algorithm."""
        return self._sum(batch, np.zeros(batch.rows), False, n_jobs)[0]

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Inside and outside."""
        return self._sum(batch, factor, True, n_jobs)

    def _sum(
        self, batch: ScoreBatch, factor: Floats, wanted: bool, n_jobs: int
    ) -> tuple[Floats, tuple[Table, ...]]:
        sizes, log_z = batch.sizes[:, 0].copy(), np.empty(batch.rows)
        out = np.zeros(batch.main.shape if wanted else (1, 1, 1, 1))

        def task(first: int, last: int) -> None:
            for b in range(first, last):
                rest = (out, log_z, factor, wanted)
                if sum_spans(b, batch.main, int(sizes[b]), *rest):
                    sum_spans_logs(b, batch.main, sizes, *rest)

        over_rows(batch.rows, task, n_jobs, 10 * _work(batch), apart=True)
        return log_z, (out,)


def _work(batch: ScoreBatch) -> float:
    """Nanoseconds of CKY, about: two parts of a span, labels of a span."""
    sizes = batch.sizes[:, 0].astype(np.float64)
    return float((0.13 * sizes**3 + 0.12 * batch.main.shape[3] * sizes**2).sum())
