"""Labels that are probably misspelt, or all alike: training says so."""

import pytest

from maxmargin import ChainSVM

X = [[["Ana"], ["Ruiz"], ["vive"], ["Lima"]]] * 2


@pytest.mark.parametrize("odd", ["b-per", "B_PER", "PER"])
def test_a_label_that_marks_no_span(odd):
    y = [[odd, "I-PER", "O", "B-LOC"]] * 2
    with pytest.warns(UserWarning, match=f"label '{odd}' is neither 'O' nor like"):
        ChainSVM().fit(X, y)


def test_one_label():
    with pytest.warns(UserWarning, match="all labels are 'O'"):
        ChainSVM().fit(X, [["O"] * 4] * 2)


@pytest.mark.parametrize(
    "row", [["B-PER", "I-PER", "O", "B-LOC"], ["N", "N", "V", "O"]]
)
def test_others_are_not_mentioned(row):
    ChainSVM().fit(X, [row] * 2)
