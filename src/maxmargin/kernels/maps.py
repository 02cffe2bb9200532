"""Explicit maps: a kernel as the inner product of vectors of `width` numbers.

With points b_1 .. b_m and G_ij = K(b_i, b_j) = L L',

    phi(x) = L^-1 (K(x, b_1), .., K(x, b_m)),     <phi(x), phi(z)> = <P x, P z>

for P the projection onto the span of the points in the space of the kernel. Any linear
machine over phi is the kernel machine restricted to that span. Ways to have points:

    exact      all training rows: phi reproduces the kernel on them
    nystroem   rows drawn at random
    cholesky   rows one by one, each the one worst approximated so far

[1] Williams and Seeger 2001 (Nystrom). [2] Fine and Scheinberg 2001 (incomplete
Cholesky). [3] Yu 2011, section 6.5.2 (projection by a Cholesky factor).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.validation import (
    LARGEST,
    check_finite,
    check_matrix,
    check_range,
    check_shape,
    check_types,
    require,
)
from maxmargin.kernels.functions import Kernel, Precomputed, rows_for
from maxmargin.kernels.gram import INDEFINITE, NotSemidefiniteError, refuse_large

BLOCK = 4096  # rows mapped at once
COPIES = 3  # arrays of that size at a time: values, mapped, with their constant
DEPENDENT = 1e-10  # share of the largest diagonal at which a point adds nothing


@dataclass(frozen=True, eq=False)
class KernelMap:
    """phi(x) = L^-1 K(b, x) for the points b.

    Examples
    --------
    >>> from maxmargin.kernels.functions import Polynomial
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> phi, values = exact(Polynomial(2), X)
    >>> bool(np.allclose(values @ values.T, Polynomial(2)(X, X)))
    True
    """

    kernel: Kernel
    points: Any  # (m, features)
    factor: Floats  # (m, m) lower triangular

    @property
    def width(self) -> int:
        """Length of phi(x)."""
        return len(self.factor)

    @property
    def sparse(self) -> bool:
        """Mapped rows are dense."""
        return False

    @property
    def inputs(self) -> int | None:
        """Length of the rows to be mapped."""
        return _row_length(self.kernel, self.points)

    def validate(self) -> None:
        """A triangular factor that can be solved for, and as many points."""
        check_types(self)
        size = len(self.factor)
        check_shape(self.factor, (size, size), "factor")
        check_finite(self.factor, "factor")
        require(not np.triu(self.factor, 1).any(), "the factor is not triangular")
        require((np.diag(self.factor) != 0.0).all(), "the factor is singular")
        check_points(self.kernel, self.points, size)

    def __call__(self, X: Any) -> Floats:
        """Map each row."""
        X, out = rows_for(X), np.empty((X.shape[0], self.width))
        for s in range(0, X.shape[0], BLOCK):
            values = self.kernel(X[s : s + BLOCK], self.points)
            out[s : s + BLOCK] = solve_triangular(
                self.factor, values.T, lower=True, check_finite=False, overwrite_b=True
            ).T
        return out

    def expansion(self, weights: Floats) -> Expansion:
        """The machine <weights_a, phi(x)> as a sum over points; weights (m, z)."""
        beta = solve_triangular(self.factor, weights, lower=True, trans=1)
        return Expansion(self.kernel, self.points, np.ascontiguousarray(beta))


@dataclass(frozen=True, eq=False)
class Expansion:
    """f_a(x) = sum_j beta_ja K(b_j, x): scores of z labels from points."""

    kernel: Kernel
    points: Any  # (m, features)
    beta: Floats  # (m, z)
    rows: Ints | None = None  # numbers of the points among the training rows

    @property
    def width(self) -> int:
        """Number of labels."""
        return int(self.beta.shape[1])

    @property
    def sparse(self) -> bool:
        """Scores are dense."""
        return False

    @property
    def inputs(self) -> int | None:
        """Length of the rows to be scored."""
        return _row_length(self.kernel, self.points)

    def validate(self) -> None:
        """Finite coefficients, and as many points."""
        check_types(self)
        require(self.beta.ndim == 2, "beta is not a matrix")
        check_finite(self.beta, "beta")
        check_points(self.kernel, self.points, len(self.beta))
        if self.rows is not None:
            check_shape(self.rows, (len(self.beta),), "rows")
            check_range(self.rows, 0, LARGEST, "row")

    def __call__(self, X: Any) -> Floats:
        """Scores (rows, z)."""
        X, out = rows_for(X), np.zeros((X.shape[0], self.width))
        if len(self.beta):
            for s in range(0, X.shape[0], BLOCK):
                out[s : s + BLOCK] = self.kernel(X[s : s + BLOCK], self.points) @ (
                    self.beta
                )
        return out


def check_points(kernel: Kernel, points: Any, n: int) -> None:
    """Refuse anything but n points that the kernel can take."""
    kernel.validate()
    check_matrix(points, n, "points of the kernel")
    if isinstance(kernel, Precomputed):
        require(points.dtype.kind in "iu", "points are not numbers of training rows")
        check_range(points, 0, LARGEST, "point")


def _row_length(kernel: Kernel, points: Any) -> int | None:
    """Features of the points; None for precomputed kernels, whose points are numbers."""
    return None if isinstance(kernel, Precomputed) else int(points.shape[1])


def map_to(kernel: Kernel, X: Any, ids: Ints) -> tuple[KernelMap, Ints]:
    """The map of rows `ids` of X, and those kept: the others depend on them."""
    points = kernel.points(X, ids)
    factor, kept = pivoted(kernel(X[ids], points))
    return KernelMap(kernel, points[kept], factor), ids[kept]


def map_points(kernel: Kernel, points: Floats) -> KernelMap:
    """The map of any points; those that depend on others are left out."""
    factor, kept = pivoted(kernel(points, points))
    return KernelMap(kernel, points[kept], factor)


def exact(kernel: Kernel, X: Any, memory: float = MEMORY) -> tuple[KernelMap, Floats]:
    """The map of all rows of X, and its values on them."""
    n = X.shape[0]
    refuse_large(
        n, n, memory, "the Gram matrix with its factor and the mapped rows",
        "allow more memory, or use kernel_method='cpsp', 'sampled' or 'nystroem'",
        COPIES + 1,
    )  # fmt: skip
    ids = np.arange(n)
    gram = kernel(X, kernel.points(X, ids))
    factor, kept = pivoted(gram)
    values = solve_triangular(
        factor, gram[kept], lower=True, check_finite=False, overwrite_b=True
    ).T
    phi = KernelMap(kernel, kernel.points(X, ids[kept]), factor)
    return phi, np.ascontiguousarray(values)


def pivoted(gram: Floats, whole: float = 0.0) -> tuple[Floats, Ints]:
    """L and rows kept, with gram[kept][:, kept] = L L'; the others depend on them.

    `whole` is the largest square that `gram` was computed from, if that is larger.
    """
    scale = max(float(gram.diagonal().max(initial=0.0)), whole)
    if scale <= 0.0:
        if np.abs(gram).max(initial=0.0) > 0.0:
            raise NotSemidefiniteError("the kernel is not positive semi-definite")
        raise ValueError("the kernel is zero on all rows: there is nothing to learn")
    upper, pivots, rank, _ = lapack.dpstrf(gram, tol=DEPENDENT * scale)
    kept = pivots[:rank].astype(np.int64) - 1
    factor = np.ascontiguousarray(np.triu(upper[:rank, :rank]).T)
    if rank < len(gram):
        rest = pivots[rank:].astype(np.int64) - 1
        left = gram.diagonal()[rest] - np.einsum(
            "ij,ij->j", upper[:rank, rank:], upper[:rank, rank:]
        )
        if left.min() < -INDEFINITE * scale:
            raise NotSemidefiniteError(
                "the kernel is not positive semi-definite: after "
                f"{rank} of {len(gram)} rows a square is left at {left.min():.3g}"
            )
    return factor, kept


def nystroem(
    kernel: Kernel, X: Any, m: int, seed: int = 0, memory: float = MEMORY
) -> KernelMap:
    """Points drawn from the rows of X at random."""
    n = X.shape[0]
    refuse_large(n, min(m, n), memory, "the mapped rows", "use fewer n_basis", COPIES)
    ids = np.random.default_rng(seed).permutation(X.shape[0])[:m]
    return map_to(kernel, X, ids)[0]


def incomplete_cholesky(
    kernel: Kernel, X: Any, m: int, memory: float = MEMORY
) -> tuple[KernelMap, Floats]:
    """Rows one by one, the worst approximated first; the map and its values on X."""
    n = X.shape[0]
    m = min(m, n)
    refuse_large(n, m, memory, "the incomplete factor", "use fewer n_basis", COPIES)
    left = kernel.diagonal(X)
    scale = float(left.max(initial=0.0))
    values, ids = np.zeros((m, n)), []  # a row per point: its column of the factor
    for j in range(m):
        i = int(np.argmax(left))
        if left[i] <= DEPENDENT * scale:
            break
        column = kernel(X, kernel.points(X, np.array([i]))).ravel()
        column -= values[:j, i] @ values[:j]
        column /= np.sqrt(left[i])
        values[j] = column
        left -= column**2
        left[i] = 0.0
        ids.append(i)
        if left.min() < -INDEFINITE * scale:
            raise NotSemidefiniteError(
                "the kernel is not positive semi-definite: after "
                f"{j + 1} rows a square is left at {left.min():.3g}"
            )
    chosen = np.array(ids, dtype=np.int64)
    factor = np.tril(values[: len(ids), chosen].T)
    phi = KernelMap(kernel, kernel.points(X, chosen), np.ascontiguousarray(factor))
    return phi, np.ascontiguousarray(values[: len(ids)].T)
