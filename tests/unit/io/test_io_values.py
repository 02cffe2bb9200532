"""Readers and writers of files at the edges: first columns, limits, other lengths."""

import json

import numpy as np
import pytest
from small.files import loaded, members, saved, small_file

from maxmargin import ModelFileError, MulticlassSVM
from maxmargin.io import (
    biology,
    column_of_predictions,
    letor,
    sequences,
    svmlight,
    treebank,
)
from maxmargin.io.coreference.document import brackets_of
from maxmargin.io.graphs_jsonl import read_graphs, write_graphs
from maxmargin.io.model_file import archive
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


def test_a_letter_at_the_start_of_a_label_is_the_label():
    assert treebank._category("=") == "=" and treebank._category("|x") == "|x"


def test_places_of_brackets_and_words():
    found = list(treebank._tokens("one (S a\n b)"))
    assert found == [
        ("name", "one", 1, 1), ("(", "(", 1, 5), ("word", "S", 1, 6),
        ("word", "a", 1, 8), ("word", "b", 2, 2), (")", ")", 2, 3),
    ]  # fmt: skip


def test_trees_that_are_not_cleaned(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("(TOP (NP-SBJ (NN a)) (-NONE- *))\n")
    found = treebank.read_treebank(path, strip=False)
    assert found.trees == [("TOP", ("NP-SBJ", ("NN", "a")), ("-NONE-", "*"))]


def test_labels_of_svmlight_are_numbers_where_all_are(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:0.5\n-1 2:1\n")
    assert svmlight.read_svmlight(path)[1].tolist() == [1, -1]
    assert svmlight.read_svmlight(path, named=True)[1].tolist() == ["1", "-1"]


def test_cliques_may_hold_the_first_node(tmp_path):
    path = tmp_path / "g.jsonl"
    record = {"nodes": [[1.0]] * 3, "edges": [], "cliques": [[0, 1, 2]]}
    path.write_text(json.dumps(record) + "\n")
    X, _, _ = read_graphs(path)
    assert X[0][5] == [[0, 1, 2]]
    path.write_text(json.dumps(record | {"cliques": [[1, 3]]}) + "\n")
    with pytest.raises(FormatError, match=r"clique 0 is \[1, 3\], not two or more"):
        read_graphs(path)


def test_columns_of_letor_go_from_zero_to_one():
    data = letor.parse_letor("1 qid:1 1:2 2:7\n0 qid:1 1:4 2:7\n0 qid:1 1:6 2:7\n")
    assert data.normalized().X[0].tolist() == [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]


def test_a_mention_ends_within_its_sentence():
    with pytest.raises(ValueError, match=r"has 3 tokens: there is no mention 1 \.\. 3"):
        brackets_of([(0, 1, 3)], ["a"], 0, 3)
    assert brackets_of([(0, 1, 2)], ["a"], 0, 3)[2] == [[], [], ["a"]]


def test_predictions_of_each_example_of_a_frame():
    with pytest.raises(ValueError, match="shorter"):
        column_of_predictions([np.array([0]), np.array([1])], [["a"]])
    with pytest.raises(ValueError, match="example 0 has 1 rows, but 2 predictions"):
        column_of_predictions([np.array([0])], [["a", "b"]])


def test_a_matrix_has_a_row_for_each_letter():
    few = biology.Scoring(("A", "C"), np.eye(3), (-1.0, -1.0), (-1.0, -1.0))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        few.ncbi_text()


def test_a_vector_of_few_values_may_begin_with_one():
    vector = np.zeros(20_000)
    vector[[0, 19_999]] = 1.0, -2.0
    model = MulticlassSVM().fit(np.eye(2), [0, 1])
    model.sparse_vector_ = vector
    again = loaded(saved(model)).sparse_vector_
    assert np.array_equal(again, vector)


def test_members_of_an_archive(monkeypatch):
    data, _, _ = small_file()
    monkeypatch.setattr(archive, "MOST_MEMBERS", len(members(data)))
    loaded(data)
    monkeypatch.setattr(archive, "MOST_MEMBERS", len(members(data)) - 1)
    with pytest.raises(ModelFileError, match="members are too many"):
        loaded(data)


def test_an_encrypted_member_is_refused():
    """Bit 0 of the flags in the directory says so; bit 1 is about packing only."""
    data, X, expected = small_file()
    for bit in (1, 2):
        changed = bytearray(data)
        changed[data.index(b"PK\x01\x02") + 8] |= bit
        if bit == 1:
            with pytest.raises(ModelFileError, match="is encrypted"):
                loaded(bytes(changed))
        else:
            assert np.array_equal(loaded(bytes(changed)).predict(X), expected)
