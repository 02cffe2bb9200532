"""Best alignments of many pairs in one loop, with or without their paths.

Where scores depend on the letters at i and j only and all gaps have one price, no table
is made (`inference.alignment.letter_paths`); if scores are also integers, or integers
over a small power of two, they are added up as integers of 16 or 32 bits, whichever
holds all values of a table. Sums are exact then, so that nothing depends on the type.

For all other models a table is filled, the loss entered, and a path found. There is one
table at a time: it is read again while it is still in the cache, which makes finding the
path 1.5 times as fast as from memory, and however many pairs there are, the loop is
entered once, so that threads do not wait for each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import band, best_paths
from maxmargin.inference.alignment.letter_paths import LANES, letter_paths
from maxmargin.structures.alignment.features import fill_cells, gap_scores, lower_cells
from maxmargin.structures.alignment.inputs.encoding import Side
from maxmargin.structures.alignment.layout import (
    FIRST,
    LEFT,
    LEFT_REAL,
    LEFT_SIZE,
    OPEN,
    RIGHT,
    RIGHT_SIZE,
    WIDE,
    AlignmentLayout,
)

WHOLE = 2**40  # width of a band that has all cells
UNITS = (1, 2, 4, 8, 16)  # scores times one of these may be integers


class PathRules(NamedTuple):
    """Which paths there are, and what is asked about them."""

    width: int  # of the band
    mode: int
    affine: bool
    even: bool  # whether all gaps have one price
    traced: bool = True  # whether paths are wanted, or only their values


class PairScores(NamedTuple):
    """Which sequences are aligned, and what their positions and gaps score."""

    left: Ints  # (pairs,) sequence of each side
    right: Ints
    sides: tuple[Side, Side]
    layout: AlignmentLayout
    full: Floats  # all entries of the layout


class Penalty(NamedTuple):
    """What correct matches take from the value of a path."""

    truth: Ragged
    shift: int
    saved: Floats  # (pairs,) per correct match; where 0, `truth` is not looked at


class LetterScores(NamedTuple):
    """A model whose scores depend on letters and whose gaps have one price."""

    left: Labels  # letters of the sequences
    right: Labels
    match: Floats  # (left letters, right letters)
    gaps: Floats  # (4,) open and extend a delete, open and extend an insert


def best_alignments(
    left: Ints, right: Ints, sides: tuple[Side, Side], layout: AlignmentLayout, full: Floats,
    rules: PathRules, penalty: Penalty,
) -> tuple[Ragged, Floats]:  # fmt: skip
    """Best path of each pair of sequences (left[p], right[p]), and its value."""
    s, t = sides
    simple = letter_scores(sides, layout, full, rules)
    if simple is not None:
        return _letter_alignments(left, right, (s.ptr, t.ptr), simple, rules, penalty)
    ptr, data, value = _search(
        left, right, s.ptr, t.ptr, s.codes, t.codes, s.slots, t.slots, s.real, t.real,
        layout.blocks, layout.left_gaps, layout.right_gaps, full, *rules[:3],
        *penalty.truth, penalty.shift, penalty.saved,
    )  # fmt: skip
    return Ragged(ptr, data), value


def letter_scores(
    sides: tuple[Side, Side], layout: AlignmentLayout, full: Floats, rules: PathRules
) -> LetterScores | None:
    """Scores by letter, if the model has no more than these."""
    if not rules.even or rules.width < WHOLE or len(layout.blocks) != 1:
        return None
    block = layout.blocks[0]
    if block[LEFT_REAL : WIDE + 1].any():
        return None
    first, shape = block[FIRST], (int(block[LEFT_SIZE]), int(block[RIGHT_SIZE]))
    match = full[first : first + shape[0] * shape[1]].reshape(shape)
    gaps = np.zeros(4)
    for k, rows in enumerate((layout.left_gaps, layout.right_gaps)):
        for kind, _, _, offset in rows.tolist():
            gaps[2 * k + kind] += full[offset]
    if not rules.affine:
        gaps = gaps[[OPEN, OPEN, 2 + OPEN, 2 + OPEN]]
    return LetterScores(
        sides[0].codes[block[LEFT]], sides[1].codes[block[RIGHT]], match, gaps
    )


def _letter_alignments(
    left: Ints, right: Ints, ptr: tuple[Ints, Ints], simple: LetterScores,
    rules: PathRules, penalty: Penalty,
) -> tuple[Ragged, Floats]:  # fmt: skip
    """As `best_alignments`, in the smallest numbers that hold all values."""
    rows, cols = np.diff(ptr[0])[left], np.diff(ptr[1])[right]
    unit, types = number_types(simple, rows, cols)
    if penalty.saved.any():
        types = np.full(len(left), 2)
    found, value, order = [], np.empty(len(left)), np.empty(len(left), np.int64)
    at = 0
    for kind in np.unique(types).tolist():
        own = np.flatnonzero(types == kind)
        match, gaps = _as_type(simple, unit, NUMBERS[kind])
        truth = penalty.truth if len(own) == len(left) else Ragged.pack([])
        path_ptr, data, best = letter_paths(
            left[own], right[own], *ptr, simple.left, simple.right, match, gaps,
            None if kind == 2 else False, rules.mode, rules.affine, rules.traced,
            *truth, penalty.shift, penalty.saved[own],
        )  # fmt: skip
        found.append(Ragged(path_ptr, data))
        value[own] = best if kind == 2 else best / unit
        order[own] = at + np.arange(len(own))
        at += len(own)
    if len(found) == 1:
        return found[0], value
    return Ragged.concat(found).take(order), value


NUMBERS: tuple[Any, ...] = (np.int16, np.int32, np.float64)


def number_types(simple: LetterScores, rows: Ints, cols: Ints) -> tuple[int, Ints]:
    """Unit of the scores, and the index in `NUMBERS` of what holds all values of a pair.

    A value is at most that of matching all letters of one sequence at the best score,
    and at least that of a path of gaps, one match and one gap more. There must also be
    room below for what stands for minus infinity.

    Examples
    --------
    >>> letters = np.zeros(1, np.int32)
    >>> simple = LetterScores(letters, letters, np.full((4, 4), 2.5), -np.ones(4))
    >>> unit, types = number_types(simple, np.array([9, 9000]), np.array([9, 9000]))
    >>> unit, types.tolist()
    (2, [0, 1])
    """
    match, gaps = simple.match, simple.gaps
    unit = next((u for u in UNITS if _integral(match, u) and _integral(gaps, u)), 0)
    if (
        unit == 0 or not match.any()
    ):  # weights before training: spare compiling integers
        return 1, np.full(len(rows), 2)
    slack = _slack(match * unit, gaps * unit)
    rows, cols = rows + 1, cols + LANES
    most = np.minimum(rows, cols) * max(0.0, match.max()) + (rows + cols) * max(
        0.0, gaps.max()
    )
    least = (rows + cols) * min(0.0, gaps[1], gaps[3]) + 3.0 * min(
        0.0, gaps[0], gaps[2]
    )
    least = least + min(0.0, match.min())
    out = np.full(len(rows), 2)
    for kind in (1, 0):
        limit = float(np.iinfo(NUMBERS[kind]).max)
        fits = (unit * most + slack < limit) & (unit * least - 3.0 * slack > -limit)
        out[fits] = kind
    return unit, out


def _integral(values: Floats, unit: int) -> bool:
    few = values.ravel()[:16] * unit  # learned scores are told from integers by these
    if not (few == np.rint(few)).all():
        return False
    scaled = values * unit
    return bool((scaled == np.rint(scaled)).all())


def _slack(match: Floats, gaps: Floats) -> float:
    """How far from minus infinity a value goes that begins there."""
    return float(8.0 * (np.abs(match).max() + np.abs(gaps).sum()) + 64.0 * abs(gaps[3]))


def _as_type(simple: LetterScores, unit: int, number: Any) -> tuple[Any, Any]:
    """Scores in this type; behind the gaps what stands for minus infinity."""
    if number is np.float64:
        return np.array(simple.match), np.append(simple.gaps, -np.inf)
    match, gaps = simple.match * unit, simple.gaps * unit
    floor = float(np.iinfo(number).min) + _slack(match, gaps)
    return match.astype(number), np.append(gaps, floor).astype(number)


@loop
def _search(
    left, right, l_ptr, r_ptr, l_codes, r_codes, l_slots, r_slots, l_real, r_real,
    blocks, l_gaps, r_gaps, full, width, mode, affine, truth_ptr, truth, shift, saved,
):  # fmt: skip
    rows, cols = _lengths(left, l_ptr), _lengths(right, r_ptr)
    moves, cells = _room(rows, cols, width)
    out_ptr, value = np.zeros(len(left) + 1, np.int64), np.empty(len(left))
    out, match = np.empty(moves, np.int32), np.empty(cells)
    for p in range(len(left)):
        one, m, n = slice(p, p + 1), rows[p], cols[p]
        lo, hi, start = band(rows[one], cols[one], width)
        fill_cells(left[one], right[one], l_ptr, r_ptr, l_codes, r_codes, l_real,
                   r_real, blocks, full, lo, hi, start, match)  # fmt: skip
        row_gap, col_gap = np.zeros((4, m + 1)), np.zeros((4, n + 1))
        gap_scores(left[one], l_ptr, l_codes, l_slots, l_gaps, full, row_gap)
        gap_scores(right[one], r_ptr, r_codes, r_slots, r_gaps, full, col_gap)
        if not affine:
            _extend_as_open(row_gap)
            _extend_as_open(col_gap)
        if saved[p] != 0.0:
            lower_cells(truth_ptr[p : p + 2], truth, rows[one], lo, hi, start, shift,
                        saved[one], match)  # fmt: skip
        _, path, best = best_paths(
            rows[one], cols[one], lo, hi, start, match, row_gap, col_gap, mode, affine
        )
        value[p] = best[0]
        for k in range(len(path)):
            out[out_ptr[p] + k] = path[k]
        out_ptr[p + 1] = out_ptr[p] + len(path)
    return out_ptr, out[: out_ptr[-1]].copy(), value


@inner_loop
def _lengths(which, ptr):
    out = np.empty(len(which), np.int64)
    for p in range(len(which)):
        out[p] = ptr[which[p] + 1] - ptr[which[p]]
    return out


@inner_loop
def _room(rows, cols, width):
    """Entries of all paths, and cells of any of the tables."""
    moves, cells = 0, 0
    for p in range(len(rows)):
        moves += rows[p] + cols[p] + 2
        widest = min(cols[p], 2 * width + cols[p] // rows[p] + 3)
        cells = max(cells, rows[p] * widest)
    return moves, cells


@inner_loop
def _extend_as_open(gap):
    for k in range(gap.shape[1]):
        gap[1, k], gap[3, k] = gap[0, k], gap[2, k]
