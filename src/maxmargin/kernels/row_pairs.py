"""A kernel between two rows at a time, from a kernel between rows.

    K((s, t), (s', t')) = K(s, s') K(t, t')

for pairs of rows laid side by side: that of matches of two positions in alignments. With
`symmetric`, the kernel of functions that do not change when s and t change places,

    1/2 (K(s, s') K(t, t') + K(s, t') K(t, s'))

[1] Tsochantaridis et al. 2005, Proposition 21 (products of kernels).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import UNIT, Floats, Ints
from maxmargin.kernels.functions import (
    Differentiable,
    Kernel,
    Rbf,
    RowKernel,
)


@dataclass(frozen=True)
class RowPairs(RowKernel):
    """The kernel of pairs of rows.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> RowPairs(Linear())(np.array([[2.0, 3.0]]), np.array([[5.0, 7.0]])).tolist()
    [[210.0]]
    >>> RowPairs(Linear(), True)(np.array([[2.0, 3.0]]), np.array([[7.0, 5.0]])).tolist()
    [[210.0]]
    """

    kernel: Kernel
    symmetric: bool = False

    def validate(self) -> None:
        """A kernel that can be used."""
        super().validate()
        self.kernel.validate()

    def __call__(self, a: Any, b: Any) -> Floats:
        """Values for all pairs of rows."""
        (s, t), (u, v) = halves(a), halves(b)
        out = self.kernel(s, u) * self.kernel(t, v)
        if self.symmetric:
            out += self.kernel(s, v) * self.kernel(t, u)
            out *= 0.5
        return out

    def diagonal(self, X: Any, ids: Ints | None = None) -> Floats:
        """K(s, s) K(t, t), and half of that and K(s, t)^2 where symmetric."""
        if self.symmetric:
            return super().diagonal(X, ids)
        s, t = halves(X if ids is None else X[ids])
        return self.kernel.diagonal(s) * self.kernel.diagonal(t)

    def rounding(self, X: Any) -> float:
        """Those of both factors, of the product and of the sum."""
        return sum(self.kernel.rounding(half) for half in halves(X)) + 3.0 * UNIT


@dataclass(frozen=True)
class SmoothRowPairs(RowPairs):
    """The same with a slope, for kernels that have one."""

    def slope(self, a: Any, b: Floats, values: Floats, weight: Floats) -> Floats:
        """Gradient in b_j of sum_i weight_ij K(a_i, b_j), a row per j."""
        (s, t), (u, v) = halves(a), halves(b)
        out = self._slope(s, t, u, v, weight)
        if self.symmetric:
            out += self._slope(t, s, u, v, weight)
            out *= 0.5
        return out

    def _slope(self, s: Any, t: Any, u: Floats, v: Floats, weight: Floats) -> Floats:
        kernel: Any = self.kernel
        first, second = kernel(s, u), kernel(t, v)
        return np.hstack([
            kernel.slope(s, u, first, weight * second),
            kernel.slope(t, v, second, weight * first),
        ])  # fmt: skip


def paired(kernel: Kernel, symmetric: bool = False) -> Kernel:
    """The kernel of pairs of rows; for "rbf" it is that of the rows side by side.

    Examples
    --------
    >>> paired(Rbf(0.5))
    Rbf(gamma=0.5)
    """
    if isinstance(kernel, Rbf) and not symmetric:
        return kernel
    made = SmoothRowPairs if isinstance(kernel, Differentiable) else RowPairs
    return made(kernel, symmetric)


def halves(X: Any) -> tuple[Any, Any]:
    """Both rows of each pair."""
    width = X.shape[1] // 2
    return X[:, :width], X[:, width:]
