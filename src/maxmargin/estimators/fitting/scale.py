"""Hints on the scale of features and of C, from a sample of constraints.

Training is slow where features differ in size by orders of magnitude, and it learns
nearly nothing where C is small for the features. Both show in the constraints at zero
weights: lengths of psi(truth) - psi(y), and slacks that training has hardly lowered.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.arrays import Floats, Rows
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent, MostViolated
from maxmargin.solvers.base import Result, Status
from maxmargin.solvers.cccp import LatentResult

SAMPLE = 200  # examples
SMALL = 0.01  # share of 1/2 ||w||^2 in the objective below which slacks are looked at
UNMOVED = 0.99  # share of the slacks at zero weights that count as nothing learned
APART = 1e3  # ratio of feature sizes
TINY = 0.01  # C times the squared length of a constraint: C is far too small
FEW = 20  # examples looked at before training
LARGE = 1e5  # C times the squared length of a constraint
SLOW = (Status.MAX_ITER, Status.MAX_TIME, Status.NO_PROGRESS)


def scale_hint(problem: Problem, result: Result) -> str | None:
    """What to do about the scale of C or of the features; None if nothing seems wrong."""
    if result.w.shape != (problem.dim,) or problem.dim == 0:
        return None  # a kernel machine
    if problem.formulation.penalty not in ("linear", "squared"):
        return None
    if problem.structure.offers(MostViolated) is None:
        return None
    small = problem.structure.square(result.w) < 2.0 * SMALL * abs(result.primal)
    slow = result.status in SLOW
    if not small and not slow:
        return None
    if isinstance(result, LatentResult):
        if result.truth is None or result.truth.n != problem.n:
            return None
        problem = problem.with_truth(result.truth)
    ids = np.unique(np.linspace(0, problem.n - 1, SAMPLE).astype(np.int64))
    start = problem.cuts(np.zeros(problem.dim), ids)
    square = mean_square(start.a)
    if square == 0.0:
        return None
    if slow:
        return _slow_hint(start.a, square, float(problem.C.max()), problem.dim)
    before = problem.costs(start.slack, ids).risk
    after = problem.costs(problem.cuts(result.w, ids).slack, ids).risk
    if after < UNMOVED * before or float(problem.C.max()) * square >= TINY:
        return None  # something was learned, or C is not what prevents it
    return (
        f"weights stay close to zero: the training errors still cost {after / before:.1%} "
        "of what they cost at zero weights. C is small for these features: constraints "
        f"have a mean squared length of {square:.3g}, so try C = {1.0 / square:.2g} or "
        "more, or scale the features up"
    )


def warn_if_large(problem: Problem) -> None:
    """Say before training that it will take long, where features are huge for C."""
    if problem.formulation.penalty not in ("linear", "squared"):
        return
    structure = problem.structure
    plain = (
        structure.offers(MostViolated) is not None and structure.offers(Latent) is None
    )
    if not plain or problem.dim == 0 or problem.n == 0:
        return
    ids = np.unique(np.linspace(0, problem.n - 1, FEW).astype(np.int64))
    square = mean_square(problem.cuts(np.zeros(problem.dim), ids).a)
    C = float(problem.C[ids].max(initial=0.0))
    if C * square > LARGE:
        warnings.warn(
            f"features are large for this C: C times the mean squared length of a "
            f"constraint is {C * square:.0e}, so training may take very long. Scale the "
            f"features down (normalize=True where there is such a parameter), or try C = "
            f"{100.0 / square:.1g}",
            ConvergenceWarning,
            stacklevel=6,
        )


def _slow_hint(a: Rows, square: float, C: float, dim: int) -> str | None:
    sizes = column_sizes(a, dim)
    ratio = float(sizes.max() / sizes.min()) if len(sizes) else 1.0
    if ratio > APART:
        return (
            f"features differ in size by a factor of {ratio:.0e}, which makes training "
            "slow: scale them to similar ranges, for instance with StandardScaler"
        )
    if C * square > LARGE:
        return (
            f"features are large for this C (C times the mean squared length of a "
            f"constraint is {C * square:.0e}), which makes training slow: scale the "
            "features down, or choose a smaller C"
        )
    return None


def mean_square(a: Rows) -> float:
    """Mean squared length of rows that are not zero.

    Examples
    --------
    >>> mean_square(Rows(np.array([0, 1, 1]), np.zeros(1, np.int32), np.array([2.0])))
    4.0
    """
    filled = int((np.diff(a.ptr) > 0).sum())
    return float(a.val @ a.val) / max(filled, 1)


def column_sizes(a: Rows, dim: int) -> Floats:
    """Largest absolute value of each coordinate that occurs."""
    size = np.zeros(dim)
    np.maximum.at(size, a.idx, np.abs(a.val))
    return size[size > 0]
