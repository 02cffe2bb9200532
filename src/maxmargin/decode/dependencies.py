"""Dependency trees from scores of arcs, projective or not.

    score(y) = sum over tokens m  arcs[m, head(m)]   (or arcs[m, head(m), label(m)])

Heads count from one: 0 is the root, h is token h - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
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
from maxmargin.inference.tree.arborescence import best_arborescences, sum_arborescences
from maxmargin.inference.tree.eisner import best_projective, projective_hypergraph


@dataclass(frozen=True)
class DependencyTree(ScoreStructure):
    """Which token is the head of which.

    Table: "arcs" (rows, tokens, 1 + tokens), [m, h] for head h of token m, or with
    labels (rows, tokens, 1 + tokens, labels). Outputs: heads (rows, tokens), -1 behind
    each row; with labels (rows, tokens, 2), head and label. Losses: "hamming", wrong
    heads or labels; "heads", wrong heads; "zero-one".

    Parameters
    ----------
    projective : bool, default=True
        Arcs drawn above the sentence do not cross (Eisner); else any tree
        (Chu-Liu/Edmonds).
    single_root : bool, default=True
        One token only has the root as its head.

    Examples
    --------
    >>> arcs = np.zeros((1, 3, 4))
    >>> arcs[0, 1, 0] = arcs[0, 0, 2] = arcs[0, 2, 2] = 1.0
    >>> DependencyTree().best(arcs).outputs.tolist()
    [[2, 0, 2]]
    """

    projective: bool = True
    single_root: bool = True

    tables: ClassVar[tuple[str, ...]] = ("arcs",)
    losses: ClassVar[tuple[str, ...]] = ("hamming", "heads", "zero-one")

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """There are no others."""
        return {}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the table; without labels it gets a single one."""
        named = named_tables(scores, self.tables)
        array = np.asarray(named["arcs"])
        labelled = array.ndim == 4
        layout = "(rows, tokens, 1 + tokens) or (rows, tokens, 1 + tokens, labels)"
        main = main_table(array, "arcs", 4 if labelled else 3, layout)
        if main.shape[2] != main.shape[1] + 1:
            raise ValueError(f"arcs has shape {main.shape}, but it must be {layout}")
        if not labelled:
            main = main[:, :, :, None]
        sizes = row_sizes(mask, *main.shape[:2])

        def valid(b: int) -> Any:
            part = main[b, : sizes[b], : sizes[b] + 1]
            to_itself = np.eye(sizes[b], sizes[b] + 1, 1, dtype=bool)
            return np.where(to_itself[:, :, None], 0.0, part)

        check_finite(main, valid, "arcs")
        return ScoreBatch((main,), sizes[:, None], labelled)

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Head and label of each token as one number."""
        L = batch.main.shape[3]
        heads, labels = self._split_target(batch, target)
        rows = target_rows(heads, batch, batch.sizes[:, 0] + 1, "head")
        for b in range(batch.rows):
            self._check_tree(b, rows.row(b))
        if batch.extra:
            kinds = target_rows(labels, batch, L, "label")
            rows = Ragged(rows.ptr, rows.data * np.int32(L) + kinds.data)
        return rows

    def _split_target(self, batch: ScoreBatch, target: Any) -> tuple[Any, Any]:
        """Heads and labels."""
        if not batch.extra:
            return target, None
        if isinstance(target, (list, tuple)):
            pairs = target_tuples(target, batch, 2, "pairs of head and label")
            return [p[:, 0] for p in pairs], [p[:, 1] for p in pairs]
        array = np.asarray(target)
        if array.ndim != 3 or array.shape[2] != 2:
            raise ValueError(
                f"target has shape {array.shape}, but with labels it must be (rows, "
                "tokens, 2): head and label"
            )
        return array[:, :, 0], array[:, :, 1]

    def _check_tree(self, b: int, heads: Labels) -> None:
        """Refuse cycles, several roots and crossing arcs where they are not allowed."""
        n = len(heads)
        if self.single_root and (heads == 0).sum() != 1:
            raise ValueError(
                f"row {b}: {(heads == 0).sum()} tokens of the target have the root as "
                "their head, not one: set single_root=False if that is meant"
            )
        for m in range(n):
            at, steps = m + 1, 0
            while at != 0 and steps <= n:
                at, steps = int(heads[at - 1]), steps + 1
            if at != 0:
                raise ValueError(f"row {b}: the target has a cycle through token {m}")
        if not self.projective:
            return
        for m in range(n):
            low, high = sorted((m + 1, int(heads[m])))
            inner = heads[low : high - 1]
            bad = np.flatnonzero((inner < low) | (inner > high))
            if len(bad):
                raise ValueError(
                    f"row {b}: the arcs of tokens {m} and {low + bad[0]} of the target "
                    "cross; use projective=False"
                )

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Heads, with labels beside them if there are any."""
        L, width = batch.main.shape[3], batch.main.shape[1]
        code = padded_rows(rows, width)
        heads = np.where(code >= 0, code // L, -1)
        if not batch.extra:
            return heads
        return np.stack([heads, np.where(code >= 0, code % L, -1)], axis=2)

    def unpadded(self, batch: ScoreBatch, outputs: Any) -> list[Any]:
        """Outputs one by one without their padding."""
        sizes = batch.sizes[:, 0]
        return [outputs[b, : sizes[b]] for b in range(len(outputs))]

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Eisner or Chu-Liu/Edmonds."""
        main, sizes = batch.main, batch.sizes[:, 0].copy()
        rows, value = np.zeros(main.shape[:2], np.int32), np.empty(batch.rows)
        solve = best_projective if self.projective else best_arborescences

        def task(first: int, last: int) -> None:
            solve(first, last, main, sizes, self.single_root, rows, value)

        n = sizes.astype(np.float64)  # with the nanoseconds that each takes, about
        work = 0.5 * n**3 + 2 * n**2 if self.projective else 20 * n**2
        over_rows(batch.rows, task, n_jobs, float(work.sum()), apart=True)
        return cut_rows(rows, sizes), value

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Arcs."""
        _, N, heads, L = batch.main.shape
        row = np.repeat(np.arange(rows.n), rows.sizes)
        m = np.arange(len(row)) - rows.ptr[row]
        return (Cells(row, (row * N + m) * heads * L + rows.data),)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """One per token with a wrong arc."""
        name, cells = named_loss(loss, self.losses), self.cells(batch, truth)[0]
        if name == "heads":
            L = batch.main.shape[3]
            right = (cells.place // L * L)[:, None] + np.arange(L)
            cells = Cells(np.repeat(cells.row, L), right.ravel())
        return position_costs(batch, cells, batch.sizes[:, 0])

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph | None:
        """Eisner's items; non-projective trees have none."""
        if not self.projective:
            return None
        n, (_, N, _, L) = int(batch.sizes[b, 0]), batch.main.shape
        return projective_hypergraph(n, N, L, self.single_root)

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Labels:
        """Arcs by token."""
        _, _, heads, L = batch.main.shape
        return np.sort(cells) % (heads * L)

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """Projective: from the chart; else by partition of the set of trees."""
        if self.projective:
            return super().find_nbest(batch, n, n_jobs)
        return partition.nbest(self, batch, n, n_jobs)

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Like "arcs": the best tree with each arc."""
        if self.projective:
            return super().find_max_marginals(batch, n_jobs)
        return partition.max_marginals(self, batch, n_jobs)

    def as_given(self, batch: ScoreBatch, table: Any) -> Any:
        """Without the single label that was added."""
        return table if batch.extra else table[:, :, :, 0]

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Inside and outside, or the matrix-tree theorem."""
        if self.projective:
            log_z, (out,) = super().weighted_marginals(batch, factor, n_jobs)
        else:
            log_z, out = np.empty(batch.rows), np.zeros(batch.main.shape)
            for b in range(batch.rows):
                n = batch.sizes[b, 0]
                log_z[b], grad = sum_arborescences(
                    batch.main[b, :n, : n + 1].astype(np.float64), self.single_root
                )
                out[b, :n, : n + 1] = factor[b] * grad
        return log_z, (out,)
