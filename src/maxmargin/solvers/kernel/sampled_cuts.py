"""Sampled planes: kernels in time linear in the number of rows.

A plane below the risk is v = sum_i R_i phi(x_i) over rows i. It is replaced by r rows
drawn from it, v^ = sum_j S_j phi(x_j) with E v^ = v, whose products with all training
rows are computed once and kept. Algorithm 6.2 of [1] puts one sampled plane per turn
into its quadratic program; its optimum carries the noise of every plane. Here

    sampled planes (in parts: neighbouring rows of a sign) only SPAN a space;
    planes and risk in that space are exact, trained as any linear problem is;
    the next rows are drawn from v = sum alpha a, the planes as the dual weighs them.

So the primal is that of the machine returned, and w = P v gives the distance from the
optimum, 1/2 ||v - w||^2 = 1/2 sum_i R_i (v - w)(x_i), estimated from the rows drawn.
One row is drawn from each of r shares of equal mass along a tree order of the rows: the
draws are independent, as Theorem 6.2 wants, and vary less than rows drawn at random.

[1] Yu 2011, Algorithm 6.2, Theorem 6.2, and section 6.6 for structures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import COPIES, Expansion
from maxmargin.kernels.sampling import Functions, draw, tree_order
from maxmargin.solvers.base import HISTORY, Result, Solver, State, Status
from maxmargin.solvers.kernel.cuts import Flat, TokenCuts, carried

PARTS = 16  # functions per turn, or one per label
FEWEST = 3  # turns whose functions must fit into the memory
ROUGH = 0.02  # tolerance of early turns
LIMIT = 100  # turns
DOUBT = 0.05  # 1 - probability of the bound of Theorem 6.2


class Sampled(NamedTuple):
    """A machine from sampled planes."""

    expansion: Expansion
    rest: Floats
    result: Result
    trace: list[dict[str, float]]


class _Turn(NamedTuple):
    """What training in the span came to."""

    weights: Floats  # (functions, z)
    rest: Floats
    R: Floats  # (rows, z) the plane that the dual holds
    held: Floats  # (functions, z) its projection, if `whole`
    whole: bool
    warm: State | None
    result: Result


def train_sampled(
    cuts: TokenCuts,
    kernel: Kernel,
    r: int,
    choose: Callable[[Problem, float], Solver],
    tol: float = 1e-3,
    *,
    max_iter: int | None = None,
    max_time: float | None = None,
    seed: int = 0,
    memory: float = MEMORY,
    watch: Any = None,
) -> Sampled:
    """Turns until the primal is within `tol` of the estimated optimum, relatively.

    Parameters
    ----------
    cuts : TokenCuts
        The problem.
    r : int
        Rows drawn per turn.
    choose : function (problem, tol) -> Solver
        The trainer of a turn.
    watch : function (row, made), optional
        Called after each turn with its row of the history and with what gives the
        machine as it is then; something true ends training.
    """
    begin = time.perf_counter()
    X, rng = cuts.X, np.random.default_rng(seed)
    n, z = X.shape[0], cuts.z
    parts = max(1, PARTS // z)
    refuse_large(
        n, FEWEST * parts * z, memory, f"functions of {FEWEST} turns on all rows",
        "allow more memory, or use fewer rows", COPIES + 1,
    )  # fmt: skip
    most = int(memory // (8.0 * n * (COPIES + 1)))
    place = tree_order(kernel, X, rng)
    span = Functions(kernel, X)
    R = cuts.at(np.zeros((n, z)), np.zeros(cuts.others)).R
    turn: _Turn | None = None
    rows: list[tuple[Any, ...]] = []
    gap, rough, status = np.inf, np.inf, None
    while True:
        ids, S = draw(R, r, rng, place)
        made = span.sums(ids, S, parts, R)
        if turn is not None:
            left = _left(turn, span, ids, S, made.at)
            gap, dual = _gap(turn, left, rows)
            seconds = time.perf_counter() - begin
            rows.append((
                len(rows) + 1, seconds, (len(rows) + 1) * cuts.problem.n, span.width,
                turn.result.primal, dual, max(gap, 0.0),
            ))  # fmt: skip
            status = _status(gap, tol, seconds, len(rows), max_iter or LIMIT, max_time)
            if turn.result.status is Status.INTERRUPTED:
                status = Status.INTERRUPTED
            now = partial(_machine, cuts, span, turn, rows, Status.STOPPED, r, seconds)
            if watch is not None and watch(np.array(rows[-1:], HISTORY)[0], now):
                status = status or Status.STOPPED
            if status is not None:
                break
            if span.width + made.values.shape[1] > most:
                span.reduce(turn.weights, most - made.values.shape[1])
        grown, done = span.add(ids, made), rough
        rough = max(0.5 * tol, min(ROUGH, 0.1 * gap)) if grown else 0.5 * tol
        if turn is None and not grown:
            break
        if turn is not None and not grown and done <= rough:  # all is in the span
            told = turn.result
            rows[-1] = (*rows[-1][:4], told.primal, told.dual, max(told.gap, 0.0))
            status = told.status
            break
        turn = _train(cuts, span, choose, rough, turn)
        R = turn.R
    return _machine(cuts, span, turn, rows, status, r, time.perf_counter() - begin)


def _train(
    cuts: TokenCuts, span: Functions, choose: Callable, tol: float, last: _Turn | None
) -> _Turn:
    problem = cuts.over(Flat(span.width, False), span.values)
    warm = last.warm if last is not None else None
    result, state = choose(problem, tol).solve(problem, warm)
    structure: Any = problem.structure
    weights, rest = structure.split_weights(result.w)
    R = cuts.mixture(problem, state)
    whole = R is not None
    if R is None:
        R = cuts.at(span.values @ weights, rest).R
    held = structure.split_weights(state.w)[0]
    return _Turn(weights, rest, R, held, whole, carried(state), result)


def _left(turn: _Turn, span: Functions, ids: Ints, S: Floats, at: Floats) -> float:
    """||v - P v||^2 from the rows drawn, and its standard error on top."""
    terms = np.einsum("ij,ij->i", S, at - span.values[ids] @ turn.held)
    spread = float(np.sqrt(len(terms) * terms.var())) if len(terms) > 1 else 0.0
    return max(float(terms.sum()), 0.0) + spread


def _gap(turn: _Turn, left: float, rows: list) -> tuple[float, float]:
    """Relative gap and dual; without dual variables, what the last turn gained."""
    primal = turn.result.primal
    if turn.whole:
        dual = turn.result.dual - 0.5 * left
        return (primal - dual) / max(primal, 1e-300), dual
    before = rows[-1][4] if rows else np.inf
    return (before - primal) / max(primal, 1e-300), -np.inf


def _status(
    gap: float, tol: float, seconds: float, turns: int, limit: int,
    max_time: float | None,
) -> Status | None:  # fmt: skip
    if gap <= tol:
        return Status.CONVERGED
    if turns >= limit:
        return Status.MAX_ITER
    if max_time is not None and seconds > max_time:
        return Status.MAX_TIME
    return None


def _machine(
    cuts: TokenCuts, span: Functions, turn: _Turn | None, rows: list,
    status: Status | None, r: int, seconds: float,
) -> Sampled:  # fmt: skip
    """The expansion over all rows drawn, with its certificate."""
    X, kernel = cuts.X, span.kernel
    weights, rest = np.zeros((0, cuts.z)), np.zeros(cuts.others)
    if turn is not None:
        weights, rest = turn.weights, turn.rest
    if not rows:  # no example asks for anything: w = 0 is best
        status = Status.CONVERGED
        rows = [(1, seconds, cuts.problem.n, 0, 0.0, 0.0, 0.0)]
    assert status is not None
    ids, beta = span.expansion(weights)
    radius = float(kernel.diagonal(X[:1000]).max(initial=0.0))
    total = float(cuts.problem.C.sum())
    term = np.sqrt(4.0 * total * radius / r * np.log(max(len(rows), 2) / DOUBT))
    _, _, asked, _, primal, dual, gap = rows[-1]
    result = Result(
        beta.ravel(), status, primal, dual, gap, "estimate", asked, span.width,
        len(rows), seconds, np.array(rows, dtype=HISTORY),
        {"sampling term of theorem 6.2": float(total * term), "samples": r,
         "functions": span.width},
    )  # fmt: skip
    trace = [{"size": row[3], "primal": row[4], "gap": row[6]} for row in rows]
    return Sampled(
        Expansion(kernel, kernel.points(X, ids), beta, ids), rest, result, trace
    )
