"""`fit_path`: a fit for each of several C, each from the dual of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.estimators.fitting.training import (
    Plan,
    TrainingData,
    path_over,
    train,
)
from maxmargin.solvers.base import Result


class PathMixin:
    """`fit_path` for all estimators."""

    def fit_path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None
    ) -> list[Result]:
        """Fit for each C, from the smallest to the largest, warm-started.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : sequence of float
            Penalties, in any order.

        Returns
        -------
        list of Result
            In the order of `Cs`; `result.w` are the weights, ``result.notes["C"]`` is
            their C. The estimator is left fitted at the largest; its parameter `C` stays
            as it is.

        Examples
        --------
        >>> from maxmargin.estimators.structural import StructuralSVM
        >>> from maxmargin.structures.classes.structure import Multiclass
        >>> X, y = np.array([[1.0, 0.1], [0.2, 1.0], [0.9, 0.0]]), [0, 1, 0]
        >>> path = StructuralSVM(Multiclass()).fit_path(X, y, [1.0, 0.1])
        >>> [round(result.primal, 3) for result in path]
        [0.69, 0.263]
        """
        values = checked_penalties(Cs)
        order = np.argsort(values, kind="stable")
        plan = self._plan(self._training_data(X, y, sample_weight), C=1.0)
        results: dict[int, Result] = {}
        runs = train(self, plan, path_over(values[order].tolist()))
        for k, made in zip(order.tolist(), runs, strict=True):
            results[k] = made.result
        return [results[k] for k in range(len(values))]

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        raise NotImplementedError

    def _plan(self, data: TrainingData, C: float | None = None) -> Plan:
        raise NotImplementedError

    def _watching(self, take: Any) -> Any:
        raise NotImplementedError

    def _release(self, engine: Any) -> None:
        raise NotImplementedError


def checked_penalties(Cs: Sequence[float]) -> Floats:
    """Several C as an array."""
    values = np.asarray(Cs, dtype=np.float64).ravel()
    if len(values) == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"Cs={Cs!r}: penalties must be numbers greater than zero")
    return values
