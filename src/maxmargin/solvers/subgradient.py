"""Stochastic subgradient steps (Pegasos), averaged: a baseline for every structure.

    w <- (1 - m / t) w + (n / t) sum_{i in block} alpha_i a_i,      t <- t + m

with m examples per block, a_i the highest plane of example i and alpha_i = C (linear
penalty) or C times its height (squared). Examples are drawn without replacement, so w
at the end of a pass is a feasible point of the dual, with mass alpha_i per example on
average. Its value, and that of the average of such points, are lower bounds: the run has
a certificate, though a loose one. The result is the weighted average (weights t) or the
last w, whichever has the lower primal value.

[1] Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos, 2011. [2] Ratliff, Bagnell,
    Zinkevich 2007 (structures). [3] Lacoste-Julien et al. 2012 (weights t).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.resting import permutation


@dataclass
class GradientState(State):
    """The iterate as a point of the dual, and averages."""

    seen: float = 0.0  # examples so far: t
    b: float = 0.0  # sum alpha b
    mass: Floats = field(default_factory=lambda: np.zeros(0))  # sum alpha per example
    mean: Floats = field(default_factory=lambda: np.zeros(0))  # of all iterates
    weight: float = 0.0  # of the mean so far
    feasible: Floats = field(default_factory=lambda: np.zeros(0))  # mean of pass ends
    feasible_b: float = 0.0
    feasible_mass: Floats = field(default_factory=lambda: np.zeros(0))
    passes: int = 0


@dataclass(frozen=True)
class Subgradient(Solver[GradientState]):
    """Averaged stochastic subgradient. A step is one pass over the examples.

    Parameters
    ----------
    block : int
        Examples per subgradient.
    """

    max_iter: int = 100
    block: int = 32
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: State | None = None) -> GradientState:
        """Zero weights."""
        n, dim = problem.n, problem.dim
        return GradientState(
            np.zeros(dim), mass=np.zeros(n), mean=np.zeros(dim),
            feasible=np.zeros(dim), feasible_mass=np.zeros(n),
        )  # fmt: skip

    def step(self, problem: Problem, state: GradientState) -> None:
        """One pass; certify both the last and the averaged weights."""
        n, C = problem.n, problem.C
        squared = problem.formulation.penalty == "squared"
        order = permutation(self.seed, state.passes, n)
        for s in range(0, n, self.block):
            cuts = problem.cuts(state.w, order[s : s + self.block])
            height = np.maximum(cuts.b - cuts.a.dot(state.w), 0.0)
            alpha = C[cuts.ids] * (height if squared else height > 0)
            state.seen += len(cuts.ids)
            keep, gain = 1.0 - len(cuts.ids) / state.seen, n / state.seen
            state.w *= keep
            state.w += cuts.a.total(problem.dim, gain * alpha)
            state.b = keep * state.b + gain * float(alpha @ cuts.b)
            state.mass *= keep
            state.mass[cuts.ids] += gain * alpha
            state.weight += state.seen
            share = state.seen / state.weight
            state.mean += share * (state.w - state.mean)
        state.oracle_calls += n
        state.passes += 1
        self._bound(problem, state)
        self.certify(problem, state)

    def certify(self, problem: Problem, state: GradientState) -> None:
        """Primal at the averaged and at the last weights."""
        for w in (state.mean, state.w) if state.passes else (state.w,):
            state.witness(problem, w, problem.cuts(w).slack)
            state.oracle_calls += problem.n

    def _bound(self, problem: Problem, state: GradientState) -> None:
        ridge = problem.dual_set.ridge
        share = 2.0 / (state.passes + 1.0)
        state.feasible += share * (state.w - state.feasible)
        state.feasible_b += share * (state.b - state.feasible_b)
        state.feasible_mass += share * (state.mass - state.feasible_mass)
        for w, b, mass in (
            (state.w, state.b, state.mass),
            (state.feasible, state.feasible_b, state.feasible_mass),
        ):
            value = b - 0.5 * float(w @ w) - 0.5 * float(ridge @ mass**2)
            state.dual = max(state.dual, value)
