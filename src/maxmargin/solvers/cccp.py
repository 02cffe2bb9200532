"""Latent structural SVM: the concave-convex procedure (CCCP).

    min_w 1/2 ||w||^2 + C sum_i ( max_{y,h} [<w, psi(x_i, y, h)> + Delta(y_i, y, h)]
                                  - max_h <w, psi(x_i, y_i, h)> )

Complete the hidden parts at the current weights, h_i = argmax_h <w, psi(x_i, y_i, h)>,
train with (y_i, h_i) as if all of it had been seen, and repeat. Each convex problem
is an upper bound that touches the objective, so the objective never rises.

A plane of example i is psi(truth) - psi(y, h): when the completed truth changes, its
planes move by the change of psi(truth) and stay planes, so each convex problem starts
from the dual variables of the one before. Early ones are solved roughly, to a tenth of
the last decrease of the objective.

With an inner solver that stops by epsilon the run is Algorithm 5.1 as written: each convex
problem is solved to epsilon, and completions end when one lowers the objective by no more
than that, epsilon times the sum of C.

A step is one step of the solver of the convex problem; the last one of each convex
problem also completes the hidden parts.

[1] Yu 2011, Algorithm 5.1, equations 5.5-5.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.compiled.compiling import working_time
from maxmargin.core.data.arrays import Floats, Ints, Ragged, check_size
from maxmargin.core.data.validation import (
    check_shape,
    check_types,
    mismatch,
    require,
)
from maxmargin.core.problem import Problem
from maxmargin.core.structure import InitialGuess, Latent
from maxmargin.solvers.base import (
    Loop,
    NestedState,
    Resolved,
    Result,
    Solver,
    State,
    Status,
    Trainer,
    check,
)
from maxmargin.solvers.n_slack.block_dual import BlockState
from maxmargin.solvers.n_slack.cutting_plane import NSlack
from maxmargin.solvers.one_slack.cutting_plane import OneSlack

OUTER = np.dtype(
    [
        ("restart", np.int64),
        ("round", np.int64),
        ("seconds", np.float64),
        ("oracle_calls", np.int64),
        ("changed", np.int64),  # examples whose completion changed
        ("tol", np.float64),  # of the convex problem
        ("objective", np.float64),  # of the latent problem, after the round
    ]
)
ROUGH = 0.1  # tolerance of the first convex problem
SHARE = 0.1  # of the last relative decrease, the tolerance of the next one
STORED = {
    "rounds": int, "calls": int, "warm": bool, "tol": float, "seconds": float,
    "status": Status | None, "outer": np.ndarray,
}  # fmt: skip
MANY = 10**9  # steps in all: rounds and the steps of each are limited instead


@dataclass(frozen=True)
class LatentResult(Result):
    """A result with the history of completions.

    `primal` is the latent objective at w; `dual` and `gap` certify the last convex
    problem, with the hidden parts held as completed. So `certificate` is "local", unless
    nothing was hidden.

    Attributes
    ----------
    outer : structured array
        One row per round: restart, round, seconds, oracle_calls, changed, tol,
        objective.
    truth : Ragged
        The true outputs with their hidden parts completed at w.
    hidden : bool
        Whether any output has hidden parts, so that the problem is not convex.
    """

    outer: np.ndarray = field(default_factory=lambda: np.zeros(0, OUTER), repr=False)
    truth: Ragged | None = field(default=None, repr=False)
    hidden: bool = True

    def __post_init__(self) -> None:
        """No result with hidden parts can claim more than its last convex problem."""
        if self.hidden:
            object.__setattr__(self, "certificate", "local")

    def summary(self) -> str:
        """The certificate in a few words; the dual belongs to the convex problem."""
        return (
            f"{self.status.name.lower()}: objective {self.primal:.6g} after "
            f"{len(self.outer)} completions; last convex problem: dual {self.dual:.6g}, "
            f"gap {self.gap:.2e} ({self.certificate}); {self.iterations} iterations, "
            f"{self.oracle_calls} oracle calls, {self.planes} planes, "
            f"{self.seconds:.2f} s"
        )


@dataclass
class Start:
    """One start: its best weights so far, and the dual variables behind them."""

    number: int
    w: Floats
    truth: Ragged  # completed at w
    objective: float = float("inf")
    last: Result | None = None  # of the convex problem solved last
    dual: State | None = None  # of the same
    trained: Ragged | None = None  # the true outputs that `dual` belongs to
    status: Status = Status.MAX_ITER


@dataclass(kw_only=True)
class LatentState(NestedState):
    """The convex problem under way, the start it belongs to, and the best start.

    `inner` runs the steps of the convex problem; it is None when all is done.
    """

    current: Start
    best: Start | None = None  # of the starts that have ended
    truth: Ragged  # of the convex problem under way
    tol: float  # of the same
    rounds: int = 0  # of the current start
    outer: list[tuple[Any, ...]] = field(default_factory=list)
    warm: bool = False  # continues an earlier run: no further starts
    hidden: bool = True  # whether completion depends on the weights
    begin: float = field(default_factory=working_time)

    def leader(self) -> Start:
        """The start with the lowest objective."""
        if self.best is None or self.current.objective < self.best.objective:
            return self.current
        return self.best

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight before a run at another C."""
        dual = self.leader().dual
        if dual is not None:
            dual.drop_idle(patience)


@dataclass(frozen=True, init=False, kw_only=True)
class CCCP(Solver[LatentState]):
    """Complete, train, repeat.

    A run that is given the state of an earlier one continues from its weights, its
    completed truth and its dual variables, whatever C was, without further restarts.

    Parameters
    ----------
    inner : Solver or Auto
        Trains the convex problems. Its tolerance is that of the last one, `max_iter` is
        for each of them, `max_time` for all of them. With an `epsilon`
        (`OneSlack`, `NSlack`) all of them are solved to that epsilon.
    tol : float or None
        Relative decrease of the objective at which to stop; None: that of `inner`.
    max_rounds : int
        Convex problems per start at most.
    restarts : int
        Starts from different hidden parts; the lowest objective is kept.
    w : array, optional
        Initial weights, at which hidden parts are completed first.
    given : bool
        Whether the true outputs already have hidden parts to start from.
    max_iter : int
        Steps in all at most.
    max_time : float or None
        Seconds in all at most; None: those of `inner`.
    seed : int or None
        For restarts; None: that of `inner`.
    """

    inner: Trainer
    max_rounds: int
    restarts: int
    w: Floats | None
    given: bool
    needs: ClassVar[tuple[type, ...]] = (Latent,)

    def __init__(
        self,
        inner: Trainer,
        tol: float | None = None,
        max_rounds: int = 50,
        restarts: int = 1,
        w: Floats | None = None,
        given: bool = False,
        max_iter: int = MANY,
        max_time: float | None = None,
        seed: int | None = None,
    ) -> None:
        settings = {
            "inner": inner,
            "tol": inner.tol if tol is None else tol,
            "max_rounds": max_rounds,
            "restarts": restarts,
            "w": w,
            "given": given,
            "max_iter": max_iter,
            "max_time": inner.max_time if max_time is None else max_time,
            "seed": inner.seed if seed is None else seed,
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)

    def resolve(self, problem: Problem) -> Resolved:
        """CCCP itself, with a solver chosen for the convex problems."""
        regularizer = problem.formulation.regularizer
        if regularizer not in self.regularizers:
            raise ValueError(
                f"regularizer={regularizer!r} is not available for outputs with hidden parts "
                "(labels that are None, or a latent order): use regularizer='l2'"
            )
        if isinstance(self.inner, Solver):
            return Resolved(self, problem, {})
        problem.structure.require(Latent, "training with hidden parts (CCCP)")
        w = np.zeros(problem.dim)
        completed = problem.with_truth(_completed(problem, w, problem.truth))
        inner, where, notes = self.inner.resolve(completed)
        here = problem if where is completed else problem.shared_data
        return Resolved(replace(self, inner=inner), here, notes)

    def start(self, problem: Problem, warm: State | None = None) -> LatentState:
        """Hidden parts to start from, and the first convex problem."""
        check(self._convex_solver(self.tol), problem)
        if isinstance(warm, LatentState) and warm.leader().truth.n == problem.n:
            state = self._again(problem, warm.leader())
        else:
            state = self._begin(problem, 0)
        state.hidden = _has_hidden(problem, state.truth)
        state.inner = self._convex(problem, state)
        return state

    def step(self, problem: Problem, state: LatentState) -> None:
        """One step on the convex problem; at its end, complete the hidden parts."""
        assert state.inner is not None
        state.inner.state.deadline = state.deadline
        state.inner.advance()
        state.follow()
        if state.inner.status is None:
            return
        ended = self._end_round(problem, state)
        if not ended:
            state.inner = self._convex(problem, state)
        elif not self._next_start(problem, state):
            state.status = state.leader().status

    def verdict(self, state: LatentState) -> Status | None:
        """A gap of the convex problem does not end the run."""
        return state.status

    def rounding(self, problem: Problem, state: LatentState) -> float:
        """The rounding error of the convex problem behind the result."""
        last = state.leader().last
        return float("nan") if last is None else last.rounding

    def certify(self, problem: Problem, state: LatentState) -> None:
        """The run ends within a convex problem: what it has led to counts, too."""
        if state.inner is not None:
            state.inner.status = state.inner.status or Status.STOPPED
            self._end_round(problem, state)

    def report(
        self, problem: Problem, state: LatentState, result: Result
    ) -> LatentResult:
        """The latent objective, with the certificate of the convex problem behind it."""
        plain = vars(result) | {
            "outer": np.array(state.outer, OUTER), "hidden": state.hidden,
        }  # fmt: skip
        best = state.leader()
        if best.last is None:  # within the first convex problem
            return LatentResult(**plain, truth=state.truth)
        last = best.last
        rounds = sum(row[0] == best.number for row in state.outer)
        notes = {"rounds": rounds, "restart": best.number}
        if self._epsilon is not None:
            notes["completions"] = rounds
        return LatentResult(**plain | {
            "w": best.w, "primal": best.objective, "dual": last.dual, "gap": last.gap,
            "rounding": last.rounding,
            "certificate": last.certificate, "planes": last.planes,
            "notes": {**result.notes, **last.notes, **notes}, "truth": best.truth,
        })  # fmt: skip

    def snapshot(self, problem: Problem, state: LatentState) -> dict[str, Any]:
        """Weights and truth of the starts, and the dual of the convex problem."""
        held: dict[str, Any] = {
            "current": _stored(problem, state.current),
            "best": None if state.best is None else _stored(problem, state.best),
            "truth": problem.structure.stored_outputs(state.truth), "tol": state.tol,
            "rounds": state.rounds, "calls": state.calls, "warm": state.warm, "inner": None,
            "outer": np.array(state.outer, OUTER), "status": state.status,
            "seconds": working_time() - state.begin,
        }  # fmt: skip
        if state.inner is not None:
            held["inner"] = state.inner.snapshot()
        return held

    def restore(
        self, problem: Problem, state: LatentState, data: dict[str, Any]
    ) -> None:
        """Continue within the convex problem that was under way."""
        for name, kind in STORED.items():
            wrong = mismatch(data[name], kind)
            require(not wrong, f"the checkpoint's {name} is {wrong}")
        require(min(data["rounds"], data["calls"]) >= 0, "a negative number of rounds")
        told = data["outer"].dtype == OUTER and data["outer"].ndim == 1
        require(told, "the rounds in the checkpoint are not a table of rounds")
        state.current = _restored(problem, data["current"])
        state.best = None if data["best"] is None else _restored(problem, data["best"])
        state.truth, state.tol = _outputs(problem, data["truth"]), float(data["tol"])
        state.rounds, state.calls = data["rounds"], data["calls"]
        state.warm, state.status = data["warm"], data["status"]
        state.outer = [tuple(row) for row in data["outer"].tolist()]
        state.begin = working_time() - float(data["seconds"])
        state.inner = None
        if data["inner"] is not None:
            state.inner = self._convex(problem, state)
            state.inner.restore(data["inner"])
            state.follow()
        else:  # the earlier run had made all of its rounds: make some more
            state.status, state.rounds = None, 0
            state.inner = self._convex(problem, state)

    @property
    def _epsilon(self) -> float | None:
        """The epsilon of `inner`, if it stops by one."""
        if isinstance(self.inner, OneSlack | NSlack):
            return self.inner.epsilon
        return None

    def _convex_solver(self, tol: float) -> Solver[Any]:
        assert isinstance(self.inner, Solver)  # `resolve`
        solver: Solver[Any] = replace(self.inner, tol=tol, max_time=None)
        return solver

    def _convex(self, problem: Problem, state: LatentState) -> Loop[Any]:
        """The convex problem in which the hidden parts stay as they are."""
        solver = self._convex_solver(state.tol)
        completed = problem.with_truth(state.truth)
        return Loop(solver, completed, solver.start(completed, state.current.dual))

    def _begin(self, problem: Problem, number: int) -> LatentState:
        """A start from new hidden parts."""
        w, truth = self._first(problem, number)
        hidden = _has_hidden(problem, truth)
        rough = hidden and self._epsilon is None
        tol = max(ROUGH, self.inner.tol) if rough else self.inner.tol
        start = Start(number, np.zeros(problem.dim), truth)
        state = LatentState(start.w, current=start, truth=truth, tol=tol)
        if w is not None:  # the objective at given weights is the one to beat
            self._measure(problem, state, w)
        return state

    def _first(self, problem: Problem, number: int) -> tuple[Floats | None, Ragged]:
        """Initial weights, where they are given, and completed true outputs."""
        rng = np.random.default_rng([self.seed, number])
        initial = problem.structure.offers(InitialGuess)
        if self.w is not None:
            w = _as_weights(self.w)
            if w.shape != (problem.dim,):
                raise ValueError(
                    f"init has {w.size} initial weights, but this model has {problem.dim}"
                )
            if number > 0:
                size = 0.1 * np.linalg.norm(w) / np.sqrt(problem.dim)
                w = w + size * rng.normal(size=problem.dim)
            return w, _completed(problem, w, problem.truth)
        if self.given and number == 0:
            return None, problem.truth
        if initial is not None:
            return None, initial.guess(problem.x, problem.truth, rng)
        w = rng.normal(size=problem.dim) if number > 0 else np.zeros(problem.dim)
        return None, _completed(problem, w, problem.truth)

    def _again(self, problem: Problem, earlier: Start) -> LatentState:
        """Continue where an earlier run ended, with its dual variables."""
        start = replace(earlier, number=0, last=None, status=Status.MAX_ITER)
        state = LatentState(
            start.w, current=start, truth=start.truth, tol=self.inner.tol, warm=True
        )
        self._measure(problem, state, start.w)
        if start.trained is not None:
            self._carry(problem, start, start.truth)
        return state

    def _measure(self, problem: Problem, state: LatentState, w: Floats) -> None:
        """The objective at weights that complete the truth of the current start."""
        completed = problem.with_truth(state.truth)
        state.current.w = w
        state.current.objective = completed.primal(w, completed.cuts(w).slack)
        state.calls += problem.n

    def _end_round(self, problem: Problem, state: LatentState) -> bool:
        """Complete the hidden parts at the new weights; True if the start has ended."""
        assert state.inner is not None
        result, current = state.inner.finish(), state.current
        state.follow()
        current.last, current.dual = result, state.inner.state
        current.trained, state.inner = state.truth, None
        again = _completed(problem, result.w, state.truth)
        moved = differing(state.truth, again)
        value = result.primal
        if len(moved):  # at most the convex objective, by its own oracle pass
            completed = problem.with_truth(again)
            value = completed.primal(result.w, completed.cuts(result.w).slack)
            state.oracle_calls += problem.n
        state.calls = state.oracle_calls
        fall = current.objective - value
        drop = fall / max(abs(value), 1e-300)
        better = value <= current.objective
        if better:
            current.objective, current.w, current.truth = value, result.w, again
        state.rounds += 1
        state.outer.append((
            current.number, state.rounds, working_time() - state.begin,
            state.calls, len(moved), state.tol, current.objective,
        ))  # fmt: skip
        if result.status in (Status.MAX_TIME, Status.STOPPED, Status.INTERRUPTED):
            current.status = result.status
            return True
        small = (self._epsilon or 0.0) * float(problem.C.sum())
        within = result.status is Status.WITHIN_EPSILON  # as Algorithm 5.1 stops
        if within and (fall <= small or len(moved) == 0):
            current.status = result.status
            return True
        floor = self.inner.tol
        if result.status in (Status.NO_PROGRESS, Status.ROUNDING):  # nothing to gain
            floor = max(floor, result.gap)
        if state.tol <= floor and (drop <= self.tol or len(moved) == 0):
            current.status = result.status
            return True
        share = SHARE * (drop if drop > self.tol else state.tol)
        state.tol = max(floor, min(state.tol, share))
        if better and len(moved):
            self._carry(problem, current, again)
            state.truth = again
        return state.rounds >= self.max_rounds

    def _next_start(self, problem: Problem, state: LatentState) -> bool:
        """Begin another start, if there is one more to make and time for it."""
        number = state.current.number + 1
        if state.warm or state.late() or number >= self.restarts:
            return False
        state.best = state.leader()
        new = self._begin(problem, number)
        state.current, state.truth, state.tol = new.current, new.truth, new.tol
        state.calls, state.rounds = state.calls + new.calls, 0
        state.inner = self._convex(problem, state)
        return True

    def _carry(self, problem: Problem, start: Start, truth: Ragged) -> None:
        """Move the planes of examples whose completion changed."""
        assert start.trained is not None
        moved = differing(start.trained, truth)
        if len(moved) == 0:
            return
        if (
            not isinstance(start.dual, BlockState)
            or problem.outer_coordinates() is not None
        ):
            start.dual = None  # factored planes do not move with the truth
            return
        features = problem.structure.features
        change = features(problem.x, moved, truth.take(moved)).minus(
            features(problem.x, moved, start.trained.take(moved))
        )
        start.dual.blocks.shift(moved, change, problem.formulation.scales)
        start.trained = truth


def _as_weights(given: Any) -> Floats:
    """Initial weights as the user gives them."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init={given!r:.40}: one number for each weight is needed"
        ) from None


def _completed(problem: Problem, w: Floats, truth: Ragged) -> Ragged:
    """The true outputs with the hidden parts that score best at w."""
    latent = problem.structure.require(Latent, "training with hidden parts (CCCP)")
    return latent.complete(problem.x, np.arange(problem.n), w, truth)


def _has_hidden(problem: Problem, truth: Ragged) -> bool:
    """Whether outputs have hidden parts, whose completion depends on the weights."""
    probe = np.random.default_rng(0).normal(size=problem.dim)
    # What scores best at some weights scores worst at the opposite ones.
    completions = [_completed(problem, w, truth) for w in (probe, -probe)]
    return any(len(differing(truth, other)) > 0 for other in completions)


def _stored(problem: Problem, start: Start) -> dict[str, Any]:
    """A start as plain data, for checkpoints."""
    truth = problem.structure.stored_outputs(start.truth)
    return {**vars(start), "truth": truth, "dual": None, "trained": None}


def _restored(problem: Problem, data: dict[str, Any]) -> Start:
    """A start from plain data that a file may hold in any form."""
    start = Start(**{**data, "truth": _outputs(problem, data["truth"])})
    check_types(start)
    check_shape(start.w, (problem.dim,), "weights of a start")
    check_size(start.w, "weights of a start")
    require(start.dual is None and start.trained is None, "a start has dual variables")
    return start


def _outputs(problem: Problem, data: Any) -> Ragged:
    """Completed outputs from plain data."""
    rows = problem.structure.restored_outputs(data)
    rows.validate()
    problem.structure.check_completed(problem.x, problem.truth, rows)
    return rows


def differing(a: Ragged, b: Ragged) -> Ints:
    """Rows of `a` that are not those of `b`."""
    if np.array_equal(a.ptr, b.ptr):
        rows = np.repeat(np.arange(a.n), a.sizes)
        return np.unique(rows[a.data != b.data])
    return np.array(
        [i for i in range(a.n) if not np.array_equal(a.row(i), b.row(i))], np.int64
    )
