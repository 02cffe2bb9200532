"""Dual ascent in lanes, the default trainer of label sequences.

    max_alpha  sum alpha b - 1/2 ||w||^2,   w = sum alpha a,   sum of alpha <= C

Constraints are the places where label sequences differ from the truth (see `loops`).
Repeat until the duality gap is below `tol`:

1. For each example find its most violated labels at the weights of that moment, add
   them to its working set, and make exact steps on it: one compiled loop.
2. Sweep over the working sets without inference, as long as this raises the dual faster
   than the iteration as a whole did. Examples with small gaps are left out.

An example without a new constraint is skipped for some passes, each time twice as many
as before. A running average of the weights is kept, in which later ones count more. When
the gaps seen on the way suggest that the tolerance is met, a pass at fixed weights
certifies it for the average.

With several lanes, each works on its own examples of a round (see `crew`). There are two
on two or more threads; further threads help with certified passes only. Results depend on
the number of lanes, not on the threads that work on them.

[1] Shah, Kolmogorov, Lampert: A multi-plane block-coordinate Frank-Wolfe algorithm
    for training structural SVMs with a costly max-oracle, 2015.
[2] Taskar, Guestrin, Koller: Max-margin Markov networks, 2003 (the dual over parts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, inner
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import LabelSequences, MostViolated, SequenceLabels
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.lanes import loops
from maxmargin.solvers.lanes.crew import Crew, share_out
from maxmargin.solvers.lanes.islands import Islands, expected_bytes
from maxmargin.solvers.lanes.loops import Lane, SequenceTask
from maxmargin.solvers.resting import Resting, permutation

# What a visit costs beside the oracle, and a visit of a sweep, in the oracle's
# multiply-adds (measured).
PER_VISIT, PER_SWEEP = 8000.0, 6000.0
RUN = 8  # neighbouring examples that are visited together after the first passes
POWER = 16.0  # weights of the average grow with this power of the time
MEAN = 20.0  # work per weight after which w is taken into the average
IDLE = 4  # visits without weight after which a constraint is dropped
NEWS = 1e-9  # height above those held that makes a constraint a new one
WIDEST = 1.0  # of the mean gap: in sweeps, blocks below it wait for the next pass
AHEAD = 4  # tokens after a block at which inference looks; more where nothing is found
LONGEST_REST = 7  # passes that an example sits out at most
ROUNDS = 12  # of a pass, with several lanes
LEAST, MOST = 16, 512  # examples of a lane in a round; sweeps take three times as many
TRIFLE = 0.02  # steps that rise less than this share of the mean rise are left out
MOST_LANES = 2  # unless more are asked for
HEAVY = 0.05  # share of the tokens in one example, above which there is one lane only
CLOSE = 1e-4  # gap below which w may be better than the average


@dataclass(kw_only=True)
class LanesState(State):
    """Constraints, and what is known about each example."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "work", "crew")

    islands: Islands
    crew: Crew
    work: Floats  # of a visit with inference, per example
    resting: Resting
    gaps: Floats  # of each example when it was last visited
    mean: Floats  # average of w
    taken: int = 0  # how often w was taken into it
    since: float = 0.0  # work since the last time
    stretch: float = field(default=1.0)  # that of the crew, for checkpoints
    gain: float = 0.0  # rise of the dual per block in the last sweep
    turn: int = 0
    trust: float = 0.5  # certified gap / gap seen on the way, last time

    def drop_idle(self, patience: int = 3) -> None:
        """Drop constraints without weight for so many visits."""
        self.islands.drop_idle(patience)


@dataclass(frozen=True)
class Lanes(Solver[LanesState]):
    """Dual ascent on label sequences, compiled, on one core or several.

    It trains label sequences without edge features, with margin rescaling, the linear
    penalty and a loss that adds up over tokens (Hamming, with any costs).

    Parameters
    ----------
    lanes : int, optional
        Lanes that work side by side, on as many threads as the engine has. Each has its
        own copy of the weights. Results depend on this number in their last digits, not
        on the threads. None: one lane on one thread, or where an example has more than
        a twentieth of the tokens, else two. More lanes take so many more steps that
        they are slower (docs/solver_guide has figures).
    memory : float
        Largest size of all working sets, in bytes.
    sweeps : int
        Largest number of sweeps between two passes with inference.

    Examples
    --------
    >>> from maxmargin import StructuralSVM
    >>> from maxmargin.structures.chain import Chain
    >>> X, y = [[["cap"], ["low"]], [["low"]]], [["B", "O"], ["O"]]
    >>> model = StructuralSVM(Chain(), solver=Lanes(tol=1e-4)).fit(X, y)
    >>> model.result_.converged, model.predict(X).tolist()
    (True, [['B', 'O'], ['O']])
    """

    lanes: int | None = None
    memory: float = MEMORY
    sweeps: int = 12
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (MostViolated, SequenceLabels)

    def refusal(self, problem: Problem) -> str | None:
        """Say what does not add up over tokens, or has features of label pairs."""
        if self.lanes is not None and self.lanes < 1:
            return f"lanes={self.lanes!r}: at least one lane is needed"
        if sequences_of(problem) is None:
            return (
                "solver='lanes' trains label sequences in this process, with margin "
                "rescaling, a loss that adds up over tokens, and no edge features or "
                "kernels: use solver='block-dual'"
            )
        return None

    def start(self, problem: Problem, warm: State | None = None) -> LanesState:
        """No constraints, or those of an earlier run with alpha scaled to the new C."""
        n, sequences = problem.n, sequences_of(problem)
        assert sequences is not None
        task, vectors = _task(problem, sequences), sequences.vectors
        sharing = share_out(task, vectors, self._many(problem, task))
        task = task._replace(curve=sharing.factor)
        if isinstance(warm, LanesState) and warm.islands.continues(task, vectors):
            islands = warm.islands
            islands.rescale(task, sharing.weight)
        else:
            islands = Islands(
                task, vectors, self.memory, sharing.weight, problem.engine.map
            )
        w = islands.weights(problem.dim)
        crew = Crew(islands, w, sharing, problem.engine.map)
        state = LanesState(
            w, islands=islands, crew=crew, work=problem.work() + PER_VISIT,
            resting=Resting(n, LONGEST_REST), gaps=np.full(n, np.inf), mean=w.copy(),
            stretch=crew.stretch, turn=3 if islands.planes else 0,
        )  # fmt: skip
        state.dual, state.planes = _dual(state), islands.planes
        return state

    def _many(self, problem: Problem, task: SequenceTask) -> int:
        """Lanes asked for, else two on several threads if these find equal shares."""
        if self.lanes is not None:
            return self.lanes
        sizes = np.diff(task.ptr)
        uneven = int(sizes.max(initial=0)) > HEAVY * int(sizes.sum())
        return 1 if uneven else min(problem.engine.workers, MOST_LANES)

    def step(self, problem: Problem, state: LanesState) -> None:
        """One oracle pass over the examples that are not skipped, then sweeps."""
        state.turn += 1
        if state.gap_estimate * state.trust <= self.tol:
            self._certify_mean(problem, state)
            if state.gap() <= self.tol:
                return
        before = state.dual
        state.crew.begin(problem.engine.map)
        rise, work = self._pass(problem, state)
        gap = float(state.gaps[np.isfinite(state.gaps)].sum())
        rise = self._sweep(problem, state, gap, rise, work)
        state.fresh = False
        state.dual, state.planes = _dual(state), state.islands.planes
        state.crew.judge(state.dual - before, rise)
        state.stretch = state.crew.stretch
        state.gap_estimate = gap / max(state.dual + gap, 1e-300)
        if state.judge(state.dual - before, 1e-16, 4):
            state.resting.wake_all()

    def certify(self, problem: Problem, state: LanesState) -> None:
        """Evaluate w and the average."""
        for point in (state.w, state.mean):
            self._witness(problem, state, point)

    def restore(
        self, problem: Problem, state: LanesState, data: dict[str, Any]
    ) -> None:
        """Put a snapshot back; lanes get scratch space for its constraints."""
        super().restore(problem, state, data)
        state.crew.fit(state.islands)
        many = len(state.crew.lanes)
        state.crew.stretch = float(np.clip(state.stretch, 1.0, many))

    def _certify_mean(self, problem: Problem, state: LanesState) -> None:
        """Evaluate the average, and w where the gap is close to the tolerance."""
        primal = self._witness(problem, state, state.mean)
        seen = max(state.gap_estimate * primal, 1e-300)
        state.trust = float(np.clip(1.1 * (primal - state.dual) / seen, 0.02, 1.0))
        if self.tol < state.gap() <= 2.0 * self.tol and state.gap_estimate < CLOSE:
            self._witness(problem, state, state.w)

    def _witness(self, problem: Problem, state: LanesState, point: Floats) -> float:
        """Primal at a point, by a full oracle pass."""
        state.oracle_calls += problem.n
        slack, islands = np.empty(problem.n), state.islands
        parts = np.array_split(np.arange(problem.n), min(64, max(problem.n // 64, 1)))

        def ask(ids: Ints) -> None:
            lane = islands.lane(point)
            loops.slacks(islands.task, islands.inputs, lane, ids, slack)

        list(problem.engine.map(ask, parts))
        return state.witness(problem, point, np.maximum(slack, 0.0))

    def _pass(self, problem: Problem, state: LanesState) -> tuple[float, float]:
        """Inference and steps for the examples that are not skipped: (rise, work)."""
        islands, crew = state.islands, state.crew
        if islands.make_room(state.stalls, problem.engine.map):
            crew.fit(islands)
        patience = 1 if islands.short else IDLE
        order = permutation(
            self.seed, state.turn, problem.n, 1 if state.turn < 3 else RUN
        )
        awake = state.resting.next_pass(order)
        found = np.zeros(problem.n, np.int64)
        least, ahead = self._least(state), AHEAD << 3 * min(state.stalls, 4)

        def visit(lane: Lane, ids: Ints) -> float:
            made: float = loops.visit(
                islands.task, crew.inputs, islands.blocks, lane, ids, crew.stretch,
                least, NEWS, patience, ahead, state.stalls > 0, state.gaps, found,
                islands.full,
            )  # fmt: skip
            return made

        rise, work, done = 0.0, 0.0, 0
        for ids in self._rounds(state, awake, 1, state.work):
            each = state.work[ids]
            rise += crew.round(problem.engine.map, visit, ids, each, islands.task.ptr)
            cost = float(each.sum())
            work, done = work + cost, done + len(ids)
            _average(problem, state, cost)
            if state.late():
                break
        seen = awake[:done]
        state.oracle_calls += done
        state.resting.visited(seen, found[seen] == 0)
        return rise, work

    def _sweep(
        self, problem: Problem, state: LanesState, gap: float, rise: float, work: float
    ) -> float:
        """Sweep as long as it raises the dual fast: the rise of pass and sweeps."""
        islands, crew = state.islands, state.crew
        held = np.flatnonzero(islands.blocks.held)
        gaps = np.full(len(islands.blocks.held), np.inf)
        cut = islands.blocks.cut
        load = np.diff(cut)
        closed = 0.02 * self.tol * max(state.dual + gap, 0.0) / len(load)
        closed = 0.0 if state.stalls > 0 else closed
        patience = 1 if islands.short else IDLE

        def sweep(lane: Lane, ids: Ints) -> float:
            least = self._least(state)
            made: float = loops.sweep(
                islands.task, crew.inputs, islands.blocks, lane, islands.owner, ids,
                crew.stretch, least, closed, patience, gaps, load,
            )  # fmt: skip
            return made

        for k in range(self.sweeps):
            turn = 1000 * state.turn + k
            order = held[permutation(self.seed + 1, turn, len(held), RUN)]
            if k > 0:
                # Only the widest gaps: the others wait for the next pass with inference.
                order = order[gaps[order] > max(closed, WIDEST * gaps[held].mean())]
            if len(order) == 0:
                break
            made, each = 0.0, np.array([PER_SWEEP])
            for ids in self._rounds(state, order, 3, each):
                size = load[ids] + 8.0
                made += crew.round(problem.engine.map, sweep, ids, size, cut)
                _average(problem, state, PER_SWEEP * len(ids))
            cost, state.gain = PER_SWEEP * len(order), made / len(order)
            rise, work = rise + made, work + cost
            if made * work < rise * cost or state.late():
                break
        return rise

    def _least(self, state: LanesState) -> float:
        """What a step must raise the dual by to be worth writing to the weights."""
        return 0.0 if state.stalls > 0 else TRIFLE * state.gain

    def _rounds(
        self, state: LanesState, order: Ints, times: int, work: Floats
    ) -> list[Ints]:
        """What is done in one round, or between two looks at the average."""
        many = len(state.crew.lanes)
        if many > 1:
            each = np.clip(len(state.gaps) // (ROUNDS * many), LEAST, MOST)
            size = many * times * int(each)
        else:
            size = int(np.ceil(MEAN * len(state.w) / max(float(work.mean()), 1.0)))
            size = max(size, len(order) // 4, 1)
        return [order[s : s + size] for s in range(0, len(order), size)]


def _average(problem: Problem, state: LanesState, work: float) -> None:
    """Take w into the average, as often as this is cheap beside the other work.

    mean_k+1 = (k mean_k + POWER w) / (k + POWER)
    """
    state.since += work
    if state.since >= MEAN * len(state.w):
        share = min(1.0, POWER / (state.taken + POWER))
        state.crew.take_mean(problem.engine.map, state.mean, share)
        state.taken, state.since = state.taken + 1, 0.0


def _dual(state: LanesState) -> float:
    # Not BLAS, whose threads would keep on spinning on the cores of other lanes.
    return state.islands.linear() - 0.5 * float(inner(state.w, state.w))


def _task(problem: Problem, sequences: LabelSequences) -> SequenceTask:
    """The problem as loops see it."""
    loss = problem.loss
    return SequenceTask(
        sequences.ptr, problem.truth.data, sequences.forced,
        np.ascontiguousarray(loss.table), loss.scale(problem.truth),
        problem.dual_set.upper, sequences.legal, sequences.eta, sequences.layout,
    )  # fmt: skip


def sequences_of(problem: Problem) -> LabelSequences | None:
    """The sequences of a problem that `Lanes` can train, else None."""
    form, labels = problem.formulation, problem.structure.offers(SequenceLabels)
    if labels is None or problem.engine.remote or problem.pages.files:
        return None
    if form.penalty != "linear" or form.scales or problem.loss.form != "table":
        return None
    return labels.label_sequences(problem.x)


def can_train(problem: Problem) -> bool:
    """Whether `Lanes` can train a problem if there is memory enough."""
    return sequences_of(problem) is not None


def fits(problem: Problem, memory: float) -> bool:
    """Whether `Lanes` can train a problem within so many bytes."""
    sequences = sequences_of(problem)
    return sequences is not None and expected_bytes(sequences.ptr) <= memory
