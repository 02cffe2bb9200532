"""Latent structural SVM: the concave-convex procedure.

    min_w 1/2 ||w||^2 + C sum_i ( max_{y,h} [<w, psi(x_i, y, h)> + Delta(y_i, y, h)]
                                  - max_h <w, psi(x_i, y_i, h)> )

Complete the hidden parts at the weights at hand, h_i = argmax_h <w, psi(x_i, y_i, h)>,
train with (y_i, h_i) as if all of it had been seen, and repeat. Each convex problem
is an upper bound that touches the objective, so the objective never rises.

A plane of example i is psi(truth) - psi(y, h): when the completed truth changes, its
planes move by the change of psi(truth) and stay planes, so the dual goes on from where
it was. Early convex problems are solved roughly, to a tenth of the last decrease.

[1] Yu 2011, Algorithm 5.1, equations 5.5-5.7.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Ragged
from maxmargin.core.problem import Problem
from maxmargin.core.structure import InitialGuess, Latent
from maxmargin.solvers.base import HISTORY, Result, Solver, State, Status, Watch
from maxmargin.solvers.n_slack.block_dual import BlockState
from maxmargin.solvers.resume import Keeper

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


@dataclass(frozen=True)
class LatentResult(Result):
    """A result with the history of completions.

    `primal` is the latent objective at w; `dual` and `gap` certify the last convex
    problem, with the hidden parts held as completed.

    Attributes
    ----------
    outer : structured array
        One row per round: restart, round, seconds, oracle_calls, changed, tol,
        objective.
    truth : Ragged
        The true outputs with their hidden parts completed at w.
    """

    outer: np.ndarray = field(default_factory=lambda: np.zeros(0, OUTER), repr=False)
    truth: Ragged | None = field(default=None, repr=False)

    def summary(self) -> str:
        """The certificate in a few words; the dual is none of the latent problem."""
        return (
            f"{self.status.name.lower()}: objective {self.primal:.6g} after "
            f"{len(self.outer)} completions; last convex problem: dual {self.dual:.6g}, "
            f"gap {self.gap:.2e} ({self.certificate}); {self.iterations} iterations, "
            f"{self.oracle_calls} oracle calls, {self.planes} planes, "
            f"{self.seconds:.2f} s"
        )


class LatentState(NamedTuple):
    """What a further run goes on from: weights, completed truth, dual of the last."""

    w: Floats
    truth: Ragged
    state: State | None

    @property
    def blocks(self) -> Any:
        """Planes, where the trainer has any."""
        return getattr(self.state, "blocks", None)


@dataclass(frozen=True)
class CCCP:
    """Complete, train, repeat.

    A run that is given the state of an earlier one goes on from its weights, its
    completed truth and its dual, whatever C was; further restarts are then left out.

    Parameters
    ----------
    inner : Solver
        Trains the convex problems; its tolerance is that of the last one, its time
        limit that of all of them.
    tol : float or None
        Relative decrease of the objective at which to stop; None: that of `inner`.
    max_rounds : int
        Convex problems per restart at most.
    restarts : int
        Starts from different hidden parts; the lowest objective is kept.
    w : array, optional
        Initial weights, at which hidden parts are completed first.
    given : bool
        Whether the true outputs already have hidden parts to start from.
    """

    inner: Solver
    tol: float | None = None
    max_rounds: int = 50
    restarts: int = 1
    w: Floats | None = None
    given: bool = False

    def solve(
        self,
        problem: Problem,
        warm: Any = None,
        watch: Watch | None = None,
        keeper: Keeper | None = None,
    ) -> tuple[LatentResult, LatentState]:
        """Run all restarts; the best result and the state to go on from.

        Checkpoints hold weights, after each round: those of the best start so far and
        of the start under way. A resumed run completes at these and goes on.
        """
        problem.structure.require(Latent, "training with hidden parts (CCCP)")
        self.inner.check(problem)
        if problem.formulation.penalty == "summed":
            raise ValueError(
                "penalty='summed' has no objective that goes down with the completions: "
                "hidden parts need another penalty"
            )
        begin = time.perf_counter()
        best: LatentResult | None = None
        outer: list[np.ndarray] = []
        goes_on = isinstance(warm, LatentState) and warm.truth.n == problem.n
        starts = [(0, None)] if goes_on else self._starts(keeper)
        for restart, w in starts:
            cccp = self if w is None else replace(self, w=w)
            run = _Run(cccp, problem, restart, begin, watch)
            run.known = w is not None
            run.keeper, run.best = keeper, best
            run.go(warm if goes_on else None)
            outer.append(run.rows())
            if best is None or run.objective < best.primal:
                best, state = run.result(), run.leave()
            if run.stopped:
                break
        assert best is not None
        return replace(best, outer=np.concatenate(outer)), state

    def _starts(self, keeper: Keeper | None) -> Iterator[tuple[int, Floats | None]]:
        """Number and weights of each start; no weights: those of `_Run._first`."""
        earlier = keeper.earlier() if keeper is not None else None
        first = 0
        if earlier is not None:
            first = int(earlier["restart"])
            if earlier["best"] is not None:
                yield first, earlier["best"]
            yield first, earlier["w"]
            first += 1
        for restart in range(first, max(self.restarts, 1)):
            yield restart, None


class _Run:
    """One start: rounds until the objective stays."""

    def __init__(
        self, cccp: CCCP, problem: Problem, restart: int, begin: float, watch: Any
    ) -> None:
        self.cccp, self.inner, self.problem = cccp, cccp.inner, problem
        self.restart, self.begin, self.watch = restart, begin, watch
        self.state: State | None = None
        self.objective, self.w = np.inf, np.zeros(problem.dim)
        self.last: Result | None = None
        self.trained: Ragged | None = None  # the truth that the dual belongs to
        self.kept: list[tuple[Any, ...]] = []
        self.history: list[np.ndarray] = []
        self.calls, self.status, self.stopped = 0, Status.MAX_ITER, False
        self.known = False  # weights of an earlier run: not to be disturbed
        self.keeper: Keeper | None = None
        self.best: LatentResult | None = None

    def go(self, warm: LatentState | None = None) -> None:
        """Rounds of completion and training."""
        floor = self.inner.tol
        stop = floor if self.cccp.tol is None else self.cccp.tol
        truth, hidden = self._first() if warm is None else (self._again(warm), False)
        tol = max(ROUGH, floor) if hidden else floor
        for turn in range(self.cccp.max_rounds):
            completed = self.problem.with_truth(truth)
            result = self._train(completed, tol)
            again = self._complete(result.w, truth)
            moved = differing(truth, again)
            value = self._value(result, again, moved)
            drop = (self.objective - value) / max(abs(value), 1e-300)
            better = value <= self.objective
            if better:
                self.objective, self.w, self.truth = value, result.w, again
            self._note(turn, len(moved), tol)
            self._keep()
            if self.stopped:
                return
            if tol <= floor and (drop <= stop or len(moved) == 0):
                self.status = result.status
                return
            tol = max(floor, min(tol, SHARE * drop if drop > stop else SHARE * tol))
            if better and len(moved):
                self._carry(completed, again, moved)
                truth = again

    def _first(self) -> tuple[Ragged, bool]:
        """Hidden parts to start from, and whether there are any."""
        p, cccp = self.problem, self.cccp
        everyone = np.arange(p.n)
        complete = p.structure.require(Latent, "CCCP").complete
        initial = p.structure.offers(InitialGuess)
        rng = np.random.default_rng([self.inner.seed, self.restart])
        if cccp.w is not None:
            w = np.array(cccp.w, dtype=np.float64)
            if w.shape != (p.dim,):
                raise ValueError(
                    f"initial weights have shape {w.shape}, but there are {p.dim}"
                )
            if self.restart > 0 and not self.known:
                w = w + 0.1 * np.linalg.norm(w) / np.sqrt(p.dim) * rng.normal(
                    size=p.dim
                )
            truth = complete(p.x, everyone, w, p.truth)
            self._measure(w, truth)
        elif cccp.given and self.restart == 0:
            truth = p.truth
        elif initial is not None:
            truth = initial.guess(p.x, p.truth, rng)
        else:
            w = np.zeros(p.dim)
            if self.restart > 0:
                w = rng.normal(size=p.dim)
            truth = complete(p.x, everyone, w, p.truth)
        # Without hidden parts completion changes nothing, whatever the weights.
        probe = complete(
            p.x, everyone, np.random.default_rng(0).normal(size=p.dim), truth
        )
        return truth, bool(len(differing(truth, probe)))

    def _again(self, warm: LatentState) -> Ragged:
        """Where an earlier run ended: its truth is completed at its weights."""
        self._measure(warm.w, warm.truth)
        self.state = warm.state
        return warm.truth

    def _measure(self, w: Floats, truth: Ragged) -> None:
        """Begin with weights: their objective is the one to beat."""
        completed = self.problem.with_truth(truth)
        self.objective = completed.primal(w, completed.cuts(w).slack)
        self.calls += self.problem.n
        self.w, self.truth = w, truth

    def leave(self) -> LatentState:
        """The best weights, their truth, and the dual, moved to this truth."""
        if self.trained is not None:
            moved = differing(self.trained, self.truth)
            if len(moved):
                old = self.problem.with_truth(self.trained)
                self._carry(old, self.truth, moved)
        return LatentState(self.w, self.truth, self.state)

    def _train(self, completed: Problem, tol: float) -> Result:
        limit = self.inner.max_time
        if limit is not None:
            limit = max(limit - (time.perf_counter() - self.begin), 1e-3)
        solver = replace(self.inner, tol=tol, max_time=limit)
        result, self.state = solver.solve(completed, self.state, self.watch)
        self.trained = completed.truth
        history = result.history.copy()
        history["oracle_calls"] += self.calls
        history["seconds"] += time.perf_counter() - self.begin - result.seconds
        self.history.append(history)
        self.calls += result.oracle_calls
        self.last = result
        if result.status in (Status.MAX_TIME, Status.STOPPED, Status.INTERRUPTED):
            self.stopped, self.status = True, result.status
        return result

    def _complete(self, w: Floats, truth: Ragged) -> Ragged:
        latent = self.problem.structure.require(Latent, "CCCP")
        ids = np.arange(self.problem.n)
        return latent.complete(self.problem.x, ids, w, truth)

    def _value(self, result: Result, truth: Ragged, moved: Ints) -> float:
        """The latent objective at the new weights; at most the convex one."""
        if len(moved) == 0:
            return result.primal
        completed = self.problem.with_truth(truth)
        self.calls += self.problem.n
        return completed.primal(result.w, completed.cuts(result.w).slack)

    def _carry(self, old: Problem, truth: Ragged, moved: Ints) -> None:
        """Move the planes of examples whose completion changed."""
        if not isinstance(self.state, BlockState) or self.problem.parts() is not None:
            self.state = None  # planes in parts do not move with the truth
            return
        features = self.problem.structure.features
        change = features(old.x, moved, truth.take(moved)).minus(
            features(old.x, moved, old.truth.take(moved))
        )
        self.state.blocks.shift(moved, change, self.problem.formulation.scales)
        self.trained = truth

    def _keep(self) -> None:
        if self.keeper is not None and (self.stopped or self.keeper.due()):
            best = None if self.best is None else self.best.w
            self.keeper.keep({"restart": self.restart, "w": self.w, "best": best})

    def _note(self, turn: int, changed: int, tol: float) -> None:
        self.kept.append((
            self.restart, turn + 1, time.perf_counter() - self.begin, self.calls,
            changed, tol, self.objective,
        ))  # fmt: skip

    def rows(self) -> np.ndarray:
        """The rounds of this run."""
        return np.array(self.kept, dtype=OUTER)

    def result(self) -> LatentResult:
        """The last convex problem's certificate, with the latent objective."""
        assert self.last is not None
        history = np.concatenate([np.zeros(0, HISTORY), *self.history])
        history["iteration"] = np.arange(1, len(history) + 1)
        parts = {f.name: getattr(self.last, f.name) for f in fields(Result)}
        parts |= {
            "w": self.w, "status": self.status, "primal": self.objective,
            "oracle_calls": self.calls, "iterations": len(history),
            "seconds": time.perf_counter() - self.begin, "history": history,
            "notes": {**self.last.notes, "rounds": len(self.kept),
                      "restart": self.restart},
        }  # fmt: skip
        return LatentResult(**parts, truth=self.truth)


def differing(a: Ragged, b: Ragged) -> Ints:
    """Rows of `a` that are not those of `b`."""
    if np.array_equal(a.ptr, b.ptr):
        rows = np.repeat(np.arange(a.n), a.sizes)
        return np.unique(rows[a.data != b.data])
    return np.array(
        [i for i in range(a.n) if not np.array_equal(a.row(i), b.row(i))], np.int64
    )
