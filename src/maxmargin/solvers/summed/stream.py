"""SDCD in batches: the linear summed error, online.

    max  sum alpha b - 1/2 ||sum alpha a||^2,       0 <= alpha_iy <= C_i,  y in V_i

for all examples so far. Each alpha has a box of its own, so an example that arrives adds
variables and changes no constraint of those there are. A step is a loop over the new
batch: ask for the worst outputs, let V_i grow, make steps on V_i; then sweep over the
sets of all batches. Inference is never run again for earlier batches, and their sets no
longer grow, so the certificate is "reduced".

[1] Balamurugan, Shevade, Babu 2012, sections IV and VI: online learning by SDCD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Rows
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.n_slack.stream import StreamState, blocks_before
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import permutation
from maxmargin.solvers.summed.loops import single_steps
from maxmargin.solvers.summed.violators import MOST, mark


@dataclass(kw_only=True)
class SummedStreamState(StreamState):
    """The sets V_i of all batches; outputs are told apart for the last batch only."""

    known: list[set[bytes]]  # of the new batch


@dataclass(frozen=True)
class SummedStream(Solver[SummedStreamState]):
    """SDCD on a growing sample. A step is a loop over the new batch.

    Parameters
    ----------
    block : int
        Examples per oracle call.
    k : int
        Outputs to ask for per example; 1 is the paper's most violated output alone.
    outside : float
        Share of the objective that new violated outputs of the batch may add at the end.
    sweeps : int
        Sweeps over the sets of all batches after each loop.
    as_written : bool
        As in Algorithm 2 of the paper, one step for each y in V_i, examples in the order
        of the data; else exact solutions of the blocks in random order.
    memory : float
        Bytes for the planes of all batches, beyond which V_i stops growing.
    """

    max_iter: int = 5000
    block: int = 16
    k: int = 4
    outside: float = 1e-2
    sweeps: int = 3
    as_written: bool = False
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("summed",)
    resumable: ClassVar[bool] = False

    def start(self, problem: Problem, warm: State | None = None) -> SummedStreamState:
        """The sets of the batches before, and empty ones for this batch."""
        blocks, batches = blocks_before(warm, problem, MOST, self.memory)
        seen = 0 if blocks is None else blocks.n
        if blocks is None:
            sizes = problem.n, problem.dim, problem.dual_set, MOST, self.memory
            blocks = PlaneBlocks(*sizes)
        else:
            blocks.extend(problem.dual_set)
        w, truth = blocks.weights(), problem.truth
        state = SummedStreamState(
            w, blocks.dual(w), blocks=blocks, fresh_from=seen, batches=batches,
            known=[{mark(truth.row(i))} for i in range(problem.n)],
            certificate="reduced",
        )  # fmt: skip
        state.notes["certifies"] = (
            f"the problem over the outputs found, of the last {problem.n} examples and "
            f"of the {seen} before"
        )
        return state

    def step(self, problem: Problem, state: SummedStreamState) -> None:
        """A loop over the new batch, then sweeps over all sets."""
        before, blocks = state.dual, state.blocks
        state.turn += 1
        turn = 1000 * state.batches + state.turn
        gaps, added, found = np.zeros(blocks.n), 0, 0.0
        order = self._order(turn, problem.n)
        for s in range(0, len(order), self.block):
            ids = order[s : s + self.block]
            new, height = self._grow(problem, state, ids)
            added, found = added + new, found + float(problem.C[ids] @ height)
            self._visit(state, ids + state.fresh_from, gaps)
            state.oracle_calls += len(ids)
            if state.late():
                break
        for k in range(self.sweeps):
            self._visit(state, self._order(100 * turn + k + 1, blocks.n), gaps)
        state.dual, state.planes = blocks.dual(state.w), blocks.planes
        gap = self._gap(state)
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.notes["outside_share"] = found / max(state.dual + gap, 1e-300)
        settled = state.notes["outside_share"] <= self.outside or added == 0
        if settled and state.gap_estimate <= self.tol:
            self._witness(state, gap)
        elif added == 0:
            state.judge(state.dual - before, 1e-13, 4)

    def _order(self, turn: int, n: int) -> Ints:
        """Examples in the order of a visit."""
        if self.as_written:
            return np.arange(n)
        return permutation(self.seed, turn, n)

    def _visit(self, state: SummedStreamState, ids: Ints, gaps: Floats) -> None:
        """Steps on the sets of these examples."""
        blocks = state.blocks
        if self.as_written:
            C = blocks.dual_set.upper
            single_steps(blocks.store, blocks.space, C, ids, state.w, gaps)
        else:
            blocks.sweep(ids, state.w, 0.0, gaps)

    def rounding(self, problem: Problem, state: SummedStreamState) -> float:
        """As for one batch, for all examples."""
        return super().rounding(problem, state) * state.blocks.n / max(problem.n, 1)

    def certify(self, problem: Problem, state: SummedStreamState) -> None:
        """Witness w on the sets as they are."""
        self._witness(state, self._gap(state))

    def _witness(self, state: SummedStreamState, gap: float) -> None:
        """The primal over the sets is the dual and the gap on them."""
        state.fresh = True
        state.primal, state.best_w = state.dual + gap, state.w.copy()

    def _gap(self, state: SummedStreamState) -> float:
        """Gap of the problem over the sets, at fixed alpha."""
        gaps = np.zeros(state.blocks.n)
        state.blocks.sweep(np.arange(state.blocks.n), state.w, np.inf, gaps)
        return float(gaps.sum())

    def _grow(
        self, problem: Problem, state: SummedStreamState, ids: Ints
    ) -> tuple[int, Floats]:
        """Add violated outputs to the V_i of `ids`: how many, and the highest of each.

        Planes are in the coordinates of w: others belong to the inputs of one batch.
        """
        cuts = problem.several(state.w, ids, problem.most(self.k))
        structure, x, truth = problem.structure, problem.x, problem.truth
        rank = np.concatenate([np.arange(c) for c in _runs(cuts.ids)])
        added, height = 0, np.zeros(problem.n)
        for r in range(int(rank.max(initial=-1)) + 1):
            rows = [
                q for q in np.flatnonzero(rank == r).tolist()
                if mark(cuts.labels.row(q)) not in state.known[int(cuts.ids[q])]
            ]  # fmt: skip
            if not rows:
                continue
            take = np.array(rows, np.int64)
            who, labels = cuts.ids[take], cuts.labels.take(take)
            own = structure.features(x, who, truth.take(who))
            a = own.minus(structure.features(x, who, labels))
            high = cuts.b[take] - a.dot(state.w)
            keep = np.flatnonzero(high > 0.0)
            if not state.blocks.fits(
                who[keep] + state.fresh_from, np.diff(a.ptr)[keep]
            ):
                break
            self._take(state, who[keep], a.take(keep), cuts.b[take[keep]], high[keep])
            for q in keep.tolist():
                state.known[int(who[q])].add(mark(labels.row(q)))
            np.maximum.at(height, who[keep], high[keep])
            added += len(keep)
        return added, height[ids]

    def _take(
        self, state: SummedStreamState, who: Ints, a: Rows, b: Floats, high: Floats
    ) -> None:
        """New outputs with alpha = 0."""
        state.blocks.take_in(
            who + state.fresh_from, a, b, high, state.w, news=-np.inf, closed=np.inf
        )


def _runs(ids: Ints) -> list[int]:
    """Lengths of the runs of equal neighbours."""
    ends = np.flatnonzero(np.diff(ids)) + 1
    return np.diff(np.concatenate(([0], ends, [len(ids)]))).tolist()
