"""Block coordinate ascent on the dual, the default trainer of most structures.

    max_alpha  sum_iy alpha_iy b_iy - 1/2 ||w||^2,
    w = sum_iy alpha_iy a_iy,   alpha >= 0,   sum_y alpha_iy <= C_i

Repeat until the duality gap is below `tol`:

1. For a block of examples, find the most violated constraint of each (loss-augmented
   inference, in parallel).
2. Add it to the working set of its example and solve that example's small QP exactly.
3. Sweep over the working sets a few times without inference, as long as this raises the
   dual faster per unit of work than step 1 did [1]. Work is counted, not timed, so that
   runs repeat bit for bit.

An example without a new constraint is skipped for some passes, each time twice as many
as before. Sweeps skip examples whose QP is solved. Constraints that have had no weight
for eight visits are dropped: more than half of all that were found.

When the gaps seen along the way suggest that `tol` is met, a full pass at fixed weights
certifies it. Its constraints are added like any others. While the gap is wide, the
running average of the weights, in which later ones count more, often has the lower
primal value; where training ends at such a gap, both are evaluated.

[1] Shah, Kolmogorov, Lampert: A multi-plane block-coordinate Frank-Wolfe algorithm
    for training structural SVMs with a costly max-oracle, 2015.
[2] Osokin et al.: Minding the gaps for block Frank-Wolfe optimization, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import Resting, permutation

# What a visit costs beside the oracle, in the oracle's multiply-adds (measured on
# chains): its own are scattered, so each counts more, and there is a fixed part.
PER_ENTRY, PER_VISIT, PER_PLANE = 4.0, 1000.0, 5000.0
SIZES = 8, 16, 32  # of blocks in the first, the second, and all further passes
SHARE = 20  # a block has one in so many of the examples, if that is less
RUN = 8  # neighbouring examples that are visited together
MEAN = 100.0  # work per weight after which w is taken into the average
WIDE = 0.02  # gap above which the average is often better than w
LONGEST_REST = 7  # passes that an example sits out at most
IDLE = 8  # visits without weight after which a constraint is dropped


@dataclass(kw_only=True)
class BlockState(State):
    """Planes, and what is known about each example."""

    blocks: PlaneBlocks
    work: Floats  # of a visit with inference, per example
    resting: Resting
    mean: Floats = field(default_factory=lambda: np.zeros(0))  # average of w
    taken: int = 0  # how often w was taken into it
    since: float = 0.0  # work since the last time
    turn: int = 0
    trust: float = 0.5  # certified gap / gap seen on the way, last time

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight for so many visits."""
        self.blocks.forget_idle(patience)


@dataclass(frozen=True)
class BlockDual(Solver[BlockState]):
    """Block coordinate ascent on the dual: working sets, exact steps, cached sweeps.

    See the module docstring for the steps of the algorithm.

    Parameters
    ----------
    block : int or None
        Number of examples per call of inference. None: one in twenty, but at most 8 in
        the first pass, where each answer changes w most, 16 in the second, then 32.
    most : int
        Largest size of a working set.
    memory : float
        Largest size of all working sets, in bytes.
    sweeps : int
        Largest number of sweeps between two passes with inference.
    average : bool
        Return the running average of the weights, in which later ones count more,
        instead of the last weights. The certificate is that of the average. It often
        predicts better when training is stopped early, but closes the gap later.
    """

    block: int | None = None
    most: int = 64
    memory: float = MEMORY
    sweeps: int = 30
    average: bool = False

    def start(self, problem: Problem, warm: State | None = None) -> BlockState:
        """No planes, or those of an earlier run with alpha scaled to the new C."""
        n = problem.n
        if isinstance(warm, BlockState) and warm.blocks.n == n:
            blocks = warm.blocks
            blocks.carry_over(problem.dual_set)
        else:
            sizes = problem.dual_set, self.most, self.memory
            parts = problem.outer_coordinates()
            blocks = PlaneBlocks.of_problem(problem, *sizes, parts)
        w = blocks.weights()
        state = BlockState(
            w, blocks=blocks, work=problem.work() + PER_PLANE,
            resting=Resting(n, LONGEST_REST), mean=w.copy(),
            turn=len(SIZES) if blocks.planes else 0,
        )  # fmt: skip
        state.dual, state.planes = blocks.dual(w), blocks.planes
        return state

    def step(self, problem: Problem, state: BlockState) -> None:
        """One pass with inference over the examples that are not skipped, then sweeps."""
        state.turn += 1
        if state.gap_estimate * state.trust <= self.tol:
            gap, rise, work = self._certified_pass(problem, state)
            if state.gap() <= self.tol:
                return
        else:
            gap, rise, work = self._pass(problem, state)
        rise = self._sweep(problem, state, gap, rise, work)
        if np.isinf(problem.dual_set.upper).any():
            state.blocks.stretch(state.w)
        state.blocks.forget_idle(IDLE)
        state.fresh = False
        state.dual = state.blocks.dual(state.w)
        state.planes = state.blocks.planes
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        if state.judge(rise, 1e-16, 4):
            state.resting.wake_all()
        if problem.formulation.penalty == "hard" and hopeless(state.blocks, state.dual):
            state.status = state.status or Status.NOT_SEPARABLE

    def certify(self, problem: Problem, state: BlockState) -> None:
        """Evaluate w, or the average if asked for; both while the gap is wide."""
        points = [state.mean if self.average else state.w]
        if not self.average and state.taken and state.gap_estimate > WIDE:
            points.append(state.mean)
        for point in points:
            state.oracle_calls += problem.n
            risk = problem.risk_at(point)
            state.keep(problem, point, problem.primal_at(point, risk))

    def _pass(
        self, problem: Problem, state: BlockState, among: Ints | None = None
    ) -> tuple[float, float, float]:
        """Inference and block steps for the examples that are not skipped.

        Returns the gaps seen, the rise of the dual, and the work.
        """
        early = state.turn < len(SIZES)
        order = permutation(self.seed, state.turn, problem.n, 1 if early else RUN)
        if among is not None:
            order = order[np.isin(order, among)]
        awake = state.resting.next_pass(order)
        gap, rise, work = 0.0, 0.0, 0.0  # examples that are skipped had hardly a gap
        most = SIZES[state.turn - 1] if early else SIZES[-1]
        block = self.block or int(np.clip(problem.n // SHARE, 1, most))
        for s in range(0, len(awake), block):
            ids = awake[s : s + block]
            cuts = problem.planes(state.w, ids)
            state.oracle_calls += len(ids)
            g, r, k = self._take(problem, state, cuts)
            k += float(state.work[ids].sum())
            gap, rise, work = gap + g, rise + r, work + k
            _average(state, k)
            if state.late():
                break
        return gap, rise, work

    def _certified_pass(
        self, problem: Problem, state: BlockState
    ) -> tuple[float, float, float]:
        wide = self.tol >= WIDE and problem.formulation.penalty == "linear"
        point = state.mean if self.average or (wide and state.taken) else state.w
        point, slack = point.copy(), np.empty(problem.n)
        state.dual = state.blocks.dual(state.w)
        rise, work = 0.0, float(state.work.sum())
        batch = state.blocks.batch(self.memory)
        cuts = problem.planes(point, np.arange(min(batch, problem.n)))
        slack[cuts.ids] = cuts.slack
        for s in range(batch, problem.n, batch):
            _, r, k = self._take(problem, state, cuts)
            rise, work = rise + r, work + k
            cuts = problem.planes(point, np.arange(s, min(s + batch, problem.n)))
            slack[cuts.ids] = cuts.slack
        state.oracle_calls += problem.n
        primal = state.witness(problem, point, slack)
        gap = primal - state.dual
        if state.gap() <= self.tol:  # the planes in hand are not needed any more
            return gap, 0.0, 0.0
        seen = max(state.gap_estimate * primal, 1e-300)
        state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))
        _, r, k = self._take(problem, state, cuts)
        return gap, rise + r, work + k

    def _take(
        self, problem: Problem, state: BlockState, cuts: Cuts
    ) -> tuple[float, float, float]:
        """Add planes to the working sets and solve the blocks of their examples."""
        visit = state.blocks.take_in(
            cuts.ids, cuts.a, cuts.b, cuts.slack, state.w, news=1e-9
        )
        state.resting.visited(cuts.ids, visit.found < 0)
        return visit.gap, visit.rise, PER_ENTRY * visit.work

    def _sweep(
        self, problem: Problem, state: BlockState, gap: float, rise: float, work: float
    ) -> float:
        """Sweep as long as it raises the dual fast; returns the rise of the whole step."""
        counts = state.blocks.counts()
        held = np.flatnonzero(counts)
        gaps = np.full(problem.n, np.inf)
        closed = 0.02 * self.tol * max(state.dual + gap, 0.0) / problem.n
        if state.stalls > 0 or problem.formulation.penalty == "hard":
            closed = 0.0
        for k in range(self.sweeps):
            turn = 1000 * state.turn + k
            order = held[permutation(self.seed + 1, turn, len(held), RUN)]
            if k > 0:
                # Only the widest gaps: the others wait for the next pass with inference.
                order = order[gaps[order] > max(closed, 0.3 * gaps[held].mean())]
            if len(order) == 0:
                break
            made, cost = state.blocks.sweep(order, state.w, closed, gaps)
            cost = PER_ENTRY * cost + PER_VISIT * len(order)
            rise, work = rise + made, work + cost
            _average(state, cost)
            if made * work < rise * cost or state.late():
                break
        return rise


def _average(state: BlockState, work: float) -> None:
    """Add w to the running average, as often as this is cheap beside the other work.

    mean_k+1 = (k mean_k + 2 w) / (k + 2), as in Frank-Wolfe.
    """
    state.since += work
    if len(state.mean) and state.since >= MEAN * len(state.w):  # shards keep none
        state.mean += 2.0 / (state.taken + 2.0) * (state.w - state.mean)
        state.taken, state.since = state.taken + 1, 0.0


def hopeless(blocks: PlaneBlocks, dual: float) -> bool:
    """Whether the dual has grown past what any separating weights would allow.

    Weak duality: if w separates, 1/2 ||w||^2 >= dual. A dual so large means that the
    margin 1 / ||w|| would be below 1e-4 of the longest plane.
    """
    return 2.0 * dual * blocks.radius() > 1e8
