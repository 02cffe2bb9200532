"""How far stated confidences are from what happens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.calibration.candidates import Candidates
from maxmargin.core.data.arrays import Floats, Ints, is_whole, real_numbers


class Reliability(NamedTuple):
    """Examples in bins by their confidence, the least sure first."""

    confidence: Floats  # mean of each bin
    accuracy: Floats  # share that is right
    counts: Ints

    @property
    def error(self) -> float:
        """Expected calibration error: |accuracy - confidence|, weighted by the counts."""
        total = self.counts.sum()
        if total == 0:
            return 0.0
        return float(self.counts @ np.abs(self.accuracy - self.confidence) / total)


def reliability(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int = 15, equal: str = "width"
) -> Reliability:
    """Confidence against accuracy in bins, for a reliability diagram.

    Parameters
    ----------
    confidence : array (n,)
        Between 0 and 1.
    correct : array (n,)
        Whether each answer was right.
    bins : int
    equal : {"width", "count"}
        Bins of equal width, as usual, or with equally many examples.

    Examples
    --------
    >>> found = reliability([0.9, 0.9, 0.1, 0.1], [1, 1, 0, 1], bins=2)
    >>> found.accuracy.tolist(), found.counts.tolist(), round(found.error, 3)
    ([0.5, 1.0], [2, 2], 0.25)
    """
    p = real_numbers(confidence).ravel()
    right = real_numbers(correct).ravel()
    if len(p) != len(right):
        raise ValueError(f"{len(p)} confidences but {len(right)} answers")
    if len(p) and not (p.min() >= 0.0 and p.max() <= 1.0):
        raise ValueError("a confidence is not between 0 and 1")
    check_answers(right)
    if not is_whole(bins) or bins < 1:
        raise ValueError(f"bins={bins!r} is not a whole number > 0")
    if equal == "width":
        place = np.minimum((p * bins).astype(np.int64), bins - 1)
    elif equal == "count":
        place = np.empty(len(p), np.int64)
        place[np.argsort(p, kind="stable")] = np.arange(len(p)) * bins // max(len(p), 1)
    else:
        raise ValueError(f"equal={equal!r} is not 'width' or 'count'")
    count = np.bincount(place, minlength=bins)
    kept = count > 0
    mean = np.bincount(place, p, bins)[kept] / count[kept]
    share = np.bincount(place, right, bins)[kept] / count[kept]
    return Reliability(mean, share, count[kept])


def check_answers(right: Floats) -> None:
    """Refuse what says neither right nor wrong."""
    if not ((right >= 0.0) & (right <= 1.0)).all():
        i = int(np.flatnonzero(~((right >= 0.0) & (right <= 1.0)))[0])
        raise ValueError(f"answer {i} is {right[i]}: 1 is right, 0 is wrong")


def checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """One weight for each of n examples, finite and not negative; None: ones."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "fiub" or weight.shape != (n,):
        raise ValueError(f"sample_weight must be one number for each of {n} examples")
    if not ((weight >= 0.0) & (weight < np.inf)).all():
        raise ValueError("sample_weight must be finite and not negative")
    return weight.astype(np.float64)


def expected_calibration_error(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int = 15, equal: str = "width"
) -> float:
    """Mean distance of confidence and accuracy over bins; see `reliability`.

    Examples
    --------
    >>> round(expected_calibration_error([0.8, 0.8, 0.8, 0.8], [1, 1, 1, 0]), 3)
    0.05
    """
    return reliability(confidence, correct, bins=bins, equal=equal).error


def log_loss(candidates: Candidates, truth: ArrayLike, least: float = 1e-12) -> float:
    """Mean of -log p(truth); a probability below `least`, or no candidate, counts as it.

    Examples
    --------
    >>> round(log_loss(Candidates.of_table([[0.5, 0.5], [1.0, 0.0]]), [1, 0]), 3)
    0.347
    """
    at = candidates.places(truth)
    p = np.where(at >= 0, candidates.scores[at], 0.0)
    if len(p) and not (
        candidates.scores.min() >= 0.0 and candidates.scores.max() <= 1.0 + 1e-6
    ):
        raise ValueError(
            "the scores are not probabilities: they are not between 0 and 1"
        )
    return float(-np.log(np.maximum(p, least)).mean()) if len(p) else 0.0
