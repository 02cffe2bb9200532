"""Block dual over shards: each improves the dual of its own examples, where they are.

    dual(alpha) = sum_k linear_k(alpha_k) - 1/2 ||w||^2,     w = sum_k w_k(alpha_k)

In a round every shard k gets w and raises, by oracle passes and sweeps over the planes it
holds, its local part of the dual with the quadratic term stretched by sigma:

    linear_k(alpha_k) - <w, dw_k> - sigma/2 ||dw_k||^2,

then dw = sum_k dw_k is added to w. With sigma = K shards the sum of the local gains is a
lower bound for the gain of the whole [1]: adding is safe. Shards that touch different
coordinates disturb each other less: sigma follows the measured ||sum dw_k||^2 / sum
||dw_k||^2 and goes back to K when the dual falls. Stretching is done on the planes: a
block dual on planes sqrt(sigma) a and weights w / sqrt(sigma) is the local problem.

What a shard holds is a feasible alpha at any time, so a shard that lost its memory
starts from alpha = 0, and w is then added up anew from what the shards hold. The
certificate is exact: primal by a full oracle pass at w, dual from those alphas.

[1] Ma, Smith, Jaggi et al.: Adding vs. averaging in distributed primal-dual
    optimization, ICML 2015. [2] Jaggi et al.: CoCoA, NIPS 2014.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints
from maxmargin.cuts import Cuts, Risk
from maxmargin.formulations import DualSet, Formulation
from maxmargin.problem import CHUNK, Problem
from maxmargin.solvers.base import Solver, State, Status, permutation
from maxmargin.solvers.block_dual import PER_PLANE, BlockDual, BlockState
from maxmargin.solvers.planes import PlaneBlocks
from maxmargin.structures.base import Parts

BLOCK = 1024  # examples whose planes are in hand at a time in a certified pass
RECOUNT = 20  # rounds after which w is added up anew, against rounding
ASLEEP = 10**6
PORTIONS = 32  # rounds per pass at most
LOST = -1  # turn of a shard that does not know what it did last


@dataclass
class ShardsState(State):
    """What the leading process knows; planes and alpha are with the shards."""

    RESUMES = False

    run: str = ""
    shards: list[tuple[int, int]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # last turn of each shard
    turn: int = 0
    sigma: float = 1.0
    value: float = 0.0  # dual at w; `dual` is the best so far
    trust: float = 1.0
    stalls: int = 0
    portions: int = 1
    gaps: list[float] = field(default_factory=list)  # seen in the last rounds


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


class Reply(NamedTuple):
    """What a shard tells beside its dw."""

    turn: int  # LOST: it had no memory of the turn before
    linear: float = 0.0
    square: float = 0.0  # ||dw_k||^2
    gap: float = 0.0  # seen on the way
    risk: Risk = Risk(0.0, 0.0)  # at the w received, if that was certified
    calls: int = 0
    planes: int = 0


@dataclass(frozen=True)
class Cocoa(Solver):
    """Block dual over shards of the sample. A step is one round.

    Parameters
    ----------
    shards : int or None
        Number of shards; None: one per worker of the engine. The result depends on it,
        and on nothing else of the engine.
    most : int
        Planes per example at most.
    memory : float
        Bytes for the planes of one shard at most.
    sweeps : int
        Sweeps between two oracle passes at most.
    portions : int or None
        Rounds that an oracle pass is spread over: shards that hear of each other more
        often disturb each other less. None: so many, up to 32, that sending takes a
        tenth of the time; measured where a network is between, so set it for runs that
        have to repeat bit for bit.
    """

    shards: int | None = None
    most: int = 64
    memory: float = 4e9
    sweeps: int = 30
    portions: int | None = None
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: Any = None) -> ShardsState:
        """Alpha = 0 everywhere: planes are where the shards are, and not kept."""
        k = min(self.shards or problem.engine.workers, problem.n)
        ends = np.linspace(0, problem.n, k + 1).astype(int).tolist()
        spans = list(pairwise(ends))
        state = ShardsState(np.zeros(problem.dim), run=uuid.uuid4().hex, sigma=float(k))
        state.shards, state.turns = spans, [0] * k
        state.portions = self.portions or _portions(problem, spans)
        state.extra["notes"] = {"shards": k, "portions": state.portions}
        return state

    def step(self, problem: Problem, state: ShardsState) -> None:  # type: ignore[override]
        """One round; certified where the gaps seen suggest that it is time."""
        state.turn += 1
        certify = state.gap_estimate * state.trust <= self.tol
        before = state.w
        change, replies = self._round(problem, state, certify)
        state.oracle_calls += sum(r.calls for r in replies)
        state.planes = sum(r.planes for r in replies)
        if certify and all(r.turn != LOST for r in replies):
            self._certificate(problem, state, before, replies)
            if state.gap() <= self.tol:
                problem.engine.leave(state.run)
                return
        self._combine(problem, state, change, replies)
        self._look_ahead(state, replies, certify)

    def certify(self, problem: Problem, state: State) -> None:
        """The certificate at the end of the run; shards may forget."""
        super().certify(problem, state)
        assert isinstance(state, ShardsState)
        problem.engine.leave(state.run)

    def _round(
        self, problem: Problem, state: ShardsState, certify: bool
    ) -> tuple[Floats, list[Reply]]:
        gap = min(state.gap_estimate, 1.0) * max(state.dual, 0.0)
        share = (state.dual + gap) / problem.n
        local = BlockDual(
            self.tol, seed=self.seed, most=self.most, memory=self.memory,
            sweeps=self.sweeps,
        )  # fmt: skip
        rest = state.sigma, share, certify, state.portions, local
        messages = [
            Message(state.turn, after, b - a, *rest)
            for after, (a, b) in zip(state.turns, state.shards, strict=True)
        ]
        return problem.engine.visit(
            state.run, problem.home, improve_shard, state.w, state.shards, messages
        )

    def _certificate(
        self, problem: Problem, state: ShardsState, w: Floats, replies: list[Reply]
    ) -> None:
        risk = Risk(sum(r.risk.risk for r in replies), 0.0)
        primal = state.keep(problem, w, problem.primal_at(w, risk))
        gap = primal - state.value
        seen = max(state.gap_estimate * primal, 1e-300)
        state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))

    def _combine(
        self, problem: Problem, state: ShardsState, change: Floats, replies: list[Reply]
    ) -> None:
        before = state.value
        state.turns = [max(r.turn, 0) for r in replies]
        lost = sum(r.turn == LOST for r in replies)
        if lost or state.turn % RECOUNT == 0:
            linear = self._recount(problem, state)
            notes = state.extra["notes"]
            notes["lost"] = notes.get("lost", 0) + lost
        else:
            state.w = state.w + change
            linear = sum(r.linear for r in replies)
        state.fresh = False
        state.value = linear - 0.5 * float(state.w @ state.w)
        state.dual = max(state.dual, state.value)
        parts = sum(r.square for r in replies)
        if state.value < before:
            state.sigma = float(len(state.shards))
        elif parts > 0.0:
            overlap = float(change @ change) / parts
            state.sigma = float(np.clip(1.25 * overlap, 1.0, len(state.shards)))
        rise = abs(state.value - before)
        state.stalls = state.stalls + 1 if rise <= 1e-14 * abs(state.value) else 0

    def _recount(self, problem: Problem, state: ShardsState) -> float:
        """W as the sum of what the shards hold; returns the linear part of the dual."""
        state.w, pairs = problem.engine.visit(
            state.run, problem.home, own_weights, state.w, state.shards,
            [None] * len(state.shards),
        )  # fmt: skip
        state.turns = [turn for turn, _ in pairs]
        return sum(linear for _, linear in pairs)

    def _look_ahead(
        self, state: ShardsState, replies: list[Reply], certified: bool
    ) -> None:
        """How wide the gap seems, from a full turn of portions, and when to give up."""
        gap = sum(r.gap for r in replies)
        if certified:
            state.gaps = [0.0] * (state.portions - 1)
        state.gaps = [*state.gaps, gap][-state.portions :]
        if any(r.turn == LOST for r in replies):
            state.gaps, state.gap_estimate = [], np.inf
        elif len(state.gaps) == state.portions:
            gap = sum(state.gaps)
            state.gap_estimate = gap / max(state.value + gap, 1e-300)
        if state.stalls >= state.portions:
            state.gap_estimate = 0.0  # look: certify in the next step
        if state.stalls >= state.portions + 3:
            state.status = Status.NO_PROGRESS


def _portions(problem: Problem, spans: list[tuple[int, int]]) -> int:
    """Rounds per pass for which sending takes a tenth of the time."""
    sending = problem.engine.round_trip(np.zeros(problem.dim))
    if sending == 0.0:
        return PORTIONS
    ids = np.unique(np.linspace(0, problem.n - 1, min(64, problem.n)).astype(int))
    w = np.zeros(problem.dim)
    problem.home.planes(w, ids)  # compile
    start = time.perf_counter()
    problem.home.planes(w, ids)
    example = (time.perf_counter() - start) / len(ids)
    sweep = 2.0  # an example's visit of oracle and planes, in oracle calls
    pass_seconds = sweep * example * max(b - a for a, b in spans)
    return int(np.clip(pass_seconds / (10.0 * sending), 1, PORTIONS))


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

    def parts(self) -> Parts | None:
        """The coordinates of planes."""
        return self._problem.parts()

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


def _shard_state(
    memory: dict[str, Any], shard: Any, local: BlockDual, dim: int, root: float
) -> BlockState:
    """The shard's planes, stretched by `root` from now on."""
    if "state" not in memory:
        sizes = shard.n, dim, shard.dual_set, local.most, local.memory
        none = np.zeros(shard.n, np.int64)
        memory["state"] = BlockState(
            np.zeros(0), blocks=PlaneBlocks(*sizes, shard.parts()),
            work=shard.work() + PER_PLANE, rest=none, asleep=none.copy(),
        )  # fmt: skip
    elif memory["root"] != root:
        memory["state"].blocks.stretch_planes(root / memory["root"])
    memory["root"] = root
    return memory["state"]


def _portion_pass(
    shard: Any, state: BlockState, message: Message
) -> tuple[float, float, float]:
    """An oracle pass over this round's portion of the shard; the others sleep."""
    turn, r = divmod(message.turn, message.portions)
    order = permutation(message.local.seed + 2, turn, shard.n, CHUNK)
    others = np.ones(shard.n, bool)
    ends = np.linspace(0, shard.n, message.portions + 1).astype(int)
    others[order[ends[r] : ends[r + 1]]] = False
    asleep = state.asleep.copy()
    state.asleep[others] = ASLEEP
    out = message.local._pass(shard, state)
    state.asleep[others] = asleep[others]
    return out


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
