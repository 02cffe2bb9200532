"""What a shard of the block dual does, where its examples are (see `cocoa`).

A shard keeps planes and alpha of its own examples between rounds, in a memory that
engines hold for it. Its local problem

    linear_k(alpha_k) - <w, dw_k> - sigma/2 sum_c s_c dw_kc^2

is a block dual whose steps are stretched, by s_c at weight c: it works on
w_c + sigma s_c dw_kc, in a copy of w that it is lent for the round, and sends dw_k, which
has entries only where its examples changed w. The same call may come twice: a shard
remembers its last turn and repeats the answer. A shard that lost its memory replies LOST.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.cuts import Cuts, Risk
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.vector_changes import Change, Lease
from maxmargin.core.formulations import DualSet, Formulation
from maxmargin.core.oracle import CHUNK
from maxmargin.core.problem import Problem
from maxmargin.core.structure import OuterCoordinates
from maxmargin.solvers.n_slack.block_dual import (
    IDLE,
    LONGEST_REST,
    PER_ENTRY,
    PER_PLANE,
    PER_VISIT,
    BlockDual,
    BlockState,
)
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import Resting, permutation
from maxmargin.solvers.resume import restore_into, snapshot_of

BLOCK = 1024  # examples whose planes are in hand at a time in a certified pass
VISITS = 4.0  # visits of an example in a pass, with and without inference, about
ASKED = 8  # examples whose planes are taken in before the next ones are asked for
SAMPLE = 2048  # examples from which the overlap of shards is estimated
SELDOM = 1.1  # expected number of shards up to which a weight counts as one's own
NOT_HERE = np.zeros(0)  # w between rounds
SWEEPS_ONLY = -1  # portion of a round without inference
LOST = -1  # turn of a shard that does not know what it did last


class Message(NamedTuple):
    """What a shard is sent besides w."""

    turn: int
    after: int  # turn that the shard must have made last
    size: int  # examples of the shard
    sigma: float
    aligned: float  # how much alike the changes of the shards are, at most 1
    share: float  # (dual + gap) / n: blocks with far smaller gaps are skipped
    certify: bool
    portions: int  # of a pass
    portion: int  # rounds with inference so far, this one included; SWEEPS_ONLY: none
    shards: int
    local: BlockDual


class Handover(NamedTuple):
    """What a shard held in an earlier run (None: nothing), and its size and trainer."""

    held: dict[str, Any] | None
    size: int
    local: BlockDual


class Reply(NamedTuple):
    """What a shard returns besides dw."""

    turn: int  # LOST: it had no memory of the turn before
    linear: float = 0.0
    gap: float = 0.0  # seen on the way
    risk: Risk = Risk(0.0, 0.0)  # at the w received, if that was certified
    calls: int = 0
    planes: int = 0
    work: float = 0.0  # multiply-adds, about


class Shard:
    """A shard as a problem of its own."""

    def __init__(self, problem: Problem, first: int, size: int) -> None:
        self._problem, self._first, self.n = problem, first, size

    @property
    def formulation(self) -> Formulation:
        """The formulation of the whole problem."""
        return self._problem.formulation

    @property
    def dual_set(self) -> DualSet:
        """Bounds and ridge of the shard's examples."""
        upper, ridge, box = self._problem.dual_set
        own = slice(self._first, self._first + self.n)
        return DualSet(upper[own].copy(), ridge[own].copy(), box)

    def outer_coordinates(self) -> OuterCoordinates | None:
        """The coordinates of planes."""
        return self._problem.outer_coordinates()

    def work(self) -> Floats:
        """Cost of the oracle per example."""
        return self._problem.work()[self._first : self._first + self.n]

    def planes(self, w: Floats, ids: Ints) -> Cuts:
        """Planes at w."""
        return self._problem.planes(w, ids + self._first)._replace(ids=ids)

    def overlap(self, shards: int, share: float) -> Change:
        """How many shards are expected to change each weight in a round, if not one.

        As if the others were like this one: where the true outputs of a share p of the
        examples touch a weight, and a round visits v of them, another shard changes it
        with probability 1 - (1 - p)^v.
        """
        few = np.unique(np.linspace(0, self.n - 1, min(SAMPLE, self.n)).astype(int))
        structure, x, dim = self._problem.structure, self._problem.x, self._problem.dim
        ids = few + self._first
        rows = structure.features(x, ids, self._problem.truth.take(ids))
        own = np.repeat(np.arange(len(ids)), np.diff(rows.ptr))
        idx, count = np.unique(
            np.unique(own * dim + rows.idx) % dim, return_counts=True
        )
        rare = (1.0 - count / len(ids)) ** (share * self.n)
        val = 1.0 + (shards - 1) * (1.0 - rare)
        often = val > SELDOM
        return Change(idx[often].astype(np.int32), val[often])

    def costs(self, slack: Floats) -> Risk:
        """What slacks of all examples of the shard cost."""
        return self._problem.costs(slack, np.arange(self._first, self._first + self.n))


def improve_shard(
    part: tuple[Problem, int], memory: dict[str, Any], lease: Lease, message: Message
) -> tuple[Change, Reply]:
    """A round of one shard: (dw, reply). Asked twice, it answers the same."""
    if "answer" in memory and memory["turn"] == message.turn:
        return memory["answer"]
    if memory.get("turn", 0) != message.after:
        memory.clear()
        return Change.of(), Reply(LOST)
    w, base, room = lease
    shard: Any = Shard(*part, message.size)
    state = _shard_state(memory, shard, message.local, lease)
    scale, other = _scale(memory, shard, message)
    state.blocks.start_round(message.sigma, scale, room, other)
    state.turn, state.dual, state.w, state.oracle_calls = message.turn, 0.0, w, 0
    risk = Risk(0.0, 0.0)
    if message.certify:
        risk, gap, rise, work = _certified_pass(shard, state, message.local, base)
    elif message.portion != SWEEPS_ONLY:
        gap, rise, work = _portion_pass(shard, state, message)
    else:
        gap, rise, work = 0.0, 0.0, 0.0
    work += _sweep(state, message, rise, work)
    change = state.blocks.end_round(w, base, room)
    state.w = NOT_HERE
    if message.portion != SWEEPS_ONLY and message.portion % message.portions == 0:
        state.blocks.forget_idle(IDLE)
    reply = Reply(
        message.turn, state.blocks.dual(np.zeros(1)), gap, risk,
        state.oracle_calls, state.blocks.planes, work,
    )  # fmt: skip
    memory.update(turn=message.turn, answer=(change, reply))
    return change, reply


def _scale(
    memory: dict[str, Any], shard: Shard, message: Message
) -> tuple[Change, bool]:
    """The stretch of weights that several shards change, and whether it is a new one."""
    if "overlap" not in memory:
        memory["overlap"] = shard.overlap(message.shards, VISITS / message.portions)
    idx, most = memory["overlap"]
    other = memory.get("aligned", message.aligned) != message.aligned
    memory["aligned"] = message.aligned
    return Change(idx, 1.0 + message.aligned * (most - 1.0)), other


def own_weights(
    part: tuple[Problem, int], memory: dict[str, Any], lease: Lease, message: None
) -> tuple[Change, tuple[int, float]]:
    """The weights of the shard's alpha, its last turn, its linear part of the dual."""
    if "state" not in memory:
        return Change.of(), (0, 0.0)
    blocks = memory["state"].blocks
    linear = blocks.dual(np.zeros(1))
    return blocks.own_change(lease.w, lease.base), (memory["turn"], linear)


def hand_over(
    part: tuple[Problem, int], memory: dict[str, Any], lease: Lease, message: None
) -> tuple[Change, dict[str, Any] | None]:
    """All that the shard would need to go on elsewhere, for a checkpoint."""
    if "state" not in memory:
        return Change.of(), None
    held = {key: memory[key] for key in ("turn", "aligned")}
    return Change.of(), {**held, "state": snapshot_of(memory["state"])}


def take_over(
    part: tuple[Problem, int], memory: dict[str, Any], lease: Lease, message: Handover
) -> tuple[Change, None]:
    """Go on from what a shard of an earlier run handed over."""
    memory.clear()
    held, size, local = message
    if held is not None:
        state = _shard_state(memory, Shard(*part, size), local, lease)
        restore_into(state, _own(held["state"]))
        memory["turn"] = int(held["turn"])
        memory["aligned"] = float(held["aligned"])
    return Change.of(), None


def _own(value: Any) -> Any:
    """A copy that loops may write to: what came by network may be read-only."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _shard_state(
    memory: dict[str, Any], shard: Any, local: BlockDual, lease: Lease
) -> BlockState:
    """The shard's planes and what is known of its examples."""
    if "state" not in memory:
        sizes = shard.n, len(lease.base), shard.dual_set, local.most, local.memory
        memory["state"] = BlockState(
            NOT_HERE, blocks=PlaneBlocks(*sizes, shard.outer_coordinates(), lease.kept),
            work=shard.work() + PER_PLANE, resting=Resting(shard.n, LONGEST_REST),
        )  # fmt: skip
    state: BlockState = memory["state"]
    return state


def _portion(message: Message, n: int) -> Ints:
    """The examples of this round: each is in one of the rounds of a pass."""
    turn, r = divmod(message.portion, message.portions)
    order = permutation(message.local.seed + 2, turn, n)
    ends = np.linspace(0, n, message.portions + 1).astype(int)
    return order[ends[r] : ends[r + 1]]


def _portion_pass(
    shard: Any, state: BlockState, message: Message
) -> tuple[float, float, float]:
    """Inference and steps for this round's portion: gaps at w, rise and work."""
    awake = state.resting.next_pass(_portion(message, shard.n))
    gap, rise, work = 0.0, 0.0, 0.0
    for s in range(0, len(awake), ASKED):
        ids = awake[s : s + ASKED]
        cuts = shard.planes(state.w, ids)
        state.oracle_calls += len(ids)
        gap += state.blocks.gaps_at(ids, cuts.slack, state.w)
        _, r, k = message.local._take(shard, state, cuts)
        rise, work = rise + r, work + k + float(state.work[ids].sum())
    return gap, rise, work


def _sweep(state: BlockState, message: Message, rise: float, work: float) -> float:
    """Sweep over parts of the shard, as long as this raises the dual fast: the work."""
    held = np.flatnonzero(state.blocks.counts())
    # Parts of a few examples: one of them alone says little about what a sweep gains.
    size = max(-(-len(held) // message.portions), CHUNK)
    parts = max(-(-len(held) // size), 1)
    closed = 0.02 * message.local.tol * max(message.share, 0.0)
    gaps, spent = np.zeros(len(state.work)), 0.0
    held = held[permutation(message.local.seed + 1, message.turn, len(held))]
    for k in range(min(message.local.sweeps, message.portions)):
        at = k % parts * size
        order = held[at : at + size]
        if len(order) == 0:
            break
        made, cost = state.blocks.sweep(order, state.w, closed, gaps)
        cost = PER_ENTRY * cost + PER_VISIT * len(order)
        rise, work, spent = rise + made, work + cost, spent + cost
        if made * work < rise * cost:
            break
    return spent


def _certified_pass(
    shard: Any, state: BlockState, local: BlockDual, point: Floats
) -> tuple[Risk, float, float, float]:
    """Slacks of all examples at the weights received, and their planes taken in."""
    slack = np.empty(shard.n)
    gap, rise, work = 0.0, 0.0, float(state.work.sum())
    for s in range(0, shard.n, BLOCK):
        ids = np.arange(s, min(s + BLOCK, shard.n))
        cuts = shard.planes(point, ids)
        slack[ids] = cuts.slack
        gap += state.blocks.gaps_at(ids, cuts.slack, point)
        _, r, k = local._take(shard, state, cuts)
        rise, work = rise + r, work + k
    state.oracle_calls += shard.n
    return shard.costs(slack), gap, rise, work
