"""Scores of examples that training has not seen: other data, or folds of the training data.

With folds, each model is trained on the other folds, and its scores stand for those that
the model of all data has on new examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone

from maxmargin.calibration.candidates import Candidates
from maxmargin.core.data.arrays import Floats, Ints, Ragged, pointers
from maxmargin.core.data.tokens.sequences import flat_labels, same_lengths
from maxmargin.core.structure import Layers, NBest
from maxmargin.estimators.explaining.fitted_model import FittedModel
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    take_rows,
)
from maxmargin.estimators.fitting.prediction import predict_layers


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
    never: int = 0  # examples whose true output training has not shown


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
    from sklearn.model_selection import (
        KFold,
    )  # takes .1 s, which prediction does not need

    quiet: dict[str, Any] = {
        "verbose": 0,
        "callbacks": None,
        "checkpoint": None,
        "calibration": 0,
    }
    known = model.get_params(deep=False)
    if "outside_shift" in known:  # the one of the model, and not one for each fold
        quiet["outside_shift"] = vars(model).get("outside_shift_", 0.0)
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
    return x, predict_layers(model, structure, x, n)


def _scores_on(asked: Calibrated, model: Calibrated, X: Any, y: Any, n: int) -> HeldOut:
    """Scores of `model`; labels are numbered as in `asked`.

    A true output that `asked` does not know is among no candidates; examples that only a
    fold does not know, or whose labels are not all given, are left out.
    """
    scores = model._label_scores(X)
    labels, label_truth, ptr = None, np.empty(0, np.int64), np.zeros(1, np.int64)
    hidden: list[int] = []
    if scores is not None:
        flat, starts = flat_labels(y)
        labels, label_truth, ptr = _label_candidates(asked, X, scores, flat, starts)
        hidden = [i for i, row in enumerate(y) if any(v is None for v in row)]
    sequences = scores is not None
    never = np.setdiff1d(_strange(asked, y, sequences), hidden)
    known = np.setdiff1d(np.arange(len(y)), [*hidden, *_strange(model, y, sequences)])
    if sequences and model.structure_.offers(NBest) is None:
        none = Candidates(np.zeros(1, np.int64), np.empty(0))
        empty = np.empty(0, np.int64)
        return HeldOut(none, empty, labels, label_truth, ptr, len(never))
    kept = np.union1d(known, never).astype(np.int64)
    _, found = nbest_of(model, take_rows(X, kept), n)
    places = np.full(len(kept), -1, np.int64)
    if len(known):
        truth = model._encoded(take_rows(X, known), take_rows(y, known))[1]
        _find(found.labels, found.ptr, truth, np.searchsorted(kept, known), places)
    outputs = Candidates(found.ptr, np.ascontiguousarray(found.score)).checked()
    return HeldOut(outputs, places, labels, label_truth, ptr, len(never))


def _strange(model: Any, y: Any, sequences: bool) -> list[int]:
    """Examples whose true output the model does not know."""
    if not sequences:
        return list(model._unknown(y))
    known = {None, *model.classes_}
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
    same_lengths(scores.ptr, starts)
    told = np.array([label is not None for label in flat], bool)
    counts = np.append(told, False).astype(np.int64)
    truth = np.array([where.get(label, -1) for label in flat], np.int64)
    sizes = np.add.reduceat(counts, starts[:-1]) * (np.diff(starts) > 0)
    return Candidates.of_table(table[told]), truth[told], pointers(sizes)


def _find(found: Ragged, ptr: Ints, truth: Ragged, rows: Ints, places: Ints) -> None:
    """Note the place of each true output among those found for its row, if it is there."""
    for k, i in enumerate(rows):
        row = truth.row(k)
        for q in range(ptr[i], ptr[i + 1]):
            if np.array_equal(found.row(q), row):
                places[i] = q - ptr[i]
                break


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
        sum(part.never for part in parts),
    )
