"""`fit_path`: a fit for each of several C, each from the dual of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.estimators.fitting.parameters import SampleWeight
from maxmargin.estimators.fitting.training import (
    Trainable,
    TrainingData,
    TrainingPlan,
    path_over,
    train,
)
from maxmargin.solvers.base import Result


class Planned(Trainable, Protocol):
    """An estimator that makes a plan from data."""

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        """X and y as a structure has encoded them."""

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        """What to run; with another C than that of the estimator if asked for."""


def fit_path(
    estimator: Planned, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None
) -> list[Result]:
    """Fit for each C; see `StructuredEstimator.fit_path`."""
    values = checked_penalties(Cs)
    order = np.argsort(values, kind="stable")
    plan = estimator._plan(estimator._training_data(X, y, sample_weight), C=1.0)
    runs = train(estimator, plan, path_over(values[order].tolist()))
    results = {int(k): made.result for k, made in zip(order, runs, strict=True)}
    return [results[k] for k in range(len(values))]


def checked_penalties(Cs: Sequence[float]) -> Floats:
    """Several C as an array."""
    try:
        values = np.asarray(Cs, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        values = np.empty(0)
    listed = Cs if np.iterable(Cs) else [Cs]
    flags = any(isinstance(C, bool | np.bool_) for C in listed)
    if flags or len(values) == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"Cs={Cs!r}: penalties must be numbers greater than zero")
    return values
