"""Bipartite matching: the best assignment of rows to columns, batch by batch.

Every row i of an (n, m) table, n <= m, gets a column of its own; the score is the sum of
table[i, column(i)]. Shortest augmenting paths with potentials, O(n^2 m).

[1] Jonker and Volgenant 1987, A shortest augmenting path algorithm for dense and sparse
linear assignment problems.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import loop


@loop
def best_assignments(first, last, tables, sizes, columns, value):
    """columns[b, i] of each row, and the score; -inf if all assignments are forbidden.

    Table b is tables[b, : sizes[b, 0], : sizes[b, 1]].
    """
    N, M = tables.shape[1], tables.shape[2]
    cost = np.empty((N, M))
    u, v = np.empty(N + 1), np.empty(M + 1)
    owner, way = np.empty(M + 1, np.int64), np.empty(M + 1, np.int64)
    least, used = np.empty(M + 1), np.empty(M + 1, np.bool_)
    for b in range(first, last):
        n, m = sizes[b, 0], sizes[b, 1]
        low, high = np.inf, -np.inf
        for i in range(n):
            for j in range(m):
                s = np.float64(tables[b, i, j])
                if s > -np.inf:
                    low, high = min(low, s), max(high, s)
        # A forbidden pair costs more than any assignment without one.
        forbidden = (n + 1.0) * (high - low + 1.0) if high > -np.inf else 1.0
        for i in range(n):
            for j in range(m):
                s = np.float64(tables[b, i, j])
                cost[i, j] = high - s if s > -np.inf else forbidden
        u[: n + 1] = 0.0
        v[: m + 1] = 0.0
        owner[: m + 1] = 0
        for i in range(1, n + 1):
            owner[0] = i
            j0 = 0
            for j in range(m + 1):
                least[j], used[j] = np.inf, False
            while True:
                used[j0] = True
                i0, delta, j1 = owner[j0], np.inf, 0
                for j in range(1, m + 1):
                    if not used[j]:
                        c = cost[i0 - 1, j - 1] - u[i0] - v[j]
                        if c < least[j]:
                            least[j], way[j] = c, j0
                        if least[j] < delta:
                            delta, j1 = least[j], j
                for j in range(m + 1):
                    if used[j]:
                        u[owner[j]] += delta
                        v[j] -= delta
                    else:
                        least[j] -= delta
                j0 = j1
                if owner[j0] == 0:
                    break
            while j0 != 0:
                j1 = way[j0]
                owner[j0] = owner[j1]
                j0 = j1
        total = 0.0
        for j in range(1, m + 1):
            if owner[j] > 0:
                columns[b, owner[j] - 1] = j - 1
                total += tables[b, owner[j] - 1, j - 1]
        value[b] = total
