"""The best path through a filled alignment table.

A path goes from cell (i, j) by moves MATCH (i + 1, j + 1), DELETE (i + 1, j) and
INSERT (i, j + 1); its value is the sum of match[i, j] over matches and, per run of
deletes or inserts, an opening score at the first and extension scores at the others:

    global       from (0, 0) to (rows, cols)
    semi-global  from border to border, never along one: what overhangs is free
    local        from a match to a match, anywhere; semi-global and local may be empty

An insert is never followed by a delete, so matches determine the path between them.
States M, E, F (last move: match, insert, delete) are exact for any scores, also where
reopening a gap would pay more than extending it [Gotoh 1982]. A row of the table is a
few passes without branches; the run of inserts along it, E[j] = max(open[j], E[j - 1] +
g[j]), is unrolled to distance 8 so that it vectorises. All values of a row are kept in
one array at fixed places, so nothing has to be checked for overlap; a table with more
columns than that is done in strips. A path is a row of integers: start row, start
column, moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.jit import inner_loop, loop

MATCH, DELETE, INSERT = 0, 1, 2
GLOBAL, SEMIGLOBAL, LOCAL = 0, 1, 2
MODES = {"global": GLOBAL, "semiglobal": SEMIGLOBAL, "local": LOCAL}

COLUMNS = 512  # of a strip
STRIDE = COLUMNS + 24
# Places of the first column: states, best before and without insert, inserts that open,
# their maximum over four columns; scores of an insert, of a delete by slot; sums of 1-4
# and 8 insert extensions that end at a column.
H, F, M, MF, E, EO, B, OPEN, SLOT_OPEN, SLOT_EXTEND, G1, G2, G3, G4, G8 = range(
    8, 15 * STRIDE, STRIDE
)


class AlignmentTables(NamedTuple):
    """Filled tables of a batch of pairs; row r of all rows has columns lo[r]:hi[r]."""

    rows: Ints  # (b,)
    cols: Ints  # (b,)
    lo: Ints  # (sum rows,)
    hi: Ints  # (sum rows,)
    start: Ints  # (sum rows + 1,) match[start[r] + j - lo[r]] is cell (r, j)
    match: Floats  # (cells,)
    row_gap: Floats  # (4, sum rows + 1) delete open, extend at i; insert .. in slot i
    col_gap: Floats  # (4, sum cols + 1) insert open, extend at j; delete .. in slot j


@loop
def band(rows, cols, width):
    """Columns (lo, hi) of each row within `width` of the diagonal, and row starts.

    Examples
    --------
    >>> lo, hi, start = band(np.array([3]), np.array([6]), 1)
    >>> lo.tolist(), hi.tolist(), start.tolist()
    ([0, 1, 3], [3, 5, 6], [0, 3, 7, 10])
    """
    total, r = rows.sum(), 0
    lo, hi = np.empty(total, np.int64), np.empty(total, np.int64)
    start = np.zeros(total + 1, np.int64)
    for b in range(len(rows)):
        m, n = rows[b], cols[b]
        for i in range(m):
            lo[r] = max(i * n // m - width, 0)
            hi[r] = min(((i + 1) * n + m - 1) // m + width, n)
            start[r + 1] = start[r] + hi[r] - lo[r]
            r += 1
    return lo, hi, start


def affine_paths(tables: AlignmentTables, mode: int) -> tuple[Ragged, Floats]:
    """Best path of each table, and its value.

    Examples
    --------
    >>> match = np.array([[2.0, -1.0, -1.0], [-1.0, -1.0, 2.0]])
    >>> gap = np.array([[-1.0], [-0.5], [0.0], [0.0]])
    >>> tables = AlignmentTables(
    ...     *(np.array([k]) for k in match.shape),
    ...     *band(np.array([2]), np.array([3]), 3), match.ravel(),
    ...     np.repeat(gap, 3, 1), np.repeat(gap, 4, 1))
    >>> paths, value = affine_paths(tables, GLOBAL)
    >>> paths.unpack(), value.tolist()
    ([[0, 0, 0, 2, 0]], [3.0])
    """
    return _paths(tables, mode, True)


def linear_paths(tables: AlignmentTables, mode: int) -> tuple[Ragged, Floats]:
    """As `affine_paths`, every gap position at its opening score: one state."""
    first = np.array([0, 0, 2, 2])
    row_gap, col_gap = tables.row_gap[first], tables.col_gap[first]
    return _paths(tables._replace(row_gap=row_gap, col_gap=col_gap), mode, False)


def _paths(tables: AlignmentTables, mode: int, affine: bool) -> tuple[Ragged, Floats]:
    ptr, data, score = best_paths(*tables, mode, affine)
    return Ragged(ptr, data), score


@loop
def best_paths(rows, cols, lo, hi, start, match, row_gap, col_gap, mode, affine):
    """Fill and trace back one table after the other; fields as in `AlignmentTables`."""
    ptr, score = np.zeros(len(rows) + 1, np.int64), np.empty(len(rows))
    moves, largest, longest = _room(rows, cols, start)
    out, trace = np.empty(moves, np.int32), np.empty(largest, np.uint8)
    V, left, end = _scratch(), np.empty((longest, 3)), np.empty(4)
    r, c = 0, 0
    for b in range(len(rows)):
        m, n = rows[b], cols[b]
        first, last, at = lo[r : r + m], hi[r : r + m], start[r : r + m + 1]
        rg, cg = row_gap[:, r + b : r + b + m + 1], col_gap[:, c : c + n + 1]
        _left_border(mode, first, rg, cg, left)
        corner = -np.inf if mode == LOCAL else 0.0
        end[0], end[1], end[2], end[3] = 0.0, 0.0, 0.0, MATCH
        for begin in range(0, n, COLUMNS):
            stop = min(n, begin + COLUMNS)
            even = _columns(cg, begin, stop, V)
            corner = _top(mode, corner, begin, stop, last[0], rg, V)
            for i in range(m):
                a, z = max(first[i], begin), min(last[i], stop)
                if a < z:
                    skip, W = a - first[i], V[a - begin :]
                    cells = match[at[i] + skip : at[i] + skip + z - a]
                    bits = trace[at[i] - at[0] + skip :]
                    if affine:
                        _affine_row(cells, rg, i, mode, even, left[i], W, bits)
                    else:
                        _linear_row(cells, rg, i, mode, even, left[i], W, bits)
                    _end(end, mode, i, m, n, a, z - a, W)
                elif last[i] <= begin:
                    V[H - 1] = left[i, 2] if last[i] == begin else -np.inf
        score[b] = end[0]
        k = ptr[b] + 2
        i, j, state = int(end[1]), int(end[2]), int(end[3])
        if i > 0:
            i, j, k = _trace_back(first, at, mode, affine, trace, i, j, state, out, k)
        out[ptr[b]], out[ptr[b] + 1] = i, j
        ptr[b + 1] = k
        r, c = r + m, c + n + 1
    return ptr, out[: ptr[-1]].copy(), score


@inner_loop
def _room(rows, cols, start):
    """Entries of all paths, cells of the largest table, rows of the longest."""
    r, moves, largest, longest = 0, 0, 0, 0
    for b in range(len(rows)):
        moves += rows[b] + cols[b] + 2
        largest = max(largest, start[r + rows[b]] - start[r])
        longest = max(longest, rows[b])
        r += rows[b]
    return moves, largest, longest


@inner_loop
def _scratch():
    """Values of a row, on a cache line."""
    flat = np.empty(15 * STRIDE + 8)
    skip = (64 - flat.ctypes.data % 64) % 64 // 8
    return flat[skip:]


@inner_loop
def _left_border(mode, first, rg, cg, left):
    """MF, E and H of each row before its first column."""
    value = 0.0
    for i in range(len(first)):
        if mode == GLOBAL:
            k = 0 if i == 0 else 1
            value += rg[k, i] + cg[2 + k, 0]
        left[i, 0] = left[i, 2] = value if first[i] == 0 and mode != LOCAL else -np.inf
        left[i, 1] = -np.inf


@inner_loop
def _columns(gap, begin, stop, V):
    """Gap scores by column, aligned as the values; whether extensions are all equal."""
    s = np.zeros(9)
    even = True
    for j in range(stop - begin):
        g = gap[1, begin + j]
        V[j + OPEN] = gap[0, begin + j]
        V[j + SLOT_OPEN] = gap[2, begin + j + 1]
        V[j + SLOT_EXTEND] = gap[3, begin + j + 1]
        even &= g == gap[1, begin]
        for k in range(8, 0, -1):
            s[k] = s[k - 1] + g
        V[j + G1], V[j + G2], V[j + G3], V[j + G4] = s[1], s[2], s[3], s[4]
        V[j + G8] = s[8]
    return even


@inner_loop
def _top(mode, corner, begin, stop, reach, rg, V):
    """Values on the upper border up to column `reach`; deletes may start there."""
    for k in range(OPEN):
        V[k] = -np.inf
    if begin <= reach:
        V[H - 1] = corner
    for j in range(min(stop, reach) - begin):
        if mode == SEMIGLOBAL:
            V[j + M] = V[j + MF] = 0.0
        elif mode == GLOBAL:
            step = V[j + OPEN] + rg[2, 0] if begin + j == 0 else V[j + G1] + rg[3, 0]
            corner += step
        V[j + H] = corner
    return corner


@inner_loop
def _end(end, mode, i, m, n, a, k, V):
    """Replace `end` by a better one in k columns of row i: value, cell, last move."""
    if mode == LOCAL:
        V[B] = end[0]
        order = V.view(np.int64)  # that of the values, if positive
        top = np.int64(0)
        for j in range(k):
            top = max(top, order[j + M])
        if top > 0 and top >= order[B]:
            j = 0
            while order[j + M] != top:
                j += 1
            keep_better(end, V[M + j], i + 1, a + j + 1, MATCH)
    elif mode == SEMIGLOBAL and i < m - 1:
        if a + k == n:
            v = max(V[M + k - 1], V[E + k - 1])
            move = INSERT if v > V[M + k - 1] else MATCH
            keep_better(end, v, i + 1, n, move)
    elif mode == SEMIGLOBAL:
        for j in range(k):
            v = V[j + (MF if a + j + 1 < n else M)]
            move = DELETE if v > V[M + j] else MATCH
            keep_better(end, v, m, a + j + 1, move)
    elif i == m - 1 and a + k == n:
        v, mf = V[H + k - 1], V[MF + k - 1]
        end[3] = INSERT if v > mf else DELETE if v > V[M + k - 1] else MATCH
        end[0], end[1], end[2] = v, m, n


@inner_loop
def keep_better(end, value, i, j, move):
    """The higher of two ends; of equals the one in the upper row."""
    if value > end[0] or (value == end[0] and i < end[1]):
        end[0], end[1], end[2], end[3] = value, i, j, move


@inner_loop
def _affine_row(match, rg, i, mode, even, left, V, trace):
    """States of the columns of row i in a strip; `left` those of the column before.

    Bits 1: F > M, 2: E > M and F, 4: F extends, 8: E extends, 16: M starts a path.
    """
    n, fresh = len(match), 0.0 if mode == LOCAL else -np.inf
    opening, extend, s = rg[0, i], rg[1, i], rg[2, i + 1]
    for j in range(n):
        h = V[j + (H - 1)]
        m = max(h, fresh) + match[j]
        fo = V[j + M] + (opening + V[j + SLOT_OPEN])
        fe = V[j + F] + (extend + V[j + SLOT_EXTEND])
        f = max(fo, fe)
        mf = max(m, f)
        V[j + M] = m
        V[j + F] = f
        V[j + MF] = mf
        V[j + (EO + 1)] = mf + (V[j + (OPEN + 1)] + s)
        bits = np.uint8(f > m) | (np.uint8(fe > fo) << 2)
        trace[j] = bits | (np.uint8(h < fresh) << 4)
    for j in range(8):
        V[j + (E - 8)] = V[j + (EO - 8)] = V[j + (B - 8)] = -np.inf
    eo, ee = left[0] + (V[OPEN] + s), left[1] + (V[G1] + rg[3, i + 1])
    V[EO] = max(eo, ee)
    s = rg[3, i + 1]
    _four(n, even, s, V)
    s4, s8 = 4.0 * s, 8.0 * s
    for j in range(n):
        near = max(V[j + B], V[j + (B - 4)] + (V[j + G4] + s4))
        e, mf = max(near, V[j + (E - 8)] + (V[j + G8] + s8)), V[j + MF]
        V[j + E] = e
        V[j + H] = max(mf, e)
        trace[j] |= (np.uint8(e > mf) << 1) | (np.uint8(e > V[j + EO]) << 3)
    trace[0] |= np.uint8(ee > eo) << 3
    V[H - 1] = left[2]
    left[0], left[1], left[2] = V[MF + n - 1], V[E + n - 1], V[H + n - 1]


@inner_loop
def _linear_row(match, rg, i, mode, even, left, V, trace):
    """As `_affine_row` without a state for extensions; bits 1, 2 and 16."""
    n, fresh = len(match), 0.0 if mode == LOCAL else -np.inf
    opening = rg[0, i]
    for j in range(n):
        h = V[j + (H - 1)]
        m = max(h, fresh) + match[j]
        f = V[j + MF] + (opening + V[j + SLOT_OPEN])
        mf = max(m, f)
        V[j + M] = m
        V[j + MF] = mf
        V[j + EO] = mf
        trace[j] = np.uint8(f > m) | (np.uint8(h < fresh) << 4)
    for j in range(8):
        V[j + (E - 8)] = V[j + (EO - 8)] = V[j + (B - 8)] = -np.inf
    V[E - 1] = V[EO - 1] = V[B - 1] = left[2]
    s = rg[3, i + 1]
    _four(n, even, s, V)
    s4, s8 = 4.0 * s, 8.0 * s
    for j in range(n):
        near = max(V[j + B], V[j + (B - 4)] + (V[j + G4] + s4))
        e = max(near, V[j + (E - 8)] + (V[j + G8] + s8))
        V[j + E] = e
        V[j + H] = e
        trace[j] |= np.uint8(e > V[j + EO]) << 1
    V[H - 1] = left[2]
    left[2] = V[H + n - 1]
    V[E + n - 1] = V[H + n - 2] + (V[OPEN + n - 1] + rg[2, i + 1])


@inner_loop
def _four(n, even, s, V):
    """B[j]: best of EO[j - k] and k extensions up to column j, k = 0 to 3."""
    s2, s3 = 2.0 * s, 3.0 * s
    if even:
        e, e2, e3 = V[G1] + s, 2.0 * (V[G1] + s), 3.0 * (V[G1] + s)
        for j in range(n):
            near = max(V[j + EO], V[j + (EO - 1)] + e)
            far = max(V[j + (EO - 2)] + e2, V[j + (EO - 3)] + e3)
            V[j + B] = max(near, far)
    else:
        for j in range(n):
            near = max(V[j + EO], V[j + (EO - 1)] + (V[j + G1] + s))
            far = V[j + (EO - 2)] + (V[j + G2] + s2)
            far = max(far, V[j + (EO - 3)] + (V[j + G3] + s3))
            V[j + B] = max(near, far)


@inner_loop
def _trace_back(lo, start, mode, affine, trace, i, j, state, out, k):
    """Moves of the path that ends in cell (i, j) with `state`, from out[k] on."""
    first = k
    while i > 0 and j > 0:
        bits = trace[start[i - 1] - start[0] + j - 1 - lo[i - 1]]
        out[k] = state
        k += 1
        if state != INSERT:
            i -= 1
        if state != DELETE:
            j -= 1
        if i == 0 or j == 0 or (state == MATCH and bits & 16):
            break
        before = trace[start[i - 1] - start[0] + j - 1 - lo[i - 1]]
        if affine and state == DELETE:
            state = DELETE if bits & 4 else MATCH
        elif affine and state == INSERT and bits & 8:
            continue
        elif state == MATCH or (not affine and state == INSERT):
            state = INSERT if before & 2 else DELETE if before & 1 else MATCH
        else:
            state = DELETE if before & 1 else MATCH
    if mode == GLOBAL:
        for step in range(i + j):
            out[k + step] = DELETE if step < i else INSERT
        k, i, j = k + i + j, 0, 0
    for step in range((k - first) // 2):
        other = k - 1 - step
        out[first + step], out[other] = out[other], out[first + step]
    return i, j, k
