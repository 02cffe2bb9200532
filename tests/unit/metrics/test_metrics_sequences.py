"""Sequence scores, against seqeval where it is installed."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.metrics import (
    sequence_accuracy,
    span_confusion,
    span_f1,
    span_report,
    span_scores,
    spans,
    token_error,
)

LABELS = ["O", "B-P", "I-P", "E-P", "S-P", "B-Q", "I-Q", "E-Q", "B", "I"]
rows = st.lists(st.sampled_from(LABELS), max_size=7)


@st.composite
def two_labellings(draw):
    truth = draw(st.lists(rows, min_size=1, max_size=5))
    other = [draw(st.lists(st.sampled_from(LABELS), min_size=len(r), max_size=len(r)))
             for r in truth]  # fmt: skip
    return truth, other


@settings(deadline=None, max_examples=200)
@given(two_labellings())
def test_agrees_with_seqeval(pair):
    seqeval = pytest.importorskip("seqeval.metrics")
    from seqeval.metrics.sequence_labeling import get_entities

    truth, said = pair
    for row in truth:
        assert spans(row) == get_entities(row)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = seqeval.f1_score(truth, said)
        if any(spans(row) for row in truth + said):
            assert span_report(truth, said) == seqeval.classification_report(
                truth, said
            )
    assert np.isclose(span_f1(truth, said), expected)


def test_inside_after_outside_opens_a_span():
    assert spans(["O", "I-P", "I-P", "I-Q"]) == [("P", 1, 2), ("Q", 3, 3)]
    assert spans([]) == []


def test_perfect_and_empty():
    y = [["B-P", "I-P", "O"], []]
    assert span_f1(y, y) == 1.0
    assert token_error(y, y) == 0.0
    assert sequence_accuracy(y, [["O"] * 3, []]) == 0.5
    assert span_scores([["O"]], [["O"]])["micro"] == (0.0, 0.0, 0.0, 0)
    assert token_error([], []) == 0.0


def test_arrays_and_any_labels():
    assert token_error([np.array([1, 2])], [[1, 3]]) == 0.5


def test_mismatch_names_the_sequence():
    with pytest.raises(ValueError, match="sequence 1 has 1 true labels but 2"):
        token_error([["a"], ["b"]], [["a"], ["b", "b"]])
    with pytest.raises(ValueError, match="2 true sequences but 1"):
        span_f1([["O"], ["O"]], [["O"]])


def test_labels_that_are_not_known_do_not_count():
    true, said = [["a", None, "b"], [None]], [["a", "b", "a"], ["a"]]
    assert token_error(true, said) == 0.5
    assert sequence_accuracy(true, said) == 0.5
    with pytest.raises(ValueError, match="sequence 0, token 1: the true label is None"):
        span_f1(true, said)


@settings(deadline=None)
@given(two_labellings())
def test_span_errors_count_every_span_once(pair):
    truth, said = pair
    confusion, errors = span_confusion(truth, said)
    true = sum(len(spans(row)) for row in truth)
    predicted = sum(len(spans(row)) for row in said)
    paired = (
        errors.correct + errors.wrong_type + errors.wrong_extent + errors.wrong_both
    )
    assert paired + errors.missed == true and paired + errors.spurious == predicted
    assert confusion.counts[:-1].sum() == true
    assert confusion.counts[:, :-1].sum() == predicted
    assert np.trace(confusion.counts) == errors.correct + errors.wrong_extent
    scores = span_scores(truth, said)
    exact = sum(len(set(spans(a)) & set(spans(b))) for a, b in zip(truth, said))
    assert errors.correct == exact
    assert scores["micro"].recall == pytest.approx(exact / true if true else 0.0)


def test_of_two_equal_overlaps_the_span_of_the_same_type_belongs_to_the_truth():
    truth = [["B-PER", "I-PER", "I-PER", "I-PER"]]
    said = [["B-LOC", "I-LOC", "B-PER", "I-PER"]]
    confusion, errors = span_confusion(truth, said)
    place = {kind: k for k, kind in enumerate(confusion.kinds)}
    assert confusion.counts[place["PER"], place["PER"]] == 1
    assert confusion.counts[-1, place["LOC"]] == 1 and errors.spurious == 1


def test_spans_are_paired_by_the_words_that_they_share():
    """Two spans of the same length that overlap: the one that shares more words."""
    truth = [["B-P", "I-P", "I-P", "I-P", "O", "O"]]
    said = [["B-Q", "O", "B-R", "I-R", "I-R", "I-R"]]
    confusion, _ = span_confusion(truth, said)
    where = {kind: k for k, kind in enumerate(confusion.kinds)}
    assert confusion.counts[where["P"], where["R"]] == 1
    assert confusion.counts[-1, where["Q"]] == 1  # spurious
    same = span_confusion([["O", "B-P", "I-P"]], [["B-P", "I-P", "I-P"]])[0]
    assert same.counts[0, 0] == 1


def test_a_confusion_as_text():
    confusion, _ = span_confusion([["B-PER", "O", "B-L"]], [["B-PER", "B-L", "O"]])
    assert confusion.table().splitlines() == [
        "true       L   PER  none",
        "L          0     0     1",
        "PER        0     1     0",
        "none       1     0     0",
    ]
