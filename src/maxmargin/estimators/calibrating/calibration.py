"""What held-out examples say about the scores of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.calibration.candidates import Candidates
from maxmargin.calibration.conformal import PROMISES, ConformalSets
from maxmargin.calibration.temperature import Temperature
from maxmargin.core.data.arrays import Ints
from maxmargin.core.data.validation import check_types, require

MOST = 10**4  # outputs that may be listed for one input


@dataclass(frozen=True, eq=False)
class Calibration:
    """Temperatures and thresholds; `calibrate` makes it, model files hold it.

    Parameters
    ----------
    n : int
        Number of best outputs that are listed for each input.
    outputs : Temperature, optional
        Of the scores of those outputs; None if no true output was among them.
    output_sets : ConformalSets, optional
        How far the true output scores below the best one.
    labels : Temperature, optional
        Of the max-marginals of labels, for label sequences.
    label_sets : tuple of ConformalSets
        The same of labels, one for each promise: per token, per label, per sequence.
    """

    n: int
    outputs: Temperature | None = None
    output_sets: ConformalSets | None = None
    labels: Temperature | None = None
    label_sets: tuple[ConformalSets, ...] = ()

    def validate(self) -> None:
        """Types and ranges; the parts validate themselves."""
        check_types(self)
        require(1 <= self.n <= MOST, f"n={self.n} outputs cannot be listed")
        whole = (self.outputs is None) == (self.output_sets is None)
        require(whole, "outputs are calibrated by halves")
        if self.output_sets is not None:
            groups = self.output_sets.per, len(self.output_sets.ptr)
            require(groups == ("token", 2), "sets of outputs have one group")
        made = [sets.per for sets in self.label_sets]
        wanted = [] if self.labels is None else list(PROMISES)
        require(made == wanted, "there is not one set of labels for each promise")

    def check_labels(self, k: int) -> None:
        """Refuse a calibration of another number of labels."""
        for sets in self.label_sets:
            groups = len(sets.ptr) - 1
            fits = groups == (k if sets.per == "label" else 1)
            require(fits, f"the calibration has {groups} groups of labels, not {k}")


def label_parts(
    candidates: Candidates, truth: Ints, ptr: Ints
) -> tuple[Temperature, tuple[ConformalSets, ...]]:
    """Temperature and sets of the labels of tokens; `ptr` begins sequences."""
    below = candidates.below_top()
    sets = tuple(
        ConformalSets.fit(below, truth, per=per, sequences=ptr) for per in PROMISES
    )
    return Temperature.fit(candidates, truth, power=True), sets


def calibration_of(model: Any) -> Calibration:
    """The calibration of a fitted model, or an error that says how to get one."""
    check_is_fitted(model, "result_")
    found = vars(model).get("calibration_")
    if "sigmoids_" in vars(model):
        raise ValueError(
            f"{type(model).__name__} has no sets or lists of outputs: predict_proba gives "
            "the probability of each label"
        )
    if not isinstance(found, Calibration):
        raise ValueError(
            f"this {type(model).__name__} is not calibrated: its scores are not "
            "probabilities. Call calibrate(X, y) with data that it was not trained on, or "
            "calibrate(X, y, cv=3) with the training data"
        )
    return found
