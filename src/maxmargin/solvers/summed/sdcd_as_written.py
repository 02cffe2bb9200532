"""SDCD as printed: Algorithm 2 of Balamurugan, Shevade, Babu 2012, line by line.

    alpha_iy <- min(max(alpha_iy + (l_i(y) - <w, a_iy>) / ||a_iy||^2, 0), C)      (IV.6)

A loop visits the examples in the order of the data. A loop of type I asks for the most
violated output of the example and adds it to V_i; then, in loops of both types, every y
in V_i gets one step, in order of arrival, and w follows each step. Loops 0 to kappa1 are
of type I, and one in kappa2 afterwards (lines 26-38).

Training ends after a loop of type I in which no example's sum of squared steps exceeds
the threshold (lines 20-28). The paper has 1e-4 for it. Read as printed ("absolute"), this
ends the run after one loop at C = 0.01, since no step can be longer than C; "relative"
takes it in units of C^2.

`SDCD` is our variant: exact block solves, random order, several outputs per question.
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
from maxmargin.solvers.summed.loops import single_steps
from maxmargin.solvers.summed.sdcd import SummedState
from maxmargin.solvers.summed.violators import Violators

RULES = ("absolute", "relative")


@dataclass(frozen=True)
class SDCDAsWritten(Solver[SummedState]):
    """Algorithm 2 of Balamurugan et al. 2012. A step is one loop over the examples.

    Parameters
    ----------
    kappa1, kappa2 : int
        Loops of type I at the beginning, and one in kappa2 afterwards.
    threshold : float
        `deltathresh` of the paper: an example whose steps of a loop have a larger sum of
        squares has changed.
    rule : {"absolute", "relative"}
        Whether the threshold is meant as it is, or in units of C^2.
    k : int
        Outputs per question; 1 is the paper. Its multiclass experiments have all
        outputs in V_i from the start, which a large k does.
    memory : float
        Bytes for planes, beyond which V_i stops growing.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    >>> solver = SDCDAsWritten(rule="relative")
    >>> model = ChainSVM(penalty="summed", solver=solver).fit(X, y)
    >>> model.result_.status.name
    'CONVERGED'
    """

    max_iter: int = 5000
    kappa1: int = 10
    kappa2: int = 5
    threshold: float = 1e-4
    rule: str = "absolute"
    k: int = 1
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("summed",)

    def refusal(self, problem: Problem) -> str | None:
        """The rule must be one of the two."""
        if self.rule in RULES:
            return None
        return f"rule={self.rule!r} is not known: choose 'absolute' or 'relative'"

    def start(self, problem: Problem, warm: State | None = None) -> SummedState:
        """V_i holds the truth, w = 0 (lines 2-5)."""
        sets = Violators(problem, self.k, self.memory)
        return SummedState(np.zeros(problem.dim), sets=sets, certificate="reduced")

    def step(self, problem: Problem, state: SummedState) -> None:
        """One loop over the examples (lines 7-39)."""
        asks = type_one(state.loops, self.kappa1, self.kappa2)
        state.loops += 1
        sets, changes = state.sets, np.zeros(problem.n)
        if asks:
            for i in range(problem.n):
                one = np.array([i])
                sets.add(sets.look(problem, state.w, one), state.w)
                self._visit(problem, sets, one, state.w, changes)
                state.oracle_calls += 1
                if state.late():
                    break
        else:
            self._visit(problem, sets, np.arange(problem.n), state.w, changes)
        state.dual, state.planes = sets.blocks.dual(state.w), sets.blocks.planes
        unit = problem.C**2 if self.rule == "relative" else 1.0
        if asks and not state.late() and (changes <= self.threshold * unit).all():
            state.status = Status.STEADY

    def _visit(
        self, problem: Problem, sets: Violators, ids: Ints, w: Floats, changes: Floats
    ) -> None:
        """One step for each y in V_i, for the examples `ids` in turn (lines 15-21)."""
        blocks = sets.blocks
        single_steps(blocks.store, blocks.space, problem.C, ids, w, changes)

    def certify(self, problem: Problem, state: SummedState) -> None:
        """Witness w on the sets as they are; note what is violated outside."""
        state.sets.certify(problem, state)
