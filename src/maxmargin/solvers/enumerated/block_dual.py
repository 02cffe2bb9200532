"""Block dual over all outputs at once, where they are few and psi is a product.

With psi(x, y) = phi(x) (x) Lambda(y) every plane of example i is a multiple of
phi(x_i), so nothing is stored but alpha (n, k): a visit fills the example's scores,
solves its block exactly, and adds one multiple of phi(x_i) per output feature to w.
No oracle is needed: a visit to all outputs also gives the gap of the example.

A step is one sweep over all outputs of the examples not skipped, then sweeps over
the outputs with alpha > 0 only, while these raise the dual fast enough for their work.
Examples without a gap are skipped for some passes, each time twice as many as before.
When the gaps seen on the way suggest that the tolerance is met, a pass at fixed weights
certifies it. With canonical outputs
and the linear penalty this is the sequential dual method for Crammer-Singer problems.

[1] Keerthi et al.: A sequential dual method for large scale multi-class linear SVMs,
    KDD 2008. [2] Balamurugan et al. 2012, Algorithm 2 (type-I and type-II loops).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.formulations import DualSet
from maxmargin.core.problem import Problem
from maxmargin.core.structure import FewOutputs
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.enumerated.loops import (
    Tables,
    slacks,
    squares,
    sweep,
    weights,
)
from maxmargin.solvers.resting import Resting

LONGEST_REST = 7  # passes that an example sits out at most
CLOSED = 0.05  # of the gap allowed per example: below it an example rests
SMALL = 0.1  # of the present gap per example: the same
SWEEPS = 30  # over outputs held, between two over all
SLOPE = 0.5  # of the rise per work of the step so far: below it sweeps end


def tables_of(problem: Problem) -> Tables:
    """The problem in factored form."""
    outputs = problem.outputs()
    assert outputs is not None  # `needs`
    vectors, lambdas = outputs.product
    form, dual_set = problem.formulation, problem.dual_set
    b = np.ascontiguousarray(form.plane_offset(outputs.delta))
    k = len(lambdas)
    c = b.copy() if form.scales else np.ones_like(b)
    plain = np.array_equal(lambdas, np.eye(*lambdas.shape))
    unit = bool((c[~np.eye(k, dtype=bool)] == 1.0).all())
    even = plain and unit and not dual_set.box
    return Tables(
        *vectors, lambdas, plain, even, lambdas @ lambdas.T,
        squares(vectors.ptr, vectors.val), outputs.truth, b, c,
        dual_set.upper, dual_set.ridge, dual_set.box,
    )  # fmt: skip


def growth(old: Tables, problem: Problem) -> Floats:
    """Factor on alpha of each example that carries it over to another C."""
    return DualSet(old.upper, old.ridge, old.box).growth(problem.dual_set)


@dataclass(kw_only=True)
class AlphaState(State):
    """Dual variables of all outputs."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "tables")

    tables: Tables
    alpha: Floats  # (n, outputs)
    resting: Resting
    gaps: Floats  # (n,) over all outputs
    within: Floats  # (n,) over those held
    turn: int = 0
    trust: float = 0.4

    @classmethod
    def of(cls, problem: Problem, warm: State | None = None) -> AlphaState:
        """Alpha zero, or that of an earlier run scaled to the new C."""
        tables = tables_of(problem)
        n, k = problem.n, len(tables.lambdas)
        alpha, factor = np.zeros((n, k)), np.ones(n)
        if isinstance(warm, AlphaState) and warm.alpha.shape == alpha.shape:
            factor = growth(warm.tables, problem)
            alpha = warm.alpha * factor[:, None]
        w = np.zeros(problem.dim)
        weights(tables, alpha, w)
        state = AlphaState(
            w, tables=tables, alpha=alpha, resting=Resting(n, LONGEST_REST),
            gaps=np.full(n, np.inf), within=np.zeros(n),
        )  # fmt: skip
        state.refresh()
        if (factor > 1.0).any():
            state.shorten()
        return state

    def shorten(self) -> None:
        """Move alpha back along its own ray where the dual falls: after a larger C."""
        mass = self.alpha.sum(axis=1)
        quadratic = float(self.w @ self.w) + float((self.tables.ridge * mass**2).sum())
        linear = self.dual + 0.5 * quadratic
        if 0.0 < linear < quadratic:
            self.alpha *= linear / quadratic
            self.w *= linear / quadratic
            self.refresh()

    def refresh(self) -> None:
        """Compute the dual from alpha and w."""
        t, alpha = self.tables, self.alpha
        linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth]))
        mass = alpha.sum(axis=1)
        ridge = float((t.ridge * mass**2).sum())
        self.dual = linear - 0.5 * float(self.w @ self.w) - 0.5 * ridge
        self.planes = int(np.count_nonzero(alpha))

    def stretch(self) -> None:
        """On a cone, the best multiple of alpha (see `PlaneBlocks.stretch`)."""
        self._stretch_about(np.zeros_like(self.w))

    def _stretch_about(self, centre: Floats) -> None:
        """The factor f on alpha for which the dual at w = centre + f * (..) is highest."""
        t, alpha, own = self.tables, self.alpha, self.w - centre
        linear = float(np.einsum("ik,ik->", alpha, t.b[t.truth])) - float(centre @ own)
        ridge = float((t.ridge * alpha.sum(axis=1) ** 2).sum())
        curve = float(own @ own) + ridge
        if linear > 0.0 and curve > 0.0:
            alpha *= linear / curve
            self.w[:] = centre + linear / curve * own


@dataclass(frozen=True)
class Enumerated(Solver[AlphaState]):
    """Exact block steps over all outputs; see the module docstring for a step."""

    max_iter: int = 10_000
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard", "summed")
    needs: ClassVar[tuple[type, ...]] = (FewOutputs,)

    def start(self, problem: Problem, warm: State | None = None) -> AlphaState:
        """Alpha zero, or that of an earlier run scaled to the new C."""
        return AlphaState.of(problem, warm)

    def step(self, problem: Problem, state: AlphaState) -> None:
        """One sweep, or a certifying pass when the gaps suggest that it is time."""
        state.turn += 1
        if state.gap_estimate * state.trust <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        before = state.dual
        gap = max(SMALL * min(state.gap_estimate, 1.0), CLOSED * self.tol)
        closed = gap * abs(state.dual) / len(state.gaps)
        rng = np.random.default_rng([self.seed, state.turn])
        order, rise, work = self._sweep_all(state, rng, closed)
        self._sweep_held(state, rng, closed, order, rise, work)
        state.fresh = False
        if np.isinf(state.tables.upper).any():
            state.stretch()
            state.refresh()
        if state.judge(state.dual - before, 1e-13, 5):
            state.resting.wake_all()
        if problem.formulation.penalty == "hard" and _hopeless(state):
            state.status = state.status or Status.NOT_SEPARABLE

    def _sweep_all(
        self, state: AlphaState, rng: np.random.Generator, closed: float
    ) -> tuple[Ints, float, float]:
        """Visit the examples not skipped; returns those whose gap is not closed."""
        order = rng.permutation(state.resting.next_pass(np.arange(len(state.gaps))))
        rise, work = sweep(
            state.tables, order, False, state.w, state.alpha, state.gaps, closed
        )
        state.oracle_calls += len(order)
        state.dual += rise
        done = state.gaps[order] <= closed
        state.resting.visited(order, done)
        gap = float(state.gaps.sum())
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        return order[~done], rise, work

    def _sweep_held(
        self, state: AlphaState, rng: np.random.Generator, closed: float,
        order: Ints, rise: float, work: float,
    ) -> None:  # fmt: skip
        """Sweeps over the outputs with alpha > 0, while they pay."""
        for _ in range(SWEEPS):
            if len(order) == 0 or state.late():
                break
            order = rng.permutation(order)
            made, cost = sweep(
                state.tables, order, True, state.w, state.alpha, state.within, closed
            )
            state.dual += made
            rise, work = rise + made, work + cost
            order = order[state.within[order] > closed]
            if made * work < SLOPE * rise * cost:
                break

    def certify(self, problem: Problem, state: AlphaState) -> None:
        """Slacks of all examples at w; for the summed error the sums of slacks."""
        slack = slacks(state.tables, state.w)
        state.oracle_calls += problem.n
        seen = state.gap_estimate
        primal = state.witness(problem, state.w, slack)
        state.refresh()
        self._learn_trust(state, seen, primal)

    def _learn_trust(self, state: AlphaState, seen: float, primal: float) -> None:
        """Compare the gap with what was seen of it on the way."""
        if np.isfinite(seen) and seen > 0 and np.isfinite(primal):
            gap = (primal - state.dual) / max(primal, 1e-300)
            state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))


def _hopeless(state: AlphaState) -> bool:
    """Whether no weights can separate: see `n_slack.block_dual.hopeless`."""
    t = state.tables
    longest = 4.0 * float(t.inner.diagonal().max() * t.square.max())
    return 2.0 * state.dual * longest > 1e8
