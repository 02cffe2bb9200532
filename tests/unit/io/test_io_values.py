"""Readers and writers of files at the edges: first columns, limits, other lengths."""

import numpy as np
import pytest

from maxmargin.io import biology, letor, sequences, svmlight, treebank
from maxmargin.io.graphs_jsonl import write_graphs
from maxmargin.io.sequences import svm_hmm
from maxmargin.io.text import FormatError
from maxmargin.io.trees import head_rules


def test_the_first_feature_is_the_first_column():
    found = letor.parse_letor("2 qid:7 1:0.5 3:2\n0 qid:7 2:1\n1 qid:8 3:4\n")
    assert found.X[0].tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert found.X[1].tolist() == [[0.0, 0.0, 4.0]]
    assert [y.tolist() for y in found.y] == [[2, 0], [1]]


def test_columns_up_to_the_limit_are_read(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:0.5 3:2 4:9\n-1 3:1\n")
    X, _ = svmlight.read_svmlight(path, 3)
    assert X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 0.0, 1.0]]
    path.write_text("1:0.5 3:2\n")
    with pytest.raises(FormatError, match="LABEL FEATURE:VALUE"):
        svmlight.read_svmlight(path)


def test_tokens_without_features(tmp_path):
    path = tmp_path / "a.hmm"
    path.write_text("1 qid:1\n2 qid:1\n")
    X, y = svm_hmm.read_svm_hmm(path)
    assert X.flat.shape == (2, 0) and y.flat.tolist() == [1, 2]


def test_as_many_outputs_as_inputs(tmp_path):
    graph = (np.eye(2), np.array([[0, 1]]))
    with pytest.raises(ValueError, match="shorter"):
        write_graphs(tmp_path / "g.jsonl", [graph, graph], [["a", "b"]])
    with pytest.raises(ValueError, match="shorter"):
        sequences.write_crfsuite(tmp_path / "c", [[["a"]], [["b"]]], [["N"]])


def test_motifs_of_probabilities():
    good = np.full((2, 4), 0.25)
    assert "MOTIF one" in biology.meme_text([("one", good, 3)])
    negative = good + [[0.5, -0.5, 0.0, 0.0]]
    for bad in (negative, 2.0 * good):
        with pytest.raises(ValueError, match="each row must be probabilities"):
            biology.meme_text([("one", bad, 3)])


def test_names_before_each_tree(tmp_path):
    path = tmp_path / "trees.txt"
    path.write_text("one (S (N a)\n (V b))\ntwo (S (N c))\n")
    found = treebank.read_treebank(path)
    assert found.names == ["one", "two"]
    assert found.trees[1] == ("S", ("N", "c"))


@pytest.mark.parametrize(("label", "base"), [
    ("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("PRT|ADVP", "PRT"), ("-LRB-", "-LRB-"), ("S", "S"),
])  # fmt: skip
def test_labels_without_functions(label, base):
    assert head_rules._base(label) == treebank._category(label) == base
