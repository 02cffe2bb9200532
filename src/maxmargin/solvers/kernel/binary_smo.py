"""Two variables at a time: the exact dual of a binary kernel machine.

    max_alpha  sum alpha - 1/2 sum_ij alpha_i alpha_j y_i y_j K(x_i, x_j),
               0 <= alpha_i <= C_i,  sum alpha_i y_i = 0

with the constant of the machine not regularised. Pairs are chosen by their second-order
gain; columns of the Gram matrix come from a cache of bounded memory: compiled steps run
until they need a column that is not there.

[1] Fan, Chen, Lin: Working set selection using second order information for training
    support vector machines, 2005. [2] Yu 2011, equation (6.2).
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.jit import inner_loop, loop
from maxmargin.kernels.gram import INDEFINITE, Columns
from maxmargin.solvers.base import HISTORY, Result, Status

DONE, INDEFINITE_PAIR, ENOUGH = -1, -2, -3  # why steps ended; else the column needed
AHEAD = 64  # columns made at once: those of the worst examples


class Machine(NamedTuple):
    """f(x) = sum_i beta_i K(x_i, x) + constant."""

    beta: Floats  # (n,) alpha_i y_i
    constant: float
    result: Result


def train_pairs(
    columns: Columns,
    y: Floats,
    C: Floats,
    tol: float = 1e-3,
    max_iter: int | None = None,
    max_time: float | None = None,
    watch: Any = None,
) -> Machine:
    """Solve the dual to a relative duality gap of `tol`; y is -1 or 1.

    `watch(row, made)` is called with each row of the history and with what gives the
    machine as it is then; something true ends training.
    """
    begin = time.perf_counter()
    n = len(y)
    alpha, gradient = np.zeros(n), -np.ones(n)
    limit = max_iter if max_iter is not None else max(10**7, 100 * n)
    rows: list[tuple[float, ...]] = []
    status, steps, epsilon = None, 0, 0.1
    while status is None:
        done, ended = 0, ENOUGH
        try:
            done, ended = _run(columns, y, C, alpha, gradient, epsilon, limit - steps)
        except KeyboardInterrupt:  # only between steps: they are compiled
            status = Status.INTERRUPTED
        steps += done
        primal, dual, constant = _values(y, C, alpha, gradient)
        gap = (primal - dual) / max(primal, 1e-300)
        seconds = time.perf_counter() - begin
        held = int((alpha > 0).sum())
        rows.append((len(rows) + 1, seconds, steps, held, primal, dual, gap))
        if ended == INDEFINITE_PAIR:
            status = Status.NOT_SEMIDEFINITE
        elif status is not None:
            pass
        elif gap <= tol:
            status = Status.CONVERGED
        elif steps >= limit:
            status = Status.MAX_ITER
        elif max_time is not None and seconds > max_time:
            status = Status.MAX_TIME
        elif ended == DONE and epsilon < 1e-12:
            status = Status.NO_PROGRESS
        elif ended == DONE:
            epsilon *= min(0.3, 0.5 * max(tol / gap, 0.02))
        made = partial(_machine, columns, alpha * y, constant, rows, steps)
        if watch is not None and watch(np.array(rows[-1:], HISTORY)[0], made):
            status = status or Status.STOPPED
    return made(status)


def _machine(
    columns: Columns, beta: Floats, constant: float, rows: list[tuple[float, ...]],
    steps: int, status: Status = Status.STOPPED,
) -> Machine:  # fmt: skip
    """The machine with its certificate, the last of the rows."""
    _, seconds, _, held, primal, dual, gap = rows[-1]
    notes = {
        "columns made": columns.made, "columns kept": columns.room,
        "bytes": columns.nbytes,
    }  # fmt: skip
    result = Result(
        beta, status, primal, dual, max(gap, 0.0), "exact", steps, int(held), steps,
        seconds, np.array(rows, dtype=HISTORY), notes,
    )  # fmt: skip
    return Machine(beta, constant, result)


def _run(
    columns: Columns, y: Floats, C: Floats, alpha: Floats, gradient: Floats,
    epsilon: float, limit: int,
) -> tuple[int, int]:  # fmt: skip
    """Steps until all pairs are within epsilon; returns (steps, why it ended)."""
    total, kept = 0, -1
    chunk = min(limit, max(50_000, 20 * len(y)))
    clock = np.array([columns.clock])
    while True:
        made, ended, kept = _steps(
            columns.store, columns.where, columns.used, clock, columns.diagonal, y, C,
            alpha, gradient, epsilon, chunk - total,
        )  # fmt: skip
        columns.clock = int(clock[0])
        total += made
        if ended < 0:
            return total, ended
        if columns.room < len(y):
            columns.place(int(ended), int(kept))
        else:
            columns.fill(_ahead(columns, y, C, alpha, gradient, int(ended)))
        clock[0] = columns.clock


def _ahead(
    columns: Columns, y: Floats, C: Floats, alpha: Floats, gradient: Floats, needed: int
) -> Ints:
    """The column needed and those of the examples that are furthest from optimal."""
    score = -y * gradient
    score[np.where(y > 0, alpha >= C, alpha <= 0.0)] = -np.inf
    score[columns.where >= 0] = -np.inf
    score[needed] = np.inf
    ahead = np.argpartition(-score, min(AHEAD, len(y) - 1))[:AHEAD]
    return ahead[score[ahead] > -np.inf]


def _values(
    y: Floats, C: Floats, alpha: Floats, gradient: Floats
) -> tuple[float, float, float]:
    """Primal with the best constant, dual, and that constant."""
    linear = float(alpha.sum())
    square = float(alpha @ gradient) + linear
    scores = y * (gradient + 1.0)  # without the constant
    up = np.where(y > 0, alpha < C, alpha > 0.0)
    low = np.where(y > 0, alpha > 0.0, alpha < C)
    score = -y * gradient
    top = float(score[up].max(initial=-np.inf))
    bottom = float(score[low].min(initial=np.inf))
    ends = [v for v in (top, bottom) if np.isfinite(v)]
    constant = sum(ends) / len(ends) if ends else 0.0
    slack = np.maximum(1.0 - y * (scores + constant), 0.0)
    return 0.5 * square + float(C @ slack), linear - 0.5 * square, constant


@loop
def _steps(store, where, used, clock, diagonal, y, C, alpha, g, epsilon, limit):
    """Second-order pairs; returns (steps, why it ended or column needed, column kept).

    g is the gradient of the dual with the sign of a minimum: y_i f(x_i) - 1.
    """
    n = len(y)
    for step in range(limit):
        i, best = -1, -np.inf
        for t in range(n):
            free = alpha[t] < C[t] if y[t] > 0 else alpha[t] > 0.0
            if free and -y[t] * g[t] > best:
                i, best = t, -y[t] * g[t]
        if i < 0:
            return step, DONE, -1
        if where[i] < 0:
            return step, i, -1
        column = store[where[i]]
        clock[0] += 1
        used[where[i]] = clock[0]
        j, gain, worst = -1, 0.0, np.inf
        for t in range(n):
            if (alpha[t] > 0.0) if y[t] > 0 else (alpha[t] < C[t]):
                score = -y[t] * g[t]
                worst = min(worst, score)
                rise = best - score
                if rise > 0.0:
                    curve = diagonal[i] + diagonal[t] - 2.0 * column[t]
                    made = rise * rise / max(curve, 1e-12)
                    if made > gain:
                        j, gain = t, made
        if j < 0 or best - worst <= epsilon:
            return step, DONE, -1
        if where[j] < 0:
            return step, j, i
        other = store[where[j]]
        used[where[j]] = clock[0]
        curve = diagonal[i] + diagonal[j] - 2.0 * column[j]
        if curve < -INDEFINITE * (abs(diagonal[i]) + abs(diagonal[j])):
            return step, INDEFINITE_PAIR, -1
        size = (best + y[j] * g[j]) / max(curve, 1e-12)
        size = min(size, C[i] - alpha[i] if y[i] > 0 else alpha[i])
        size = min(size, alpha[j] if y[j] > 0 else C[j] - alpha[j])
        _move(alpha, C, i, y[i] * size)
        _move(alpha, C, j, -y[j] * size)
        for t in range(n):
            g[t] += y[t] * size * (column[t] - other[t])
    return limit, ENOUGH, -1


@inner_loop
def _move(alpha, C, i, by):
    alpha[i] += by
    if alpha[i] < 1e-14 * C[i]:
        alpha[i] = 0.0
    elif alpha[i] > C[i] * (1.0 - 1e-14):
        alpha[i] = C[i]
