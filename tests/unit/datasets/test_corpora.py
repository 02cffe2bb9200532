"""Corpora that are downloaded: from a folder instead of the network."""

import hashlib
import zipfile

import pytest

from maxmargin import ChainSVM, DependencySVM
from maxmargin.datasets import (
    DownloadError,
    corpora,
    data_folder,
    fetch_brown,
    fetch_conll2000,
    fetch_conll2002,
    fetch_penn_dependencies,
    fetch_penn_trees,
)

ROWS = "Ana NC B-PER\nvive VMI O\n\nLima NP B-LOC\n"
FILES = {
    "CONLL2000": {"conll2000/train.txt": ROWS, "conll2000/test.txt": ROWS + "\n"},
    "CONLL2002": {f"conll2002/{p}": ROWS for p in ("ned.train", "ned.testa", "ned.testb")},
    "BROWN": {"brown/ca01": "\n\n\tThe/at state/nn 1/2/cd ./.\n", "brown/README": "x"},
    "TREEBANK": {
        "treebank/combined/wsj_0002.mrg": "( (S (NP (NN b)) (VP (VB go))) )",
        "treebank/combined/wsj_0001.mrg": "( (S (NP-SBJ (NN a)) (VP (VB go))) )\n( (X (-NONE- *)) )",
    },
    "DEPENDENCIES": {"dependency_treebank/wsj_0001.dp": "I\tPRP\t2\nsleep\tVB\t0\n"},
}  # fmt: skip


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder that stands for the network; downloads go to another one."""
    site = tmp_path / "site"
    site.mkdir()
    for name, files in FILES.items():
        archive = getattr(corpora, name)
        path = site / archive.name
        with zipfile.ZipFile(path, "w") as packed:
            for member, text in files.items():
                packed.writestr(member, text)
        data = path.read_bytes()
        md5 = hashlib.md5(data).hexdigest()
        monkeypatch.setattr(corpora, name, archive._replace(size=len(data), md5=md5))
    monkeypatch.setattr(corpora, "SOURCE", site.as_uri())
    monkeypatch.setenv("MAXMARGIN_DATASETS", str(tmp_path / "kept"))
    return site


def test_sentences_with_columns_and_labels(source):
    train, test = fetch_conll2000()
    assert train.X == [[("Ana", "NC"), ("vive", "VMI")], [("Lima", "NP")]] == test.X
    assert train.y == [["B-PER", "O"], ["B-LOC"]]
    parts = fetch_conll2002("dutch")
    assert len(parts) == 3 and all(part == train for part in parts)
    model = ChainSVM(features="ner").fit(train.X, train.y)
    assert list(model.predict(train.X)) == train.y


def test_tags_trees_and_dependencies(source):
    text = fetch_brown()
    assert text.X == [[("The",), ("state",), ("1/2",), (".",)]]
    assert text.y == [["at", "nn", "cd", "."]]
    assert fetch_penn_trees() == [
        ("S", ("NP", ("NN", word)), ("VP", ("VB", "go"))) for word in "ab"
    ]
    X, y = fetch_penn_dependencies()
    assert (X, y) == ([[("I", "PRP"), ("sleep", "VB")]], [[2, 0]])
    assert list(DependencySVM(C=10.0).fit(X, y).predict(X)[0]) == [2, 0]


def test_an_archive_is_downloaded_once(source):
    fetch_conll2000()
    for path in source.iterdir():
        path.unlink()
    assert fetch_conll2000()[0].y[1] == ["B-LOC"]


def test_without_a_connection_the_message_says_what_to_do(source, tmp_path):
    (source / "brown.zip").unlink()
    with pytest.raises(DownloadError, match=r"cannot download brown\.zip.*put it at"):
        fetch_brown()
    assert not (tmp_path / "kept" / "brown.zip").exists()


def test_other_files_are_refused_and_not_kept(source, tmp_path):
    path = source / "brown.zip"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(DownloadError, match="checksum differs"):
        fetch_brown()
    path.write_bytes(data + b"more")
    with pytest.raises(DownloadError, match="more than"):
        fetch_brown()
    assert not (tmp_path / "kept" / "brown.zip").exists()


def test_a_damaged_archive_in_the_folder_is_named(source, tmp_path):
    fetch_brown()
    kept = tmp_path / "kept" / "brown.zip"
    kept.write_bytes(kept.read_bytes()[:-5])
    with pytest.raises(DownloadError, match=r"brown\.zip: it has fewer .* Delete it"):
        fetch_brown()


def test_rows_of_another_width_are_named():
    with pytest.raises(DownloadError, match=r"a\.txt, line 2: 1 columns, 3 expected"):
        list(corpora._sentences("a b c\nd\n", "a.txt", 3))


def test_mistakes(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"choose one of \['dutch', 'spanish'\]"):
        fetch_conll2002("klingon")
    monkeypatch.delenv("MAXMARGIN_DATASETS", raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    assert data_folder() == tmp_path / "maxmargin_data"
