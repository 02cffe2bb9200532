"""Losses of the form "pairs" in the cells of alignment tables.

A match (i, j) is correct if the reference matches (u, j) with |i - u| <= shift; each
correct match lowers the loss by 1 / M, so its cell is lowered by weight / M.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Ragged
from maxmargin.core.jit import loop
from maxmargin.inference.alignment.best_path import DELETE, INSERT, MATCH, Tables


def correct_cells(tables: Tables, truth: Ragged, shift: int) -> NDArray[np.uint8]:
    """1 in the cells of correct matches."""
    cells, ones = np.zeros(len(tables.match)), -np.ones(len(tables.rows))
    lower_cells(
        *truth, tables.rows, tables.lo, tables.hi, tables.start, shift, ones, cells
    )
    return cells.astype(np.uint8)


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
