"""`partial_fit`: training on a stream, one batch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from maxmargin.core.arrays import Ragged
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.callbacks import keep_callback_data
from maxmargin.solvers.base import Solver
from maxmargin.solvers.n_slack.stream import Stream, StreamState


class StreamMixin:
    """`partial_fit` for all estimators."""

    structure_: Structure

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on training with a further batch; earlier batches are not needed again.

        Not for kernels, nor for outputs with hidden parts.

        The first batch fixes labels and features, so it must show all labels. The
        planes of earlier batches are kept and improved along with those of the new.

        Parameters
        ----------
        X, y, sample_weight
            The batch, as for `fit`.

        Returns
        -------
        self
        """
        self._schedule = self._stream_runs
        try:
            if isinstance(self.__dict__.get("_state"), StreamState):
                structure = self.structure_
                keep_callback_data(self, X, y)  # type: ignore[arg-type]
                x = structure.encode(X)
                truth = self._stream_labels(x, y)
                self._fit_encoded(structure, x, truth, sample_weight)  # type: ignore[attr-defined]
            else:
                self._state = None
                self.fit(X, y, sample_weight)  # type: ignore[attr-defined]
        finally:
            del self._schedule
        return self

    def _stream_labels(self, x: Any, y: Any) -> Ragged:
        """Outputs of a further batch, encoded as those of the first."""
        return self.structure_.encode_labels(x, y)

    def _stream_runs(
        self, solver: Solver, problem: Problem, watch: Any
    ) -> Iterator[Any]:
        if not isinstance(solver, Solver):
            raise ValueError(
                "partial_fit is not there for outputs with hidden parts, which are "
                "completed again and again: use fit, with warm_start=True to go on"
            )
        stream = Stream(solver.tol, solver.max_iter, solver.max_time, solver.seed)
        yield stream.solve(problem, self._state, watch)
