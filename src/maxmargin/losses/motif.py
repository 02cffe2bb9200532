"""Losses of motifs: a motif that is missed, or seen where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.validation import check_positive, check_types
from maxmargin.core.loss import Loss


@dataclass(frozen=True)
class MotifLoss(Loss):
    """Delta = miss if a motif is not seen, false_alarm if one is seen where none is.

    The place of the motif costs nothing.
    """

    miss: float = 1.0
    false_alarm: float = 1.0
    form = "motif"

    def bind(self, n_labels: int) -> Self:
        """Check the costs."""
        if not (self.miss > 0 and self.false_alarm > 0):
            raise ValueError("the costs of a miss and a false alarm must be positive")
        return self

    def validate(self) -> None:
        """Both costs are positive."""
        check_types(self)
        check_positive(self.miss, "miss")
        check_positive(self.false_alarm, "false_alarm")

    @property
    def table(self) -> Floats:
        """Cost of (true label, label)."""
        return np.array([[0.0, self.false_alarm], [self.miss, 0.0]])

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row: the first number is the label."""
        return self.table[truth.data[truth.ptr[:-1]], labels.data[labels.ptr[:-1]]]
