"""Linear-chain conditional random field on the chain's features, by L-BFGS.

    min_w  sum_i [ log Z(x_i) - <w, psi(x_i, y_i)> ] + c2 ||w||^2,
    Z(x) = sum_y exp <w, psi(x, y)>,

with gradient E[psi] - psi(x_i, y_i) + 2 c2 w; expectations by forward-backward with
scaled values. c2 is CRFsuite's.

[1] Lafferty, McCallum, Pereira 2001; Rabiner 1989, section V.A (scaling).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, add_scores
from maxmargin.core.jit import inner_loop, loop
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.tokens.token_rows import Tokens


class CRF:
    """Linear-chain CRF (see the module docstring).

    Parameters
    ----------
    c2 : float, default=1.0
        Weight of the squared norm.
    max_iter : int, default=1000
        Iterations of L-BFGS at most.
    tol : float, default=1e-5
        Stop when the objective falls by less than this share.
    structure : Chain, optional
        Options of the chain; order 1 and without edge features.

    Examples
    --------
    >>> X, y = [[["the"], ["dog"]], [["a"], ["dog"], ["runs"]]], [["D", "N"], ["D", "N", "V"]]
    >>> CRF(c2=0.1).fit(X, y).predict([[["the"], ["dog"], ["runs"]]])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        c2: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-5,
        structure: Chain | None = None,
    ) -> None:
        self.c2 = c2
        self.max_iter = max_iter
        self.tol = tol
        self.structure = structure

    def fit(self, X: Any, y: Any) -> CRF:
        """Minimise; `objective_` and `n_iter_` tell how it went."""
        structure = (self.structure or Chain()).bind(X, y)
        if structure.order != 1 or structure.n_edges:
            raise ValueError("CRF needs a chain of order 1 without edge features")
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        answer = minimize(
            objective,
            np.zeros(structure.dim),
            (structure, x, truth, self.c2),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": self.max_iter, "ftol": self.tol, "maxcor": 6},
        )
        self.structure_, self.coef_ = structure, answer.x
        self.objective_, self.n_iter_ = float(answer.fun), int(answer.nit)
        return self

    def predict(self, X: Any) -> list[list[Any]]:
        """Most probable labels."""
        x = self.structure_.encode(X)
        found = self.structure_.argmax(x, np.arange(x.n), self.coef_)
        return self.structure_.decode_labels(x, found.labels)

    def predict_proba(self, X: Any) -> list[Floats]:
        """P(label at token | x), (length, K) for each sequence, labels sorted."""
        x = self.structure_.encode(X)
        tables = self.structure_.tables(x, np.arange(x.n), self.coef_)
        nodes = tables.nodes.copy()
        k = tables.labels
        _sums(x.ptr, nodes, tables.pair, tables.first, tables.last, k, np.zeros(k * k))
        flat = nodes.reshape(-1, k)
        return [flat[a:b] for a, b in zip(x.ptr[:-1], x.ptr[1:], strict=True)]


def objective(
    w: Floats, structure: Chain, x: Tokens, truth: Ragged, c2: float
) -> tuple[float, Floats]:
    """Value and gradient at w."""
    tables = structure.tables(x, np.arange(x.n), w)
    k, spot, eta = tables.labels, structure.layout, float(structure.eta)
    nodes, moves = tables.nodes.copy(), np.zeros(k * k)
    score = _truth_score(
        x.ptr, nodes, tables.pair, tables.first, tables.last, k, truth.data
    )
    total = _sums(x.ptr, nodes, tables.pair, tables.first, tables.last, k, moves)
    # `nodes` now holds marginals: less the truth they are the gradient.
    flat = nodes.reshape(-1, k)
    flat[np.arange(len(flat)), truth.data] -= 1.0
    filled = np.flatnonzero(np.diff(x.ptr))
    heads, tips = x.ptr[filled], x.ptr[filled + 1] - 1
    inner = np.ones(len(flat), bool)
    inner[heads] = False
    after = np.flatnonzero(inner)
    np.subtract.at(moves, truth.data[after - 1] * k + truth.data[after], 1.0)
    grad = 2.0 * c2 * w
    v = x.vectors
    _add_all(v.ptr, v.idx, v.val, v.width, nodes, k, grad)
    grad[spot.pairs : spot.pairs + k * k] += eta * moves
    if spot.bias >= 0:
        grad[spot.bias : spot.bias + k] += flat.sum(axis=0)
    if spot.start >= 0:
        grad[spot.start : spot.start + k] += eta * flat[heads].sum(axis=0)
        grad[spot.end : spot.end + k] += eta * flat[tips].sum(axis=0)
    return total - score + c2 * float(w @ w), grad


@loop
def _truth_score(
    ptr: Ints, nodes: Floats, pair: Floats, first: Floats, last: Floats, K: int,
    truth: Labels,
) -> float:  # fmt: skip
    """Sum of the scores of the true labels."""
    total = 0.0
    for q in range(len(ptr) - 1):
        a, b = ptr[q], ptr[q + 1]
        if a == b:
            continue
        total += first[truth[a]] + last[truth[b - 1]]
        for t in range(a, b):
            total += nodes[t * K + truth[t]]
            if t > a:
                total += pair[truth[t - 1] * K + truth[t]]
    return total


@loop
def _sums(
    ptr: Ints, nodes: Floats, pair: Floats, first: Floats, last: Floats, K: int,
    moves: Floats,
) -> float:  # fmt: skip
    """Sum of log Z; marginals of labels into nodes, of label pairs added to moves."""
    longest = 0
    for q in range(len(ptr) - 1):
        longest = max(longest, ptr[q + 1] - ptr[q])
    high = pair.max()
    step = np.exp(pair - high)
    alpha, local, scale = (
        np.empty(longest * K),
        np.empty(longest * K),
        np.empty(longest),
    )
    beta, after = np.empty(K), np.empty(K)
    total = 0.0
    for q in range(len(ptr) - 1):
        L = ptr[q + 1] - ptr[q]
        table = nodes[ptr[q] * K : ptr[q + 1] * K]
        for k in range(K if L > 0 else 0):
            table[k] += first[k]
            table[(L - 1) * K + k] += last[k]
        total += high * max(L - 1, 0)
        total += _forward(table, step, L, K, local, alpha, scale)
        _backward(step, L, K, local, alpha, scale, beta, after, table, moves)
    return total


@inner_loop
def _forward(
    table: Floats, step: Floats, L: int, K: int, local: Floats, alpha: Floats,
    scale: Floats,
) -> float:  # fmt: skip
    """Alpha of each token, scaled to sum to one; returns the log of all scales."""
    total = 0.0
    for t in range(L):
        node, here = table[t * K : t * K + K], alpha[t * K : t * K + K]
        top = node.max()
        for k in range(K):
            local[t * K + k] = np.exp(node[k] - top)
            here[k] = 1.0 if t == 0 else 0.0
        for a in range(K if t > 0 else 0):
            p, row = alpha[(t - 1) * K + a], step[a * K : a * K + K]
            for k in range(K):
                here[k] += p * row[k]
        mass = 0.0
        for k in range(K):
            here[k] *= local[t * K + k]
            mass += here[k]
        for k in range(K):
            here[k] /= mass
        scale[t] = mass
        total += top + np.log(mass)
    return total


@inner_loop
def _backward(
    step: Floats, L: int, K: int, local: Floats, alpha: Floats, scale: Floats,
    beta: Floats, after: Floats, table: Floats, moves: Floats,
) -> None:  # fmt: skip
    """Marginals of labels into table, of label pairs added to moves."""
    for k in range(K):
        beta[k] = 1.0
    for t in range(L - 1, -1, -1):
        for k in range(K):
            table[t * K + k] = alpha[t * K + k] * beta[k]
            after[k] = local[t * K + k] * beta[k] / scale[t]
        for a in range(K if t > 0 else 0):
            p, s = alpha[(t - 1) * K + a], 0.0
            for k in range(K):
                v = step[a * K + k] * after[k]
                moves[a * K + k] += p * v
                s += v
            beta[a] = s


@loop
def _add_all(
    ptr: Ints, idx: Labels, val: Floats, width: int, coef: Floats, K: int, w: Floats
) -> None:
    """Add the outer products of all rows with their coefficients to w."""
    for r in range(len(ptr) - 1):
        add_scores(ptr, idx, val, width, r, coef[r * K : r * K + K], K, w)
