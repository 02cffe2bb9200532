"""Labels that are probably misspelt, all alike, or not lists: training says so."""

import numpy as np
import pytest

from maxmargin import ChainSVM, MultilabelSVM, NetworkSVM, SegmentSVM

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


GRAPHS = [(np.eye(2), [(0, 1)])] * 2


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (NetworkSVM(), GRAPHS),
        (ChainSVM(), [[["a"], ["b"]]] * 2),
        (SegmentSVM(), [[["a"], ["b"]]] * 2),
    ],
)
def test_a_string_is_no_list_of_labels(model, data):
    with pytest.raises(ValueError, match=r"not a list of labels|are one string, 'AB'"):
        model.fit(data, ["AB", "AB"])
    model.fit(data, [["B-A", "O"]] * 2)
    with pytest.raises(ValueError, match=r"not a list of labels|are one string, 'AB'"):
        model.score(data, ["AB", "AB"])


def test_nodes_of_one_type_have_labels_of_one_type():
    with pytest.raises(
        ValueError, match="graph 0, node 1: the label is 1, others are text"
    ):
        NetworkSVM().fit(GRAPHS, [["A", 1]] * 2)
    with pytest.raises(
        ValueError, match="graph 1, node 0: the label is 'A', others are not text"
    ):
        NetworkSVM().fit(GRAPHS, [[0, 1], ["A", 1]])


def test_sets_have_labels_of_one_type():
    with pytest.raises(
        ValueError, match=r"several types: y\[0\] has 'a', y\[2\] has 1"
    ):
        MultilabelSVM().fit(np.eye(3), [["a"], ["b"], [1]])


def test_a_feature_of_a_node_that_is_too_large():
    X = [(np.array([[0.0], [1e300]]), [(0, 1)])]
    with pytest.raises(
        ValueError, match=r"node 1: a feature is 1e\+300, not finite or"
    ):
        NetworkSVM().fit(X, [["A", "B"]])


def test_labels_of_nodes_may_be_tuples():
    rng, chain = np.random.default_rng(0), np.array([[0, 1], [1, 2]])
    names = [("a",), ("b", "c")]
    X = [(rng.normal(size=(3, 2)), chain) for _ in range(12)]
    y = [[names[int(v > 0)] for v in x[:, 0]] for x, _ in X]
    model = NetworkSVM().fit(X, y)
    assert {label for row in model.predict(X) for label in row} == set(names)
    assert model.score(X, y) > 0.8
