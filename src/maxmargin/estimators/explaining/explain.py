"""Why an output: its score taken apart into pieces, and these into features.

score = sum over pieces p of <w, psi_p>,    pieces: tokens, nodes, columns, rules, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Labels, Rows
from maxmargin.core.structure import MostViolated, NBest, Structure
from maxmargin.estimators.explaining.fitted_model import (
    FittedModel,
    decode_one,
    encode_one,
    weight_name,
)
from maxmargin.reports.explanation import Explanation, Part, Term


def explain(model: FittedModel, x: Any, n: int | None = None) -> Explanation:
    """Why a model predicts what it predicts for one input.

    See `StructuredEstimator.explain`.
    """
    model._check_has_weights("explain")
    check_is_fitted(model, "result_")
    structure, inputs, w = model.structure_, encode_one(model, x), model._weights()
    best = structure.argmax(inputs, np.zeros(1, np.int64), w).labels.row(0)
    pieces = structure.explain_pieces(inputs, 0, best)
    parts = _parts(model, model._piece_names(pieces), pieces.psi, w, n)
    score = float(pieces.psi.dot(w).sum())
    output = decode_one(model, inputs, best)
    other = structure.runner_up(inputs, 0, w, best)
    if other is None:
        return Explanation(output, score, parts, None, None)
    margin = score - _score(structure, inputs, other, w)
    return Explanation(output, score, parts, decode_one(model, inputs, other), margin)


def best_few(model: FittedModel, x: Any, k: int = 3) -> list[tuple[Any, float]]:
    """The k best outputs of one input with their scores, best first.

    See `StructuredEstimator.best_few`.
    """
    model._check_has_weights("best_few")
    check_is_fitted(model, "result_")
    structure, inputs, w = model.structure_, encode_one(model, x), model._weights()
    first = np.zeros(1, np.int64)
    nbest = structure.offers(NBest)
    if nbest is not None:
        found = nbest.nbest(inputs, first, w, k)
        rows = [found.labels.row(q) for q in range(found.labels.n)]
        scores = found.score.tolist()
    else:
        best = structure.argmax(inputs, first, w)
        rows, scores = [best.labels.row(0)], best.score.tolist()
        other = structure.runner_up(inputs, 0, w, rows[0])
        if other is not None:
            rows.append(other)
            scores.append(_score(structure, inputs, other, w))
    outputs = [decode_one(model, inputs, row) for row in rows]
    return list(zip(outputs, scores, strict=True))[:k]


def top_weights(model: FittedModel, n: int = 12) -> list[tuple[str, float]]:
    """The n largest and the n smallest weights by name, largest first.

    See `StructuredEstimator.top_weights`.
    """
    model._check_has_weights("top_weights")
    check_is_fitted(model, "result_")
    if model.structure_.offers(MostViolated) is None:
        return []  # the dual variables of a kernel are not weights of features
    names, w = model._weight_names(), model._weights()
    order = np.argsort(-w, kind="stable")
    some = [*order[:n], *order[max(len(order) - n, n) :]]
    return [(weight_name(names, j), float(w[j])) for j in some if w[j]]


def _score(structure: Structure, inputs: Any, row: Labels, w: Floats) -> float:
    """<w, psi> of an output of the only example of `inputs`."""
    return float(structure.explain_pieces(inputs, 0, row).psi.dot(w).sum())


def _parts(
    model: FittedModel, titles: Sequence[str], psi: Rows, w: Floats, n: int | None
) -> tuple[Part, ...]:
    """The pieces of an output with their n largest terms."""
    names = model._weight_names()
    out = []
    for q, title in enumerate(titles):
        some = slice(psi.ptr[q], psi.ptr[q + 1])
        terms = [
            Term(weight_name(names, j), float(v), float(w[j]), float(w[j] * v))
            for j, v in zip(psi.idx[some].tolist(), psi.val[some], strict=True)
            if v
        ]
        terms.sort(key=lambda term: -abs(term.adds))
        score = sum(term.adds for term in terms)
        out.append(Part(title, score, tuple(terms[:n])))
    return tuple(out)
