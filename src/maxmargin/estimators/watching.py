"""Who watches a run: our callbacks, progress, and the callbacks of scikit-learn 1.9.

A callback of ours is called with each row of the history (iteration, seconds, primal,
dual, gap, ..) and stops training by returning something true. One of scikit-learn's
(`sklearn.callback`, set by `set_callbacks`) sees a task per step, and may stop it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""


Watch = Callable[[Any], bool]


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

    @contextmanager
    def _watching(self) -> Iterator[Watch | None]:
        """What is called with each row of the history, and ended with the run."""
        watchers: list[Callable[[Any], Any]] = list(callbacks_of(self.callbacks))
        bar = None
        if self.verbose:
            from maxmargin.reports.progress import progress

            bar = progress(self.tol)
            watchers.append(bar)
        tasks = None
        if self.__dict__.get("_skl_callbacks"):
            tasks = _Tasks(self)
            watchers.append(tasks)
        try:
            yield _all(watchers) if watchers else None
        finally:
            if bar is not None:
                bar.close()
            if tasks is not None:
                tasks.close()


class _Tasks:
    """Steps as tasks of scikit-learn's callbacks: fit, and below it one per step."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.fit = estimator._init_callback_context(max_subtasks=None)
        self.fit.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, row: Any) -> bool:
        step = self.fit.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator)
        told = {name: row[name].item() for name in row.dtype.names}
        return bool(step.call_on_fit_task_end(estimator=self.estimator, metadata=told))

    def close(self) -> None:
        """The fit is over: its task ends, and callbacks that were set up are ended."""
        estimator, fit = self.estimator, self.fit
        try:
            fit.call_on_fit_task_end(estimator=estimator)
        finally:
            for callback in estimator.__dict__.pop("_skl_callbacks_to_teardown", []):
                callback.teardown(estimator, fit)
            estimator.__dict__.pop("_callback_fit_ctx", None)


def _all(watchers: list[Callable[[Any], Any]]) -> Watch:
    return lambda row: any([bool(watch(row)) for watch in watchers])


def callbacks_of(callbacks: Any) -> list[Callable[[Any], Any]]:
    """Callbacks as a list."""
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)
