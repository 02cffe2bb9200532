"""Cutting-plane subspace pursuit: a shared basis that grows with the machine.

In turns, until the basis has the size asked for,

    extend the basis towards v = sum alpha a, the planes weighted by the dual,
    move its points up the gradient of ||P v||^2 (any point, for smooth kernels),
    train in the span of the basis (a linear problem over `KernelMap`).

At full size points and coefficients move down the objective together (`descend`).

The optimum o_B in the span is max_alpha of the dual with ||P v|| for ||v||, and
o_B - o* <= 1/2 ||v - P v||^2 (the dual at alpha without the projection is a lower bound
on o*). Algorithm 6.3 of [1] adds one point per cut, a preimage of the residual of that
cut, and leaves it where it is. Here the basis doubles, v is the convex combination of
cuts that the dual holds, and points move on: on ijcnn1 (3000 rows, 50 points, optimum
2150) points that hold v end at an objective of 7290, those that went on at 3650.

[1] Yu 2011, Algorithm 6.3, sections 6.5-6.6, Theorem 6.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.kernels.functions import Kernel, dense_rows
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import COPIES, Expansion, KernelMap, map_points, map_to
from maxmargin.kernels.preimage import descend, refine
from maxmargin.kernels.pursuit import extend, residual
from maxmargin.solvers.base import Result, Solver, State, Status
from maxmargin.solvers.kernel.cuts import TokenCuts, carried

FIRST = 8  # points of the first basis
STEPS, LAST = 20, 200  # gradient steps per turn; at full size, down the objective,
PART, PER_POINT, AFTER = 5000, 50, 40  # rows that lead, and steps over all after them
WORK = 4e10  # ... unless that is more work, in products of numbers ...
EXP = 30  # ... with so many for a kernel value besides its products
ROWS = 4  # rows of v to choose from, per point ...
LEAST, MOST = 3000, 20000  # ... within these bounds
WIDTH = 0.3  # slacks below it count as squares while points move
ROUGH = 0.02  # tolerance of all turns but the last
ENDED = (Status.INTERRUPTED, Status.STOPPED)  # by the user: no further turns


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
    memory: float = MEMORY,
    watch: Any = None,
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
    watch : function (row, made), optional
        Called after each step of each turn with its row of the history and with what
        gives the span as it is then; something true ends training.
    """
    X = cuts.X
    n_basis = min(n_basis, X.shape[0])
    refuse_large(
        X.shape[0], n_basis, memory, "the mapped rows", "use fewer n_basis", COPIES
    )
    rng = np.random.default_rng(seed)
    first = cuts.at(np.zeros((X.shape[0], cuts.z)), np.zeros(cuts.others))
    top = float(cuts.problem.formulation.cost(cuts.problem.C, first.slack).sum())
    R, phi = first.R, None
    span: Span | None = None
    ids = np.empty(0, np.int64)  # of the points, where these are training rows
    trace: list[dict[str, float]] = []
    planes: list[Floats] = []
    sizes = _sizes(n_basis)
    for size in sizes:
        last = size == sizes[-1]
        rough = tol if last and not free else max(tol, ROUGH)
        phi, ids = _grow(kernel, X, R, phi, ids, size, free, rng)
        warm = carried(span.state) if span is not None else None
        span = None  # mapped rows are large: one span at a time
        span = _train(cuts, phi, choose, rough, warm, watch)
        if free and last and span.result.status not in ENDED:
            start, rest, warm = *_machine(span), carried(span.state)
            span = None
            phi = _move(cuts, start, rest, rng)
            span = _train(cuts, phi, choose, tol, warm, watch)
        machine, rest = _machine(span)
        planes.append(cuts.at(machine(X), rest).R)
        found = cuts.mixture(span.problem, span.state)
        R = planes[-1] if found is None else found
        trace.append(_bounds(kernel, X, R, span, rng))
        if span.result.status in ENDED or not np.any(R):
            break
    assert span is not None
    _bound_cuts(kernel, X, planes, span, top, trace, rng)
    return span._replace(trace=trace)


def _grow(
    kernel: Kernel, X: Any, R: Floats, phi: KernelMap | None, ids: Ints, size: int,
    free: bool, rng: np.random.Generator,
) -> tuple[KernelMap, Ints]:  # fmt: skip
    """A map of `size` points: those there are, and more of what they lack of v."""
    rows = _sample(R, size, rng)
    more = size - (phi.width if phi is not None else 0)
    fresh = extend(kernel, X, rows, R[rows], phi, more, rng)
    if not free:
        return map_to(kernel, X, np.append(ids, fresh))
    points = dense_rows(X[fresh])
    if phi is not None:
        points = np.concatenate((phi.points, points))
    return map_points(kernel, refine(kernel, X[rows], R[rows], points, STEPS)), ids


def _machine(span: Span) -> tuple[Expansion, Floats]:
    """The expansion over the points, and further weights."""
    structure: Any = span.problem.structure
    weights, rest = structure.split_weights(span.result.w)
    return span.phi.expansion(weights), rest


def _move(
    cuts: TokenCuts, start: Expansion, rest: Floats, rng: np.random.Generator
) -> KernelMap:
    """A map to better points: down the objective with coefficients and weights.

    Where rows are many, some of them lead most of the way.
    """
    kernel, points, beta = start.kernel, start.points, start.beta
    n, (m, d) = cuts.X.shape[0], points.shape
    few, product = max(PART, PER_POINT * m), cuts.product
    turns: list[tuple[Any, Any, int]] = [(cuts.X, cuts, LAST)]
    if product is not None and n > 2 * few:
        ids = np.sort(rng.permutation(n)[:few])
        turns = [(cuts.X[ids], product.part(ids), LAST), (cuts.X, cuts, AFTER)]
    for X, asked, most in turns:
        work = float(X.shape[0]) * m * (d + EXP)
        steps = int(np.clip(WORK / work, STEPS, most))

        def risk(scores: Floats, others: Floats, asked: Any = asked) -> Any:
            return asked.slope(scores, others, WIDTH)

        points, beta, rest = descend(kernel, X, risk, points, beta, rest, steps)
    return map_points(kernel, points)


def _sizes(n_basis: int) -> list[int]:
    """Doubling up to the size asked for."""
    sizes, size = [], FIRST
    while size < n_basis:
        sizes.append(size)
        size *= 2
    return [*sizes, n_basis]


def _sample(R: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Rows of v to look at, all or some."""
    rows = np.flatnonzero(np.any(R, axis=1))
    most = int(np.clip(ROWS * size, LEAST, MOST))
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def _train(
    cuts: TokenCuts, phi: KernelMap, choose: Choose, tol: float, warm: State | None,
    watch: Any,
) -> Span:  # fmt: skip
    problem = cuts.over(phi, phi(cuts.X))

    def told(row: Any, ended: Callable[[], Result]) -> Any:
        return watch(row, lambda: Span(phi, problem, State(ended().w), ended(), []))

    solver = choose(problem, tol)
    result, state = solver.solve(problem, warm, told if watch is not None else None)
    return Span(phi, problem, state, result, [])


def _bounds(
    kernel: Kernel, X: Any, R: Floats, span: Span, rng: Any
) -> dict[str, float]:
    """How far the optimum in the span may be from that of the kernel itself.

    "bound" is 1/2 ||v - P v||^2 and the gap of training.
    """
    rows = np.flatnonzero(np.any(R, axis=1))
    whole, left, error = residual(kernel, X, rows, R[rows], span.phi, rng)
    left += error  # on the safe side
    gap = span.result.primal - span.result.dual
    return {
        "size": span.phi.width,
        "primal": span.result.primal,
        "norm": float(np.sqrt(max(whole, 0.0))),
        "delta": float(np.sqrt(left)),
        "bound": 0.5 * left + gap,
    }


def _bound_cuts(
    kernel: Kernel, X: Any, planes: list[Floats], span: Span, top: float,
    trace: list[dict[str, float]], rng: Any,
) -> None:  # fmt: skip
    """Add to each turn ||g - P g|| of the cut at its end, and what Theorem 6.4 says.

    P projects onto the final basis; with delta the largest of these and ||w*|| at most
    sqrt(2 primal(0)), the objective is within sqrt(2 primal(0)) delta + gap of the best.
    """
    for row, R in zip(trace, planes, strict=True):
        rows = np.flatnonzero(np.any(R, axis=1))
        _, left, error = residual(kernel, X, rows, R[rows], span.phi, rng)
        row["cut delta"] = float(np.sqrt(left + error))
    delta = max([trace[-1]["delta"], *[row["cut delta"] for row in trace]])
    gap = span.result.primal - span.result.dual
    trace[-1]["theorem 6.4"] = float(np.sqrt(2.0 * top)) * delta + gap
