"""Hierarchical precision and recall: against their definition, and what is refused."""

import pytest

from maxmargin.metrics import hierarchical_scores
from maxmargin.structures.classes import Taxonomy

TREE = Taxonomy.of({"cat": "pet", "dog": "pet", "pet": "animal", "fly": "animal"})


def test_an_answer_that_stops_early_loses_recall_only():
    found = hierarchical_scores(TREE.paths(["cat", "fly"]), TREE.paths(["pet", "fly"]))
    assert found.precision == 1.0
    assert found.recall == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(0.8)


def test_means_over_examples():
    true, said = [["a", "b"], ["c"]], [["a", "x"], ["c"]]
    assert hierarchical_scores(true, said, "macro").precision == 0.75
    assert hierarchical_scores(true, said, "micro").precision == pytest.approx(2 / 3)


def test_an_answer_that_goes_too_far_loses_precision_only():
    found = hierarchical_scores([["a"], ["c"]], [["a", "b"], ["c", "d", "e"]])
    assert (found.precision, found.recall) == (0.4, 1.0)
    assert found.f1 == pytest.approx(0.8 / 1.4)
    assert hierarchical_scores([["a"]], [["b"]]).f1 == 0.0


def test_padding_does_not_count():
    assert hierarchical_scores([["a", "b"]], [["a", ""]]).precision == 1.0


@pytest.mark.parametrize(
    ("true", "said", "words"),
    [
        ([["a"]], [], "1 true paths, but 0"),
        ([["a"], "cat"], [["a"], ["b"]], "example 1: the true path is the string"),
        ([["a"], [""]], [["a"], ["b"]], "example 1: the true path is empty"),
    ],
)
def test_broken_paths_are_named(true, said, words):
    with pytest.raises(ValueError, match=words):
        hierarchical_scores(true, said)
