"""Networks trained by likelihood: a pairwise Markov network by pseudo-likelihood.

    min_w  c2 ||w||^2 - sum_v log P(y_v | labels of the neighbours of v, x),
    P(y_v = a | ...) ~ exp( unary_v[a] + sum over edges at v of pairwise[a, y_u] )

The exact likelihood of a loopy network needs its partition function; Besag's
pseudo-likelihood replaces it by the conditionals of single nodes and is consistent. On
graphs without edges it is logistic regression. Prediction is that of `Network`.

[1] Besag 1975; the relational Markov networks of Taskar, Abbeel and Koller 2002 are the
    same models, trained by an approximate likelihood.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from maxmargin.core.data.arrays import Floats, Ints, Labels, Rows, pointers
from maxmargin.core.jit import loop
from maxmargin.inference.graph.tables import GraphTables
from maxmargin.structures.network import loops
from maxmargin.structures.network.structure import Network


class MarkovNetwork:
    """Pairwise Markov network by pseudo-likelihood (see the module docstring).

    Parameters
    ----------
    c2 : float, default=1.0
        Weight of the squared norm.
    structure : Network, optional
        Options of the network.
    max_iter : int, default=500
        Iterations of L-BFGS at most.

    Examples
    --------
    >>> link = [[0, 1]]
    >>> X = [([[1.0], [0.0]], link), ([[-1.0], [0.0]], link)]
    >>> y = [["hot", "warm"], ["cold", "cool"]]
    >>> MarkovNetwork(c2=0.01).fit(X, y).predict(X)[1].tolist()
    ['cold', 'cool']
    """

    def __init__(
        self, c2: float = 1.0, structure: Network | None = None, max_iter: int = 500
    ) -> None:
        self.c2 = c2
        self.structure = structure
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> MarkovNetwork:
        """Minimise; `objective_` is the value reached."""
        structure = (self.structure or Network()).bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        ids = np.arange(x.n)
        true = structure.local_labels(x, ids, truth)

        def objective(w: Floats) -> tuple[float, Floats]:
            tables = structure.tables(x, ids, w)
            value, node, edge_ptr, edge = conditionals(tables, true)
            rows = Rows(
                *loops.expected_difference(
                    ids, *x[:10], structure.layout, structure.dim, truth.ptr, true,
                    tables.label_ptr, node, tables.edge_ptr, edge_ptr, edge,
                )
            )  # fmt: skip
            gradient = 2.0 * self.c2 * w - rows.total(structure.dim)
            return value + self.c2 * float(w @ w), gradient

        start = np.zeros(structure.dim)
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": 1e-9, "gtol": 1e-5},
        )  # fmt: skip
        self.structure_, self.coef_, self.objective_ = structure, found.x, found.fun
        return self

    def predict(self, X: Any) -> list[Any]:
        """Best labels of each graph."""
        x = self.structure_.encode(X)
        labels = self.structure_.argmax(x, np.arange(x.n), self.coef_).labels
        return self.structure_.decode_labels(x, labels)


def conditionals(
    tables: GraphTables, true: Labels
) -> tuple[float, Floats, Ints, Floats]:
    """Minus the log pseudo-likelihood, and the expectations in its gradient.

    The gradient is psi(truth) minus the features under these numbers: for an edge,
    both conditionals of its ends, minus the truth that is counted once too often.
    """
    k = tables.n_labels
    edge_ptr = pointers(k[tables.edges[:, 0]] * k[tables.edges[:, 1]])
    value, node = _nodes(*tables[2:], true)
    return (
        value,
        node,
        edge_ptr,
        _edges(tables.label_ptr, tables.edges, edge_ptr, true, node),
    )


@loop
def _nodes(
    label_ptr: Ints, unary: Floats, edges: Ints, pair_ptr: Ints, pairwise: Floats,
    true: Labels,
) -> tuple[float, Floats]:  # fmt: skip
    """Negative log pseudo-likelihood; probability of each label given its neighbours."""
    score = unary.copy()
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[v + 1] - label_ptr[v]
        for a in range(label_ptr[u + 1] - label_ptr[u]):
            score[label_ptr[u] + a] += pairwise[pair_ptr[e] + a * k + true[v]]
        for b in range(k):
            score[label_ptr[v] + b] += pairwise[pair_ptr[e] + true[u] * k + b]
    value = 0.0
    for v in range(len(label_ptr) - 1):
        own = score[label_ptr[v] : label_ptr[v + 1]]
        top = own.max()
        value += top - own[true[v]]
        total = 0.0
        for a in range(len(own)):
            own[a] = np.exp(own[a] - top)
            total += own[a]
        for a in range(len(own)):
            own[a] /= total
        value += np.log(total)
    return value, score


@loop
def _edges(
    label_ptr: Ints, edges: Ints, edge_ptr: Ints, true: Labels, node: Floats
) -> Floats:
    """Expected minus true label pairs of each edge."""
    out = np.zeros(edge_ptr[-1])
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        k = label_ptr[v + 1] - label_ptr[v]
        for a in range(label_ptr[u + 1] - label_ptr[u]):
            out[edge_ptr[e] + a * k + true[v]] += node[label_ptr[u] + a]
        for b in range(k):
            out[edge_ptr[e] + true[u] * k + b] += node[label_ptr[v] + b]
        out[edge_ptr[e] + true[u] * k + true[v]] -= 1.0
    return out
