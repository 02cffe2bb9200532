"""Best alignments of many pairs in one loop: fill a table, enter the loss, find a path.

There is one table at a time: it is read again while it is still in the cache, which
makes finding the path 1.5 times as fast as from memory, and however many pairs there
are, the loop is entered once, so that threads do not wait for each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Ragged
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import band, best_paths
from maxmargin.structures.alignment.features import fill_cells, gap_scores, lower_cells
from maxmargin.structures.alignment.inputs import Side
from maxmargin.structures.alignment.layout import AlignmentLayout


class Penalty(NamedTuple):
    """What correct matches take from the value of a path."""

    truth: Ragged
    shift: int
    saved: Floats  # (pairs,) per correct match; where 0, `truth` is not looked at


def best_alignments(
    left: Ints, right: Ints, sides: tuple[Side, Side], layout: AlignmentLayout, full: Floats,
    paths: tuple[int, int, bool], penalty: Penalty,
) -> tuple[Ragged, Floats]:  # fmt: skip
    """Best path of each pair of sequences (left[p], right[p]), and its value.

    `paths` says which there are: width of the band, mode, whether gaps are affine.
    """
    s, t = sides
    ptr, data, value = _search(
        left, right, s.ptr, t.ptr, s.codes, t.codes, s.slots, t.slots, s.real, t.real,
        layout.blocks, layout.left_gaps, layout.right_gaps, full, *paths,
        *penalty.truth, penalty.shift, penalty.saved,
    )  # fmt: skip
    return Ragged(ptr, data), value


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
