"""Figures of measures where averages, labels and missing queries differ."""

from dataclasses import FrozenInstanceError

import pytest

from maxmargin.metrics import COLLINS, evalb, span_scores, trec_eval
from maxmargin.metrics.clusters import b3_counts, muc_counts, score
from maxmargin.metrics.trees.brackets import BracketRules


def test_averages_of_spans():
    """P is found two times of three, Q never, and there is one wrong R."""
    truth = [["B-P", "O", "B-P", "O", "B-P", "B-Q", "O"]]
    found = [["B-P", "O", "B-P", "O", "O", "O", "B-R"]]
    scores = span_scores(truth, found)
    assert scores["P"] == (1.0, pytest.approx(2 / 3), pytest.approx(0.8), 3)
    assert scores["weighted"] == (0.75, pytest.approx(0.5), pytest.approx(0.6), 4)
    assert scores["macro"].f1 == pytest.approx(0.8 / 3)
    assert scores["micro"] == (pytest.approx(2 / 3), 0.5, pytest.approx(4 / 7), 4)
    assert span_scores([["O"]], [["O"]])["weighted"] == (0.0, 0.0, 0.0, 0)


def test_evalb_where_nothing_is_right():
    true = ("S", ("NP", ("NN", "a")), ("VP", ("VB", "b")))
    scores = evalb([("X", ("Y", ("NN", "a"), ("VB", "b")))], [true])
    assert scores.bracketing_recall == scores.bracketing_fmeasure == 0.0


def test_evalb_keeps_tags_and_drops_functions():
    true, found = ("S", ("NP-SBJ", ("NN-X", "a"))), ("S", ("NP", ("NN", "a")))
    scores = evalb([true], [found])
    assert scores.bracketing_fmeasure == 100.0 and scores.tagging_accuracy == 0.0


def test_queries_without_results():
    judged = {"one": {"d": 1}, "two": {"d": 1}}
    run = {"one": {"d": 2.0}}
    assert trec_eval(judged, run)["map"] == 1.0
    assert trec_eval(judged, run, complete=True)["map"] == 0.5


def test_clusters_without_links():
    """No pair is said and none is true; then some are said, of which none is."""
    alone, together = [[0, 1, 2]], [[0, 0, 0]]
    assert score(muc_counts, alone, alone) == (0.0, 0.0, 0.0)
    assert score(muc_counts, alone, together) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        score(muc_counts, alone * 2, together)
    half = score(b3_counts, [[0, 0, 1, 1]], [[0, 0, 0, 0]])
    assert half == (0.5, 1.0, pytest.approx(2 / 3))
    assert score(b3_counts, [[0, 1]], [[0, 1]]) == (1.0, 1.0, 1.0)


def test_evalb_without_any_parse():
    tree = ("S", ("NP", ("NN", "a")))
    scores = evalb([tree], [None])
    assert scores.number_of_valid_sentence == 0
    assert scores.average_crossing == scores.bracketing_fmeasure == 0.0


def test_a_tag_with_a_function_is_another_tag():
    """NN-X is not the tag NN, whose words do not count here."""
    rules = BracketRules(dropped_tags=frozenset(("NN",)))
    true, found = (
        ("S", (above, ("NN-X", "a")), ("VP", ("VB", "b"))) for above in ("NP", "ADVP")
    )
    assert evalb([true], [found], rules).bracketing_recall == pytest.approx(200 / 3)


def test_rules_that_all_share_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        COLLINS.labelled = False
