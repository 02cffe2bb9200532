"""Long tables of pandas, polars and Arrow as sequences, graphs and queries."""

import numpy as np
import pandas as pd
import pytest

import maxmargin as mm
from maxmargin.io import (
    column_of_predictions,
    graphs_from_frames,
    queries_from_frame,
    sequences_from_frame,
)

WORDS = {
    "sentence": ["b", "a", "b", "a", "a"],
    "place": [1, 2, 0, 0, 1],
    "word": ["sings", "Lima", "Ana", "Bob", "saw"],
    "length": [5, 4, 3, 3, 3],
    "tag": ["O", "LOC", "PER", "PER", "O"],
}


def frames():
    yield pd.DataFrame(WORDS, index=[9, 3, 7, 7, 1])
    pl = pytest.importorskip("polars")
    yield pl.DataFrame(WORDS)


@pytest.mark.parametrize("kind", [0, 1], ids=["pandas", "polars"])
def test_sequences_of_a_long_table(kind):
    frame = list(frames())[kind]
    X, y, rows = sequences_from_frame(
        frame, by="sentence", label="tag", columns=["word"], order="place"
    )
    assert X == [
        [{"word": "Ana"}, {"word": "sings"}],
        [{"word": "Bob"}, {"word": "saw"}, {"word": "Lima"}],
    ]
    assert y == [["PER", "O"], ["PER", "O", "LOC"]]
    assert column_of_predictions(rows, y) == WORDS["tag"]
    model = mm.ChainSVM(C=10.0).fit(X, y)
    assert column_of_predictions(rows, model.predict(X)) == WORDS["tag"]


def test_all_other_columns_are_features():
    X, y, _ = sequences_from_frame(pd.DataFrame(WORDS), by="sentence", label="tag")
    assert X[0][0] == {"place": 1, "word": "sings", "length": 5} and y is not None
    assert sequences_from_frame(pd.DataFrame(WORDS), by="sentence").y is None


@pytest.mark.parametrize("by", [None, "graph"])
def test_graphs_of_two_tables(by):
    nodes = pd.DataFrame(
        {"graph": [1, 2, 1], "id": ["u", "u", "v"], "size": [0.5, 1.5, 2.5],
         "kind": ["p", "q", "r"]}
    )  # fmt: skip
    edges = pd.DataFrame(
        {"graph": [1], "source": ["v"], "target": ["u"], "weight": [3.0]}
    )
    if by is None:
        nodes["id"] = ["u", "w", "v"]
        nodes = nodes.drop(columns="graph")
    X, y, rows = graphs_from_frames(
        nodes, edges, node="id", label="kind", by=by, edge_columns=["weight"]
    )
    if by is None:
        assert len(X) == 1 and X[0][1].tolist() == [[2, 0]] and y == [["p", "q", "r"]]
    else:
        assert [x[0].tolist() for x in X] == [[[0.5], [2.5]], [[1.5]]]
        assert X[0][1].tolist() == [[1, 0]] and X[0][2].tolist() == [[3.0]]
        assert X[1][1].shape == (0, 2) and X[1][2].shape == (0, 1)
        assert y == [["p", "r"], ["q"]]
        assert column_of_predictions(rows, y) == ["p", "q", "r"]


def test_a_network_learns_from_frames():
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame({"g": np.repeat(np.arange(8), 5), "id": np.tile(range(5), 8)})
    nodes["x"] = rng.normal(size=40)
    nodes["kind"] = np.where(nodes["x"] > 0, "up", "down")
    edges = pd.DataFrame(
        {"g": np.repeat(np.arange(8), 4), "source": np.tile(range(4), 8),
         "target": np.tile(range(1, 5), 8)}
    )  # fmt: skip
    X, y, _ = graphs_from_frames(nodes, edges, node="id", label="kind", by="g")
    assert mm.NetworkSVM(C=10.0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.rename(columns={"tag": "t"}), "no column 'tag'; it has 'sentence'"),
        (lambda f: f.assign(tag=[None, *f["tag"][1:]]), "row 0: the label .* is missing"),
        (lambda f: f.assign(length=[1.0, np.nan, 1, 1, 1]), "row 1: the feature"),
        (lambda f: f[:0], "no rows"),
        (lambda f: f[["sentence", "tag"]], "no column left for features"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table(change, words):
    with pytest.raises(ValueError, match=words):
        sequences_from_frame(change(pd.DataFrame(WORDS)), by="sentence", label="tag")


def test_what_is_wrong_with_edges_and_nodes():
    nodes = pd.DataFrame({"id": ["u", "v"], "x": [1.0, 2.0]})
    edges = pd.DataFrame({"source": ["u"], "target": ["z"]})
    with pytest.raises(ValueError, match="row 0 of edges: there is no node 'z'"):
        graphs_from_frames(nodes, edges, node="id")
    with pytest.raises(ValueError, match="'u' is there twice"):
        graphs_from_frames(nodes.assign(id="u"), edges, node="id")
    with pytest.raises(ValueError, match="does not hold numbers"):
        graphs_from_frames(nodes.assign(x="a"), edges[:0], node="id")
    with pytest.raises(TypeError, match="not a list"):
        graphs_from_frames([1], edges, node="id")


def tables(columns):
    yield pd.DataFrame(columns, index=range(5, 5 + len(next(iter(columns.values())))))
    yield pytest.importorskip("polars").DataFrame(columns)
    yield pytest.importorskip("pyarrow").table(columns)


LIBRARIES = pytest.mark.parametrize(
    "kind", [0, 1, 2], ids=["pandas", "polars", "Arrow"]
)
DOCUMENTS = {
    "query": ["b", "a", "b", "a", "a", "b"],
    "bm25": [1.0, 0.0, 0.0, 2.0, 1.0, 2.0],
    "age": [3, 1, 2, 3, 2, 1],
    "grade": [1, 0, 0, 2, 1, 2],
}


@LIBRARIES
def test_queries_of_a_long_table(kind):
    frame = list(tables(DOCUMENTS))[kind]
    X, y, rows = queries_from_frame(frame, by="query", grade="grade")
    assert [x.tolist() for x in X] == [
        [[1.0, 3.0], [0.0, 2.0], [2.0, 1.0]],
        [[0.0, 1.0], [2.0, 3.0], [1.0, 2.0]],
    ]
    assert [g.tolist() for g in y] == [[1, 0, 2], [0, 2, 1]]
    model = mm.RankingSVM(k=1).fit(X, y)
    scores = column_of_predictions(rows, model.decision_function(X))
    assert np.argmax(scores[:1] + scores[2:3] + scores[5:]) == 2  # row 5 leads query b
    assert queries_from_frame(frame, by="query", columns=["bm25"]).y is None


@LIBRARIES
def test_a_frame_of_documents_with_qid(kind):
    frame = list(tables({k: DOCUMENTS[k] for k in ("bm25", "age")}))[kind]
    qid, grades = DOCUMENTS["query"], DOCUMENTS["grade"]
    model = mm.RankingSVM(k=1).fit(frame, grades, qid=qid)
    assert model.score(frame, grades, qid=qid) == 1.0
    assert model.predict(frame, qid=qid).tolist() == [2, 3, 3, 1, 2, 1]


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("grade", [1, 0, 0.5, 2, 1, 2], "row 2: the grade 0.5 in column 'grade'"),
        (
            "query",
            ["b", "a", None, "a", "a", "b"],
            "row 2: the group in column 'query'",
        ),
        ("age", [3, 1, None, 3, 2, 1], "row 2: the feature in column 'age'"),
        ("age", list("abcdef"), "column 'age' does not hold numbers"),
    ],
)
def test_broken_tables_of_documents_are_named_with_their_row(column, values, words):
    frame = pd.DataFrame({**DOCUMENTS, column: values})
    with pytest.raises(ValueError, match=words):
        queries_from_frame(frame, by="query", grade="grade")
