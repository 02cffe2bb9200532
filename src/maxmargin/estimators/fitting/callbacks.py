"""Callbacks of a run: the user's, the progress display, and those of scikit-learn 1.9.

A callback of ours is called with each row of the history (iteration, seconds, primal,
dual, gap, ...) and stops training by returning a true value. One of scikit-learn's
(`sklearn.callback`, set by `set_callbacks`) sees one task per step and may stop
training, too. Its `fitted_estimator` is the estimator as if training had ended with
that step: it predicts, and its `result_` has iterations, primal, dual, gap and history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any, Protocol, TypeVar

from maxmargin.core.compiled.compiling import listening
from maxmargin.solvers.base import Watch

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A class without callbacks of scikit-learn."""


Row = Any  # of the history, a structured array
Ended = Callable[[], Any]  # the result if training ended here
M = TypeVar("M", bound="Watched")
Adopt = Callable[[M, Any], None]  # an estimator becomes what a result says


class Watched(Protocol):
    """What callbacks need of an estimator."""

    callbacks: Any
    verbose: int
    tol: float


@contextmanager
def watching(
    estimator: M, adopt: Adopt[M], X: Any = None, y: Any = None
) -> Iterator[Watch | None]:
    """The function to call after each step of a run; None if nobody watches.

    `adopt(estimator, result)` makes an estimator the model of a step's result. X and y
    are the data that callbacks of scikit-learn may score on.
    """
    watchers: list[Watch] = [_of_row(own) for own in callbacks_of(estimator.callbacks)]
    with ExitStack() as ending:
        if estimator.verbose:
            from maxmargin.reports.progress import progress

            bar = progress(estimator.tol)
            ending.callback(bar.close)
            ending.enter_context(listening(bar))
            watchers.append(_of_row(bar))
        if vars(estimator).get("_skl_callbacks"):  # from `set_callbacks`
            tasks = _Tasks(estimator, adopt, X, y)
            ending.callback(tasks.close)
            watchers.append(tasks)
        yield _all(watchers) if watchers else None


class _Tasks:
    """Steps as tasks of scikit-learn's callbacks: fit, and below it one per step."""

    def __init__(self, estimator: Any, adopt: Adopt[Any], X: Any, y: Any) -> None:
        self.estimator, self.adopt = estimator, adopt
        self.seen = {"estimator": estimator, "X": X, "y": y}
        self.fit = estimator._init_callback_context(max_subtasks=None)
        self.fit.call_on_fit_task_begin(**self.seen)

    def __call__(self, row: Row, ended: Ended) -> bool:
        step = self.fit.subcontext(task_name="step")
        step.call_on_fit_task_begin(**self.seen)

        def fitted() -> dict[str, Any]:  # called only for callbacks that ask for it
            other = copy(self.estimator)
            self.adopt(other, ended())
            return dict(vars(other))

        return bool(
            step.call_on_fit_task_end(**self.seen, reconstruction_attributes=fitted)
        )

    def close(self) -> None:
        """The fit is over: its task ends, and callbacks that were set up are ended."""
        estimator, fit = self.estimator, self.fit
        try:
            fit.call_on_fit_task_end(**self.seen)
        finally:
            for callback in estimator.__dict__.pop("_skl_callbacks_to_teardown", []):
                callback.teardown(estimator, fit)
            estimator.__dict__.pop("_callback_fit_ctx", None)


def _of_row(callback: Callable[[Row], Any]) -> Watch:
    return lambda row, ended: bool(callback(row))


def _all(watchers: list[Watch]) -> Watch:
    return lambda row, ended: any([watch(row, ended) for watch in watchers])


def callbacks_of(callbacks: Any) -> list[Callable[[Row], Any]]:
    """The parameter `callbacks` as a list."""
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)
