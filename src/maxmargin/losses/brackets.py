"""Losses of trees: functions of the labelled brackets that two trees share.

With m brackets in common, e wrong ones in y' and g in the truth y,

    Delta(y, y') = 1 - 2 m / (m + e + g)   (one minus F1),   or   e + g - m.

[1] Tsochantaridis et al. 2005, section 5.4.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.data.validation import check_types
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss
from maxmargin.inference.tree.chart import NODE

Counts = Ints | int


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
