"""All alignments of two sequences as a hypergraph: what n-best lists and sums need.

The same paths as in `best_path.py`: moves match, delete, insert, an insert never
followed by a delete, gaps with an opening and an extension score. A global path goes
from corner to corner; a semi-global one from border to border, never along one; a local one
from a match to a match. The last two may be empty.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import (
    DELETE,
    GLOBAL,
    INSERT,
    LOCAL,
    MATCH,
    SEMIGLOBAL,
    AlignmentTables,
)
from maxmargin.inference.hypergraph import Hypergraph, empty_edges


def path_hypergraph(
    rows: int, cols: int, padded: int, steps: tuple[int, int], offsets: tuple[int, int],
    mode: int,
) -> Hypergraph:  # fmt: skip
    """All paths through a table of rows x cols matches.

    Cell i * padded + j is match[i, j]. Row i is deleted with score offsets[0] + i *
    steps[0] (open) or one cell further (extend); inserts of column j likewise.
    """
    gaps = []
    for size, step, offset in zip((rows, cols), steps, offsets, strict=True):
        cells = np.full((4, size + 1), -1, np.int64)
        cells[0] = offset + step * np.arange(size + 1)
        cells[1] = cells[0] + 1
        gaps.append(cells)
    lo, hi = np.zeros(rows, np.int64), np.full(rows, cols, np.int64)
    return _hypergraph(lo, hi, padded * np.arange(rows), gaps[0], gaps[1], mode)


def table_hypergraph(tables: AlignmentTables, mode: int) -> tuple[Hypergraph, Floats]:
    """All paths through the table of one pair, and the scores of its cells.

    Cells are those of `tables.match`, then of `row_gap`, then of `col_gap`.
    """
    parts = tables.match, tables.row_gap.ravel(), tables.col_gap.ravel()
    first = len(parts[0]), len(parts[0]) + len(parts[1])
    gaps = [
        offset + np.arange(table.size).reshape(table.shape)
        for offset, table in zip(first, (tables.row_gap, tables.col_gap), strict=True)
    ]
    start = tables.start[:-1] - tables.start[0]
    graph = _hypergraph(tables.lo, tables.hi, start, gaps[0], gaps[1], mode)
    return graph, np.concatenate(parts)


def path_of_cells(cells: Labels, tables: AlignmentTables) -> list[int]:
    """Start and moves of a derivation of `table_hypergraph`, whose cells go backwards."""
    rows, cols = int(tables.rows[0]), int(tables.cols[0])
    first = len(tables.match)
    moves: list[int] = []
    i = j = 0
    at = 0
    while at < len(cells):  # a match has one cell, a gap two
        cell = int(cells[at])
        if cell < first:
            r = int(np.searchsorted(tables.start, cell, side="right")) - 1
            i, j = r, int(tables.lo[r]) + cell - int(tables.start[r])
            move, at = MATCH, at + 1
        else:
            one, two = cell - first, int(cells[at + 1]) - first
            if one < 4 * (rows + 1):
                move, i, j = (
                    DELETE,
                    one % (rows + 1),
                    (two - 4 * (rows + 1)) % (cols + 1),
                )
            else:
                move, i, j = (
                    INSERT,
                    two % (rows + 1),
                    (one - 4 * (rows + 1)) % (cols + 1),
                )
            at += 2
        moves.append(move)
    return [i, j, *reversed(moves)]


def _hypergraph(
    lo: Ints, hi: Ints, start: Ints, row_cells: Ints, col_cells: Ints, mode: int
) -> Hypergraph:
    """Paths within columns lo:hi of each row; cells of gaps as in `AlignmentTables`."""
    rows, cols = row_cells.shape[1] - 1, col_cells.shape[1] - 1
    edges = empty_edges(12 * (rows + 1) * (cols + 1) + 3 * (rows + cols) + 8)
    ptr = np.zeros(3 * (rows + 1) * (cols + 1) + 2, np.int64)
    size = _fill(lo, hi, start, row_cells, col_cells, mode, ptr, *edges)
    return Hypergraph(ptr, edges[0][:size], edges[1][:size])


@loop
def _fill(lo, hi, start, row_cells, col_cells, mode, ptr, tails, cells):
    """Nodes (i, j, state), state 0: match, 1: delete, 2: insert, then the goal."""
    n, m = row_cells.shape[1] - 1, col_cells.shape[1] - 1
    e, v = 0, 0
    for i in range(n + 1):
        for j in range(m + 1):
            inside = _inside(i, j, lo, hi)
            if i > 0 and j > 0 and inside:
                cell = start[i - 1] + j - 1 - lo[i - 1]
                for state in range(3):
                    e = _edge(tails, cells, e, m, i - 1, j - 1, state, cell, -1)
                if mode == LOCAL or (mode == SEMIGLOBAL and (i == 1 or j == 1)):
                    cells[e, 0] = cell
                    e += 1
            elif i == 0 and j == 0 and mode == GLOBAL:
                e += 1
            v += 1
            ptr[v] = e
            if i > 0 and inside:
                opened, around = row_cells[0, i - 1], col_cells[2, j]
                e = _edge(tails, cells, e, m, i - 1, j, 0, opened, around)
                further, around = row_cells[1, i - 1], col_cells[3, j]
                e = _edge(tails, cells, e, m, i - 1, j, 1, further, around)
                if mode == SEMIGLOBAL and i == 1 and j > 0:
                    cells[e, 0], cells[e, 1] = opened, col_cells[2, j]
                    e += 1
            v += 1
            ptr[v] = e
            if j > 0 and inside:
                opened, around = col_cells[0, j - 1], row_cells[2, i]
                e = _edge(tails, cells, e, m, i, j - 1, 0, opened, around)
                e = _edge(tails, cells, e, m, i, j - 1, 1, opened, around)
                further, around = col_cells[1, j - 1], row_cells[3, i]
                e = _edge(tails, cells, e, m, i, j - 1, 2, further, around)
                if mode == SEMIGLOBAL and j == 1 and i > 0:
                    cells[e, 0], cells[e, 1] = opened, row_cells[2, i]
                    e += 1
            v += 1
            ptr[v] = e
    return _goal(n, m, mode, ptr, tails, e, v)


@inner_loop
def _inside(i, j, lo, hi):
    """Whether a path may be at (i, j)."""
    if i == 0:
        return j <= hi[0]
    if j == 0:
        return lo[i - 1] == 0
    return lo[i - 1] < j <= hi[i - 1]


@inner_loop
def _edge(tails, cells, e, m, i, j, state, one, two):
    tails[e, 0] = (i * (m + 1) + j) * 3 + state
    cells[e, 0], cells[e, 1] = one, two
    return e + 1


@inner_loop
def _goal(n, m, mode, ptr, tails, e, v):
    """The last corner; else nothing at all, a match, or a move that reaches a border."""
    if mode == GLOBAL:
        for state in range(3):
            tails[e, 0] = (n * (m + 1) + m) * 3 + state
            e += 1
    else:
        e += 1
        for q in range((n + 1) * (m + 1)):
            i, j = q // (m + 1), q % (m + 1)
            if mode == LOCAL and i > 0 and j > 0:
                tails[e, 0] = 3 * q
                e += 1
            elif mode == SEMIGLOBAL and (i == n or j == m):
                for state in range(3):
                    along = (state == 1 and j == m) or (state == 2 and i == n)
                    if not along:
                        tails[e, 0] = 3 * q + state
                        e += 1
    ptr[v + 1] = e
    return e
