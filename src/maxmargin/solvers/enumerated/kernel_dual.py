"""The dual of a kernel machine over all outputs, by working sets of examples.

With psi(x, y) = phi(x) (x) Lambda(y) and phi known by K(x, z) = <phi(x), phi(z)> only,

    w = sum_i phi(x_i) (x) R_i,   R_i = sum_y alpha_iy c_y (Lambda(y_i) - Lambda(y))

and the scores of all examples, F = K R, are kept instead of w. A step

    chooses the examples with the largest duality gaps, half of them from the last step,
    visits them again and again with their own kernel values at hand, each visit an exact
    step over all outputs of an example (`sweep_block`),
    adds the change of R to the scores of all examples, by columns of the Gram matrix.

Columns are in single precision where that loses little. When the gaps promise the
tolerance, the scores are computed once more in double precision: primal, dual and gap of
the result are those of exact kernel values. Should single precision not do, the columns
are made again in double precision.

[1] Crammer and Singer: On the algorithmic implementation of multiclass kernel-based
    vector machines, 2001. [2] Joachims: Making large-scale SVM learning practical, 1999
    (working sets). [3] Wen et al.: ThunderSVM, 2018 (half of the last set is kept).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, summation_error
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.validation import check_range
from maxmargin.core.problem import Problem, kernel_rounding
from maxmargin.core.structure import FewOutputs, MappedInputs
from maxmargin.kernels.functions import Kernel, Linear, rows_for
from maxmargin.kernels.gram import Columns
from maxmargin.kernels.maps import Expansion
from maxmargin.solvers.base import Result, Solver, State, Status
from maxmargin.solvers.enumerated.block_dual import growth, tables_of
from maxmargin.solvers.enumerated.loops import (
    Tables,
    add_columns,
    block_of,
    score_gaps,
    sweep_block,
)
from maxmargin.solvers.kernel.result import KernelResult

TOGETHER = 1024
KEPT = 0.5  # share of them from the last one
SWEEPS = 60  # over a working set at most ...
SOLVED = 0.05  # ... or until its gap is so small a share of what it was
QUIET = 0.5  # of the mean gap: examples below it are not moved in a sweep
WHOLE = 4  # one sweep in so many visits all of the set, the others what had large gaps
SHORT_TOL = 1e-5  # tolerances below it need columns in double precision
PATIENCE = 20  # steps that hardly raise the dual, after which training ends
MISSES = 2  # certificates above a tolerance that short columns had promised
ROWS = 1 << 20  # kernel values of an exact pass at once


@dataclass(kw_only=True)
class KernelDualState(State):
    """Dual variables of all outputs, and the scores of all examples."""

    DERIVED: ClassVar[tuple[str, ...]] = (
        *State.DERIVED, "tables", "columns", "constant", "gaps", "slack", "measured",
    )  # fmt: skip

    tables: Tables
    columns: Columns
    constant: float  # value of the constant feature, 0 without
    gaps: Floats  # (n,)
    slack: Floats  # (n,)
    measured: bool = False  # whether these two are those of the scores
    alpha: Floats  # (n, outputs)
    scores: Floats  # (output features, n)
    chosen: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    turn: int = 0
    misses: int = 0
    short: bool = True  # whether columns are wanted in single precision

    def coefficients(self) -> Floats:
        """R (n, z) of w = sum_i phi(x_i) (x) R_i."""
        t = self.tables
        weight = self.alpha * t.c[t.truth]
        own = weight.sum(axis=1)[:, None] * t.lambdas[t.truth]
        return np.asarray(own - weight @ t.lambdas)

    def check_restored(self) -> None:
        """Refuse a working set, read from a file, with rows that do not exist."""
        check_range(self.chosen, 0, len(self.gaps), "row of the working set")

    def values(self, problem: Problem, R: Floats) -> tuple[float, float]:
        """Primal and dual, from scores, slacks and alpha."""
        t, alpha = self.tables, self.alpha
        square = float(np.einsum("if,fi->", R, self.scores))
        linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
        ridge = float((t.ridge * alpha.sum(axis=1) ** 2).sum())
        cost = float(problem.formulation.cost(problem.C, self.slack).sum())
        return 0.5 * square + cost, linear - 0.5 * square - 0.5 * ridge

    def measure(self) -> None:
        """Gap and slack of each example."""
        score_gaps(self.tables, self.scores, self.alpha, self.gaps, self.slack)
        self.measured = True


@dataclass(frozen=True)
class KernelDual(Solver[KernelDualState]):
    """Working sets on the dual of a kernel machine; see the module docstring for a step.

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    memory : float
        Bytes for columns of the Gram matrix at most.
    """

    max_iter: int = 100_000
    kernel: Kernel = Linear()
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")
    needs: ClassVar[tuple[type, ...]] = (MappedInputs, FewOutputs)

    def start(self, problem: Problem, warm: State | None = None) -> KernelDualState:
        """Alpha zero, or that of an earlier run scaled to the new C."""
        structure: Any = problem.structure.require(MappedInputs, "a kernel")
        X = rows_for(structure.input_matrix(problem.x))
        short = self.tol >= SHORT_TOL
        plain = tables_of(problem)._replace(
            ptr=np.empty(0, np.int64), idx=np.empty(0, np.int32), val=np.empty(0)
        )
        n, (k, z) = problem.n, plain.lambdas.shape
        alpha, scores, columns = np.zeros((n, k)), np.zeros((z, n)), None
        if isinstance(warm, KernelDualState) and self._fits(warm, X, plain):
            short, columns = short and warm.short, warm.columns
            factor = growth(warm.tables, problem)
            alpha = warm.alpha * factor[:, None]
            even = float(np.ptp(factor)) <= 1e-12 * float(factor.max(initial=0.0))
            scores = warm.scores * factor[0] if even else scores
        if columns is None or columns.short > short:
            columns = Columns(self.kernel, X, self.memory, short)
        state = KernelDualState(
            np.zeros(n * z), tables=plain, columns=columns, alpha=alpha, scores=scores,
            constant=_constant(problem, X.shape[1]), gaps=np.zeros(n),
            slack=np.zeros(n), short=short,
        )  # fmt: skip
        if alpha.any() and not scores.any():
            state.scores[:] = _exact_scores(state, state.coefficients())
        return state

    def _fits(self, warm: KernelDualState, X: Any, new: Tables) -> bool:
        """Whether a state is one of the same rows, classes and kernel."""
        held, old = warm.columns, warm.tables
        same = held.kernel == self.kernel and held.X.shape == X.shape
        if (
            not same
            or not isinstance(X, np.ndarray)
            or not isinstance(held.X, np.ndarray)
        ):
            return False
        classes = np.array_equal(old.truth, new.truth) and np.array_equal(
            old.lambdas, new.lambdas
        )
        return classes and np.array_equal(old.c, new.c) and np.array_equal(held.X, X)

    def step(self, problem: Problem, state: KernelDualState) -> None:
        """Choose a working set, solve it, and update the scores of all examples."""
        state.turn += 1
        if state.gap_estimate <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
            state.misses += 1
        if state.columns.short and (not state.short or state.misses >= MISSES):
            state.short = False
            state.columns = Columns(self.kernel, state.columns.X, self.memory)
        if not state.measured:
            state.measure()
        ids = self._choose(state)
        if len(ids):
            self._solve(state, ids)
        state.measure()
        before, gap = state.dual, float(state.gaps.sum())
        state.dual = state.values(problem, state.coefficients())[1]
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.planes = int(np.count_nonzero(state.alpha))
        state.oracle_calls += len(ids)
        state.fresh = False
        if state.judge(state.dual - before, 1e-13, PATIENCE) and state.columns.short:
            state.short, state.status, state.stalls = False, None, 0

    def verdict(self, state: KernelDualState) -> Status | None:
        """As for all solvers, but only values in double precision count."""
        if state.columns.short and not state.fresh:
            return state.status
        return super().verdict(state)

    def _choose(self, state: KernelDualState) -> Ints:
        """The working set: the largest gaps, half of them in the last one."""
        gaps, n = state.gaps, len(state.gaps)
        size = min(TOGETHER, n, state.columns.room)
        rng = np.random.default_rng([self.seed, state.turn])
        score = gaps * (1.0 + 1e-3 * rng.random(n))  # ties are broken at random
        last = state.chosen
        kept = last[np.argsort(-gaps[last], kind="stable")[: int(KEPT * size)]]
        score[kept] = -np.inf
        more = np.argpartition(-score, size - len(kept) - 1)[: size - len(kept)]
        ids = np.sort(np.append(kept, more))
        state.chosen = state.columns.hold(ids[gaps[ids] > 0.0], state.late)
        return state.chosen

    def _solve(self, state: KernelDualState, ids: Ints) -> None:
        """Sweep over the working set, then add what changed to all scores."""
        columns, constant, size = state.columns, state.constant**2, len(ids)
        places = columns.where[ids]
        K = np.empty((size, size), columns.store.dtype)
        block_of(columns.store, places, ids, K.dtype.type(constant), K)
        S = state.scores[:, ids].astype(K.dtype, order="C")  # rows for `sweep_block`
        R, gaps = np.zeros((size, S.shape[0])), np.zeros(size)
        rng = np.random.default_rng([self.seed, state.turn, 1])
        first = total = float(state.gaps[ids].sum())
        for sweep in range(SWEEPS):
            closed, order = QUIET * total / size, rng.permutation(size)
            if sweep % WHOLE:
                order = order[gaps[order] > closed]
            sweep_block(state.tables, ids, order, K, S, state.alpha, R, gaps, closed)
            total = float(gaps.sum())
            if total <= SOLVED * first or state.late():
                break
        add_columns(columns.store, places, R, state.scores)
        state.scores += constant * R.sum(axis=0)[:, None]

    def certify(self, problem: Problem, state: KernelDualState) -> None:
        """Primal and dual at the present alpha, by exact kernel values."""
        R = state.coefficients()
        if state.columns.short:
            state.scores[:] = _exact_scores(state, R)
        state.measure()
        primal, state.dual = state.values(problem, R)
        state.oracle_calls += problem.n
        state.w, state.fresh = R.ravel(), True
        if primal < state.primal:
            state.primal, state.best_w = primal, state.w.copy()

    def rounding(self, problem: Problem, state: KernelDualState) -> float:
        """That of scores which are sums over all rows."""
        R = state.coefficients() if state.best_w is None else state.best_w
        largest = float(self.kernel.diagonal(state.columns.X).max(initial=0.0))
        largest += state.constant**2
        share = summation_error(problem.n + 1.0) + self.kernel.rounding(state.columns.X)
        loss = float(state.tables.b.max(initial=1.0))
        return kernel_rounding(problem, R, largest, state.primal, share, loss)

    def report(
        self, problem: Problem, state: KernelDualState, result: Result
    ) -> KernelResult:
        """The machine over the rows with weight."""
        columns, kernel = state.columns, self.kernel
        R = result.w.reshape(problem.n, -1)
        rows = np.flatnonzero(np.any(R, axis=1))
        points = kernel.points(columns.X, rows)
        rest = state.constant * R.sum(axis=0) if state.constant else np.empty(0)
        notes = {
            "chosen": "KernelDual", "columns made": columns.made,
            "columns kept": columns.room, "bytes": columns.nbytes,
        }  # fmt: skip
        return KernelResult(
            **vars(result) | {"notes": {**result.notes, **notes}},
            expansion=Expansion(kernel, points, R[rows], rows), rest=rest, trace=[],
        )  # fmt: skip


def kernel_dual_applies(problem: Problem, memory: float) -> bool:
    """Whether `KernelDual` can train the problem, with all alpha in the memory."""
    offered = all(problem.structure.offers(c) is not None for c in KernelDual.needs)
    if not offered or problem.formulation.penalty not in KernelDual.penalties:
        return False
    return 16.0 * problem.n * problem.structure.label_count() <= memory


def _constant(problem: Problem, width: int) -> float:
    """Value of the constant feature behind the `width` inputs; 0 if there is none."""
    outputs = problem.outputs()
    assert outputs is not None  # `needs`
    row: Any = outputs.product.vectors.matrix()[[0]]
    row = row.toarray() if sp.issparse(row) else np.asarray(row)
    rest = row[0, width:]
    return float(rest[0]) if len(rest) else 0.0


def _exact_scores(state: KernelDualState, R: Floats) -> Floats:
    """K R in double precision, the constant included, (z, n)."""
    X, kernel = state.columns.X, state.columns.kernel
    rows = np.flatnonzero(np.any(R, axis=1))
    out = np.zeros(R.T.shape)
    if len(rows):
        points, step = kernel.points(X, rows), max(1, ROWS // len(rows))
        for s in range(0, X.shape[0], step):
            out[:, s : s + step] = (kernel(X[s : s + step], points) @ R[rows]).T
    return out + state.constant**2 * R.sum(axis=0)[:, None]
