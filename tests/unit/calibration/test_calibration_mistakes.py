"""What is no score, truth, weight or answer is refused, and not counted as one."""

import numpy as np
import pytest

from maxmargin.calibration import (
    Candidates,
    ConformalSets,
    Isotonic,
    Temperature,
    best_f1_threshold,
    log_loss,
    reliability,
    span_confidences,
)

SCORES = Candidates.of_table([[2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
TRUTH = [0, 0, 1, 1]


@pytest.mark.parametrize("weight", [
    [1.0, 1.0, 1.0, -0.5], [np.nan] * 4, [np.inf, 1.0, 1.0, 1.0], [1.0] * 3, list("abcd"),
])  # fmt: skip
def test_weights(weight):
    with pytest.raises(ValueError, match="sample_weight must be"):
        Temperature.fit(SCORES, TRUTH, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight must be"):
        Isotonic.fit([0.1, 0.2, 0.3, 0.4], TRUTH, sample_weight=weight)


@pytest.mark.parametrize("truth", [
    [0.7, 0, 1, 1], [np.nan, 0, 1, 1], ["0", "0", "1", "1"], [True, False, True, True],
    [-5, 0, 1, 1], [2, 0, 0, 0], [0, 0, 1], None,
])  # fmt: skip
def test_truths(truth):
    for fit in (Temperature.fit, ConformalSets.fit, log_loss):
        with pytest.raises(ValueError, match=r"truths|there is no candidate"):
            fit(SCORES, truth)


@pytest.mark.parametrize("offsets", [[0, 2], [0, 2, 9], [0, 3, 2, 4], [1, 4]])
def test_offsets_of_sequences(offsets):
    """Without the check, truths outside of the offsets were left out."""
    with pytest.raises(ValueError, match="sequences"):
        ConformalSets.fit(SCORES, TRUTH, per="sequence", sequences=offsets)


@pytest.mark.parametrize("right", [[2.0], [np.nan], [-1.0]])
def test_answers(right):
    with pytest.raises(ValueError, match="1 is right, 0 is wrong"):
        reliability([0.5], right)
    with pytest.raises(ValueError, match="1 is right, 0 is wrong"):
        Isotonic.fit([0.5], right)


@pytest.mark.parametrize("truth", [[0, np.nan], ["0", "1"], [0, 2], [-1, 1]])
def test_true_values_of_thresholds(truth):
    with pytest.raises(ValueError, match="true value"):
        best_f1_threshold([1.0, 2.0], truth)


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match="not probabilities"):
        log_loss(SCORES, TRUTH)
    for p in ([2.0], [np.nan], [-0.1]):
        with pytest.raises(ValueError, match="not probabilities"):
            span_confidences([["B-X"]], p)
    with pytest.raises(ValueError, match="several inputs"):
        span_confidences([["B-X"], ["B-X", "O"]], [0.5, 0.5])


@pytest.mark.parametrize("bins", [1.5, 0, "x"])
def test_bins(bins):
    with pytest.raises(ValueError, match="whole number > 0"):
        reliability([0.5], [1], bins=bins)
