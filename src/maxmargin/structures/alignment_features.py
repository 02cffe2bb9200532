"""Weights of an alignment model: where they lie, and the loops that read and count them.

    score(i, j) = sum over pairs b of views  u_b(i)' W_b v_b(j)

with u, v indicators of symbols or real vectors. A table is filled row by row: for fixed
i the rows of all W_b with the same right view are added up first, then looked up along
j. Pairs without windows depend only on the letters at i and j, so for a large batch
their sum is tabulated once for all combinations that occur and looked up once per cell.

The weights are laid out in full, (left symbols, right symbols) per pair, then gaps;
`home` and `factor` say which coordinate of w, times which number, an entry is: tied
entries share a home, and a known matrix has one home and its scores as factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels, Rows
from maxmargin.inference.alignment import DELETE, INSERT, MATCH, Tables
from maxmargin.jit import loop
from maxmargin.structures.alignment_inputs import Side, Symbols
from maxmargin.structures.alignment_views import Gaps, Pair, View

OPEN, EXTEND, SLOT = 0, 1, 2  # rows of Tables.row_gap and col_gap


class Layout(NamedTuple):
    """Where the weights of a bound model lie."""

    blocks: Ints  # (pairs, 7) right, left row; offset; left, right size; left, right real
    left_gaps: Ints  # (k, 4) row of row_gap, whether a slot, row of codes, offset
    right_gaps: Ints  # (k, 4) the same for col_gap
    home: Labels  # (entries,) coordinate of w; empty: the entry itself
    factor: Floats  # (entries,) empty with `home`
    local: Labels  # (pairs,) 1 where both views are letters of one position
    dim: int

    def full(self, w: Floats) -> Floats:
        """All entries from the weights."""
        return w[self.home] * self.factor if len(self.home) else w


def lay_weights(
    symbols: Symbols, model: Sequence[Pair], gaps: Gaps, left: Sequence[View],
    right: Sequence[View], symmetric: bool,
) -> Layout:  # fmt: skip
    """Offsets of all pairs and gap views; `left`, `right`: views as they are coded."""
    rows: list[tuple[int, ...]] = []
    ties, factors, local, offset = [], [], [], 0
    spans: dict[tuple[View, View], int] = {}
    for pair in model:
        a, b = symbols.size(pair.left), symbols.size(pair.right)
        index = offset + np.arange(a * b).reshape(a, b)
        tie, factor = index, np.ones((a, b))
        mirror = spans.get((pair.right, pair.left))
        if pair.table is not None:
            tie, factor = np.full_like(index, offset), _known_scores(pair, symbols)
        elif symmetric and pair.left == pair.right:
            tie = np.minimum(index, index.T)
        elif symmetric and mirror is not None:
            tie = mirror + np.arange(a * b).reshape(b, a).T
        if pair.table is None:
            spans[pair.left, pair.right] = offset
        rows.append((
            row_of(right, pair.right, symbols), row_of(left, pair.left, symbols),
            offset, a, b, int(pair.left.real), int(pair.right.real),
        ))  # fmt: skip
        local.append(all(_is_local(v) for v in (pair.left, pair.right)))
        ties.append(tie.ravel())
        factors.append(factor.ravel())
        offset += a * b
    left_gaps, right_gaps, gap_ties = _lay_gaps(symbols, gaps, left, right, offset)
    tie = np.concatenate([*ties, gap_ties])
    factor = np.concatenate([*factors, np.ones(len(gap_ties))])
    coordinates, home = np.unique(tie, return_inverse=True)
    plain = len(coordinates) == len(tie) and (factor == 1.0).all()
    order = np.lexsort(([r[0] for r in rows], [r[6] for r in rows]))
    return Layout(
        np.array(rows, np.int64)[order],
        np.array(left_gaps, np.int64).reshape(-1, 4),
        np.array(right_gaps, np.int64).reshape(-1, 4),
        np.empty(0, np.int32) if plain else home.astype(np.int32),
        np.empty(0) if plain else factor,
        np.array(local, np.int32)[order],
        len(coordinates),
    )


def row_of(views: Sequence[View], view: View, symbols: Symbols) -> int:
    """Row of the codes, or first column of the vectors, of a view."""
    if not view.real:
        return [v for v in views if not v.real].index(view)
    real = [v for v in views if v.real]
    return sum(symbols.size(v) for v in real[: real.index(view)])


def _is_local(view: View) -> bool:
    return view.reach == 0 and view.bins is None and not view.real


def _known_scores(pair: Pair, symbols: Symbols) -> Floats:
    letters = [symbols.letters[v.tracks[0]] for v in (pair.left, pair.right)]
    number = {letter: k for k, letter in enumerate(pair.table.letters)}
    for letter in (*letters[0], *letters[1]):
        if letter not in number:
            raise ValueError(f"the substitution matrix has no row for {letter!r}")
    a, b = ([number[v] for v in known] for known in letters)
    return np.asarray(pair.table.scores, np.float64)[np.ix_(a, b)]


def _lay_gaps(
    symbols: Symbols, gaps: Gaps, left: Sequence[View], right: Sequence[View],
    offset: int,
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], Ints]:  # fmt: skip
    """Entries of the gap views: deletes, then inserts; tied ones point back."""
    kinds = [(OPEN, False, gaps.opening), (SLOT, True, gaps.slot)]
    if gaps.affine:
        kinds.append((EXTEND, False, gaps.extension))
    sides: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = ([], [])
    ties, first = [], offset
    for skipped, other, views, others in ((0, 1, left, right), (1, 0, right, left)):
        for kind, slot, described in kinds:
            for view in described:
                side = other if slot else skipped
                coded = list(gaps.slot) if slot else others if side != skipped else views
                row = row_of(coded, view, symbols)
                sides[side].append((kind, int(slot), row, offset))
                index = offset + np.arange(symbols.size(view, slot))
                ties.append(index)
                offset += len(index)
    flat = np.concatenate(ties) if ties else np.empty(0, np.int64)
    if gaps.tied:
        half = len(flat) // 2
        flat = first + np.concatenate([np.arange(half), np.arange(half)])
    return sides[0], sides[1], flat


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
    k, c = len(s.first), len(t.first)
    blocks = layout.blocks[layout.local == 1]
    known = np.empty(k * c)
    _fill_grid(s.first, t.first, s.codes, t.codes, blocks, full, known)
    joint = np.array([[len(t.codes), len(s.codes), len(full), k, c, 0, 0]])
    rest = layout.blocks[layout.local == 0]
    cut = int((rest[:, 6] == 0).sum())
    merged = np.concatenate([rest[:cut], joint, rest[cut:]])
    both = [
        side._replace(codes=np.concatenate([side.codes, side.joint[None]]))
        for side in sides
    ]
    full = np.concatenate([full, known])
    return (both[0], both[1]), layout._replace(blocks=merged), full


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
    most = 1
    for b in range(len(blocks)):
        most = max(most, blocks[b, 4])
    total = np.empty(most)
    r = 0
    for p in range(len(left)):
        f, g = l_ptr[left[p]], r_ptr[right[p]]
        for i in range(f, l_ptr[left[p] + 1]):
            row = match[start[r] : start[r + 1]]
            row[:] = 0.0
            b = 0
            while b < len(blocks):
                e = b + 1
                while e < len(blocks) and blocks[e, 0] == blocks[b, 0] and (
                    blocks[e, 6] == blocks[b, 6]
                ):
                    e += 1
                if blocks[b, 6] == 1:
                    _sum_rows(blocks[b:e], i, l_codes, l_real, full, total)
                    _dot(total, r_real, g + lo[r], blocks[b, 0], blocks[b, 4], row)
                else:
                    codes = r_codes[blocks[b, 0], g + lo[r] : g + hi[r]]
                    _look_up(blocks[b:e], i, l_codes, l_real, full, total, codes, row)
                b = e
            r += 1


@loop
def _look_up(blocks, i, l_codes, l_real, full, total, codes, row):
    """Add the pairs with one right view: their rows summed first where that is less."""
    k, real = blocks[0, 4], False
    for b in range(len(blocks)):
        real |= blocks[b, 5] == 1
    if real or len(blocks) * k < (len(blocks) - 1) * len(row):
        _sum_rows(blocks, i, l_codes, l_real, full, total)
        _gather(total, codes, row)
    else:
        for b in range(len(blocks)):
            first = blocks[b, 2] + l_codes[blocks[b, 1], i] * k
            _gather(full[first : first + k], codes, row)


@loop
def _gather(weights, codes, row):
    for j in range(len(row)):
        row[j] += weights[np.uint32(codes[j])]


@loop
def _sum_rows(blocks, i, l_codes, l_real, full, total):
    """total = sum over pairs of u(i)' W."""
    k = blocks[0, 4]
    total[:k] = 0.0
    for b in range(len(blocks)):
        offset = blocks[b, 2]
        if blocks[b, 5] == 0:
            first = offset + l_codes[blocks[b, 1], i] * k
            for c in range(k):
                total[c] += full[first + c]
        else:
            for d in range(blocks[b, 3]):
                x = l_real[i, blocks[b, 1] + d]
                for c in range(k):
                    total[c] += x * full[offset + d * k + c]


@loop
def _dot(total, r_real, first, column, k, row):
    for j in range(len(row)):
        y = r_real[first + j]
        v = 0.0
        for c in range(k):
            v += total[c] * y[column + c]
        row[j] += v


@loop
def _fill_grid(rows, cols, l_codes, r_codes, blocks, full, out):
    """Scores of all pairs of positions (rows, cols), symbols only."""
    n = len(cols)
    out[:] = 0.0
    for b in range(len(blocks)):
        k = blocks[b, 4]
        codes = r_codes[blocks[b, 0]][cols]
        for q in range(len(rows)):
            first = blocks[b, 2] + l_codes[blocks[b, 1], rows[q]] * k
            _gather(full[first : first + k], codes, out[q * n : (q + 1) * n])


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
        a, c = blocks[b, 5] * blocks[b, 3], blocks[b, 6] * blocks[b, 4]
        per_move += max(a, 1) * max(c, 1)
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
        k, l_real_view, r_real_view = blocks[b, 4], blocks[b, 5] == 1, blocks[b, 6] == 1
        for d in range(blocks[b, 3] if l_real_view else 1):
            u = l_real[i, blocks[b, 1] + d] if l_real_view else 1.0
            a = d if l_real_view else l_codes[blocks[b, 1], i]
            for c in range(k if r_real_view else 1):
                v = r_real[j, blocks[b, 0] + c] if r_real_view else 1.0
                z = c if r_real_view else r_codes[blocks[b, 0], j]
                entry = blocks[b, 2] + a * k + z
                q, x = entry, sign * u * v
                if len(home) > 0:
                    q, x = home[entry], x * factor[entry]
                if x != 0.0:
                    t = _add(q, x, acc, seen, t)
    return t
