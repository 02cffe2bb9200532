"""Training in batches: inference for the new examples, planes of all examples.

    max  dual over the planes of all examples so far

Inference is never run again for examples of earlier batches. Their planes stay and are
improved together with those of the new batch. The certificate is "reduced": it is that of
the problem in which old examples have only the planes that were found for them.

A model that was fitted otherwise, or read from a file, has no planes. Its training data
are then one plane, the tangent of their risk R at the weights w of the model. Training
ended where the gradient of 1/2 ||v||^2 + R(v) is zero, so

    R(v) >= R(w) - <w, v - w> = primal + 1/2 ||w||^2 - <w, v>.

[1] Balamurugan, Shevade, Babu 2012, section VI (online learning from the dual).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Ints, Rows
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.formulations import DualSet
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import permutation

LOOK = 5  # steps between two looks at all old examples


@dataclass(kw_only=True)
class StreamState(State):
    """Planes of all batches; the last `fresh_from:` examples are the new batch."""

    blocks: PlaneBlocks
    fresh_from: int = 0
    batches: int = 0
    turn: int = 0
    active: Ints | None = None  # old examples whose gap was open when last looked at
    open_gap: float = 0.0  # of all old examples, when last looked at


@dataclass(kw_only=True)
class ModelState(State):
    """A fitted model without its data: weights w and the objective there."""


def tangent_of(
    model: ModelState, dual_set: DualSet, most: int, memory: float
) -> PlaneBlocks:
    """Planes of a model: its data are one example with one plane, the tangent at w."""
    w = model.w
    used = np.flatnonzero(w)
    one = Rows(np.array([0, len(used)]), used.astype(np.int32), w[used].copy())
    start = DualSet(np.ones(1), np.zeros(1), dual_set.box)
    blocks = PlaneBlocks(1, len(w), start, most, memory)
    height = np.array([model.primal + 0.5 * float(w @ w)])
    blocks.take_in(np.zeros(1, np.int64), one, height, height, np.zeros(len(w)))
    return blocks


def blocks_before(
    warm: State | None, problem: Problem, most: int, memory: float
) -> tuple[PlaneBlocks | None, int]:
    """Planes of the batches before, with room for this one, and the number of this one."""
    if isinstance(warm, StreamState):
        blocks, batch = warm.blocks, warm.batches + 1
    elif isinstance(warm, ModelState):
        blocks, batch = tangent_of(warm, problem.dual_set, most, memory), 2
    else:
        return None, 1
    if blocks.dim != problem.dim:
        raise ValueError(
            f"the model has {blocks.dim} weights, the batch asks for {problem.dim}: the "
            "first batch fixes labels and features"
        )
    return blocks, batch


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
        sizes = self.most, self.memory
        blocks, batches = blocks_before(warm, problem, *sizes)
        seen = 0 if blocks is None else blocks.n
        if blocks is None:
            blocks = PlaneBlocks(problem.n, problem.dim, problem.dual_set, *sizes)
        else:
            blocks.extend(problem.dual_set)
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
        rows = np.arange(state.fresh_from, blocks.n)
        for s in range(0, len(order), self.block):
            cuts = problem.cuts(state.w, order[s : s + self.block])
            ids = cuts.ids + state.fresh_from
            state.oracle_calls += len(ids)
            gap += blocks.take_in(ids, *cuts[1:4], state.w).gap
        gaps = np.zeros(blocks.n)
        if state.active is None or state.turn % LOOK == 0:
            everyone = permutation(self.seed + 1, 100 * turn, blocks.n)
            blocks.sweep(everyone, state.w, 0.0, gaps)
            least = 0.1 * self.tol * abs(state.dual) / blocks.n
            state.active = np.flatnonzero(gaps[: state.fresh_from] > least)
            state.open_gap = float(gaps[: state.fresh_from].sum())
        some = np.concatenate((state.active, rows))
        for k in range(1, self.sweeps):
            again = permutation(self.seed + 1, 100 * turn + k, len(some))
            blocks.sweep(some[again], state.w, 0.0, gaps)
        gap = max(gap, float(gaps[rows].sum())) + state.open_gap
        if gap <= self.tol * max(state.dual, 1e-300):
            state.active = None  # nearly there: look at all old examples again
        state.fresh = False
        state.dual, state.planes = blocks.dual(state.w), blocks.planes
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        state.judge(state.dual - before, 1e-13, 4)

    def rounding(self, problem: Problem, state: StreamState) -> float:
        """As for one batch, for all examples."""
        return super().rounding(problem, state) * state.blocks.n / max(problem.n, 1)

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
