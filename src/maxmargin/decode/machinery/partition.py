"""The n best outputs by partition, for structures that choose one cell per position.

With the main table as (rows, positions, choices): the outputs other than the best, y,
fall into sets k = 0, 1, ..: those that agree with y before position k and differ at k.
The best of each set is the best output with other cells forbidden; the best of all sets
is the second best output, and its set is divided again. Every call of the solver is one
batch. Max-marginals force one cell at a time in the same way.

[1] Lawler 1972, A procedure for computing the k best solutions. [2] Murty 1968.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.decode.machinery.base import ScoreStructure
from maxmargin.decode.machinery.batch import ScoreBatch

SHARE = 4096  # tables solved in one call


def nbest(
    structure: ScoreStructure, batch: ScoreBatch, n: int, n_jobs: int
) -> list[tuple[Ragged, Floats]]:
    """The n best rows of integers of each row of the batch, with their scores."""
    return [_nbest_of_row(structure, batch, b, n, n_jobs) for b in range(batch.rows)]


def _nbest_of_row(
    structure: ScoreStructure, batch: ScoreBatch, b: int, n: int, n_jobs: int
) -> tuple[Ragged, Floats]:
    one = structure.one_row(batch, b)
    rows, value = structure.find_best(one, n_jobs)
    if not value[0] > -np.inf:
        return Ragged.pack([]), np.empty(0)
    heap: list[tuple[float, int, Any, Any, int]] = []
    count = 0
    heapq.heappush(heap, (-float(value[0]), count, rows.row(0), one.main[0], 0))
    found: list[Any] = []
    scores: list[float] = []
    while heap and len(found) < n:
        score, _, row, table, fixed = heapq.heappop(heap)
        found.append(row)
        scores.append(-score)
        if len(found) == n:
            break
        tables = _divide(table, row, fixed)
        if len(tables) == 0:
            continue
        several = structure.one_row(batch, b, len(tables)).with_main(tables)
        rows, value = structure.find_best(several, n_jobs)
        for k in np.flatnonzero(value > -np.inf).tolist():
            count += 1
            part = (-float(value[k]), count, rows.row(k), tables[k], fixed + k)
            heapq.heappush(heap, part)
    return Ragged.pack(found), np.array(scores)


def _divide(table: Any, row: Any, fixed: int) -> Any:
    """Tables of the sets that differ from `row` first at position fixed, fixed + 1, .."""
    n = len(row)
    out = np.repeat(table[None], n - fixed, axis=0)
    flat = out.reshape(n - fixed, table.shape[0], -1)
    for k in range(fixed, n):
        flat[k - fixed, k, row[k]] = -np.inf
        for p in range(fixed, k):
            kept = flat[k - fixed, p, row[p]]
            flat[k - fixed, p] = -np.inf
            flat[k - fixed, p, row[p]] = kept
    return out


def max_marginals(structure: ScoreStructure, batch: ScoreBatch, n_jobs: int) -> Floats:
    """Score of the best output with each cell of the main table."""
    out = np.full(batch.main.shape, -np.inf)
    for b in range(batch.rows):
        table = batch.main[b]
        positions = table.shape[0]
        flat = table.reshape(positions, -1)
        size = int(batch.sizes[b, 0])
        cells = np.argwhere(np.isfinite(flat[:size]))
        place = out[b].reshape(positions, -1)
        for at in range(0, len(cells), SHARE):
            some = cells[at : at + SHARE]
            tables = np.repeat(table[None], len(some), axis=0)
            forced = tables.reshape(len(some), positions, -1)
            each = np.arange(len(some))
            kept = forced[each, some[:, 0], some[:, 1]]
            forced[each, some[:, 0]] = -np.inf
            forced[each, some[:, 0], some[:, 1]] = kept
            several = structure.one_row(batch, b, len(some)).with_main(tables)
            _, value = structure.find_best(several, n_jobs)
            place[some[:, 0], some[:, 1]] = value
    return out
