"""The loops of alignment models: tables filled from weights, features of paths.

A table is filled row by row: for fixed i the rows of all W_b with the same right view
are added up, then looked up along j. Pairs without windows depend only on the letters
at i and j, so for a large batch their sum is tabulated once for all combinations that
occur and looked up once per cell. Sums are always formed in the same order, so a table
has the same bits whichever way it was filled.
"""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels, Rows
from maxmargin.inference.alignment import DELETE, INSERT, MATCH, Tables
from maxmargin.jit import loop
from maxmargin.structures.alignment_inputs import Side
from maxmargin.structures.alignment_layout import (
    EXTEND,
    FIRST,
    LEFT,
    LEFT_REAL,
    LEFT_SIZE,
    OPEN,
    RIGHT,
    RIGHT_REAL,
    RIGHT_SIZE,
    SLOT,
    WIDE,
    Layout,
)


def fill_tables(
    left: Ints, right: Ints, lo: Ints, hi: Ints, start: Ints, sides: tuple[Side, Side],
    layout: Layout, full: Floats,
) -> Tables:  # fmt: skip
    """Tables of pairs of sequences (left[p], right[p]) within the band."""
    s, t = sides
    rows, cols = np.diff(s.ptr)[left], np.diff(t.ptr)[right]
    match = np.empty(start[-1])
    _fill(left, right, s.ptr, t.ptr, s.codes, t.codes, s.real, t.real, layout.blocks,
          full, lo, hi, start, match)  # fmt: skip
    row_gap, col_gap = (
        np.zeros((4, int(size.sum()) + len(size))) for size in (rows, cols)
    )
    _gap_scores(left, s.ptr, s.codes, s.slots, layout.left_gaps, full, row_gap)
    _gap_scores(right, t.ptr, t.codes, t.slots, layout.right_gaps, full, col_gap)
    return Tables(rows, cols, lo, hi, start, match, row_gap, col_gap)


def collapse(
    sides: tuple[Side, Side], layout: Layout, full: Floats
) -> tuple[tuple[Side, Side], Layout, Floats]:
    """The same scores with all local pairs tabulated as one pair of joint letters."""
    s, t = sides
    local = layout.blocks[:, WIDE] == 0
    known = np.empty(len(s.first) * len(t.first))
    _fill_grid(s.first, t.first, s.codes, t.codes, layout.blocks[local], full, known)
    joint = [len(t.codes), len(s.codes), len(full), len(s.first), len(t.first), 0, 0, 0]
    blocks = np.concatenate([np.array([joint]), layout.blocks[~local]])
    codes = [np.concatenate([side.codes, side.joint[None]]) for side in sides]
    both = s._replace(codes=codes[0]), t._replace(codes=codes[1])
    return both, layout._replace(blocks=blocks), np.concatenate([full, known])


def path_features(
    left: Ints, right: Ints, sides: tuple[Side, Side], layout: Layout, affine: bool,
    plus: tuple[Ints, Labels], minus: tuple[Ints, Labels], scale: Floats,
) -> Rows:  # fmt: skip
    """scale * (features of the path `plus` - features of the path `minus`)."""
    s, t = sides
    acc = np.zeros(layout.dim)
    return Rows(
        *_psi(left, right, s.ptr, t.ptr, s.codes, t.codes, s.slots, t.slots, s.real,
              t.real, layout.blocks, layout.left_gaps, layout.right_gaps, layout.home,
              layout.factor, affine, *plus, *minus, scale, acc)
    )  # fmt: skip


@loop
def _fill(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_real, r_real, blocks, full,
    lo, hi, start, match,
):  # fmt: skip
    groups = _groups(blocks)
    total = np.empty(blocks[:, RIGHT_SIZE].max())
    widest = np.empty((hi - lo).max())
    r = 0
    for p in range(len(left)):
        g = r_ptr[right[p]]
        for i in range(l_ptr[left[p]], l_ptr[left[p] + 1]):
            row = match[start[r] : start[r + 1]]
            row[:] = 0.0
            for q in range(len(groups) - 1):
                same = blocks[groups[q] : groups[q + 1]]
                if same[0, RIGHT_REAL] == 1:
                    _sum_rows(same, i, l_codes, l_real, full, total)
                    _dot(total, r_real, g + lo[r], same[0], row)
                else:
                    codes = r_codes[same[0, RIGHT], g + lo[r] : g + hi[r]]
                    _look_up(same, i, l_codes, l_real, full, total, codes,
                             widest[: len(row)], row)  # fmt: skip
            r += 1


@loop
def _groups(blocks):
    """Where the right view changes."""
    out = np.zeros(len(blocks) + 1, np.int64)
    k = 1
    for b in range(1, len(blocks)):
        a, z = blocks[b - 1], blocks[b]
        if a[RIGHT] != z[RIGHT] or a[RIGHT_REAL] != z[RIGHT_REAL] or a[WIDE] != z[WIDE]:
            out[k] = b
            k += 1
    out[k] = len(blocks)
    return out[: k + 1]


@loop
def _look_up(blocks, i, l_codes, l_real, full, total, codes, sums, row):
    """Add pairs with one right view: their weights summed first where that is less."""
    k, real = blocks[0, RIGHT_SIZE], blocks[:, LEFT_REAL].max() == 1
    if len(blocks) == 1 and not real:
        first = blocks[0, FIRST] + l_codes[blocks[0, LEFT], i] * k
        _gather(full[first : first + k], codes, row)
    elif real or len(blocks) * k < (len(blocks) - 1) * len(row):
        _sum_rows(blocks, i, l_codes, l_real, full, total)
        _gather(total, codes, row)
    else:
        sums[:] = 0.0
        for b in range(len(blocks)):
            first = blocks[b, FIRST] + l_codes[blocks[b, LEFT], i] * k
            _gather(full[first : first + k], codes, sums)
        row += sums


@loop
def _gather(weights, codes, row):
    for j in range(len(row)):
        row[j] += weights[np.uint32(codes[j])]


@loop
def _sum_rows(blocks, i, l_codes, l_real, full, total):
    """total = sum over pairs of u(i)' W."""
    k = blocks[0, RIGHT_SIZE]
    total[:k] = 0.0
    for b in range(len(blocks)):
        if blocks[b, LEFT_REAL] == 0:
            first = blocks[b, FIRST] + l_codes[blocks[b, LEFT], i] * k
            for c in range(k):
                total[c] += full[first + c]
        else:
            for d in range(blocks[b, LEFT_SIZE]):
                x = l_real[i, blocks[b, LEFT] + d]
                first = blocks[b, FIRST] + d * k
                for c in range(k):
                    total[c] += x * full[first + c]


@loop
def _dot(total, r_real, first, block, row):
    for j in range(len(row)):
        y = r_real[first + j, block[RIGHT] : block[RIGHT] + block[RIGHT_SIZE]]
        v = 0.0
        for c in range(len(y)):
            v += total[c] * y[c]
        row[j] += v


@loop
def _fill_grid(rows, cols, l_codes, r_codes, blocks, full, out):
    """Scores of all pairs of positions (rows, cols), symbols only."""
    n = len(cols)
    groups = _groups(blocks)
    sums = np.empty(n)
    out[:] = 0.0
    for g in range(len(groups) - 1):
        codes = r_codes[blocks[groups[g], RIGHT]][cols]
        for q in range(len(rows)):
            sums[:] = 0.0
            for b in range(groups[g], groups[g + 1]):
                k = blocks[b, RIGHT_SIZE]
                first = blocks[b, FIRST] + l_codes[blocks[b, LEFT], rows[q]] * k
                _gather(full[first : first + k], codes, sums)
            out[q * n : (q + 1) * n] += sums


@loop
def _gap_scores(which, ptr, codes, slots, gaps, full, out):
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
def _psi(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_slots, r_slots, l_real, r_real,
    blocks, left_gaps, right_gaps, home, factor, affine, ptr, data, ptr2, data2,
    scale, acc,
):  # fmt: skip
    n = len(left)
    per_move = 1 + len(left_gaps) + len(right_gaps)
    for b in range(len(blocks)):
        wide = blocks[b, LEFT_SIZE] if blocks[b, LEFT_REAL] == 1 else 1
        per_move += wide * (blocks[b, RIGHT_SIZE] if blocks[b, RIGHT_REAL] == 1 else 1)
    out_ptr = np.zeros(n + 1, np.int64)
    idx, val = np.empty(1024, np.int32), np.empty(1024)
    for p in range(n):
        one, two = data[ptr[p] : ptr[p + 1]], data2[ptr2[p] : ptr2[p + 1]]
        seen = np.empty((len(one) + len(two)) * per_move, np.int32)
        f, g, t = l_ptr[left[p]], r_ptr[right[p]], 0
        for sign, path in ((1.0, one), (-1.0, two)):
            if len(path) > 2:
                t = _walk(path, sign, f, g, f + left[p], g + right[p], l_codes, r_codes,
                          l_slots, r_slots, l_real, r_real, blocks, left_gaps,
                          right_gaps, home, factor, affine, acc, seen, t)  # fmt: skip
        m = out_ptr[p]
        while m + t > len(idx):
            idx, val = np.append(idx, np.empty_like(idx)), np.append(val, val)
        for q in np.sort(seen[:t]):
            if acc[q] != 0.0:
                idx[m], val[m] = q, acc[q] * scale[p]
                acc[q] = 0.0
                m += 1
        out_ptr[p + 1] = m
    return out_ptr, idx[: out_ptr[n]].copy(), val[: out_ptr[n]].copy()


@loop
def _walk(
    path, sign, f, g, f_slot, g_slot, l_codes, r_codes, l_slots, r_slots, l_real,
    r_real, blocks, left_gaps, right_gaps, home, factor, affine, acc, seen, t,
):  # fmt: skip
    """Add sign * features of the moves of a path; `seen` lists what was touched."""
    i, j, before = path[0], path[1], -1
    for k in range(2, len(path)):
        move = path[k]
        kind = EXTEND if affine and move == before else OPEN
        if move == MATCH:
            t = _add_match(f + i, g + j, sign, l_codes, r_codes, l_real, r_real, blocks,
                           home, factor, acc, seen, t)  # fmt: skip
        elif move == DELETE:
            t = _add_gap(kind, f + i, sign, l_codes, left_gaps, home, acc, seen, t)
            t = _add_gap(kind + SLOT, g_slot + j, sign, r_slots, right_gaps, home, acc,
                         seen, t)  # fmt: skip
        else:
            t = _add_gap(kind, g + j, sign, r_codes, right_gaps, home, acc, seen, t)
            t = _add_gap(kind + SLOT, f_slot + i, sign, l_slots, left_gaps, home, acc,
                         seen, t)  # fmt: skip
        i += move != INSERT
        j += move != DELETE
        before = move
    return t


@loop
def _add_gap(kind, i, sign, codes, gaps, home, acc, seen, t):
    for g in range(len(gaps)):
        if gaps[g, 0] == kind:
            entry = gaps[g, 3] + codes[gaps[g, 2], i]
            t = _add(entry if len(home) == 0 else home[entry], sign, acc, seen, t)
    return t


@loop
def _add(q, v, acc, seen, t):
    if acc[q] == 0.0:
        seen[t] = q
        t += 1
    acc[q] += v
    return t


@loop
def _add_match(
    i, j, sign, l_codes, r_codes, l_real, r_real, blocks, home, factor, acc, seen, t
):
    for b in range(len(blocks)):
        left, right, k = blocks[b, LEFT], blocks[b, RIGHT], blocks[b, RIGHT_SIZE]
        wide, high = blocks[b, LEFT_REAL] == 1, blocks[b, RIGHT_REAL] == 1
        for d in range(blocks[b, LEFT_SIZE] if wide else 1):
            u = l_real[i, left + d] if wide else 1.0
            a = d if wide else l_codes[left, i]
            for c in range(k if high else 1):
                v = r_real[j, right + c] if high else 1.0
                z = c if high else r_codes[right, j]
                entry = blocks[b, FIRST] + a * k + z
                q, x = entry, sign * u * v
                if len(home) > 0:
                    q, x = home[entry], x * factor[entry]
                if x != 0.0:
                    t = _add(q, x, acc, seen, t)
    return t
