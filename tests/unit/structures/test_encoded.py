"""Sequences in files: the same model as from memory, in every engine."""

import json
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import ChainSVM
from maxmargin.core import Pages, open_array, place_of
from maxmargin.engines import Processes
from maxmargin.io import stream_conll, stream_json_lines, stream_svm_hmm
from maxmargin.solvers import OneSlack
from maxmargin.structures.chain import Chain, encode_sequences, open_encoded

WORDS = {"Ann": "N", "Bob": "N", "ran": "V", "sleeps": "V", "fast": "A", "the": "D"}


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    X = [
        [[names[j]] for j in rng.integers(6, size=rng.integers(1, 6))] for _ in range(n)
    ]
    y = [[WORDS[t[0]] for t in x] for x in X]
    return X, y


def batches(X, y, size=7):
    return [(X[s : s + size], y[s : s + size]) for s in range(0, len(X), size)]


@pytest.mark.parametrize("window", [0, 1])
def test_files_hold_what_memory_would(tmp_path, window):
    X, y = sentences(40)
    data = encode_sequences(batches(X, y), tmp_path / "new" / "data", window=window)
    chain = Chain(window=window).bind(X, y)
    x = chain.encode(X)
    assert data.labels == chain.labels and data.names == chain.names
    for ours, theirs in zip(data.x.vectors[:3], x.vectors[:3], strict=True):
        assert (ours == theirs).all() and ours.dtype == theirs.dtype
    assert (data.x.ptr == x.ptr).all() and data.x.vectors.width == x.vectors.width
    assert (data.truth.data == chain.encode_labels(x, y).data).all()
    assert data.nbytes > 0 and data.x.vectors.idx.flags.writeable


def test_a_model_from_files_is_the_model_from_memory(tmp_path):
    X, y = sentences(60)
    data = encode_sequences(batches(X, y), tmp_path)
    for solver in ("one-slack", "block-dual"):
        plain = ChainSVM(solver=solver, tol=1e-2).fit(X, y)
        filed = ChainSVM(solver=solver, tol=1e-2).fit(open_encoded(tmp_path))
        assert (plain.coef_ == filed.coef_).all()
        assert list(filed.predict(X)) == list(plain.predict(X))
    assert data.n == 60


def test_processes_map_the_same_files(tmp_path):
    X, y = sentences(80)
    data = encode_sequences(batches(X, y), tmp_path)
    plain = ChainSVM(solver="one-slack", tol=1e-2)
    problem = plain._problem(data.bind(Chain()), data.x, data.truth, None)
    expected = OneSlack(tol=1e-2).solve(problem)[0]
    engine = Processes(2)
    try:
        result = OneSlack(tol=1e-2).solve(replace(problem, engine=engine))[0]
    finally:
        engine.close()
    assert (result.w == expected.w).all()


def test_pages_come_back_after_release(tmp_path):
    array = np.arange(10_000.0)
    array.tofile(tmp_path / "a")
    inside = open_array(tmp_path / "a", 0, "<f8", (10_000,))[3:]
    assert place_of(inside) == (str(tmp_path / "a"), 24)
    assert place_of(array) is None
    pages = Pages((inside, (array, inside[5:]), "text"), 10)
    assert len(pages.files) == 1
    pages.touched(10**6)
    assert (inside == array[3:]).all()


def test_what_does_not_fit_is_named(tmp_path):
    X, y = sentences(10)
    encode_sequences([(X, y)], tmp_path, window=1)
    with pytest.raises(ValueError, match="window=1, not 0"):
        ChainSVM().fit(open_encoded(tmp_path))
    with pytest.raises(ValueError, match="leave y out"):
        ChainSVM().fit(open_encoded(tmp_path), y)
    with pytest.raises(FileNotFoundError, match="no encoded sequences"):
        open_encoded(tmp_path / "nothing")
    with pytest.raises(ValueError, match="cannot be stored"):
        encode_sequences([(X, [[None] * len(r) for r in y])], tmp_path / "b")
    with pytest.raises(FileNotFoundError, match="all workers share"):
        open_array(tmp_path / "none", 0, "<f8", (3,))


def test_streams_of_all_formats_agree(tmp_path):
    conll, hmm, lines = (tmp_path / name for name in ("c", "h", "j"))
    conll.write_text("Ann x N\nran x V\n\nBob x N\n")
    lines.write_text(
        "".join(
            json.dumps({"x": x, "y": y}) + "\n"
            for x, y in [([["Ann"], ["ran"]], ["N", "V"]), ([["Bob"]], ["N"])]
        )
    )
    hmm.write_text("1 qid:1 3:1\n2 qid:1 5:0.5\n1 qid:2 3:1 # end\n")

    def word(rows):
        return [[row[0]] for row in rows]

    a = list(stream_conll(conll, template=word, batch=1))
    b = list(stream_json_lines(lines, batch=1))
    assert a == b and len(a) == 2
    ((X, y),) = stream_svm_hmm(hmm)
    assert X == [[{"3": 1.0}, {"5": 0.5}], [{"3": 1.0}]] and y == [[1, 2], [1]]
    data = encode_sequences(stream_svm_hmm(hmm), tmp_path / "out")
    assert data.labels == (1, 2) and data.names == {"3": 0, "5": 1}


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "bad"
    path.write_text('{"x": [["a"]]}\n')
    with pytest.raises(ValueError, match="line 1: KeyError"):
        list(stream_json_lines(path))
    path.write_text("1 quid\n1 qid:2 x\n")
    with pytest.raises(ValueError, match="line 2"):
        list(stream_svm_hmm(path))
    path.write_text("a b\nc\n")
    with pytest.raises(ValueError, match="line 2: another number"):
        list(stream_conll(path))
