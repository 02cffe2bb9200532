"""CoNLL, SVM-hmm and CRFsuite files: round trips, gzip, errors by line."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import Sequences
from maxmargin.io import FormatError
from maxmargin.io.sequences import (
    load_conll,
    load_conllu,
    ner,
    pos,
    read_conll,
    read_conll_text,
    read_conllu,
    read_crfsuite,
    read_svm_hmm,
    write_conll,
    write_conllu,
    write_crfsuite,
    write_svm_hmm,
)

CONLL = "Ana NP B-PER\nríe VB O\n\n\n-DOCSTART- X O\n\nLima NP B-LOC\n"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_conll(tmp_path, name):
    path = tmp_path / name
    opener = gzip.open if name.endswith("gz") else open
    with opener(path, "wt", encoding="utf-8") as file:
        file.write(CONLL)
    sentences = read_conll(path)
    assert sentences[1] == [("Lima", "NP", "B-LOC")]
    X, y = load_conll(path)
    assert y == [["B-PER", "O"], ["B-LOC"]]
    assert X[0] == ner([("Ana", "NP"), ("ríe", "VB")])
    write_conll(tmp_path / f"b{name}", sentences, y)
    again = read_conll(tmp_path / f"b{name}")
    assert [[row[:3] for row in s] for s in again] == sentences
    assert [[row[3] for row in s] for s in again] == y


def test_conll_errors(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("a b\nc d e\n")
    with pytest.raises(ValueError, match=r"bad\.txt, line 2: 3 columns where 2"):
        read_conll(path)
    path.write_bytes(b"ok x\n\xff\xfe y\n")
    with pytest.raises(ValueError, match=r"bad\.txt, line .*not utf-8"):
        read_conll(path)
    with pytest.raises(ValueError, match="sentence 0, token 0: 'a b' cannot"):
        write_conll(path, [[("a b",)]])
    with pytest.raises(ValueError, match="sentence 0 has 1 tokens, 2 labels"):
        write_conll(path, [[("a",)]], [["x", "y"]])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**31), sizes=st.lists(st.integers(1, 4), max_size=5))
def test_svm_hmm_round_trip(tmp_path_factory, seed, sizes):
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    flat = rng.normal(size=(ends[-1], 4)) * (rng.random((ends[-1], 4)) < 0.5)
    X = Sequences(sp.csr_array(flat), ends)
    y = Sequences(rng.integers(1, 5, ends[-1]), ends)
    path = tmp_path_factory.mktemp("hmm") / "a.dat.gz"
    write_svm_hmm(path, X, y)
    X2, y2 = read_svm_hmm(path, n_features=4)
    assert X2.offsets.tolist() == ends.tolist()
    np.testing.assert_array_equal(X2.flat.toarray(), flat)
    assert y2.flat.tolist() == y.flat.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:1\n2 qid:1 2:1 1:1\n", "line 2: feature 1 after 2"),
        ("1 1:1\n", "line 1: 'TAG qid:EXAMPLE'"),
        ("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n", "line 3: qid:1 occurs again"),
        ("1 qid:1 1:x\n", "line 1: could not convert"),
        ("1 qid:1 17\n", "line 1: '17' is not FEATURE:VALUE"),
        ("x qid:1 1:1\n", "line 1: invalid literal"),
    ],
)
def test_svm_hmm_errors(tmp_path, text, message):
    path = tmp_path / "bad.dat"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_svm_hmm(path)


names = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]),
    min_size=1,
    max_size=5,
)


@settings(deadline=None, max_examples=50)
@given(
    X=st.lists(
        st.lists(
            st.dictionaries(names, st.floats(-9, 9, allow_nan=False), min_size=1),
            min_size=1,
            max_size=3,
        ),
        max_size=4,
    ),
    label=names.filter(lambda name: not name.startswith("@")),
)
def test_crfsuite_round_trip(tmp_path_factory, X, label):
    y = [[label] * len(tokens) for tokens in X]
    path = tmp_path_factory.mktemp("crf") / "a.txt"
    write_crfsuite(path, X, y)
    X2, y2 = read_crfsuite(path)
    assert X2 == X
    assert y2 == y


def test_crfsuite_agrees_with_the_manual(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("B\tw[0]=a\\:b\tlength:2.5\ttime\\:12\\:30:2\n\nO\tx\\\\y\n")
    X, y = read_crfsuite(path)
    assert X == [[{"w[0]=a:b": 1.0, "length": 2.5, "time:12:30": 2.0}], [{"x\\y": 1.0}]]
    assert y == [["B"], ["O"]]
    path.write_text("B\ta:x\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 1: the value of attribute"):
        read_crfsuite(path)
    write_crfsuite(path, [[["p", "q:r"], "s", {"k": "v"}]], [["A", "B", "C"]])
    assert path.read_text() == "A\tp\tq\\:r\nB\ts\nC\tk\\:v\n\n"


def test_templates_see_the_ends():
    rows = ner([("Ana", "NP")], pos=None)
    assert "BOS" in rows[0]
    assert "EOS" in rows[0]
    assert not any(name.startswith("p=") for name in rows[0])
    assert "w-1=<none>" in pos([("Ana",)])[0]
    assert ner([]) == pos([]) == []


@pytest.mark.data
def test_template_is_that_of_the_peers():
    folder = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data")) / "conll2002_esp"
    if not folder.exists():
        pytest.skip("needs conll2002_esp in MAXMARGIN_DATA")
    X, _ = load_conll(folder / "esp.testb.txt.gz")
    with gzip.open(folder / "feature_names.txt.gz", "rt", encoding="utf-8") as file:
        known = file.read().split("\n")
    data = np.load(folder / "features.npz")
    ptr, idx = data["testb_indptr"], data["testb_indices"]
    flat = [set(token) for tokens in X for token in tokens]
    seen = set(known)
    for t in range(0, len(flat), 97):
        assert flat[t] & seen == {known[j] for j in idx[ptr[t] : ptr[t + 1]]}


def test_columns_are_written_again_with_all_between_them(tmp_path):
    path = tmp_path / "a.txt"
    text = "-DOCSTART- -X- O\n\n# id 1\nAna NP\nvive V\n\n\n-DOCSTART- -X- O\n\nEva NP"
    path.write_text(text)
    found = read_conll_text(path, comment="#")
    assert [len(s) for s in found.sentences] == [2, 1]
    lines = list(found.with_labels([["B-PER", "O"], ["B-PER"]]))
    kept = text.replace("Ana NP", "Ana NP B-PER").replace("vive V", "vive V O")
    assert lines == kept.replace("Eva NP", "Eva NP B-PER").split("\n")
    assert found.sentences == read_conll(path, comment="#")
    assert found.sentences[0][0][1] is found.sentences[1][0][1]
    with pytest.raises(ValueError, match="do not fit the sentences"):
        list(found.with_labels([["O"], ["O"]]))


def test_ragged_columns_are_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\nAna NP O\nvive O\n")
    with pytest.raises(
        FormatError, match=r"line 3: 2 columns where 3 were before \(line 2\)"
    ):
        read_conll(path)


CONLLU = """\
# sent_id = 1
# text = Vámonos ya
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tVamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_
3\tya mismo\tya\tADV\t_\t_\t1\tadvmod\t_\t_

# sent_id = 2
1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_

"""


def test_conllu_round_trip(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    sentences = read_conllu(path)
    X, y = load_conllu(path, columns=("form", "lemma"))
    assert X[0] == [("Vamos", "ir"), ("nos", "nosotros"), ("ya mismo", "ya")]
    assert y == [["VERB", "PRON", "ADV"], ["INTJ"]]
    write_conllu(tmp_path / "b.conllu", sentences)
    assert (tmp_path / "b.conllu").read_text(encoding="utf-8") == CONLLU
    write_conllu(tmp_path / "c.conllu", sentences, [["A", "B", "C"], ["D"]])
    changed = (tmp_path / "c.conllu").read_text(encoding="utf-8")
    assert changed == CONLLU.replace("VERB", "A").replace("PRON", "B").replace(
        "ya mismo\tya\tADV", "ya mismo\tya\tC"
    ).replace("INTJ", "D")


@pytest.mark.parametrize(
    "line, message",
    [
        ("1 Vamos ir", "line 2: 1 columns divided by tabs, where CoNLL-U has 10"),
        ("2" + "\t_" * 9, "line 2: the word after 0 others must have the number 1"),
        ("x" + "\t_" * 9, "not 'x'"),
    ],
)
def test_bad_conllu_is_named(tmp_path, line, message):
    path = tmp_path / "a.conllu"
    path.write_text(f"# comment\n{line}\n")
    with pytest.raises(FormatError, match=message):
        read_conllu(path)
    with pytest.raises(ValueError, match="'word' is not one of id, form"):
        write_conllu(path, [], label="word")
