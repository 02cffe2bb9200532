"""Label schemes: recognised with a reason, converted without changing a span."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import convert_scheme, labels_of_spans, recognise_scheme
from maxmargin.metrics import spans

SCHEMES = ["bio", "iob1", "bioes", "bilou"]


@st.composite
def span_lists(draw):
    """Spans that do not overlap, and the length of the sequence."""
    out, t = [], 0
    for _ in range(draw(st.integers(0, 4))):
        t += draw(st.integers(0, 2))
        size = draw(st.integers(1, 3))
        out.append((draw(st.sampled_from(["PER", "LOC"])), t, t + size - 1))
        t += size
    return out, t + draw(st.integers(0, 2))


@given(st.lists(span_lists(), min_size=1, max_size=4))
def test_spans_survive_all_conversions(sentences):
    for scheme in SCHEMES:
        y = [labels_of_spans(some, n, scheme) for some, n in sentences]
        assert [spans(row) for row in y] == [some for some, _ in sentences]
        for to in SCHEMES:
            made, said = convert_scheme(y, to, source=scheme)
            assert made == [labels_of_spans(some, n, to) for some, n in sentences]
            assert ("converted" in said) == (to != scheme)


@given(st.lists(span_lists(), min_size=1, max_size=4))
def test_recognised_schemes_give_the_spans_back(sentences):
    for scheme in SCHEMES:
        y = [labels_of_spans(some, n, scheme) for some, n in sentences]
        found = recognise_scheme(y).scheme
        if found is None:
            assert not any(some for some, _ in sentences)
            continue
        # Sequences may be legal in two schemes: what counts is that spans stay.
        made, _ = convert_scheme(y, "bioes")
        assert [spans(row) for row in made] == [some for some, _ in sentences]
        if scheme == "iob1":
            adjacent = any("B-" in label for row in y for label in row)
            assert found == "iob1" or not adjacent


def test_reasons_name_the_place():
    assert recognise_scheme([["O"], ["O", "I-PER"]]) == (
        "iob1", "the labels are IOB1: 'I-PER' (sequence 1, token 1) begins a span"
    )  # fmt: skip
    assert recognise_scheme([["B-PER", "I-PER"]]).scheme == "bio"
    assert (
        recognise_scheme([["S-PER"]]).reason == "the labels are BIOES: there is 'S-PER'"
    )
    assert recognise_scheme([["U-PER"]]).scheme == "bilou"
    assert recognise_scheme([["O"]]).scheme is None
    assert recognise_scheme([[1, 2]]).scheme is None
    assert recognise_scheme([[None, "I-PER"], ["B-PER", None]]).scheme == "bio"


def test_mixed_schemes_are_refused_with_both_places():
    with pytest.raises(
        ValueError,
        match=r"IOB1 and BIO are mixed: 'I-PER' \(sequence 0, token 1\) .* "
        r"'B-LOC' \(sequence 1, token 0\)",
    ):
        recognise_scheme([["O", "I-PER"], ["B-LOC"]])
    with pytest.raises(ValueError, match="'S-PER' and 'U-LOC'"):
        recognise_scheme([["S-PER", "U-LOC"]])


def test_bad_spans_are_named():
    with pytest.raises(ValueError, match="LOC 2-5 does not lie in 4 tokens"):
        labels_of_spans([("LOC", 2, 5)], 4)
    with pytest.raises(ValueError, match="scheme 'iob' is not one of bio"):
        labels_of_spans([], 4, "iob")
