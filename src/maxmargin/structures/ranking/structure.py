"""Rankings, of which the first k places count.

An output is an order h of a query's documents; only the first k are kept, h_1 .. h_k.
The features of the documents are weighted by the discount of their place,

    psi(x, h) = sum_{j<=k} D_j x_{h_j},       D_1 >= D_2 >= .. >= 0,  sum D = 1.

The truth y is a grade per document; its hidden part is the order, which must put
higher grades first. With D_j = 1/k and precision@k this is [1]; with D_j the discounts
of DCG and NDCG@k the same sort solves all three problems, because score and loss
share the discount (rearrangement inequality).

A row is h_1 .. h_m, m = min(k, documents); the row of a truth goes on with the grades.

[1] Yu 2011, section 5.4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    pointers,
    real_numbers,
    usable,
)
from maxmargin.core.data.validation import (
    check_finite,
    check_range,
    check_shape,
    check_sparse,
    check_types,
    require,
)
from maxmargin.core.jit import loop
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Augment,
    Found,
    Pieces,
    Structure,
)
from maxmargin.losses.ranking import DiscountedLoss, places


class Documents(NamedTuple):
    """Encoded inputs: the documents of all queries."""

    ptr: Ints  # (n + 1,)
    value: Any  # (documents, width): an array, or a csr matrix

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.ptr) - 1


@dataclass(frozen=True)
class Ranking(Structure):
    """Orders of documents.

    Parameters
    ----------
    k : int
        Places that count.
    discount : array (k,), optional
        D, not increasing; 1 / k if absent. It must be that of the loss.
    binary : bool
        Whether all grades above zero are alike.
    """

    k: int = 10
    discount: Floats | None = None
    binary: bool = True
    dim: int = 0
    losses: ClassVar[tuple[LossForm, ...]] = ("ranking",)
    _weights: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    def validate(self) -> None:
        """As many discounts as places count, finite and not increasing."""
        check_types(self)
        require(self.dim >= 0, f"dim={self.dim} is negative")
        require(0 < self.k <= 2**30, f"k={self.k}: at least one place must count")
        weights = self._weights
        if len(weights) or self.dim:
            check_shape(weights, (self.k,), "discounts")
            check_finite(weights, "discounts")
            falls = (np.diff(weights) <= 0).all() and weights[-1] >= 0
            require(falls, "discounts must be >= 0 and not increase")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the number of features."""
        if self.k < 1:
            raise ValueError(f"k={self.k}: at least one place must count")
        most = max(np.shape(x)[0] for x in X)
        if self.k > most:
            raise ValueError(
                f"k={self.k} is larger than every list: the longest has {most}, so give "
                f"k={most} or less"
            )
        weights = (
            np.full(self.k, 1.0 / self.k)
            if self.discount is None
            else np.ascontiguousarray(self.discount, dtype=np.float64)
        )
        if len(weights) != self.k or (np.diff(weights) > 0).any() or weights[-1] < 0:
            raise ValueError("discount must be k numbers >= 0 that do not increase")
        return replace(self, dim=int(np.shape(X[0])[1]), _weights=weights)

    def encode(self, X: Sequence[Any]) -> Documents:
        """One matrix (documents, features) per query."""
        if not hasattr(X, "__iter__"):
            raise TypeError(f"X is one {type(X).__name__}, not a list of queries")
        parts = [self._documents(i, x) for i, x in enumerate(X)]
        ptr = pointers([part.shape[0] for part in parts])
        if any(map(sp.issparse, parts)):
            return Documents(ptr, sp.csr_array(sp.vstack(parts, format="csr")))
        flat = np.concatenate(parts) if parts else np.zeros((0, self.dim))
        return Documents(ptr, np.ascontiguousarray(flat))

    def _documents(self, i: int, x: Any) -> Any:
        """The documents of query i, checked."""
        if sp.issparse(x):
            check_sparse(x, f"query {i}")
            matrix = sp.csr_array(x)
            matrix.data = real_numbers(matrix.data)
        else:
            try:
                matrix = real_numbers(x)
            except (TypeError, ValueError):
                raise ValueError(
                    f"query {i}: {x!r:.40} is not a table of numbers, a row for each document"
                ) from None
        if matrix.ndim != 2 or matrix.shape[1] != self.dim:
            raise ValueError(
                f"query {i}: its documents have shape {matrix.shape}, expected "
                f"(documents, {self.dim})"
            )
        if matrix.shape[0] == 0:
            raise ValueError(f"query {i} has no documents")
        if sp.issparse(matrix):
            bad = np.flatnonzero(~usable(matrix.data))
            if len(bad):
                d = int(np.searchsorted(matrix.indptr, bad[0], "right")) - 1
                raise ValueError(
                    f"query {i}, document {d}: feature {matrix.indices[bad[0]]} is "
                    f"{matrix.data[bad[0]]}"
                )
        elif not usable(matrix).all():
            d, f = np.argwhere(~usable(matrix))[0]
            raise ValueError(f"query {i}, document {d}: feature {f} is {matrix[d, f]}")
        return matrix

    def encode_labels(self, x: Documents, Y: Sequence[Any]) -> Ragged:
        """Grades; the hidden order starts with the best grades, in file order."""
        rows = []
        for i, y in enumerate(Y):
            grades = np.asarray(y)
            size = int(x.ptr[i + 1] - x.ptr[i])
            if grades.shape != (size,):
                raise ValueError(
                    f"query {i} has {size} documents, but {grades.size} grades"
                )
            bad = np.flatnonzero((grades < 0) | (grades > 30) | (grades % 1 != 0))
            if len(bad):
                raise ValueError(
                    f"query {i}, document {bad[0]}: grade {grades[bad[0]]} is not "
                    "an integer from 0 to 30"
                )
            grades = grades.astype(np.int32)
            if self.binary:
                grades = np.minimum(grades, 1)
            order = np.argsort(-grades, kind="stable")[: self.k]
            rows.append(np.concatenate((order, grades)))
        return Ragged.pack(rows)

    def decode_labels(self, x: Documents, labels: Ragged) -> list[list[int]]:
        """Grades of a truth; the first documents of an order."""
        sizes = np.diff(x.ptr)
        return [
            row[min(self.k, n) :] if len(row) > min(self.k, n) else row
            for row, n in zip(labels.unpack(), sizes.tolist(), strict=True)
        ]

    def features(self, x: Documents, ids: Ints, labels: Ragged) -> Rows:
        """Documents at the first places, discounted."""
        if sp.issparse(x.value):
            return self._sparse_sums(x, ids, labels)
        sums = _sums(*x, ids, *labels, self._weights)
        return Rows.from_dense(sums) if len(ids) else Rows.empty()

    def _sparse_sums(self, x: Documents, ids: Ints, labels: Ragged) -> Rows:
        """Sum of D_p x_{h_p} of each query, as a product of two sparse matrices."""
        if len(ids) == 0:
            return Rows.empty()
        places, weights = [], []
        for q, i in enumerate(ids.tolist()):
            n = int(x.ptr[i + 1] - x.ptr[i])
            order = labels.row(q)[: min(self.k, n)]
            places.append(x.ptr[i] + order)
            weights.append(self._discount(n)[: len(order)])
        ptr = pointers([len(row) for row in places])
        parts = np.concatenate(weights), np.concatenate(places), ptr
        chosen = sp.csr_array(parts, shape=(len(ids), x.value.shape[0]))
        return Rows.from_csr(chosen @ x.value)

    def argmax(
        self, x: Documents, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Sort by <w, x> minus what the loss gains from a document at the top."""
        rows, score = [], np.zeros(len(ids))
        for q, i in enumerate(ids):
            value = x.value[x.ptr[i] : x.ptr[i + 1]] @ w
            constant = 0.0
            if augment is not None:
                gain = self._gains(augment, int(i))
                weight = augment.weight[i]
                constant = weight * self._most(gain)
                value = value - weight * gain
            order = top(value, self.k)
            rows.append(order)
            score[q] = constant + float(self._weights[: len(order)] @ value[order])
        return Found(Ragged.pack(rows), score, score)

    def check_completed(self, x: Documents, truth: Ragged, completed: Ragged) -> None:
        """Grades are unchanged, and the order is one of documents, each once."""
        require(np.array_equal(truth.ptr, completed.ptr), NOT_COMPLETED)
        for i, n in enumerate(np.diff(x.ptr).tolist()):
            true, row = truth.row(i), completed.row(i)
            m = len(row) - n
            require(np.array_equal(row[m:], true[m:]), NOT_COMPLETED)
            check_range(row[:m], 0, n, NOT_COMPLETED)
            require(len(np.unique(row[:m])) == m, NOT_COMPLETED)

    def complete(self, x: Documents, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Sort by grade, then by score."""
        rows = []
        for i in ids:
            n = int(x.ptr[i + 1] - x.ptr[i])
            grades = truth.row(i)[-n:]
            value = x.value[x.ptr[i] : x.ptr[i + 1]] @ w
            order = np.lexsort((-value, -grades))[: self.k]
            rows.append(np.concatenate((order, grades)))
        return Ragged.pack(rows)

    def explain_pieces(self, x: Documents, i: int, row: Labels) -> Pieces:
        """The documents at the first places, discounted."""
        first = int(x.ptr[i])
        order = row[: min(self.k, int(x.ptr[i + 1]) - first)].tolist()
        names = [f"place {j + 1}: document {d}" for j, d in enumerate(order)]
        weights = self._discount(int(x.ptr[i + 1]) - first)[: len(order), None]
        chosen = x.value[[first + d for d in order]]
        dense = chosen.toarray() if sp.issparse(chosen) else chosen
        return Pieces(names, Rows.from_dense(weights * dense))

    def runner_up(self, x: Documents, i: int, w: Floats, row: Labels) -> Labels | None:
        """Two neighbours exchanged where it costs least, but costs something."""
        value = x.value[x.ptr[i] : x.ptr[i + 1]] @ w
        order = np.argsort(-value, kind="stable")
        drop = -np.diff(self._discount(len(order)))
        places = np.flatnonzero(drop > 0)
        if len(places) == 0 or len(order) < 2:
            return None
        at = places[np.argmin((drop * -np.diff(value[order]))[places])]
        order[[at, at + 1]] = order[[at + 1, at]]
        return order[: self.k].astype(np.int32)

    def _discount(self, n: int) -> Floats:
        """What each of n places weighs."""
        out = np.zeros(n)
        out[: self.k] = self._weights[:n]
        return out

    def scores(self, x: Documents, w: Floats) -> list[Floats]:
        """<w, x> of the documents of each query."""
        flat = x.value @ w
        return [flat[a:b] for a, b in zip(x.ptr[:-1], x.ptr[1:], strict=True)]

    def _gains(self, augment: Augment, i: int) -> Floats:
        row = augment.truth.row(i)
        loss = augment.loss
        assert isinstance(loss, DiscountedLoss)
        return loss.gains(row[places(len(row), self.k) :])

    def _most(self, gain: Floats) -> float:
        best = np.sort(gain)[::-1][: self.k]
        return float(self._weights[: len(best)] @ best)

    def label_count(self) -> int:
        """The number of places, which losses must know."""
        return self.k

    def work(self, x: Documents) -> Floats:
        """Scores and a sort."""
        size = np.diff(x.ptr).astype(np.float64)
        return size * (self.dim + 20.0)


def top(value: Floats, k: int) -> Ints:
    """The k largest, largest first; equal ones in file order."""
    if k < len(value) // 4:
        kth = np.partition(value, len(value) - k)[len(value) - k]
        near = np.flatnonzero(value >= kth)
        return near[np.argsort(-value[near], kind="stable")][:k]
    return np.argsort(-value, kind="stable")[:k]


@loop
def _sums(ptr, value, ids, row_ptr, rows, weights):
    out = np.zeros((len(ids), value.shape[1]))
    for q in range(len(ids)):
        a = ptr[ids[q]]
        for j in range(min(len(weights), ptr[ids[q] + 1] - a)):
            document = a + rows[row_ptr[q] + j]
            for f in range(value.shape[1]):
                out[q, f] += weights[j] * value[document, f]
    return out
