"""OP2-n-slack: the linear summed error with one slack variable per example.

    min  1/2 ||w||^2 + sum_i C_i xi_i,   xi_i >= sum_{y in S_i} (l_i(y) - <a_iy, w>)

for all sets S_i of outputs. By Theorem 1 of [1] this is the problem with a slack for
each output: the largest right-hand side takes exactly the violated outputs. The sum of
their planes is a plane of example i, so the dual is that of SVM1,

    max  sum alpha b - 1/2 ||w||^2,   w = sum alpha a,   sum_S alpha_iS <= C_i,

with planes (a, b) of sets. A step is a pass: the oracle lets V_i grow, the violated part
of V_i becomes a plane of its example, and the dual is improved on the planes held.

[1] Balamurugan, Shevade, Babu 2012, problem OP2-n-slack and Theorem 1. The paper has no
    algorithm for it and goes on to one slack (Theorem 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Rows
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.formulations import DualSet
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.n_slack.sdm import type_one
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import permutation
from maxmargin.solvers.summed.loops import sum_violated
from maxmargin.solvers.summed.violators import Violators


@dataclass(kw_only=True)
class SetState(State):
    """The sets V_i, planes of subsets of them, and where in the schedule we are."""

    sets: Violators
    subsets: PlaneBlocks
    loops: int = 0
    made: int = 0  # constraints ever added


@dataclass(frozen=True)
class LSENSlack(Solver[SetState]):
    """Cutting planes for OP2-n-slack. A step is a pass over the examples.

    Parameters
    ----------
    kappa1, kappa2, k, outside
        As in `SDCD`.
    sweeps : int
        Sweeps over the planes held after each pass.
    most : int
        Constraints per example at most; then the two lightest are averaged.
    memory : float
        Bytes at most: a half for constraints, a half for V_i.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    >>> model = ChainSVM(penalty="summed", solver="lse-n-slack").fit(X, y)
    >>> model.result_.converged, model.result_.certificate
    (True, 'reduced')
    """

    max_iter: int = 5000
    kappa1: int = 10
    kappa2: int = 5
    k: int = 4
    outside: float = 1e-2
    sweeps: int = 5
    most: int = 200
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("summed",)

    def start(self, problem: Problem, warm: State | None = None) -> SetState:
        """V_i holds the truth, no constraints."""
        sets = Violators(problem, self.k, 0.5 * self.memory)
        parts = problem.outer_coordinates() if problem.exact else None
        simplex = DualSet(problem.C, np.zeros(problem.n), False)
        half = 0.5 * self.memory
        subsets = PlaneBlocks(problem.n, problem.dim, simplex, self.most, half, parts)
        return SetState(
            np.zeros(problem.dim), sets=sets, subsets=subsets, certificate="reduced"
        )

    def step(self, problem: Problem, state: SetState) -> None:
        """A pass at fixed w, which witnesses it; then planes and sweeps."""
        near = state.gap_estimate <= self.tol
        asks = near or type_one(state.loops, self.kappa1, self.kappa2)
        before, everyone = state.dual, np.arange(problem.n)
        state.loops += 1
        share, added = np.inf, 0
        if asks:
            outside, share = state.sets.look_outside(problem, state)
            if share > self.outside or not near:
                added = state.sets.add(outside, state.w)
        a, b, slack = self._violated(state.sets, everyone, state.w)
        gap = problem.primal(state.w, slack) - state.dual
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        settled = share <= self.outside or state.sets.full
        if asks and settled and state.gap_estimate <= self.tol:
            state.primal = np.inf
            state.witness(problem, state.w, slack)
            return
        visit = state.subsets.take_in(everyone, a, b, slack, state.w)
        state.made += int((visit.found > 0).sum())
        self._sweep(state)
        state.dual = state.subsets.dual(state.w)
        state.planes = state.sets.blocks.planes
        if added == 0:
            state.judge(state.dual - before, 1e-14, 6)

    def certify(self, problem: Problem, state: SetState) -> None:
        """Witness w on V_i as they are; note what is violated outside."""
        state.sets.certify(problem, state)
        state.notes["constraints_added"] = state.made

    def _violated(
        self, sets: Violators, ids: Ints, w: Floats
    ) -> tuple[Rows, Floats, Floats]:
        """The most violated S_i within V_i as planes (a, b), and their heights."""
        store = sets.blocks.store
        acc = np.zeros(int(store.width.max(initial=0)))
        ptr, idx, val, b, slack = sum_violated(store, sets.blocks.space, ids, w, acc)
        return Rows(ptr, idx, val), b, slack

    def _sweep(self, state: SetState) -> None:
        """Improve the dual on the planes held, in a few random orders."""
        n = state.subsets.n
        gaps = np.zeros(n)
        for k in range(self.sweeps):
            order = permutation(self.seed, self.sweeps * state.loops + k, n)
            state.subsets.sweep(order, state.w, 0.0, gaps)
