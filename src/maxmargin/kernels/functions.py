"""Mercer kernels between rows of matrices, dense or sparse.

    linear       <a, b>
    polynomial   (gamma <a, b> + shift)^degree
    rbf          exp(-gamma ||a - b||^2)

A kernel is a small frozen object that is called with two matrices and returns the
matrix of its values; it pickles, and compares by its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.arrays import Floats


@dataclass(frozen=True)
class Linear:
    """<a, b>."""

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        return products(a, b)


@dataclass(frozen=True)
class Polynomial:
    """(gamma <a, b> + shift)^degree.

    Examples
    --------
    >>> Polynomial(2)(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])).tolist()
    [[16.0]]
    """

    degree: int = 2
    gamma: float = 1.0
    shift: float = 1.0

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        out = products(a, b)
        out *= self.gamma
        out += self.shift
        base = out.copy()
        for _ in range(self.degree - 1):
            out *= base
        return out


@dataclass(frozen=True)
class Rbf:
    """exp(-gamma ||a - b||^2).

    Examples
    --------
    >>> Rbf(0.5)(np.array([[1.0], [3.0]]), np.array([[1.0]])).round(4).tolist()
    [[1.0], [0.1353]]
    """

    gamma: float = 1.0

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        out = products(a, b)
        out *= -2.0
        out += squares(a)[:, None]
        out += squares(b)[None, :]
        np.maximum(out, 0.0, out=out)
        out *= -self.gamma
        return np.exp(out, out=out)


def products(a: Any, b: Any) -> Floats:
    """Inner products of all pairs of rows, dense."""
    out = a @ b.T
    if hasattr(out, "toarray"):
        out = out.toarray()
    return np.ascontiguousarray(out, dtype=np.float64)


def squares(a: Any) -> Floats:
    """Squared length of each row."""
    if hasattr(a, "multiply"):
        return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", a, a)


def named_kernel(kernel: Any, X: Any = None) -> Any:
    """A kernel by name, scaled to X, or an object as it is.

    "quadratic" and "cubic" are (<a, b> / s + 1)^d with s the mean squared length of the
    rows of X, so that their values stay near 2^d; "rbf" has gamma = 1 / s.
    """
    if not isinstance(kernel, str):
        return kernel
    size = 1.0 if X is None else float(squares(X).mean()) or 1.0
    known = {
        "linear": Linear(),
        "quadratic": Polynomial(2, 1.0 / size),
        "cubic": Polynomial(3, 1.0 / size),
        "rbf": Rbf(1.0 / size),
    }
    if kernel not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"kernel={kernel!r} is not known: choose from {names}")
    return known[kernel]
