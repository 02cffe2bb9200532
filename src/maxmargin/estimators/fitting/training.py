"""From encoded data to a trained estimator: what `fit`, `fit_path`, `partial_fit` share.

    data      X and y as arrays                       estimator._training_data(X, y)
    plan      a trainer, a problem, how to adopt      estimator._plan(data)
    schedule  which runs are made                     once, path_over, next_batch, coarse_first
    train     makes the runs; the estimator adopts the result of each

Parameters of an estimator are only read here. All that differs between `fit`, `fit_path`
and `partial_fit` is in the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning

from maxmargin.core.data.arrays import Floats, Ragged, Rows
from maxmargin.core.data.warned import warn
from maxmargin.core.engine import Engine
from maxmargin.core.problem import Problem
from maxmargin.core.structure import (
    FewOutputs,
    Latent,
    MappedInputs,
    MostViolated,
    Structure,
)
from maxmargin.estimators.fitting.callbacks import Watched, watching
from maxmargin.estimators.saving.checkpoint import FileKeeper
from maxmargin.solvers.base import (
    Before,
    Result,
    Run,
    State,
    Status,
    Trainer,
    Watch,
    relative_gap,
    run,
)
from maxmargin.solvers.cccp import CCCP, LatentResult
from maxmargin.solvers.certificate import AS_ASKED
from maxmargin.solvers.choose import Auto
from maxmargin.solvers.enumerated.block_dual import Enumerated
from maxmargin.solvers.enumerated.stream import EnumeratedStream
from maxmargin.solvers.kernel.result import KernelResult
from maxmargin.solvers.lanes.islands import LONG, cuts
from maxmargin.solvers.lanes.solver import can_train
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.n_slack.stream import StreamDual
from maxmargin.solvers.summed.sdcd import SDCD
from maxmargin.solvers.summed.sdcd_as_written import SDCDAsWritten
from maxmargin.solvers.summed.stream import SummedStream
from maxmargin.structures.joint.growing import Growing

# Trainers that `partial_fit` continues in the same way; others are not used there.
CONTINUED = (Auto, BlockDual, Enumerated, SDCD, SDCDAsWritten)


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
    # The certificate of the model itself, where training works with something else.
    certify: Callable[[Result, State | None], Result] | None = None


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
                if plan.certify and made.result.status is not Status.INTERRUPTED:
                    certified = plan.certify(made.result, made.state)
                    made = Run(certified, made.state)
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
        steepness = 0.0
        if MappedInputs not in plan.trainer.needs:  # else: a kernel
            steepness = constraint_size(plan.problem)
            warn_if_large(plan.problem, steepness)
        steep = STEEP < steepness < HOPELESS and isinstance(plan.trainer, Auto)
        with nullcontext() if keeper is None else keeper.running():
            fresh = start is None and (keeper is None or keeper.earlier() is None)
            if fresh and steep:
                made = raising_C(plan, watch, steepness, keeper)
            else:
                made = run(
                    plan.trainer, plan.problem, start=start, watch=watch, keeper=keeper
                )
            if keeper is not None:
                keeper.finish(made.result)
        yield _with_hint(plan.problem, made)

    return runs


def _with_hint(problem: Problem, made: Run) -> Run:
    """The run, with a note on the scale of C and features where that seems wrong."""
    if made.result.status is Status.INTERRUPTED:
        return made
    hint = search_hint(problem, made.result) or scale_hint(problem, made.result)
    if hint is None:
        return made
    noted = replace(made.result, notes={**made.result.notes, "hint": hint})
    return Run(noted, made.state)


def raising_C(
    plan: TrainingPlan, watch: Watch | None, steepness: float,
    keeper: FileKeeper | None = None,
) -> Run:  # fmt: skip
    """A run whose dual variables come from rough runs at smaller C, one after the other.

    Where features are large for C the dual is badly conditioned, and a run from zero takes
    several times as long. The optimum rises with C, so that the dual of a smaller C is a
    lower bound; the primal at C is not known before the last run. Steps, time and inference
    of the rough runs count, and callbacks and progress see them. Checkpoints are written
    by the last run, of which an interrupted one makes a step.
    """
    trainer, problem = plan.trainer, plan.problem
    state, before = None, Before([], 0.0, 0)
    rough: list[float] = []
    steps = min(int(np.log10(steepness / STEEP)) + 2, MOST_STEPS)
    for k in range(steps, 0, -1):
        most = min(len(before.rows) + ROUGH_STEPS, trainer.max_iter - 1)
        if most <= len(before.rows):
            break  # the last run needs a step
        smaller = problem.with_C(problem.C / 10.0**k)
        first = replace(trainer, tol=max(ROUGH, trainer.tol), max_iter=most)
        seen = _without_primal(watch, keeper)
        result, state = run(first, smaller, start=state, watch=seen, before=before)
        before = Before(
            _lower_bounds(result.history), result.seconds, result.oracle_calls
        )
        rough.append(float(smaller.C.max()))
        ended = result.status in (Status.INTERRUPTED, Status.STOPPED)
        if ended and not (keeper is not None and keeper.interrupted()):
            return Run(exactly(problem, result, trainer.tol), state)
        state.drop_idle()
        if ended or result.status is Status.MAX_TIME:
            break
    result, state = run(
        trainer, problem, start=state, watch=watch, keeper=keeper, before=before
    )
    return Run(replace(result, notes={**result.notes, "smaller_C": rough}), state)


def _lower_bounds(history: np.ndarray) -> list[tuple[Any, ...]]:
    """Steps at a smaller C: their dual is a lower bound, their primal is another one."""
    rows = history.copy()
    rows["primal"], rows["gap"] = np.inf, np.inf
    return [tuple(row) for row in rows.tolist()]


def _without_primal(watch: Watch | None, keeper: FileKeeper | None) -> Watch | None:
    """What watches a run at a smaller C: its primal and gap are not shown."""

    def seen(row: Any, ended: Callable[[], Result]) -> bool:
        def so_far() -> Result:
            return replace(ended(), primal=np.inf, gap=np.inf)

        known = row.copy()
        known["primal"], known["gap"] = np.inf, np.inf
        stop = watch is not None and bool(watch(known, so_far))
        return stop or (keeper is not None and keeper.interrupted())

    return None if watch is None and keeper is None else seen


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


def coarse_first(coarse: Problem, told: dict[str, Any], refine: bool) -> Schedule:
    """A run with approximate inference, then an exact one from its constraints.

    `coarse` has the constraints of the plan's problem, but finds only some of them, so
    its dual is a lower bound for both. Without `refine` an exact pass over the data takes
    the place of the second run: primal and gap are those of the plan's problem.
    """

    def runs(plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        result, state = run(plan.trainer, coarse, watch=watch)
        note = told | {
            "iterations": result.iterations, "oracle_calls": result.oracle_calls,
            "seconds": result.seconds, "primal": result.primal, "dual": result.dual,
        }  # fmt: skip
        if result.status is Status.INTERRUPTED:
            yield Run(result, state)
            return
        if refine:
            made, state = run(plan.trainer, plan.problem, start=state, watch=watch)
        else:
            made = exactly(plan.problem, result, plan.trainer.tol)
            note["missed"] = made.primal - result.primal
        yield Run(replace(made, notes={**made.notes, "coarse": note}), state)

    return runs


def exactly(problem: Problem, result: Result, tol: float) -> Result:
    """The result with the primal value and the gap of a problem without pruning."""
    primal = problem.primal_at(result.w, problem.risk_at(result.w))
    gap = relative_gap(primal, result.dual, result.rounding)
    status = result.status
    if status is Status.CONVERGED and gap > tol:
        status = Status.NO_PROGRESS
    calls = result.oracle_calls + problem.n
    return replace(result, primal=primal, gap=gap, status=status, oracle_calls=calls)


def next_batch(state: State | None) -> Schedule:
    """A run on the next batch of a stream; `state` holds the planes of those before."""

    def runs(plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        trainer = plan.trainer
        if not plan.streams:
            raise ValueError(
                "partial_fit is not available for kernels, which need all rows at once"
            )
        if isinstance(trainer, CCCP):
            raise ValueError(
                "partial_fit is not available for outputs with hidden parts, which are "
                "completed again and again: use fit, with warm_start=True to go on"
            )
        if plan.problem.formulation.regularizer == "l1":
            raise ValueError(
                "partial_fit is not available for regularizer='l1': use fit with all data, or "
                "regularizer='l2'"
            )
        few = plan.problem.structure.offers(FewOutputs) is not None
        if not isinstance(trainer, CONTINUED):
            warn(
                "partial_fit continues the dual by a trainer of its own: the solver "
                f"{type(trainer).__name__} is not used; leave it at 'auto'",
            )  # fmt: skip
        kind: type[SummedStream | EnumeratedStream | StreamDual] = StreamDual
        if plan.problem.formulation.penalty == "summed":
            kind = SummedStream
        elif few:
            kind = EnumeratedStream
        printed: dict[str, Any] = {}
        if isinstance(trainer, SDCDAsWritten):
            printed = {"as_written": True, "k": trainer.k}
        solver = kind(
            trainer.tol, trainer.max_iter, trainer.max_time, trainer.seed, **printed
        )
        yield run(solver, plan.problem, start=state, watch=watch)

    return runs


def warn_unless_converged(result: Result) -> None:
    """Say so when neither the tolerance nor another rule asked for was met."""
    hint = result.notes.get("hint")
    if result.status not in AS_ASKED:
        more = "" if hint is None else f"; {hint}"
        warn(
            f"{result.status.value} ({result.summary()}){more}", ConvergenceWarning,
        )  # fmt: skip
    elif hint is not None:
        warn(hint, ConvergenceWarning)


SAMPLE = 200  # examples
SMALL = 0.01  # share of 1/2 ||w||^2 in the objective below which slacks are looked at
UNMOVED = 0.99  # share of the slacks at zero weights that count as nothing learned
APART = 1e3  # ratio of feature sizes
TINY = 0.01  # C times the squared length of a constraint: C is far too small
AMPLE = 10.0  # the same: C is not what prevents learning
FEW = 20  # examples looked at before training
LARGE = 1e5  # C times the squared length of a constraint
STEEP = 1e3  # the same, above which training starts at a smaller C,
HOPELESS = 1e12  # unless rounding errors leave nothing to gain
MOST_STEPS = 6  # of raising C by a factor of ten
ROUGH, ROUGH_STEPS = 0.1, 200  # gap and steps of the runs at smaller C
ALL_ZERO = (
    "all weights are zero, so nothing was learned: with regularizer='l1' this C is too small "
    "for these features. Try ten or a hundred times as much (`fit_path` takes several), or "
    "scale the features up"
)
SLOW = (Status.MAX_ITER, Status.MAX_TIME, Status.NO_PROGRESS)


def search_hint(problem: Problem, result: Result) -> str | None:
    """What to do where the search for violated outputs has left a gap open."""
    form = problem.formulation
    searched = not form.linear_in_loss(problem.loss.form == "zero-one")
    if result.status is not Status.NO_PROGRESS or problem.exact or not searched:
        return None
    what = "rescaling='slack'" if form.scales else f"penalty={form.penalty!r}"
    return (
        f"with {what} the search for the most violated output is approximate for this "
        f"structure, so the objective may be up to {result.gap:.1%} above the best. A "
        "method argmax_by_loss makes it exact; rescaling='margin' with penalty='linear' "
        "needs no such search"
    )


def scale_hint(problem: Problem, result: Result) -> str | None:
    """What to do about the scale of C or of the features; None if nothing seems wrong."""
    kernel = isinstance(result, KernelResult) or result.w.shape != (problem.dim,)
    if kernel or problem.dim == 0 or isinstance(problem.structure, Growing):
        return None
    form = problem.formulation
    if form.penalty not in ("linear", "squared"):
        return None
    if problem.structure.offers(MostViolated) is None:
        return None
    sparse = form.regularizer == "l1"
    small = (
        not result.w.any()
        if sparse
        else (problem.structure.square(result.w) < 2.0 * SMALL * abs(result.primal))
    )
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
    before = problem.costs(start.slack, ids).risk
    if slow:
        hint = _slow_hint(start.a, square, float(problem.C.max()), problem.dim)
        if hint is None and len(ids) == problem.n and result.primal >= before:
            hint = (
                f"the objective is not below that of zero weights, {before:.6g}: the run ended "
                "before anything was learned. Allow more time or iterations, or choose a "
                "smaller C"
            )
        return hint
    if sparse:
        return ALL_ZERO
    if len(ids) == problem.n and not isinstance(result, LatentResult):
        after = result.primal - 0.5 * problem.structure.square(result.w)
    else:
        after = problem.costs(problem.cuts(result.w, ids).slack, ids).risk
    if after < UNMOVED * before:
        return None  # something was learned
    still = (
        f"weights stay close to zero: the training errors still cost {after / before:.1%} "
        "of what they cost at zero weights."
    )
    reach = float(problem.C.max()) * square
    if reach < TINY:
        return (
            f"{still} C is small for these features: constraints have a mean squared "
            f"length of {square:.3g}, so try C = {1.0 / square:.2g} or more, or scale the "
            "features up"
        )
    sizes = column_sizes(start.a, problem.dim)
    ratio = float(sizes.max() / sizes.min())
    if ratio > APART:  # a constant feature of one beside tiny ones
        return (
            f"{still} Features differ in size by a factor of {ratio:.0e}: scale them to "
            "similar ranges, for instance with StandardScaler"
        )
    if reach < AMPLE or problem.n < FEW:
        return None
    return (
        f"hardly anything was learned: the training errors cost {after / before:.1%} of "
        "what they cost at zero weights, and no weights do much better at this C. Check "
        "that the outputs belong to their inputs; try other features, or a larger C"
    )


def constraint_size(problem: Problem) -> float:
    """C times the mean squared length of a constraint; zero where that says nothing."""
    form, structure = problem.formulation, problem.structure
    if form.penalty not in ("linear", "squared") or form.regularizer != "l2":
        return 0.0
    plain = (
        structure.offers(MostViolated) is not None and structure.offers(Latent) is None
    )
    if not plain or problem.dim == 0 or problem.n == 0:
        return 0.0
    ids = np.unique(np.linspace(0, problem.n - 1, FEW).astype(np.int64))
    a = problem.cuts(np.zeros(problem.dim), ids).a
    # Trained in pieces: the mean constraint of those of a long sequence.
    if np.diff(problem.truth.ptr).max() > LONG and can_train(problem):
        pieces = np.diff(cuts(problem.truth.ptr)[1])[ids]
        a = Rows(a.ptr, a.idx, a.val / np.repeat(pieces, np.diff(a.ptr)))
    return float(problem.C[ids].max(initial=0.0)) * mean_square(a)


def warn_if_large(problem: Problem, size: float) -> None:
    """Say before training that it will take long, where features are huge for C."""
    if size > LARGE:
        better = 100.0 * float(problem.C.max()) / size
        warn(
            f"features are large for this C: C times the mean squared length of a "
            f"constraint is {size:.0e}, so training may take very long. Scale the "
            f"features down (normalize=True where there is such a parameter), or try C = "
            f"{better:.1g}",
            ConvergenceWarning,
        )


def _slow_hint(a: Rows, square: float, C: float, dim: int) -> str | None:
    sizes = column_sizes(a, dim)
    ratio = float(sizes.max() / sizes.min()) if len(sizes) else 1.0
    if ratio > APART:
        return (
            f"features differ in size by a factor of {ratio:.0e}, which makes training "
            "slow: scale them to similar ranges, for instance with StandardScaler"
        )
    if C * square > STEEP:
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
