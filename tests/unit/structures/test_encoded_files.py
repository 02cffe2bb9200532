"""Sequences in files: the same model as from memory, in every engine."""

import hashlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import ChainSVM
from maxmargin.core import Pages, open_array, place_of
from maxmargin.engines import Processes
from maxmargin.io import stream_conll, stream_json_lines, stream_svm_hmm
from maxmargin.solvers import OneSlack
from maxmargin.structures.chain import Chain, encode_sequences, open_encoded
from maxmargin.structures.chain.tokens.encoded_files import FILES

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


@pytest.fixture
def folder(tmp_path):
    X, y = sentences(30)
    encode_sequences(batches(X, y), tmp_path)
    return tmp_path


def rewritten(folder, name, change):
    """Change an array of the folder and its checksum."""
    meta = json.loads((folder / "meta.json").read_text())
    path = folder / meta["data"] / f"{name}.bin"
    array = np.fromfile(path, FILES[name])
    array = change(array)
    array.tofile(path)
    meta["sha256"][name] = hashlib.sha256(array.tobytes()).hexdigest()
    meta["sizes"][name] = len(array)
    (folder / "meta.json").write_text(json.dumps(meta))


def with_entry(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("idx", with_entry(0, -1000000)),
        ("idx", with_entry(3, 6)),
        ("labels", with_entry(0, 4)),
        ("labels", with_entry(1, -1)),
        ("val", with_entry(2, np.nan)),
        ("rows", with_entry(1, 10**9)),
        ("ptr", with_entry(1, -5)),
        ("ptr", with_entry(-1, 7)),
        ("ptr", with_entry(0, 1)),
        ("labels", lambda a: a[:-1]),
        ("idx", lambda a: np.append(a, a[:1])),
        ("rows", lambda a: a[:0]),
    ],
)
def test_indices_out_of_range_are_refused(folder, name, change):
    rewritten(folder, name, change)
    with pytest.raises(ValueError, match="cannot be read as encoded sequences"):
        open_encoded(folder)


def test_damage_is_noticed(folder):
    meta = json.loads((folder / "meta.json").read_text())
    path = folder / meta["data"] / "val.bin"
    data = bytearray(path.read_bytes())
    data[6] ^= 1  # a bit of a number that stays finite
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"val\.bin does not match its checksum"):
        open_encoded(folder)
    path.write_bytes(bytes(data[:-8]))  # would end the process when it is read
    with pytest.raises(ValueError, match="bytes, not"):
        open_encoded(folder, check=False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("columns", -1), ("columns", 2**40), ("window", 10**9), ("window", True),
        ("labels", []), ("labels", ["N", "N"]), ("labels", [None]), ("named", 1),
        ("data", "../elsewhere"), ("data", "/etc"), ("sizes", {}), ("format", "other"),
        ("sha256", {}),
    ],
)  # fmt: skip
def test_meta_data_are_checked(folder, field, value):
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, field: value}))
    with pytest.raises(ValueError, match="cannot be read as encoded sequences"):
        open_encoded(folder)


def test_an_encoding_that_fails_leaves_the_old_one(folder):
    before = open_encoded(folder).truth.data.tolist()
    X, y = sentences(50, seed=1)
    seen = []

    class Source:
        def __iter__(self):
            seen.append(1)
            for batch in batches(X, y):
                if len(seen) == 2:  # the pass that writes
                    raise OSError("the source is gone")
                yield batch

    with pytest.raises(OSError, match="the source is gone"):
        encode_sequences(Source(), folder)
    assert open_encoded(folder).truth.data.tolist() == before
    assert len(list(folder.iterdir())) == 2  # meta.json and one folder of data
    encode_sequences(batches(X, y), folder)
    assert open_encoded(folder).n == 50
    assert len(list(folder.iterdir())) == 2


def test_folders_of_version_0_1_are_read(folder):
    meta = json.loads((folder / "meta.json").read_text())
    for file in (folder / meta["data"]).iterdir():
        file.rename(folder / file.name)
    former = {**meta, "format": "maxmargin encoded sequences 1"}
    del former["sha256"], former["data"]
    (folder / "meta.json").write_text(json.dumps(former))
    assert open_encoded(folder).n == 30
    array = np.fromfile(folder / "idx.bin", "<i4")
    array[0] = 10**6
    array.tofile(folder / "idx.bin")
    with pytest.raises(ValueError, match="feature"):
        open_encoded(folder)


@pytest.mark.parametrize("name", ["meta.json", "names.json", "idx.bin"])
def test_devices_and_pipes_are_not_read(folder, name):
    """A pipe would never end, nor would /dev/zero."""
    meta = json.loads((folder / "meta.json").read_text())
    path = folder / name if name == "meta.json" else folder / meta["data"] / name
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(ValueError, match="not a regular file"):
        open_encoded(folder)


@pytest.mark.parametrize("name, size", [("meta.json", 2**40), ("names.json", 2**42)])
def test_texts_without_end_are_refused_before_they_are_read(folder, name, size):
    """A file with holes takes no room on the disk, whatever it claims to hold."""
    meta = json.loads((folder / "meta.json").read_text())
    path = folder / name if name == "meta.json" else folder / meta["data"] / name
    with open(path, "r+b") as file:
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("no such file system")
    with pytest.raises(ValueError, match=f"{name} has .* at most"):
        open_encoded(folder)


@pytest.mark.parametrize("kind", ["a pipe", "nested"])
def test_a_folder_with_strange_meta_data_is_encoded_anew(folder, kind):
    path = folder / "meta.json"
    path.unlink()
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"[" * 10**6)
    X, y = [[["a"], ["b"]]], [["N", "V"]]
    encode_sequences([(X, y)], folder)
    assert open_encoded(folder).labels == ("N", "V")
