"""Losses of trees: labelled brackets of parse trees, arcs of dependency trees.

Brackets: with m in common, e wrong ones in y' and g in the truth y,

    Delta(y, y') = 1 - 2 m / (m + e + g)   (one minus F1),   or   e + g - m.

Arcs: a row has head * labels + label of each token, and

    Delta(y, y') = scale * sum_m [head differs] + label_cost [same head, label differs].

[1] Tsochantaridis et al. 2005, section 5.4.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss
from maxmargin.inference.tree.chart import NODE

Counts = Ints | int
FINEST = 8  # parts that a wrong head is divided into at most, to count whole costs


class BracketLoss(Loss):
    """Losses of trees: functions of m brackets in common, e wrong and g true ones.

    An encoded tree is a row of nodes of five numbers; the brackets are those nodes whose
    last number, the label, is not -1, with their first and third, start and end.
    """

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        m, p, g = bracket_counts(truth, labels)
        return self.of_counts(m, p - m, g)

    def validate(self) -> None:
        """Parameters are switches."""
        check_types(self)

    @abstractmethod
    def of_counts(self, m: Counts, e: Counts, g: Counts) -> Floats:
        """Loss of trees with m brackets in common, e wrong ones and g true ones."""


@dataclass(frozen=True)
class BracketF1(BracketLoss):
    """Delta(y, y') = 1 - F1 = 1 - 2 m / (p + g) over labelled brackets.

    m brackets in common, p in y', g in y; [1], section 5.4.

    Examples
    --------
    >>> BracketF1().of_counts(np.array([2]), np.array([1]), np.array([3])).round(3)
    array([0.333])
    """

    form = "brackets-f1"

    def of_counts(self, m: Counts, e: Counts, g: Counts) -> Floats:
        """1 - F1; no bracket on either side is right."""
        size = m + e + g
        return np.where(size > 0, 1.0 - 2.0 * m / np.maximum(size, 1), 0.0)


@dataclass(frozen=True)
class BracketHamming(BracketLoss):
    """Delta(y, y') = scale * (brackets of y' not in y + brackets of y not in y').

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the number of true brackets.
    """

    normalize: bool = False
    form = "brackets-hamming"

    def scale(self, truth: Ragged) -> Floats:
        """1 / number of true brackets if normalised."""
        if not self.normalize:
            return np.ones(truth.n)
        return self._factor(bracket_counts(truth, truth)[2])

    def of_counts(self, m: Counts, e: Counts, g: Counts) -> Floats:
        """Wrong and missing brackets."""
        return self._factor(g) * (e + g - m)

    def _factor(self, g: Counts) -> Floats:
        return 1.0 / np.maximum(g, 1) if self.normalize else np.ones(np.shape(g))


def bracket_counts(truth: Ragged, labels: Ragged) -> tuple[Ints, Ints, Ints]:
    """Brackets in common, of `labels` and of `truth`, row by row."""
    return _bracket_counts(*truth, *labels, NODE)


@loop
def _bracket_counts(ptr, data, ptr2, data2, width):
    n = len(ptr) - 1
    common, found, true = np.zeros((3, n), np.int64)
    for i in range(n):
        used = np.zeros((ptr[i + 1] - ptr[i]) // width, np.bool_)
        for a in range(ptr[i], ptr[i + 1], width):
            true[i] += data[a + 4] >= 0
        for b in range(ptr2[i], ptr2[i + 1], width):
            if data2[b + 4] < 0:
                continue
            found[i] += 1
            for t in range(len(used)):
                a = ptr[i] + t * width
                same = data[a] == data2[b] and data[a + 2] == data2[b + 2]
                if same and not used[t] and data[a + 4] == data2[b + 4]:
                    used[t] = True
                    common[i] += 1
                    break
    return common, found, true


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
