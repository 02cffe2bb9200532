"""Losses of outputs of which some labels are not known: those labels cost nothing.

Delta(y, y') = scale * sum over known t of cost[y_t, y'_t]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.validation import check_shape, check_types, require
from maxmargin.core.loss import Loss


@dataclass(frozen=True)
class PartialLoss(Loss):
    """A table loss that counts the known positions only."""

    inner: Loss
    k: int = 0
    form = "table"

    def bind(self, n_labels: int) -> Self:
        """Know the number of labels."""
        inner = self.inner.bind(n_labels)
        if inner.form != "table":
            raise ValueError(
                f"a loss of form {inner.form!r} cannot leave out unknown labels: use "
                "one that adds up over positions, such as 'hamming'"
            )
        return replace(self, inner=inner, k=n_labels)

    def validate(self) -> None:
        """The inner loss has a table of k labels."""
        check_types(self)
        self.inner.validate()
        require(self.inner.form == "table", "the inner loss has no table")
        check_shape(self.inner.table, (self.k, self.k), "table of the inner loss")

    @property
    def table(self) -> Floats:
        """Costs of the known labels, then zeros for the hidden ones."""
        free = np.zeros((self.k + 1, self.k))
        return np.ascontiguousarray(np.vstack((self.inner.table, free)))

    def scale(self, truth: Ragged) -> Floats:
        """As the inner loss."""
        return self.inner.scale(truth)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        found = np.where(labels.data >= self.k, labels.data - self.k, labels.data)
        cost = self.table[truth.data, np.minimum(found, self.k - 1)]
        total = np.concatenate(([0.0], np.cumsum(cost)))
        return self.scale(truth) * (total[truth.ptr[1:]] - total[truth.ptr[:-1]])
