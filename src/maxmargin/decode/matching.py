"""Bipartite matching: every row item gets a column item of its own.

score(y) = sum_i  pairs[i, y_i],      y_i all different
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.decode.machinery import partition
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cut_rows,
    named_loss,
    padded_rows,
    position_costs,
    target_rows,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    check_finite,
    main_table,
    named_tables,
    over_rows,
    row_sizes,
    two_masks,
)
from maxmargin.inference.assignment import best_assignments


@dataclass(frozen=True)
class Matching(ScoreStructure):
    """Assignments of the items on the left to items on the right.

    Table: "pairs" (rows, left, right), at most as many items on the left as on the
    right. The mask is a pair of masks, or of lengths, for left and right. Outputs:
    columns (rows, left), -1 behind each row. Losses: "hamming", "zero-one".

    Examples
    --------
    >>> pairs = np.array([[[3.0, 2.0], [2.0, 0.0]]])
    >>> Matching().best(pairs).outputs.tolist()
    [[1, 0]]
    """

    tables: ClassVar[tuple[str, ...]] = ("pairs",)

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """There are no others."""
        return {}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the table."""
        named = named_tables(scores, self.tables)
        main = main_table(named["pairs"], "pairs", 3, "(rows, left, right)")
        one, two = two_masks(mask, "left side", "right side")
        left = row_sizes(one, len(main), main.shape[1], "mask of the left side")
        right = row_sizes(two, len(main), main.shape[2], "mask of the right side")
        for b in np.flatnonzero(left > right).tolist():
            raise ValueError(
                f"row {b}: {left[b]} items on the left cannot all be matched with "
                f"{right[b]} on the right"
            )
        check_finite(main, lambda b: main[b, : left[b], : right[b]], "pairs")
        return ScoreBatch((main,), np.stack([left, right], axis=1))

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Columns; each at most once."""
        rows = target_rows(target, batch, batch.sizes[:, 1], "column")
        for b in range(batch.rows):
            row = rows.row(b)
            if len(np.unique(row)) != len(row):
                raise ValueError(f"row {b}: the target uses a column twice")
        return rows

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Columns (rows, left)."""
        return padded_rows(rows, batch.main.shape[1])

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Shortest augmenting paths."""
        main, sizes = batch.main, np.ascontiguousarray(batch.sizes)
        columns, value = np.zeros(main.shape[:2], np.int32), np.empty(batch.rows)
        over_rows(
            batch.rows,
            lambda a, z: best_assignments(a, z, main, sizes, columns, value),
            n_jobs,
            0.5 * float((sizes[:, 0] ** 2 * sizes[:, 1]).sum()),  # nanoseconds, about
        )
        return cut_rows(columns, sizes[:, 0]), value

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Pairs."""
        _, N, M = batch.main.shape
        row = np.repeat(np.arange(rows.n), rows.sizes)
        i = np.arange(len(row)) - rows.ptr[row]
        return (Cells(row, (row * N + i) * M + rows.data),)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """One per item with a wrong partner."""
        named_loss(loss, self.losses)
        return position_costs(batch, self.cells(batch, truth)[0], batch.sizes[:, 0])

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """By partition of the set of assignments [Murty]."""
        return partition.nbest(self, batch, n, n_jobs)

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """The best assignment with each pair."""
        return partition.max_marginals(self, batch, n_jobs)
