"""Probabilities of the labels of tokens, sets of labels, and how sure spans are.

p(label k at token t) ~ exp(-(m_t - m_tk)^power / T)

where m_tk is the best score of a sequence with label k at token t, and m_t the largest
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.calibration.candidates import Candidates
from maxmargin.calibration.conformal import PROMISES
from maxmargin.calibration.spans import SpanConfidence, span_confidences
from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.tokens.sequences import flat_labels
from maxmargin.estimators.calibrating.calibration import Calibration, calibration_of
from maxmargin.estimators.calibrating.held_out import Calibrated, LabelScores
from maxmargin.estimators.calibrating.outputs import predict_ranked


def label_probabilities(model: Calibrated, X: Any) -> list[Floats]:
    """(length, K) per sequence; each row sums to one."""
    known, scores = _scored(model, X)
    assert known.labels is not None
    p = known.labels(Candidates.of_table(scores.table)).scores
    table = p.reshape(scores.table.shape)
    return [table[a:b] for a, b in pairwise(scores.ptr.tolist())]


def label_margins(table: Floats) -> Floats:
    """How much less the second best label of each token scores than the best one."""
    if table.shape[1] < 2:
        return np.full(len(table), np.inf)
    top = np.partition(table, -2, axis=1)
    margins: Floats = top[:, -1] - top[:, -2]
    return margins


def label_sets(
    model: Calibrated, X: Any, coverage: float, per: str
) -> list[list[list[Any]]]:
    """Labels of each token that hold the true one as often as promised, best first."""
    if per not in PROMISES:
        raise ValueError(
            f"per={per!r} is not one of {', '.join(map(repr, PROMISES))} or 'output'"
        )
    known, scores = _scored(model, X)
    below = Candidates.of_table(scores.table).below_top()
    chosen = known.label_sets[PROMISES.index(per)].sets(below, coverage)
    flat = [[scores.labels[k] for k in row] for row in chosen.unpack()]
    return [flat[a:b] for a, b in pairwise(scores.ptr.tolist())]


def sure_spans(model: Calibrated, X: Any) -> list[list[SpanConfidence]]:
    """Spans of the best sequences, and the probability that each is right."""
    out: list[list[SpanConfidence]] = []
    for ranked in predict_ranked(model, X):
        rows: Sequence[Any] = [labels for labels, _ in ranked]
        out.append(span_confidences(rows, [p for _, p in ranked]))
    return out


def confidences(model: Calibrated, X: Any, y: Any) -> tuple[Floats, Floats]:
    """How sure predictions are, and whether they are right: of labels, or of outputs."""
    known, scores = calibration_of(model), model._label_scores(X)
    if known.labels is None or scores is None:
        ranked = predict_ranked(model, X, 1)
        right = [row[0][0] == truth for row, truth in zip(ranked, y, strict=True)]
        return np.array([row[0][1] for row in ranked]), np.array(right, np.float64)
    flat = flat_labels(y)[0]
    told = np.array([label is not None for label in flat], bool)
    p = known.labels(Candidates.of_table(scores.table[told]))
    best = p.best()
    named = [scores.labels[k] for k in best]
    truth = [label for label in flat if label is not None]
    right = [a == b for a, b in zip(named, truth, strict=True)]
    return p.scores[p.ptr[:-1] + best], np.array(right, np.float64)


def _scored(model: Calibrated, X: Any) -> tuple[Calibration, LabelScores]:
    known = calibration_of(model)
    scores = model._label_scores(X)
    if known.labels is None or scores is None:
        raise ValueError(f"{type(model).__name__} has no calibrated scores of labels")
    return known, scores
