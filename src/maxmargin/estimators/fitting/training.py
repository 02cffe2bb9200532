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

from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.arrays import Floats, Ragged
from maxmargin.core.engine import Engine
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.callbacks import Watched, watching
from maxmargin.estimators.fitting.checkpoint import FileKeeper
from maxmargin.solvers.base import Result, Run, State, Trainer, Watch, run
from maxmargin.solvers.cccp import CCCP
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


class Plan(NamedTuple):
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
Schedule = Callable[[Plan, Watch | None], Iterator[Run]]


def train(estimator: Trainable, plan: Plan, schedule: Schedule) -> Iterator[Run]:
    """Make the runs of a schedule; after each, the estimator is fitted with its result.

    A generator: whoever has seen enough (a path that gets worse) may stop asking.
    """
    try:
        with _watch_of(estimator, plan) as watch:
            for made in schedule(plan, watch):
                plan.adopt(estimator, made.result, made.state)
                warn_unless_converged(made.result)
                yield made
    finally:
        estimator._release(plan.problem.engine)


def _watch_of(estimator: Trainable, plan: Plan) -> AbstractContextManager[Watch | None]:
    """What is called after each step: callbacks and the progress display, if any."""
    ours = estimator.callbacks is not None or estimator.verbose
    if not ours and not vars(estimator).get("_skl_callbacks"):
        return nullcontext()
    return watching(
        estimator, lambda one, now: plan.adopt(one, now, None), plan.X, plan.y
    )


def once(start: State | None = None, keeper: FileKeeper | None = None) -> Schedule:
    """One run, from the state of an earlier one, with checkpoints."""

    def runs(plan: Plan, watch: Watch | None) -> Iterator[Run]:
        if keeper is None:
            yield run(plan.trainer, plan.problem, start=start, watch=watch)
            return
        with keeper.running():
            made = run(
                plan.trainer, plan.problem, start=start, watch=watch, keeper=keeper
            )
            keeper.finish(made.result)
        yield made

    return runs


def path_over(Cs: Sequence[float]) -> Schedule:
    """A run for each C, each from the dual variables of the one before.

    The problem of the plan has C = 1 times the weights of the examples. Constraints stay
    valid when C changes, and alpha scales with C, so each run starts near its solution.
    """

    def runs(plan: Plan, watch: Watch | None) -> Iterator[Run]:
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

    def runs(plan: Plan, watch: Watch | None) -> Iterator[Run]:
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
    if not result.status.as_asked:
        warnings.warn(
            f"{result.status.value} ({result.summary()})", ConvergenceWarning,
            stacklevel=5,
        )  # fmt: skip
