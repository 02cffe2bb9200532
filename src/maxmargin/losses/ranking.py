"""Losses of rankings, of the first k places or of all.

The first k places count by a discount, D_1 >= D_2 >= ..:

    Delta(y, h) = (largest sum) - sum_{j<=k} D_j gain(h_j)          precision@k, NDCG@k

or every relevant document counts by how many others come before it:

    Delta(y, h) = sum_i cost[i, others before the i-th relevant]    average precision, ROC area

[1] Yu 2011, section 5.4.3. [2] Yue, Finley, Radlinski, Joachims 2007 (average
precision). [3] Joachims 2005 (ROC area).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.loss import Loss


class DiscountedLoss(Loss):
    """Losses of the first k places: discounts of places times gains of documents."""

    form = "ranking"
    k: int

    def validate(self) -> None:
        """At least one place counts."""
        check_types(self)
        require(0 < self.k < 2**31, f"k={self.k}: at least one place must count")

    @abstractmethod
    def discount(self) -> Floats:
        """Discount of each place, (k,); they sum to one."""

    @abstractmethod
    def gains(self, grades: Labels) -> Floats:
        """Gain of each document."""

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row; the row of a truth ends with the grades."""
        out, D = np.zeros(truth.n), self.discount()
        for i in range(truth.n):
            row = truth.row(i)
            m = places(len(row), self.k)
            gain = self.gains(row[m:])
            best = np.sort(gain)[::-1][:m]
            out[i] = D[:m] @ best - D[:m] @ gain[labels.row(i)[:m]]
        return np.maximum(out, 0.0)


@dataclass(frozen=True)
class PrecisionAtK(DiscountedLoss):
    """Delta(y, h) = min(1, n(y) / k) - (relevant documents in the first k) / k.

    n(y) is the number of relevant documents, those of a grade above zero.
    """

    k: int = 10

    def bind(self, n_labels: int) -> Self:
        """The number of places."""
        return replace(self, k=n_labels)

    def discount(self) -> Floats:
        """1 / k at every place."""
        return np.full(self.k, 1.0 / self.k)

    def gains(self, grades: Labels) -> Floats:
        """1 for a relevant document."""
        return (np.asarray(grades) > 0).astype(np.float64)


@dataclass(frozen=True)
class NDCGAtK(DiscountedLoss):
    """Delta(y, h) = 1 - DCG@k(h) / (largest DCG@k), gain 2^grade - 1.

    Parameters
    ----------
    letor : bool
        Discount 1 at the first two places, then 1 / log2(place), as in LETOR; else
        1 / log2(place + 1).
    """

    k: int = 10
    letor: bool = False

    def bind(self, n_labels: int) -> Self:
        """The number of places."""
        return replace(self, k=n_labels)

    def discount(self) -> Floats:
        """Discounts, scaled to sum to one."""
        out = dcg_discounts(self.k, self.letor)
        return out / out.sum()

    def gains(self, grades: Labels) -> Floats:
        """2^grade - 1, scaled so that the best order has gain one."""
        gain: Floats = (2.0 ** np.asarray(grades) - 1.0).astype(np.float64)
        top = np.sort(gain)[::-1][: self.k]
        best = float(top @ self.discount()[: len(top)])
        return gain / best if best > 0 else gain


def dcg_discounts(k: int, letor: bool = False) -> Floats:
    """Discounts of the places 1 .. k."""
    place = np.arange(1, k + 1)
    return 1.0 / np.log2(np.maximum(place, 2) if letor else place + 1)


def places(size: int, k: int) -> int:
    """First part of a truth's row of min(k, n) + n numbers."""
    return k if size >= 2 * k else size // 2


class OrderLoss(Loss):
    """Losses that add up what it costs to have others before the relevant ones."""

    form = "order"

    def validate(self) -> None:
        """Without parameters, nothing can be wrong."""

    @abstractmethod
    def costs(self, relevant: int, others: int) -> Floats:
        """Cost of the i-th relevant document after j others, (relevant, others + 1)."""

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row; the row of a truth ends with the grades."""
        out = np.zeros(truth.n)
        for q in range(truth.n):
            row = truth.row(q)
            n = len(row) // 2
            seen = row[n:][labels.row(q)[:n]] > 0
            before = np.cumsum(~seen)[seen]
            cost = self.costs(int(seen.sum()), int(n - seen.sum()))
            out[q] = cost[np.arange(len(before)), before].sum()
        return out


@dataclass(frozen=True)
class AveragePrecision(OrderLoss):
    """Delta(y, h) = 1 - mean over relevant documents of the precision at their place.

    Examples
    --------
    >>> AveragePrecision().costs(2, 1)
    array([[0.        , 0.25      ],
           [0.        , 0.16666667]])
    """

    def costs(self, relevant: int, others: int) -> Floats:
        """(1 - i / (i + j)) / relevant."""
        i = np.arange(1.0, relevant + 1.0)[:, None]
        return (1.0 - i / (i + np.arange(others + 1.0))) / max(relevant, 1)


@dataclass(frozen=True)
class RocArea(OrderLoss):
    """Delta(y, h) = share of the pairs (relevant, other) in the wrong order.

    Examples
    --------
    >>> RocArea().costs(1, 2)
    array([[0. , 0.5, 1. ]])
    """

    def costs(self, relevant: int, others: int) -> Floats:
        """Others before it, over the number of pairs."""
        j = np.arange(others + 1.0) / max(relevant * others, 1)
        return np.tile(j, (relevant, 1))
