"""The hardest examples of a model, and the HTML page about it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.explaining.fitted_model import FittedModel
from maxmargin.estimators.fitting.inputs import by_position
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.reports.explanation import Hard
from maxmargin.reports.page import Scored, Subject, write
from maxmargin.solvers.cccp import LatentResult


class Reportable(FittedModel, Protocol):
    """A fitted estimator that a page can be written about."""

    _predicts_labels: ClassVar[bool]

    def predict(self, X: Any) -> Any:
        """Best output of each input."""

    def score(self, X: Any, y: Any) -> float:
        """How good the predictions are."""

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose truth scores furthest below the best output."""

    def _size(self) -> tuple[int, str]:
        """How large the model is, and in what."""

    def _learned(self) -> Sequence[str]:
        """What the model has learned, as pieces of HTML."""


def report(
    model: Reportable,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    parameters: Mapping[str, Any],
    title: str | None = None,
    command: str | None = None,
) -> None:
    """Write one HTML page about a model; see `StructuredEstimator.report`."""
    check_is_fitted(model, "result_")
    result = model.result_
    provenance = vars(model).get("provenance_", {})  # of models from files
    size, unit = model._size()
    subject = Subject(
        title=title or f"{type(model).__name__} report",
        result=result,
        completions=result.outer if isinstance(result, LatentResult) else None,
        structure=type(model.structure_).__name__,
        dim=model.structure_.dim,
        size=size,
        unit=unit,
        learned="".join(model._learned()),
        parameters=parameters,
        trainer=str(result.notes.get("chosen", parameters["solver"])),
        command=command or provenance.get("command"),
        scored=None if X is None or y is None else _scored(model, X, y),
    )
    write(subject, path)


def _scored(model: Reportable, X: Any, y: Any) -> Scored:
    """How a model does on data."""
    try:
        hard = model.hardest(X, y, 6)
    except ValueError:  # kernels have no weights of features; labels may be hidden
        hard = []
    return Scored(
        truth=y,
        predicted=model.predict(X),
        score=float(model.score(X, y)),
        score_name=_score_name(model),
        labels=model._predicts_labels,
        hardest=hard,
    )


def _score_name(model: Reportable) -> str:
    """What `score` is, by the first line of its docstring."""
    text = (inspect.getdoc(type(model).score) or "score").splitlines()[0]
    if "accuracy" in text:  # scikit-learn's own
        return "Share of right predictions"
    return text.split(";")[0].rstrip(".")


def hardest(
    model: FittedModel, X: Any, y: Any, n: int = 5, most: int = 500
) -> list[Hard]:
    """The examples whose truth scores furthest below the best output.

    See `StructuredEstimator.hardest`.
    """
    model._check_has_weights("hardest")
    check_is_fitted(model, "coef_")
    X, y = by_position(X), by_position(y)
    some = slice(0, min(most, len(y)))
    x, truth = model._encoded(X[some], y[some])
    psi = model.structure_.features(x, np.arange(truth.n), truth)
    short = predict_found(model, x).score - psi.dot(model._weights())
    out = []
    for i in np.argsort(-short, kind="stable")[:n].tolist():
        one = X[i : i + 1] if hasattr(X, "shape") else X[i]
        out.append(Hard(i, y[i], max(float(short[i]), 0.0), model.best_few(one)))
    return out
