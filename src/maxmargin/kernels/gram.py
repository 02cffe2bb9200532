"""Gram matrices under a bound on memory.

A Gram matrix that does not fit is refused with the size it would have needed and what
to use instead. `Columns` keeps the columns asked for most recently, so that trainers
that need few columns at a time run in any memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.kernels.functions import Kernel

INDEFINITE = 1e-6  # share of the largest value below zero that is no rounding
SEEN, SHORT = 256, 1e-5  # rows looked at, and how far single precision may be off
LARGE = 1e30  # kernel values from here on are kept in double precision
VALUES = 1 << 18  # kernel values made at once: what a cache holds


class NotSemidefiniteError(ValueError):
    """A kernel that is no inner product of anything."""


def refuse_large(
    n: int, width: int, memory: float, what: str, instead: str, copies: int = 1
) -> None:
    """Raise MemoryError if arrays (n, width) of floats are beyond the memory.

    Examples
    --------
    >>> refuse_large(10**6, 10**6, 4e9, "the Gram matrix", "use kernel_method='cpsp'")
    Traceback (most recent call last):
    MemoryError: the Gram matrix (1000000 x 1000000) needs 8000.0 GB, more than the \
4.0 GB allowed: use kernel_method='cpsp'
    """
    shape = f"{n} x {width}{f', {copies} copies' if copies > 1 else ''}"
    refuse_larger(8.0 * n * width * copies, memory, f"{what} ({shape})", instead)


def check_values(values: Floats, what: str) -> None:
    """Refuse values that are not finite, or a diagonal below zero."""
    if not np.isfinite(values).all():
        raise ValueError(f"{what}: the kernel returned values that are not finite")


def check_semidefinite(kernel: Kernel, X: Any, size: int = 100, seed: int = 0) -> None:
    """Refuse a kernel whose Gram matrix on a few rows of X has negative eigenvalues."""
    n = X.shape[0]
    ids = np.sort(np.random.default_rng(seed).permutation(n)[:size])
    gram = kernel(X[ids], kernel.points(X, ids))
    check_values(gram, f"{len(ids)} rows")
    scale = float(np.abs(gram).max(initial=0.0))
    skew = float(np.abs(gram - gram.T).max(initial=0.0))
    if skew > 1e-8 * scale:
        raise NotSemidefiniteError(
            f"the kernel is not symmetric: K(a, b) and K(b, a) differ by {skew:.3g}"
        )
    lowest = float(np.linalg.eigvalsh(gram)[0])
    if lowest < -INDEFINITE * scale * len(ids):
        raise NotSemidefiniteError(
            "the kernel is not positive semi-definite: its Gram matrix on "
            f"{len(ids)} rows has the eigenvalue {lowest:.3g}"
        )


KEPT = 0.8  # of the memory, for columns that are kept


class Columns:
    """Columns of a Gram matrix, those asked for last kept up to a bound on memory.

    Parameters
    ----------
    kernel : Kernel
    X : matrix (n, features)
    memory : float
        Bytes at most: four fifths for columns, the rest for making them; two columns
        are always kept.
    short : bool
        Keep columns in single precision, and make them so where that loses little.

    Examples
    --------
    >>> from maxmargin.kernels.functions import Linear
    >>> columns = Columns(Linear(), np.array([[1.0], [2.0]]), memory=32)
    >>> columns.place(1), columns.store[columns.place(1)].tolist(), columns.made
    (0, [2.0, 4.0], 1)
    """

    def __init__(
        self, kernel: Kernel, X: Any, memory: float = MEMORY, short: bool = False
    ) -> None:
        self.kernel, self.X = kernel, X
        n = X.shape[0]
        self.diagonal = kernel.diagonal(X)
        self.short = short and float(self.diagonal.max(initial=0.0)) < LARGE
        single = self.short and fits_short(kernel, X)
        self._rows = X.astype(np.float32) if single else X
        kind = np.dtype(np.float32 if self.short else np.float64)
        self.room = int(np.clip(KEPT * memory // (kind.itemsize * n), 2, n))
        refuse_large(
            n, 2, memory, "two columns of the Gram matrix", "allow more memory"
        )
        self.store = np.empty((self.room, n), kind)
        self.where = np.full(n, -1, np.int64)  # place of each column, or -1
        self.owner = np.full(self.room, -1, np.int64)
        self.used = np.zeros(self.room, np.int64)
        self.clock = self.made = 0

    @property
    def nbytes(self) -> int:
        """Memory held by columns."""
        return int(self.store.nbytes)

    def place(self, i: int, keep: int = -1) -> int:
        """Row of `store` that holds column i; column `keep` is not thrown out."""
        self.clock += 1
        at = int(self.where[i])
        if at < 0:
            at = self.made if self.made < self.room else self._oldest(keep)
            if self.owner[at] >= 0:
                self.where[self.owner[at]] = -1
            self.store[at] = self.kernel(
                self.X, self.kernel.points(self.X, np.array([i]))
            ).ravel()
            self.owner[at], self.where[i] = i, at
            self.made += 1
        self.used[at] = self.clock
        return at

    def fill(self, ids: Ints) -> None:
        """Columns `ids`, not yet there, all at once while there is room."""
        ids = ids[self.where[ids] < 0][: max(self.room - self.made, 0)]
        if len(ids) == 0:
            return
        at = np.arange(self.made, self.made + len(ids))
        self.store[at] = self.kernel(self.X, self.kernel.points(self.X, ids)).T
        self.owner[at], self.where[ids] = ids, at
        self.used[at] = self.clock
        self.made += len(ids)

    def hold(self, ids: Ints, late: Callable[[], bool] = bool) -> Ints:
        """Make the columns `ids`, `room` at most; returns those held when time is up."""
        self.clock += 1
        there = self.where[ids] >= 0
        self.used[self.where[ids[there]]] = self.clock
        missing = ids[~there]
        free = np.flatnonzero(self.owner < 0)
        if len(free) < len(missing):
            old = np.argsort(self.used, kind="stable")
            old = old[(self.owner[old] >= 0) & (self.used[old] < self.clock)]
            free = np.append(free, old)
        step = max(1, VALUES // len(self.where))
        for s in range(0, len(missing), step):
            if late():
                break
            part = missing[s : s + step]
            at = free[s : s + len(part)]
            gone = self.owner[at]
            self.where[gone[gone >= 0]] = -1
            self.store[at] = self.kernel.columns(self._rows, part)
            self.owner[at], self.where[part] = part, at
            self.used[at] = self.clock
            self.made += len(part)
        return ids[self.where[ids] >= 0]

    def _oldest(self, keep: int) -> int:
        at = self.where[keep] if keep >= 0 else -1
        if at >= 0:
            self.used[at] = self.clock
        return int(np.argmin(self.used))


def fits_short(kernel: Kernel, X: Any, points: Floats | None = None) -> bool:
    """Whether kernel values come out about the same from rows in single precision.

    They are compared on a few rows of X, with `points` (by default these rows).
    """
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or len(X) == 0:
        return False
    ids = np.arange(0, len(X), max(1, len(X) // SEEN))
    near = kernel.points(X, ids) if points is None else points
    exact = kernel(X[ids], near)
    if near.dtype.kind == "f":
        near = near.astype(np.float32)
    values = kernel(X[ids].astype(np.float32), near)
    scale = float(np.abs(exact).max(initial=0.0))
    return bool(np.abs(exact - values).max(initial=0.0) <= SHORT * scale)
