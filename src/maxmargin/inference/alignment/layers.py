"""The best path through an alignment table for each number of counted matches.

Some matches (i, j) count. With c the number of counted matches on the way into a cell,

    M[i + 1, j + 1, c] = match[i, j] + best[i, j, c - counts(i, j)],

and likewise for gaps, whose layers are those of the cell they come from. The layers of
a cell lie side by side, so all inner loops vectorise. Memory is a byte per cell and
layer. Paths, modes and scores are those of `inference.alignment`. With the matches of a
reference alignment counted this is slack rescaling for the losses Q and Q4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints, Ragged
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


class CountedPaths(NamedTuple):
    """Paths of table b are those from ptr[b] to ptr[b + 1], by number counted."""

    ptr: Ints  # (b + 1,)
    paths: Ragged
    score: Floats
    hits: Ints


def paths_by_count(
    tables: AlignmentTables, counts: NDArray[np.uint8], layers: Ints, mode: int
) -> CountedPaths:
    """Best path of each table for each attainable count.

    Parameters
    ----------
    tables : AlignmentTables
    counts : array of uint8 (cells,)
        1 where a match counts.
    layers : array (b,)
        Paths with this count or more are left out.
    mode : int

    Examples
    --------
    >>> from maxmargin.inference.alignment.best_path import band
    >>> one, gap = np.array([1]), np.full((4, 2), -1.0)
    >>> tables = AlignmentTables(one, one, *band(one, one, 1), np.array([5.0]), gap, gap)
    >>> found = paths_by_count(tables, np.ones(1, np.uint8), np.array([2]), GLOBAL)
    >>> found.hits.tolist(), found.score.tolist()
    ([0, 1], [-4.0, 5.0])
    """
    room = int((layers * (tables.rows + tables.cols + 2)).sum())
    ptr = np.zeros(len(layers) + 1, np.int64)
    total = int(layers.sum())
    path_ptr = np.zeros(total + 1, np.int64)
    score, count = np.empty(total), np.empty(total, np.int64)
    data = np.empty(room, np.int32)
    _batch(*tables, counts, layers, mode, ptr, path_ptr, data, score, count)
    k = ptr[-1]
    paths = Ragged(path_ptr[: k + 1].copy(), data[: path_ptr[k]].copy())
    return CountedPaths(ptr, paths, score[:k].copy(), count[:k].copy())


@loop
def _batch(
    rows, cols, lo, hi, start, match, row_gap, col_gap, counts, layers, mode,
    ptr, path_ptr, data, score, count,
):  # fmt: skip
    r, c, done = 0, 0, 0
    for b in range(len(rows)):
        m, n, k = rows[b], cols[b], layers[b]
        rg, cg = row_gap[:, r + b : r + b + m + 1], col_gap[:, c : c + n + 1]
        first, last, at = lo[r : r + m], hi[r : r + m], start[r : r + m + 1]
        trace = np.empty((at[m] - at[0], k), np.uint8)
        value, end = _fill(first, last, at, match, counts, rg, cg, k, mode, trace)
        for layer in range(k):
            if value[layer] > -np.inf:
                score[done], count[done] = value[layer], layer
                path_ptr[done + 1] = _trace_back(
                    first, at, counts, mode, trace, end[layer], layer, data,
                    path_ptr[done],
                )  # fmt: skip
                done += 1
        ptr[b + 1] = done
        r, c = r + m, c + n + 1


@inner_loop
def _fill(lo, hi, start, match, counts, rg, cg, k, mode, trace):
    """Trace of one table; per layer the best value, and its cell and last move."""
    m, n = len(lo), cg.shape[1] - 1
    H = np.full((n + 1, k), -np.inf)
    F, M, MF, E = H.copy(), H.copy(), H.copy(), H.copy()
    above = np.empty(k)  # state M of the cell above, before it is overwritten
    value, end = np.full(k, -np.inf), np.zeros((k, 3), np.int64)
    if mode != LOCAL:
        H[0, 0] = 0.0
        for j in range(hi[0]):
            step = cg[min(j, 1), j] + rg[2 + min(j, 1), 0] if mode == GLOBAL else 0.0
            H[j + 1, 0] = H[j, 0] + step
            if mode == SEMIGLOBAL:
                M[j + 1, 0] = 0.0
    if mode != GLOBAL:
        value[0] = 0.0
    left = 0.0
    diagonal = np.empty(k)
    for i in range(m):
        a = lo[i]
        if mode == GLOBAL:
            left += rg[min(i, 1), i] + cg[2 + min(i, 1), 0]
        diagonal[:] = H[a]
        H[a] = MF[a] = E[a] = -np.inf
        if a == 0 and mode != LOCAL:
            H[0, 0] = MF[0, 0] = left
        for j in range(a, hi[i]):
            cell = start[i] + j - a
            bits, shift = trace[cell - start[0]], counts[cell]
            above[:] = M[j + 1]
            _match(diagonal, match[cell], shift, mode, M[j + 1], bits)
            diagonal[:] = H[j + 1]
            _gaps(
                M[j + 1], F[j + 1], above, MF[j], E[j], rg[0, i] + cg[2, j + 1],
                rg[1, i] + cg[3, j + 1], cg[0, j] + rg[2, i + 1],
                cg[1, j] + rg[3, i + 1], H[j + 1], MF[j + 1], E[j + 1], bits,
            )  # fmt: skip
            _ends(i + 1, j + 1, m, n, mode, M[j + 1], F[j + 1], E[j + 1], value, end)
    return value, end


@inner_loop
def _match(before, score, shift, mode, M, bits):
    """State M of a cell from the best of the cell before; bit 16: a path starts."""
    if shift > 0:
        M[0] = -np.inf
        bits[0] = 0
    for c in range(shift, len(M)):
        M[c] = before[c - shift] + score
        bits[c] = 0
    if mode == LOCAL and shift < len(M) and not before[0] > 0.0:
        M[shift] = score
        bits[shift] = 16


@inner_loop
def _gaps(
    M, F, above, MF_left, E_left, delete, delete_on, insert, insert_on, H, MF, E, bits
):
    """States F and E of a cell, and what its neighbours see of it."""
    for c in range(len(M)):
        m = M[c]
        fo, fe = above[c] + delete, F[c] + delete_on
        f = max(fo, fe)
        eo, ee = MF_left[c] + insert, E_left[c] + insert_on
        e = max(eo, ee)
        mf = max(m, f)
        F[c] = f
        E[c] = e
        MF[c] = mf
        H[c] = max(mf, e)
        bits[c] |= (
            np.uint8(f > m) | (np.uint8(e > mf) << 1)
            | (np.uint8(fe > fo) << 2) | (np.uint8(ee > eo) << 3)
        )  # fmt: skip


@inner_loop
def _ends(i, j, m, n, mode, M, F, E, value, end):
    """Take cell (i, j) as an end where the mode allows it."""
    corner = i == m and j == n
    for state in range(3):
        if mode == GLOBAL:
            may = corner
        elif state == MATCH:
            may = mode == LOCAL or i == m or j == n
        elif state == DELETE:
            may = mode == SEMIGLOBAL and i == m and j < n
        else:
            may = mode == SEMIGLOBAL and j == n and i < m
        if may:
            V = M if state == MATCH else F if state == DELETE else E
            for c in range(len(V)):
                if V[c] > value[c]:
                    value[c] = V[c]
                    end[c, 0], end[c, 1], end[c, 2] = i, j, state


@inner_loop
def _trace_back(lo, start, counts, mode, trace, end, layer, out, k):
    """Write the path that ends in `end` with `layer` counted; where it stops."""
    i, j, state = end[0], end[1], end[2]
    first = k + 2
    k = first
    while i > 0 and j > 0:
        cell = start[i - 1] + j - 1 - lo[i - 1]
        bits = trace[cell - start[0], layer]
        out[k] = state
        k += 1
        if state == MATCH:
            layer -= counts[cell]
        i -= state != INSERT
        j -= state != DELETE
        if i == 0 or j == 0 or (state == MATCH and bits & 16):
            break
        before = trace[start[i - 1] - start[0] + j - 1 - lo[i - 1], layer]
        if state == MATCH:
            state = INSERT if before & 2 else DELETE if before & 1 else MATCH
        elif state == DELETE:
            state = DELETE if bits & 4 else MATCH
        elif not bits & 8:
            state = DELETE if before & 1 else MATCH
    if mode == GLOBAL:
        for step in range(i + j):
            out[k + step] = DELETE if step < i else INSERT
        k, i, j = k + i + j, 0, 0
    for step in range((k - first) // 2):
        other = k - 1 - step
        out[first + step], out[other] = out[other], out[first + step]
    out[first - 2], out[first - 1] = i, j
    return k
