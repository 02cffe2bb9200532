"""Algorithm 1 of Tsochantaridis et al. 2005: cutting planes with n slacks.

For one example after the other, find the most violated output; if it is violated by
more than epsilon beyond the example's slack on the working set S_i, add it and

    variant (a), `NSlack`:       re-optimise the dual over all of S
    variant (b), `NSlackBlock`:  re-optimise over S_i only, over all of S once a pass

A pass that adds nothing leaves w as it was, so its slacks certify the result. The
epsilon of the paper can be given; by default it starts at a tenth of the loss and
halves whenever a pass adds nothing, until the duality gap is at the tolerance.

[1] Tsochantaridis et al. 2005, Algorithm 1, lines 1-14; Theorem 18 bounds |S|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.n_slack.block_dual import hopeless
from maxmargin.solvers.planes.blocks import PlaneBlocks


@dataclass(kw_only=True)
class WorkingSets(State):
    """The working sets S_i as blocks of planes."""

    blocks: PlaneBlocks
    epsilon: float = 0.1
    made: int = 0  # constraints ever added

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight for so many visits."""
        self.blocks.forget_idle(patience)


@dataclass(frozen=True)
class NSlack(Solver[WorkingSets]):
    """Variant (a): full optimisation after every added constraint.

    Parameters
    ----------
    epsilon : float or None
        Violation beyond the slack at which a constraint is added. A number is kept
        as it is and ends the run when no constraint is violated by more.
    most : int
        Constraints per example at most; then the lightest two are averaged.
    memory : float
        Bytes for constraints at most.
    """

    epsilon: float | None = None
    most: int = 1000
    memory: float = MEMORY

    def start(self, problem: Problem, warm: State | None = None) -> WorkingSets:
        """Empty working sets, or those of an earlier run."""
        epsilon = 0.1
        parts = problem.outer_coordinates() if problem.exact else None
        if isinstance(warm, WorkingSets) and warm.blocks.n == problem.n:
            blocks, epsilon = warm.blocks, warm.epsilon
            blocks.carry_over(problem.dual_set)
        else:
            sizes = problem.dual_set, self.most, self.memory
            blocks = PlaneBlocks.of_problem(problem, *sizes, parts)
        w = blocks.weights()
        if self.epsilon is not None:
            epsilon = self.epsilon
        state = WorkingSets(w, blocks=blocks, epsilon=epsilon)
        if blocks.planes:  # optimal for another C, perhaps
            self.optimise_all(problem, state)
        state.dual, state.planes = blocks.dual(state.w), blocks.planes
        return state

    def step(self, problem: Problem, state: WorkingSets) -> None:
        """One pass over the examples."""
        changed, slack = 0, np.full(problem.n, np.inf)
        for i in range(problem.n):
            ask = problem.planes if problem.exact else problem.cuts
            cuts = ask(state.w, np.array([i]))
            state.oracle_calls += 1
            slack[i] = cuts.slack[0]
            if self._violated(problem, state, cuts):
                state.blocks.take_in(
                    cuts.ids, cuts.a, cuts.b, cuts.slack, state.w, state.epsilon
                )
                changed += 1
                self.optimise(problem, state, i)
            if state.late():
                break
        state.made += changed
        state.notes["constraints_added"] = state.made
        if changed:
            self.optimise_all(problem, state)
        state.planes = state.blocks.planes
        state.dual = state.blocks.dual(state.w)
        self._judge(problem, state, changed, slack)

    def _violated(self, problem: Problem, state: WorkingSets, cuts: Cuts) -> bool:
        """Whether the plane is higher than the slack on S_i by more than epsilon.

        Only then is the block touched: a pass without any leaves w as it was.
        """
        height = float(cuts.slack[0])
        if not problem.exact:
            height = float(cuts.b[0] - cuts.a.dot(state.w)[0])
        held = state.blocks.heights(int(cuts.ids[0]), state.w)
        return height > held.max(initial=0.0) + state.epsilon

    def optimise(self, problem: Problem, state: WorkingSets, i: int) -> None:
        """After a constraint of example i was added (line 10a)."""
        self.optimise_all(problem, state)

    def optimise_all(self, problem: Problem, state: WorkingSets) -> None:
        """Sweep over all working sets until their gaps are closed."""
        held = np.flatnonzero(state.blocks.counts())
        _close(state, held, 0.01 * self.tol)

    def _judge(
        self,
        problem: Problem,
        state: WorkingSets,
        changed: int,
        slack: Floats,
    ) -> None:
        hard = problem.formulation.penalty == "hard"
        if changed == 0 and not np.isinf(slack).any():  # all seen, at the same w
            state.witness(problem, state.w, slack)
            if self.epsilon is not None:
                state.status = Status.WITHIN_EPSILON
            elif state.epsilon < 1e-12:
                state.status = Status.NO_PROGRESS
            else:
                state.epsilon *= 0.5
        elif hard and hopeless(state.blocks, state.dual):
            state.status = Status.NOT_SEPARABLE


@dataclass(frozen=True)
class NSlackBlock(NSlack):
    """Variant (b): subspace ascent on the working set that changed."""

    def optimise(self, problem: Problem, state: WorkingSets, i: int) -> None:
        """Line 10b: only S_i, which `take_in` has just done."""
        _close(state, np.array([i]), 0.0, rounds=3)


def _close(state: WorkingSets, order: Ints, tol: float, rounds: int = 10_000) -> None:
    """Sweep until the gaps of all blocks add up to `tol` times the dual."""
    blocks, w = state.blocks, state.w
    gaps = np.full(blocks.n, np.inf)
    cone = bool(np.isinf(blocks.dual_set.upper).any())
    hard = cone and not blocks.dual_set.ridge.any()
    for _ in range(rounds):
        rise, _ = blocks.sweep(order, w, 0.0, gaps)
        if cone:
            blocks.stretch(w)
        dual = blocks.dual(w)
        if hard and 2.0 * dual * blocks.radius() > 1e8:
            break
        closed = gaps[order].sum() <= tol * abs(dual) or rise <= 1e-15 * abs(dual)
        if closed or state.late():
            break
