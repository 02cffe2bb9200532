"""Losses of partitions: links of a spanning forest, or pairs in one cluster.

[1] Yu 2011, equation 5.8 (links). [2] Finley and Joachims 2005 (pairs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss
from maxmargin.inference.cluster.spanning import components


@dataclass(frozen=True)
class ForestLoss(Loss):
    """Delta(y, h) = n(y) - k(y) - sum of l over links; l = 1 inside, -r across.

    n(y) mentions, k(y) clusters of the truth; a link across two true clusters costs r
    (1 in equation 5.8; less makes bolder links).
    """

    r: float = 1.0
    form = "forest"

    def validate(self) -> None:
        """The cost of a wrong link is finite and not negative."""
        check_types(self)
        require(0 <= self.r < np.inf, f"r={self.r} must be finite and >= 0")

    def bind(self, n_labels: int) -> Self:
        """Check the cost."""
        if not self.r >= 0:
            raise ValueError(f"r={self.r}: the penalty of a wrong link must be >= 0")
        return self

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row."""
        out = np.zeros(truth.n)
        for i in range(truth.n):
            cluster, parent = components(truth.row(i)), labels.row(i)
            linked = np.flatnonzero(parent != np.arange(len(parent)))
            inside = int((cluster[linked] == cluster[parent[linked]]).sum())
            links = len(cluster) - (int(cluster.max()) + 1 if len(cluster) else 0)
            out[i] = links - inside + self.r * (len(linked) - inside)
        return out


@dataclass(frozen=True)
class PairLoss(Loss):
    """Delta(y, y') = percentage of pairs together in one and apart in the other."""

    form = "clustered-pairs"

    def validate(self) -> None:
        """Without parameters, nothing can be wrong."""

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row."""
        return np.array([
            _pair_loss(truth.row(i), labels.row(i)) for i in range(truth.n)
        ], np.float64)  # fmt: skip


@loop
def _pair_loss(a, b):
    wrong, total = 0, 0
    for j in range(len(a)):
        for i in range(j):
            wrong += (a[i] == a[j]) != (b[i] == b[j])
            total += 1
    return 100.0 * wrong / max(total, 1)
