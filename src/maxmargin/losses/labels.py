"""Losses that add up over labels: Hamming distance and matrices of costs.

    Delta(y, y') = scale * sum_t cost[y_t, y'_t]

[1] Tsochantaridis et al. 2005, section 2.1; taxonomies: section 4.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, Ints, Ragged, real_numbers
from maxmargin.core.data.validation import check_shape, check_types, require
from maxmargin.core.loss import Loss as Loss
from maxmargin.core.loss import ZeroOne as ZeroOne


@dataclass(frozen=True)
class Hamming(Loss):
    """Delta(y, y') = scale * sum_t cost[y_t, y'_t], cost = 1 off the diagonal.

    Parameters
    ----------
    cost : array (k, k), optional
        Cost of saying column when row is true: zero diagonal, otherwise positive.
    class_weight : array (k,), optional
        Weight of an error on each true label (row factor of the cost).
    normalize : bool, default=False
        Divide by the length of the truth, so that the loss of an example is at most 1.
    """

    cost: ArrayLike | None = None
    class_weight: ArrayLike | None = None
    normalize: bool = False
    form = "table"
    bound_table: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def bind(self, n_labels: int) -> Self:
        """Know the number of labels: check and fill the table."""
        if self.cost is None:
            table = 1.0 - np.eye(n_labels)
        else:
            table = real_numbers(self.cost).copy()
        if self.cost is not None and n_labels == 0:
            raise ValueError(
                "loss: a matrix of costs is about labels, and these outputs have none"
            )
        if table.shape != (n_labels, n_labels):
            raise ValueError(
                f"loss: the cost matrix has shape {table.shape}, but there are "
                f"{n_labels} labels: it must be ({n_labels}, {n_labels}), in sorted label order"
            )
        if not np.isfinite(table).all() or (table < 0).any():
            i, j = np.argwhere(~np.isfinite(table) | (table < 0))[0]
            raise ValueError(
                f"cost[{i}, {j}] is {table[i, j]}: costs must be finite and >= 0"
            )
        if np.diag(table).any():
            i = int(np.flatnonzero(np.diag(table))[0])
            raise ValueError(
                f"cost[{i}, {i}] is {table[i, i]}: the truth must cost nothing"
            )
        if self.class_weight is not None:
            weight = real_numbers(self.class_weight)
            if weight.shape != (n_labels,):
                raise ValueError(
                    f"class_weight has {weight.shape} entries for {n_labels} labels"
                )
            if not (np.isfinite(weight) & (weight >= 0)).all():
                i = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
                raise ValueError(
                    f"class_weight[{i}] is {weight[i]}: weights must be finite and >= 0"
                )
            table = table * weight[:, None]
        return replace(self, bound_table=np.ascontiguousarray(table))

    def validate(self) -> None:
        """The table is that of the costs and weights."""
        check_types(self)
        k = len(self.bound_table)
        check_shape(self.bound_table, (k, k), "table")
        if k:
            same = np.array_equal(self.bound_table, self.bind(k).bound_table)
            require(same, "the table is not that of the costs")

    @property
    def table(self) -> Floats:
        """Cost of each pair (true label, label)."""
        return self.bound_table

    def scale(self, truth: Ragged) -> Floats:
        """1 / length if normalised."""
        if self.normalize:
            return 1.0 / np.maximum(truth.sizes, 1)
        return np.ones(truth.n)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        cost = self.bound_table[truth.data, labels.data]
        total = np.concatenate(([0.0], np.cumsum(cost)))
        return self.scale(truth) * (total[truth.ptr[1:]] - total[truth.ptr[:-1]])


def label_weights(
    choice: Any, labels: Sequence[Hashable], counts: Ints | None
) -> Floats | None:
    """Weights of the labels for `Hamming`, from what users say.

    Parameters
    ----------
    choice : dict, "balanced" or None
    labels : sequence
        Names.
    counts : array (k,), or None
        How often each label occurs; None if that is not known.

    Examples
    --------
    >>> label_weights("balanced", ["B-X", "O"], np.array([10, 30]))
    array([2.        , 0.66666667])
    >>> label_weights({"O": 0.2}, ["B-X", "O"], None)
    array([1. , 0.2])
    """
    if choice is None:
        return None
    if isinstance(choice, str):
        if choice != "balanced":
            raise ValueError(
                f"class_weight={choice!r} is not 'balanced', a dict or None"
            )
        if counts is None:
            raise ValueError("class_weight='balanced' needs all data at once")
        return counts.sum() / (len(counts) * np.maximum(counts, 1.0))
    unknown = set(choice) - set(labels)
    if unknown:
        raise ValueError(f"class_weight: unknown label {sorted(map(repr, unknown))[0]}")
    return np.array([choice.get(label, 1.0) for label in labels])
