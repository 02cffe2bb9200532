"""Dependency trees of one sentence from a table of arc scores: best, k best, max-marginals.

    score(tree) = sum_m arcs[m, head(m), label(m)]

arcs has the shape (tokens, 1 + tokens, labels): head 0 is the root, head h > 0 is token
h - 1, and -inf forbids an arc. A tree is a row with head * labels + label of each token.

Trees without crossing arcs come from Eisner's items. For the others the k best are found
by partition: the trees other than the best, y, fall into sets m = 0, 1, ..: those that
agree with y before token m and differ from it at m. The best of each set is one more
call of Chu-Liu/Edmonds [1].

[1] Lawler 1972, A procedure for computing the k best solutions.
"""

from __future__ import annotations

import heapq

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.inference.hypergraph import best_by_cost, k_best
from maxmargin.inference.hypergraph import max_marginals as hypergraph_max_marginals
from maxmargin.inference.tree.arborescence import best_arborescences
from maxmargin.inference.tree.eisner import best_projective, projective_hypergraph


def best_tree(arcs: Floats, projective: bool, single: bool) -> tuple[Labels, float]:
    """The best tree and its score; -inf if there is none.

    Examples
    --------
    >>> arcs = np.zeros((2, 3, 1))
    >>> arcs[0, 2, 0] = arcs[1, 0, 0] = 1.0
    >>> row, score = best_tree(arcs, projective=True, single=True)
    >>> row.tolist(), score
    ([2, 0], 2.0)
    """
    n = len(arcs)
    rows, value = np.zeros((1, n), np.int32), np.zeros(1)
    if n:
        solve = best_projective if projective else best_arborescences
        solve(0, 1, arcs[None], np.array([n]), single, rows, value)
    return rows[0], float(value[0])


def best_trees(
    arcs: Floats, k: int, projective: bool, single: bool
) -> tuple[list[Labels], list[float]]:
    """The k best trees, or all if there are fewer, with their scores, best first.

    Examples
    --------
    >>> rows, scores = best_trees(np.zeros((2, 3, 1)), 5, projective=False, single=True)
    >>> sorted(row.tolist() for row in rows), scores
    ([[0, 1], [2, 0]], [0.0, 0.0])
    """
    n, heads, labels = arcs.shape
    if n == 0:
        return [np.empty(0, np.int32)], [0.0]
    if not projective:
        return _by_partition(arcs, k, single)
    graph = projective_hypergraph(n, n, labels, single)
    cells, score = k_best(graph, _without_loops(arcs).ravel(), k)
    rows = [np.sort(cells.row(q)) % (heads * labels) for q in range(cells.n)]
    return [row.astype(np.int32) for row in rows], score.tolist()


def tree_max_marginals(arcs: Floats, projective: bool, single: bool) -> Floats:
    """Like `arcs`: the score of the best tree that has the arc, -inf if none has it."""
    if projective and len(arcs):
        n, _, labels = arcs.shape
        graph = projective_hypergraph(n, n, labels, single)
        best = hypergraph_max_marginals(graph, _without_loops(arcs).ravel())
        return best.reshape(arcs.shape)
    out = np.full(arcs.shape, -np.inf)
    for m, h, c in np.argwhere(np.isfinite(_without_loops(arcs))).tolist():
        forced = arcs.copy()
        forced[m] = -np.inf
        forced[m, h, c] = arcs[m, h, c]
        out[m, h, c] = best_tree(forced, projective, single)[1]
    return out


def best_trees_by_cost(
    arcs: Floats, units: Ints, single: bool
) -> tuple[list[Labels], list[float]]:
    """The best projective tree for each total cost that occurs, with its score.

    Parameters
    ----------
    units : array like `arcs`
        Cost of each arc, a whole number that is not negative.
    """
    n, heads, labels = arcs.shape
    if n == 0:
        return [np.empty(0, np.int32)], [0.0]
    graph = projective_hypergraph(n, n, labels, single)
    high = int(units.max(axis=(1, 2)).sum())
    _, cells, score = best_by_cost(
        graph, _without_loops(arcs).ravel(), units.ravel(), 0, high
    )
    rows = [np.sort(cells.row(q)) % (heads * labels) for q in range(cells.n)]
    return [row.astype(np.int32) for row in rows], score.tolist()


def _without_loops(arcs: Floats) -> Floats:
    """The table with arcs from a token to itself forbidden."""
    out = arcs.copy()
    each = np.arange(len(arcs))
    out[each, each + 1] = -np.inf
    return out


def _by_partition(
    arcs: Floats, k: int, single: bool
) -> tuple[list[Labels], list[float]]:
    labels = arcs.shape[2]
    row, score = best_tree(arcs, False, single)
    heap = [(-score, 0, row, arcs, 0)] if score > -np.inf else []
    rows: list[Labels] = []
    scores: list[float] = []
    count = 0
    while heap and len(rows) < k:
        less, _, row, table, fixed = heapq.heappop(heap)
        rows.append(row)
        scores.append(-less)
        agrees = table.copy()
        for m in range(fixed, len(row)):
            h, c = divmod(int(row[m]), labels)
            kept = agrees[m, h, c]
            agrees[m, h, c] = -np.inf  # differs at m, after agreement before it
            other, score = best_tree(agrees, False, single)
            if score > -np.inf:
                count += 1
                heapq.heappush(heap, (-score, count, other, agrees.copy(), m))
            agrees[m] = -np.inf
            agrees[m, h, c] = kept
    return rows, scores
