"""The array types that all rooms use: `Ragged`, `Rows` and `Vectors`.

`Ragged` holds rows of integers: an encoded output is ONE row, whatever the structure.
`Rows` holds sparse vectors in weight space: psi, a difference of psi, a plane.
`Vectors` holds input vectors, dense or sparse, to be scored against labels: the score
of vector r with label k is <vector r, weights of label k>.

Types are fixed here, once: int64 `ptr`, int32 `data` and `idx`, float64 `val`, all
contiguous and writable, so that each loop is compiled for one signature.

Scores are sums of products of their entries. `summation_error` says how far rounding may
move such a sum: m products, added in any order, are off by at most m u times the sum of
their absolute values, u = 2^-53, and, but for very rare cases, by at most LUCK sqrt(m) u
times that sum [1].

[1] Higham and Mary 2019, A new approach to probabilistic rounding error analysis.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.validation import (
    check_finite,
    check_pointers,
    check_range,
    check_types,
    require,
)
from maxmargin.core.jit import dense_loop, inner_loop, loop

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]


def pointers(sizes: ArrayLike) -> Ints:
    """Row pointers (n + 1,) of rows with the given sizes (n,)."""
    sizes = np.asarray(sizes, dtype=np.int64)
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


UNIT = 2.0**-53
LUCK = 8.0
FUNCTION = 8.0 * UNIT  # of a value of a function that we know nothing about, relative


def summation_error(terms: float) -> float:
    """Bound on the error of a sum, as a share of the sum of absolute values.

    Examples
    --------
    >>> summation_error(10) == 10 * 2.0**-53, summation_error(1e6) == 8e3 * 2.0**-53
    (True, True)
    """
    return UNIT * min(terms, LUCK * math.sqrt(terms))


LARGEST = 1e150  # of a feature: squares of larger numbers overflow
PLAIN = list, tuple, np.ndarray


def check_size(values: Any, what: str) -> None:
    """Refuse numbers that are not finite, or whose products would overflow."""
    check_finite(values, what)
    require((np.abs(values) <= LARGEST).all(), f"{what}: a number is beyond {LARGEST}")


def is_number(value: Any) -> bool:
    """Whether a parameter is a number: not NaN, and neither True nor False.

    Examples
    --------
    >>> is_number(1.0), is_number(np.float32(2)), is_number(True), is_number("1")
    (True, True, False, False)
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and not math.isnan(float(value))


def is_whole(value: Any) -> bool:
    """Whether a parameter is a whole number: neither True nor False, nor 2.0."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def real_numbers(values: Any) -> Floats:
    """Values as an array of floats; complex numbers and dates are refused.

    NumPy would drop imaginary parts, and turn dates into counts of days or nanoseconds.

    Examples
    --------
    >>> real_numbers([1, 2]).tolist()
    [1.0, 2.0]
    >>> real_numbers(np.array([1 + 2j]))
    Traceback (most recent call last):
    ValueError: complex128 cannot be used: numbers without an imaginary part are needed
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(
            f"{array.dtype} cannot be used: numbers without an imaginary part are needed"
        )
    if array.dtype.kind in "mM":
        raise ValueError(f"{array.dtype} cannot be used: numbers are needed, not dates")
    try:
        return np.asarray(array, dtype=np.float64)
    except ValueError:
        for text in array.ravel().tolist():
            if isinstance(text, str | bytes):
                _check_written(text)
        raise


def _check_written(text: str | bytes) -> None:
    """Refuse text that is no number, in other words than NumPy's."""
    try:
        float(text)
    except ValueError:
        raise ValueError(f"{text!r:.40} is text, and a number is needed") from None


def usable(values: Any) -> NDArray[np.bool_]:
    """Which features are finite, and not so large that their squares overflow.

    Examples
    --------
    >>> usable(np.array([1.0, np.nan, np.inf, 1e300])).tolist()
    [True, False, False, False]
    """
    # Not abs(values), which would be an array of numbers of its own.
    mask: NDArray[np.bool_] = (values >= -LARGEST) & (values <= LARGEST)
    return mask


def check_ordered(values: Any, where: str) -> None:
    """Refuse sets, mappings and iterators where the order counts.

    Examples
    --------
    >>> check_ordered({"N", "V"}, "sequence 3")
    Traceback (most recent call last):
    ValueError: sequence 3: a set has no order or no length; give a list
    """
    if isinstance(values, PLAIN):  # quick; abstract classes take much longer
        return
    if isinstance(values, Set | Mapping | Iterator):
        name = type(values).__name__
        raise ValueError(f"{where}: a {name} has no order or no length; give a list")


class Ragged(NamedTuple):
    """Rows of int32 of any lengths: row i is `data[ptr[i]:ptr[i + 1]]`.

    Examples
    --------
    >>> rows = Ragged.pack([[3, 1], [], [2]])
    >>> rows.n, rows.row(0).tolist(), rows.take([2, 0]).unpack()
    (3, [3, 1], [[2], [3, 1]])
    """

    ptr: Ints  # (n + 1,)
    data: Labels  # (total,)

    @classmethod
    def pack(cls, rows: Iterable[ArrayLike]) -> Ragged:
        """Rows given one by one."""
        arrays = [np.asarray(row, dtype=np.int32).ravel() for row in rows]
        data = np.concatenate(arrays) if arrays else np.empty(0, np.int32)
        return cls(pointers([len(a) for a in arrays]), data)

    @classmethod
    def single(cls, values: ArrayLike) -> Ragged:
        """Rows of one number each."""
        data = np.ascontiguousarray(values, dtype=np.int32)
        return cls(np.arange(len(data) + 1, dtype=np.int64), data)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    @property
    def sizes(self) -> Ints:
        """Length of each row."""
        return np.diff(self.ptr)

    def row(self, i: int) -> Labels:
        """Row i, a view."""
        return self.data[self.ptr[i] : self.ptr[i + 1]]

    def take(self, ids: ArrayLike) -> Ragged:
        """The rows `ids`, in that order."""
        where, ptr = _spans(self.ptr, np.asarray(ids, dtype=np.int64))
        return Ragged(ptr, self.data[where])

    def unpack(self) -> list[list[int]]:
        """Rows as lists of Python integers."""
        flat, ptr = self.data.tolist(), self.ptr.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(ptr)]

    def validate(self) -> None:
        """Rows lie one after the other in `data`."""
        check_types(self)
        check_pointers(self.ptr, len(self.data), "rows")

    @staticmethod
    def concat(parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        sizes = [p.sizes for p in parts]
        return Ragged(
            pointers(np.concatenate(sizes) if sizes else []),
            np.concatenate([p.data for p in parts]) if parts else np.empty(0, np.int32),
        )


class Rows(NamedTuple):
    """Sparse vectors: row i has values `val[ptr[i]:ptr[i + 1]]` at coordinates `idx`.

    A coordinate may occur more than once in a row: the values then add up.

    Examples
    --------
    >>> a = Rows.from_dense([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    >>> a.dot(np.array([1.0, 5.0, 10.0])).tolist(), a.total(3, [2.0, 1.0]).tolist()
    ([21.0, 0.0], [2.0, 0.0, 4.0])
    """

    ptr: Ints  # (n + 1,)
    idx: Labels  # (total,)
    val: Floats  # (total,)

    @classmethod
    def empty(cls, n: int = 0) -> Rows:
        """`n` zero vectors."""
        return cls(np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0))

    @classmethod
    def from_dense(cls, matrix: ArrayLike) -> Rows:
        """Rows of a dense matrix, zeros left out."""
        matrix = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        rows, idx = matrix.nonzero()
        ptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
        return cls(ptr, idx.astype(np.int32), matrix[rows, idx])

    @classmethod
    def from_csr(cls, matrix: Any) -> Rows:
        """Rows of a scipy CSR matrix."""
        return cls(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32),
            np.ascontiguousarray(matrix.data, dtype=np.float64),
        )

    @classmethod
    def pack(cls, parts: Sequence[tuple[Any, Any]]) -> Rows:
        """Pairs (coordinates, values), one for each row."""
        idx = [np.asarray(at) for at, _ in parts] or [np.empty(0)]
        val = [np.asarray(value) for _, value in parts] or [np.empty(0)]
        return cls(
            pointers([len(at) for at, _ in parts]),
            np.concatenate(idx).astype(np.int32),
            np.concatenate(val).astype(np.float64),
        )

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    def take(self, ids: ArrayLike) -> Rows:
        """The rows `ids`, in that order."""
        where, ptr = _spans(self.ptr, np.asarray(ids, dtype=np.int64))
        return Rows(ptr, self.idx[where], self.val[where])

    def scale(self, factor: Floats) -> Rows:
        """Row i times factor[i]."""
        return Rows(self.ptr, self.idx, self.val * np.repeat(factor, np.diff(self.ptr)))

    def dot(self, w: Floats) -> Floats:
        """<row, w> of each row."""
        return _dot(self.ptr, self.idx, self.val, w)

    def total(self, dim: int, factor: ArrayLike | None = None) -> Floats:
        """Dense sum of factor[i] * row i."""
        out = np.zeros(dim)
        self.add_to(out, np.ones(self.n) if factor is None else factor)
        return out

    def add_to(self, out: Floats, factor: ArrayLike) -> None:
        """Add the sum of factor[i] * row i to a dense vector."""
        _add(self.ptr, self.idx, self.val, np.asarray(factor, np.float64), out)

    def minus(self, other: Rows) -> Rows:
        """Row by row difference; what cancels exactly is left out."""
        return Rows(*_minus(*self, *other))

    def csr(self, dim: int) -> Any:
        """As a scipy CSR array, duplicates summed."""
        out = sp.csr_array((self.val, self.idx, self.ptr), shape=(self.n, dim))
        out.sum_duplicates()
        return out

    def validate(self, dim: int = 2**31) -> None:
        """Finite values at coordinates below `dim`."""
        check_types(self)
        check_pointers(self.ptr, len(self.val), "rows")
        require(len(self.idx) == len(self.val), "a value lacks its coordinate")
        check_range(self.idx, 0, dim, "coordinate")
        check_finite(self.val, "values")

    @staticmethod
    def concat(parts: Sequence[Rows]) -> Rows:
        """All rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Rows.empty()
        return Rows(
            pointers(np.concatenate([np.diff(p.ptr) for p in parts])),
            np.concatenate([p.idx for p in parts]),
            np.concatenate([p.val for p in parts]),
        )


class SparseWeights(NamedTuple):
    """A vector with few entries that are not zero, as pickles hold it."""

    size: int
    idx: Ints
    val: Floats

    def dense(self) -> Floats:
        """The vector itself."""
        w = np.zeros(self.size)
        w[self.idx] = self.val
        return w


def sparse_weights(w: Floats) -> Floats | SparseWeights:
    """The vector without its zeros, if that takes less than half of the memory.

    Examples
    --------
    >>> sparse_weights(np.eye(1, 9, 4)[0])
    SparseWeights(size=9, idx=array([4]), val=array([1.]))
    >>> sparse_weights(np.ones(2))
    array([1., 1.])
    """
    idx = np.flatnonzero(w)
    return SparseWeights(len(w), idx, w[idx]) if 4 * len(idx) < len(w) else w


class Vectors(NamedTuple):
    """Input vectors, dense or sparse, that are scored against each of `k` labels.

    Dense vectors have an empty `idx` and rows of `width` values. The weights of k
    labels are one flat array: label-major (k, width) for dense vectors, where long
    products vectorise; feature-major (width, k) for sparse ones, where one feature
    touches k neighbours. `stride(k)` gives (per feature, per label) steps.
    """

    ptr: Ints  # (n + 1,)
    idx: Labels  # (total,), empty when dense
    val: Floats  # (total,)
    width: int

    @classmethod
    def of(cls, matrix: Any, sparse: bool) -> Vectors:
        """Rows of a dense or scipy.sparse matrix in the representation asked for."""
        if sparse:
            csr = sp.csr_array(matrix)
            rows = Rows.from_csr(csr)
            return cls(rows.ptr, rows.idx, rows.val, csr.shape[1])
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        dense = np.ascontiguousarray(dense, dtype=np.float64)
        n, width = dense.shape
        ptr = np.arange(n + 1, dtype=np.int64) * width
        return cls(ptr, np.empty(0, np.int32), dense.reshape(-1), width)

    @property
    def n(self) -> int:
        """Number of vectors."""
        return len(self.ptr) - 1

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""
        return len(self.idx) > 0 or len(self.val) == 0

    def validate(self) -> None:
        """Finite values; sparse ones at coordinates below `width`."""
        check_types(self)
        check_pointers(self.ptr, len(self.val), "vectors")
        check_finite(self.val, "values")
        if self.sparse:
            require(len(self.idx) == len(self.val), "a value lacks its coordinate")
            check_range(self.idx, 0, self.width, "feature")
        else:
            require((np.diff(self.ptr) == self.width).all(), "a vector is too short")

    def slice(self, start: int, stop: int) -> Vectors:
        """Vectors start .. stop - 1; their entries are views."""
        ptr = self.ptr[start : stop + 1]
        a, b = int(ptr[0]), int(ptr[-1])
        idx = self.idx[a:b] if len(self.idx) else self.idx
        return Vectors(ptr - a, idx, self.val[a:b], self.width)

    def stride(self, k: int) -> tuple[int, int]:
        """Step in the flat weights per feature and per label."""
        return (k, 1) if self.sparse else (1, self.width)

    def matrix(self) -> Any:
        """As a dense array, or a scipy CSR array if zeros are left out."""
        if self.sparse:
            return self.csr()
        return self.val.reshape(self.n, self.width)

    def csr(self) -> Any:
        """As a scipy CSR array."""
        if self.sparse:
            return sp.csr_array((self.val, self.idx, self.ptr), (self.n, self.width))
        return sp.csr_array(self.val.reshape(self.n, self.width))


@dense_loop
def inner(a, b):
    """<a, b> of contiguous arrays."""
    s = 0.0
    for f in range(len(a)):
        s += a[f] * b[f]
    return s


@inner_loop
def longest(ptr):
    """Length of the longest row, at least one."""
    most = 1
    for i in range(len(ptr) - 1):
        most = max(most, ptr[i + 1] - ptr[i])
    return most


@loop
def fill_scores(ptr, idx, val, width, r, w, k, out):
    """out[:k] = <vector r, weights of each label>; w holds the weights first."""
    if len(idx) > 0:
        rows = w[: width * k].reshape((width, k))
        for j in range(k):
            out[j] = 0.0
        for p in range(ptr[r], ptr[r + 1]):
            v = val[p]
            row = rows[idx[p]]
            for j in range(k):
                out[j] += v * row[j]
    else:
        x = val[ptr[r] : ptr[r + 1]]
        for j in range(k):
            out[j] = inner(x, w[j * width : j * width + len(x)])


@loop
def add_scores(ptr, idx, val, width, r, coef, k, w):
    """Add coef[j] * vector r to the weights of each label j with coef[j] != 0."""
    if len(idx) > 0:
        active = 0
        for j in range(k):
            active += coef[j] != 0.0
        rows = w[: width * k].reshape((width, k))
        if 4 * active <= k:
            for j in range(k):
                c = coef[j]
                if c != 0.0:
                    for p in range(ptr[r], ptr[r + 1]):
                        rows[idx[p], j] += c * val[p]
        else:
            for p in range(ptr[r], ptr[r + 1]):
                v = val[p]
                row = rows[idx[p]]
                for j in range(k):
                    row[j] += v * coef[j]
    else:
        x = val[ptr[r] : ptr[r + 1]]
        for j in range(k):
            c = coef[j]
            if c != 0.0:
                weights = w[j * width : j * width + len(x)]
                for f in range(len(x)):
                    weights[f] += c * x[f]


def _spans(ptr: Ints, ids: Ints) -> tuple[Ints, Ints]:
    """Positions of the entries of rows `ids`, and the new row pointers."""
    starts = ptr[ids]
    sizes = ptr[ids + 1] - starts
    out = np.zeros(len(ids) + 1, np.int64)
    np.add.accumulate(sizes, out=out[1:])  # np.cumsum takes longer to call
    shift = starts - out[:-1]
    return shift.repeat(sizes) + np.arange(out[-1]), out


@loop
def _dot(ptr, idx, val, w):
    out = np.empty(len(ptr) - 1)
    for i in range(len(ptr) - 1):
        s = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            s += val[p] * w[idx[p]]
        out[i] = s
    return out


@loop
def _add(ptr, idx, val, factor, out):
    for i in range(len(ptr) - 1):
        c = factor[i]
        if c != 0.0:
            for p in range(ptr[i], ptr[i + 1]):
                out[idx[p]] += c * val[p]


@loop
def _minus(ptr, idx, val, ptr2, idx2, val2):
    n, longest = len(ptr) - 1, 0
    for i in range(n):
        longest = max(longest, ptr[i + 1] - ptr[i] + ptr2[i + 1] - ptr2[i])
    keys, values = np.empty((2, longest), np.int32), np.empty((2, longest))
    out_ptr = np.zeros(n + 1, np.int64)
    out_idx = np.empty(len(idx) + len(idx2), np.int32)
    out_val = np.empty(len(idx) + len(idx2))
    m = 0
    for i in range(n):
        size = 0
        for p in range(ptr[i], ptr[i + 1]):
            keys[0, size], values[0, size] = idx[p], val[p]
            size += 1
        for p in range(ptr2[i], ptr2[i + 1]):
            keys[0, size], values[0, size] = idx2[p], -val2[p]
            size += 1
        key, value = _sort(keys[0], values[0], keys[1], values[1], size)
        p = 0
        while p < size:
            k = key[p]
            s = 0.0
            while p < size and key[p] == k:
                s += value[p]
                p += 1
            if s != 0.0:
                out_idx[m] = k
                out_val[m] = s
                m += 1
        out_ptr[i + 1] = m
    return out_ptr, out_idx[:m].copy(), out_val[:m].copy()


@inner_loop
def _sort(key, val, key2, val2, n):
    """First n keys and values by key, equal ones in order; key2 and val2 are room.

    Runs of 16 are sorted in place and merged; np.argsort takes a second to compile.
    """
    for a in range(0, n, 16):
        for r in range(a + 1, min(a + 16, n)):
            k, v, p = key[r], val[r], r
            while p > a and key[p - 1] > k:
                key[p], val[p] = key[p - 1], val[p - 1]
                p -= 1
            key[p], val[p] = k, v
    width = 16
    while width < n:
        for a in range(0, n, 2 * width):
            p, middle = a, min(a + width, n)
            q, end = middle, min(a + 2 * width, n)
            for r in range(a, end):
                if q >= end or (p < middle and key[p] <= key[q]):
                    key2[r], val2[r] = key[p], val[p]
                    p += 1
                else:
                    key2[r], val2[r] = key[q], val[q]
                    q += 1
        key, key2, val, val2 = key2, key, val2, val
        width *= 2
    return key, val
