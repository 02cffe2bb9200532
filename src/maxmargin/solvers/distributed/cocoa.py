"""Block dual over shards: each shard improves the dual of its own examples, in place.

    dual(alpha) = sum_k linear_k(alpha_k) - 1/2 ||w||^2,     w = sum_k w_k(alpha_k)

In a round every shard k receives w. By inference for a portion of its examples and sweeps
over the planes that it holds, it raises its local part of the dual, in which the quadratic
term is stretched weight by weight:

    linear_k(alpha_k) - <w, dw_k> - sigma/2 sum_c s_c dw_kc^2,

then dw = sum_k dw_k is added to w. If `exchanges` allows it, a round with inference is
followed by rounds of sweeps only, as long as these raise the dual faster per unit of work:
shards exchange what their planes have to say before they ask for more. If at most s_c
shards change weight c in a round, then

    (sum_k dw_kc)^2 <= s_c sum_k dw_kc^2,

the sum of the local gains is a lower bound for the gain of the whole, and adding is safe
[1, 3]. With s_c = K for all weights, as in [1], weights of rare features would move K
times too slowly; with a smaller one, those of frequent features would oscillate. So
s_c is the number of shards expected to change weight c, from how often it occurs. While
the gap is wide the shards change w alike; later their changes cancel in part, and
s_c is lowered (`aligned`), unless the dual falls. sigma, 1 as a rule, grows where the best
step along dw is shorter than dw.

Only entries of w that have changed are sent. The cost of a round therefore depends on
the entries that it changes, not on the number of weights.

A shard holds a feasible alpha at any time. One that lost its memory starts again from
alpha = 0, and w is then summed again from what the shards hold. The certificate is exact:
the primal comes from a full oracle pass at w, the dual from these alphas.

[1] Ma, Smith, Jaggi et al.: Adding vs. averaging in distributed primal-dual
    optimization, ICML 2015. [2] Jaggi et al.: CoCoA, NIPS 2014.
[3] Richtarik, Takac: Parallel coordinate descent methods for big data optimization,
    Mathematical Programming 2016.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.cuts import Risk
from maxmargin.core.data.arrays import Labels
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.data.validation import mismatch, require
from maxmargin.core.data.vector_changes import Change, Weights
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.distributed.shards import (
    LOST,
    SWEEPS_ONLY,
    Handover,
    Message,
    Reply,
    hand_over,
    improve_shard,
    own_weights,
    take_over,
)
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.resume import restore_into, snapshot_of

CALM = 0.3  # gap, as a share of the alignment, below which that is halved
LEAST = 1 / 16  # alignment at least
PORTIONS = 32  # rounds per pass at most


@dataclass
class ShardsState(State):
    """What the leading process knows; planes and alpha are with the shards."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "run", "version", "news")

    run: str = ""
    shards: list[tuple[int, int]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # last turn of each shard
    turn: int = 0
    sigma: float = 1.0
    aligned: float = 1.0  # how much alike the changes of the shards are
    asked: int = 0  # rounds with inference
    exchanges: int = 0  # rounds without it since
    rise: float = 0.0  # of the dual in these rounds, the one with inference included
    work: float = 0.0  # in them
    exchange: bool = False  # whether the next round is without inference
    patience: int = 0  # rounds before `aligned` may fall again
    value: float = 0.0  # dual at w; `dual` is the best so far
    square: float = 0.0  # ||w||^2
    version: int = 0  # of w
    news: Labels | None = None  # entries of w that are not those of the version before
    trust: float = 0.5
    portions: int = 1
    gaps: list[float] = field(default_factory=list)  # seen in the last rounds

    def check_restored(self) -> None:
        """Refuse shards, read from a file, that are not spans with a turn each."""
        for name, kind in (("shards", list[tuple[int, int]]), ("turns", list[int])):
            wrong = mismatch(getattr(self, name), kind)
            require(not wrong, f"the checkpoint's {name} are {wrong}")
        wrong = mismatch(self.gaps, list[float])
        require(not wrong, f"the checkpoint's gaps are {wrong}")
        require(len(self.turns) == len(self.shards) > 0, "each shard has a turn")
        last = max(self.turns)
        require(min(self.turns) >= 0 and last <= self.turn, "a turn is out of range")
        require(self.portions >= 1, f"the checkpoint's portions are {self.portions}")
        require(self.asked >= 0, f"the checkpoint's asked is {self.asked}")
        require(self.sigma > 0.0, f"the checkpoint's sigma is {self.sigma!r}")


@dataclass(frozen=True)
class Cocoa(Solver[ShardsState]):
    """Block dual over shards of the sample. A step is one round.

    Parameters
    ----------
    shards : int or None
        Number of shards; None: one per worker of the engine. The result depends on it,
        on `portions`, and on workers that die, not on the engine.
    most : int
        Planes per example at most.
    memory : float
        Bytes for the planes of one shard at most.
    sweeps : int
        Sweeps between two oracle passes at most.
    portions : int or None
        Number of rounds with inference that make up one oracle pass. With more rounds,
        shards see each other's changes earlier, and more is sent. None: as many, up to 32,
        as keep sending below a tenth of the time. Across a network this is measured, so
        set it for runs that have to repeat bit for bit. A round has at least one example
        of each shard.
    exchanges : int
        Rounds without inference after one with inference, at most. On NER 8 of them saved
        two thirds of the oracle calls and took half as many rounds more.
    """

    shards: int | None = None
    most: int = 64
    memory: float = MEMORY
    sweeps: int = 30
    portions: int | None = None
    exchanges: int = 0
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: State | None = None) -> ShardsState:
        """Alpha = 0 everywhere; an earlier state is ignored."""
        k = min(self.shards or problem.engine.workers, problem.n)
        ends = np.linspace(0, problem.n, k + 1).astype(int).tolist()
        spans = list(pairwise(ends))
        state = ShardsState(np.zeros(problem.dim), run=uuid.uuid4().hex, sigma=1.0)
        state.shards, state.turns = spans, [0] * k
        state.portions = self.portions or _portions(problem, spans)
        # A portion without examples would make a round without inference.
        state.portions = min(state.portions, max(min(b - a for a, b in spans), 1))
        state.notes = {"shards": k, "portions": state.portions}
        return state

    def step(self, problem: Problem, state: ShardsState) -> None:
        """One round; certified where the gaps seen suggest that it is time."""
        state.turn += 1
        asked = not state.exchange
        certify = asked and state.gap_estimate * state.trust <= self.tol
        if certify:  # first remove what rounding has added to w over the rounds
            self._recount(problem, state)
        change, replies = self._round(problem, state, certify)
        state.oracle_calls += sum(r.calls for r in replies)
        state.planes = sum(r.planes for r in replies)
        if certify and all(r.turn != LOST for r in replies):
            self._certificate(problem, state, replies)
            if state.gap() <= self.tol:
                problem.engine.end_run(state.run)
                return
        self._combine(problem, state, change, replies)
        self._look_ahead(state, replies, asked, certify)

    def certify(self, problem: Problem, state: ShardsState) -> None:
        """The certificate at the end of the run; the shards free their memory."""
        super().certify(problem, state)
        problem.engine.end_run(state.run)

    def snapshot(self, problem: Problem, state: ShardsState) -> dict[str, Any]:
        """What the leading process knows, and the planes and alpha of every shard."""
        none = [None] * len(state.shards)
        _, held = self._call_shards(problem, state, hand_over, none)
        return {"lead": snapshot_of(state), "shards": held}

    def restore(
        self, problem: Problem, state: ShardsState, data: dict[str, Any]
    ) -> None:
        """Shards, wherever they are now, take over what was held."""
        restore_into(state, data["lead"])
        ends = [0, *(b for _, b in state.shards)]
        spans = list(pairwise(ends)) == state.shards and min(np.diff(ends)) > 0
        require(spans and ends[-1] == problem.n, "the shards are not those of the data")
        messages = [
            Handover(held, b - a, self._local())
            for held, (a, b) in zip(data["shards"], state.shards, strict=True)
        ]
        self._call_shards(problem, state, take_over, messages)

    def _round(
        self, problem: Problem, state: ShardsState, certify: bool
    ) -> tuple[Change, list[Reply]]:
        gap = min(state.gap_estimate, 1.0) * max(state.dual, 0.0)
        share = (state.dual + gap) / problem.n
        many, portion = len(state.shards), SWEEPS_ONLY
        if not state.exchange:
            state.asked += 1
            portion = state.asked
        rest = share, certify, state.portions, portion, many, self._local()
        messages = [
            Message(state.turn, after, b - a, state.sigma, state.aligned, *rest)
            for after, (a, b) in zip(state.turns, state.shards, strict=True)
        ]
        return self._call_shards(problem, state, improve_shard, messages)

    def _local(self) -> BlockDual:
        """The trainer of a shard."""
        return BlockDual(
            self.tol, seed=self.seed, most=self.most, memory=self.memory,
            sweeps=self.sweeps,
        )  # fmt: skip

    def _call_shards(
        self, problem: Problem, state: ShardsState, question: Any, messages: list[Any]
    ) -> tuple[Change, list[Any]]:
        data, shards = problem.shared_data, state.shards
        weights = Weights(state.w, state.version, state.news)
        return problem.engine.call_shards(
            state.run, data, question, weights, shards, messages
        )

    def _certificate(
        self, problem: Problem, state: ShardsState, replies: list[Reply]
    ) -> None:
        risk = Risk(sum(r.risk.risk for r in replies), 0.0)
        primal = state.keep(problem, state.w, problem.primal_at(state.w, risk))
        gap = primal - state.value
        seen = max(state.gap_estimate * primal, 1e-300)
        state.trust = float(np.clip(1.1 * gap / seen, 0.02, 1.0))

    def _combine(
        self, problem: Problem, state: ShardsState, change: Change, replies: list[Reply]
    ) -> None:
        before, best = state.value, np.inf
        state.turns = [max(r.turn, 0) for r in replies]
        lost = sum(r.turn == LOST for r in replies)
        if lost:
            self._recount(problem, state)
            state.notes["lost"] = state.notes.get("lost", 0) + lost
        else:
            old = state.w[change.idx]
            linear = sum(r.linear for r in replies)
            rise = linear - state.value - 0.5 * state.square
            if change.square > 0.0:
                best = (rise - float(old @ change.val)) / change.square
            new = old + change.val
            state.w[change.idx], state.news = new, change.idx
            state.version += 1
            state.square += float(new @ new) - float(old @ old)
            state.value = linear - 0.5 * state.square
        state.fresh = False
        state.dual = max(state.dual, state.value)
        self._set_stretch(state, best, state.value < before)
        self._choose_round(state, state.value - before, sum(r.work for r in replies))
        rise = abs(state.value - before)
        state.stalls = state.stalls + 1 if rise <= 1e-14 * abs(state.value) else 0

    def _set_stretch(self, state: ShardsState, best: float, fell: bool) -> None:
        """Stretch of the next round: `best` is the factor that dw should have had."""
        if best < np.inf:
            factor = np.clip(np.sqrt(1.2 / max(best, 1e-9)), 0.8, 2.0)
            state.sigma = float(np.clip(factor * state.sigma, 1.0, len(state.shards)))
        if fell and state.aligned < 1.0:
            state.aligned, state.patience = 2.0 * state.aligned, 4 * state.portions
        elif state.patience > 0:
            state.patience -= 1
        elif state.gap_estimate < CALM * state.aligned and state.aligned > LEAST:
            state.aligned *= 0.5
            state.patience = state.portions

    def _choose_round(self, state: ShardsState, made: float, cost: float) -> None:
        """Whether the next round has no inference: as long as these raise the dual fast."""
        if not state.exchange:
            state.exchanges, state.rise, state.work = 0, 0.0, 0.0
        else:
            state.exchanges += 1
        state.rise, state.work = state.rise + made, state.work + cost
        fast = made > 0.0 and made * state.work >= state.rise * cost
        state.exchange = fast and state.exchanges < self.exchanges

    def _recount(self, problem: Problem, state: ShardsState) -> None:
        """Compute w, and the dual there, from what the shards hold."""
        none = [None] * len(state.shards)
        total, pairs = self._call_shards(problem, state, own_weights, none)
        state.w[:] = 0.0
        state.w[total.idx] = total.val
        state.version, state.news = state.version + 1, None
        state.turns = [turn for turn, _ in pairs]
        state.square = float(state.w @ state.w)
        state.value = sum(linear for _, linear in pairs) - 0.5 * state.square
        state.dual = max(state.dual, state.value)

    def _look_ahead(
        self, state: ShardsState, replies: list[Reply], asked: bool, certified: bool
    ) -> None:
        """Estimate the gap from the rounds of one oracle pass; decide when to give up."""
        gap = sum(r.gap for r in replies)
        if certified:
            state.gaps = [0.0] * (state.portions - 1)
        if asked:
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
    """Rounds per pass for which sending what changes takes a tenth of the time."""
    if not problem.engine.remote:
        return PORTIONS
    ids = np.unique(np.linspace(0, problem.n - 1, min(64, problem.n)).astype(int))
    w = np.zeros(problem.dim)
    cuts = problem.shared_data.cuts(w, ids)  # compile
    start = time.perf_counter()
    problem.shared_data.cuts(w, ids)
    example = (time.perf_counter() - start) / len(ids)
    touched = float(np.diff(cuts.a.ptr).mean()) * problem.n / PORTIONS
    sending = problem.engine.round_trip(np.zeros(int(min(touched, problem.dim)) + 1))
    if sending == 0.0:
        return PORTIONS
    sweep = 2.0  # an example's visit of oracle and planes, in oracle calls
    pass_seconds = sweep * example * max(b - a for a, b in spans)
    return int(np.clip(pass_seconds / (10.0 * sending), 1, PORTIONS))
