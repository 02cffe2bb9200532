"""BCFW: block-coordinate Frank-Wolfe, with averaging, gap sampling and a plane cache.

    gap_i = C max_y [b_iy - <a_iy, w>] - sum_y alpha_iy [b_iy - <a_iy, w>]

A pass asks the oracle for `block` examples at a time and makes one step with line
search for each. By default one aggregated plane per example is all that is kept,
sparse. With `cache > 0` the planes stay (at most so many per example), and after each
oracle pass cached passes follow while they raise the dual faster per unit of work than
all passes since the oracle pass together (the slope rule of [3], work being counted,
not clocked). Pairwise and away steps need the cache.

The gap of the *averaged* weights is certified by an oracle pass of its own.

[1] Lacoste-Julien et al., ICML 2013, Algorithms 3 and 4. [2] Osokin et al., ICML 2016.
[3] Shah, Kolmogorov, Lampert: A multi-plane block-coordinate Frank-Wolfe algorithm,
    CVPR 2015, Algorithm 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.frank_wolfe.aggregates import Aggregates
from maxmargin.solvers.frank_wolfe.pairwise_away import RULES, Atoms
from maxmargin.solvers.resting import permutation

OVERHEAD = 300.0  # work of one visit beside its entries, in multiply-adds
REFRESH = 10  # with gap sampling, every so many passes visit all examples


@dataclass(kw_only=True)
class WolfeState(State):
    """Planes or their sums, and the gaps last seen."""

    kept: Aggregates | Atoms
    gaps: Floats
    work: Floats  # of a visit with inference, per example
    turn: int = 0
    check_at: int = 2
    trust: float = 1.0


@dataclass(frozen=True)
class BCFW(Solver[WolfeState]):
    """Block-coordinate Frank-Wolfe. A step is one oracle pass and its cached passes.

    Parameters
    ----------
    steps : {"toward", "pairwise", "away"}
        Direction of a step; the last two need `cache`.
    cache : int
        Planes per example at most; 0 keeps their sum only.
    average : bool
        Whether to return the weighted average of the iterates, where it is better.
    sampling : {"uniform", "gap"}
        Each example once per pass, or examples drawn with probability
        proportional to their gap when last seen.
    block : int
        Examples per oracle call; 1 is the method of the papers.
    sweeps : int
        Cached passes after an oracle pass at most.
    memory : float
        Bytes for planes at most.
    """

    max_iter: int = 5000
    steps: str = "toward"
    cache: int = 0
    average: bool = True
    sampling: str = "uniform"
    block: int = 16
    sweeps: int = 20
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("linear",)

    def __post_init__(self) -> None:
        """Refuse settings that do not go together."""
        if self.steps not in RULES:
            raise ValueError(f"steps={self.steps!r} is not one of {', '.join(RULES)}")
        if self.sampling not in ("uniform", "gap"):
            raise ValueError(f"sampling={self.sampling!r} is not 'uniform' or 'gap'")
        if self.steps != "toward" and self.cache < 2:
            raise ValueError(
                f"steps={self.steps!r} moves weight between planes: set cache to the "
                "number of planes to keep per example, at least 2"
            )

    def start(self, problem: Problem, warm: State | None = None) -> WolfeState:
        """All weight on the zero plane, or the sums of an earlier run."""
        n, upper = problem.n, problem.dual_set.upper
        kept: Aggregates | Atoms
        old = warm.kept if isinstance(warm, WolfeState) else None
        if self.cache == 0 and isinstance(old, Aggregates) and old.n == n:
            kept = old
            kept.rescale(upper)
        elif self.cache == 0:
            kept = Aggregates.of_problem(problem, upper, self.memory)
        else:
            kept = Atoms(problem, self.cache, self.memory, self.steps)
        w = kept.weights()
        return WolfeState(
            w, kept.dual(w), kept=kept, gaps=np.full(n, np.inf),
            work=problem.work() + OVERHEAD,
        )  # fmt: skip

    def step(self, problem: Problem, state: WolfeState) -> None:
        """An oracle pass, at fixed weights when it is time to certify, and sweeps."""
        state.turn += 1
        before, kept = state.dual, state.kept
        due = state.turn >= state.check_at
        if due or state.gap_estimate * state.trust <= self.tol:
            self.certify(problem, state)
            state.check_at = state.turn + max(2, state.turn // 3)
            if state.gap() <= self.tol:
                return
        rise, work = 0.0, 0.0
        order = self._order(problem, state)
        for s in range(0, len(order), self.block):
            ids = np.unique(order[s : s + self.block])
            cuts = self._planes(problem, state.w, ids)
            state.oracle_calls += len(ids)
            made, cost = kept.take_in(cuts, state.w, state.gaps)
            rise, work = rise + made, work + cost + state.work[ids].sum()
            if state.late():
                break
        if isinstance(kept, Atoms):
            self._sweep(state, kept, rise, work)
            if self.average:
                kept.average(state.w)
        gap = float(state.gaps.sum())
        state.fresh = False
        state.dual = max(state.dual, kept.dual(state.w))
        state.planes = kept.planes
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.judge(state.dual - before, 1e-13, 10)

    def certify(self, problem: Problem, state: WolfeState) -> None:
        """Witness the average, or w itself, by a full oracle pass; step with it too."""
        w, dual = state.w.copy(), state.kept.dual(state.w)
        if self.average:
            mean, at_mean = state.kept.mean(state.w)
            state.dual = max(state.dual, at_mean)
            # Late in the run the last iterate is often ahead: take the higher dual.
            if at_mean >= dual or state.gap_estimate > 10 * self.tol:
                w = mean
        slack = np.empty(problem.n)
        batch = state.kept.batch(self.memory)
        for s in range(0, problem.n, batch):
            ids = np.arange(s, min(s + batch, problem.n))
            cuts = self._planes(problem, w, ids)
            slack[cuts.ids] = cuts.slack
            state.kept.take_in(cuts, state.w, state.gaps)
        state.oracle_calls += problem.n
        primal = state.witness(problem, w, slack)
        state.dual = max(state.dual, dual)
        seen = state.gap_estimate * max(primal, 1e-300)
        if np.isfinite(seen) and seen > 0:
            state.trust = float(np.clip(1.1 * (primal - state.dual) / seen, 0.02, 1.0))

    def _planes(self, problem: Problem, w: Floats, ids: Ints) -> Cuts:
        """In coordinates of `parts` where their sums are kept, else of w."""
        return problem.cuts(w, ids) if self.cache else problem.planes(w, ids)

    def _order(self, problem: Problem, state: WolfeState) -> Ints:
        n = problem.n
        if self.sampling == "uniform" or state.turn % REFRESH == 1:
            return permutation(self.seed, state.turn, n)
        rng = np.random.default_rng([self.seed, state.turn])
        total = state.gaps.sum()
        if not np.isfinite(total) or total <= 0.0:
            return permutation(self.seed, state.turn, n)
        share = 0.9 * state.gaps / total + 0.1 / n  # stale gaps may be wrong
        return rng.choice(n, size=n, p=share / share.sum())

    def _sweep(self, state: WolfeState, kept: Atoms, rise: float, work: float) -> None:
        """Passes over the cached planes, while they pay."""
        n = len(state.gaps)
        for k in range(self.sweeps):
            order = permutation(self.seed + 1, 1000 * state.turn + k, n)
            made, cost = kept.cached(order, state.w, state.gaps)
            cost += OVERHEAD * n
            rise, work = rise + made, work + cost
            if made * work < rise * cost or state.late():
                break
