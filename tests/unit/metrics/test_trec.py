"""trec_eval: its numbers on stored examples, its order of equal scores, its files."""

import numpy as np
import pytest

from maxmargin.io import read_qrels, read_run, run_of_queries, write_run
from maxmargin.metrics import average_precision, precision_at_k, trec_eval

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}


# What pytrec_eval, which runs trec_eval itself, documents and tests for these judgements.
@pytest.mark.parametrize(
    ("scores", "name", "value"),
    [
        ({"d1": 1.0, "d2": 0.0, "d3": 1.5}, "ndcg", 0.5),
        ({"d1": 1.0, "d2": 0.0, "d3": 1.5}, "map", 1 / 3),
        ({"d1": 1.0, "d2": 2.0, "d3": 1.5}, "ndcg", 1.0),
        ({"d1": 4.0, "d2": 2.0, "d3": 1.5}, "ndcg", 0.6309297535714575),
        ({"d1": 1.0, "d2": 0.0, "d3": 1.5}, "ndcg_cut_3", 0.5),
        ({"d1": 1.0, "d2": 0.0, "d3": 1.5}, "ndcg_cut_2", 0.0),
        ({"d1": 1.0, "d2": 0.0, "d3": 1.5}, "ndcg_cut_1000", 0.5),
    ],
)
def test_stored_values_of_trec_eval(scores, name, value):
    found = trec_eval(QRELS, {"q1": scores}, cuts=(1, 2, 3, 1000))
    assert found[name] == pytest.approx(value, abs=1e-12)


def test_the_documented_example_of_two_queries():
    run = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5},
           "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}  # fmt: skip
    found = trec_eval(QRELS, run)
    assert found.queries["q2"]["map"] == pytest.approx(0.5833333333333333)
    assert found.queries["q2"]["ndcg"] == pytest.approx(0.6934264036172708)
    assert found["num_q"] == 2 and found["num_rel"] == 3 and found["num_ret"] == 6
    assert "map                   \tall\t0.4583" in str(found)


def test_equal_scores_are_sorted_by_falling_names_of_documents():
    tied = trec_eval({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}})
    assert tied["recip_rank"] == 0.5
    tied = trec_eval({"q": {"a": 0, "b": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    assert tied["recip_rank"] == 1.0


def test_queries_without_results_count_only_if_asked():
    run = {"q1": {"d2": 1.0}, "other": {"d9": 1.0}}
    assert trec_eval(QRELS, run)["map"] == 1.0
    assert trec_eval(QRELS, run, complete=True)["map"] == 0.5


def test_measures_agree_with_ours_where_all_documents_are_judged_and_ranked():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(3, 15))
        grades, scores = rng.integers(0, 3, n), rng.permutation(n).astype(float)
        grades[0] = 1
        names = [f"d{i:02d}" for i in range(n)]
        found = trec_eval(
            {"q": dict(zip(names, grades.tolist()))}, {"q": dict(zip(names, scores))}
        )
        assert found["map"] == pytest.approx(average_precision(grades, scores))
        assert found["P_5"] == pytest.approx(precision_at_k(grades, scores, 5))


def test_files_go_in_and_out(tmp_path):
    run = run_of_queries([1, 1, 2], ["a", "b", "a"], [0.1, 0.25, 1e-3])
    write_run(tmp_path / "run", run)
    assert read_run(tmp_path / "run") == run
    assert (tmp_path / "run").read_text().splitlines()[0] == "1 Q0 b 1 0.25 maxmargin"
    (tmp_path / "qrels").write_text("# judged\n1 0 a 1\n1 0 b 0\n")
    assert read_qrels(tmp_path / "qrels") == {"1": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 0 a\n", "line 1: 3 fields"),
        ("1 0 a 1\n1 0 a 0\n", "line 2: document 'a' of query '1' again"),
        ("1 0 a x\n", "line 1: the grade 'x'"),
    ],
)
def test_broken_judgements_are_named_with_their_line(tmp_path, text, words):
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_qrels(tmp_path / "qrels")


def test_broken_runs_are_named_with_their_line(tmp_path):
    (tmp_path / "run").write_text("1 Q0 a 1 0.5 me\n1 Q0 b 2 nan me\n")
    with pytest.raises(ValueError, match="line 2: the score 'nan'"):
        read_run(tmp_path / "run")
    with pytest.raises(ValueError, match="blanks"):
        write_run(tmp_path / "other", {"1": {"a b": 1.0}})
    with pytest.raises(ValueError, match="no query of the run"):
        trec_eval(QRELS, {"q9": {"d": 1.0}})


def test_precision_is_given_at_the_cuts_of_trec_eval():
    scores = trec_eval({"q": {"a": 1}}, {"q": {"a": 1.0}})
    cuts = {name for name in scores if name.startswith("P_")}
    assert cuts == {f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
