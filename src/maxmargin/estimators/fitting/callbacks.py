"""Who watches a run: our callbacks, progress, and the callbacks of scikit-learn 1.9.

A callback of ours is called with each row of the history (iteration, seconds, primal,
dual, gap, ..) and stops training by returning something true. One of scikit-learn's
(`sklearn.callback`, set by `set_callbacks`) sees a task per step, and may stop it, too;
what it gets as `fitted_estimator` is the estimator as if training had ended with that
step: it predicts, and its `result_` has iterations, primal, dual, gap and history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any

from maxmargin.core.compiled.compiling import listening

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""


Ended = Callable[[], Any]  # the result if training ended here
Watch = Callable[[Any, Ended], bool]
Take = Callable[[Any, Any], None]  # an estimator learns from a result


class WatchMixin(CallbackSupportMixin):
    """`history_frame`, and `_watching` around a run."""

    callbacks: Any
    verbose: int
    tol: float

    def history_frame(self) -> Any:
        """The steps of the last fit as a pandas data frame, by iteration."""
        from sklearn.utils.validation import check_is_fitted

        from maxmargin.reports.history import history_frame

        check_is_fitted(self, "result_")
        return history_frame(self.result_.history)  # type: ignore[attr-defined]

    def _show(self, X: Any, y: Any) -> None:
        """Data that callbacks of scikit-learn may score on, until the run is over."""
        if self.__dict__.get("_skl_callbacks"):
            self._shown = X, y

    @contextmanager
    def _watching(self, take: Take) -> Iterator[Watch | None]:
        """What is called after each step, and ended with the run.

        `take(estimator, result)` fits an estimator with the result of a step.
        """
        watchers: list[Watch] = [_of_row(own) for own in callbacks_of(self.callbacks)]
        with ExitStack() as ending:
            if self.verbose:
                from maxmargin.reports.progress import progress

                bar = progress(self.tol)
                ending.callback(bar.close)
                ending.enter_context(listening(bar))
                watchers.append(_of_row(bar))
            if self.__dict__.get("_skl_callbacks"):
                tasks = _Tasks(self, take)
                ending.callback(tasks.close)
                watchers.append(tasks)
            yield _all(watchers) if watchers else None


class _Tasks:
    """Steps as tasks of scikit-learn's callbacks: fit, and below it one per step."""

    def __init__(self, estimator: Any, take: Take) -> None:
        self.estimator, self.take = estimator, take
        X, y = estimator.__dict__.pop("_shown", (None, None))
        self.seen = {"estimator": estimator, "X": X, "y": y}
        self.fit = estimator._init_callback_context(max_subtasks=None)
        self.fit.call_on_fit_task_begin(**self.seen)

    def __call__(self, row: Any, ended: Ended) -> bool:
        step = self.fit.subcontext(task_name="step")
        step.call_on_fit_task_begin(**self.seen)

        def fitted() -> dict[str, Any]:  # called only for callbacks that ask for it
            other = copy(self.estimator)
            self.take(other, ended())
            return vars(other)

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


def _of_row(callback: Callable[[Any], Any]) -> Watch:
    return lambda row, ended: bool(callback(row))


def _all(watchers: list[Watch]) -> Watch:
    return lambda row, ended: any([watch(row, ended) for watch in watchers])


def callbacks_of(callbacks: Any) -> list[Callable[[Any], Any]]:
    """Callbacks as a list."""
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)
