"""The loops of alignment models: tables filled from weights, features of paths.

A table is filled row by row: for fixed i the rows of all W_b with the same right view
are added up, then looked up along j. Pairs without windows depend only on the letters
at i and j, so for a large batch their sum is tabulated once for all combinations that
occur and looked up once per cell. Sums are always formed in the same order, so a table
has the same bits whichever way it was filled.

A match (i, j) is correct if the reference matches (u, j) with |i - u| <= shift. The loss
`AlignedPairs` drops by 1 / M with each correct match, so where it is added to the scores
each cell of a correct match is lowered by weight / M.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import (
    DELETE,
    INSERT,
    MATCH,
    AlignmentTables,
)
from maxmargin.structures.alignment.inputs.encoding import Side
from maxmargin.structures.alignment.layout import (
    EXTEND,
    FIRST,
    LAST,
    LEFT,
    LEFT_REAL,
    LEFT_SIZE,
    OPEN,
    RIGHT,
    RIGHT_REAL,
    RIGHT_SIZE,
    SLOT,
    WIDE,
    AlignmentLayout,
)


def fill_tables(
    left: Ints, right: Ints, lo: Ints, hi: Ints, start: Ints, sides: tuple[Side, Side],
    layout: AlignmentLayout, full: Floats,
) -> AlignmentTables:  # fmt: skip
    """Tables of pairs of sequences (left[p], right[p]) within the band."""
    s, t = sides
    rows, cols = np.diff(s.ptr)[left], np.diff(t.ptr)[right]
    match = np.empty(start[-1])
    fill_cells(left, right, s.ptr, t.ptr, s.codes, t.codes, s.real, t.real, layout.blocks,
          full, lo, hi, start, match)  # fmt: skip
    row_gap, col_gap = (
        np.zeros((4, int(size.sum()) + len(size))) for size in (rows, cols)
    )
    gap_scores(left, s.ptr, s.codes, s.slots, layout.left_gaps, full, row_gap)
    gap_scores(right, t.ptr, t.codes, t.slots, layout.right_gaps, full, col_gap)
    return AlignmentTables(rows, cols, lo, hi, start, match, row_gap, col_gap)


def correct_cells(
    tables: AlignmentTables, truth: Ragged, shift: int
) -> NDArray[np.uint8]:
    """1 in the cells of correct matches."""
    cells, ones = np.zeros(len(tables.match)), -np.ones(len(tables.rows))
    lower_cells(
        *truth, tables.rows, tables.lo, tables.hi, tables.start, shift, ones, cells
    )
    return cells.astype(np.uint8)


def collapse(
    sides: tuple[Side, Side], layout: AlignmentLayout, full: Floats
) -> tuple[tuple[Side, Side], AlignmentLayout, Floats]:
    """The same scores with all local pairs tabulated as one pair of joint letters."""
    s, t = sides
    local = layout.blocks[:, WIDE] == 0
    known = np.empty(len(s.first) * len(t.first))
    _fill_grid(s.first, t.first, s.codes, t.codes, layout.blocks[local], full, known)
    sizes = len(s.first), len(t.first)
    joint = [len(t.codes), len(s.codes), len(full), *sizes, 0, 0, 0, 1]
    blocks = np.concatenate([np.array([joint]), layout.blocks[~local]])
    codes = [np.concatenate([side.codes, side.joint[None]]) for side in sides]
    both = s._replace(codes=codes[0]), t._replace(codes=codes[1])
    return both, layout._replace(blocks=blocks), np.concatenate([full, known])


def runs_of_cells(area: Ints, cells: int) -> Iterator[int]:
    """Ends of runs of tables with at most `cells` cells together, or one table.

    Examples
    --------
    >>> list(runs_of_cells(np.array([3, 3, 9, 1]), 6))
    [2, 3, 4]
    """
    filled = 0
    for k, size in enumerate(area.tolist()):
        if filled and filled + size > cells:
            yield k
            filled = 0
        filled += size
    if filled:
        yield len(area)


def path_features(
    left: Ints, right: Ints, sides: tuple[Side, Side], layout: AlignmentLayout, affine: bool,
    plus: Ragged, minus: Ragged, scale: Floats,
) -> Rows:  # fmt: skip
    """Features of the paths `plus` minus those of the paths `minus`, times `scale`."""
    s, t = sides
    real = layout.blocks[:, LEFT_REAL : RIGHT_REAL + 1].any(axis=1)
    symbols, vectors = layout.blocks[~real], layout.blocks[real]
    most = max(len(symbols), len(layout.left_gaps) + len(layout.right_gaps))
    where = (left, right, s.ptr, t.ptr, s.codes, t.codes)
    gaps = (layout.left_gaps, layout.right_gaps, affine)
    parts: list[Ints] = []
    for paths in (plus, minus):
        ptr = np.zeros(paths.n + 1, np.int64)
        idx = np.empty(len(paths.data) * most, np.int64)
        _entries(*where, s.slots, t.slots, symbols, *gaps, *paths, ptr, idx)
        parts += [ptr, idx]
    extra = Rows.empty(len(left))
    if len(vectors):
        size = int((vectors[:, LEFT_SIZE] * vectors[:, RIGHT_SIZE]).sum())
        extra = Rows(
            *_vector_entries(*where, s.real, t.real, vectors, size, *plus, *minus)
        )
    acc = np.zeros(layout.dim)
    ptr, idx, ptr2, idx2 = parts
    return Rows(
        *_sum_up(ptr, idx, ptr2, idx2, *extra, layout.home, layout.factor, scale, acc)
    )


@loop
def fill_cells(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_real, r_real, blocks, full,
    lo, hi, start, match,
):  # fmt: skip
    """Scores of all pairs of positions within the band."""
    widest, most = 1, 1
    for r in range(len(lo)):
        widest = max(widest, hi[r] - lo[r])
    for b in range(len(blocks)):
        most = max(most, blocks[b, RIGHT_SIZE])
    total, sums, joint = np.empty(most), np.empty(widest), np.zeros(most)
    turned = _room_to_turn(right, r_ptr, r_real)
    r = 0
    for p in range(len(left)):
        _turn(r_real[r_ptr[right[p]] : r_ptr[right[p] + 1]], turned)
        for i in range(l_ptr[left[p]], l_ptr[left[p] + 1]):
            row, a = match[start[r] : start[r + 1]], r_ptr[right[p]] + lo[r]
            for j in range(len(row)):
                row[j] = 0.0
                sums[j] = 0.0
            for b in range(len(blocks)):
                k, right_view = blocks[b, RIGHT_SIZE], blocks[b, RIGHT]
                first = blocks[b, FIRST]
                if blocks[b, LEFT_REAL] == 1:
                    _project(l_real[i], blocks[b], full, total)
                    weights = total[:k]
                else:
                    first += l_codes[blocks[b, LEFT], i] * k
                    weights = full[first : first + k]
                if blocks[b, RIGHT_REAL] == 1:
                    for c in range(k):
                        joint[c] += weights[c]
                else:
                    _gather(weights, r_codes[right_view, a : a + len(row)], sums)
                if blocks[b, LAST] == 1:
                    if blocks[b, RIGHT_REAL] == 1:
                        vectors = turned[right_view : right_view + k]
                        _dot(joint[:k], vectors, lo[r], sums[: len(row)])
                        joint[:k] = 0.0
                    for j in range(len(row)):
                        row[j] += sums[j]
                        sums[j] = 0.0
            r += 1


@inner_loop
def _gather(weights, codes, row):
    for j in range(len(codes)):
        row[j] += weights[np.uint32(codes[j])]


@inner_loop
def _project(x, block, full, total):
    """Left vector times the weights of a pair."""
    k = block[RIGHT_SIZE]
    for c in range(k):
        total[c] = 0.0
    for d in range(block[LEFT_SIZE]):
        v, first = x[block[LEFT] + d], block[FIRST] + d * k
        for c in range(k):
            total[c] += v * full[first + c]


@inner_loop
def _room_to_turn(which, ptr, real):
    """A row per real column, long enough for the longest of these sequences."""
    longest = 0
    for p in which:
        longest = max(longest, ptr[p + 1] - ptr[p])
    return np.empty((real.shape[1], longest))


@inner_loop
def _turn(real, turned):
    """Columns as rows, so that products run along the sequence."""
    for j in range(real.shape[0]):
        for c in range(real.shape[1]):
            turned[c, j] = real[j, c]


@inner_loop
def _dot(weights, vectors, first, row):
    for c in range(len(weights)):
        for j in range(len(row)):
            row[j] += weights[c] * vectors[c, first + j]


@loop
def _fill_grid(rows, cols, l_codes, r_codes, blocks, full, out):
    """Scores of all pairs of positions (rows, cols), symbols only; as `fill_cells`."""
    n = len(cols)
    codes, sums = np.empty(n, np.int32), np.empty(n)
    begin = 0
    for q in range(len(out)):
        out[q] = 0.0
    for b in range(len(blocks)):
        if blocks[b, LAST] == 0:
            continue
        for j in range(n):
            codes[j] = r_codes[blocks[b, RIGHT], cols[j]]
        for q in range(len(rows)):
            for j in range(n):
                sums[j] = 0.0
            for c in range(begin, b + 1):
                k = blocks[c, RIGHT_SIZE]
                first = blocks[c, FIRST] + l_codes[blocks[c, LEFT], rows[q]] * k
                _gather(full[first : first + k], codes, sums)
            for j in range(n):
                out[q * n + j] += sums[j]
        begin = b + 1


@loop
def gap_scores(which, ptr, codes, slots, gaps, full, out):
    """Add the scores of gaps at the positions and slots of one side to `out`."""
    at = 0
    for p in which:
        size = ptr[p + 1] - ptr[p]
        for g in range(len(gaps)):
            kind, slot, row, offset = gaps[g, 0], gaps[g, 1], gaps[g, 2], gaps[g, 3]
            if slot == 1:
                for i in range(size + 1):
                    out[kind, at + i] += full[offset + slots[row, ptr[p] + p + i]]
            else:
                for i in range(size):
                    out[kind, at + i] += full[offset + codes[row, ptr[p] + i]]
        at += size + 1


@loop
def _entries(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_slots, r_slots, blocks, l_gaps,
    r_gaps, affine, ptr, data, out_ptr, idx,
):  # fmt: skip
    """Entries of the weights that each path uses, one by one."""
    t = 0
    for p in range(len(ptr) - 1):
        f, g = l_ptr[left[p]], r_ptr[right[p]]
        before = -1
        if ptr[p] < ptr[p + 1]:
            i, j = np.int64(data[ptr[p]]), np.int64(data[ptr[p] + 1])
        for k in range(ptr[p] + 2, ptr[p + 1]):
            move = data[k]
            kind = EXTEND if affine and move == before else OPEN
            if move == MATCH:
                for b in range(len(blocks)):
                    row = l_codes[blocks[b, LEFT], f + i] * blocks[b, RIGHT_SIZE]
                    column = r_codes[blocks[b, RIGHT], g + j]
                    idx[t] = blocks[b, FIRST] + row + column
                    t += 1
            for e in range(len(l_gaps)):
                kind_e, row, first = l_gaps[e, 0], l_gaps[e, 2], l_gaps[e, 3]
                if move == DELETE and kind_e == kind:
                    idx[t] = first + l_codes[row, f + i]
                    t += 1
                elif move == INSERT and kind_e == kind + SLOT:
                    idx[t] = first + l_slots[row, f + left[p] + i]
                    t += 1
            for e in range(len(r_gaps)):
                kind_e, row, first = r_gaps[e, 0], r_gaps[e, 2], r_gaps[e, 3]
                if move == INSERT and kind_e == kind:
                    idx[t] = first + r_codes[row, g + j]
                    t += 1
                elif move == DELETE and kind_e == kind + SLOT:
                    idx[t] = first + r_slots[row, g + right[p] + j]
                    t += 1
            i += move != INSERT
            j += move != DELETE
            before = move
        out_ptr[p + 1] = t


@loop
def _vector_entries(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_real, r_real, blocks, size,
    ptr, data, ptr2, data2,
):  # fmt: skip
    """Sums of u(i) (x) v(j) over matches, for the pairs with real views."""
    n = len(left)
    out_ptr = np.arange(n + 1) * size
    idx, val = np.empty(n * size, np.int32), np.zeros(n * size)
    for p in range(n):
        for side in range(2):
            path = data[ptr[p] : ptr[p + 1]]
            if side == 1:
                path = data2[ptr2[p] : ptr2[p + 1]]
            i, j = l_ptr[left[p]], r_ptr[right[p]]
            if len(path) > 0:
                i, j = i + path[0], j + path[1]
            for move in path[2:]:
                at = p * size
                for b in range(len(blocks) if move == MATCH else 0):
                    k = blocks[b, RIGHT_SIZE]
                    for d in range(blocks[b, LEFT_SIZE]):
                        u = 1.0 if side == 0 else -1.0
                        if blocks[b, LEFT_REAL] == 1:
                            u *= l_real[i, blocks[b, LEFT] + d]
                        elif l_codes[blocks[b, LEFT], i] != d:
                            continue
                        if blocks[b, RIGHT_REAL] == 1:
                            for c in range(k):
                                v = r_real[j, blocks[b, RIGHT] + c]
                                val[at + d * k + c] += u * v
                        else:
                            val[at + d * k + r_codes[blocks[b, RIGHT], j]] += u
                    at += blocks[b, LEFT_SIZE] * k
                i += move != INSERT
                j += move != DELETE
        at = p * size
        for b in range(len(blocks)):
            for e in range(blocks[b, LEFT_SIZE] * blocks[b, RIGHT_SIZE]):
                idx[at] = blocks[b, FIRST] + e
                at += 1
    return out_ptr, idx, val


@loop
def _sum_up(ptr, idx, ptr2, idx2, ptr3, idx3, val3, home, factor, scale, acc):
    """Entries of each row added up, those of the second list subtracted."""
    n = len(scale)
    out_ptr = np.zeros(n + 1, np.int64)
    most = len(idx3) + ptr[n] + ptr2[n]
    out, val, seen = np.empty(most, np.int32), np.empty(most), np.empty(most, np.int32)
    for p in range(n):
        one, two, three = (
            ptr[p + 1] - ptr[p],
            ptr2[p + 1] - ptr2[p],
            ptr3[p + 1] - ptr3[p],
        )
        t, m = 0, out_ptr[p]
        for e in range(one + two + three):
            if e < one:
                entry, v = idx[ptr[p] + e], 1.0
            elif e < one + two:
                entry, v = idx2[ptr2[p] + e - one], -1.0
            else:
                at = ptr3[p] + e - one - two
                entry, v = np.int64(idx3[at]), val3[at]
            if len(home) > 0:
                v *= factor[entry]
                entry = np.int64(home[entry])
            if acc[entry] == 0.0:
                seen[t] = entry
                t += 1
            acc[entry] += v
        for e in range(t):
            q = seen[e]
            if acc[q] != 0.0:
                out[m], val[m] = q, acc[q] * scale[p]
                acc[q] = 0.0
                m += 1
        out_ptr[p + 1] = m
    return out_ptr, out[:m].copy(), val[:m].copy()


@loop
def lower_cells(ptr, data, rows, lo, hi, start, shift, saved, cells):
    """Subtract saved[p] from the cells of correct matches of table p."""
    r = 0
    for p in range(len(rows)):
        m = rows[p]
        u, j = data[ptr[p]], data[ptr[p] + 1]
        for k in range(ptr[p] + 2, ptr[p + 1]):
            move = data[k]
            if move == MATCH:
                for i in range(max(0, u - shift), min(m, u + shift + 1)):
                    if lo[r + i] <= j < hi[r + i]:
                        cells[start[r + i] + j - lo[r + i]] -= saved[p]
            u += move != INSERT
            j += move != DELETE
        r += m
