"""A basis that grows point by point: incremental Cholesky, and preimages of a residual.

With points b_1 .. b_k, G = K(b, b) = L L' and A = K(X, b), the projection of
v = sum_i R_i phi(x_i) onto the span of the points has the coordinates u = L^-1 A' R in an
orthonormal basis. A further point adds a row to L and one to u, in time O(nk).

The next point is a preimage of the residual r = v - P v (equation 6.9 of [1]),

    min_{b, beta} ||r - beta phi(b)||^2,   that is   max_b ||r(b)||^2 / K(b, b).

[1] Yu 2011, sections 6.5.2 and 6.5.3. [2] Smola and Schoelkopf 2000 (59 candidates).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from maxmargin.core.data.arrays import Floats
from maxmargin.kernels.functions import Kernel, Precomputed, Rbf, dense_rows
from maxmargin.kernels.maps import BLOCK, DEPENDENT, KernelMap
from maxmargin.kernels.preimage import fixed_point, refine
from maxmargin.kernels.pursuit import CANDIDATES

PREIMAGES = ("fixed-point", "gradient", "train")
STEPS = 50  # of the fixed-point iteration, or quasi-Newton steps


class GrowingBasis:
    """Points with the Cholesky factor of their Gram matrix and their values on X.

    Parameters
    ----------
    kernel : Kernel
    X : matrix
        Training rows.
    most : int
        Points at most.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> basis, v = GrowingBasis(Rbf(1.0), X, 2), np.array([[1.0], [0.0], [0.0]])
    >>> basis.add(X[:1]), basis.add(X[:1])  # the second adds nothing
    (True, False)
    >>> basis.coordinates(v).tolist()
    [[1.0]]
    """

    def __init__(self, kernel: Kernel, X: Any, most: int) -> None:
        self.kernel, self.X, self.size = kernel, X, 0
        self._points: list[Any] = []
        self._factor = np.zeros((most, most))
        self._values = np.zeros((X.shape[0], most), order="F")

    @property
    def values(self) -> Floats:
        """A = K(X, b), (rows, size)."""
        return self._values[:, : self.size]

    @property
    def factor(self) -> Floats:
        """L, lower triangular."""
        return self._factor[: self.size, : self.size]

    @property
    def points(self) -> Any:
        """The points as rows."""
        return _stacked(self._points)

    def add(self, point: Any) -> bool:
        """One more point, a row; False if it depends on those there are."""
        k, X = self.size, self.X
        own = float(self.kernel(_as_rows(self.kernel, X, point), point)[0, 0])
        row = np.zeros(0)
        if k:
            cross = self.kernel(_as_rows(self.kernel, X, self.points), point).ravel()
            row = solve_triangular(self.factor, cross, lower=True, check_finite=False)
        left = own - float(row @ row)
        if left <= DEPENDENT * own:
            return False
        self._factor[k, :k], self._factor[k, k] = row, np.sqrt(left)
        for s in range(0, X.shape[0], BLOCK):
            values = self.kernel(X[s : s + BLOCK], point)
            self._values[s : s + BLOCK, k] = values.ravel()
        self._points.append(point)
        self.size += 1
        return True

    def coordinates(self, R: Floats) -> Floats:
        """Coordinates u (size, z) of the projection of v = sum_i R_i phi(x_i)."""
        if self.size == 0:
            return np.zeros((0, R.shape[1]))
        return solve_triangular(self.factor, self.values.T @ R, lower=True)

    def next_coordinate(self, R: Floats, u: Floats) -> Floats:
        """The last row of `coordinates`, from those before it."""
        k = self.size - 1
        value = self._values[:, k] @ R - self._factor[k, :k] @ u
        return np.asarray(value / self._factor[k, k])

    def coefficients(self, u: Floats) -> Floats:
        """Coefficients beta (size, z) of the points for coordinates u."""
        if self.size == 0:
            return np.zeros((0, u.shape[1]))
        return solve_triangular(self.factor, u, lower=True, trans=1)

    def preimage(self, R: Floats, u: Floats, how: str, rng: np.random.Generator) -> Any:
        """The point to add next for v, whose projection has coordinates u.

        "train" takes the best of 59 training rows drawn at random; "fixed-point" (RBF)
        and "gradient" go on from there.
        """
        rows, n = np.flatnonzero(np.any(R, axis=1)), self.X.shape[0]
        beta = self.coefficients(u)
        drawn = rng.permutation(n)[: min(CANDIDATES, n)]
        near = self.kernel.points(self.X, drawn)
        left = self.kernel(self.X[rows], near).T @ R[rows] - self.values[drawn] @ beta
        own = np.maximum(self.kernel.diagonal(self.X, drawn), 1e-300)
        best = int(np.argmax(np.einsum("ij,ij->i", left, left) / own))
        start = near[[best]]
        if how == "train":
            return start
        start = dense_rows(start)
        X, C = self.X[rows], R[rows]
        if self.size:
            X, C = _stacked([X, self.points]), np.concatenate((C, -beta))
        if how == "gradient":
            return refine(self.kernel, X, C, start, STEPS)
        assert isinstance(self.kernel, Rbf)
        return fixed_point(self.kernel, X, C, start[0], STEPS)[None, :]

    def as_map(self) -> KernelMap:
        """The map onto the span."""
        return KernelMap(self.kernel, self.points, np.ascontiguousarray(self.factor))


def _as_rows(kernel: Kernel, X: Any, points: Any) -> Any:
    """Points in the form of the kernel's first argument: rows of a given Gram matrix."""
    return X[points.ravel()] if isinstance(kernel, Precomputed) else points


def _stacked(parts: list[Any]) -> Any:
    """Rows below each other; sparse if the first ones are."""
    if sp.issparse(parts[0]):
        return sp.vstack([sp.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)
