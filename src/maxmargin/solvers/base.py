"""The loop that all solvers share: steps, clock, certificate, status, history.

A solver is a frozen dataclass of hyper-parameters with `start` and `step`. A step
improves w and the dual; whenever it has made a full oracle pass at fixed weights it
calls `state.witness`, which keeps the weights of the lowest primal value seen. The
run ends with a certificate

    gap = (primal - dual) / primal.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.problem import ADVICE, OracleError, Problem
from maxmargin.solvers.resume import Keeper, dump, graft

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


class Status(Enum):
    """Why training ended, a sentence each."""

    CONVERGED = "the duality gap is at or below the tolerance"
    MAX_ITER = "the iteration limit was reached before the tolerance"
    MAX_TIME = "the time limit was reached before the tolerance"
    NO_PROGRESS = (
        "no plane improves the dual any more: the gap is what inference leaves"
    )
    STEADY = "a loop over all examples changed the dual variables less than asked"
    WITHIN_EPSILON = "no constraint is violated by more than the epsilon asked for"
    NOT_SEPARABLE = "no weights separate the data: a hard margin has no solution"
    NOT_SEMIDEFINITE = (
        "the kernel is not positive semi-definite: the dual has no maximum to find"
    )
    INTERRUPTED = "training was interrupted; the best weights so far are kept"
    STOPPED = "a callback asked to stop; the best weights so far are kept"

    @property
    def as_asked(self) -> bool:
        """Whether a stopping rule of the user's was met, be it not the tolerance."""
        return self in (Status.CONVERGED, Status.STEADY, Status.WITHIN_EPSILON)


@dataclass
class State:
    """What every solver's state has."""

    DERIVED: ClassVar[tuple[str, ...]] = ("deadline", "extra")  # not in checkpoints

    w: Floats
    dual: float = 0.0
    primal: float = float("inf")  # lowest value seen, at best_w
    best_w: Floats | None = None
    fresh: bool = False  # whether w itself has been witnessed
    gap_estimate: float = float("inf")  # relative, from gaps seen on the way
    oracle_calls: int = 0
    planes: int = 0
    status: Status | None = None  # set by a step that knows it is the last
    deadline: float = float("inf")
    extra: dict[str, Any] = field(default_factory=dict)

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
        if not np.isfinite(self.primal):
            return np.inf
        return max(self.primal - self.dual, 0.0) / max(abs(self.primal), 1e-300)

    def late(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() > self.deadline


@dataclass(frozen=True)
class Result:
    """Weights with their certificate.

    Attributes
    ----------
    w : array
        Weights with the lowest primal value seen.
    status : Status
        Why training ended.
    primal, dual, gap : float
        Objective at w, best lower bound, and (primal - dual) / primal.
    certificate : str
        "exact"; "relaxed" where answers may be fractional; "bound" where inference or
        slack rescaling only bounds the slack: primal and gap are then upper bounds; or
        "reduced" where they are those of the problem over the outputs found so far
        (summed error; see `notes`).
    oracle_calls, planes, iterations : int
        Examples asked about, planes held at the end, steps made.
    seconds : float
        Wall clock.
    history : structured array
        One row per step: iteration, seconds, oracle_calls, planes, primal, dual, gap.
    notes : dict
        What the solver chose and why.
    """

    w: Floats = field(repr=False)
    status: Status
    primal: float
    dual: float
    gap: float
    certificate: str
    oracle_calls: int
    planes: int
    iterations: int
    seconds: float
    history: np.ndarray = field(repr=False)
    notes: dict[str, Any] = field(repr=False)

    @property
    def converged(self) -> bool:
        """Whether the tolerance was met."""
        return self.status is Status.CONVERGED

    def summary(self) -> str:
        """The certificate in a few words."""
        return (
            f"{self.status.name.lower()}: primal {self.primal:.6g}, dual "
            f"{self.dual:.6g}, gap {self.gap:.2e} ({self.certificate}) after "
            f"{self.iterations} iterations, {self.oracle_calls} oracle calls, "
            f"{self.planes} planes, {self.seconds:.2f} s"
        )


# Called after each step with its row of the history, and with what gives the result
# if training ended there; something true ends it.
Watch = Callable[[np.void, Callable[[], Result]], bool | None]


@dataclass(frozen=True)
class Solver(ABC):
    """Hyper-parameters common to all solvers.

    Parameters
    ----------
    tol : float
        Relative duality gap at which training stops.
    max_iter : int
        Steps at most; what a step is, each solver says.
    max_time : float or None
        Seconds at most.
    seed : int
        For solvers that visit examples in random order.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    seed: int = 0

    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard")

    @abstractmethod
    def start(self, problem: Problem, warm: Any = None) -> State:
        """State before the first step; `warm` is the state of an earlier run."""

    @abstractmethod
    def step(self, problem: Problem, state: State) -> None:
        """One iteration: improve state.w and state.dual; witness where possible."""

    def certify(self, problem: Problem, state: State) -> None:
        """Witness state.w by a full oracle pass."""
        state.oracle_calls += problem.n
        risk = problem.risk_at(state.w)
        state.keep(problem, state.w, problem.primal_at(state.w, risk))

    def snapshot(self, problem: Problem, state: State) -> dict[str, Any]:
        """What a checkpoint holds: all that `start` cannot make again from the data."""
        return dump(state)

    def restore(self, problem: Problem, state: State, data: dict[str, Any]) -> None:
        """Put a snapshot into the state that `start` has just made."""
        graft(state, data)

    def solve(
        self,
        problem: Problem,
        warm: Any = None,
        watch: Watch | None = None,
        keeper: Keeper | None = None,
    ) -> tuple[Result, State]:
        """Run to the tolerance; returns the result and the state to go on from.

        A `keeper` is handed the dual state now and then, and what it has of an earlier
        run is gone on from.
        """
        self.check(problem)
        run = _Run(self, problem, watch)
        state = self.start(problem, warm)
        if self.max_time is not None:
            state.deadline = run.begin + self.max_time
        run.go_on(state, keeper)
        try:
            while run.status is None:
                state.fresh = False
                self.step(problem, state)
                run.note(state)
                run.keep(state, keeper)
        except KeyboardInterrupt:
            run.status = Status.INTERRUPTED
        return run.finish(state), state

    def check(self, problem: Problem) -> None:
        """Refuse a formulation that this solver does not know."""
        penalty = problem.formulation.penalty
        if penalty not in self.penalties:
            raise ValueError(
                f"solver {type(self).__name__} cannot train penalty={penalty!r}; it "
                f"knows {', '.join(map(repr, self.penalties))}"
            )
        if not isinstance(self.tol, Real) or not self.tol >= 0.0:
            raise ValueError(
                f"tol={self.tol!r}: the tolerance must be a number, zero or more"
            )
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(
                f"max_iter={self.max_iter!r}: a whole number of steps, at least one, is "
                "needed"
            )
        seconds = self.max_time
        if seconds is not None and not (isinstance(seconds, Real) and seconds >= 0.0):
            raise ValueError(
                f"max_time={seconds!r}: a number of seconds, zero or more, is needed"
            )


class _Run:
    """Bookkeeping of one `solve`: history, when to stop, the result."""

    def __init__(self, solver: Solver, problem: Problem, watch: Watch | None) -> None:
        self.solver, self.problem, self.watch = solver, problem, watch
        self.begin = time.perf_counter()
        self.status: Status | None = None
        self.rows: list[tuple[Any, ...]] = []

    def go_on(self, state: State, keeper: Keeper | None) -> None:
        """Take up an earlier run where its last checkpoint left it."""
        earlier = keeper.earlier() if keeper is not None else None
        if earlier is not None:
            self.solver.restore(self.problem, state, earlier["state"])
            self.rows = [tuple(row) for row in earlier["rows"].tolist()]
            self.begin -= float(earlier["seconds"])

    def keep(self, state: State, keeper: Keeper | None) -> None:
        """A checkpoint, if it is time, or if the run ends before the tolerance."""
        if keeper is None:
            return
        unfinished = self.status in (Status.MAX_ITER, Status.MAX_TIME, Status.STOPPED)
        if unfinished or (self.status is None and keeper.due()):
            seconds = time.perf_counter() - self.begin
            rows = self._history(self.rows)
            held = self.solver.snapshot(self.problem, state)
            keeper.keep({"state": held, "rows": rows, "seconds": seconds})

    def note(self, state: State) -> None:
        """Record a step and decide whether it was the last."""
        gap = state.gap()
        shown = gap if np.isfinite(gap) else state.gap_estimate
        self.rows.append((
            len(self.rows) + 1, time.perf_counter() - self.begin, state.oracle_calls,
            state.planes, state.primal, state.dual, shown,
        ))  # fmt: skip
        if gap <= self.solver.tol:
            self.status = Status.CONVERGED
        elif state.status is not None:
            self.status = state.status
        elif len(self.rows) >= self.solver.max_iter:
            self.status = Status.MAX_ITER
        elif state.late():
            self.status = Status.MAX_TIME
        if self.watch is not None:
            row = self._history(self.rows[-1:])[0]
            if self.watch(row, partial(self.result, state)):
                self.status = self.status or Status.STOPPED

    def finish(self, state: State) -> Result:
        """The certificate: a last oracle pass if the weights at hand have none."""
        assert self.status is not None
        if not state.fresh and self.status is not Status.CONVERGED:
            try:
                self.solver.certify(self.problem, state)
            except KeyboardInterrupt:  # in a hurry: what is known must do
                self.status = Status.INTERRUPTED
            if state.gap() <= self.solver.tol:
                self.status = Status.CONVERGED
        result = self.result(state)
        dual, primal = result.dual, result.primal
        if result.certificate == "exact" and dual > primal + 1e-4 * abs(primal):
            raise OracleError(
                f"the dual, {dual:.6g}, exceeds the primal, {primal:.6g}: argmax of "
                f"{type(self.problem.structure).__name__} has not returned the best "
                f"outputs, with the loss added where a truth is given; {ADVICE}"
            )
        return result

    def result(self, state: State) -> Result:
        """What is known by now, as if training ended here."""
        w = state.best_w if state.best_w is not None else state.w
        return Result(
            w, self.status or Status.STOPPED, state.primal, state.dual, state.gap(),
            state.extra.get("certificate", self.problem.certificate), state.oracle_calls,
            state.planes, len(self.rows), time.perf_counter() - self.begin,
            self._history(self.rows), dict(state.extra.get("notes", {})),
        )  # fmt: skip

    def _history(self, rows: list[tuple[Any, ...]]) -> np.ndarray:
        return np.array(rows, dtype=HISTORY)


def permutation(seed: int, turn: int, n: int, run: int = 1) -> Ints:
    """Order of examples in pass `turn`: the same for the same seed.

    Runs of neighbours stay together, which is kind to caches where data are large.
    """
    rng = np.random.default_rng([seed, turn])
    if run == 1 or n < 100 * run:
        return rng.permutation(n)
    ids = (rng.permutation(np.arange(0, n, run))[:, None] + np.arange(run)).ravel()
    return ids[ids < n]
