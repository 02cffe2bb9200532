"""Segmentations: every token belongs to one labelled segment (semi-Markov models).

    score(y) = sum over segments  segments[first, length - 1, label]
             + sum over neighbours  transitions[label, next label]

Tokens outside of all entities are segments of length one of a label of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, Ragged
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cut_rows,
    named_loss,
    target_tuples,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    check_finite,
    main_table,
    named_tables,
    over_rows,
    row_sizes,
    side_table,
)
from maxmargin.inference.chain.segments import best_segments, segment_hypergraph
from maxmargin.inference.hypergraph import Hypergraph

Segment = tuple[int, int, int]


@dataclass(frozen=True)
class Segments(ScoreStructure):
    """Labelled segments without gaps or overlaps.

    Tables: "segments" (rows, tokens, longest, labels), [t, w, c] for the w + 1 tokens
    from t on; "transitions" (labels, labels). Outputs: lists of (first token, token
    after the last, label). Losses: "segments", wrong and missing segments; "hamming",
    tokens in wrong segments; "zero-one".

    Examples
    --------
    >>> scores = np.zeros((1, 3, 2, 2))
    >>> scores[0, 0, 1, 1] = 2.0  # tokens 0 and 1, label 1
    >>> scores[0, 2, 0, 0] = 1.0
    >>> Segments().best(scores).outputs
    [[(0, 2, 1), (2, 3, 0)]]
    """

    tables: ClassVar[tuple[str, ...]] = ("segments", "transitions")
    losses: ClassVar[tuple[str, ...]] = ("segments", "hamming", "zero-one")

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Label pairs."""
        return {"transitions": (main[-1], main[-1])}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the tables."""
        named = named_tables(scores, self.tables)
        layout = "(rows, tokens, longest, labels)"
        main = main_table(named["segments"], "segments", 4, layout)
        sizes = row_sizes(mask, *main.shape[:2])
        fits = np.arange(main.shape[1])[:, None] + np.arange(1, main.shape[2] + 1)

        def valid(b: int) -> Any:
            inside = (fits <= sizes[b])[:, :, None]
            return np.where(inside, main[b], 0.0)

        check_finite(main, valid, "segments")
        shape = self.side_shapes(main.shape)["transitions"]
        transitions = side_table(named.get("transitions"), "transitions", (shape,))
        return ScoreBatch((main, transitions), sizes[:, None])

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Triples in order; they must cover all tokens once."""
        rows = []
        for b, segments in enumerate(target_tuples(target, batch, 3, "segments")):
            rows.append(self._check(batch, b, segments.tolist()))
        out = Ragged.pack(rows)
        return out

    def _check(
        self, batch: ScoreBatch, b: int, segments: Sequence[Segment]
    ) -> list[int]:
        """Triples of row b one after the other."""
        _, _, longest, labels = batch.main.shape
        row, at = [], 0
        for first, end, label in sorted(map(tuple, segments)):
            if first != at:
                what = (
                    "overlaps the one before"
                    if first < at
                    else "leaves a gap before it"
                )
                raise ValueError(
                    f"row {b}: segment ({first}, {end}, {label}) of the target {what}"
                )
            if not (0 < end - first <= longest and 0 <= label < labels):
                raise ValueError(
                    f"row {b}: segment ({first}, {end}, {label}) of the target is not "
                    f"of 1 to {longest} tokens with a label 0 .. {labels - 1}"
                )
            row += [int(first), int(end), int(label)]
            at = end
        if at != batch.sizes[b, 0]:
            raise ValueError(
                f"row {b}: the target's segments end at token {at}, not {batch.sizes[b, 0]}"
            )
        return row

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> list[list[Segment]]:
        """Lists of triples."""
        columns = rows.data.reshape(-1, 3).T.tolist()
        flat = list(zip(*columns, strict=True))
        return [flat[a:b] for a, b in pairwise((rows.ptr // 3).tolist())]

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Semi-Markov Viterbi."""
        main, transitions = batch.arrays
        sizes = batch.sizes[:, 0].copy()
        rows = np.empty((batch.rows, 3 * main.shape[1]), np.int32)
        count, value = np.zeros(batch.rows, np.int64), np.empty(batch.rows)

        def task(first: int, last: int) -> None:
            best_segments(first, last, main, sizes, transitions, rows, count, value)

        work = 2.0 * float(sizes.sum()) * main.shape[2] * main.shape[3]  # nanoseconds
        over_rows(batch.rows, task, n_jobs, work, apart=True)
        return cut_rows(rows, 3 * count), value

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Segments, and labels of neighbours."""
        _, T, W, L = batch.main.shape
        first, end, label = rows.data.astype(np.int64).reshape(-1, 3).T
        row = np.repeat(np.arange(rows.n), rows.sizes // 3)
        index = ((row * T + first) * W + end - first - 1) * L + label
        later = np.flatnonzero(first > 0)
        return (
            Cells(row, index),
            Cells(row[later], label[later - 1] * L + label[later]),
        )

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Every segment of the table has its cost."""
        name = named_loss(loss, self.losses)
        _, T, W, L = batch.main.shape
        true = self.cells(batch, truth)[0]
        change = np.ones((batch.rows, T, W, L))
        if name == "segments":
            change.reshape(-1)[true.place] = -1.0
            constant = np.bincount(true.row, minlength=batch.rows)
            low = -constant
        else:
            change *= np.arange(1.0, W + 1.0)[:, None]
            change.reshape(-1)[true.place] = 0.0
            constant = low = np.zeros(batch.rows, np.int64)
        return Costs(
            np.arange(change.size), change.ravel(), constant.astype(np.float64),
            np.ones(batch.rows), low, batch.sizes[:, 0],
        )  # fmt: skip

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph:
        """Segments from left to right."""
        _, _, W, L = batch.main.shape
        n = int(batch.sizes[b, 0])
        return segment_hypergraph(n, W, L, batch.main[b].size)

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Any:
        """Triples of the chosen segments."""
        _, _, W, L = batch.main.shape
        own = np.sort(cells[cells < batch.main[b].size]).astype(np.int64)
        first, width = own // (W * L), own // L % W
        return np.stack([first, first + width + 1, own % L], axis=1).ravel()
