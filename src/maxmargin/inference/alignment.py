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
few passes without branches over aligned scratch rows; the run of inserts along it,
E[j] = max(open[j], E[j - 1] + g[j]), is unrolled to distance 8 so that it vectorises.
A path is a row of integers: start row, start column, moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints, Ragged, pointers
from maxmargin.jit import loop

MATCH, DELETE, INSERT = 0, 1, 2
GLOBAL, SEMIGLOBAL, LOCAL = 0, 1, 2
MODES = {"global": GLOBAL, "semiglobal": SEMIGLOBAL, "local": LOCAL}


class Tables(NamedTuple):
    """Filled tables of a batch of pairs; row r of all rows has columns lo[r]:hi[r]."""

    rows: Ints  # (b,)
    cols: Ints  # (b,)
    lo: Ints  # (sum rows,)
    hi: Ints  # (sum rows,)
    start: Ints  # (sum rows + 1,) match[start[r] + j - lo[r]] is cell (r, j)
    match: Floats  # (cells,)
    row_gap: Floats  # (4, sum rows + 1) delete open, extend at i; insert .. in slot i
    col_gap: Floats  # (4, sum cols + 1) insert open, extend at j; delete .. in slot j


def band(rows: Ints, cols: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """Columns (lo, hi) of each row within `width` of the diagonal, and row starts.

    Examples
    --------
    >>> lo, hi, start = band(np.array([3]), np.array([6]), 1)
    >>> lo.tolist(), hi.tolist(), start.tolist()
    ([0, 1, 3], [3, 5, 6], [0, 3, 7, 10])
    """
    which = np.repeat(np.arange(len(rows)), rows)
    i = np.arange(len(which)) - np.repeat(pointers(rows)[:-1], rows)
    m, n = rows[which], cols[which]
    lo = np.maximum(i * n // m - width, 0)
    hi = np.minimum(((i + 1) * n + m - 1) // m + width, n)
    return lo, hi, pointers(hi - lo)


def affine_paths(tables: Tables, mode: int) -> tuple[Ragged, Floats]:
    """Best path of each table, and its value.

    Examples
    --------
    >>> match = np.array([[2.0, -1.0, -1.0], [-1.0, -1.0, 2.0]])
    >>> gap = np.array([[-1.0], [-0.5], [0.0], [0.0]])
    >>> tables = Tables(
    ...     *(np.array([k]) for k in match.shape),
    ...     *band(np.array([2]), np.array([3]), 3), match.ravel(),
    ...     np.repeat(gap, 3, 1), np.repeat(gap, 4, 1))
    >>> paths, value = affine_paths(tables, GLOBAL)
    >>> paths.unpack(), value.tolist()
    ([[0, 0, 0, 2, 0]], [3.0])
    """
    return _paths(tables, mode, True)


def linear_paths(tables: Tables, mode: int) -> tuple[Ragged, Floats]:
    """As `affine_paths`, every gap position at its opening score: one state."""
    first = np.array([0, 0, 2, 2])
    row_gap, col_gap = tables.row_gap[first], tables.col_gap[first]
    return _paths(tables._replace(row_gap=row_gap, col_gap=col_gap), mode, False)


def _paths(tables: Tables, mode: int, affine: bool) -> tuple[Ragged, Floats]:
    ptr, data, score = _batch(*tables, mode, affine)
    return Ragged(ptr, data), score


@loop
def _batch(rows, cols, lo, hi, start, match, row_gap, col_gap, mode, affine):
    """Fill and trace back one table after the other."""
    ptr, score = np.zeros(len(rows) + 1, np.int64), np.empty(len(rows))
    out = np.empty(rows.sum() + cols.sum() + 2 * len(rows), np.int32)
    trace = np.empty(_largest(rows, start), np.uint8)
    V = _scratch(16, cols.max())
    r, c = 0, 0
    for b in range(len(rows)):
        m, n = rows[b], cols[b]
        first, last, at = lo[r : r + m], hi[r : r + m], start[r : r + m + 1]
        _columns(col_gap, c, n, V)
        _top(mode, hi[r], row_gap[2, r + b], row_gap[3, r + b], V)
        end = (0.0, 0, 0, MATCH)
        left = 0.0
        for i in range(m):
            s = r + b + i
            bits = trace[at[i] - at[0] : at[i + 1] - at[0]]
            cells = match[at[i] : at[i + 1]]
            if mode == GLOBAL:
                k = 0 if i == 0 else 1
                left += row_gap[k, s] + V[14 + k, 7]
            border = left if first[i] == 0 and mode != LOCAL else -np.inf
            if affine:
                _affine_row(cells, first[i], row_gap, s, mode, border, V, bits)
            else:
                _linear_row(cells, first[i], row_gap, s, mode, border, V, bits)
            end = _end(end, mode, i, m, n, first[i], last[i], V)
        score[b] = end[0]
        k = ptr[b] + 2
        i, j = end[1], end[2]
        if i > 0:
            i, j, k = _trace_back(first, at, mode, affine, trace, i, j, end[3], out, k)
        out[ptr[b]], out[ptr[b] + 1] = i, j
        ptr[b + 1] = k
        r, c = r + m, c + n + 1
    return ptr, out[: ptr[-1]].copy(), score


@loop
def _largest(rows, start):
    """Cells of the largest table."""
    r, most = 0, 0
    for m in rows:
        most = max(most, start[r + m] - start[r])
        r += m
    return most


@loop
def _scratch(k, n):
    """Rows that start on a cache line; grid column c is at c + 7."""
    width = (n + 23) // 8 * 8
    flat = np.empty(k * width + 8)
    skip = (64 - flat.ctypes.data % 64) % 64 // 8
    return flat[skip : skip + k * width].reshape(k, width)


@loop
def _columns(gap, c, n, V):
    """Gap scores by column, aligned as the values; insert extensions also summed.

    Rows 8-11, 12: sums of 1-4 and 8 extensions that end at the column; 13: insert
    opening; 14, 15: delete opening and extension by slot.
    """
    s = np.zeros(9)
    for j in range(n + 1):
        V[14, j + 7] = gap[2, c + j]
        V[15, j + 7] = gap[3, c + j]
        if j < n:
            V[13, j + 8] = gap[0, c + j]
            for k in range(8, 0, -1):
                s[k] = s[k - 1] + gap[1, c + j]
            for k in range(4):
                V[8 + k, j + 8] = s[k + 1]
            V[12, j + 8] = s[8]


@loop
def _top(mode, reach, opening, extend, V):
    """Values on the upper border, columns 0 to `reach`; deletes may start there."""
    for k in range(8):
        for j in range(V.shape[1]):
            V[k, j] = -np.inf
    if mode != LOCAL:
        V[0, 7] = 0.0
        for j in range(8, reach + 8):
            if mode == SEMIGLOBAL:
                V[0, j] = V[2, j] = V[3, j] = 0.0
            else:
                step = V[13, 8] + opening if j == 8 else V[8, j] + extend
                V[0, j] = V[0, j - 1] + step


@loop
def _end(end, mode, i, m, n, a, b, V):
    """Better of `end` and the ends in row i: value, cell and last move."""
    best = end
    if mode == LOCAL:
        top = _peak(b - a, V[2, a:], V[7, a:])
        if top > best[0]:
            j = a + 8
            while V[2, j] != top:
                j += 1
            best = (top, i + 1, j - 7, MATCH)
    elif mode == SEMIGLOBAL and i < m - 1:
        v = max(V[2, n + 7], V[4, n + 7])
        if b == n and v > best[0]:
            best = (v, i + 1, n, INSERT if v > V[2, n + 7] else MATCH)
    elif mode == SEMIGLOBAL:
        for j in range(a + 1, b + 1):
            v = V[3 if j < n else 2, j + 7]
            if v > best[0]:
                best = (v, m, j, DELETE if v > V[2, j + 7] else MATCH)
    elif i == m - 1:
        v, mf = V[0, n + 7], V[3, n + 7]
        best = (v, m, n, INSERT if v > mf else DELETE if v > V[2, n + 7] else MATCH)
    return best


@loop
def _affine_row(match, a, rg, i, mode, border, V, trace):
    """States of row i; column a + k is at 7 + k of the slices.

    Bits 1: F > M, 2: E > M and F, 4: F extends, 8: E extends, 16: M starts a path.
    """
    H, F, M, MF = V[0, a:], V[1, a:], V[2, a:], V[3, a:]
    E, EO, B = V[4, a:], V[5, a:], V[6, a:]
    gap, slot_open, slot_extend = V[13, a:], V[14, a:], V[15, a:]
    fresh = 0.0 if mode == LOCAL else -np.inf
    opening, extend = rg[0, i], rg[1, i]
    for j in range(len(match)):
        h = H[j + 7]
        m = max(h, fresh) + match[j]
        fo = M[j + 8] + (opening + slot_open[j + 8])
        fe = F[j + 8] + (extend + slot_extend[j + 8])
        f = max(fo, fe)
        M[j + 8] = m
        F[j + 8] = f
        MF[j + 8] = max(m, f)
        bits = np.uint8(f > m) | (np.uint8(fe > fo) << 2)
        trace[j] = bits | (np.uint8(h < fresh) << 4)
    for j in range(8):
        E[j] = -np.inf
        EO[j] = -np.inf
        B[j] = -np.inf
    MF[7] = border
    s = rg[2, i + 1]
    for j in range(len(match)):
        EO[j + 8] = MF[j + 7] + (gap[j + 8] + s)
    _run(len(match), a, EO, V, rg[3, i + 1], B, E)
    for j in range(len(match)):
        mf, e = MF[j + 8], E[j + 8]
        H[j + 8] = max(mf, e)
        trace[j] |= (np.uint8(e > mf) << 1) | (np.uint8(e > EO[j + 8]) << 3)
    H[7] = border


@loop
def _linear_row(match, a, rg, i, mode, border, V, trace):
    """As `_affine_row` without a state for extensions; bits 1, 2 and 16."""
    H, M, MF, B = V[0, a:], V[2, a:], V[3, a:], V[6, a:]
    E, gap, slot = V[4, a:], V[13, a:], V[14, a:]
    fresh = 0.0 if mode == LOCAL else -np.inf
    opening = rg[0, i]
    for j in range(len(match)):
        h = H[j + 7]
        m = max(h, fresh) + match[j]
        f = MF[j + 8] + (opening + slot[j + 8])
        M[j + 8] = m
        MF[j + 8] = max(m, f)
        trace[j] = np.uint8(f > m) | (np.uint8(h < fresh) << 4)
    for j in range(8):
        v = border if j == 7 else -np.inf
        H[j] = v
        MF[j] = v
        B[j] = v
    _run(len(match), a, MF, V, rg[3, i + 1], B, H)
    for j in range(len(match)):
        trace[j] |= np.uint8(H[j + 8] > MF[j + 8]) << 1
    k = len(match)
    E[k + 7] = H[k + 6] + (gap[k + 7] + rg[2, i + 1])


@loop
def _run(n, a, EO, V, s, B, E):
    """E[j] = max(EO[j], E[j - 1] + g[j] + s) along a row; entry 8 is the first."""
    g1, g2, g3, g4, g8 = V[8, a:], V[9, a:], V[10, a:], V[11, a:], V[12, a:]
    s2, s3, s4, s8 = 2.0 * s, 3.0 * s, 4.0 * s, 8.0 * s
    for j in range(n):
        near = max(EO[j + 8], EO[j + 7] + (g1[j + 8] + s))
        far = max(EO[j + 6] + (g2[j + 8] + s2), EO[j + 5] + (g3[j + 8] + s3))
        B[j + 8] = max(near, far)
    for j in range(n):
        near = max(B[j + 8], B[j + 4] + (g4[j + 8] + s4))
        E[j + 8] = max(near, E[j] + (g8[j + 8] + s8))


@loop
def _peak(n, M, R):
    """Largest of n entries of M from 8 on, in eight lanes."""
    for j in range(8):
        R[j] = -np.inf
    for j in range(n):
        R[j + 8] = max(R[j], M[j + 8])
    top = -np.inf
    for j in range(n, n + 8):
        top = max(top, R[j])
    return top


@loop
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
