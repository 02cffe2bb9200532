"""Best paths of pairs of letter sequences: scores by letter, one price for all gaps.

    match[i, j] = scores[letter of row i, letter of column j]

Paths are those of `best_path.py`, with the same values and the same choice among equals.
No table is made: for each letter of the rows, the scores along the columns are laid out
once (a query profile) and serve all rows with this letter. Columns are done in strips of
512; a row of a strip is a few passes over neighbouring values, which fill a register
with 8 floats, or 16 or 32 integers where scores are integers.

A trace takes one byte per cell. Where that is more than `TRACE`, only the values at the
left border of each strip are kept; strips are then filled again, last one first, for as
many rows as the path still has [Hirschberg 1975 had the idea].
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import (
    DELETE,
    GLOBAL,
    INSERT,
    LOCAL,
    MATCH,
    SEMIGLOBAL,
    keep_better,
)

COLUMNS = 512  # of a strip
LANES = 32  # columns are filled up to a multiple
TRACE = 2**24  # bytes of a trace that is kept whole
STRIDE = COLUMNS + 2 * LANES
# Where each row of work space begins: H best of all states, F delete, M match, MF best of
# match and delete, E insert, EO insert opened here, B and BB the best EO within 4 and 16.
H, F, M, MF, E, EO, B, BB = range(LANES, 8 * STRIDE, STRIDE)
# What the cell where a path arrives is left by: any state, or any but an insert.
ANY, NO_INSERT = 3, 4


@loop
def letter_paths(
    left, right, l_ptr, r_ptr, l_codes, r_codes, scores, gaps, floats, mode, affine,
    traced, truth_ptr, truth, shift, saved,
):  # fmt: skip
    """Best path of each pair (left[p], right[p]) of sequences, and its value.

    Parameters
    ----------
    left, right : int (pairs,)
        Numbers of the sequences.
    l_ptr, r_ptr, l_codes, r_codes : int
        Letters of sequence k: codes[ptr[k]:ptr[k + 1]].
    scores : (left letters, right letters)
        Floats or integers; they decide in which numbers all is computed.
    gaps : (5,) of the same type
        Open and extend a delete, open and extend an insert; the last entry stands for
        minus infinity.
    floats : None or bool
        None if scores are floats, otherwise any bool: one version is compiled for each.
    mode : int
        GLOBAL, SEMIGLOBAL or LOCAL of `best_path`.
    affine : bool
        Whether opening a gap has a cost of its own.
    traced : bool
        Whether paths are wanted; otherwise they are empty.
    truth_ptr, truth, shift, saved
        Where saved[p] is not 0, it is subtracted from the cells of correct matches of
        the path truth[truth_ptr[p]:truth_ptr[p + 1]].
    """
    pairs = len(left)
    ptr, value = np.zeros(pairs + 1, np.int64), np.empty(pairs)
    moves, longest, cells, borders = _room(left, right, l_ptr, r_ptr, traced)
    out, trace = np.empty(moves, np.int32), np.empty(cells, np.uint8)
    border = np.empty((longest, 3), gaps.dtype)
    kept, corners = np.empty((borders, 3), gaps.dtype), np.empty(borders, gaps.dtype)
    slot, used = np.full(len(scores), -1), np.empty(longest, np.int64)
    profile = np.zeros((min(longest, len(scores)), COLUMNS), gaps.dtype)
    matched = np.empty((longest, 2), np.int64)
    V, end, runs = _scratch(gaps), np.empty(4), _runs(gaps)
    for p in range(pairs):
        a = l_codes[l_ptr[left[p]] : l_ptr[left[p] + 1]]
        b = r_codes[r_ptr[right[p]] : r_ptr[right[p] + 1]]
        m, n, hits = len(a), len(b), 0
        if saved[p] != 0.0:
            hits = _matches(truth[truth_ptr[p] : truth_ptr[p + 1]], matched)
        letters = _distinct(a, slot, used)
        whole = m * _padded(n) <= TRACE
        _forward(a, b, scores, gaps, floats, mode, affine, traced, whole, slot,
                 used[:letters], profile, matched[:hits], shift, saved[p], border, kept,
                 corners, runs, V, trace, end)  # fmt: skip
        value[p] = end[0]
        if traced:
            ptr[p + 1] = _backward(
                a, b, scores, gaps, floats, mode, affine, whole, slot, used[:letters],
                profile, matched[:hits], shift, saved[p], border, kept, corners, runs, V,
                trace, end, out, ptr[p],
            )  # fmt: skip
        for k in range(letters):
            slot[used[k]] = -1
    return ptr, out[: ptr[-1]].copy(), value


@inner_loop
def _forward(
    a, b, scores, gaps, floats, mode, affine, traced, whole, slot, used, profile,
    matched, shift, saved, border, kept, corners, runs, V, trace, end,
):  # fmt: skip
    """Fill all strips; `end` becomes the best end: value, cell, last move."""
    m, n = len(a), len(b)
    end[0], end[1], end[2], end[3] = 0.0, 0.0, 0.0, MATCH
    _left_border(mode, m, gaps, border)
    corner = gaps[4] if mode == LOCAL else gaps[0] - gaps[0]
    for begin in range(0, n, COLUMNS):
        stop, at = min(n, begin + COLUMNS), begin // COLUMNS * m
        if traced and not whole:
            _copy(border, kept[at:], m)
            corners[begin // COLUMNS] = corner
        bits = trace[at * COLUMNS :] if traced and whole else trace
        _lay_profile(b[begin:stop], scores, used, profile)
        corner = _top(mode, corner, begin, stop, gaps, V)
        _fill(a, b, begin, stop, m, scores, gaps, floats, mode, affine, traced and whole,
              slot, profile, matched, shift, saved, border, runs, V, bits, end)  # fmt: skip


@inner_loop
def _backward(
    a, b, scores, gaps, floats, mode, affine, whole, slot, used, profile, matched, shift,
    saved, border, kept, corners, runs, V, trace, end, out, first,
):  # fmt: skip
    """Write the path that ends in `end` to out[first:]; where it stops."""
    m, n, k = len(a), len(b), first + 2
    i, j, state = int(end[1]), int(end[2]), int(end[3])
    while i > 0 and j > 0 and state >= 0:
        begin = (j - 1) // COLUMNS * COLUMNS
        stop, at = min(n, begin + COLUMNS), begin // COLUMNS * m
        bits = trace[at * COLUMNS :] if whole else trace
        if not whole:
            _copy(kept[at:], border, i)
            _lay_profile(b[begin:stop], scores, used, profile)
            _top(mode, corners[begin // COLUMNS], begin, stop, gaps, V)
            _fill(a[:i], b, begin, stop, m, scores, gaps, floats, mode, affine, True,
                  slot, profile, matched, shift, saved, border, runs, V, bits, end)  # fmt: skip
        i, j, state, k = _trace_back(
            bits, begin, _padded(stop - begin), affine, i, j, state, out, k
        )
    if mode == GLOBAL:
        for step in range(i + j):
            out[k + step] = DELETE if step < i else INSERT
        k, i, j = k + i + j, 0, 0
    _reverse(out, first + 2, k)
    out[first], out[first + 1] = i, j
    return k


@inner_loop
def _padded(n):
    return (n + LANES - 1) // LANES * LANES


@inner_loop
def _room(left, right, l_ptr, r_ptr, traced):
    """Entries of all paths, longest row sequence, cells of a trace, rows of borders."""
    moves, longest, cells, borders = 0, 1, 0, 0
    for p in range(len(left)):
        m = l_ptr[left[p] + 1] - l_ptr[left[p]]
        n = r_ptr[right[p] + 1] - r_ptr[right[p]]
        moves += m + n + 2
        longest = max(longest, m)
        if m * _padded(n) <= TRACE:
            cells = max(cells, m * _padded(n))
        else:
            cells = max(cells, m * min(COLUMNS, _padded(n)))
            borders = max(borders, (n + COLUMNS - 1) // COLUMNS * m)
    if not traced:
        moves, cells, borders = 0, 0, 0
    return moves, longest, cells, borders


@inner_loop
def _scratch(gaps):
    """Values of a row, on a cache line."""
    flat = np.empty(8 * STRIDE + 64, gaps.dtype)
    skip = (64 - flat.ctypes.data % 64) % 64 // flat.itemsize
    return flat[skip:]


@inner_loop
def _copy(source, target, m):
    for i in range(m):
        for k in range(3):
            target[i, k] = source[i, k]


@inner_loop
def _matches(path, matched):
    """Cells of the matches of a path."""
    i, j, hits = np.int64(path[0]), np.int64(path[1]), 0
    for k in range(2, len(path)):
        if path[k] == MATCH:
            matched[hits, 0], matched[hits, 1] = i, j
            hits += 1
        i += path[k] != INSERT
        j += path[k] != DELETE
    return hits


@inner_loop
def _distinct(a, slot, used):
    """Number the letters that occur, and list them."""
    letters = 0
    for i in range(len(a)):
        if slot[a[i]] < 0:
            slot[a[i]] = letters
            used[letters] = a[i]
            letters += 1
    return letters


@inner_loop
def _lay_profile(b, scores, used, profile):
    """Scores of each letter that occurs in the rows against these columns."""
    for k in range(len(used)):
        own, row = scores[used[k]], profile[k]
        for j in range(len(b)):
            row[j] = own[np.uint32(b[j])]
        for j in range(len(b), _padded(len(b))):
            row[j] = row[0]


@inner_loop
def _left_border(mode, m, gaps, border):
    """MF, E and H of each row before the first column."""
    value = gaps[0] - gaps[0]
    for i in range(m):
        if mode == GLOBAL:
            value += gaps[0] if i == 0 else gaps[1]
        border[i, 0] = border[i, 2] = gaps[4] if mode == LOCAL else value
        border[i, 1] = gaps[4]


@inner_loop
def _top(mode, corner, begin, stop, gaps, V):
    """Values on the upper border; returns the one of its last column."""
    for k in range(8 * STRIDE):
        V[k] = gaps[4]
    V[H - 1] = corner
    for j in range(stop - begin):
        if mode == SEMIGLOBAL:
            V[j + M] = V[j + MF] = corner
        elif mode == GLOBAL:
            corner += gaps[2] if begin + j == 0 else gaps[3]
        V[j + H] = corner
    return corner


@inner_loop
def _fill(
    a, b, begin, stop, rows, scores, gaps, floats, mode, affine, traced, slot, profile,
    matched, shift, saved, border, runs, V, trace, end,
):  # fmt: skip
    """Rows of a strip; `border` has the values left of it, and then those at its end."""
    k, n = stop - begin, len(b)
    if len(matched) == 0:
        _rows(0, a, begin, k, n, rows, gaps, floats, mode, affine, traced, slot, profile,
              border, runs, V, trace, end)  # fmt: skip
        return
    width = _padded(k)
    low, high = 0, 0  # matches of the truth near row i
    for i in range(len(a)):
        row = profile[slot[a[i]]]
        while high < len(matched) and matched[high, 0] <= i + shift:
            high += 1
        while low < high and matched[low, 0] < i - shift:
            low += 1
        for q in range(low, high):
            if begin <= matched[q, 1] < stop:
                row[matched[q, 1] - begin] -= saved
        _rows(i, a[i : i + 1], begin, k, n, rows, gaps, floats, mode, affine, traced,
              slot, profile, border[i:], runs, V, trace[i * width * traced :],
              end)  # fmt: skip
        for q in range(low, high):
            j = matched[q, 1]
            if begin <= j < stop:
                row[j - begin] = scores[a[i], b[j]]


@inner_loop
def _rows(
    first, a, begin, k, n, rows, gaps, floats, mode, affine, traced, slot, profile,
    border, runs, V, trace, end,
):  # fmt: skip
    """Rows of letters `a`, the first of them row `first` of the table."""
    if affine:
        _affine_rows(first, a, begin, k, n, rows, gaps, floats, mode, traced, slot,
                     profile, border, runs, V, trace, end)  # fmt: skip
    else:
        _linear_rows(first, a, begin, k, n, rows, gaps, floats, mode, traced, slot,
                     profile, border, runs, V, trace, end)  # fmt: skip


@inner_loop
def _runs(gaps):
    """Extensions of an insert by 1, 2, 3, 4, 8, 12, 16 and 32 columns."""
    out, g = np.empty(8, gaps.dtype), gaps[3]
    out[0], out[1], out[2] = g, 2 * g, 3 * g
    total = g - g
    for k in range(1, 33):
        total += g  # added up one by one, as `best_path` does
        if k == 4:
            out[3] = total
        elif k == 8:
            out[4] = total
        elif k == 12:
            out[5] = total
        elif k == 16:
            out[6] = total
        elif k == 32:
            out[7] = total
    return out


@inner_loop
def _affine_rows(
    first, a, begin, k, n, rows, gaps, floats, mode, traced, slot, profile, border, runs,
    V, trace, end,
):  # fmt: skip
    """States of the columns of each row from those of the row before, which V holds.

    Bits 1: F > M, 2: E > M and F, 4: F extends, 8: E extends, 16: M starts a path.
    """
    number, width, at = V.dtype.type, _padded(k), 0
    fresh = gaps[0] - gaps[0] if mode == LOCAL else gaps[4]
    delete, delete_on, insert, insert_on = gaps[0], gaps[1], gaps[2], gaps[3]
    near, far = (runs[3], runs[4]) if floats is None else (runs[6], runs[7])
    for i in range(len(a)):
        match, bits = profile[slot[a[i]]], trace[at:]
        if traced:
            for j in range(width):
                h = V[j + (H - 1)]
                m = number(max(h, fresh) + match[j])
                fo, fe = number(V[j + M] + delete), number(V[j + F] + delete_on)
                f = max(fo, fe)
                mf = max(m, f)
                V[j + M] = m
                V[j + F] = f
                V[j + MF] = mf
                V[j + (EO + 1)] = number(mf + insert)
                own = np.uint8(f > m) | (np.uint8(fe > fo) << 2)
                bits[j] = own | (np.uint8(h < fresh) << 4)
        else:
            for j in range(width):
                m = number(max(V[j + (H - 1)], fresh) + match[j])
                f = max(number(V[j + M] + delete), number(V[j + F] + delete_on))
                mf = max(m, f)
                V[j + M] = m
                V[j + F] = f
                V[j + MF] = mf
                V[j + (EO + 1)] = number(mf + insert)
        eo, ee = number(border[i, 0] + insert), number(border[i, 1] + insert_on)
        V[EO] = max(eo, ee)
        _spread(width, floats, runs, V)
        if traced:
            for j in range(width):
                e, mf = _insert(j, floats, near, far, V), V[j + MF]
                V[j + E] = e
                V[j + H] = max(mf, e)
                bits[j] |= (np.uint8(e > mf) << 1) | (np.uint8(e > V[j + EO]) << 3)
            bits[0] |= np.uint8(ee > eo) << 3
            at += width
        else:
            for j in range(width):
                e = _insert(j, floats, near, far, V)
                V[j + E] = e
                V[j + H] = max(V[j + MF], e)
        V[H - 1] = border[i, 2]
        border[i, 0], border[i, 1] = V[MF + k - 1], V[E + k - 1]
        border[i, 2] = V[H + k - 1]
        if mode != GLOBAL or first + i == rows - 1:
            _end(end, floats, mode, first + i, rows, n, begin, k, V)


@inner_loop
def _linear_rows(
    first, a, begin, k, n, rows, gaps, floats, mode, traced, slot, profile, border, runs,
    V, trace, end,
):  # fmt: skip
    """As `_affine_rows` without a state for extensions; bits 1, 2 and 16."""
    number, width, at = V.dtype.type, _padded(k), 0
    fresh = gaps[0] - gaps[0] if mode == LOCAL else gaps[4]
    delete = gaps[0]
    near, far = (runs[3], runs[4]) if floats is None else (runs[6], runs[7])
    for i in range(len(a)):
        match, bits, left = profile[slot[a[i]]], trace[at:], border[i, 2]
        for j in range(width):
            h = V[j + (H - 1)]
            m = number(max(h, fresh) + match[j])
            f = number(V[j + MF] + delete)
            mf = max(m, f)
            V[j + M] = m
            V[j + MF] = mf
            V[j + EO] = mf
            if traced:
                bits[j] = np.uint8(f > m) | (np.uint8(h < fresh) << 4)
        V[E - 1] = V[EO - 1] = V[B - 1] = V[BB - 1] = left
        _spread(width, floats, runs, V)
        for j in range(width):
            e = _insert(j, floats, near, far, V)
            V[j + E] = e
            V[j + H] = e
            if traced:
                bits[j] |= np.uint8(e > V[j + EO]) << 1
        at += width * traced
        before = left if k == 1 else V[H + k - 2]
        V[H - 1], border[i, 2] = left, V[H + k - 1]
        V[E + k - 1] = number(before + gaps[2])
        if mode != GLOBAL or first + i == rows - 1:
            _end(end, floats, mode, first + i, rows, n, begin, k, V)


@inner_loop
def _spread(width, floats, runs, V):
    """B[j], of integers also BB[j]: best EO[j - k] with k extensions, k < 4, k < 16."""
    number = V.dtype.type
    r1, r2, r3 = runs[0], runs[1], runs[2]
    for j in range(width):
        near = max(V[j + EO], number(V[j + (EO - 1)] + r1))
        far = max(number(V[j + (EO - 2)] + r2), number(V[j + (EO - 3)] + r3))
        V[j + B] = max(near, far)
    if floats is not None:
        r4, r8, r12 = runs[3], runs[4], runs[5]
        for j in range(width):
            near = max(V[j + B], number(V[j + (B - 4)] + r4))
            far = max(number(V[j + (B - 8)] + r8), number(V[j + (B - 12)] + r12))
            V[j + BB] = max(near, far)


@inner_loop
def _insert(j, floats, near, far, V):
    """E[j] from `_spread`, and from E at distance 8, of integers 32."""
    number = V.dtype.type
    if floats is None:
        e = max(V[j + B], number(V[j + (B - 4)] + near))
        return max(e, number(V[j + (E - 8)] + far))
    e = max(V[j + BB], number(V[j + (BB - 16)] + near))
    return max(e, number(V[j + (E - 32)] + far))


@inner_loop
def _end(end, floats, mode, i, m, n, a, k, V):
    """Replace `end` by a better one in k columns of row i: value, cell, last move."""
    if mode == LOCAL:
        j = _first_top(k, floats, end[0], V)
        if j >= 0:
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
def _first_top(k, floats, best, V):
    """First column of the highest match, or -1 if it is below `best` or not positive."""
    column = 0
    if floats is None:
        order = V.view(np.int64)  # that of the values, if positive
        top = np.int64(0)
        for j in range(k):
            top = max(top, order[j + M])
        V[B] = best
        if top <= 0 or top < order[B]:
            return -1
        while order[column + M] != top:
            column += 1
    else:
        high = V[M]
        for j in range(k):
            high = max(high, V[j + M])
        if high <= 0 or high < best:
            return -1
        while V[column + M] != high:
            column += 1
    return column


@inner_loop
def _trace_back(trace, begin, width, affine, i, j, state, out, k):
    """Moves of a path from cell (i, j) back to the left border of a strip.

    `state` is the one in which (i, j) is left; -1 where the path starts.
    """
    while i > 0 and j > begin and state >= 0:
        bits = trace[(i - 1) * width + j - 1 - begin]
        if state == ANY and bits & 2:
            state = INSERT
        elif state >= ANY:
            state = DELETE if bits & 1 else MATCH
        out[k] = state
        k += 1
        i -= state != INSERT
        j -= state != DELETE
        if state == MATCH:
            state = -1 if bits & 16 else ANY
        elif state == DELETE:
            state = NO_INSERT if not affine else DELETE if bits & 4 else MATCH
        elif not affine:
            state = ANY
        elif not bits & 8:
            state = NO_INSERT
    return i, j, state, k


@inner_loop
def _reverse(out, first, last):
    for step in range((last - first) // 2):
        other = last - 1 - step
        out[first + step], out[other] = out[other], out[first + step]
