"""Cutting planes for the linear summed error: OP2-1-slack.

    min  1/2 ||w||^2 + xi,    xi >= sum_i C_i sum_{y in S_i} (b_iy - <a_iy, w>)

for all n-tuples (S_1, .., S_n) of sets of outputs. At w the most violated tuple holds
the outputs of V_i that are violated, so a cut is the sum of their planes. Loops of
type I ask the oracle and let V_i grow first, loops of type II do not.

Losses enter as they are; the paper multiplies them by 10 here for multiclass data,
which is the same as `Hamming(cost=10 * ...)`, or w = 10 v and C / 10 for v.

[1] Balamurugan, Shevade, Babu 2012, Algorithm 1; Theorems 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.n_slack.sdm import type_one
from maxmargin.solvers.one_slack.cutting_plane import HELD, VECTORS, CutState
from maxmargin.solvers.one_slack.qp import maximise
from maxmargin.solvers.summed.violators import Violators


@dataclass(kw_only=True)
class TupleState(CutState):
    """Cuts, and the sets V_i they are made from."""

    sets: Violators
    loops: int = 0
    asks: bool = True


@dataclass(frozen=True)
class LSECuttingPlane(Solver[TupleState]):
    """Algorithm 1. A step is one loop, one cut, one QP.

    Parameters
    ----------
    patience : int
        Rounds without weight after which a cut is dropped.
    kappa1, kappa2, k, outside
        As in `SDCD`.
    memory : float
        Bytes at most: a quarter for cuts, the rest for planes, beyond which V_i stops
        growing.
    epsilon : float or None
        Stop by the rule of the paper: the new cut exceeds xi by at most epsilon
        (in sums of slacks, without C).
    """

    max_iter: int = 5000
    patience: int = 50
    memory: float = MEMORY
    kappa1: int = 10
    kappa2: int = 5
    k: int = 4
    outside: float = 1e-2
    epsilon: float | None = None
    penalties: ClassVar[tuple[str, ...]] = ("summed",)

    def start(self, problem: Problem, warm: State | None = None) -> TupleState:
        """No cuts, V_i empty."""
        room = 0.75 * self.memory - 8.0 * VECTORS * problem.dim
        sets = Violators(problem, self.k, max(room, 0.0))
        return TupleState(np.zeros(problem.dim), sets=sets, certificate="reduced")

    def step(self, problem: Problem, state: TupleState) -> None:
        """Grow V_i if due, add the most violated tuple, solve the QP."""
        asks = state.asks or type_one(state.loops, self.kappa1, self.kappa2)
        state.loops += 1
        share = self._grow(problem, state) if asks else np.inf
        a, b, slack = state.sets.cut(state.w, problem.C)
        primal = problem.primal(state.w, slack)
        gap = (primal - state.dual) / max(primal, 1e-300)
        state.gap_estimate = gap
        state.asks = gap <= self.tol
        if asks and (share <= self.outside or state.sets.full) and gap <= self.tol:
            state.primal = np.inf
            state.witness(problem, state.w, slack)
            return
        height = b - float(a @ state.w)
        xi = float(state.heights().max(initial=0.0))
        if self.epsilon is not None and height <= xi + self.epsilon * problem.C.mean():
            state.asks = True
            if asks:
                state.status = Status.WITHIN_EPSILON
                return
        state.add(a, b, 0.25 * HELD * self.memory)
        alpha = maximise(state.gram, state.b, state.alpha, 1.0)
        state.move_to(alpha, self.patience)
        state.planes = state.sets.blocks.planes
        state.fresh = False

    def certify(self, problem: Problem, state: TupleState) -> None:
        """Witness w on the sets as they are; note what is violated outside."""
        state.sets.certify(problem, state)

    def _grow(self, problem: Problem, state: TupleState) -> float:
        outside, share = state.sets.look_outside(problem, state)
        if share > self.outside or not state.asks:
            state.sets.add(outside, state.w)
        return share
