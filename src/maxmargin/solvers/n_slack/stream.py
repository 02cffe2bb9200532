"""Training in batches: inference for the new examples, planes of all examples.

    max  dual over the planes of all examples so far

Inference is never run again for examples of earlier batches. Their planes stay and are
improved together with those of the new batch. The certificate is "reduced": it is that of
the problem in which old examples have only the planes that were found for them.

[1] Balamurugan, Shevade, Babu 2012, section VI (online learning from the dual).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, permutation
from maxmargin.solvers.planes.blocks import PlaneBlocks


@dataclass(kw_only=True)
class StreamState(State):
    """Planes of all batches; the last `fresh_from:` examples are the new batch."""

    blocks: PlaneBlocks
    fresh_from: int = 0
    batches: int = 0
    turn: int = 0


@dataclass(frozen=True)
class StreamDual(Solver[StreamState]):
    """Block dual on a growing sample. A step is a pass over the new batch.

    Parameters
    ----------
    block : int
        Examples per oracle call.
    most : int
        Planes per example at most.
    memory : float
        Bytes for the planes of all batches at most: old planes are merged first.
    sweeps : int
        Sweeps over all planes after each oracle pass.
    """

    block: int = 16
    most: int = 32
    memory: float = MEMORY
    sweeps: int = 3
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: State | None = None) -> StreamState:
        """The planes of the batches before, and room for this one."""
        batches, seen = 1, 0
        if isinstance(warm, StreamState):
            blocks, seen, batches = warm.blocks, warm.blocks.n, warm.batches + 1
            blocks.extend(problem.dual_set)
        else:
            blocks = PlaneBlocks(
                problem.n, problem.dim, problem.dual_set, self.most, self.memory
            )
        w = blocks.weights()
        state = StreamState(
            w, blocks.dual(w), blocks=blocks, fresh_from=seen, batches=batches
        )
        state.certificate = "reduced" if seen else "exact"
        state.notes = {
            "certifies": f"all outputs of the last {problem.n} examples, planes held "
            f"for the {seen} before"
        }
        return state

    def step(self, problem: Problem, state: StreamState) -> None:
        """A pass over the new batch, then sweeps over all planes."""
        before, blocks = state.dual, state.blocks
        state.turn += 1
        turn = 1000 * state.batches + state.turn
        order = permutation(self.seed, turn, problem.n)
        if state.gap_estimate <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        gap = 0.0
        for s in range(0, len(order), self.block):
            cuts = problem.cuts(state.w, order[s : s + self.block])
            ids = cuts.ids + state.fresh_from
            state.oracle_calls += len(ids)
            gap += blocks.take_in(ids, *cuts[1:4], state.w).gap
        gaps = np.zeros(blocks.n)
        for k in range(self.sweeps):
            everyone = permutation(self.seed + 1, 100 * turn + k, blocks.n)
            blocks.sweep(everyone, state.w, 0.0, gaps)
        gap = max(gap, float(gaps.sum()))
        state.fresh = False
        state.dual, state.planes = blocks.dual(state.w), blocks.planes
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.judge(state.dual - before, 1e-13, 4)

    def certify(self, problem: Problem, state: StreamState) -> None:
        """Primal: exact slacks of the new batch, highest planes held of the old."""
        blocks = state.blocks
        cuts = problem.cuts(state.w)
        state.oracle_calls += problem.n
        ids = cuts.ids + state.fresh_from
        blocks.take_in(ids, *cuts[1:4], state.w, closed=np.inf)
        gaps = np.zeros(blocks.n)
        blocks.sweep(np.arange(blocks.n), state.w, np.inf, gaps)
        state.dual = blocks.dual(state.w)
        primal = state.dual + float(gaps.sum())
        state.fresh = True
        if primal < state.primal:
            state.primal, state.best_w = primal, state.w.copy()
