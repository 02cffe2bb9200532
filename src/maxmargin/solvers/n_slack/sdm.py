"""SDM, the sequential dual method: type-I loops with the oracle, type-II without.

    max  sum alpha b - 1/2 ||sum alpha a||^2,      sum_y alpha_iy <= C,  alpha >= 0

A type-I loop visits the examples in turn, asks for the most violated output, adds it
to V_i and improves the dual on V_i by steps on pairs; a type-II loop does the same
on the sets V_i as they are. The first kappa1 loops are of type I, then one in kappa2.

When the gaps seen in a type-I loop suggest that the tolerance is met, the next one
asks at fixed weights, which certifies them; its planes are taken in like any others.

[1] Balamurugan, Shevade, Sundararajan, Keerthi: A sequential dual method for
    structural SVMs, SDM 2011. [2] Balamurugan et al. 2012, section IV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.n_slack.block_dual import BlockState
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import permutation


@dataclass(kw_only=True)
class LoopState(State):
    """The sets V_i, and where in the schedule we are."""

    blocks: PlaneBlocks
    loops: int = 0
    trust: float = 1.0  # certified gap / gap seen on the way, last time

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight for so many visits."""
        self.blocks.forget_idle(patience)


@dataclass(frozen=True)
class SDM(Solver[LoopState]):
    """Sequential dual method. A step is one loop over the examples.

    Parameters
    ----------
    kappa1 : int
        Loops of type I at the beginning.
    kappa2 : int
        After these, every kappa2-th loop is of type I.
    block : int
        Examples per oracle call; 1 is the method of the paper.
    most : int
        Planes per example at most.
    memory : float
        Bytes for planes at most.
    """

    max_iter: int = 5000
    kappa1: int = 10
    kappa2: int = 5
    block: int = 16
    most: int = 64
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: State | None = None) -> LoopState:
        """Empty sets, or those of an earlier run with alpha scaled to the new C."""
        n = problem.n
        if isinstance(warm, LoopState | BlockState) and warm.blocks.n == n:
            blocks, dual_set = warm.blocks, problem.dual_set
            blocks.carry_over(dual_set)
        else:
            sizes = problem.dual_set, self.most, self.memory
            parts = problem.outer_coordinates()
            blocks = PlaneBlocks.of_problem(problem, *sizes, parts)
        w = blocks.weights()
        return LoopState(w, blocks.dual(w), planes=blocks.planes, blocks=blocks)

    def step(self, problem: Problem, state: LoopState) -> None:
        """One loop of the type that is due."""
        before = state.dual
        asks = type_one(state.loops, self.kappa1, self.kappa2)
        order = permutation(self.seed, state.loops, problem.n)
        state.loops += 1
        if not asks:
            gaps = np.zeros(problem.n)
            state.blocks.sweep(order, state.w, 0.0, gaps)
        elif state.gap_estimate * state.trust <= self.tol:
            self._certified_loop(problem, state)
            if state.gap() <= self.tol:
                return
        else:
            gap = 0.0
            for s in range(0, len(order), self.block):
                cuts = problem.planes(state.w, order[s : s + self.block])
                state.oracle_calls += len(cuts.ids)
                gap += state.blocks.take_in(*cuts[:4], state.w).gap
                if state.late():
                    break
            state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.fresh = False
        state.dual = state.blocks.dual(state.w)
        state.planes = state.blocks.planes
        if asks:
            state.judge(state.dual - before, 1e-13, 4)

    def _certified_loop(self, problem: Problem, state: LoopState) -> None:
        """All examples at the same weights; planes are held for some of them at a time."""
        point, slack = state.w.copy(), np.empty(problem.n)
        batch = state.blocks.batch(self.memory)
        cuts = problem.planes(point, np.arange(min(batch, problem.n)))
        slack[cuts.ids] = cuts.slack
        for s in range(batch, problem.n, batch):
            state.blocks.take_in(*cuts[:4], state.w)
            cuts = problem.planes(point, np.arange(s, min(s + batch, problem.n)))
            slack[cuts.ids] = cuts.slack
        state.oracle_calls += problem.n
        primal = state.witness(problem, point, slack)
        gap = (primal - state.dual) / max(primal, 1e-300)
        seen = max(state.gap_estimate, gap, 1e-300)
        state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1))
        state.gap_estimate = gap
        if state.gap() > self.tol:
            state.blocks.take_in(*cuts[:4], state.w)


def type_one(loops: int, kappa1: int, kappa2: int) -> bool:
    """Whether the loop after `loops` loops asks the oracle (Algorithm 2, lines 26-38).

    Examples
    --------
    >>> [k for k in range(12) if type_one(k, 2, 3)]
    [0, 1, 2, 6, 9]
    """
    since = loops - kappa1 - 1
    return since < 0 or (since > 0 and since % kappa2 == 0)
