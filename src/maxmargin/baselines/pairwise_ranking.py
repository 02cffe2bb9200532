"""The pairwise ranking SVM, trained by dual coordinate ascent.

    min_w 1/2 ||w||^2 + C sum_{(i, j)} max(0, 1 - <w, x_i - x_j>)

over the pairs of documents of one query with grade i > grade j. A step sets the dual
variable of one pair to its best value in [0, C]; ends at a relative duality gap.

[1] Herbrich, Graepel, Obermayer 2000; Joachims 2002. [2] Hsieh et al. 2008 (the steps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, pointers
from maxmargin.core.jit import loop


@dataclass
class PairwiseRanking:
    """Ranking SVM.

    Parameters
    ----------
    C : float
        Penalty of a pair; with `per_query` of the mean over a query's pairs.
    per_query : bool
        Whether every query weighs the same, whatever its number of pairs.
    tol : float
        Relative duality gap.
    max_iter : int
        Passes over the pairs at most.
    seed : int

    Examples
    --------
    >>> X = [np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.2]])]
    >>> model = PairwiseRanking(C=1.0).fit(X, [[2, 0, 1]])
    >>> np.argsort(-model.decision_function(X)[0]).tolist()
    [0, 2, 1]
    """

    C: float = 1.0
    per_query: bool = True
    tol: float = 1e-3
    max_iter: int = 1000
    seed: int = 0

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> Self:
        """Learn from the documents (n, features) and grades of each query."""
        ptr = pointers([len(x) for x in X])
        flat = np.ascontiguousarray(np.concatenate(X), dtype=np.float64)
        pairs, upper = [], []
        for q, grades in enumerate(y):
            g = np.asarray(grades)
            better, worse = np.nonzero(g[:, None] > g[None, :])
            pairs.append(np.column_stack((better, worse)) + ptr[q])
            size = max(len(better), 1) if self.per_query else 1
            upper.append(np.full(len(better), self.C / size))
        every, bound = np.concatenate(pairs).astype(np.int64), np.concatenate(upper)
        if len(every) == 0:
            raise ValueError("no query has documents of different grades")
        self.coef_, self.gap_ = self._ascend(flat, every, bound)
        return self

    def _ascend(self, x: Floats, pairs: Any, upper: Floats) -> tuple[Floats, float]:
        alpha, w = np.zeros(len(pairs)), np.zeros(x.shape[1])
        rng = np.random.default_rng(self.seed)
        gap = np.inf
        for turn in range(self.max_iter):
            _steps(x, pairs, upper, rng.permutation(len(pairs)), alpha, w)
            if turn % 5 == 4:
                primal, dual = _values(x, pairs, upper, alpha, w)
                gap = (primal - dual) / max(primal, 1e-300)
                if gap <= self.tol:
                    break
        return w, gap

    def decision_function(self, X: Sequence[Any]) -> list[Floats]:
        """Scores of the documents of each query."""
        return [np.asarray(x, dtype=np.float64) @ self.coef_ for x in X]


@loop
def _steps(
    x: Floats, pairs: Ints, upper: Floats, order: Ints, alpha: Floats, w: Floats
) -> None:
    """Visit pairs in the given order; each dual variable moves to its optimum."""
    d = x.shape[1]
    for p in order:
        i, j = pairs[p, 0], pairs[p, 1]
        margin, square = 0.0, 0.0
        for f in range(d):
            v = x[i, f] - x[j, f]
            margin += w[f] * v
            square += v * v
        if square <= 0.0:  # equal documents cannot be separated
            alpha[p] = upper[p]
            continue
        new = min(max(alpha[p] + (1.0 - margin) / square, 0.0), upper[p])
        change = new - alpha[p]
        if change != 0.0:
            alpha[p] = new
            for f in range(d):
                w[f] += change * (x[i, f] - x[j, f])


@loop
def _values(
    x: Floats, pairs: Ints, upper: Floats, alpha: Floats, w: Floats
) -> tuple[float, float]:
    """Primal and dual objective."""
    square, loss, mass = 0.0, 0.0, 0.0
    for f in range(len(w)):
        square += w[f] * w[f]
    for p in range(len(pairs)):
        margin = 0.0
        for f in range(len(w)):
            margin += w[f] * (x[pairs[p, 0], f] - x[pairs[p, 1], f])
        loss += upper[p] * max(0.0, 1.0 - margin)
        mass += alpha[p]
    return 0.5 * square + loss, mass - 0.5 * square
