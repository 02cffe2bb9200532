"""Loops over the cells that outputs choose: their scores, indicators and costs."""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import loop


@loop
def add_scores_of_cells(table, row, place, weight, out):
    """Add table[place] (times its weight, if there are weights) to out[row]."""
    for k in range(len(place)):
        v = np.float64(table[place[k]])
        out[row[k]] += v * weight[k] if len(weight) > 0 else v


@loop
def add_factors_to_cells(table, row, place, weight, factor):
    """Add factor[row] (times the cell's weight, if any) to table[place]."""
    for k in range(len(place)):
        f = factor[row[k]]
        table[place[k]] += f * weight[k] if len(weight) > 0 else f


@loop
def sum_costs(cost_place, change, cell_place, size, rows, out):
    """Add the changes of all cells that are among the costs to out[row].

    Row b has the places b * size .. (b + 1) * size - 1; costs and cells come by row.
    """
    mark = np.zeros(size)
    first, cell = 0, 0
    for b in range(rows):
        begin, end = b * size, (b + 1) * size
        last = first
        while last < len(cost_place) and cost_place[last] < end:
            mark[cost_place[last] - begin] += change[last]
            last += 1
        while cell < len(cell_place) and cell_place[cell] < end:
            out[b] += mark[cell_place[cell] - begin]
            cell += 1
        for k in range(first, last):
            mark[cost_place[k] - begin] = 0.0
        first = last


@loop
def add_changes(table, place, change):
    """Add change[k] to table[place[k]]."""
    for k in range(len(place)):
        table[place[k]] += change[k]


@loop
def spread_costs(truth_row, truth_place, cost, most, place, change, high):
    """Costs of all choices at each true cell; the largest of a row, in units, in `high`.

    The table is (rows, positions, choices), cost is (choices, choices).
    """
    K = len(cost)
    for k in range(len(truth_place)):
        true = truth_place[k] % K
        for c in range(K):
            place[k * K + c] = truth_place[k] - true + c
            change[k * K + c] = cost[true, c]
        high[truth_row[k]] += most[true]


@loop
def pad(ptr, data, width):
    """Rows as (rows, width), -1 behind each."""
    n = len(ptr) - 1
    out = np.full((n, width), -1, np.int64)
    for b in range(n):
        for k in range(ptr[b], ptr[b + 1]):
            out[b, k - ptr[b]] = data[k]
    return out


@loop
def cut(padded, sizes):
    """Pointers and entries of the first sizes[b] entries of each row."""
    n = len(sizes)
    ptr = np.zeros(n + 1, np.int64)
    for b in range(n):
        ptr[b + 1] = ptr[b] + sizes[b]
    out = np.empty(ptr[n], np.int32)
    for b in range(n):
        for k in range(sizes[b]):
            out[ptr[b] + k] = padded[b, k]
    return ptr, out
