"""All alignments of two sequences as a hypergraph: what n-best lists and sums need.

The same paths as in `best_path.py`: moves match, delete, insert, an insert never
followed by a delete, gaps with an opening and an extension score. A global path goes
from corner to corner; a local one from a match to a match, or is empty.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.alignment.best_path import LOCAL
from maxmargin.inference.hypergraph import Hypergraph, empty_edges


def path_hypergraph(
    rows: int, cols: int, padded: int, steps: tuple[int, int], offsets: tuple[int, int],
    mode: int,
) -> Hypergraph:  # fmt: skip
    """All paths through a table of rows x cols matches.

    Cell i * padded + j is match[i, j]. Row i is deleted with score offsets[0] + i *
    steps[0] (open) or one cell further (extend); inserts of column j likewise.
    """
    edges = empty_edges(10 * (rows + 1) * (cols + 1) + 4)
    ptr = np.zeros(3 * (rows + 1) * (cols + 1) + 2, np.int64)
    local = mode == LOCAL
    size = _fill(rows, cols, padded, *steps, *offsets, local, ptr, *edges)
    return Hypergraph(ptr, edges[0][:size], edges[1][:size])


@loop
def _fill(n, m, padded, down, right, delete, insert, local, ptr, tails, cells):
    """Nodes (i, j, state), state 0: match, 1: delete, 2: insert, then the goal."""
    e, v = 0, 0
    for i in range(n + 1):
        for j in range(m + 1):
            if i > 0 and j > 0:
                cell = (i - 1) * padded + j - 1
                for state in range(3):
                    e = _edge(tails, cells, e, m, i - 1, j - 1, state, cell)
                if local:
                    cells[e, 0] = cell
                    e += 1
            elif i == 0 and j == 0 and not local:
                e += 1
            v += 1
            ptr[v] = e
            if i > 0:
                cell = delete + (i - 1) * down
                e = _edge(tails, cells, e, m, i - 1, j, 0, cell)
                e = _edge(tails, cells, e, m, i - 1, j, 1, cell + 1)
            v += 1
            ptr[v] = e
            if j > 0:
                cell = insert + (j - 1) * right
                e = _edge(tails, cells, e, m, i, j - 1, 0, cell)
                e = _edge(tails, cells, e, m, i, j - 1, 1, cell)
                e = _edge(tails, cells, e, m, i, j - 1, 2, cell + 1)
            v += 1
            ptr[v] = e
    return _goal(n, m, local, ptr, tails, e, v)


@inner_loop
def _edge(tails, cells, e, m, i, j, state, cell):
    tails[e, 0] = (i * (m + 1) + j) * 3 + state
    cells[e, 0] = cell
    return e + 1


@inner_loop
def _goal(n, m, local, ptr, tails, e, v):
    """The last corner; locally any match, or nothing at all."""
    if local:
        e += 1
        for q in range((n + 1) * (m + 1)):
            if q // (m + 1) > 0 and q % (m + 1) > 0:
                tails[e, 0] = 3 * q
                e += 1
    else:
        for state in range(3):
            tails[e, 0] = (n * (m + 1) + m) * 3 + state
            e += 1
    ptr[v + 1] = e
    return e
