"""Writers refuse what would leave out examples or change labels; limits of readers."""

import warnings

import numpy as np
import pytest

from maxmargin.io import read_svmlight, write_svmlight
from maxmargin.io.biology.alignments import columns_of_rows
from maxmargin.io.letor import read_letor
from maxmargin.io.sequences.conll import write_conll
from maxmargin.io.sequences.svm_hmm import write_svm_hmm
from maxmargin.io.text import FormatError
from maxmargin.io.treebank import warn_of_empty_elements


@pytest.mark.parametrize("n", [1, 3])
def test_as_many_outputs_as_inputs(n, tmp_path):
    path = tmp_path / "data.txt"
    with pytest.raises(ValueError, match=f"X has 2 rows, but y has {n} labels"):
        write_svmlight(path, np.eye(2), ["a"] * n)
    with pytest.raises(ValueError, match=f"X has 2 sequences, but y has {n}"):
        write_svm_hmm(path, [np.eye(2)] * 2, [[1, 2]] * n)
    with pytest.raises(ValueError, match=f"2 sentences, but labels of {n}"):
        write_conll(path, [[("a",)], [("b",)]], [["X"]] * n)
    assert not path.exists()


@pytest.mark.parametrize("label", ["", "very good", "a\tb", "#1"])
def test_labels_that_could_not_be_read_again(label, tmp_path):
    with pytest.raises(ValueError, match=r"y\[1\] is .*: a label has no blanks"):
        write_svmlight(tmp_path / "x", np.eye(2), ["fine", label])


def test_tags_of_svm_hmm_are_whole_numbers(tmp_path):
    with pytest.raises(ValueError, match="sequence 0: labels are whole numbers"):
        write_svm_hmm(tmp_path / "x", [np.eye(2)], [[1.7, 2.0]])


def test_the_largest_feature_of_letor(tmp_path):
    path = tmp_path / "letor.txt"
    path.write_text("1 qid:1 1000000:0.5\n")
    assert read_letor(path).X[0].shape == (1, 10**6)
    path.write_text("1 qid:1 1000001:0.5\n")
    with pytest.raises(ValueError, match="line 1: not 'grade qid:Q"):
        read_letor(path)


def test_the_largest_feature_of_svmlight(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(f"1 {2**31 - 2}:0.5\n")
    assert read_svmlight(path)[0].shape == (1, 2**31 - 2)
    path.write_text(f"1 {2**31 - 1}:0.5\n")
    with pytest.raises(FormatError, match=f"feature {2**31 - 1} is not in 1 .. "):
        read_svmlight(path)


def test_a_gap_is_minus_one():
    assert columns_of_rows("A-C-", "-GC-").tolist() == [[0, -1], [-1, 0], [1, 1]]
    assert columns_of_rows("", "").shape == (0, 2)


def test_traces_are_counted():
    plain = ("S", ("NP", ("DT", "the"), ("NN", "cat")))
    trace = ("S", ("NP", ("-NONE-", "*")), ("VP", ("VBD", "sat")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_empty_elements([plain])
    with pytest.warns(UserWarning, match="^2 trees have empty elements"):
        warn_of_empty_elements([trace, plain, trace])
