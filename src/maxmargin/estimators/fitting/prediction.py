"""Prediction: one question about many inputs, answered in batches by any engine.

    answers = ask_batches(model, structure, x, question)

A question is a function of a module, ``question(structure, x, ids, w)``. Structure and
inputs are sent to the workers once, the weights once per call, and only the numbers of
the examples with each batch; so threads, processes and clusters all share the work.
Batches do not depend on the number of workers, and neither do the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged, pointers
from maxmargin.core.data.tokens.sequences import flat_labels
from maxmargin.core.engine import Engine
from maxmargin.core.oracle import CHUNK, A, OutputQuestion, S, answer, best_outputs
from maxmargin.core.structure import Found, Layers, NBest, Structure
from maxmargin.estimators.fitting.inputs import check_truth
from maxmargin.metrics.sequences import token_error

BATCH = 4 * CHUNK  # examples per batch


class Predictor(Protocol):
    """What prediction needs of a fitted estimator."""

    @property
    def structure_(self) -> Structure:
        """The structure, bound to the training data."""

    def _weights(self) -> Floats:
        """Weights in the coordinates of the structure."""

    def _engine(self) -> Engine:
        """The engine that the parameters ask for."""

    def _release(self, engine: Engine) -> None:
        """Close an engine, unless the user gave it."""


def ask_batches(
    model: Predictor,
    structure: S,
    x: Any,
    question: OutputQuestion[S, A],
    w: Floats | None = None,
) -> list[A]:
    """The answers for all examples of `x`, one per batch, in order.

    Parameters
    ----------
    model : Predictor
        Its weights and its engine are used.
    structure : Structure
        Usually ``model.structure_``; another one where a prediction has its own rules.
    x : encoded inputs
        With a property `n`, the number of examples.
    question : function ``(structure, x, ids, w) -> answer``
        A function of a module, or a `functools.partial` of one, so that it can be
        sent to other processes.
    w : array, optional
        Weights of `structure`; by default those of the model.

    Returns
    -------
    list
        At least one answer: without examples, that for an empty batch.
    """
    ids = np.arange(x.n)
    batches = [ids[s : s + BATCH] for s in range(0, x.n, BATCH)] or [ids]
    engine = model._engine()
    try:
        asked = partial(answer, question)
        weights = model._weights() if w is None else w
        return list(engine.ask((structure, x), asked, weights, batches))
    finally:
        model._release(engine)


def predict_found(
    model: Predictor,
    x: Any,
    structure: Structure | None = None,
    w: Floats | None = None,
) -> Found:
    """The best output of each example, with its score and bound; see `ask_batches`."""
    asked = model.structure_ if structure is None else structure
    parts = ask_batches(model, asked, x, best_outputs, w)
    return Found(
        Ragged.concat([part.labels for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.bound for part in parts]),
    )


def predict_layers(model: Predictor, structure: Structure, x: Any, k: int) -> Layers:
    """The k best outputs of each example, best first; see `ask_batches`."""
    parts = ask_batches(model, structure, x, partial(_best_many, k=k))
    return joined_layers(parts)


def _best_many(structure: Structure, x: Any, ids: Ints, w: Floats, k: int) -> Layers:
    nbest = structure.offers(NBest)
    assert nbest is not None
    return nbest.nbest(x, ids, w, k)


def with_scores(outputs: Sequence[Any], found: Layers) -> list[list[tuple[Any, float]]]:
    """The decoded outputs of all layers with their scores, a list for each example."""
    scored = list(zip(outputs, found.score.tolist(), strict=True))
    return [scored[a:b] for a, b in pairwise(found.ptr.tolist())]


def joined_layers(parts: Sequence[Layers]) -> Layers:
    """Several outputs per example, from the answers of all batches.

    Examples
    --------
    >>> one = Layers(np.array([0, 2]), Ragged.pack([[1], [2]]), np.ones(2), np.zeros(2))
    >>> joined_layers([one, one]).ptr.tolist()
    [0, 2, 4]
    """
    sizes = np.concatenate([np.diff(part.ptr) for part in parts])
    return Layers(
        pointers(sizes),
        Ragged.concat([part.labels for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.loss for part in parts]),
    )


def decoded_layers(structure: Structure, x: Any, found: Layers) -> list[Any]:
    """The outputs of all layers, one after the other as in ``found.labels``.

    `decode_labels` takes one row for each example, whose size it may need. So rows are
    decoded rank by rank; an example with fewer outputs repeats its last one.
    """
    out: list[Any] = [None] * found.labels.n
    first, sizes = found.ptr[:-1], np.diff(found.ptr)
    for rank in range(int(sizes.max(initial=0))):
        at = first + np.minimum(rank, sizes - 1)
        rows: list[Any] = [
            found.labels.row(int(q)) if k else [] for q, k in zip(at, sizes)
        ]
        decoded = structure.decode_labels(x, Ragged.pack(rows))
        for i in np.flatnonzero(sizes > rank).tolist():
            out[at[i]] = decoded[i]
    return out


def has_output(structure: Structure, x: Any, y: Any) -> bool:
    """Whether a structure has the output y for the input x, both as it takes them."""
    try:
        structure.encode_labels(structure.encode([x]), [y])
    except ValueError:
        return False
    return True


def token_accuracy(truth: Any, predicted: Any, known: Sequence[Any]) -> float:
    """Share of right labels; those that are None do not count, but one must be given."""
    given = [label for label in flat_labels(truth)[0] if label is not None]
    if not given:
        raise ValueError("y has no label that is known: there is nothing to score")
    check_truth(given, known)
    return 1.0 - token_error(truth, list(predicted))
