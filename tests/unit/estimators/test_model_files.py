"""Model files: every model comes back the same."""

import dataclasses
import enum
import importlib
import io
import json
import pkgutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cases.own import Knapsack
from hypothesis import given, settings
from hypothesis import strategies as st
from small.files import loaded, saved, small_file
from small.models import MODELS, OWN, same

import maxmargin
from maxmargin import ModelFileError, MulticlassSVM, StructuralSVM, load, save
from maxmargin.estimators.fitting import model_files as files
from maxmargin.io.model_file import Archive, Decoder, Encoder, describe, write_archive

FIXTURES = Path(__file__).parents[2] / "fixtures" / "models"


@pytest.fixture(scope="module")
def small():
    return small_file()


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
    model = MulticlassSVM().fit(X, y).set_params(loss=Knapsack(most=object()))
    with pytest.raises(ModelFileError, match=r"the model\.loss is a Knapsack"):
        saved(model)
    model = MulticlassSVM(callbacks=[print]).fit(X, y)
    assert loaded(saved(model)).callbacks is None
    with pytest.raises(ModelFileError, match=r"\.random_state is a lambda"):
        saved(MulticlassSVM().fit(X, y).set_params(random_state=lambda: 0))
    deep = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        saved(MulticlassSVM().fit(X, y).set_params(node_weights=deep))


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
        "Objects Tokens Sentences GrammarInputs Anchored Graphs Graph Search SequencePairs MatchingInputs MentionPairs Side "
        "LetterCodes Points Documents Bases PairFeatures Augment Found Layers Answer "
        "OuterProductFeatures OuterCoordinates Gathered Part Reason Node Mention Document _Facts Tree Sentence "
        "Report Visit Store Scratch Dual Tables Space GramSpace OutsideOutputs Sums KernelSums Mean Costs Solver WorkingSets "
        "Function Message Reply Flat TokenCut Pieces Encoded State Trainer Run Resolved Start "
        "Slope Turn Drawn BasisFit KernelResult Handover Violation Bounded Moves ProductRisk Penalty"
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
    for name in files.TAGS:
        assert files.tag_of(files.class_of(name)) == name


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
