"""Model files: every model comes back the same; nothing else comes back at all."""

import contextlib
import dataclasses
import enum
import hashlib
import importlib
import io
import json
import pkgutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cases.own import Knapsack
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import MODELS, OWN, multiclass, same

import maxmargin
from maxmargin import ModelFileError, MulticlassSVM, StructuralSVM, load, save
from maxmargin.estimators import files
from maxmargin.io.archive import FREE, Archive, write_archive
from maxmargin.io.codec import Decoder, Encoder
from maxmargin.io.model import describe

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models"


def saved(model):
    out = io.BytesIO()
    save(model, out)
    return out.getvalue()


def loaded(data, **settings):
    return load(io.BytesIO(data), **settings)


@pytest.fixture(scope="module")
def small():
    """A file, and what its model predicts."""
    model, X = multiclass()
    return saved(model), X, model.predict(X)


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, way=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", way) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return out.getvalue()


def resealed(parts, head):
    """The file with another manifest, all checksums right."""
    arrays = [parts[f"arrays/{k}.npy"] for k in range(len(parts) - 2)]
    if isinstance(head, dict):
        head["arrays"] = [
            {"size": len(a), "sha256": hashlib.sha256(a).hexdigest()} for a in arrays
        ]
        head = json.dumps(head).encode()
    parts = {**parts, "manifest.json": head}
    parts["manifest.sha256"] = hashlib.sha256(head).hexdigest().encode()
    return zipped(parts.items())


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_bit_for_bit_the_same(name, tmp_path):
    model, X = MODELS[name]()
    path = tmp_path / "model.mm"
    save(model, path, notes={"command": "train"})
    again = load(path, own=OWN.get(name, ()))
    assert type(again) is type(model)
    assert same(model.predict(X), again.predict(X))
    assert again.provenance_["command"] == "train"
    assert again.provenance_["maxmargin"] == maxmargin.__version__
    if hasattr(model, "result_"):
        assert same(model.result_.w, again.result_.w)
        assert same(model.result_.history, again.result_.history)
        assert again.result_.summary() == model.result_.summary()
    other = tmp_path / "other.mm"
    save(again, other)
    assert other.read_bytes() == path.read_bytes()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def fixture_names():
    return sorted(p.stem for p in FIXTURES.glob("*.mm"))


def test_there_is_an_old_file_of_every_kind():
    assert set(fixture_names()) >= set(MODELS)


@pytest.mark.parametrize("name", fixture_names())
def test_old_files_are_read_for_ever(name):
    """Weights are those of the day they were written; predictions follow from them."""
    model = load(FIXTURES / f"{name}.mm", own=OWN.get(name, ()))
    expected = json.loads((FIXTURES / f"{name}.json").read_text())
    _, X = MODELS[name]()
    assert repr(list(model.predict(X))) == expected["predictions"]


def test_describe_makes_no_object(small, tmp_path):
    told = describe(io.BytesIO(small[0]))
    assert told["kind"] == "MulticlassSVM"
    assert told["version"] == 1
    assert told["notes"]["maxmargin"] == maxmargin.__version__


def test_methods_and_wrong_kinds(small, tmp_path):
    path = tmp_path / "m.mm"
    path.write_bytes(small[0])
    assert MulticlassSVM.load(path).classes_.tolist() == ["ant", "bee", "cow"]
    with pytest.raises(ModelFileError, match="holds a MulticlassSVM, not a Structural"):
        StructuralSVM.load(path)
    with pytest.raises(TypeError, match="is not an estimator of maxmargin"):
        save(Knapsack(), path)
    assert path.read_bytes() == small[0]
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.mm")


def test_own_classes_are_handed_over():
    model, X = MODELS["own"]()
    data = saved(model)
    with pytest.raises(ModelFileError, match=r"your own 'Knapsack'.*own=Knapsack"):
        loaded(data)
    for own in (Knapsack, [Knapsack], Knapsack(2)):
        again = loaded(data, own=own)
        assert again.structure.most == 2
        assert same(again.predict(X), model.predict(X))


def test_what_cannot_be_stored_is_named():
    X, y = [[0.0], [1.0]], [0, 1]
    model = StructuralSVM(Knapsack(most=object()))
    with pytest.raises(ModelFileError, match=r"the model\.structure is a Knapsack"):
        saved(model)
    model = MulticlassSVM(callbacks=[print]).fit(X, y)
    assert loaded(saved(model)).callbacks is None
    with pytest.raises(ModelFileError, match=r"\.random_state is a lambda"):
        saved(MulticlassSVM(random_state=lambda: 0))
    deep = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        saved(MulticlassSVM(node_weights=deep))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.integers(-5, 5).map(np.int64)
    | st.floats(width=32).map(np.float32)
    | st.text(alphabet="abc").map(np.str_),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.sets(st.integers() | st.text())
        | st.frozensets(st.integers() | st.text())
        | st.dictionaries(st.integers() | st.text() | st.tuples(st.text()), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(VALUES)
def test_values_come_back_as_they_were(value):
    encoder = Encoder(files.tag_of)
    node = json.loads(json.dumps(encoder.node(value), allow_nan=False))
    again = Decoder(files.class_of, encoder.arrays.__getitem__, {}).value(node)
    assert type(again) is type(value)
    assert repr(Encoder(files.tag_of).node(again)) == repr(node)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12)[::2],
        np.array(5),
        np.zeros((0, 3), np.int32),
        np.array(["a", "long name"]),
        np.array([(1, 2.0)], dtype=[("a", "i8"), ("b", "f8")]),
        np.array([True, False]),
        np.array([1, "x", None, (2, 3)], dtype=object),
        np.array([np.nan, -0.0, np.inf]),
    ],
)
def test_arrays_keep_type_shape_and_order(array, tmp_path):
    encoder = Encoder(files.tag_of)
    node = encoder.node([array, array])
    write_archive(tmp_path / "a", {}, encoder.arrays)
    first, second = Decoder(files.class_of, Archive(tmp_path / "a").array, {}).value(
        node
    )
    assert same(first, np.array(array, order="K"))
    assert first.flags.writeable
    assert first.flags.f_contiguous == np.array(array, order="K").flags.f_contiguous
    assert array.dtype == object or first is second


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_matrices(kind):
    for made in (sp.csr_array, sp.csr_matrix):
        matrix = made(np.array([[0.0, 1.5], [2.0, 0.0]])).asformat(kind)
        encoder = Encoder(files.tag_of)
        node = json.loads(json.dumps(encoder.node(matrix)))
        again = Decoder(files.class_of, encoder.arrays.__getitem__, {}).value(node)
        assert isinstance(again, sp.sparray) == isinstance(matrix, sp.sparray)
        assert (again.toarray() == matrix.toarray()).all()


def test_every_class_of_ours_is_in_the_table_or_left_out_on_purpose():
    """A new structure, loss, kernel or trainer must be storable."""
    rooms = ("structures", "losses", "alignment_losses", "kernels", "solvers")
    inputs = str.split(  # encoded inputs and answers, which models do not keep
        "Objects Tokens Sentences Anchored Graphs Graph KernelGraphs Search Pairs Side "
        "Positions Points Documents Bases PairFeatures Augment Found Layers Answer "
        "Product Parts Gathered Part Reason Node Mention Document _Facts Tree Sentence "
        "Report Visit Store Scratch Dual Tables Space Outside Sums Mean Costs Solver WorkingSets "
        "Function Message Reply Flat TokenCut Machine Sampled _Cut Span Pieces Encoded State"
    )
    missing = []
    for info in pkgutil.walk_packages(maxmargin.__path__, "maxmargin."):
        if info.name.split(".")[1] not in rooms:
            continue
        for name, made in vars(importlib.import_module(info.name)).items():
            if not isinstance(made, type) or made.__module__ != info.name:
                continue
            held = dataclasses.is_dataclass(made) or hasattr(made, "_fields")
            held = held or issubclass(made, enum.Enum)
            if held and not name.endswith("State") and name not in inputs:
                missing += [] if files.tag_of(made) else [f"{info.name}.{name}"]
    assert missing == []
    for name in files.KNOWN:
        assert files.tag_of(files.class_of(name)) == name


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
        loaded(small[0], most=100)
    with pytest.raises(ModelFileError, match="members claim"):
        loaded(small[0], most=len(small[0]))


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
    if "coef_" in change:
        model = loaded(resealed(parts, head))
        with pytest.raises((AttributeError, TypeError)):
            model.predict([[0.0] * 3])
        return
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


def test_an_interrupted_save_leaves_the_old_file(small, tmp_path, monkeypatch):
    path = tmp_path / "m.mm"
    path.write_bytes(small[0])
    model = loaded(small[0])

    def fails(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_bytes() == small[0]
    assert [p.name for p in tmp_path.iterdir()] == ["m.mm"]
