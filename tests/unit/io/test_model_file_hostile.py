"""Damaged and hostile model files: one clear error, and nothing else comes back."""

import contextlib
import io
import json
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small.files import loaded, members, resealed, small_file, zipped
from small.models import same

from maxmargin import ModelFileError
from maxmargin.io.model_file import FREE, Archive, write_archive


@pytest.fixture(scope="module")
def small():
    return small_file()


def test_every_bit_counts(small):
    """Damage is told, or did no harm: 600 files with one bit turned."""
    data, X, expected = small
    rng = np.random.default_rng(0)
    told = 0
    for at in rng.integers(8 * len(data), size=600):
        bad = bytearray(data)
        bad[at // 8] ^= 1 << (at % 8)
        try:
            model = loaded(bytes(bad))
        except ModelFileError:
            told += 1
        else:  # a date or an attribute of the zip itself
            assert same(model.predict(X), expected)
    assert told > 400


def test_cut_and_padded_files(small):
    data = small[0]
    for end in range(0, len(data), 97):
        with pytest.raises(ModelFileError):
            loaded(data[:end])
    for strange in (b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x00" * 1000, b"{}"):
        with pytest.raises(ModelFileError):
            loaded(strange)


def test_swapped_arrays_are_noticed(small):
    parts = members(small[0])
    one, two = "arrays/0.npy", "arrays/1.npy"
    parts[one], parts[two] = parts[two], parts[one]
    with pytest.raises(ModelFileError, match="checksum"):
        loaded(zipped(parts.items()))


def npy(descr, shape, body=b""):
    head = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


@pytest.mark.parametrize(
    "array",
    [
        npy("<f8", (10**15,)),
        npy("<f8", (2**62, 2**62, 4)),
        npy("<f8", (-1,), bytes(8)),
        npy("<f8", (0, 10**30)),
        npy("|O", (1,), bytes(8)),
        npy([("a", "|O")], (1,), bytes(8)),
        npy("<U0", (10**12,)),
        npy("|V8", (1,), bytes(8)),
        npy("<M8[s]", (1,), bytes(8)),
        npy("<f8", (1,) * 60, bytes(8)),
        npy("<f8", (1.5,), bytes(8)),
        npy("<f8", (2,), bytes(8)),
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 60000,
        b"\x93NUMPY\x09\x00",
        b"\x80\x04\x95" + bytes(20),
    ],
)
def test_absurd_arrays_are_refused_before_memory_is_taken(small, array):
    parts = members(small[0])
    head = json.loads(parts["manifest.json"])
    with pytest.raises(ModelFileError):
        loaded(resealed({**parts, "arrays/0.npy": array}, head))


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "arrays/../x.npy", "arrays/00.npy", "a\\b", "x"]
)
def test_strange_members_are_refused(small, name):
    parts = members(small[0])
    with pytest.raises(ModelFileError, match="a member is called"):
        loaded(zipped([*parts.items(), (name, b"")]))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_twice_missing_packed_otherwise(small):
    parts = members(small[0])
    with pytest.raises(ModelFileError, match="two members"):
        loaded(zipped([*parts.items(), ("manifest.json", b"{}")]))
    for name in parts:
        rest = {k: v for k, v in parts.items() if k != name}
        with pytest.raises(ModelFileError, match="missing"):
            loaded(zipped(rest.items()))
    with pytest.raises(ModelFileError, match="packed in a way"):
        loaded(zipped(parts.items(), zipfile.ZIP_LZMA))


def test_bombs(small):
    parts = members(small[0])
    bomb = npy("<f8", (2**24,), bytes(2**27))
    data = zipped({**parts, "arrays/0.npy": bomb}.items())
    assert len(data) < 2**20
    with pytest.raises(ModelFileError, match="members claim"):
        loaded(data)
    with pytest.raises(ModelFileError, match="larger than"):
        loaded(small[0], max_bytes=100)
    with pytest.raises(ModelFileError, match="members claim"):
        loaded(small[0], max_bytes=len(small[0]))


def test_a_directory_that_lies_about_sizes(small):
    """The real size is larger than the one declared: no more than that is read."""
    data = bytearray(
        zipped({**members(small[0]), "arrays/0.npy": bytes(2**22)}.items())
    )
    real = struct.pack("<L", 2**22)
    for _ in range(2):
        at = data.index(real)
        data[at : at + 4] = struct.pack("<L", 100)
    with pytest.raises(ModelFileError):
        loaded(bytes(data))


def test_models_of_zeros_are_no_bombs():
    out = io.BytesIO()
    write_archive(out, {}, [np.zeros(FREE // 4), *[np.zeros(1900) for _ in range(300)]])
    archive = Archive(io.BytesIO(out.getvalue()))
    assert archive.array(0).shape == (FREE // 4,)


NESTED = (
    b'{"format": "maxmargin model", "version": 1, "arrays": [], "notes": {}, "root": '
)


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 10**6,
        NESTED + b"[" * 5000 + b"]" * 5000 + b"}",
        NESTED + b'{"!": "dict", "v": [[[], 1]]}}',
        NESTED + b'{"!": "estimator", "class": "os.system", "v": {}}}',
        NESTED + b'{"!": "new", "class": "chain.Chain", "v": {"strange": 1}}}',
        NESTED + b'{"!": "new", "class": "chain.Chain", "v": 3}}',
        NESTED + b'{"!": "array", "v": 0}}',
        NESTED + b'{"!": "array", "v": -1}}',
        NESTED + b'{"!": "array", "v": [1]}}',
        NESTED + b'{"!": "what"}}',
        NESTED + b'{"!": ["what"]}}',
        NESTED + b"{}}",
        NESTED + b"NaN}",
        NESTED + b"1" * 10**5 + b"}",
        NESTED + b'1, "root": 2}',
        NESTED + b"1}",
        NESTED + b'{"!": "scalar", "type": "O", "v": 1}}',
        NESTED + b'{"!": "scalar", "type": "<U99999999999", "v": "a"}}',
        NESTED + b'{"!": "dtype", "v": "O"}}',
        NESTED + b'{"!": "own", "name": "os", "v": null}}',
        NESTED + b'{"!": "objects", "shape": [1000000000000], "v": []}}',
        NESTED + b'{"!": "enum", "class": "solvers.base.Status", "v": "X"}}',
        b'{"format": "maxmargin model", "version": 99, "arrays": []}',
        b'{"format": "maxmargin model", "version": "1", "arrays": []}',
        b'{"format": "other"}',
        b"[]",
        b"\xff\xfe",
    ],
)
def test_hostile_manifests(small, head):
    parts = {k: v for k, v in members(small[0]).items() if k.startswith("m")}
    with pytest.raises(ModelFileError):
        loaded(resealed(parts, head))


@pytest.mark.parametrize(
    "change",
    [
        {"predict": 1}, {"_state": 1}, {"__class__": 1}, {"fit": 1}, {"coef_": 1},
        {"result_": None}, {"structure_": 5},
    ],
)  # fmt: skip
def test_hostile_attributes(small, change):
    parts = members(small[0])
    head = json.loads(parts["manifest.json"])
    head["root"]["fitted"].update(change)
    with pytest.raises(ModelFileError):
        loaded(resealed(parts, head))


def test_weights_of_another_size_are_refused(small):
    parts = members(small[0])
    head = json.loads(parts["manifest.json"])
    structure = head["root"]["fitted"]["structure_"]["v"]
    structure["width"] += 1
    with pytest.raises(ModelFileError, match="weights do not fit"):
        loaded(resealed(parts, head))


@settings(max_examples=150)
@given(st.data())
def test_mutated_manifests_with_right_checksums(small, data):
    """Wherever a node is replaced: a model, or our own exception."""
    parts = members(small[0])
    head = json.loads(parts["manifest.json"])
    holder, key = head, "root"
    for _ in range(data.draw(st.integers(0, 8))):
        node = holder[key]
        if not isinstance(node, dict | list) or not node:
            break
        keys = list(node) if isinstance(node, dict) else range(len(node))
        holder, key = node, data.draw(st.sampled_from(keys))
    holder[key] = data.draw(
        st.sampled_from([None, -1, 0, 2**70, "x", [], {}, {"!": "array", "v": 0}, 1.5])
    )
    with contextlib.suppress(ModelFileError):
        loaded(resealed(parts, head))
