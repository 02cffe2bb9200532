"""Alignments of two sequences: a table of match scores and affine gaps.

    score(y) = sum of match[i, j] over matches
             + open + (length - 1) * extend over the gaps, for deleted rows and inserted
               columns; both may differ by position

Global alignments go from corner to corner, local ones from a match to a match or are
empty. An insert is never followed by a delete, so the matches determine a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, Ragged, pointers
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    named_loss,
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
    side_table,
    two_masks,
)
from maxmargin.inference.alignment.best_path import (
    DELETE,
    INSERT,
    MATCH,
    MODES,
    best_paths,
)
from maxmargin.inference.alignment.path_hypergraph import path_hypergraph
from maxmargin.inference.alignment.path_sums import sum_paths
from maxmargin.inference.hypergraph import Hypergraph, sum_product

Pair = tuple[int, int]


@dataclass(frozen=True)
class Alignment(ScoreStructure):
    """Which positions of two sequences belong together.

    Tables: "match" (rows, first, second); "deletes" (2,), scores of opening and of
    extending a gap that skips positions of the first sequence, or (rows, first, 2);
    "inserts" likewise for the second. The mask is a pair of masks, or of lengths.
    Outputs: lists of matched pairs (i, j). Losses: "q", the share of the target's
    matches that are missed; "q4", where a match up to 4 off counts; "zero-one".

    Parameters
    ----------
    mode : {"global", "local"}, default="global"
        What a path is.

    Examples
    --------
    >>> match = np.array([[[2.0, -1.0, -1.0], [-1.0, -1.0, 2.0]]])
    >>> gaps = {"deletes": [-1.0, -0.5], "inserts": [-1.0, -0.5]}
    >>> Alignment().best({"match": match, **gaps})
    Decoded(outputs=[[(0, 0), (1, 2)]], score=array([3.]), bound=array([3.]))
    """

    mode: str = "global"

    tables: ClassVar[tuple[str, ...]] = ("match", "deletes", "inserts")
    losses: ClassVar[tuple[str, ...]] = ("q", "q4", "zero-one")

    def __post_init__(self) -> None:
        """Refuse other modes."""
        if self.mode not in ("global", "local"):
            raise ValueError(f"mode={self.mode!r} is not 'global' or 'local'")

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Open and extend, for either side."""
        return {"deletes": (2,), "inserts": (2,)}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the tables."""
        named = named_tables(scores, self.tables)
        main = main_table(named["match"], "match", 3, "(rows, first, second)")
        one, two = two_masks(mask, "first sequence", "second sequence")
        b, n, m = main.shape
        first = row_sizes(one, b, n, "mask of the first sequence")
        second = row_sizes(two, b, m, "mask of the second sequence")
        check_finite(main, lambda r: main[r, : first[r], : second[r]], "match")
        deletes = side_table(named.get("deletes"), "deletes", ((2,), (b, n, 2)))
        inserts = side_table(named.get("inserts"), "inserts", ((2,), (b, m, 2)))
        return ScoreBatch((main, deletes, inserts), np.stack([first, second], axis=1))

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Start and moves of the path through the given matches."""
        rows = []
        for b, pairs in enumerate(target_tuples(target, batch, 2, "matched pairs")):
            given = [(i, j) for i, j in pairs.tolist() if not i == j == -1]  # padding
            n, m = map(int, batch.sizes[b])
            for i, j in given:
                if not (0 <= i < n and 0 <= j < m):
                    raise ValueError(
                        f"row {b}: match ({i}, {j}) of the target is outside of the "
                        f"table of {n} x {m}"
                    )
            for one, two in pairwise(given):
                if not (one[0] < two[0] and one[1] < two[1]):
                    raise ValueError(
                        f"row {b}: matches {one} and {two} of the target cross"
                    )
            rows.append(self._path(given, n, m))
        out = Ragged.pack(rows)
        return out

    def _path(self, pairs: list[Pair], n: int, m: int) -> list[int]:
        """Start cell and moves."""
        if self.mode == "local":
            if not pairs:
                return [0, 0]
            i, j = pairs[0]
            row, end = [i, j], None
        else:
            i, j, row, end = 0, 0, [0, 0], (n, m)
        for a, b in pairs:
            row += [DELETE] * (a - i) + [INSERT] * (b - j) + [MATCH]
            i, j = a + 1, b + 1
        if end is not None:
            row += [DELETE] * (end[0] - i) + [INSERT] * (end[1] - j)
        return row

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> list[list[Pair]]:
        """Lists of matches."""
        row, move, i, j = self._moves(rows)
        pairs: list[list[Pair]] = [[] for _ in range(rows.n)]
        hit = move == MATCH
        for b, a, c in zip(
            row[hit].tolist(), i[hit].tolist(), j[hit].tolist(), strict=True
        ):
            pairs[b].append((a, c))
        return pairs

    def _moves(self, rows: Ragged) -> tuple[Any, Any, Any, Any]:
        """Row of the batch, move, and position before the move, of all moves."""
        data = rows.data.astype(np.int64)
        row = np.repeat(np.arange(rows.n), rows.sizes)
        at = np.arange(len(data)) - rows.ptr[row]
        own = at >= 2
        row, move = row[own], data[own]
        ptr = pointers(rows.sizes - 2)
        down = np.concatenate(([0], np.cumsum(move != INSERT)))
        right = np.concatenate(([0], np.cumsum(move != DELETE)))
        i = down[:-1] - down[ptr[row]] + data[rows.ptr[row]]
        j = right[:-1] - right[ptr[row]] + data[rows.ptr[row] + 1]
        return row, move, i, j

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Gotoh's algorithm."""
        parts = over_rows(
            batch.rows,
            lambda a, z: best_paths(*self._tables(batch, a, z)),
            n_jobs,
            _work(batch),
        )
        rows = Ragged.concat([Ragged(ptr, data) for ptr, data, _ in parts])
        return rows, np.concatenate([value for _, _, value in parts])

    def _tables(self, batch: ScoreBatch, first: int, last: int) -> tuple[Any, ...]:
        """Arguments of `best_paths`: the padded tables as they lie."""
        main, deletes, inserts = batch.arrays
        _, N, M = main.shape
        some = np.arange(first, last)
        rows, cols = (
            batch.sizes[first:last, 0].copy(),
            batch.sizes[first:last, 1].copy(),
        )
        start = np.concatenate(
            [
                (b - first) * N * M + np.arange(n) * M
                for b, n in zip(some, rows, strict=True)
            ]
            + [np.array([(last - first) * N * M])]
        )
        hi = np.repeat(cols, rows)
        return (
            rows, cols, np.zeros(len(hi), np.int64), hi, start,
            np.asarray(main[first:last], np.float64).reshape(-1),
            _gap_table(deletes, some, rows), _gap_table(inserts, some, cols),
            MODES[self.mode], True,
        )  # fmt: skip

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Matches and gap positions."""
        _, N, M = batch.main.shape
        row, move, i, j = self._moves(rows)
        begins = np.ones(len(move), bool)
        begins[1:] = (move[1:] != move[:-1]) | (row[1:] != row[:-1])
        hit, gone, new = (np.flatnonzero(move == k) for k in (MATCH, DELETE, INSERT))
        delete, insert = 1 - begins[gone], 1 - begins[new]
        if batch.arrays[1].ndim == 3:
            delete = delete + 2 * (row[gone] * N + i[gone])
        if batch.arrays[2].ndim == 3:
            insert = insert + 2 * (row[new] * M + j[new])
        return (
            Cells(row[hit], (row[hit] * N + i[hit]) * M + j[hit]),
            Cells(row[gone], delete.astype(np.int64)),
            Cells(row[new], insert.astype(np.int64)),
        )

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Minus one over the number of true matches, at these and near ones."""
        shift = 4 if named_loss(loss, self.losses) == "q4" else 0
        _, N, M = batch.main.shape
        row, move, i, j = self._moves(truth)
        hit = move == MATCH
        row, i, j = row[hit], i[hit], j[hit]
        total = np.bincount(row, minlength=batch.rows)
        off = np.arange(-shift, shift + 1)
        near = i[:, None] + off
        inside = (near >= 0) & (near < batch.sizes[row, 0][:, None])
        index = ((row[:, None] * N + near) * M + j[:, None])[inside]
        unit = 1.0 / np.maximum(total, 1)
        change = -np.repeat(unit[row], inside.sum(axis=1))
        return Costs(
            index, change, (total > 0).astype(np.float64), unit, -total,
            np.zeros(batch.rows, np.int64),
        )  # fmt: skip

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph:
        """Cells of the table row by row."""
        main, deletes, inserts = batch.arrays
        n, m = map(int, batch.sizes[b])
        _, N, M = main.shape
        own = deletes.ndim == 3
        steps = (2 if own else 0, 2 if inserts.ndim == 3 else 0)
        offsets = (N * M, N * M + (2 * N if own else 2))
        return path_hypergraph(n, m, M, steps, offsets, MODES[self.mode])

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Any:
        """The path through the chosen matches."""
        M = batch.main.shape[2]
        own = np.sort(cells[cells < batch.main[b].size])
        pairs = [(int(c) // M, int(c) % M) for c in own]
        return self._path(pairs, *map(int, batch.sizes[b]))

    def log_partition(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Forward sums."""
        if self.mode == "local":
            return super().log_partition(batch, n_jobs)
        return self._sum(batch, np.ones(batch.rows), False, n_jobs)[0]

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Forward and backward sums."""
        if self.mode == "local":
            return super().weighted_marginals(batch, factor, n_jobs)
        return self._sum(batch, factor, True, n_jobs)

    def _sum(
        self, batch: ScoreBatch, factor: Floats, wanted: bool, n_jobs: int
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Global paths; rows whose probabilities vanish are done with logarithms."""
        main, *gaps = batch.arrays
        sizes, log_z = np.ascontiguousarray(batch.sizes), np.empty(batch.rows)
        out = tuple(np.zeros(a.shape) for a in batch.arrays)
        wide = [g if g.ndim == 3 else g.reshape(1, 1, 2) for g in gaps]

        def task(first: int, last: int) -> tuple[Any, Any, Any]:
            mine: list[Any] = [
                np.zeros((1, 1, 2)) if gap.ndim == 1 else whole
                for gap, whole in zip(gaps, out[1:], strict=True)
            ]
            bad = sum_paths(
                first, last, main, sizes, *wide, log_z, factor, out[0], *mine, wanted
            )
            return mine[0], mine[1], np.flatnonzero(bad) + first

        for one, two, bad in over_rows(batch.rows, task, n_jobs, 8 * _work(batch)):
            for part, whole, gap in zip((one, two), out[1:], gaps, strict=True):
                if gap.ndim == 1:
                    whole += part.reshape(2)
            for b in bad.tolist():
                graph = self.hypergraph(batch, b)
                log_z[b], grad = sum_product(graph, self.flat_scores(batch, b))
                self._scatter(batch, b, factor[b] * grad, out)
        return log_z, out


def _work(batch: ScoreBatch) -> float:
    """Nanoseconds of Gotoh's algorithm, about."""
    return 3.0 * float((batch.sizes[:, 0] * batch.sizes[:, 1]).sum())


def _gap_table(gaps: Table, rows: Any, sizes: Any) -> Floats:
    """(4, positions of all rows and one more each): open, extend, and two zero rows."""
    ptr = pointers(sizes + 1)
    out = np.zeros((4, int(ptr[-1])))
    if gaps.ndim == 1:
        out[:2] = gaps[:, None]
        return out
    for k, b in enumerate(rows):
        out[:2, ptr[k] : ptr[k] + sizes[k]] = gaps[b, : sizes[k]].T
    return out
