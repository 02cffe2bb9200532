"""Bipartite matching: a structure in one file, to copy from.

An input x is an (m, m, d) array of features of pairs, an output y a permutation of m
items that says which item on the right each item on the left is matched with. Features
are summed over the matched pairs,

    psi(x, y) = sum_j x[j, y[j]]

so the best y is an assignment problem. A loss that is a sum over positions is added to
the scores of the pairs. The zero-one loss asks for the best matching other than the
truth: one that differs from it at j has the pair (j, truth[j]) forbidden, for some j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    check_ordered,
    pointers,
    real_numbers,
    usable,
)
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import loop
from maxmargin.core.structure import Augment, Found, Pieces, Structure


class MatchingInputs(NamedTuple):
    """Encoded inputs: the pairs of all examples, one after the other."""

    size: Ints  # (n,) items on each side
    start: Ints  # (n,) first pair of the example
    value: Floats  # (pairs, d)

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.size)


@dataclass(frozen=True)
class Matching(Structure):
    """Which item goes with which.

    Examples
    --------
    >>> from maxmargin import StructuralSVM
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(4, 4, 2)) for _ in range(20)]
    >>> Y = [scipy.optimize.linear_sum_assignment(-x[:, :, 0])[1].tolist() for x in X]
    >>> model = StructuralSVM(Matching(), C=10.0).fit(X, Y)
    >>> bool(model.score(X, Y) > -0.1)
    True
    """

    dim: int = 0
    largest: int = 0

    def validate(self) -> None:
        """Sizes are not negative; all else is checked with the inputs."""
        check_types(self)
        require(min(self.dim, self.largest) >= 0, "a size is negative")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the number of features and of items."""
        arrays = [_table(i, x) for i, x in enumerate(X)]
        dim = arrays[0].shape[2] if arrays[0].ndim == 3 else 0
        largest = max(len(x) if x.ndim else 0 for x in arrays)
        return replace(self, dim=dim, largest=largest)

    def encode(self, X: Sequence[Any]) -> MatchingInputs:
        """Arrays (m, m, d) as one array of pairs."""
        arrays = [_table(i, x) for i, x in enumerate(X)]
        for i, x in enumerate(arrays):
            if x.ndim != 3 or x.shape[0] != x.shape[1] or x.shape[2] != self.dim:
                raise ValueError(
                    f"example {i}: features of shape {x.shape}, not (m, m, {self.dim or 'd'})"
                )
            if not usable(x).all():
                j, k, f = np.argwhere(~usable(x))[0]
                raise ValueError(
                    f"example {i}, pair ({j}, {k}): feature {f} is {x[j, k, f]}"
                )
        size = np.array([len(x) for x in arrays], dtype=np.int64)
        value = [x.reshape(-1, self.dim) for x in arrays]
        return MatchingInputs(size, pointers(size**2)[:-1], np.concatenate(value))

    def encode_labels(self, x: MatchingInputs, Y: Sequence[Any]) -> Ragged:
        """Permutations as they are."""
        for i, y in enumerate(Y):
            check_ordered(y, f"example {i}")
            if not hasattr(y, "__iter__") or sorted(y) != list(range(int(x.size[i]))):
                raise ValueError(
                    f"example {i}: {y} is not a permutation of {x.size[i]} items"
                )
        return Ragged.pack(Y)

    def decode_labels(self, x: MatchingInputs, labels: Ragged) -> list[list[int]]:
        """Permutations as lists."""
        return labels.unpack()

    def features(self, x: MatchingInputs, ids: Ints, labels: Ragged) -> Rows:
        """Sum of the features of the matched pairs."""
        dense = _matched_sum(*x, ids, *labels)
        ptr = np.arange(len(ids) + 1, dtype=np.int64) * self.dim
        idx = np.tile(np.arange(self.dim, dtype=np.int32), len(ids))
        return Rows(ptr, idx, dense.ravel())

    def argmax(
        self, x: MatchingInputs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Solve an assignment problem for each example."""
        scale = None
        if augment is not None and augment.loss.form == "table":
            scale = augment.weight * augment.loss.scale(augment.truth)
        rows, score = [], np.empty(len(ids))
        for q, i in enumerate(ids):
            m, first = int(x.size[i]), int(x.start[i])
            table = (x.value[first : first + m * m] @ w).reshape(m, m)
            if augment is None:
                row, score[q] = _assign(table)
            elif scale is not None:
                truth = augment.truth.row(i)
                row, score[q] = _assign(
                    table + scale[i] * augment.loss.table[truth][:, :m]
                )
            else:
                row, score[q] = _unlike(table, augment.truth.row(i), augment.weight[i])
            rows.append(row)
        return Found(Ragged.pack(rows), score, score)

    def explain_pieces(self, x: MatchingInputs, i: int, row: Labels) -> Pieces:
        """One part per matched pair, for `explain`."""
        m, first = int(x.size[i]), int(x.start[i])
        names = [f"{j} with {k}" for j, k in enumerate(row.tolist())]
        matched = x.value[first + np.arange(m) * m + row]
        return Pieces(names, Rows.from_dense(matched))

    def label_count(self) -> int:
        """Items on the larger side."""
        return self.largest

    def work(self, x: MatchingInputs) -> Floats:
        """Scores of the pairs, and the assignment."""
        return x.size**2 * float(self.dim) + 10.0 * x.size**3


def _assign(table: Floats) -> tuple[Labels, float]:
    """Best permutation and its sum."""
    left, right = scipy.optimize.linear_sum_assignment(table, maximize=True)
    return right.astype(np.int32), float(table[left, right].sum())


def _unlike(table: Floats, truth: Labels, weight: float) -> tuple[Labels, float]:
    """Best of the truth and, `weight` richer, the best permutation other than it."""
    left = np.arange(len(truth))
    best, score = truth.copy(), float(table[left, truth].sum())
    for j in left if len(truth) > 1 else []:
        other = table.copy()
        other[j, truth[j]] = -np.inf
        row, value = _assign(other)
        if value + weight > score:
            best, score = row, value + weight
    return best, score


def _table(i: int, x: Any) -> Floats:
    """Features of the pairs of example i."""
    try:
        return real_numbers(x)
    except (TypeError, ValueError):
        raise ValueError(
            f"example {i}: {x!r:.40} is not an array (m, m, d) of numbers"
        ) from None


@loop
def _matched_sum(size, start, value, ids, ptr, data):
    out = np.zeros((len(ids), value.shape[1]))
    for q in range(len(ids)):
        m, first = size[ids[q]], start[ids[q]]
        for j in range(m):
            out[q] += value[first + j * m + data[ptr[q] + j]]
    return out
