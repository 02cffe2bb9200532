"""Scores of examples that training has not seen: other data, or folds of the training data.

With folds, each model is trained on the other folds, and its scores stand for those that
the model of all data has on new examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from maxmargin.calibration.candidates import Candidates
from maxmargin.core.data.arrays import Floats, Ints, Ragged, pointers
from maxmargin.core.data.sequences import flat_labels
from maxmargin.core.structure import Layers, NBest, Structure
from maxmargin.estimators.explaining.fitted_model import FittedModel
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    take_rows,
)
from maxmargin.estimators.fitting.prediction import ask_batches, joined_layers


class LabelScores(NamedTuple):
    """Scores of the labels of tokens, one row per token."""

    table: Floats  # (tokens, K)
    ptr: Ints  # (n + 1,) first token of each sequence
    labels: Sequence[Any]  # (K,)


class Calibrated(FittedModel, Protocol):
    """A fitted estimator whose scores can be calibrated."""

    def _label_scores(self, X: Any) -> LabelScores | None:
        """Scores of the labels of tokens, where outputs are label sequences."""

    def _unknown(self, y: Any) -> Sequence[int]:
        """Examples whose true output training has not shown."""


class HeldOut(NamedTuple):
    """Scores of held-out examples, and which candidate is the truth (-1: none)."""

    outputs: Candidates
    output_truth: Ints
    labels: Candidates | None
    label_truth: Ints
    ptr: Ints  # first token of each sequence


def held_out(model: Calibrated, X: Any, y: Any, cv: int | None, n: int) -> HeldOut:
    """Scores on data that the model has not seen, or on folds of its training data."""
    check_same_length(X, y)
    X, y = by_position(X), by_position(y)
    if cv is None:
        return _scores_on(model, model, X, y, n)
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(f"cv={cv!r}: a number of folds, at least 2, is needed")
    if len(y) < cv:
        raise ValueError(f"cv={cv}: there are only {len(y)} examples")
    parts = [_scores_on(model, one, *data, n) for one, data in folds(model, X, y, cv)]
    return _joined(parts)


def folds(model: Any, X: Any, y: Any, cv: int) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Models trained on all folds but one, and the data of that fold."""
    quiet = {"verbose": 0, "callbacks": None, "checkpoint": None, "calibration": 0}
    known = model.get_params(deep=False)
    splits = KFold(int(cv), shuffle=True, random_state=0).split(np.zeros(len(y)))
    for train, test in splits:
        one = clone(model).set_params(**{k: v for k, v in quiet.items() if k in known})
        one.fit(take_rows(X, train), take_rows(y, train))
        yield one, (take_rows(X, test), take_rows(y, test))


def nbest_of(model: Calibrated, X: Any, n: int) -> tuple[Any, Layers]:
    """Encoded inputs and their n best outputs."""
    structure: Any = model.structure_
    if structure.offers(NBest) is None:
        raise ValueError(
            f"{type(model).__name__} cannot list the n best outputs, which calibration "
            "needs"
        )
    x = structure.encode(model._inputs(X))
    return x, joined_layers(ask_batches(model, structure, x, partial(_best, k=n)))


def _best(structure: Structure, x: Any, ids: Ints, w: Floats, k: int) -> Layers:
    """A question for `ask_batches`."""
    nbest = structure.offers(NBest)
    assert nbest is not None
    return nbest.nbest(x, ids, w, k)


def _scores_on(asked: Calibrated, model: Calibrated, X: Any, y: Any, n: int) -> HeldOut:
    """Scores of `model`; labels are numbered as in `asked`."""
    scores = model._label_scores(X)
    labels, label_truth, ptr = None, np.empty(0, np.int64), np.zeros(1, np.int64)
    known = np.setdiff1d(np.arange(len(y)), model._unknown(y))
    if scores is not None:
        flat, starts = flat_labels(y)
        labels, label_truth, ptr = _label_candidates(asked, X, scores, flat, starts)
        hidden = [i for i, row in enumerate(y) if any(v is None for v in row)]
        strange = _with_unknown(model, y, scores)
        known = np.setdiff1d(known, [*hidden, *strange])
    if len(known) < len(y):
        X, y = take_rows(X, known), take_rows(y, known)
    if scores is not None and model.structure_.offers(NBest) is None:
        none = Candidates(np.zeros(1, np.int64), np.empty(0))
        return HeldOut(none, np.empty(0, np.int64), labels, label_truth, ptr)
    _, found = nbest_of(model, X, n)
    truth = model._encoded(X, y)[1] if len(known) else None
    places = _places(found.labels, found.ptr, truth) if truth else np.empty(0, np.int64)
    outputs = Candidates(found.ptr, np.ascontiguousarray(found.score)).checked()
    return HeldOut(outputs, places, labels, label_truth, ptr)


def _with_unknown(model: Any, y: Any, scores: LabelScores) -> list[int]:
    """Sequences with labels that the model does not know."""
    known = set(scores.labels)
    return [i for i, row in enumerate(y) if not known.issuperset(row)]


def _label_candidates(
    asked: Any, X: Any, scores: LabelScores, flat: list[Any], starts: Ints
) -> tuple[Candidates, Ints, Ints]:
    """Scores of labels in the order of the model that is calibrated, and the truth."""
    order = list(asked.classes_)
    where = {label: k for k, label in enumerate(order)}
    table = scores.table
    if list(scores.labels) != order:  # a fold that lacks a label
        table = np.full((len(table), len(order)), -np.inf)
        table[:, [where[label] for label in scores.labels]] = scores.table
    if len(starts) != len(scores.ptr) or (starts != scores.ptr).any():
        raise ValueError("the labels of y do not fit the tokens of X")
    told = np.array([label is not None for label in flat], bool)
    counts = np.append(told, False).astype(np.int64)
    truth = np.array([where.get(label, -1) for label in flat], np.int64)
    sizes = np.add.reduceat(counts, starts[:-1]) * (np.diff(starts) > 0)
    return Candidates.of_table(table[told]), truth[told], pointers(sizes)


def _places(found: Ragged, ptr: Ints, truth: Ragged) -> Ints:
    """Place of each true output among those that were found; -1 if it is not there."""
    out = np.full(len(ptr) - 1, -1, np.int64)
    for i in range(len(out)):
        row = truth.row(i)
        for q in range(ptr[i], ptr[i + 1]):
            if np.array_equal(found.row(q), row):
                out[i] = q - ptr[i]
                break
    return out


def _joined(parts: Sequence[HeldOut]) -> HeldOut:
    """The parts of all folds."""

    def together(some: Sequence[Candidates]) -> Candidates:
        sizes = np.concatenate([np.diff(c.ptr) for c in some])
        return Candidates(pointers(sizes), np.concatenate([c.scores for c in some]))

    labels = [part.labels for part in parts if part.labels is not None]
    return HeldOut(
        together([part.outputs for part in parts]),
        np.concatenate([part.output_truth for part in parts]),
        together(labels) if labels else None,
        np.concatenate([part.label_truth for part in parts]),
        pointers(np.concatenate([np.diff(part.ptr) for part in parts])),
    )
