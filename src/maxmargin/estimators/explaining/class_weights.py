"""The weights of a classifier by class, and the rows that its scores get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.estimators.fitting.inputs import by_position, output_at
from maxmargin.reports.explanation import RIGHT, Hard


def top_features(
    model: Any, label: Any, n: int, names: Sequence[str] | None
) -> list[tuple[str, float]]:
    """Features with the largest weights for a class; the smallest, if n is negative."""
    classes = model.classes_.tolist()
    if label not in classes:
        raise ValueError(
            f"{label!r} is not a class of the model; it has {len(classes)} classes, "
            f"such as {classes[0]!r}"
        )
    place = classes.index(label)
    if len(classes) == 2:  # one row of weights: those of the second class
        row = model.coef_[0] if place else -model.coef_[0]
    else:
        row = model.coef_[place]
    known = vars(model).get("feature_names_in_") if names is None else names
    if known is not None and len(known) != len(row):
        raise ValueError(f"{len(known)} names were given for {len(row)} features")
    order = np.argsort(row if n < 0 else -row, kind="stable")[: abs(n)]
    return [(f"x{j}" if known is None else str(known[j]), float(row[j])) for j in order]


def hardest_rows(model: Any, X: Any, y: Any, n: int, most: int) -> list[Hard]:
    """The rows whose true class scores furthest below the best class.

    Needs the scores of the classes only, so it works for kernels, too. A class that
    training has not shown has no score.
    """
    classes = model.classes_.tolist()
    number = {label: k for k, label in enumerate(classes)}
    rows = by_position(X)[: min(most, len(y))]
    scores = model.decision_function(rows)
    if scores.ndim == 1:  # the difference of two classes
        scores = np.column_stack([-scores, scores]) / 2
    out = []
    for i, row in enumerate(scores):
        truth = output_at(y, i)
        known = truth in number
        short_by = float(row.max() - row[number[truth]]) if known else np.inf
        few = [(classes[k], float(row[k])) for k in np.argsort(-row, kind="stable")[:3]]
        tied = bool(known and short_by <= RIGHT and few[0][0] != truth)
        short_by = 0.0 if short_by <= RIGHT else short_by
        out.append(Hard(i, truth, short_by, few, possible=known, tied=tied))
    return sorted(out, key=lambda case: (-case.short_by, not case.tied))[:n]
