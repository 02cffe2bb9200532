"""Attachment scores."""

import pytest

from maxmargin.metrics import PENN_PUNCTUATION, attachment_scores

TRUTH = [[(2, "a"), (0, "root"), (2, "p")], [(0, "root")]]
FOUND = [[(2, "b"), (0, "root"), (1, "p")], [(0, "root")]]
X = [[("x", "N"), ("y", "V"), (".", ".")], [("z", "V")]]


def test_heads_labels_sentences_and_roots():
    scores = attachment_scores(TRUTH, FOUND)
    assert scores == (3 / 4, 2 / 4, 1 / 2, 1.0, 4)
    without = attachment_scores(TRUTH, FOUND, X, ignored_tags=PENN_PUNCTUATION)
    assert without == (1.0, 2 / 3, 1 / 2, 1.0, 3)


def test_trees_without_labels():
    assert attachment_scores([[2, 0]], [[2, 0]]).las == 1.0
    assert attachment_scores([[(2, "a"), (0, "b")]], [[2, 0]]).las == 1.0
    assert attachment_scores([[2, 0]], [[0, 1]])[:4] == (0.0, 0.0, 0.0, 0.0)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="2 true trees, but 1 predictions"):
        attachment_scores(TRUTH, FOUND[:1])
    with pytest.raises(ValueError, match="sentence 0: the prediction has 1 tokens"):
        attachment_scores(TRUTH, [FOUND[1], FOUND[1]])
    with pytest.raises(ValueError, match="needs the sentences"):
        attachment_scores(TRUTH, FOUND, ignored_tags={"."})
    with pytest.raises(ValueError, match="sentence 0 has no tags"):
        attachment_scores(TRUTH, FOUND, [["x", "y", "."], ["z"]], ignored_tags={"."})
