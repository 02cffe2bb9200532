"""What a trainer is, and the one loop that runs all of them.

A solver is a frozen dataclass of settings with `start` and `step`. A step improves w
and the dual; whenever it has made a full oracle pass at fixed weights it calls
`state.witness`, which keeps the weights of the lowest primal value seen. `run` makes
steps until a stopping rule is met and ends with a certificate,

    gap = (primal + rounding - dual) / primal,

where `rounding` bounds the rounding error of the primal (`core/problem.py`).

History, callbacks, limits on time and steps, checkpoints and warm starts are written
here once, for every trainer: those of convex problems, CCCP and the kernel methods.
What a solver cannot train is refused by `check`, and nowhere else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from maxmargin.core.compiled.compiling import compile_seconds, working_time
from maxmargin.core.data.arrays import Floats, is_number, is_whole
from maxmargin.core.data.validation import require
from maxmargin.core.oracle import ADVICE, OracleError
from maxmargin.core.problem import Problem, rounding_of
from maxmargin.core.structure import Latent, MappedInputs, MostViolated
from maxmargin.solvers.certificate import Result as Result
from maxmargin.solvers.certificate import Status as Status
from maxmargin.solvers.resume import Keeper, restore_into, snapshot_of

PLATEAU = 20  # steps without progress after which approximate inference is blamed
REACHABLE = 0.1  # share of the tolerance that rounding must leave to go on
POOR = 0.5  # gap of a run that ended early, above which w = 0 may be better
HISTORY = np.dtype(
    [
        ("iteration", np.int64),
        ("seconds", np.float64),
        ("oracle_calls", np.int64),
        ("planes", np.int64),
        ("primal", np.float64),  # at the best weights so far
        ("dual", np.float64),
        ("gap", np.float64),  # relative; an estimate where primal is not known yet
    ]
)


@dataclass
class State:
    """What the state of every solver has; subclasses add their dual variables."""

    # Fields that `start` makes again from the data: not in checkpoints.
    DERIVED: ClassVar[tuple[str, ...]] = ("deadline", "certificate", "notes")

    w: Floats
    dual: float = 0.0
    primal: float = float("inf")  # lowest value seen, at best_w
    best_w: Floats | None = None
    fresh: bool = False  # whether w itself has been witnessed
    gap_estimate: float = float("inf")  # relative, from gaps seen on the way
    oracle_calls: int = 0
    planes: int = 0
    stalls: int = 0  # steps in a row that hardly raised the dual
    status: Status | None = None  # set by a step that knows it is the last
    deadline: float = float("inf")  # on the clock of `working_time`
    certificate: str | None = None  # None: that of the problem
    notes: dict[str, Any] = field(default_factory=dict)  # for `Result.notes`

    def witness(self, problem: Problem, w: Floats, slack: Floats) -> float:
        """Primal at w from the slacks of a full oracle pass; keeps the best w."""
        return self.keep(problem, w, problem.primal(w, slack))

    def keep(self, problem: Problem, w: Floats, primal: float) -> float:
        """Keep w if its primal value, from a full oracle pass, is the best so far."""
        self.fresh = True
        if primal < self.primal:
            self.primal, self.best_w = primal, w.copy()
            if problem.formulation.penalty == "hard" and primal > 0:
                # Scaled up until the smallest margin is one: then it is feasible.
                self.best_w *= np.sqrt(2.0 * primal / float(w @ w))
        return primal

    def gap(self) -> float:
        """(primal - dual) / primal at the best weights."""
        return relative_gap(self.primal, self.dual)

    def late(self) -> bool:
        """Whether the time is up."""
        return working_time() > self.deadline

    def drop_idle(self, patience: int = 3) -> None:
        """Drop planes without weight for so many visits, before a run at another C."""

    def judge(self, rise: float, least: float, patience: int) -> bool:
        """Whether a step that raised the dual by `rise` was a stall.

        It was if it raised the dual by at most `least` of its value. The next step then
        checks this by a certified pass, and after `patience` stalls in a row training
        ends.
        """
        if rise > least * abs(self.dual):
            self.stalls = 0
            return False
        self.stalls += 1
        self.gap_estimate = 0.0
        if self.stalls >= patience:
            self.status = Status.NO_PROGRESS
        return True


class Run(NamedTuple):
    """What a run led to, and the state that another run may start from."""

    result: Result
    state: State


# Called after each step with its row of the history, and with a function that gives the
# result as if training ended there; a true value ends it.
Watch = Callable[[np.void, Callable[[], Result]], bool | None]


@dataclass(frozen=True)
class Trainer(ABC):
    """Anything that `run` takes: a solver, or settings that pick one (`Auto`).

    Parameters
    ----------
    tol : float
        Relative duality gap at which training stops.
    max_iter : int
        Steps at most; each solver says what a step is.
    max_time : float or None
        Seconds at most; compiling does not count.
    seed : int
        For solvers that visit examples in random order.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    seed: int = 0

    needs: ClassVar[tuple[type, ...]] = ()  # capabilities that structures must have

    @abstractmethod
    def resolve(self, problem: Problem) -> Resolved:
        """The solver that does the work, decided before the run."""

    def solve(
        self,
        problem: Problem,
        warm: State | None = None,
        watch: Watch | None = None,
        keeper: Keeper | None = None,
    ) -> Run:
        """Train: see `run`."""
        return run(self, problem, start=warm, watch=watch, keeper=keeper)


class Resolved(NamedTuple):
    """Which solver runs on which problem, and why."""

    solver: Solver[Any]
    problem: Problem  # the one asked about, or one that leads to the same weights
    notes: dict[str, Any]  # for `Result.notes`


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Solver(Trainer, Generic[S]):
    """A training algorithm with its settings; S is the state that a step works on."""

    # What it can train, as data: penalties, and capabilities of the structure (Protocols
    # of core/structure.py) that it must have, or that are taken where they are there.
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard")
    regularizers: ClassVar[tuple[str, ...]] = ("l2",)
    needs: ClassVar[tuple[type, ...]] = (MostViolated,)
    uses: ClassVar[tuple[type, ...]] = ()
    resumable: ClassVar[bool] = True  # whether it writes checkpoints
    expands: ClassVar[bool] = False  # whether the result has points of a kernel, no w

    @abstractmethod
    def start(self, problem: Problem, warm: State | None = None) -> S:
        """State before the first step.

        `warm` is the state of an earlier run on the same data, perhaps with another C or
        by another solver; what cannot be used of it is ignored.
        """

    @abstractmethod
    def step(self, problem: Problem, state: S) -> None:
        """One iteration: improve state.w and state.dual; witness where possible."""

    def certify(self, problem: Problem, state: S) -> None:
        """Witness state.w by a full oracle pass."""
        state.oracle_calls += problem.n
        risk = problem.risk_at(state.w)
        state.keep(problem, state.w, problem.primal_at(state.w, risk))

    def verdict(self, state: S) -> Status | None:
        """The stopping rule that is met, limits apart; None: go on."""
        return Status.CONVERGED if state.gap() <= self.tol else state.status

    def rounding(self, problem: Problem, state: S) -> float:
        """Bound on the rounding error of the primal; NaN where there is none."""
        w = state.w if state.best_w is None else state.best_w
        featured = problem.structure.offers(MostViolated) is not None
        if MappedInputs in self.needs or w.shape != (problem.dim,) or not featured:
            return float("nan")
        return rounding_of(problem, w, state.primal, state.planes)

    def report(self, problem: Problem, state: S, result: Result) -> Result:
        """The result, with the notes that this solver adds to it."""
        return result

    def refusal(self, problem: Problem) -> str | None:
        """Why this problem cannot be trained, beyond penalty and capabilities."""
        return None

    def snapshot(self, problem: Problem, state: S) -> dict[str, Any]:
        """What a checkpoint holds: all that `start` cannot make again from the data."""
        return snapshot_of(state)

    def restore(self, problem: Problem, state: S, data: dict[str, Any]) -> None:
        """Put a snapshot into the state that `start` has just made."""
        restore_into(state, data)

    def resolve(self, problem: Problem) -> Resolved:
        """The solver itself, on the problem as it is."""
        return Resolved(self, problem, {})


def relative_gap(primal: float, dual: float, rounding: float = 0.0) -> float:
    """(primal + rounding - dual) / primal, at least zero; infinite without a primal.

    Examples
    --------
    >>> relative_gap(2.0, 1.0), relative_gap(2.0, 1.0, 0.5)
    (0.5, 0.75)
    """
    if not math.isfinite(primal):
        return math.inf
    error = 0.0 if math.isnan(rounding) else rounding
    return max(primal + error - dual, 0.0) / max(abs(primal), 1e-300)


class Before(NamedTuple):
    """Steps, time and inference of the runs at smaller C that came before."""

    rows: list[tuple[Any, ...]]  # of the history
    seconds: float
    oracle_calls: int


def check(solver: Solver[Any], problem: Problem, resumable: bool = False) -> None:
    """Refuse, in one sentence, what this solver cannot do.

    `resumable` says that checkpoints are wanted.
    """
    name = type(solver).__name__
    if resumable and not solver.resumable:
        raise ValueError(f"solver {name} writes no checkpoints: leave checkpoint out")
    penalty, known = problem.formulation.penalty, solver.penalties
    if penalty not in known:
        raise ValueError(
            f"solver {name} cannot train penalty={penalty!r}; it knows "
            f"{', '.join(map(repr, known))}"
        )
    regularizer = problem.formulation.regularizer
    if regularizer not in solver.regularizers:
        instead = "'auto'" if regularizer == "l1" else "another solver"
        raise ValueError(
            f"solver {name} cannot train regularizer={regularizer!r}: use {instead}"
        )
    for capability in solver.needs:
        problem.structure.require(capability, f"solver {name}")
    _check_settings(solver)
    reason = solver.refusal(problem)
    if reason is not None:
        raise ValueError(reason)


def _check_settings(solver: Solver[Any]) -> None:
    tol, steps, seconds = solver.tol, solver.max_iter, solver.max_time
    if not is_number(tol) or tol < 0.0:
        raise ValueError(f"tol={tol!r}: the tolerance must be a number, zero or more")
    if not is_whole(steps) or steps < 1:
        raise ValueError(
            f"max_iter={steps!r}: a whole number of steps, at least one, is needed"
        )
    if seconds is not None and not (is_number(seconds) and seconds >= 0.0):
        raise ValueError(
            f"max_time={seconds!r}: a number of seconds, zero or more, is needed"
        )


def run(
    trainer: Trainer,
    problem: Problem,
    *,
    start: State | None = None,
    watch: Watch | None = None,
    keeper: Keeper | None = None,
    before: Before | None = None,
) -> Run:
    """Train until a stopping rule is met: the one loop of the package.

    Parameters
    ----------
    trainer : Solver or Auto
        How to train.
    problem : Problem
        What to train.
    start : State, optional
        State of an earlier run to start from.
    watch : function (row, ended), optional
        Called after each step with its row of the history, and with a function that
        gives the result as if training ended there; a true value ends it.
    keeper : Keeper, optional
        Takes checkpoints. If it has one of an earlier run, training continues there.
    before : Before, optional
        What the runs that led to `start` have cost: it counts, also towards the limits.

    Examples
    --------
    >>> from maxmargin import StructuralSVM
    >>> from maxmargin.solvers import BlockDual
    >>> from maxmargin.structures import Multiclass
    >>> X, y = np.array([[1.0, 0.1], [0.2, 1.0], [0.9, 0.0]]), [0, 1, 0]
    >>> model = StructuralSVM(Multiclass(), solver=BlockDual(tol=1e-4)).fit(X, y)
    >>> model.result_.converged  # `fit` calls run(BlockDual(tol=1e-4), problem)
    True
    """
    loop = begin(trainer, problem, start, keeper is not None)
    if before is not None:
        loop.count(before)
    loop.resume(keeper)
    try:
        while loop.status is None:
            loop.advance(watch)
            if keeper is not None and loop.status is None and keeper.interrupted():
                loop.status = Status.INTERRUPTED
            loop.checkpoint(keeper)
    except KeyboardInterrupt:
        loop.status = Status.INTERRUPTED
    return Run(loop.finish(), loop.state)


def begin(
    trainer: Trainer,
    problem: Problem,
    start: State | None = None,
    resumable: bool = False,
) -> Loop[Any]:
    """A run before its first step: the solver is resolved, checked and started."""
    now = working_time()
    solver, problem, notes = trainer.resolve(problem)
    check(solver, problem, resumable)
    state = solver.start(problem, start)
    if solver.max_time is not None:
        state.deadline = now + solver.max_time
    return Loop(solver, problem, state, notes, now)


class Loop(Generic[S]):
    """Steps of one solver on one problem: history, when to stop, the certificate.

    Solvers that train a sequence of problems (CCCP, kernel methods) advance a loop of
    their own by one step in each of theirs.
    """

    def __init__(
        self,
        solver: Solver[S],
        problem: Problem,
        state: S,
        notes: dict[str, Any] | None = None,
        begun: float | None = None,
    ) -> None:
        self.solver, self.problem, self.state = solver, problem, state
        # Of the gap with rounding: the solver itself may have to aim lower.
        self.tol = solver.tol
        self.notes = notes or {}
        self.begun = working_time() if begun is None else begun
        self.compiled = compile_seconds()
        self.status: Status | None = None
        self.rows: list[tuple[Any, ...]] = []
        self.rounding = float("nan")

    def count(self, before: Before) -> None:
        """Count steps, time and inference of the runs before this one."""
        self.rows = list(before.rows)
        self.begun -= before.seconds
        self.state.deadline -= before.seconds
        self.state.oracle_calls += before.oracle_calls

    def resume(self, keeper: Keeper | None) -> None:
        """Continue an earlier run from its last checkpoint."""
        earlier = keeper.earlier() if keeper is not None else None
        if earlier is None:
            return
        try:
            self.restore(earlier)
        except ValueError:
            raise
        except Exception as error:  # whatever wrong fields may lead to
            raise ValueError(f"the checkpoint is not whole ({error})") from error

    def checkpoint(self, keeper: Keeper | None) -> None:
        """Keep the state, if it is time, or if the run ends before the tolerance."""
        if keeper is None:
            return
        if self._unfinished() or (self.status is None and keeper.due()):
            keeper.keep(self.snapshot())

    def _unfinished(self) -> bool:
        """Whether the run ends here, after a whole step, and could be continued."""
        return self.status is not None and self.status.unfinished

    def snapshot(self) -> dict[str, Any]:
        """All that is needed to continue, as plain data."""
        return {
            "state": self.solver.snapshot(self.problem, self.state),
            "rows": self._history(self.rows),
            "seconds": working_time() - self.begun,
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Continue from a snapshot."""
        self.solver.restore(self.problem, self.state, data["state"])
        rows, seconds = data["rows"], float(data["seconds"])
        plain = (
            isinstance(rows, np.ndarray) and rows.dtype == HISTORY and rows.ndim == 1
        )
        require(plain, "the history in the checkpoint is not one")
        require(0.0 <= seconds < np.inf, "the time in the checkpoint is not one")
        status = self.state.status
        require(status is None or isinstance(status, Status), "its status is not one")
        self.rows = [tuple(row) for row in rows.tolist()]
        self.begun -= seconds

    def advance(self, watch: Watch | None = None) -> None:
        """Make a step, record it, and decide whether it was the last."""
        state = self.state
        state.fresh = False
        self.solver.step(self.problem, state)
        gap = state.gap()
        shown = gap if np.isfinite(gap) else state.gap_estimate
        self.rows.append((
            len(self.rows) + 1, working_time() - self.begun, state.oracle_calls,
            state.planes, state.primal, state.dual, shown,
        ))  # fmt: skip
        self.status = self.solver.verdict(state)
        if self.status is Status.CONVERGED and self._aim_lower():
            self.status = None
        if self.status is None and self._stuck():
            self.status = Status.NO_PROGRESS
        if self.status is None and len(self.rows) >= self.solver.max_iter:
            self.status = Status.MAX_ITER
        if self.status is None and state.late():
            self.status = Status.MAX_TIME
        if watch is not None and watch(self._history(self.rows[-1:])[0], self.result):
            self.status = self.status or Status.STOPPED

    def _aim_lower(self) -> bool:
        """Whether only a lower gap proves the tolerance; the solver then aims at that.

        The rounding error of the primal counts: (primal + rounding - dual) / primal has to
        reach `tol`. Where rounding takes up most of it, training ends: see `finish`.
        """
        state = self.state
        if not 0.0 < state.primal < math.inf:
            return False
        rounding = self.solver.rounding(self.problem, state)
        if not relative_gap(state.primal, state.dual, rounding) > self.tol:
            return False
        target = self.tol - 1.01 * rounding / state.primal
        if not target >= REACHABLE * self.tol:
            return False
        self.solver = replace(self.solver, tol=target)
        return True

    def _stuck(self) -> bool:
        """Whether approximate inference leaves a gap that further steps do not close.

        The gap of the best weights has then hardly fallen in the last steps, nor has the
        dual risen by a share of the gap worth waiting for.
        """
        if len(self.rows) <= PLATEAU or self.problem.certificate == "exact":
            return False
        before, now = self.rows[-1 - PLATEAU], self.rows[-1]
        dual, gap = 5, 6  # columns of HISTORY
        if not (np.isfinite(self.state.primal) and np.isfinite(before[gap])):
            return False
        still = now[gap] > 0.98 * before[gap]
        rise = now[dual] - before[dual]
        return still and rise <= 0.02 * now[gap] * abs(self.state.primal)

    def finish(self) -> Result:
        """The result, after a last oracle pass if the weights at hand had none."""
        assert self.status is not None
        if not self.state.fresh and self.status is not Status.CONVERGED:
            try:
                self.solver.certify(self.problem, self.state)
            except KeyboardInterrupt:  # the user is in a hurry: do without it
                self.status = Status.INTERRUPTED
            closed = self.solver.verdict(self.state) is Status.CONVERGED
            closed = closed and not self._aim_lower()
            if closed and self.status is not Status.INTERRUPTED:
                self.status = Status.CONVERGED
        self._try_zero()
        self._check_duality()
        self._bound_rounding()
        return self.result()

    def _bound_rounding(self) -> None:
        """A run has converged if its gap is below the tolerance with rounding included."""
        try:
            self.rounding = self.solver.rounding(self.problem, self.state)
        except KeyboardInterrupt:
            self.status = Status.INTERRUPTED
        state = self.state
        above = relative_gap(state.primal, state.dual, self.rounding) > self.tol
        if self.status is Status.CONVERGED and above and state.gap() <= self.tol:
            self.status = Status.ROUNDING

    def _try_zero(self) -> None:
        """Weights whose objective may be above that of w = 0 are compared with w = 0."""
        state, problem = self.state, self.problem
        limited = self.status in (Status.MAX_ITER, Status.MAX_TIME, Status.NO_PROGRESS)
        other = {Latent, MappedInputs} & set(
            self.solver.needs
        )  # their w is not weights
        plain = not other and state.w.shape == (problem.dim,)
        penalty = problem.formulation.penalty in ("linear", "squared")
        if limited and plain and penalty and state.gap() > POOR:
            w, before = np.zeros(problem.dim), state.fresh
            state.oracle_calls += problem.n
            state.keep(problem, w, problem.primal_at(w, problem.risk_at(w)))
            state.fresh = before

    def result(self) -> Result:
        """What is known by now, as if training ended here."""
        state = self.state
        spent = {"compiling": compile_seconds() - self.compiled}  # not in the seconds
        plain = Result(
            state.best_w if state.best_w is not None else state.w,
            self.status or Status.STOPPED, state.primal, state.dual,
            relative_gap(state.primal, state.dual, self.rounding),
            state.certificate or self.problem.certificate, state.oracle_calls,
            state.planes, len(self.rows), working_time() - self.begun,
            self._history(self.rows), {**state.notes, **self.notes, **spent},
            rounding=self.rounding,
        )  # fmt: skip
        return self.solver.report(self.problem, state, plain)

    def _check_duality(self) -> None:
        """Weak duality: a dual above the primal means that inference is wrong."""
        primal, dual = self.state.primal, self.state.dual
        certificate = self.state.certificate or self.problem.certificate
        if certificate == "exact" and dual > primal + 1e-4 * abs(primal):
            raise OracleError(
                f"the dual, {dual:.6g}, exceeds the primal, {primal:.6g}: argmax of "
                f"{type(self.problem.structure).__name__} has not returned the best "
                f"outputs, with the loss added where a truth is given; {ADVICE}"
            )

    def _history(self, rows: list[tuple[Any, ...]]) -> np.ndarray:
        return np.array(rows, dtype=HISTORY)


@dataclass(kw_only=True)
class NestedState(State):
    """The state of a solver that advances the loop of another one."""

    inner: Loop[Any] | None = None
    calls: int = 0  # oracle calls before the loop under way

    def follow(self) -> None:
        """Show primal, dual and oracle calls of the inner loop as our own."""
        assert self.inner is not None
        inner = self.inner.state
        self.w, self.best_w, self.fresh = inner.w, inner.best_w, inner.fresh
        self.primal, self.dual = inner.primal, inner.dual
        self.gap_estimate, self.planes = inner.gap_estimate, inner.planes
        self.oracle_calls = self.calls + inner.oracle_calls
