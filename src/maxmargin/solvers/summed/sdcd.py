"""SDCD: sequential dual coordinate descent for the linear summed error.

    max  sum alpha b - 1/2 ||sum alpha a||^2,       0 <= alpha_iy <= C,  y in V_i

Single variables move freely in their boxes. Type-I loops ask the oracle and let V_i
grow, type-II loops work on the sets as they are (kappa1 and kappa2 as in `sdm`).
A visit makes steps on the variable that gains most until the block is solved, where
the paper makes one step on each.

What is certified is the problem over V_i: `certificate` is "reduced", and `notes` say
how much the worst outputs outside V_i still violate. Training stops when the reduced
gap is at the tolerance and the new violated outputs that the oracle finds, one for
each example, would add less than `outside` of the objective; or, with `change`, by the
rule of the paper: a type-I loop that moves no example's alpha by more.

[1] Balamurugan, Shevade, Babu 2012, Algorithm 2 and equations IV.4-IV.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.n_slack.sdm import type_one
from maxmargin.solvers.resting import permutation
from maxmargin.solvers.summed.violators import Violators


@dataclass(kw_only=True)
class SummedState(State):
    """V_i and where in the schedule we are."""

    sets: Violators
    loops: int = 0
    asks: bool = True  # a type-I loop is due whatever the schedule says


@dataclass(frozen=True)
class SDCD(Solver[SummedState]):
    """Coordinate descent in the box. A step is one loop over the examples.

    Parameters
    ----------
    kappa1, kappa2 : int
        Type-I loops at the beginning, and one in kappa2 afterwards.
    k : int
        Outputs to ask for per example, where the structure has `nbest` for the loss;
        1 is the paper's most violated output alone.
    outside : float
        Share of the objective that new violated outputs may add at the end.
    change : float or None
        Stop by the rule of the paper instead, when no example's alpha moved by more
        in the squared sum, in units of C (1e-4 there, whose absolute reading would
        end the run after one loop at C = 0.01, since alpha <= C).
    block : int
        Examples per oracle call; 1 is the method of the paper.
    memory : float
        Bytes for planes, beyond which V_i stops growing.
    """

    max_iter: int = 5000
    kappa1: int = 10
    kappa2: int = 5
    k: int = 4
    outside: float = 1e-2
    change: float | None = None
    block: int = 16
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("summed",)

    def start(self, problem: Problem, warm: State | None = None) -> SummedState:
        """V_i empty, or those of an earlier run with alpha scaled to the new C."""
        if isinstance(warm, SummedState) and warm.sets.blocks.n == problem.n:
            sets, blocks = warm.sets, warm.sets.blocks
            blocks.carry_over(problem.dual_set)
        else:
            sets = Violators(problem, self.k, self.memory)
        w = sets.blocks.weights()
        dual = sets.blocks.dual(w)
        return SummedState(w, dual, sets=sets, certificate="reduced")

    def step(self, problem: Problem, state: SummedState) -> None:
        """One loop of the type that is due."""
        order = permutation(self.seed, state.loops, problem.n)
        gaps = np.zeros(problem.n)
        blocks = state.sets.blocks
        asks = state.asks or type_one(state.loops, self.kappa1, self.kappa2)
        state.loops += 1
        if asks:
            if self.change is None and state.gap_estimate <= self.tol:
                self._witness_or_grow(problem, state)
                if state.gap() <= self.tol:
                    return
            self._type_one(problem, state, order, gaps)
        else:
            blocks.sweep(order, state.w, 0.0, gaps)
        state.fresh = False
        state.dual, state.planes = blocks.dual(state.w), blocks.planes
        state.gap_estimate = _relative(float(gaps.sum()), state.dual)
        if state.gap_estimate <= 3.0 * self.tol:  # as seen on the way: look again
            state.gap_estimate = _relative(state.sets.gap(state.w), state.dual)
        state.asks = state.gap_estimate <= self.tol

    def certify(self, problem: Problem, state: SummedState) -> None:
        """Witness w on the sets as they are; note what is violated outside."""
        state.sets.certify(problem, state)

    def _witness_or_grow(self, problem: Problem, state: SummedState) -> None:
        """Witness if little is violated outside V_i; otherwise let V_i grow."""
        outside, share = state.sets.look_outside(problem, state)
        if share <= self.outside or state.sets.full:
            state.primal = np.inf
            state.witness(problem, state.w, state.sets.slacks(state.w))
        else:
            state.sets.add(outside, state.w)

    def _type_one(
        self, problem: Problem, state: SummedState, order: Ints, gaps: Floats
    ) -> None:
        before = state.sets.alphas() if self.change is not None else None
        added = 0
        for s in range(0, len(order), self.block):
            ids = order[s : s + self.block]
            outside = state.sets.look(problem, state.w, ids)
            state.oracle_calls += len(ids)
            added += state.sets.add(outside, state.w)
            state.sets.blocks.sweep(ids, state.w, 0.0, gaps)
            if state.late():
                break
        if before is not None and not state.late():
            most = float(self.change or 0.0) * problem.C**2
            if (state.sets.changes(before) <= most).all():
                state.status = Status.STEADY
        elif added == 0 and gaps.sum() <= 1e-13 * abs(state.dual):
            state.status = Status.NO_PROGRESS


def _relative(gap: float, dual: float) -> float:
    return gap / max(dual + gap, 1e-300)
