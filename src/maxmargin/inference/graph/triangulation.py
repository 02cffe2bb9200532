"""Elimination orders of graphs: which nodes meet in a clique, and how large it gets.

Eliminating a node joins its neighbours; the nodes that it still had, its scope, and
itself form a clique of the triangulated graph. Min-fill eliminates the node whose
neighbours lack the fewest edges. The largest scope is the width of the order, an upper
bound on the treewidth, and exact inference takes  sum_v prod_{u in clique} k_u.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, pointers

MAX_TABLE = 1 << 22  # labels of one clique
MAX_TOTAL = 1 << 25  # labels of all cliques


class TooDenseError(ValueError):
    """Exact inference would need tables that are too large."""


class Elimination(NamedTuple):
    """An order of the nodes of one graph, and the scope of each when its turn comes."""

    order: Ints  # (nodes,)
    scope_ptr: Ints  # (nodes + 1,) by position in the order
    scope: Ints  # nodes that the eliminated node still has as neighbours
    width: int  # size of the largest scope

    def cliques(self) -> list[list[int]]:
        """Maximal cliques of the triangulated graph."""
        scopes = np.split(self.scope, self.scope_ptr[1:-1])
        sets = [{int(v), *s.tolist()} for v, s in zip(self.order, scopes, strict=True)]
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        covered = set()
        for position, scope in enumerate(scopes):
            if len(scope):
                nearest = int(place[scope].min())
                if sets[nearest] <= sets[position]:
                    covered.add(nearest)
        return [sorted(s) for q, s in enumerate(sets) if q not in covered]


def eliminate(
    n_labels: Ints, edges: Labels, max_table: int = MAX_TABLE, what: str = "the graph"
) -> Elimination:
    """Min-fill order of one graph; refuses one whose tables would be too large.

    Examples
    --------
    >>> square = np.array([[0, 1], [1, 2], [2, 3], [3, 0]], np.int32)
    >>> eliminate(np.full(4, 5), square).width
    2
    """
    return _min_fill(n_labels, edges, max_table, what)


def try_eliminate(
    n_labels: Ints, edges: Labels, max_table: int = MAX_TABLE
) -> Elimination | None:
    """Min-fill order of one graph, or None where tables would be too large."""
    try:
        return _min_fill(n_labels, edges, max_table, "")
    except TooDenseError:
        return None


def _min_fill(n_labels: Ints, edges: Labels, max_table: int, what: str) -> Elimination:
    sizes = n_labels.tolist()
    near: list[set[int]] = [set() for _ in sizes]
    for u, v in edges.tolist():
        near[u].add(v)
        near[v].add(u)
    heap = [(_fill(near, v), v) for v in range(len(sizes))]
    current = [fill for fill, _ in heap]
    heapq.heapify(heap)
    done = [False] * len(sizes)
    order: list[int] = []
    scopes: list[list[int]] = []
    width, total = 0, 0.0
    while heap:
        fill, v = heapq.heappop(heap)
        if done[v] or fill != current[v]:
            continue
        scope = sorted(near[v])
        size = float(sizes[v])
        for u in scope:
            size *= sizes[u]
        width, total = max(width, len(scope)), total + size
        if size > max_table or total > MAX_TOTAL:
            raise TooDenseError(
                f"{what} is too dense for exact inference: its treewidth by min-fill "
                f"is at least {width}, which needs tables of {size:.3g} entries, "
                f"{total:.3g} in all (at most {max_table:.3g} and {MAX_TOTAL:.3g} are "
                "allowed); choose an approximate inference, such as 'trws' or 'lp'"
            )
        done[v] = True
        order.append(v)
        scopes.append(scope)
        for fresh in _join(near, v, scope, fill):
            current[fresh] = _fill(near, fresh)
            heapq.heappush(heap, (current[fresh], fresh))
    ptr = pointers([len(s) for s in scopes])
    flat = np.array([u for s in scopes for u in s], dtype=np.int64)
    return Elimination(np.array(order, dtype=np.int64), ptr, flat, width)


def _fill(near: list[set[int]], v: int) -> int:
    """Number of edges that the neighbours of v lack."""
    around = near[v]
    have = sum(len(near[u] & around) for u in around)
    return (len(around) * (len(around) - 1) - have) // 2


def _join(near: list[set[int]], v: int, scope: list[int], fill: int) -> set[int]:
    """Take v out, join its neighbours; nodes whose fill may have changed."""
    for u in scope:
        near[u].discard(v)
    touched = set(scope)
    if fill:
        for u in scope:
            lacking = [t for t in scope if t > u and t not in near[u]]
            for t in lacking:
                touched |= near[u] & near[t]
                near[u].add(t)
                near[t].add(u)
    near[v] = set()
    return touched
