"""Where the weights of an alignment model lie.

    score(i, j) = sum over pairs b of views  u_b(i)' W_b v_b(j)

with u, v indicators of symbols or real vectors. All W_b, (left, right symbols), lie one
after the other, then the weights of gaps: those of a delete, those of an insert, each
opening, slot, extension. An entry is coordinate `home` of w times `factor`: tied entries
share a home, and a known substitution matrix has one home and its scores as factors.
Tied entries of a kernel's features have the factor sqrt(1/2), so that both count in
|w|^2: the model is that of the kernel

    1/2 (K(s, s') K(t, t') + K(s, t') K(t, s'))

whatever map of the kernel the features are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.data.validation import check_types
from maxmargin.structures.alignment.inputs.encoding import Symbols
from maxmargin.structures.alignment.inputs.views import END, Gaps, Pair, Prior, View

OPEN, EXTEND, SLOT = 0, 1, 2  # rows of AlignmentTables.row_gap and col_gap
KINDS = ("open", "extend", "open", "extend")
# Columns of `AlignmentLayout.blocks`: row of the right and the left view, first entry,
# number of left and right symbols, whether left and right are real, whether there are
# windows or reals, whether it is the last pair with this right view.
RIGHT, LEFT, FIRST, LEFT_SIZE, RIGHT_SIZE, LEFT_REAL, RIGHT_REAL, WIDE, LAST = range(9)


class AlignmentLayout(NamedTuple):
    """Where the weights of a bound model lie."""

    blocks: Ints  # (pairs, 9) see above; local pairs first, then by right view
    left_gaps: Ints  # (k, 4) row of row_gap, whether a slot, row of codes, offset
    right_gaps: Ints  # (k, 4) the same for col_gap
    home: Labels  # (entries,) coordinate of w; empty: the entry itself
    factor: Floats  # (entries,) empty with `home`
    dim: int

    def validate(self) -> None:
        """Arrays; `Alignment.validate` compares them with what they follow from."""
        check_types(self)

    def full(self, w: Floats) -> Floats:
        """All entries from the weights."""
        return w[self.home] * self.factor if len(self.home) else w


def lay_weights(
    symbols: Symbols, model: Sequence[Pair], gaps: Gaps, left: Sequence[View],
    right: Sequence[View], symmetric: bool, kernel: View | None = None,
) -> AlignmentLayout:  # fmt: skip
    """Offsets of all pairs and gap views.

    left, right: views as they are coded. kernel: the view of a kernel's features.
    """
    rows: list[tuple[int, ...]] = []
    ties, factors, offset = [], [], 0
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
            if pair.left == kernel:
                factor = np.where(np.eye(a, dtype=bool), 1.0, np.sqrt(0.5))
        elif symmetric and mirror is not None:
            tie = mirror + np.arange(a * b).reshape(b, a).T
        elif symmetric and Pair(pair.right, pair.left) not in model:
            raise ValueError(
                f"symmetric=True: the features have the pair ({pair.left.name}, "
                f"{pair.right.name}), but not the pair the other way round"
            )
        if pair.table is None:
            spans[pair.left, pair.right] = offset
        rows.append((
            row_of(right, pair.right, symbols), row_of(left, pair.left, symbols),
            offset, a, b, int(pair.left.real), int(pair.right.real),
            int(not (_is_local(pair.left) and _is_local(pair.right))), 1,
        ))  # fmt: skip
        ties.append(tie.ravel())
        factors.append(factor.ravel())
        offset += a * b
    tied = replace(gaps, tied=gaps.tied or symmetric)
    left_gaps, right_gaps, gap_ties, gap_factors = _lay_gaps(
        symbols, tied, left, right, offset
    )
    offset += len(gap_ties)
    tie = np.concatenate([*ties, gap_ties])
    factor = np.concatenate([*factors, gap_factors])
    for pair, own in zip(model, ties, strict=True):
        if not isinstance(pair.table, Prior):
            continue
        for gap_rows, views in ((left_gaps, left), (right_gaps, right)):
            row = row_of(views, View(), symbols)
            gap_rows += [(OPEN, 0, row, offset), (EXTEND, 0, row, offset + 1)]
        tie = np.concatenate([tie, [own[0], own[0]]])
        factor = np.concatenate([factor, pair.table.gaps])
        offset += 2
    coordinates, home = np.unique(tie, return_inverse=True)
    plain = len(coordinates) == len(tie) and (factor == 1.0).all()
    blocks = np.array(rows, np.int64).reshape(-1, LAST + 1)
    blocks = blocks[
        np.lexsort((blocks[:, RIGHT], blocks[:, RIGHT_REAL], blocks[:, WIDE]))
    ]
    group = blocks[:, [RIGHT, RIGHT_REAL, WIDE]]
    blocks[:-1, LAST] = (group[1:] != group[:-1]).any(axis=1)
    return AlignmentLayout(
        blocks,
        np.array(left_gaps, np.int64).reshape(-1, 4),
        np.array(right_gaps, np.int64).reshape(-1, 4),
        np.empty(0, np.int32) if plain else home.astype(np.int32),
        np.empty(0) if plain else factor,
        len(coordinates),
    )


def count_entries(symbols: Symbols, model: Sequence[Pair], gaps: Gaps) -> int:
    """Weights of all pairs and gaps before any are tied, without making a table."""
    total = sum(symbols.size(p.left) * symbols.size(p.right) for p in model)
    for _, slot, views in gap_kinds(gaps):
        total += 2 * sum(symbols.size(view, slot) for view in views)
    return total + 2 * sum(isinstance(p.table, Prior) for p in model)


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
    known = np.asarray(pair.table.scores, np.float64)[np.ix_(a, b)]
    scores = np.zeros((symbols.size(pair.left), symbols.size(pair.right)))
    scores[: len(a), : len(b)] = known  # unknown letters score nothing
    return scores


def gap_kinds(gaps: Gaps) -> list[tuple[int, bool, tuple[View, ...]]]:
    """Rows of the tables of gaps, whether they are about slots, and their views."""
    ends: tuple[View, ...] = (END,) if gaps.ends else ()
    kinds = [(OPEN, False, gaps.opening), (SLOT, True, gaps.slot), (SLOT, True, ends)]
    if gaps.affine:
        kinds += [(EXTEND, False, gaps.extension), (SLOT + EXTEND, True, ends)]
    return kinds


def _lay_gaps(
    symbols: Symbols, gaps: Gaps, left: Sequence[View], right: Sequence[View],
    offset: int,
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], Ints, Floats]:  # fmt: skip
    """Entries of the gap views: deletes, then inserts; tied ones point back.

    Of a view of the ends the first symbol is a slot inside, which adds nothing.
    """
    sides: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = ([], [])
    ties, factors = [np.empty(0, np.int64)], [np.empty(0)]
    for skipped, other, views in ((0, 1, left), (1, 0, right)):
        for kind, slot, described in gap_kinds(gaps):
            for view in described:
                row = row_of(gaps.around if slot else views, view, symbols)
                side = other if slot else skipped
                sides[side].append((kind, int(slot), row, offset))
                index = offset + np.arange(symbols.size(view, slot))
                factor = np.ones(len(index))
                offset += len(index)
                if view.ends:
                    index[0], factor[0] = index[1], 0.0
                ties.append(index)
                factors.append(factor)
    flat, factor = np.concatenate(ties), np.concatenate(factors)
    if gaps.tied:
        half = len(flat) // 2
        flat = np.concatenate([flat[:half], flat[:half]])
    return sides[0], sides[1], flat, factor


def weight_names(
    symbols: Symbols, model: Sequence[Pair], gaps: Gaps, layout: AlignmentLayout,
    symmetric: bool = False,
) -> list[str]:  # fmt: skip
    """Names of the coordinates of w; tied ones are named by their first entry."""
    names: list[str] = []
    for pair in model:
        left, right = symbols.names(pair.left), symbols.names(pair.right)
        if pair.table is None:
            names += [f"{a}|{b}" for a in left for b in right]
        else:
            kind = "prior" if isinstance(pair.table, Prior) else "matrix"
            names += [f"{kind}({pair.left.name})"] * (len(left) * len(right))
    for move in ("gap", "gap") if gaps.tied or symmetric else ("delete", "insert"):
        for row, slot, views in gap_kinds(gaps):
            word = KINDS[row] if not slot or END in views else "around"
            for view in views:
                names += [f"{move} {word} {n}" for n in symbols.names(view, slot)]
    if len(layout.home) == 0:
        return names
    # Gap scores of a prior come last and belong to the weight of its matches.
    first = np.unique(layout.home, return_index=True)[1]
    return [names[k] for k in first]
