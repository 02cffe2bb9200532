"""L1 regularisation: proximal steps, each by ascent on its dual.

    min_w  ||w||_1 + sum_i C_i slack_i(w)                                    (OP1-L1)
    max_alpha  sum alpha b   with  |sum alpha a| <= 1 in every coordinate,
                                   sum_y alpha_iy <= C_i,  alpha >= 0

Many weights are exactly zero at the optimum. A proximal step adds ||w - anchor||^2 /
(2 sigma), which makes the dual smooth (see `loops`); when its gap is small against this
term the anchor moves to w. The problem is piecewise linear, so the anchor reaches an
optimum after finitely many exact steps.

The certificate: with v = sum alpha a, alpha / max(1, max |v|) satisfies all constraints
of the dual, so  sum alpha b / max(1, max |v|)  is a lower bound on the objective. max |v|
falls to 1 as the anchor comes to rest, since |v - g| = |w - anchor| / sigma for a
subgradient g of ||w||_1.

[1] Balamurugan, Shevade, Babu 2012, equation II.5 (OP1-L1). [2] Zhu, Xing, Zhang: Primal
    sparse max-margin Markov networks, 2009. [3] Rockafellar 1976 (proximal points).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.validation import require
from maxmargin.core.formulations import DualSet
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Result, Solver, State
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import permutation
from maxmargin.solvers.sparse.loops import improve, local_space, soft

SAMPLE = 64  # examples whose planes set the first sigma
GROWTH = 1.5  # of sigma, after steps that were easy; and back, after hard ones
PATIENCE = 3  # passes after which a proximal problem is too hard
SHARE = 0.1  # of the whole gap that the gap of a proximal problem may be
SMALLEST = 1e-100  # sigma
FIRST = 100.0  # sigma times the mean squared length of a plane, at first


@dataclass(kw_only=True)
class ProximalState(State):
    """Planes, v = sum alpha a, and the proximal step under way."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "C")

    blocks: PlaneBlocks
    C: Floats
    v: Floats
    anchor: Floats
    sigma: float
    passes: int = 0
    since: int = 0  # passes since the anchor moved
    anchors: int = 0  # times it moved

    def check_restored(self) -> None:
        """Refuse a sigma from a file that no run can have: it is divided by."""
        require(
            SMALLEST <= self.sigma <= 1.0 / SMALLEST,
            f"the checkpoint's sigma is {self.sigma!r}",
        )

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight for so many visits."""
        self.blocks.forget_idle(patience)


@dataclass(frozen=True)
class ProximalL1(Solver[ProximalState]):
    """The trainer for ``regularizer="l1"``. A step is a pass over the examples.

    Parameters
    ----------
    block : int
        Examples per oracle call.
    sweeps : int
        Sweeps over the planes held after each pass.
    steps : int
        Moves between two planes per visit of an example.
    most : int
        Planes per example at most.
    memory : float
        Bytes for planes at most.

    Examples
    --------
    >>> from maxmargin import MulticlassSVM
    >>> X = np.random.default_rng(0).normal(size=(50, 20))
    >>> y = (X[:, 0] > 0).astype(int)  # one feature of twenty matters
    >>> model = MulticlassSVM(C=0.2, regularizer="l1").fit(X, y)
    >>> model.score(X, y) > 0.9, model.result_.notes["weights_kept"] < 10
    (True, True)
    """

    max_iter: int = 2000
    block: int = 16
    sweeps: int = 8
    steps: int = 3
    most: int = 64
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    regularizers: ClassVar[tuple[str, ...]] = ("l1",)

    def start(self, problem: Problem, warm: State | None = None) -> ProximalState:
        """No planes, or those of an earlier run with alpha scaled to the new C."""
        dim, simplex = problem.dim, problem.dual_set
        if isinstance(warm, ProximalState) and warm.blocks.n == problem.n:
            blocks, anchor, sigma = warm.blocks, warm.w.copy(), warm.sigma
            blocks.rescale(simplex, blocks.dual_set.growth(simplex))
        else:
            sizes = _plain(simplex), self.most, self.memory
            blocks = PlaneBlocks.of_problem(problem, *sizes)
            anchor = np.zeros(dim)
            sigma = _first_sigma(problem)
        state = ProximalState(
            np.zeros(dim), blocks=blocks, C=problem.C, v=blocks.weights(),
            anchor=anchor, sigma=sigma, planes=blocks.planes,
        )  # fmt: skip
        soft(state.anchor, state.v, state.sigma, state.w)
        return state

    def step(self, problem: Problem, state: ProximalState) -> None:
        """A pass with the oracle, sweeps without, and the next anchor if it is time."""
        if state.gap_estimate <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        before = state.dual
        risk = self._ask(problem, state)
        gap = self._sweep(state)
        self._bound(state)
        state.fresh = False
        state.planes = state.blocks.planes
        seen = float(np.abs(state.w).sum()) + risk
        state.gap_estimate = max(seen - state.dual, 0.0) / max(seen, 1e-300)
        self._move_anchor(state, gap, max(seen - state.dual, 0.0))
        state.blocks.forget_idle(12)
        if state.gap_estimate > self.tol:
            small = state.dual - before <= 1e-12 * abs(state.dual)
            state.stalls = state.stalls + 1 if small else 0

    def certify(self, problem: Problem, state: ProximalState) -> None:
        """Witness w, and the anchor if it is another."""
        self._bound(state)
        super().certify(problem, state)

    def report(self, problem: Problem, state: ProximalState, result: Result) -> Result:
        """How many weights are not zero."""
        state.notes["weights_kept"] = int(np.count_nonzero(result.w))
        state.notes["proximal_steps"] = state.anchors
        result.notes.update(state.notes)
        return result

    def _ask(self, problem: Problem, state: ProximalState) -> float:
        """Ask the oracle for every example once; the risk as seen on the way."""
        order = permutation(self.seed, state.passes, problem.n)
        state.passes += 1
        state.since += 1
        gaps, risk = np.zeros(problem.n), 0.0
        for s in range(0, len(order), self.block):
            cuts = problem.cuts(state.w, order[s : s + self.block])
            state.oracle_calls += len(cuts.ids)
            risk += float(problem.C[cuts.ids] @ cuts.slack)
            state.blocks.take_in(*cuts[:4], state.w, closed=np.inf)
            self._improve(state, cuts.ids, gaps, self.steps)
            if state.late():
                break
        return risk

    def _sweep(self, state: ProximalState) -> float:
        """Improve the dual on the planes held; the gap that the last sweep found."""
        n = state.blocks.n
        gaps, total = np.zeros(n), np.inf
        for k in range(self.sweeps):
            order = permutation(self.seed + 1, self.sweeps * state.passes + k, n)
            self._improve(state, order, gaps, self.steps)
            total = float(gaps.sum())
            if total <= 0.1 * self._distance(state) or state.late():
                break
        return total

    def _improve(
        self, state: ProximalState, ids: Ints, gaps: Floats, steps: int
    ) -> None:
        store = state.blocks.store
        width, most = int(store.width[ids].max(initial=0)), state.blocks.most + 2
        improve(
            store, local_space(width, most), state.C, ids, state.anchor, state.sigma,
            state.v, state.w, steps, gaps,
        )  # fmt: skip

    def _distance(self, state: ProximalState) -> float:
        """||w - anchor||^2 / (2 sigma)."""
        move = state.w - state.anchor
        return float(move @ move) / (2.0 * state.sigma)

    def _bound(self, state: ProximalState) -> None:
        """The lower bound of alpha scaled into the dual's constraints, if it is higher."""
        linear = state.blocks.dual(np.zeros_like(state.w))
        scale = max(1.0, float(np.abs(state.v).max(initial=0.0)))
        state.dual = max(state.dual, linear / scale)

    def _move_anchor(self, state: ProximalState, gap: float, whole: float) -> None:
        """The anchor moves to w once the gap of the proximal problem is small.

        That is, against the proximal term, or against the gap of the whole problem.
        """
        small = max(0.5 * self._distance(state), SHARE * whole)
        if gap > small:
            if (
                state.since > PATIENCE
            ):  # the proximal problem is too hard: a shorter step
                state.sigma = max(state.sigma / GROWTH, SMALLEST)
                state.since = 0
                soft(state.anchor, state.v, state.sigma, state.w)
            return
        if state.since == 1 and gap <= 0.5 * small:
            state.sigma *= GROWTH
        state.anchor, state.since = state.w.copy(), 0
        state.anchors += 1
        soft(state.anchor, state.v, state.sigma, state.w)


def _plain(dual_set: DualSet) -> DualSet:
    """The dual set of the linear penalty."""
    return DualSet(dual_set.upper, dual_set.ridge, False)


def _first_sigma(problem: Problem) -> float:
    """In proportion to one over the mean squared length of a few planes."""
    ids = np.unique(np.linspace(0, problem.n - 1, min(SAMPLE, problem.n)).astype(int))
    a: Any = problem.cuts(np.zeros(problem.dim), ids).a
    square = float(a.val @ a.val) / max(len(ids), 1)
    return FIRST / max(square, 1e-12)
