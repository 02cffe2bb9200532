"""From encoded data to a trained estimator: what `fit`, `fit_path`, `partial_fit` share.

    data      X and y as arrays                       estimator._training_data(X, y)
    plan      a trainer, a problem, how to adopt      estimator._plan(data)
    schedule  which runs are made                     once, path_over, next_batch
    train     makes the runs; the estimator adopts the result of each

Nothing here writes a parameter of an estimator, and no run depends on an attribute that
another method has left behind: what a method wants is in its schedule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.arrays import Floats, Ragged, Rows
from maxmargin.core.engine import Engine
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent, MostViolated, Structure
from maxmargin.estimators.fitting.callbacks import Watched, watching
from maxmargin.estimators.fitting.checkpoint import FileKeeper
from maxmargin.solvers.base import Result, Run, State, Status, Trainer, Watch, run
from maxmargin.solvers.cccp import CCCP, LatentResult
from maxmargin.solvers.n_slack.stream import StreamDual


class TrainingData(NamedTuple):
    """Examples as a structure has encoded them."""

    structure: Structure  # bound
    x: Any
    truth: Ragged
    weight: Any = None  # factor on C of each example
    X: Any = None  # as given, for callbacks
    y: Any = None
    init: Floats | None = None  # weights to complete hidden parts at first
    given: bool = False  # whether y has hidden parts to start from


class TrainingPlan(NamedTuple):
    """What is run, and what its result means for an estimator."""

    trainer: Trainer
    problem: Problem
    # adopt(estimator, result, state): become what training has led to; without a state
    # where training is still under way.
    adopt: Callable[[Any, Result, State | None], None]
    X: Any = None  # as given, for callbacks
    y: Any = None
    streams: bool = True  # whether further batches can be added


class Trainable(Watched, Protocol):
    """What `train` needs of an estimator."""

    def _release(self, engine: Engine) -> None:
        """Close an engine, unless the user gave it."""


# The runs to make for a plan, one after the other.
Schedule = Callable[[TrainingPlan, Watch | None], Iterator[Run]]


def train(
    estimator: Trainable, plan: TrainingPlan, schedule: Schedule
) -> Iterator[Run]:
    """Make the runs of a schedule; after each, the estimator is fitted with its result.

    A generator: whoever has seen enough (a path that gets worse) may stop asking. After
    a run that was interrupted (Ctrl-C), KeyboardInterrupt goes on to the caller, so that
    a search over parameters or a script stops; the estimator keeps the best weights.
    """
    try:
        with _watch_of(estimator, plan) as watch:
            for made in schedule(plan, watch):
                plan.adopt(estimator, made.result, made.state)
                if made.result.status is Status.INTERRUPTED:
                    yield made
                    raise KeyboardInterrupt  # the estimator has the best weights so far
                warn_unless_converged(made.result)
                yield made
    finally:
        estimator._release(plan.problem.engine)


def _watch_of(
    estimator: Trainable, plan: TrainingPlan
) -> AbstractContextManager[Watch | None]:
    """What is called after each step: callbacks and the progress display, if any."""
    ours = estimator.callbacks is not None or estimator.verbose
    if not ours and not vars(estimator).get("_skl_callbacks"):
        return nullcontext()
    return watching(
        estimator, lambda one, now: plan.adopt(one, now, None), plan.X, plan.y
    )


def once(start: State | None = None, keeper: FileKeeper | None = None) -> Schedule:
    """One run, from the state of an earlier one, with checkpoints."""

    def runs(plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        warn_if_large(plan.problem)
        if keeper is None:
            made = run(plan.trainer, plan.problem, start=start, watch=watch)
            yield _with_hint(plan.problem, made)
            return
        with keeper.running():
            made = run(
                plan.trainer, plan.problem, start=start, watch=watch, keeper=keeper
            )
            keeper.finish(made.result)
        yield _with_hint(plan.problem, made)

    return runs


def _with_hint(problem: Problem, made: Run) -> Run:
    """The run, with a note on the scale of C and features where that seems wrong."""
    if made.result.status is Status.INTERRUPTED:
        return made
    hint = scale_hint(problem, made.result)
    if hint is None:
        return made
    noted = replace(made.result, notes={**made.result.notes, "hint": hint})
    return Run(noted, made.state)


def path_over(Cs: Sequence[float]) -> Schedule:
    """A run for each C, each from the dual variables of the one before.

    The problem of the plan has C = 1 times the weights of the examples. Constraints stay
    valid when C changes, and alpha scales with C, so each run starts near its solution.
    """

    def runs(plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        state: State | None = None
        for C in Cs:
            if state is not None:
                state.drop_idle()
            problem = plan.problem.with_C(plan.problem.C * C)
            result, state = run(plan.trainer, problem, start=state, watch=watch)
            noted = replace(result, notes={**result.notes, "C": float(C)})
            yield Run(noted, state)

    return runs


def next_batch(state: State | None) -> Schedule:
    """A run on the next batch of a stream; `state` holds the planes of those before."""

    def runs(plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        trainer = plan.trainer
        if not plan.streams:
            raise ValueError(
                "partial_fit is not there for kernels, which need all rows at once"
            )
        if isinstance(trainer, CCCP):
            raise ValueError(
                "partial_fit is not there for outputs with hidden parts, which are "
                "completed again and again: use fit, with warm_start=True to go on"
            )
        settings = trainer.tol, trainer.max_iter, trainer.max_time, trainer.seed
        yield run(StreamDual(*settings), plan.problem, start=state, watch=watch)

    return runs


def warn_unless_converged(result: Result) -> None:
    """Say so when neither the tolerance nor another rule asked for was met."""
    hint = result.notes.get("hint")
    if not result.status.as_asked:
        more = "" if hint is None else f"; {hint}"
        warnings.warn(
            f"{result.status.value} ({result.summary()}){more}", ConvergenceWarning,
            stacklevel=5,
        )  # fmt: skip
    elif hint is not None:
        warnings.warn(hint, ConvergenceWarning, stacklevel=5)


SAMPLE = 200  # examples
SMALL = 0.01  # share of 1/2 ||w||^2 in the objective below which slacks are looked at
UNMOVED = 0.99  # share of the slacks at zero weights that count as nothing learned
APART = 1e3  # ratio of feature sizes
TINY = 0.01  # C times the squared length of a constraint: C is far too small
FEW = 20  # examples looked at before training
LARGE = 1e5  # C times the squared length of a constraint
SLOW = (Status.MAX_ITER, Status.MAX_TIME, Status.NO_PROGRESS)


def scale_hint(problem: Problem, result: Result) -> str | None:
    """What to do about the scale of C or of the features; None if nothing seems wrong."""
    if result.w.shape != (problem.dim,) or problem.dim == 0:
        return None  # a kernel machine
    if problem.formulation.penalty not in ("linear", "squared"):
        return None
    if problem.structure.offers(MostViolated) is None:
        return None
    small = problem.structure.square(result.w) < 2.0 * SMALL * abs(result.primal)
    slow = result.status in SLOW
    if not small and not slow:
        return None
    if isinstance(result, LatentResult):
        if result.truth is None or result.truth.n != problem.n:
            return None
        problem = problem.with_truth(result.truth)
    ids = np.unique(np.linspace(0, problem.n - 1, SAMPLE).astype(np.int64))
    start = problem.cuts(np.zeros(problem.dim), ids)
    square = mean_square(start.a)
    if square == 0.0:
        return None
    if slow:
        return _slow_hint(start.a, square, float(problem.C.max()), problem.dim)
    before = problem.costs(start.slack, ids).risk
    after = problem.costs(problem.cuts(result.w, ids).slack, ids).risk
    if after < UNMOVED * before or float(problem.C.max()) * square >= TINY:
        return None  # something was learned, or C is not what prevents it
    return (
        f"weights stay close to zero: the training errors still cost {after / before:.1%} "
        "of what they cost at zero weights. C is small for these features: constraints "
        f"have a mean squared length of {square:.3g}, so try C = {1.0 / square:.2g} or "
        "more, or scale the features up"
    )


def warn_if_large(problem: Problem) -> None:
    """Say before training that it will take long, where features are huge for C."""
    if problem.formulation.penalty not in ("linear", "squared"):
        return
    structure = problem.structure
    plain = (
        structure.offers(MostViolated) is not None and structure.offers(Latent) is None
    )
    if not plain or problem.dim == 0 or problem.n == 0:
        return
    ids = np.unique(np.linspace(0, problem.n - 1, FEW).astype(np.int64))
    square = mean_square(problem.cuts(np.zeros(problem.dim), ids).a)
    C = float(problem.C[ids].max(initial=0.0))
    if C * square > LARGE:
        warnings.warn(
            f"features are large for this C: C times the mean squared length of a "
            f"constraint is {C * square:.0e}, so training may take very long. Scale the "
            f"features down (normalize=True where there is such a parameter), or try C = "
            f"{100.0 / square:.1g}",
            ConvergenceWarning,
            stacklevel=6,
        )


def _slow_hint(a: Rows, square: float, C: float, dim: int) -> str | None:
    sizes = column_sizes(a, dim)
    ratio = float(sizes.max() / sizes.min()) if len(sizes) else 1.0
    if ratio > APART:
        return (
            f"features differ in size by a factor of {ratio:.0e}, which makes training "
            "slow: scale them to similar ranges, for instance with StandardScaler"
        )
    if C * square > LARGE:
        return (
            f"features are large for this C (C times the mean squared length of a "
            f"constraint is {C * square:.0e}), which makes training slow: scale the "
            "features down, or choose a smaller C"
        )
    return None


def mean_square(a: Rows) -> float:
    """Mean squared length of rows that are not zero.

    Examples
    --------
    >>> mean_square(Rows(np.array([0, 1, 1]), np.zeros(1, np.int32), np.array([2.0])))
    4.0
    """
    filled = int((np.diff(a.ptr) > 0).sum())
    return float(a.val @ a.val) / max(filled, 1)


def column_sizes(a: Rows, dim: int) -> Floats:
    """Largest absolute value of each coordinate that occurs."""
    size = np.zeros(dim)
    np.maximum.at(size, a.idx, np.abs(a.val))
    return size[size > 0]
