"""Probabilities of n-best outputs, and sets of outputs with a promised coverage.

p(y) ~ exp(score(y) / T)   over the n best outputs,   T fitted on held-out examples
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.calibration.candidates import Candidates
from maxmargin.calibration.conformal import ConformalSets
from maxmargin.calibration.temperature import Temperature
from maxmargin.core.data.warned import warn
from maxmargin.core.structure import NBest
from maxmargin.estimators.calibrating.calibration import (
    MOST,
    Calibration,
    calibration_of,
    label_parts,
)
from maxmargin.estimators.calibrating.held_out import Calibrated, held_out, nbest_of
from maxmargin.estimators.fitting.prediction import decoded_layers

Ranked = list[list[tuple[Any, float]]]  # outputs with their probabilities, best first
NONE_FOUND = (
    "no true output of the held-out data was among the {} best of its example: calibrate "
    "with a larger n, or with more data"
)


def calibrated(
    model: Calibrated, X: Any, y: Any, cv: int | None, n: int
) -> Calibration:
    """What held-out examples say; see `StructuredEstimator.calibrate`."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST:
        raise ValueError(f"n={n!r}: a whole number of outputs, 1 to {MOST}, is needed")
    seen = held_out(model, X, y, cv, n)
    if seen.labels is not None and seen.labels.n == 0:
        raise ValueError("no label of y is given: there is nothing to calibrate on")
    if seen.never:
        warn(
            f"{seen.never} of {len(y)} held-out examples have a true output that training "
            "has not shown: no set can hold it, and probabilities are as if it never occurred",
        )
    temperature = sets = None
    if (seen.output_truth >= 0).any():
        sets = ConformalSets.fit(seen.outputs.below_top(), seen.output_truth)
        temperature = Temperature.fit(seen.outputs, seen.output_truth)
    if seen.labels is not None:
        parts = label_parts(seen.labels, seen.label_truth, seen.ptr)
        return Calibration(n, temperature, sets, *parts)
    if temperature is None:
        raise ValueError(NONE_FOUND.format(n))
    return Calibration(n, temperature, sets)


def predict_ranked(model: Calibrated, X: Any, n: int | None = None) -> Ranked:
    """The best outputs of each input with their probabilities, best first."""
    known = calibration_of(model)
    if known.outputs is None:
        raise ValueError(_why_none(model, known.n))
    outputs, candidates = _listed(model, X, known.n)
    p = known.outputs(candidates).scores.tolist()
    ptr = candidates.ptr.tolist()
    return [list(zip(outputs[a:b], p[a:b], strict=True))[:n] for a, b in pairwise(ptr)]


def _why_none(model: Calibrated, n: int) -> str:
    """Why there is no calibration of whole outputs."""
    if model.structure_.offers(NBest) is None:
        return (
            f"{type(model).__name__} cannot list the n best outputs: only its labels are "
            "calibrated"
        )
    return NONE_FOUND.format(n)


def output_sets(model: Calibrated, X: Any, coverage: float) -> list[list[Any]]:
    """Outputs that hold the truth with a frequency of at least `coverage`."""
    known = calibration_of(model)
    if known.output_sets is None:
        raise ValueError(_why_none(model, known.n))
    if np.isinf(known.output_sets.thresholds(coverage)).any():
        held = len(known.output_sets.strangeness)
        few = coverage * (held + 1) > held + 1e-9
        why = (
            f"{held} held-out examples are too few for coverage={coverage}: sets hold all "
            f"{known.n} outputs that are listed; calibrate with more data"
            if few
            else f"the true output is among the {known.n} best ones less often than "
            f"coverage={coverage}: sets hold all {known.n}; calibrate with a larger n"
        )
        warn(why)
    outputs, candidates = _listed(model, X, known.n)
    chosen = known.output_sets.sets(candidates.below_top(), coverage)
    starts = candidates.ptr.tolist()
    return [
        [outputs[starts[i] + q] for q in chosen.row(i).tolist()]
        for i in range(chosen.n)
    ]


def _listed(model: Calibrated, X: Any, n: int) -> tuple[list[Any], Candidates]:
    """All listed outputs one after the other, and their scores."""
    x, found = nbest_of(model, X, n)
    rows = decoded_layers(model.structure_, x, found)
    candidates = Candidates(found.ptr, np.ascontiguousarray(found.score)).checked()
    return list(model._outputs(rows)), candidates
