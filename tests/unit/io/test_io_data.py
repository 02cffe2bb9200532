"""Readers of svmlight, graphs, pairs and labelled FASTA; a little fuzzing of all."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from maxmargin.io import (
    FormatError,
    read_graphs,
    read_svmlight,
    write_graphs,
    write_svmlight,
)
from maxmargin.io.biology import (
    read_labelled_fasta,
    read_meme,
    read_pairs,
    write_pairs,
)

FUZZ = Path(__file__).parents[3] / "benchmarks" / "fuzz" / "texts.py"


def test_svmlight_there_and_back(tmp_path):
    path = tmp_path / "x.gz"
    X = np.array([[0.5, 0.0, -1e-300], [0.0, 0.0, 0.0]])
    write_svmlight(path, X, ["a", "b"])
    again, y = read_svmlight(path)
    assert (again.toarray() == X).all()
    assert y.tolist() == ["a", "b"]
    assert read_svmlight(path, 1)[0].shape == (2, 1)


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 2:1 1:1\n", "line 1: feature 1 after 2"),
        ("1 0:1\n", "feature 0 is not in .*begin at 1"),
        ("1 1:1\n2:0.5 3:1\n", "line 2: '2:0.5' stands where the label should"),
        ("1 1:1\n\n2 99999999999:1\n", "line 3: feature 99999999999"),
        ("1 x\n", "'x' is not FEATURE:VALUE"),
    ],
)
def test_svmlight_says_where(text, message, tmp_path):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_svmlight(path)


def test_a_byte_order_mark_is_not_part_of_a_label(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbf1 1:1\r\n2.0 2:1\r\n")
    assert read_svmlight(path)[1].tolist() == [1, 2]
    assert read_svmlight(path, named=True)[1].tolist() == ["1", "2.0"]


def test_graphs_there_and_back(tmp_path):
    path = tmp_path / "g.jsonl"
    X = [
        (
            np.array([[0.5], [1.0]]),
            np.array([[0, 1]]),
            np.array([[2.0]]),
            ["a", "b"],
            [7],
        )
    ]
    write_graphs(path, X, [["up", "down"]])
    again, y, records = read_graphs(path)
    assert (again[0][0] == X[0][0]).all()
    assert again[0][1].tolist() == [[0, 1]]
    assert again[0][2].tolist() == [[2.0]]
    assert (again[0][3], again[0][4]) == (["a", "b"], [7])
    assert y == [["up", "down"]]
    assert records[0]["labels"] == ["up", "down"]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"edges": [[0, 2]]}, r"edge 0 is \[0, 2\], not two of the 2 nodes"),
        ({"edges": [[0, True]]}, "edge 0"),
        ({"nodes": [[1.0], ["x"]]}, "features of node 1 are not finite numbers"),
        ({"labels": ["a"]}, "2 nodes, but 1 labels"),
        ({"labels": [["a"], "b"]}, "labels are neither"),
        ({"edge_features": [[1.0], [2.0]]}, "one per edge"),
        ({"node_types": "ab"}, "is not a list"),
    ],
)
def test_graphs_say_where(change, message, tmp_path):
    path = tmp_path / "g.jsonl"
    good = {"nodes": [[1.0], [2.0]], "edges": [[0, 1]], "labels": ["a", "b"]}
    path.write_text(json.dumps(good) + "\n" + json.dumps({**good, **change}) + "\n")
    with pytest.raises(FormatError, match=f"line 2: .*{message}"):
        read_graphs(path)


def test_pairs_there_and_back(tmp_path):
    path = tmp_path / "p.fa"
    path.write_text(">a\nHEA-G\n>b\n-EAAG\n>a\nAC\n>c\nACC\n")
    pairs = read_pairs(path)
    assert pairs.X == [("HEAG", "EAAG"), ("AC", "ACC")]
    assert pairs.names == [("a", "b"), ("a", "c")]
    assert pairs.y[1] is None
    write_pairs(path, pairs.X[:1], pairs.y[:1], pairs.names[:1])
    assert path.read_text() == ">a\nHEA-G\n>b\n-EAAG\n"
    for text, message in ((">a\nAC\n", "no partner"), (">a\nA-\n>b\nAAA\n", "columns")):
        path.write_text(text)
        with pytest.raises(FormatError, match=message):
            read_pairs(path)


def test_labels_of_fasta(tmp_path):
    path = tmp_path / "f.fa"
    path.write_text(">a +\nAC\nGT\n>b label=0 more\nA\n>c\nC\n")
    assert read_labelled_fasta(path) == (
        ["a", "b", "c"],
        ["ACGT", "A", "C"],
        ["+", "0", ""],
    )


@pytest.mark.skipif(
    not FUZZ.exists(), reason="benchmarks are not part of this checkout"
)
def test_a_little_fuzzing():
    """benchmarks/fuzz does the same 1e5 times."""
    spec = importlib.util.spec_from_file_location("fuzz", FUZZ)
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    tally, rng = fuzz.Tally(), np.random.default_rng(1)
    fuzz.fuzz_texts(40, rng, tally)
    fuzz.fuzz_models(120, rng, tally)
    slow = [bad for bad in tally.bad if not bad[1].endswith((" s", " MB"))]
    assert slow == []


MEME = "MEME version 4\n\nALPHABET= ACGT\n\nMOTIF a\nletter-probability matrix: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MEME + "alength= 4 w= 3\n1 0 0 0\n0 1 0 0\n", "line 6, motif 'a': w= 3"),
        (MEME + "alength= 4 w= 2\n1 0 0 0\n0 1 0\n", "line 8, motif 'a': 3 numbers"),
        (MEME + "alength= 4 w= 2\n1 0 0 0\n0 x 0 0\n", "line 8, motif 'a': '0 x 0 0'"),
        (MEME + "alength= 4 w= 1\n.9 .2 .3 .3\n", "line 7, motif 'a': the row adds up"),
        (MEME + "alength= 4 w= nan\n1 0 0 0\n", "line 6, motif 'a': w= nan"),
        (MEME + "w= 1 nsites= 1e999\n1 0 0 0\n", "line 6, motif 'a': nsites= inf"),
        (MEME + "w= 1 nsites= nan\n1 0 0 0\n", "line 6, motif 'a': nsites= nan"),
        (MEME + "alength= 4 w= many\n1 0 0 0\n", "line 6, motif 'a'"),
        ("hello\n", "'hello' is not 'MEME version 4'"),
    ],
)
def test_what_is_wrong_in_a_motif_file(tmp_path, text, message):
    path = tmp_path / "bad.meme"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"bad.meme.*{message}"):
        read_meme(path)
