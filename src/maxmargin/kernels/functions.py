"""Mercer kernels between rows of matrices, dense or sparse.

    linear       <a, b>
    polynomial   (gamma <a, b> + shift)^degree
    rbf          exp(-gamma ||a - b||^2)
    precomputed  a row of a matrix of values, for strings, sets, graphs, ...
    function     any callable of two matrices
    sum, product of kernels (`+`, `*`)

A kernel is a small frozen object that is called with two matrices and returns the
matrix of its values; it pickles, and compares by its parameters. Kernels with a `slope`
are differentiable in their second argument, so that expansions can have any points.

Kernels on pairs (input, output) are in `joint`.

[1] Yu 2011, (6.3), (6.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from maxmargin.core.data.arrays import (
    FUNCTION,
    UNIT,
    Floats,
    Ints,
    is_number,
    is_whole,
    summation_error,
)
from maxmargin.core.data.pairs import PairKernel
from maxmargin.core.data.validation import (
    check_finite,
    check_own,
    check_positive,
    check_range,
    check_types,
    require,
)

STEEPEST = 1000  # degree of a polynomial
DENSE_WIDTH = 1000  # features up to which products of dense rows are the faster


class Kernel:
    """What all kernels can do."""

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        raise NotImplementedError

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """K(x, x) of rows `ids` of the training matrix X (default: all)."""
        rows = range(X.shape[0]) if ids is None else ids
        pairs = ((X[[i]], self.points(X, np.array([i]))) for i in rows)
        return np.array([self(a, b)[0, 0] for a, b in pairs])

    def rounding(self, X: Any) -> float:
        """How far rounding may move a value, as a share of sqrt(K(a, a) K(b, b)).

        For rows a, b like those of X.
        """
        return FUNCTION

    def validate(self) -> None:
        """Raise ValueError unless the kernel can be used: called when one is loaded."""
        check_types(self)

    def points(self, X: Any, ids: Ints) -> Any:
        """Rows of the training matrix X in the form of the second argument."""
        return X[ids]

    def columns(self, X: Any, ids: Ints) -> Floats:
        """Columns `ids` of the Gram matrix of X, each a row (len(ids), n)."""
        return self(X, self.points(X, ids)).T

    def __add__(self, other: Kernel) -> Kernel:
        """Sum of two kernels."""
        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Kernel:
        """Product of two kernels."""
        return Product(self, other)


@runtime_checkable
class Differentiable(Protocol):
    """A kernel with a slope in its second argument."""

    def slope(self, a: Any, b: Any, values: Floats, weight: Floats) -> Floats:
        """Gradient of sum_ij weight_ij K(a_i, b_j) in the points b."""


class RowKernel(Kernel):
    """A kernel whose points are rows, so that K(a, b) = K(b, a) for matrices of rows."""

    def columns(self, X: Any, ids: Ints) -> Floats:
        """Columns `ids` of the Gram matrix of X, made in the order they are kept in."""
        return self(X[ids], X)


@dataclass(frozen=True)
class Linear(RowKernel):
    """<a, b>."""

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        return products(a, b)

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """Squared lengths."""
        return squares(X if ids is None else X[ids])

    def rounding(self, X: Any) -> float:
        """That of inner products."""
        return summation_error(X.shape[1])

    def slope(self, a: Any, b: Floats, values: Floats, weight: Floats) -> Floats:
        """Gradient in b_j of sum_i weight_ij K(a_i, b_j), a row per j."""
        return weight.T @ a


@dataclass(frozen=True)
class Polynomial(RowKernel):
    """(gamma <a, b> + shift)^degree.

    Examples
    --------
    >>> Polynomial(2)(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])).tolist()
    [[16.0]]
    """

    degree: int = 2
    gamma: float = 1.0
    shift: float = 1.0

    def validate(self) -> None:
        """Finite numbers, and a degree that can be computed."""
        check_types(self)
        require(0 <= self.degree <= STEEPEST, f"degree={self.degree} is out of range")
        check_positive(self.gamma, "gamma")
        check_finite(self.shift, "shift")

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        return self._power(products(a, b), self.degree)

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """(gamma ||x||^2 + shift)^degree."""
        return self._power(squares(X if ids is None else X[ids]), self.degree)

    def rounding(self, X: Any) -> float:
        """That of inner products, once for each factor."""
        return max(self.degree, 1) * (summation_error(X.shape[1]) + 3.0 * UNIT)

    def slope(self, a: Any, b: Floats, values: Floats, weight: Floats) -> Floats:
        """Gradient in b_j of sum_i weight_ij K(a_i, b_j), a row per j."""
        inner = self._power(products(a, b), self.degree - 1)
        inner *= weight
        return (self.degree * self.gamma) * (inner.T @ a)

    def _power(self, out: Floats, degree: int) -> Floats:
        out *= self.gamma
        out += self.shift
        if degree == 0:
            out[:] = 1.0
            return out
        base = out.copy() if degree > 1 else out
        for _ in range(degree - 1):
            out *= base
        return out


@dataclass(frozen=True)
class Rbf(RowKernel):
    """exp(-gamma ||a - b||^2).

    Examples
    --------
    >>> Rbf(0.5)(np.array([[1.0], [3.0]]), np.array([[1.0]])).round(4).tolist()
    [[1.0], [0.1353]]
    """

    gamma: float = 1.0

    def validate(self) -> None:
        """Gamma is greater than zero."""
        check_types(self)
        check_positive(self.gamma, "gamma")

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        out = products(a, b)
        out *= 2.0 * self.gamma
        out -= (self.gamma * squares(a))[:, None]
        out -= (self.gamma * squares(b))[None, :]
        np.minimum(out, 0.0, out=out)
        return np.exp(out, out=out)

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """Ones."""
        return np.ones(X.shape[0] if ids is None else len(ids))

    def rounding(self, X: Any) -> float:
        """Distances are differences of squares: rows far from zero lose digits."""
        longest = float(np.max(squares(X), initial=0.0))
        products = summation_error(X.shape[1]) + UNIT
        return min(4.0 * self.gamma * longest * products + FUNCTION, 1.0)

    def slope(self, a: Any, b: Floats, values: Floats, weight: Floats) -> Floats:
        """Gradient in b_j of sum_i weight_ij K(a_i, b_j), a row per j."""
        pull = weight * values
        return 2.0 * self.gamma * (pull.T @ a - pull.sum(axis=0)[:, None] * b)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values given: row i of a matrix holds K(x_i, .) against the training rows.

    The points of expansions are numbers of training rows, in a column.
    """

    def __call__(self, a: Any, b: Any) -> Floats:
        """Columns of the values `a`."""
        ids = np.asarray(b, dtype=np.int64).ravel()
        check_range(ids, 0, a.shape[1], "a precomputed kernel lacks the training row")
        out = a[:, ids]
        out = out.toarray() if hasattr(out, "toarray") else out
        return np.ascontiguousarray(out, dtype=np.float64)

    def rounding(self, X: Any) -> float:
        """None: the values are as given."""
        return 0.0

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """Diagonal of the training matrix."""
        out = np.array(X.diagonal(), dtype=np.float64)
        return out if ids is None else out[ids]

    def points(self, X: Any, ids: Ints) -> Any:
        """Numbers of the rows."""
        return np.asarray(ids, dtype=np.int64)[:, None]


@dataclass(frozen=True)
class Function(Kernel):
    """Any callable of two matrices that returns the matrix of values."""

    function: Callable[[Any, Any], Any]

    def validate(self) -> None:
        """The function is one of the user's."""
        check_types(self)
        check_own(self.function, ["__call__"], "the kernel function")

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        out = np.ascontiguousarray(self.function(a, b), dtype=np.float64)
        if out.shape != (a.shape[0], b.shape[0]):
            raise ValueError(
                f"the kernel function returned an array of shape {out.shape} for "
                f"{a.shape[0]} and {b.shape[0]} rows"
            )
        return out


@dataclass(frozen=True)
class Sum(Kernel):
    """K + L."""

    first: Kernel
    second: Kernel

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        return self.first(a, b) + self.second(a, b)

    def rounding(self, X: Any) -> float:
        """The larger of the two, and that of the sum."""
        return max(self.first.rounding(X), self.second.rounding(X)) + UNIT


@dataclass(frozen=True)
class Product(Kernel):
    """K * L."""

    first: Kernel
    second: Kernel

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        return self.first(a, b) * self.second(a, b)

    def rounding(self, X: Any) -> float:
        """Those of both, and of the product."""
        return self.first.rounding(X) + self.second.rounding(X) + UNIT


def products(a: Any, b: Any) -> Floats:
    """Inner products of all pairs of rows, dense; single precision if both have it."""
    out = a @ b.T
    if hasattr(out, "toarray"):
        out = out.toarray()
    if out.dtype == np.float32:
        return out
    return np.ascontiguousarray(out, dtype=np.float64)


def squares(a: Any) -> Floats:
    """Squared length of each row."""
    if hasattr(a, "multiply"):
        return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", a, a)


def rows_for(X: Any) -> Any:
    """X in the form in which products are fastest: narrow sparse matrices dense."""
    return dense_rows(X) if X.shape[1] <= DENSE_WIDTH else X


def dense_rows(X: Any) -> Floats:
    """X as a dense array of floats."""
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.ascontiguousarray(X, dtype=np.float64)


def _gamma_by_rule(rule: str, X: Any) -> float:
    """The gamma of scikit-learn's rules "scale" and "auto" for the rows of X."""
    if X is None:
        raise ValueError(f"gamma={rule!r}: 'scale' and 'auto' need rows to scale by")
    if rule == "auto":
        return 1.0 / X.shape[1]
    mean = float(X.mean())
    variance = float(squares(X).mean()) / X.shape[1] - mean**2
    if not hasattr(X, "multiply"):  # more digits than the difference of squares has
        variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


def named_kernel(kernel: Any, X: Any = None, **given: Any) -> Any:
    """A kernel by name, scaled to X, or an object as it is.

    "poly" is (gamma <a, b> + coef0)^degree and "rbf" exp(-gamma ||a - b||^2), with
    gamma = 1 / s unless given, s the mean squared length of the rows of X: values then
    stay of the order of 1. gamma="scale" is one over (columns of X times the variance of
    its entries) and "auto" one over the number of columns, as in scikit-learn.
    "quadratic" and "cubic" are polynomials of degree 2 and 3.

    Parameters
    ----------
    kernel : str, Kernel or callable
    X : matrix, optional
        Rows to scale by.
    **given
        gamma, degree, coef0; those that are None are chosen here.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, PairKernel):
        raise TypeError(
            f"{type(kernel).__name__} compares pairs (input, output), but here inputs are "
            "compared; MulticlassSVM and StructuralSVM take joint kernels"
        )
    if not isinstance(kernel, str):
        if not callable(kernel):
            raise TypeError(f"kernel={kernel!r} is neither a name nor a function")
        return Function(kernel)
    given = {k: v for k, v in given.items() if v is not None}
    gamma, degree = given.get("gamma", 1.0), given.get("degree", 2)
    by_rule = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not by_rule and not (is_number(gamma) and 0.0 < float(gamma) < np.inf):
        raise ValueError(
            f"gamma={gamma!r}: a number greater than zero is needed, 'scale', 'auto', or "
            "None: one over the mean squared length of the rows"
        )
    if not is_whole(degree) or degree < 1:
        raise ValueError(f"degree={degree!r}: a whole number, at least one, is needed")
    if by_rule:
        gamma = 1.0 if kernel == "precomputed" else _gamma_by_rule(gamma, X)
    elif "gamma" not in given and X is not None and kernel != "precomputed":
        gamma = 1.0 / (float(squares(X).mean()) or 1.0)
    gamma = float(gamma)
    known: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "quadratic": lambda: Polynomial(2, gamma, given.get("coef0", 1.0)),
        "cubic": lambda: Polynomial(3, gamma, given.get("coef0", 1.0)),
        "poly": lambda: Polynomial(int(degree), gamma, given.get("coef0", 1.0)),
        "rbf": lambda: Rbf(gamma),
        "precomputed": Precomputed,
    }
    if kernel not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"kernel={kernel!r} is not known: choose from {names}")
    return known[kernel]()
