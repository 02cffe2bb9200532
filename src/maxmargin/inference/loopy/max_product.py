"""Loopy max-product with damping: belief propagation where it need not converge.

    M_vu(b) <- damping * M_vu(b) + (1 - damping) * max over a of
               unary_v[a] + sum of messages to v except from u + pairwise[a, b]

Nodes are visited in order and back. The best labels of all rounds are kept. Any
messages move score between nodes and edges without changing the total, so
sum_v max(unary + messages) + sum_e max(pairwise - both messages) is a valid bound.

[1] Pearl 1988; the inference that Taskar et al. 2003 used for hypertext.
"""

from __future__ import annotations

import numpy as np

from maxmargin.inference.graph.tables import Best, Tables, improve, loose_bound
from maxmargin.inference.loopy.messages import places, run_damped


def best(
    tables: Tables, max_iter: int = 50, damping: float = 0.5, tol: float = 1e-6
) -> Best:
    """Good labels of every graph, with a (weak) bound; exact on forests.

    Examples
    --------
    >>> agree = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> t = Tables.of([[0.0, 0.6], [0.0, 0.0], [0.5, 0.0]], [[0, 1], [1, 2]], agree)
    >>> best(t).labels.tolist()
    [1, 1, 1]
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, but must be at least 0 and below 1")
    labels, bound = run_damped(*tables, *places(tables), max_iter, damping, tol)
    labels = improve(tables, labels)
    score = tables.score(labels)
    bound = np.minimum(bound, loose_bound(tables))
    return Best(labels, score, np.maximum(bound, score))
