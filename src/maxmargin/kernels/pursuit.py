"""Bases that grow towards an expansion: the choice step of subspace pursuit.

A basis is extended by training rows, each the one of 59 drawn at random that reduces
||v - P v|| most (with 95 % probability one of the best 5 %); `preimage.refine` then
moves the points off the training rows where the kernel is differentiable.

[1] Yu 2011, section 6.5.3; Smola and Schoelkopf 2000 (the 59 candidates).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.maps import DEPENDENT, KernelMap
from maxmargin.kernels.sampling import BLOCK

CANDIDATES = 59
POOL = 4  # rows looked at per point to be added


def extend(
    kernel: Kernel,
    X: Any,
    rows: Ints,
    R: Floats,
    phi: KernelMap | None,
    count: int,
    rng: np.random.Generator,
) -> Ints:
    """Up to `count` rows of X to be added to the points of `phi`.

    v is the expansion over the rows `rows` of X with coefficients R (rows, z);
    candidates are drawn from these rows.
    """
    pool = rng.permutation(len(rows))[: max(CANDIDATES, POOL * count)]
    A, near = X[rows], kernel.points(X, rows[pool])
    left = kernel.diagonal(X, rows[pool])
    least = DEPENDENT * float(left.max(initial=0.0))
    used = phi.width if phi else 0
    own = np.zeros((used + count, len(pool)))  # the pool in the basis, grown below
    rise = kernel(A, near).T @ R  # v at the pool, less what the basis holds of it
    if phi is not None and used:
        inside = solve_triangular(
            phi.factor, kernel(A, phi.points).T, lower=True, check_finite=False
        )
        own[:used] = inside[:, pool]
        rise -= own[:used].T @ (inside @ R)
        left = left - np.einsum("ij,ij->j", own[:used], own[:used])
    chosen: list[int] = []
    for _ in range(count):
        few = rng.integers(0, len(pool), CANDIDATES)
        few = few[left[few] > least]
        if len(few) == 0:
            break
        gain = np.einsum("ij,ij->i", rise[few], rise[few]) / left[few]
        best = int(few[np.argmax(gain)])
        column = kernel(A[pool], near[best : best + 1]).ravel()
        column -= own[:used, best] @ own[:used]
        column /= np.sqrt(left[best])
        own[used] = column
        used += 1
        rise -= np.outer(column, rise[best] / np.sqrt(left[best]))
        left = left - column**2
        left[best] = 0.0
        chosen.append(int(rows[pool[best]]))
    return np.array(chosen, dtype=np.int64)


def residual(
    kernel: Kernel, X: Any, rows: Ints, R: Floats, phi: KernelMap, rng: Any,
    most: int = 1000, pairs: float = 1e7,
) -> tuple[float, float, float]:  # fmt: skip
    """||v||^2, ||v - P v||^2 and the standard error of both.

    The second is sum_i R_i . (v - P v)(x_i): beyond `most` rows an unbiased estimate
    from `most` drawn at random, or fewer where these make more than `pairs` kernel
    values. ||v||^2 is that and ||P v||^2.
    """
    few = some_rows(len(rows), rng, most, pairs)
    held = np.zeros((phi.width, R.shape[1]))
    for part, values in parts_of(rows, R, len(few)):
        held += phi(X[part]).T @ values
    inside = phi(X[rows[few]]) @ held
    left, error = distance(kernel, X, rows, R, few, inside)
    return float(np.vdot(held, held)) + left, left, error


def some_rows(
    n: int, rng: np.random.Generator, most: int = 1000, pairs: float = 1e7
) -> Ints:
    """Up to `most` of n rows at random; fewer where that makes more than `pairs` pairs."""
    most = max(min(most, int(pairs / max(n, 1))), 100)
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


def distance(
    kernel: Kernel, X: Any, rows: Ints, R: Floats, few: Ints, inside: Floats
) -> tuple[float, float]:
    """||v - P v||^2 and its standard error, from the rows `few` of those of v.

    `inside` are the values of P v at these rows.
    """
    n, values = len(rows), np.zeros((len(few), R.shape[1]))
    for part, own in parts_of(rows, R, len(few)):
        values += kernel(X[rows[few]], kernel.points(X, part)) @ own
    terms = np.einsum("ij,ij->i", R[few], values - inside)
    left = max(n / max(len(few), 1) * float(terms.sum()), 0.0)
    error = n * float(terms.std()) / np.sqrt(len(few)) if len(few) < n else 0.0
    return left, error


def parts_of(rows: Ints, R: Floats, few: int) -> Iterator[tuple[Ints, Floats]]:
    """Rows and coefficients, as many at a time as suits products with `few` rows."""
    step = max(64, BLOCK // max(few, 1))
    for s in range(0, len(rows), step):
        yield rows[s : s + step], R[s : s + step]
