"""Exact search with toulbar2, where that optional package is installed.

Branch and bound over soft arc consistency; scores are handed over as costs with
`DECIMALS` decimals, so the optimum is exact to that precision.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import Labels
from maxmargin.inference.graph.tables import Best, GraphTables, improve
from maxmargin.inference.loopy import messages

DECIMALS = 6


def best_by_search(tables: GraphTables, max_time: float = 10.0) -> Best:
    """Best labels of each graph; where time runs out, the best seen and a bound.

    Parameters
    ----------
    tables : GraphTables
        Any graphs.
    max_time : float
        Seconds for each graph.
    """
    labels = np.zeros(tables.n_nodes, np.int32)
    proved = np.zeros(tables.n, bool)
    for g in range(tables.n):
        found, proved[g] = _one(tables.take([g]), max_time)
        labels[tables.node_ptr[g] : tables.node_ptr[g + 1]] = found
    score = tables.score(labels)
    parts = np.diff(tables.node_ptr) + np.diff(tables.edge_ptr)
    bound = score + 10.0**-DECIMALS * parts
    if not proved.all():
        open_ = np.flatnonzero(~proved)
        bound[open_] = np.maximum(
            score[open_], messages.trws_bound(tables.take(open_), 50)
        )
    return Best(labels, score, bound)


def _one(tables: GraphTables, max_time: float) -> tuple[Labels, bool]:
    try:
        import pytoulbar2
    except ImportError as missing:
        raise ImportError(
            "inference='search' needs the package pytoulbar2: "
            "pip install maxmargin[networks]"
        ) from missing
    first = messages.best_by_trws(tables, max_iter=20)
    if first.bound[0] - first.score[0] <= 10.0**-DECIMALS:
        return first.labels, True
    problem = pytoulbar2.CFN(resolution=DECIMALS, verbose=-1)
    k = tables.n_labels
    for v in range(tables.n_nodes):
        problem.AddVariable(f"v{v}", range(int(k[v])))
        own = tables.unary[tables.label_ptr[v] : tables.label_ptr[v + 1]]
        problem.AddFunction([v], (own.max() - own).tolist())
    for e, (u, v) in enumerate(tables.edges.tolist()):
        table = tables.table(e)
        problem.AddFunction([u, v], (table.max() - table).ravel().tolist())
    found = problem.Solve(timeLimit=max(1, int(max_time)))
    if not found:
        return first.labels, False
    labels = improve(tables, np.array(found[0], dtype=np.int32))
    proved = problem.GetDDualBound() >= found[1] - 10.0**-DECIMALS
    return labels, bool(proved)
