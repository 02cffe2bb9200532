"""The hardest examples of a model, and the HTML page about it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.calibration.measures import Reliability, reliability
from maxmargin.core.structure import Latent
from maxmargin.estimators.calibrating.labels import confidences
from maxmargin.estimators.explaining.fitted_model import FittedModel
from maxmargin.estimators.fitting.inputs import (
    by_position,
    output_at,
    outputs_by_position,
)
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.metrics.sequences import sequence_accuracy, span_scores
from maxmargin.reports.confusion import class_scores, flat_labels
from maxmargin.reports.explanation import RIGHT, Hard
from maxmargin.reports.page import Scored, Subject, write
from maxmargin.reports.sentences import marks_spans
from maxmargin.solvers.cccp import LatentResult

MOST = 500  # examples that are looked at for the hardest


class Reportable(FittedModel, Protocol):
    """A fitted estimator that a page can be written about."""

    _predicts_labels: ClassVar[bool]
    _predicts_sets: ClassVar[bool]

    def predict(self, X: Any) -> Any:
        """Best output of each input."""

    def score(self, X: Any, y: Any) -> float:
        """How good the predictions are."""

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose truth scores furthest below the best output."""

    def _size(self) -> tuple[int, str]:
        """How large the model is, and in what."""

    def _shown_outputs(self, X: Any, y: Any) -> tuple[Any, Any]:
        """True and predicted outputs as a report shows them."""

    def _learned(self) -> Sequence[str]:
        """What the model has learned, as pieces of HTML."""

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        """One output as HTML; differences to the truth marked."""

    def _out_of_reach(self, X: Any, y: Any, predicted: Any, most: int) -> Sequence[int]:
        """Mistakes whose true output the model cannot predict."""

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        """Figures that people quote for this task, besides `score`."""

    def _score_name(self) -> str:
        """What `score` is."""

    def _structure_name(self) -> str:
        """What the class of the structure is called."""


def report(
    model: Reportable,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    parameters: Mapping[str, Any],
    title: str | None = None,
    command: str | None = None,
    names: Sequence[str] = (),
) -> None:
    """Write one HTML page about a model; see `StructuredEstimator.report`.

    `names` are those of the examples; those of the hardest are shown.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            "the first argument of report is the file to write, as in "
            f"report('page.html', X, y), and not a {type(path).__name__}"
        )
    check_is_fitted(model, "result_")
    result = model.result_
    provenance = vars(model).get("provenance_", {})  # of models from files
    size, unit = model._size()
    subject = Subject(
        title=title or f"{type(model).__name__} report",
        result=result,
        completions=result.outer if isinstance(result, LatentResult) else None,
        structure=model._structure_name(),
        dim=model.structure_.dim,
        size=size,
        unit=unit,
        learned="".join(model._learned()),
        parameters=parameters,
        trainer=str(result.notes.get("chosen", parameters["solver"])),
        command=command or provenance.get("command"),
        scored=None if X is None or y is None else _scored(model, X, y, names),
        training_data={
            name: provenance[key]
            for key, name in (("examples", "training examples"), ("task", "task"),
                              ("format", "format"))
            if key in provenance
        },
    )  # fmt: skip
    write(subject, path)


def _scored(model: Reportable, X: Any, y: Any, names: Sequence[str] = ()) -> Scored:
    """How a model does on data."""
    y = outputs_by_position(y)
    try:
        hard = model.hardest(X, y, 6)
    except ValueError:  # kernels have no weights of features; labels may be hidden
        hard = []
    truth, predicted = model._shown_outputs(X, y)
    hard = _mistakes_first(model, X, y, predicted, hard)
    return Scored(
        truth=truth,
        predicted=predicted,
        score=float(model.score(X, y)),
        score_name=model._score_name(),
        labels=model._predicts_labels,
        hardest=[
            replace(_pictured(model, X, case), name=names[case.example] if names else "")
            for case in hard
        ],
        sure=_sure(model, X, y),
        figures=[*label_figures(model, truth, predicted),
                 *model._figures(X, y, predicted)],
        sets=model._predicts_sets,
    )  # fmt: skip


def _mistakes_first(
    model: Reportable, X: Any, y: Any, predicted: Any, hard: list[Hard], n: int = 6
) -> list[Hard]:
    """Mistakes only, if there are any; also those where the truth was out of reach.

    A tree with a rule that training has not shown has no score, so `hardest` leaves it
    out. A report has to show it: it is a mistake.
    """
    wrong = [case for case in hard if not case.right]
    others = model._out_of_reach(X, y, predicted, MOST)
    for i in others[: n - len(wrong)]:
        few = model.best_few(by_position(X)[i])
        wrong.append(Hard(i, by_position(y)[i], math.inf, few, possible=False))
    return wrong or hard


def label_figures(model: Any, truth: Any, found: Any) -> list[tuple[str, float]]:
    """What people quote for labels: F1 of spans, sequences without error, macro F1."""
    if not model._predicts_labels or model._predicts_sets:
        return []
    if marks_spans(truth):
        rows = list(found)
        spans = span_scores(truth, rows)["micro"]
        return [
            ("F1 of spans", spans.f1),
            ("sentences without error", sequence_accuracy(truth, rows)),
        ]
    labels = flat_labels(truth)
    if None in labels or len(labels) != len(truth):
        return []
    scores = class_scores(labels, flat_labels(found))
    return [("F1, mean of classes", float(np.mean([s.f1 for s in scores])))]


def _sure(model: Any, X: Any, y: Any) -> Reliability | None:
    """How often calibrated predictions are right."""
    if "calibration_" not in vars(model):
        return None
    try:
        return reliability(*confidences(model, X, y))
    except ValueError:  # outputs that are not calibrated
        return None


def _pictured(model: Reportable, X: Any, case: Hard) -> Hard:
    """The case with a picture of its best output beside the truth."""
    if case.picture:
        return case
    rows, i = by_position(X), case.example
    x = rows[i : i + 1] if hasattr(rows, "shape") else rows[i]
    return replace(case, picture=model._draw(x, case.best[0][0], case.truth))


def hardest(
    model: FittedModel, X: Any, y: Any, n: int = 5, most: int = MOST
) -> list[Hard]:
    """The examples whose truth scores furthest below the best output.

    See `StructuredEstimator.hardest`.
    """
    model._check_has_weights("hardest")
    check_is_fitted(model, "coef_")
    X, y = by_position(X), outputs_by_position(y)
    some = slice(0, min(most, len(y)))
    x, truth = model._encoded(X[some], y[some])
    psi = model.structure_.features(x, np.arange(truth.n), truth)
    found = predict_found(model, x)
    short = found.score - psi.dot(model._weights())
    short[short <= RIGHT] = 0.0
    other = np.zeros(truth.n, dtype=bool)  # another output, as good as the truth
    if model.structure_.offers(Latent) is None:
        same = [
            np.array_equal(found.labels.row(i), truth.row(i)) for i in range(truth.n)
        ]
        other = ~np.array(same, dtype=bool) & (short == 0.0)
    out = []
    for i in np.lexsort((~other, -short))[:n].tolist():
        one = X[i : i + 1] if hasattr(X, "shape") else X[i]
        few, words = model.best_few(one), model._words(one)
        short_by = float(short[i])
        hard = Hard(i, output_at(y, i), short_by, few, words=words, tied=bool(other[i]))
        out.append(hard)
    return out
