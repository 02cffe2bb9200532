"""Block dual over all outputs at once, where they are few and psi is a product.

With psi(x, y) = phi(x) (x) Lambda(y) every plane of example i is a multiple of
phi(x_i), so nothing is stored but alpha (n, k): a visit fills the example's scores,
solves its block exactly by pairwise steps, and adds one multiple of phi(x_i) per output
feature to w. There is no oracle to ask: a visit sees all outputs, and its gap is exact.
Closed examples rest, twice as long each time; when the gaps seen on the way suggest
that the tolerance is met, a pass at fixed weights certifies it. With canonical outputs
and the linear penalty this is the sequential dual method for Crammer-Singer problems.

[1] Keerthi et al.: A sequential dual method for large scale multi-class linear SVMs,
    KDD 2008. [2] Balamurugan et al. 2012, Algorithm 2 (summed error, the box).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints
from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.output_loops import (
    Tables,
    slacks,
    squares,
    sweep,
    sweep_even,
    weights,
)

import os
CLOSED=float(os.environ.get('CLOSED','0.05'))
SMALL=float(os.environ.get('SMALL','0.2'))
SWEEPS=int(os.environ.get('SWEEPS','20'))
SLOPE=float(os.environ.get('SLOPE','1'))
LONGEST_REST=int(os.environ.get('REST','7'))
DEBUG=os.environ.get('DEBUG')


@dataclass
class AlphaState(State):
    """Dual variables of all outputs."""

    tables: Tables = None  # type: ignore[assignment]
    alpha: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    rest: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    asleep: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    gaps: Floats = field(default_factory=lambda: np.zeros(0))
    within: Floats = field(default_factory=lambda: np.zeros(0))
    turn: int = 0
    trust: float = 0.4
    stalls: int = 0


@dataclass(frozen=True)
class Enumerated(Solver):
    """Exact block steps over all outputs. A step is one sweep over awake examples."""

    max_iter: int = 10_000
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard", "summed")

    def start(self, problem: Problem, warm: Any = None) -> AlphaState:
        """Alpha zero, or that of an earlier run scaled to the new C."""
        outputs = problem.outputs()
        assert outputs is not None
        vectors, lambdas = outputs.product
        form, dual_set = problem.formulation, problem.dual_set
        b = np.ascontiguousarray(form.worth(outputs.delta))
        n, k = problem.n, len(lambdas)
        c = b.copy() if form.scales else np.where(b > 0, 1.0, 0.0)
        plain = np.array_equal(lambdas, np.eye(*lambdas.shape))
        even = plain and not dual_set.box and np.array_equal(c, 1.0 - np.eye(k))
        tables = Tables(
            *vectors, lambdas, plain, even, lambdas @ lambdas.T,
            squares(vectors.ptr, vectors.val), outputs.truth, b, c,
            dual_set.upper, dual_set.ridge, dual_set.box,
        )  # fmt: skip
        alpha = np.zeros((n, k))
        if isinstance(warm, AlphaState) and warm.alpha.shape == alpha.shape:
            alpha = warm.alpha * _factor(warm.tables, tables)[:, None]
        w = np.zeros(problem.dim)
        weights(tables, alpha, w)
        state = AlphaState(
            w, tables=tables, alpha=alpha, rest=np.zeros(n, np.int64),
            asleep=np.zeros(n, np.int64), gaps=np.full(n, np.inf), within=np.zeros(n),
        )  # fmt: skip
        self._refresh(state)
        return state

    def step(self, problem: Problem, state: AlphaState) -> None:  # type: ignore[override]
        """One sweep, or a certifying pass when the gaps suggest that it is time."""
        state.turn += 1
        if state.gap_estimate * state.trust <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        before = state.dual
        awake = np.flatnonzero(state.asleep <= 0)
        rng = np.random.default_rng([self.seed, state.turn])
        order = rng.permutation(awake)
        state.asleep -= 1
        gap = min(state.gap_estimate, 1.0) * max(abs(state.dual), 1e-300)
        closed = max(CLOSED * self.tol * abs(state.dual), SMALL * gap) / problem.n
        t, gaps = state.tables, state.gaps
        visit = sweep_even if t.even else sweep
        rise, work = visit(t, order, False, state.w, state.alpha, gaps, closed)
        state.oracle_calls += len(order)
        state.dual += rise
        done = gaps[order] <= closed
        rest = np.where(done, np.minimum(2 * state.rest[order] + 1, LONGEST_REST), 0)
        state.rest[order] = state.asleep[order] = rest
        gap = float(gaps.sum())
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        order = order[~done]
        within = state.within
        inner=0
        for k in range(SWEEPS):
            if not len(order):
                break
            order = rng.permutation(order)
            made, cost = visit(t, order, True, state.w, state.alpha, within, closed)
            rise, work = rise + made, work + cost
            state.dual += made
            inner+=len(order)
            order = order[within[order] > closed]
            if made * work < rise * cost * SLOPE:
                break
        state.fresh = False
        if DEBUG: print(state.turn, len(awake), len(rest)-done.sum(), k, inner/len(awake), 'rise', rise, 'gap', state.gap_estimate)
        if np.isinf(t.upper[0]):
            _stretch(state)
            self._refresh(state)
        self._judge(problem, state, state.dual - before)

    def certify(self, problem: Problem, state: State) -> None:
        """Slacks of all examples at w; for the summed error the sums of slacks."""
        assert isinstance(state, AlphaState)
        slack = slacks(state.tables, state.w)
        state.oracle_calls += problem.n
        seen = state.gap_estimate
        primal = state.witness(problem, state.w, slack)
        self._refresh(state)
        if np.isfinite(seen) and seen > 0 and np.isfinite(primal):
            gap = (primal - state.dual) / max(primal, 1e-300)
            state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))

    def _refresh(self, state: AlphaState) -> None:
        t, alpha = state.tables, state.alpha
        linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
        mass = alpha.sum(axis=1)
        ridge = float((t.ridge * mass**2).sum())
        state.dual = linear - 0.5 * float(state.w @ state.w) - 0.5 * ridge
        state.planes = int(np.count_nonzero(alpha))

    def _judge(self, problem: Problem, state: AlphaState, rise: float) -> None:
        if rise <= 1e-13 * abs(state.dual):
            state.stalls += 1
            state.asleep[:] = 0
            state.gap_estimate = 0.0
        else:
            state.stalls = 0
        if state.stalls >= 5:
            state.status = Status.NO_PROGRESS
        elif problem.formulation.penalty == "hard":
            t = state.tables
            longest = 4.0 * float(t.inner.diagonal().max() * t.square.max())
            if 2.0 * state.dual * longest > 1e8:
                state.status = Status.NOT_SEPARABLE


def _factor(old: Tables, new: Tables) -> Floats:
    if np.isfinite(old.upper).all() and np.isfinite(new.upper).all():
        return new.upper / old.upper
    if (old.ridge > 0).all() and (new.ridge > 0).all():
        return old.ridge / new.ridge
    return np.ones(len(new.upper))


def _stretch(state: AlphaState) -> None:
    """On a cone, the best multiple of alpha (see `PlaneBlocks.stretch`)."""
    t, alpha = state.tables, state.alpha
    linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
    ridge = float((t.ridge * alpha.sum(axis=1) ** 2).sum())
    curve = float(state.w @ state.w) + ridge
    if linear > 0.0 and curve > 0.0:
        alpha *= linear / curve
        state.w *= linear / curve


