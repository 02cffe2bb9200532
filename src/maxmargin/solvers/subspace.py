"""Cutting-plane subspace pursuit: a shared basis that grows with the machine.

In turns, until the basis has the size asked for,

    train in the span of the basis (a linear problem over `KernelMap`),
    extend the basis towards v = sum alpha a, the planes weighted by their dual variables,
    move its points up the gradient of ||P v||^2 (any point, for smooth kernels).

The optimum o_B in the span is max_alpha of the dual with ||P v|| for ||v||, so moving
points up that gradient moves o_B down, and o_B - o* <= 1/2 ||v - P v||^2 (the dual at
alpha without the projection is a lower bound on o*). Algorithm 6.3 of [1] adds one
point per cut, for the residual of the latest cut; here the basis doubles, and v is the
convex combination of cuts that the dual holds.

[1] Yu 2011, Algorithm 6.3, sections 6.5-6.6, Theorem 6.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints
from maxmargin.kernels.functions import Kernel, dense_rows
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import COPIES, KernelMap, map_points, map_to
from maxmargin.kernels.preimage import refine
from maxmargin.kernels.pursuit import extend, residual
from maxmargin.problem import Problem
from maxmargin.solvers.base import Result, Solver, State
from maxmargin.solvers.enumerated import AlphaState
from maxmargin.solvers.kernel_cuts import TokenCuts

FIRST = 8  # points of the first basis
FINAL = 3  # turns at full size
STEPS = 20  # gradient steps per turn
ROWS = 4  # rows of v that gradients look at, per point ...
LEAST, MOST = 3000, 20000  # ... within these bounds
ROUGH = 0.02  # tolerance of all turns but the last


class Span(NamedTuple):
    """A machine in the span of a basis."""

    phi: KernelMap
    problem: Problem  # over phi
    state: State
    result: Result
    trace: list[dict[str, float]]


Choose = Callable[[Problem, float], Solver]


def pursue(
    cuts: TokenCuts,
    kernel: Kernel,
    n_basis: int,
    choose: Choose,
    tol: float,
    *,
    free: bool = True,
    seed: int = 0,
    memory: float = 4e9,
) -> Span:
    """Grow a basis to `n_basis` points and train in its span to `tol`.

    Parameters
    ----------
    cuts : TokenCuts
        The problem.
    choose : function (problem, tol) -> Solver
        The trainer for a turn.
    free : bool
        Whether points may leave the training rows.
    """
    X = cuts.X
    n_basis = min(n_basis, X.shape[0])
    refuse_large(
        X.shape[0], n_basis, memory, "the mapped rows", "use fewer n_basis", COPIES
    )
    rng = np.random.default_rng(seed)
    first = cuts.at(np.zeros((X.shape[0], cuts.z)), np.zeros(cuts.others))
    top = float(cuts.problem.formulation.cost(cuts.problem.C, first.slack).sum())
    R, phi, span = first.R, None, None
    ids = np.empty(0, np.int64)
    trace: list[dict[str, float]] = []
    sizes = _sizes(n_basis, free)
    for turn, size in enumerate(sizes):
        rows = _sample(R, size, rng)
        more = size - (phi.width if phi is not None else 0)
        fresh = extend(kernel, X, rows, R[rows], phi, more, rng)
        if free:
            points = dense_rows(X[fresh])
            if phi is not None:
                points = np.concatenate((phi.points, points))
            phi = map_points(kernel, refine(kernel, X[rows], R[rows], points, STEPS))
        else:
            phi, ids = map_to(kernel, X, np.append(ids, fresh))
        last = turn == len(sizes) - 1
        span = _train(cuts, phi, choose, tol if last else max(tol, ROUGH), span)
        found = cuts.mixture(span.problem, span.state)
        R = cuts.of(span.problem, span.result.w).R if found is None else found
        trace.append(_bounds(kernel, X, R, span, top, rng))
        if not np.any(R):
            break
    assert span is not None
    return span._replace(trace=trace)


def _sizes(n_basis: int, free: bool) -> list[int]:
    """Doubling, then some turns at full size to move points in."""
    sizes, size = [], FIRST
    while size < n_basis:
        sizes.append(size)
        size *= 2
    return [*sizes, *[n_basis] * (FINAL if free else 1)]


def _sample(R: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Rows of v to look at, all or some."""
    rows = np.flatnonzero(np.any(R, axis=1))
    most = int(np.clip(ROWS * size, LEAST, MOST))
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def _train(
    cuts: TokenCuts, phi: KernelMap, choose: Choose, tol: float, span: Span | None
) -> Span:
    problem = cuts.over(phi, phi(cuts.X))
    solver = choose(problem, tol)
    # Dual variables of enumerated outputs fit any map; planes in weights do not.
    warm = span.state if span and isinstance(span.state, AlphaState) else None
    result, state = solver.solve(problem, warm)
    return Span(phi, problem, state, result, [])


def _bounds(
    kernel: Kernel, X: Any, R: Floats, span: Span, top: float, rng: Any
) -> dict[str, float]:
    """How far the optimum in the span may be from that of the kernel itself.

    "bound" is 1/2 ||v - P v||^2 and the gap of training; "theorem 6.4" is its bound,
    with the residual of v for that of every cut, ||w*|| <= sqrt(2 primal(0)).
    """
    rows = np.flatnonzero(np.any(R, axis=1))
    whole, left = residual(kernel, X, rows, R[rows], span.phi, rng)
    gap = span.result.primal - span.result.dual
    return {
        "size": span.phi.width,
        "primal": span.result.primal,
        "norm": float(np.sqrt(max(whole, 0.0))),
        "delta": float(np.sqrt(left)),
        "bound": 0.5 * left + gap,
        "theorem 6.4": float(np.sqrt(2.0 * top * left)) + gap,
    }
