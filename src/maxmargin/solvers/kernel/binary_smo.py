"""SMO: the exact dual of a binary kernel machine, two variables at a time.

    max_alpha  sum alpha - 1/2 sum_ij alpha_i alpha_j y_i y_j K(x_i, x_j),
               0 <= alpha_i <= C_i,  sum alpha_i y_i = 0

The constant of the machine is not regularised. Pairs are chosen by their second-order
gain. Columns of the Gram matrix come from a cache of bounded memory: compiled moves run
until they need a column that is not there.

[1] Fan, Chen, Lin: Working set selection using second order information for training
    support vector machines, 2005. [2] Yu 2011, equation (6.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, summation_error
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.problem import Problem, cost_error, kernel_rounding
from maxmargin.core.structure import FewOutputs, MappedInputs
from maxmargin.kernels.functions import Kernel, Linear, rows_for
from maxmargin.kernels.gram import INDEFINITE, Columns
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import Result, Solver, State, Status
from maxmargin.solvers.kernel.result import KernelResult

DONE, INDEFINITE_PAIR, ENOUGH = -1, -2, -3  # why moves ended; else the column needed
AHEAD = 64  # columns made at once: those of the worst examples
SLICE = 10**8  # values of the gradient updated before the clock is looked at


@dataclass(kw_only=True)
class PairState(State):
    """Dual variables, the gradient of the dual, and columns of the Gram matrix."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "columns", "y", "upper")

    columns: Columns
    y: Floats  # (n,) -1 or 1
    upper: Floats  # (n,) C of each example
    alpha: Floats  # (n,)
    gradient: Floats  # (n,) y_i f(x_i) - 1 without the constant
    constant: float = 0.0
    epsilon: float = 0.1  # violation of the optimality conditions that is worked on
    moves: int = 0


@dataclass(frozen=True)
class BinarySmo(Solver[PairState]):
    """SMO for two classes. A step makes moves until all pairs are within epsilon.

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    memory : float
        Bytes for columns of the Gram matrix at most.
    max_iter : int
        Moves of two variables at most.
    """

    max_iter: int = 10**7
    kernel: Kernel = Linear()
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (MappedInputs, FewOutputs)

    def refusal(self, problem: Problem) -> str | None:
        """Two classes and the zero-one loss are needed."""
        two = problem.structure.label_count() == 2
        if two and problem.loss.form == "zero-one":
            return None
        return "solver BinarySmo trains two classes with the zero-one loss"

    def start(self, problem: Problem, warm: State | None = None) -> PairState:
        """Alpha zero, or that of an earlier run, scaled where all C changed alike."""
        structure = problem.structure.require(MappedInputs, "a kernel")
        y = np.where(problem.truth.data > 0, 1.0, -1.0)
        if isinstance(warm, PairState) and warm.columns.kernel == self.kernel:
            ratio = problem.C / np.maximum(warm.upper[: problem.n], 1e-300)
            same = np.array_equal(warm.y, y)
            if same and np.ptp(ratio) <= 1e-12 * ratio.max():
                return self._rescaled(problem, warm, float(ratio[0]))
        X = rows_for(structure.input_matrix(problem.x))
        columns = Columns(self.kernel, X, self.memory)
        n = problem.n
        return PairState(
            np.zeros(n), columns=columns, y=y, upper=problem.C, alpha=np.zeros(n),
            gradient=-np.ones(n),
        )  # fmt: skip

    def _rescaled(self, problem: Problem, warm: PairState, factor: float) -> PairState:
        """The gradient is linear in alpha, and the sum over y stays zero."""
        alpha = np.minimum(warm.alpha * factor, problem.C)
        state = PairState(
            alpha * warm.y, columns=warm.columns, y=warm.y, upper=problem.C,
            alpha=alpha, gradient=(warm.gradient + 1.0) * factor - 1.0,
        )  # fmt: skip
        self.certify(problem, state)
        return state

    def step(self, problem: Problem, state: PairState) -> None:
        """Move pairs until none violates the optimality conditions by epsilon."""
        made, ended = self._moves(problem, state)
        state.moves += made
        self.certify(problem, state)
        gap = state.gap()
        if ended == INDEFINITE_PAIR:
            state.status = Status.NOT_SEMIDEFINITE
        elif ended == DONE and gap > self.tol:
            if state.epsilon < 1e-12:
                state.status = Status.NO_PROGRESS
            state.epsilon *= min(0.3, 0.5 * max(self.tol / gap, 0.02))

    def verdict(self, state: PairState) -> Status | None:
        """As for all solvers; moves are counted, not steps."""
        if state.status is Status.NOT_SEMIDEFINITE or state.gap() > self.tol:
            enough = state.moves >= self.max_iter
            return state.status or (Status.MAX_ITER if enough else None)
        return Status.CONVERGED

    def certify(self, problem: Problem, state: PairState) -> None:
        """Primal and dual at the present alpha, with the best constant."""
        C = problem.C
        state.primal, state.dual, state.constant = _values(
            state.y, C, state.alpha, state.gradient
        )
        state.w = state.best_w = state.alpha * state.y
        state.oracle_calls, state.planes = state.moves, int((state.alpha > 0).sum())
        state.fresh = True

    def rounding(self, problem: Problem, state: PairState) -> float:
        """Each move has changed all scores, and has added its rounding error to them."""
        signed = state.alpha * state.y
        largest = float(self.kernel.diagonal(state.columns.X).max(initial=0.0))
        step = float(np.abs(state.gradient).max(initial=0.0)) + largest * float(
            state.upper.max(initial=0.0)
        )
        share = summation_error(problem.n + 1.0) + self.kernel.rounding(state.columns.X)
        moves = cost_error(
            problem, summation_error(state.moves) * step, state.primal, 0
        )
        return moves + kernel_rounding(problem, signed, largest, state.primal, share)

    def report(
        self, problem: Problem, state: PairState, result: Result
    ) -> KernelResult:
        """The machine over the rows with weight."""
        columns, kernel = state.columns, self.kernel
        rows = np.flatnonzero(state.alpha)
        beta = (state.alpha * state.y)[rows, None]
        points = kernel.points(columns.X, rows)
        notes = {
            "columns made": columns.made, "columns kept": columns.room,
            "bytes": columns.nbytes,
        }  # fmt: skip
        semidefinite = result.status is not Status.NOT_SEMIDEFINITE
        return KernelResult(
            **vars(result) | {
                "certificate": "exact" if semidefinite else "none", "iterations": state.moves,
                "notes": {**result.notes, **notes},
            },
            expansion=Expansion(kernel, points, beta, rows),
            rest=np.array([state.constant / _constant_feature(problem)]), trace=[],
        )  # fmt: skip

    def _moves(self, problem: Problem, state: PairState) -> tuple[int, int]:
        """Moves until all pairs are within epsilon: (how many, why they ended)."""
        columns, y, C = state.columns, state.y, problem.C
        alpha, gradient = state.alpha, state.gradient
        total, kept, n = 0, -1, len(y)
        most = min(self.max_iter - state.moves, max(50_000, 20 * n))
        clock = np.array([columns.clock])
        while True:
            size = min(most - total, max(SLICE // n, 1))
            made, ended, kept = _pair_moves(
                columns.store, columns.where, columns.used, clock, columns.diagonal, y,
                C, alpha, gradient, state.epsilon, size,
            )  # fmt: skip
            columns.clock = int(clock[0])
            total += made
            if ended == ENOUGH and total < most and not state.late():
                continue
            if ended < 0:
                return total, ended
            if columns.room < n:
                columns.place(int(ended), int(kept))
            else:
                columns.fill(_ahead(columns, y, C, alpha, gradient, int(ended)))
            clock[0] = columns.clock
            if state.late():
                return total, ENOUGH


def _constant_feature(problem: Problem) -> float:
    """Value of the feature that stands for the constant: the last of each row."""
    outputs = problem.outputs()
    assert outputs is not None  # `needs`
    row: Any = outputs.product.vectors.matrix()[[0]]
    row = row.toarray() if sp.issparse(row) else np.asarray(row)
    return float(row[0, -1])


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
def _pair_moves(store, where, used, clock, diagonal, y, C, alpha, g, epsilon, limit):
    """Second-order pairs; returns (moves, why it ended or column needed, column kept).

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
