"""Rows drawn from an expansion, and functions that are sums over them.

For v_a = sum_i R_ia phi(x_i), `draw` returns rows and coefficients S with expectation R:
along an order of the rows the mass |R_i| is cut into r equal shares, and a row is drawn
from each, in proportion to its mass there. `Functions` keeps an orthonormal basis of
sums f = sum_j c_j K(x_j, .) with the values of all its functions on the training rows.

[1] Yu 2011, section 6.4: sampled cuts and the matrix of their products with all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.maps import DEPENDENT, pivoted

BLOCK = 2**17  # kernel values at once: what a cache holds
LANDMARKS, LEAVES = 16, 512  # kernel values that rows are sorted by; ends of the tree


def tree_order(kernel: Kernel, X: Any, rng: np.random.Generator) -> Ints:
    """Place of each row in an order that keeps near rows near.

    Rows are halved, again and again, by the kernel value (to one of a few rows drawn)
    that varies most among them.

    Examples
    --------
    >>> from maxmargin.kernels.functions import Rbf
    >>> X = np.array([[0.0], [9.0], [0.1], [9.1], [0.2], [9.2], [0.3], [9.3]])
    >>> place = tree_order(Rbf(1.0), X, np.random.default_rng(0))
    >>> sorted(place[[0, 2, 4, 6]].tolist()) in ([0, 1, 2, 3], [4, 5, 6, 7])
    True
    """
    n = X.shape[0]
    few = np.sort(rng.permutation(n)[:LANDMARKS])
    values = kernel(X, kernel.points(X, few)).astype(np.float32)
    nodes = [np.arange(n)]
    while len(nodes) < LEAVES and len(nodes[0]) >= 8:
        halves = []
        for node in nodes:
            own = values[node]
            by, half = int(np.argmax(own.std(axis=0))), len(node) // 2
            order = np.argpartition(own[:, by], half)
            halves += [node[order[:half]], node[order[half:]]]
        nodes = halves
    place = np.empty(n, np.int64)
    place[np.concatenate(nodes)] = np.arange(n)
    return place


def draw(
    R: Floats, r: int, rng: np.random.Generator, place: Ints | None = None
) -> tuple[Ints, Floats]:
    """Draw r rows of R that are not zero, scaled so that R is their expected sum.

    Rows with the same largest and smallest label are drawn side by side, in the order
    of `place`; no row is returned twice, and all are where they are r at most.

    Examples
    --------
    >>> ids, S = draw(np.array([[2.0], [0.0]]), 3, np.random.default_rng(0))
    >>> ids.tolist(), S.tolist()
    ([0], [[2.0]])
    """
    own = np.flatnonzero(np.any(R, axis=1))
    V = R[own]
    top, low = V.argmax(axis=1), V.argmin(axis=1)
    kind = top * V.shape[1] + low if V.shape[1] > 1 else V[:, 0] > 0
    order = np.lexsort((own if place is None else place[own], kind))
    own, V = own[order], V[order]
    if len(own) <= r:
        return own, V
    mass = np.abs(V).sum(axis=1)
    ends = np.cumsum(mass)
    shares = (np.arange(r) + rng.random(r)) * (ends[-1] / r)
    hits = np.minimum(np.searchsorted(ends, shares, side="right"), len(own) - 1)
    at, times = np.unique(hits, return_counts=True)
    return own[at], V[at] * (times * (ends[-1] / r) / mass[at])[:, None]


class KernelSums(NamedTuple):
    """Functions of rows drawn."""

    coefficients: Floats  # (rows drawn, functions)
    values: Floats  # (n, functions)
    at: Floats  # (rows drawn, z) the expansion R at the rows drawn


class Functions:
    """An orthonormal basis of sums over rows, with values on all training rows."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.X = kernel, X
        self.ids = np.empty(0, np.int64)  # each row once
        self._place = np.full(X.shape[0], -1)  # of each row among them, or -1
        self.coefficients = np.zeros((0, 0))  # (ids, functions)
        self.values = np.zeros((X.shape[0], 0))

    @property
    def width(self) -> int:
        """Number of functions."""
        return int(self.values.shape[1])

    def sums(self, ids: Ints, S: Floats, parts: int, R: Floats) -> KernelSums:
        """Rows in `parts` runs, each a function per label; and the expansion of R."""
        m, z = S.shape
        part = np.arange(m) * min(parts, m) // m
        spread = np.zeros((m, parts, z))
        spread[np.arange(m), part] = S
        C = spread.reshape(m, parts * z)
        C = C[:, np.any(C, axis=0)]
        points = self.kernel.points(self.X, ids)
        values, at = np.empty((len(R), C.shape[1])), np.zeros((m, z))
        step = max(64, BLOCK // max(m, 1))
        for s in range(0, len(values), step):
            block = self.kernel(self.X[s : s + step], points)
            np.matmul(block, C, out=values[s : s + step])
            at += block.T @ R[s : s + step]
        return KernelSums(C, values, at)

    def add(self, ids: Ints, made: KernelSums) -> bool:
        """Extend the basis; False if all sums are in its span already."""
        whole = float((made.coefficients * made.values[ids]).sum(axis=0).max(initial=0))
        news, known = ids[self._place[ids] < 0], len(self.ids)
        both, place = np.append(self.ids, news), self._place.copy()
        place[news] = known + np.arange(len(news))
        values, fresh = made.values.copy(), np.zeros((len(both), made.values.shape[1]))
        fresh[place[ids]] = made.coefficients
        # Twice: what one projection leaves by rounding would be scaled up below.
        for rows in (ids, both):
            inside = self.values[rows].T @ fresh[place[rows]]  # (width, functions)
            values -= self.values @ inside
            fresh[:known] -= self.coefficients @ inside
        gram = fresh.T @ values[both]
        gram = 0.5 * (gram + gram.T)
        if gram.diagonal().max(initial=0.0) <= 1e-10 * whole:
            return False
        factor, kept = pivoted(gram, whole)
        values, fresh = values[:, kept], fresh[:, kept]
        values = solve_triangular(factor, values.T, lower=True, overwrite_b=True).T
        fresh = solve_triangular(factor, fresh.T, lower=True).T
        old = np.zeros((len(fresh), self.width))
        old[: len(self.ids)] = self.coefficients
        self.coefficients = np.concatenate((old, fresh), axis=1)
        self.values = np.concatenate((self.values, values), axis=1)
        self.ids, self._place = both, place
        return True

    def missing(self) -> Floats:
        """||phi(x) - P phi(x)||^2 of each row x, rounding set to zero."""
        square = self.kernel.diagonal(self.X)
        left = square - np.einsum("ij,ij->i", self.values, self.values)
        return np.where(left > DEPENDENT * square, left, 0.0)

    def reduce(self, weights: Floats, most: int) -> Floats:
        """Keep `most` functions at most: the machine `weights`, and the latest.

        Returns the new functions (old functions, new) in terms of the old ones.
        """
        z = weights.shape[1]
        latest = np.eye(self.width)[:, self.width - max(most // 2 - z, 0) :]
        turned = qr(np.concatenate((weights, latest), axis=1), mode="economic")[0]
        self.values = np.ascontiguousarray(self.values @ turned)
        self.coefficients = self.coefficients @ turned
        return turned

    def expansion(self, weights: Floats) -> tuple[Ints, Floats]:
        """Rows and coefficients (rows, z) of the machine `weights`."""
        order = np.argsort(self.ids)
        return self.ids[order], (self.coefficients @ weights)[order]
