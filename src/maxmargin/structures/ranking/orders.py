"""Rankings of which every place counts: average precision and ROC area.

Outputs are all orders h of a query's n documents. Features are averaged over pairs,

    psi(x, h) = mean over pairs (a before b) of (x_a - x_b)
              = sum_p D_p x_{h_p},       D_p = 2 (n + 1 - 2 p) / (n (n - 1)).

A loss is a sum over relevant documents of what it costs to have j others before the
i-th of them, cost[i, j]. Documents of one kind are best sorted by score, so the worst
order is an interleaving of two sorted lists: best paths through a table of
(relevant + 1) x (others + 1), exact for every such loss. In the difference of the truth
and the worst order, pairs of one kind cancel: what is left are the pairs (relevant,
other) of [1] and [2].

[1] Yue, Finley, Radlinski, Joachims 2007 (average precision). [2] Joachims 2005 (ROC
area). [3] Yu 2011, section 5.4.3: the order as hidden part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import loop
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import Augment, Found
from maxmargin.inference.orders import best_interleaving, place_weights
from maxmargin.losses.ranking import OrderLoss
from maxmargin.structures.ranking.structure import Documents, Ranking

ALL = 1 << 30  # places that count


@dataclass(frozen=True)
class FullOrder(Ranking):
    """Full orders of documents (see the module docstring); takes no parameters."""

    k: int = ALL
    losses: ClassVar[tuple[LossForm, ...]] = ("order",)

    def validate(self) -> None:
        """All places count, and discounts come from the length of each list."""
        check_types(self)
        require(self.dim >= 0, f"dim={self.dim} is negative")
        require(self.k == ALL, "every place counts")
        require(len(self._weights) == 0, "discounts do not belong here")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the number of features."""
        return replace(self, dim=int(np.shape(X[0])[1]))

    def features(self, x: Documents, ids: Ints, labels: Ragged) -> Rows:
        """Documents, weighted by their places."""
        if sp.issparse(x.value):
            return self._sparse_sums(x, ids, labels)
        sums = _place_sums(*x, ids, *labels)
        return Rows.from_dense(sums) if len(ids) else Rows.empty()

    def argmax(
        self, x: Documents, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Sort by score; with a loss, interleave relevant documents and others."""
        rows, score = [], np.zeros(len(ids))
        for q, i in enumerate(ids):
            value = x.value[x.ptr[i] : x.ptr[i + 1]] @ w
            order = np.argsort(-value, kind="stable")
            weights = self._discount(len(value))
            if augment is None:
                score[q] = float(weights @ value[order])
            else:
                grades = augment.truth.row(int(i))[len(value) :]
                relevant = grades[order] > 0
                good, bad = order[relevant], order[~relevant]
                loss = augment.loss
                assert isinstance(loss, OrderLoss)
                cost = augment.weight[i] * loss.costs(len(good), len(bad))
                score[q], seen = best_interleaving(
                    value[good], value[bad], weights, cost
                )
                order = np.empty_like(order)
                order[seen], order[~seen] = good, bad
            rows.append(order)
        return Found(Ragged.pack(rows), score, score)

    def _discount(self, n: int) -> Floats:
        return place_weights(n)


@loop
def _place_sums(ptr, value, ids, row_ptr, rows):
    out = np.zeros((len(ids), value.shape[1]))
    for q in range(len(ids)):
        a = ptr[ids[q]]
        n = ptr[ids[q] + 1] - a
        scale = 2.0 / max(n * (n - 1), 1)
        for p in range(n):
            weight = scale * (n - 1 - 2 * p)
            document = a + rows[row_ptr[q] + p]
            for f in range(value.shape[1]):
                out[q, f] += weight * value[document, f]
    return out
