"""Losses of dependency trees: tokens with a wrong head or a wrong label.

    Delta(y, y') = scale * sum_m [head differs] + label_cost [same head, label differs]

A row has head * labels + label of each token.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.loss import Loss

FINEST = 8  # parts that a wrong head is divided into at most, to count whole costs


@dataclass(frozen=True)
class ArcLoss(Loss):
    """Delta(y, y') = scale * (wrong heads + label_cost * wrong labels of right heads).

    Parameters
    ----------
    label_cost : float, default=1.0
        Cost of a wrong label at the right head: 1 counts it like a wrong head (the loss is
        then what LAS misses), 0 not at all (what UAS misses).
    normalize : bool, default=False
        Divide by the number of tokens.

    Examples
    --------
    Two labels; the second token has the right head and a wrong label:

    >>> loss = ArcLoss(label_cost=0.5).bind(2)
    >>> truth, found = Ragged.pack([[4, 0, 4]]), Ragged.pack([[4, 1, 2]])
    >>> loss.value(truth, found).tolist()
    [1.5]
    """

    label_cost: float = 1.0
    normalize: bool = False
    n_labels: int = 1
    form = "arcs"

    def validate(self) -> None:
        """A cost that is finite and not negative, and a number of labels."""
        check_types(self)
        self._check()
        require(0 < self.n_labels < 2**31, f"n_labels={self.n_labels} is no number")

    def _check(self) -> None:
        right = 0 <= self.label_cost < np.inf
        require(right, f"label_cost={self.label_cost} must be finite and >= 0")

    def bind(self, n_labels: int) -> Self:
        """Know the number of labels."""
        self._check()
        return replace(self, n_labels=max(n_labels, 1))

    def scale(self, truth: Ragged) -> Floats:
        """1 / number of tokens if normalised."""
        if self.normalize:
            return 1.0 / np.maximum(truth.sizes, 1)
        return np.ones(truth.n)

    def unit(self) -> int:
        """How many units a wrong head costs, in which a wrong label costs a whole number.

        0 if there is no such unit among 1, 1/2, 1/3, ..
        """
        for parts in range(1, FINEST + 1):
            if abs(parts * self.label_cost - round(parts * self.label_cost)) < 1e-12:
                return parts
        return 0

    def units(self, truth: Labels, shape: tuple[int, ...]) -> Ints:
        """Cost of each (token, head, label) in whole units."""
        unit, n = self.unit(), len(truth)
        out = np.full(shape, unit, np.int64)
        head, label = np.divmod(truth, self.n_labels)
        each = np.arange(n)
        out[each, head] = round(unit * self.label_cost)
        out[each, head, label] = 0
        return out

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        head = truth.data // self.n_labels != labels.data // self.n_labels
        label = ~head & (truth.data != labels.data)
        cost = head + self.label_cost * label
        total = np.concatenate(([0.0], np.cumsum(cost)))
        return self.scale(truth) * (total[truth.ptr[1:]] - total[truth.ptr[:-1]])
