"""A convergent dual bound with rounding: sequential tree-reweighted messages, TRW-S.

A sweep visits the nodes in order. With D = unary_v + all messages at v and
gamma = 1 / max(edges to earlier nodes, edges to later nodes), each later neighbour gets

    M(b) = max over a of  gamma * D[a] - (its message to v)[a] + pairwise[a, b]

and the constants taken out of D and M add up to an upper bound on the score of all
labels: what a node does not hand on is at most zero, so the bound holds whatever the
messages are. Bounds never rise; they tend to that of a local optimum of the LP's dual.

[1] Kolmogorov 2006, Convergent tree-reweighted message passing, figures 3 and 4.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.arrays import Floats, Labels
from maxmargin.inference.graph.tables import Best, Tables, improve
from maxmargin.inference.loopy.messages import places, run_reweighted


def best(tables: Tables, max_iter: int = 50, tol: float = 1e-6) -> Best:
    """Good labels of every graph, and a bound that no labels exceed.

    Parameters
    ----------
    tables : Tables
        Any graphs.
    max_iter : int
        Pairs of sweeps (forward and back), at most.
    tol : float
        Stop a graph when bound and score agree to this, relative to their size, or
        when the bound has stopped falling.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ring = [[0, 1], [1, 2], [2, 0]]
    >>> found = best(Tables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], ring, agree))
    >>> found.labels.tolist(), found.score.round(6).tolist()
    ([1, 1, 1], [3.6])
    """
    labels, bound = _solve(tables, max_iter, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    return Best(labels, score, np.maximum(bound, score))


def bound(tables: Tables, max_iter: int = 10) -> Floats:
    """An upper bound on the score of all labels of each graph."""
    return _solve(tables, max_iter, 1e-6)[1]


def _solve(tables: Tables, max_iter: int, tol: float) -> tuple[Labels, Floats]:
    parts = (*tables[:1], *tables[2:], *places(tables))
    return run_reweighted(*parts, max_iter, tol)  # type: ignore[no-any-return]
