"""How sure an alignment is, column by column.

With P(y) ~ exp(score(y) / T), the sum over all alignments gives

    P(i, j)  the probability that i is matched with j
    the confidence of a match (i, j) is P(i, j), of a gap at i it is 1 - sum_j P(i, j).

Scores of max-margin models have no scale of their own: T is the one under which the
matches of held-out predictions are right as often as their confidence says,

    min_T  - sum over predicted matches log P(right, if it is right) or log(1 - P).

[1] Do, Mahabhashyam, Brudno, Batzoglou: ProbCons, 2005 (posterior decoding).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.estimators.calibrating.held_out import folds
from maxmargin.estimators.fitting.prediction import ask_batches
from maxmargin.structures.alignment.inputs.encoding import SequencePairs
from maxmargin.structures.alignment.structure import Alignment

WIDTH = 3.0  # decades of T on either side of the size of the match scores
SMALL = 1e-6  # probabilities are kept this far from 0 and 1 in logarithms


def column_confidence(model: Any, X: Any) -> list[Floats]:
    """Confidence of each column of the predicted alignments."""
    structure = model.structure_
    x = structure.encode(X)
    question = partial(_confidence, temperature=model.column_temperature_)
    return [one for part in ask_batches(model, structure, x, question) for one in part]


def _confidence(
    structure: Alignment, x: SequencePairs, ids: Ints, w: Floats, temperature: float
) -> list[Floats]:
    out = []
    for i in ids.tolist():
        found = structure.argmax(x, np.array([i]), w).labels
        one = x._replace(left=x.left[i : i + 1], right=x.right[i : i + 1])
        columns = structure.decode_labels(one, found)[0]
        table = structure.match_probabilities(x, i, w, temperature)
        a, b = columns[:, 0], columns[:, 1]
        alone = [1.0 - table.sum(axis=1), 1.0 - table.sum(axis=0)]
        share = np.where(a < 0, alone[1][b], np.where(b < 0, alone[0][a], table[a, b]))
        out.append(np.clip(share, 0.0, 1.0))
    return out


def column_temperature(model: Any, X: Any, y: Any, cv: int | None) -> float:
    """The temperature that fits best on held-out pairs, or on folds of these."""
    parts = [(model, (X, y))] if cv is None else list(folds(model, X, y, cv))
    held: list[tuple[Any, SequencePairs, list[tuple[Ints, Floats]]]] = []
    for one, (inputs, truth) in parts:
        x = one.structure_.encode(inputs)
        held.append((one, x, _matches(one, x, truth)))
    right = np.concatenate([r for _, _, known in held for _, r in known])
    if len(right) == 0:
        raise ValueError("the predicted alignments match nothing: nothing to calibrate")

    def loss(decades: float) -> float:
        shares = [
            one.structure_.match_probabilities(x, i, one.coef_, 10.0**decades)[
                at[:, 0], at[:, 1]
            ]
            for one, x, known in held
            for i, (at, _) in enumerate(known)
        ]
        p = np.clip(np.concatenate(shares), SMALL, 1.0 - SMALL)
        return -float(np.mean(np.where(right > 0, np.log(p), np.log1p(-p))))

    middle = np.log10(_typical_size(model.coef_))
    found = scipy.optimize.minimize_scalar(
        loss, bounds=(middle - WIDTH, middle + WIDTH), method="bounded",
        options={"xatol": 0.02},
    )  # fmt: skip
    return float(10.0**found.x)


def _matches(model: Any, x: SequencePairs, truth: Any) -> list[tuple[Ints, Floats]]:
    """Matches (k, 2) of each predicted alignment, and which of them are right."""
    structure = model.structure_
    rows, cols = x.sizes
    found = structure.argmax(x, np.arange(x.n), model.coef_).labels
    true = structure.encode_labels(x, truth)
    out = []
    for i, (one, other) in enumerate(
        zip(
            structure.decode_labels(x, found),
            structure.decode_labels(x, true),
            strict=True,
        )
    ):
        seen = np.zeros((int(rows[i]), int(cols[i])))
        both = other[(other >= 0).all(axis=1)]
        seen[both[:, 0], both[:, 1]] = 1.0
        at = one[(one >= 0).all(axis=1)].astype(np.int64)
        out.append((at, seen[at[:, 0], at[:, 1]]))
    return out


def _typical_size(w: Floats) -> float:
    """Root mean square of the weights that are not zero."""
    used = w[w != 0.0]
    return float(np.sqrt(np.mean(used**2))) if len(used) else 1.0
