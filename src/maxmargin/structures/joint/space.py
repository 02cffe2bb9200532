"""Coordinates for pairs that are known by their inner products only.

Pairs p_1, p_2, ... that are met one after the other span a growing space. With L the
Cholesky factor of the matrix of their products, J = L L', row k of L holds coordinates
of p_k whose plain inner products are J. A later pair adds one coordinate, or none if it
lies in the span, and never changes those of earlier pairs. So trainers work with plain
vectors, and the dual over support pairs, equation (14) in [1], is solved exactly.

[1] Tsochantaridis et al. 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.core.data.pairs import PairKernel, PairList

NEW = 1e-13  # share of J(p, p) outside of the span that makes a pair a new direction
NEGATIVE = 1e-6  # share of J(p, p) below zero that is no rounding


class JointKernelError(ValueError):
    """A joint kernel that is no inner product of anything."""


class PairSpace:
    """The span of all pairs added so far.

    Parameters
    ----------
    kernel : PairKernel
        J.
    beside : int
        Further rows of kernel values that somebody holds for each direction, for the
        bound on memory.
    memory : float
        Bytes for kernel values at most.

    Examples
    --------
    >>> from maxmargin.kernels import Joint
    >>> space = PairSpace(Joint(np.array([[4.0, 2.0], [2.0, 2.0]]), np.eye(1)))
    >>> space.add([0, 1, 0], [0, 0, 0]).tolist()  # the third is the first again
    [[2.0, 0.0], [1.0, 1.0], [2.0, 0.0]]
    >>> space.size, space.coefficients(np.array([3.0, 1.0])).tolist()
    (2, [1.0, 1.0])
    """

    def __init__(
        self, kernel: PairKernel, beside: int = 0, memory: float = MEMORY
    ) -> None:
        self.kernel, self.beside, self.memory = kernel, beside, memory
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._factor = np.zeros((16, 16))
        self._prepared: Any = None

    @property
    def size(self) -> int:
        """Number of directions."""
        return len(self.outputs)

    @property
    def factor(self) -> Floats:
        """L, lower triangular: row k has the coordinates of pair k of the basis."""
        return self._factor[: self.size, : self.size]

    @property
    def basis(self) -> Any:
        """The pairs that brought new directions, prepared for the kernel."""
        if self._prepared is None:
            self._prepared = self.kernel.prepared(PairList(self.inputs, self.outputs))
        return self._prepared

    def most(self) -> int:
        """How many directions fit into the memory."""
        half = 0.5 * self.beside
        return int(np.sqrt(half * half + self.memory / 8.0) - half)

    def add(self, inputs: list[Any], outputs: list[Any]) -> Floats:
        """Coordinates of some pairs, a row each; the space grows to hold them."""
        pairs = self.kernel.prepared(PairList(inputs, outputs))
        own = self._checked(self.kernel(pairs, pairs), len(outputs), len(outputs))
        known = np.zeros((len(outputs), 0))
        if self.size:
            known = self.coordinates(self.values(pairs))
        rest = own - known @ known.T
        new, columns = self._directions(rest, np.diag(own).copy(), own)
        out = np.hstack([known, columns])
        self._grow(out[new])
        self.inputs += [inputs[q] for q in new]
        self.outputs += [outputs[q] for q in new]
        if new:
            self._prepared = None
        return out

    def _directions(
        self, rest: Floats, squares: Floats, own: Floats
    ) -> tuple[list[int], Floats]:
        """Which of some pairs bring a new direction, and the new coordinates of all."""
        scale = float(np.abs(own).max(initial=0.0))
        if np.abs(own - own.T).max(initial=0.0) > 1e-8 * scale:
            raise JointKernelError(
                "the joint kernel is not symmetric: J(p, q) and J(q, p) differ"
            )
        new: list[int] = []
        columns: list[Floats] = []
        for q in range(len(rest)):
            left = float(rest[q, q])
            if left < -NEGATIVE * max(abs(float(squares[q])), scale):
                raise JointKernelError(
                    "the joint kernel is not positive semi-definite: a pair has the "
                    f"squared distance {left:.3g} from the span of others"
                )
            if left <= NEW * float(squares[q]):
                continue
            column = rest[:, q] / np.sqrt(left)
            column[:q] = 0.0  # earlier ones lie in the span already
            rest = rest - np.outer(column, column)
            new.append(q)
            columns.append(column)
        made = np.array(columns).T if columns else np.zeros((len(rest), 0))
        return new, made

    def values(self, pairs: Any) -> Floats:
        """Kernel values of prepared pairs with the basis."""
        found = self.kernel(pairs, self.basis)
        return self._checked(found, pairs.n, self.size)

    def coordinates(self, values: Floats) -> Floats:
        """Coordinates of pairs, as far as they lie in the span, from kernel values."""
        out: Floats = solve_triangular(
            self.factor, values.T, lower=True, check_finite=False
        ).T
        return out

    def coefficients(self, w: Floats) -> Floats:
        """Beta with  w = sum_k beta_k (coordinates of pair k of the basis)."""
        if self.size == 0:
            return np.zeros(0)
        beta: Floats = solve_triangular(
            self.factor, w[: self.size], lower=True, trans=1
        )
        return beta

    def extended(self, known: Floats, values: Floats) -> Floats:
        """Further coordinates from those known and kernel values with newer pairs."""
        done, L = known.shape[1], self.factor
        if done == self.size:
            return np.zeros((len(known), 0))
        left = values - known @ L[done:, :done].T
        out: Floats = solve_triangular(
            L[done:, done:], left.T, lower=True, check_finite=False
        ).T
        return out

    def newer(self, since: int) -> Any:
        """The pairs of the basis from number `since` on."""
        ids: Ints = np.arange(since, self.size)
        return self.basis.take(ids)

    def _grow(self, rows: Floats) -> None:
        """Append rows to the factor."""
        first, last = self.size, self.size + len(rows)
        refuse_larger(
            8.0 * last * (last + self.beside), self.memory,
            f"{last} support pairs and their kernel values with {self.beside} outputs",
            "list fewer outputs per input, train on fewer examples, use joint features "
            "without a kernel, or allow more by MAXMARGIN_MEMORY",
        )  # fmt: skip
        if last > len(self._factor):
            wider = np.zeros((2 * last, 2 * last))
            wider[:first, :first] = self.factor
            self._factor = wider
        for k, row in enumerate(rows):
            self._factor[first + k, : first + k + 1] = row[: first + k + 1]

    @staticmethod
    def _checked(values: Floats, rows: int, columns: int) -> Floats:
        if values.shape != (rows, columns):
            raise ValueError(
                f"the joint kernel returned an array of shape {values.shape} for {rows} "
                f"and {columns} pairs"
            )
        if not np.isfinite(values).all():
            raise ValueError("the joint kernel returned values that are not finite")
        return values
