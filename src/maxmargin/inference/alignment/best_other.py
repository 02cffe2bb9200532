"""The best path through an alignment table other than a given one.

Whatever path differs from the given one either ends in another cell, or joins it for
the last time in some cell by another move (or starts there) and follows it to its end:

    max over cells c of the given path, moves v into c that it does not make there,
        of  value of the best path into c by v  +  value of the rest of the given path

so one table of values and one walk along the given path find it. Values are kept for
all cells and states; paths, modes and scores are those of `inference.alignment`.
This is what the zero-one loss asks for.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
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


def other_paths(
    tables: AlignmentTables, given: Ragged, mode: int
) -> tuple[Ragged, Floats]:
    """Best path of each table that is not the given one; value -inf: none exists.

    Examples
    --------
    >>> from maxmargin.inference.alignment.best_path import band
    >>> one, gap = np.array([1]), np.full((4, 2), -1.0)
    >>> tables = AlignmentTables(one, one, *band(one, one, 1), np.array([5.0]), gap, gap)
    >>> paths, value = other_paths(tables, Ragged.pack([[0, 0, 0]]), GLOBAL)
    >>> sorted(paths.row(0).tolist()), value.tolist()
    ([0, 0, 1, 2], [-4.0])
    """
    ptr, data, score = _batch(*tables, *given, mode)
    return Ragged(ptr, data), score


@loop
def _batch(rows, cols, lo, hi, start, match, row_gap, col_gap, ptr, data, mode):
    out_ptr, score = np.zeros(len(rows) + 1, np.int64), np.empty(len(rows))
    out = np.empty(2 * (rows.sum() + cols.sum()) + 2 * len(rows), np.int32)
    r, c = 0, 0
    for b in range(len(rows)):
        m, n = rows[b], cols[b]
        values = _values(m, n, lo, hi, start, match, row_gap, col_gap, r, c, b, mode)
        given = data[ptr[b] : ptr[b + 1]]
        best = _other_end(values, given, m, n, mode)
        best = _joins(best, values, given, m, n, match, lo, start, row_gap, col_gap,
                      r, c, b, mode)  # fmt: skip
        score[b] = best[0]
        out_ptr[b + 1] = _write(best, values, given, row_gap, col_gap, r, c, b, mode,
                                out, out_ptr[b])  # fmt: skip
        r, c = r + m, c + n + 1
    return out_ptr, out[: out_ptr[-1]].copy(), score


@inner_loop
def _gap(row_gap, col_gap, i, j, move, again):
    """Score of a gap move from cell (i, j); rows and columns already offset."""
    k = 1 if again else 0
    if move == DELETE:
        return row_gap[k, i] + col_gap[2 + k, j]
    return col_gap[k, j] + row_gap[2 + k, i]


@inner_loop
def _values(m, n, lo, hi, start, match, row_gap, col_gap, r, c, b, mode):
    """values[move, i, j] of the best path into cell (i, j) whose last move it is."""
    V = np.full((3, m + 1, n + 1), -np.inf)
    s = r + b
    if mode == GLOBAL:
        V[MATCH, 0, 0] = 0.0
    for i in range(m + 1):
        a = 0 if i == 0 else lo[r + i - 1]
        z = hi[r] if i == 0 else hi[r + i - 1]
        for j in range(a, z + 1):
            if mode == SEMIGLOBAL and (i == 0 or j == 0):
                V[MATCH, i, j] = 0.0
                continue
            if mode == LOCAL and (i == 0 or j == 0):
                continue
            if i > 0 and j > a:
                before = max(V[0, i - 1, j - 1], V[1, i - 1, j - 1], V[2, i - 1, j - 1])
                if mode == LOCAL:
                    before = max(before, 0.0)
                V[0, i, j] = before + match[start[r + i - 1] + j - 1 - lo[r + i - 1]]
            if i > 0 and (j > a or (j == 0 and a == 0)):
                V[DELETE, i, j] = max(
                    V[MATCH, i - 1, j]
                    + _gap(row_gap, col_gap, s + i - 1, c + j, DELETE, False),
                    V[DELETE, i - 1, j]
                    + _gap(row_gap, col_gap, s + i - 1, c + j, DELETE, True),
                )
            if j > a:
                first = max(V[MATCH, i, j - 1], V[DELETE, i, j - 1])
                V[INSERT, i, j] = max(
                    first + _gap(row_gap, col_gap, s + i, c + j - 1, INSERT, False),
                    V[INSERT, i, j - 1]
                    + _gap(row_gap, col_gap, s + i, c + j - 1, INSERT, True),
                )
    return V


@inner_loop
def _may_end(i, j, move, m, n, mode):
    if mode == GLOBAL:
        return i == m and j == n
    if i == 0 or j == 0:
        return False
    if mode == LOCAL:
        return move == MATCH
    if move == MATCH:
        return i == m or j == n
    if move == DELETE:
        return i == m and j < n
    return j == n and i < m


@inner_loop
def _last_cell(given):
    i, j = given[0], given[1]
    for move in given[2:]:
        i += move != INSERT
        j += move != DELETE
    return i, j


@inner_loop
def _other_end(values, given, m, n, mode):
    """Best path that ends elsewhere: value, cell, move, moves of the given one left."""
    stop_i, stop_j = _last_cell(given)
    empty = len(given) == 2 and mode != GLOBAL
    best = (-np.inf, 0, 0, MATCH, 0)
    if not empty and mode != GLOBAL:
        best = (0.0, 0, 0, MATCH, 0)
    for i in range(m + 1):
        for j in range(n + 1):
            if empty or i != stop_i or j != stop_j:
                for move in range(3):
                    v = values[move, i, j]
                    if v > best[0] and _may_end(i, j, move, m, n, mode):
                        best = (v, i, j, move, 0)
    return best


@inner_loop
def _joins(
    best, values, given, m, n, match, lo, start, row_gap, col_gap, r, c, b, mode
):
    """Best path that joins the given one, from its last cell to its first."""
    i, j = _last_cell(given)
    rest, later = 0.0, -1  # value of the moves after the next one; the next move
    for k in range(len(given) - 1, 1, -1):
        move = given[k]
        for v in range(4):  # 3: a path that starts here
            into = 0.0
            if v < 3:
                into = values[v, i, j]
            if v == move or (v == 3 and (mode != LOCAL or later != MATCH)):
                continue
            if v == INSERT and later == DELETE:
                continue
            if later < 0 and not _may_end(i, j, v, m, n, mode):
                continue
            total = into + rest
            if later > 0:
                total += _gap(row_gap, col_gap, r + b + i, c + j, later, v == later)
            elif later == 0:
                total += match[start[r + i] + j - lo[r + i]]
            if total > best[0]:
                best = (total, i, j, v, len(given) - 1 - k)
        if later > 0:
            rest += _gap(row_gap, col_gap, r + b + i, c + j, later, move == later)
        elif later == 0:
            rest += match[start[r + i] + j - lo[r + i]]
        i -= move != INSERT
        j -= move != DELETE
        later = move
    if mode == LOCAL and len(given) > 2:
        for v in range(3):
            total = values[v, i, j] + rest + match[start[r + i] + j - lo[r + i]]
            if total > best[0]:
                best = (total, i, j, v, len(given) - 2)
    return best


@inner_loop
def _write(best, values, given, row_gap, col_gap, r, c, b, mode, out, k):
    """Trace the path back from where it ends or joins; then the given moves."""
    value, i, j, move, left = best
    first = k + 2
    k = first
    while value > -np.inf and move < 3 and (move != MATCH or (i > 0 and j > 0)):
        out[k] = move
        k += 1
        if move == MATCH:
            i, j = i - 1, j - 1
            into = max(values[0, i, j], values[1, i, j], values[2, i, j])
            if mode == LOCAL and into < 0.0:
                break
            move = MATCH
            for v in range(3):
                if values[v, i, j] == into:
                    move = v
        else:
            here = values[move, i, j]
            i -= move == DELETE
            j -= move == INSERT
            again = values[move, i, j] + _gap(
                row_gap, col_gap, r + b + i, c + j, move, True
            )
            if here != again:
                deleted = move == INSERT and values[DELETE, i, j] > values[MATCH, i, j]
                move = DELETE if deleted else MATCH
    out[first - 2], out[first - 1] = i, j
    for step in range((k - first) // 2):
        other = k - 1 - step
        out[first + step], out[other] = out[other], out[first + step]
    for move in given[len(given) - left :]:
        out[k] = move
        k += 1
    return k
