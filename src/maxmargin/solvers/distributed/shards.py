"""What a shard of the block dual does, where its examples are (see `cocoa`).

A shard keeps planes and alpha of its own examples between rounds, in a memory that
engines hold for it. Its local problem

    linear_k(alpha_k) - <w, dw_k> - sigma/2 ||dw_k||^2

is a block dual on planes sqrt(sigma) a at weights w / sqrt(sigma). Questions may come
twice: a shard remembers the turn it made last and repeats that answer. One that lost its
memory says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.cuts import Cuts, Risk
from maxmargin.core.formulations import DualSet, Formulation
from maxmargin.core.oracle import CHUNK
from maxmargin.core.problem import Problem
from maxmargin.core.structure import OuterCoordinates
from maxmargin.solvers.n_slack.block_dual import (
    LONGEST_REST,
    PER_PLANE,
    BlockDual,
    BlockState,
)
from maxmargin.solvers.planes.blocks import PlaneBlocks
from maxmargin.solvers.resting import Resting, permutation
from maxmargin.solvers.resume import restore_into, snapshot_of

BLOCK = 1024  # examples whose planes are in hand at a time in a certified pass
LOST = -1  # turn of a shard that does not know what it did last


class Message(NamedTuple):
    """What a shard is told beside w."""

    turn: int
    after: int  # turn that the shard must have made last
    size: int  # examples of the shard
    sigma: float
    share: float  # of the dual and its gap: what an example may leave open
    certify: bool
    portions: int  # of a pass, one in each round
    local: BlockDual


class Handover(NamedTuple):
    """What a shard held in an earlier run (None: nothing), and its size and trainer."""

    held: dict[str, Any] | None
    size: int
    local: BlockDual


class Reply(NamedTuple):
    """What a shard tells beside its dw."""

    turn: int  # LOST: it had no memory of the turn before
    linear: float = 0.0
    square: float = 0.0  # ||dw_k||^2
    gap: float = 0.0  # seen on the way
    risk: Risk = Risk(0.0, 0.0)  # at the w received, if that was certified
    calls: int = 0
    planes: int = 0


class Shard:
    """A shard as a problem of its own, its planes stretched by `root`."""

    def __init__(self, problem: Problem, first: int, size: int, root: float) -> None:
        self._problem, self._first, self.n, self._root = problem, first, size, root

    @property
    def formulation(self) -> Formulation:
        """That of the whole."""
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

    def planes(self, u: Floats, ids: Ints) -> Cuts:
        """Planes at w = root * u, stretched."""
        cuts = self._problem.planes(self._root * u, ids + self._first)
        return cuts._replace(ids=ids, a=cuts.a.scale(np.full(len(ids), self._root)))

    def costs(self, slack: Floats) -> Risk:
        """What slacks of all examples of the shard cost."""
        return self._problem.costs(slack, np.arange(self._first, self._first + self.n))


def improve_shard(
    part: tuple[Problem, int], memory: dict[str, Any], w: Floats, message: Message
) -> tuple[Floats, Reply]:
    """A round of one shard: (dw, reply). Asked twice, it answers the same."""
    if memory.get("turn", 0) == message.turn:
        return memory["answer"]
    if memory.get("turn", 0) != message.after:
        memory.clear()
        return np.zeros(len(w)), Reply(LOST)
    root, local = float(np.sqrt(message.sigma)), message.local
    shard: Any = Shard(*part, message.size, root)
    state = _shard_state(memory, shard, local, len(w), root)
    state.turn, state.dual, state.w = message.turn, 0.0, w / root
    state.oracle_calls, start = 0, state.w.copy()
    risk = Risk(0.0, 0.0)
    if message.certify:
        risk, gap, rise, work = _certified_pass(shard, state, local)
    else:
        gap, rise, work = _portion_pass(shard, state, message)
    state.dual = max(message.share * shard.n - gap, 0.0)
    local._sweep(shard, state, gap, rise, work)
    change = (state.w - start) / root
    reply = Reply(
        message.turn, state.blocks.dual(np.zeros(1)), float(change @ change), gap, risk,
        state.oracle_calls, state.blocks.planes,
    )  # fmt: skip
    memory.update(turn=message.turn, answer=(change, reply))
    return change, reply


def own_weights(
    part: tuple[Problem, int], memory: dict[str, Any], w: Floats, message: None
) -> tuple[Floats, tuple[int, float]]:
    """W of the shard's own alpha, its last turn and its linear part of the dual."""
    if "state" not in memory:
        return np.zeros(len(w)), (0, 0.0)
    blocks = memory["state"].blocks
    own = blocks.weights() / memory["root"]
    return own, (memory["turn"], blocks.dual(np.zeros(1)))


def hand_over(
    part: tuple[Problem, int], memory: dict[str, Any], w: Floats, message: None
) -> tuple[Floats, dict[str, Any] | None]:
    """All that the shard would need to go on elsewhere, for a checkpoint."""
    if "state" not in memory:
        return np.zeros(1), None
    held = {"turn": memory["turn"], "root": memory["root"]}
    return np.zeros(1), {**held, "state": snapshot_of(memory["state"])}


def take_over(
    part: tuple[Problem, int], memory: dict[str, Any], w: Floats, message: Handover
) -> tuple[Floats, None]:
    """Go on from what a shard of an earlier run handed over."""
    memory.clear()
    held, size, local = message
    if held is not None:
        root = float(held["root"])
        state = _shard_state(memory, Shard(*part, size, root), local, len(w), root)
        restore_into(state, _own(held["state"]))
        memory["turn"] = int(held["turn"])
    return np.zeros(1), None


def _own(value: Any) -> Any:
    """A copy that loops may write to: what came by network may be read-only."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _shard_state(
    memory: dict[str, Any], shard: Any, local: BlockDual, dim: int, root: float
) -> BlockState:
    """The shard's planes, stretched by `root` from now on."""
    if "state" not in memory:
        sizes = shard.n, dim, shard.dual_set, local.most, local.memory
        memory["state"] = BlockState(
            np.zeros(0), blocks=PlaneBlocks(*sizes, shard.outer_coordinates()),
            work=shard.work() + PER_PLANE, resting=Resting(shard.n, LONGEST_REST),
        )  # fmt: skip
    elif memory["root"] != root:
        memory["state"].blocks.stretch_planes(root / memory["root"])
    memory["root"] = root
    return memory["state"]


def _portion_pass(
    shard: Any, state: BlockState, message: Message
) -> tuple[float, float, float]:
    """An oracle pass over this round's portion of the shard."""
    turn, r = divmod(message.turn, message.portions)
    order = permutation(message.local.seed + 2, turn, shard.n, CHUNK)
    ends = np.linspace(0, shard.n, message.portions + 1).astype(int)
    return message.local._pass(shard, state, order[ends[r] : ends[r + 1]])


def _certified_pass(
    shard: Any, state: BlockState, local: BlockDual
) -> tuple[Risk, float, float, float]:
    """Slacks of all examples at the weights received, and their planes taken in."""
    point, slack = state.w.copy(), np.empty(shard.n)
    gap, rise, work = 0.0, 0.0, float(state.work.sum())
    for s in range(0, shard.n, BLOCK):
        ids = np.arange(s, min(s + BLOCK, shard.n))
        cuts = shard.planes(point, ids)
        slack[ids] = cuts.slack
        g, r, k = local._take(shard, state, cuts)
        gap, rise, work = gap + g, rise + r, work + k
    state.oracle_calls += shard.n
    return shard.costs(slack), gap, rise, work
