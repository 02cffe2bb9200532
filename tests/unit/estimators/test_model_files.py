"""Model files: every model comes back the same."""

import dataclasses
import enum
import importlib
import io
import json
import pkgutil
from pathlib import Path

import cases
import numpy as np
import pytest
import scipy.sparse as sp
from cases.own import Knapsack
from hypothesis import given, settings
from hypothesis import strategies as st
from small.files import loaded, saved, small_file
from small.models import MODELS, OWN, points, same

import maxmargin
from maxmargin import ModelFileError, MulticlassSVM, StructuralSVM, load, save
from maxmargin.estimators.saving import model_files as files
from maxmargin.io.model_file import Archive, Decoder, Encoder, describe, write_archive
from maxmargin.kernels import Rbf
from maxmargin.kernels.maps import Expansion

OWN_CASES = ("joint", "own")  # need a class of the user's, see below
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [n for n in cases.modules() if n not in OWN_CASES])
def test_every_structure_is_stored_as_a_parameter(name, tmp_path):
    """Not bound to data there, and the model loads, predicts and trains again."""
    case = cases.modules()[name]
    structure, X, y = case.tiny(np.random.default_rng(0))
    model = StructuralSVM(structure, C=1.0, loss=case.LOSSES[0], max_iter=5).fit(X, y)
    again = loaded(saved(model))
    assert repr(list(again.predict(X))) == repr(list(model.predict(X)))
    assert again.fit(X, y).result_.w.tobytes() == model.result_.w.tobytes()


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (maxmargin.KernelSVM(kernel_method="cpsp-as-written", n_basis=5), *points()),
        (
            maxmargin.GrammarSVM(C=1.0, anchors=("first",), anchor_by="rule"),
            [["A", "B"], ["A", "A", "B"]],
            [("S", ("A", "a"), ("B", "b")),
             ("S", ("A", "a"), ("S", ("A", "a"), ("B", "b")))],
        ),
    ],
    ids=["columns in memory", "classes by rule"],
)  # fmt: skip
def test_options_that_could_not_be_loaded(model, X, y):
    model.fit(X, y)
    assert repr(list(loaded(saved(model)).predict(X))) == repr(list(model.predict(X)))


def test_fields_with_columns_in_memory_are_stored_by_rows():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    encoder = Encoder(files.tag_of)
    encoder.node(Expansion(Rbf(1.0), np.eye(2), table))
    assert all(array.flags.c_contiguous for array in encoder.arrays)
    assert any(np.array_equal(array, table) for array in encoder.arrays)


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


def test_vectors_that_are_mostly_zero_take_little_room(tmp_path):
    weights = np.zeros(1_000_000)
    weights[[3, 500, 999_999]] = 1.5, -2.0, 1e-300
    encoder = Encoder(files.tag_of)
    node = json.loads(json.dumps(encoder.node({"a": weights, "b": weights})))
    assert sum(array.nbytes for array in encoder.arrays) == 3 * 16  # once
    write_archive(tmp_path / "a", {}, encoder.arrays)
    assert (tmp_path / "a").stat().st_size < 2000
    made = Decoder(files.class_of, Archive(tmp_path / "a").array, {}).value(node)
    assert same(made["a"], weights) and same(made["b"], weights)
    dense = Encoder(files.tag_of)
    assert dense.node(np.ones(20_000))["!"] == dense.node(np.zeros(100))["!"] == "array"


@pytest.mark.parametrize(
    ("size", "places", "values", "told"),
    [
        (-1, [0], [1.0], "not whole"),
        (2**60, [0], [1.0], "1 values, and"),
        (10, [0, 1], [1.0], "1 values"),
        (10, [3, 2], [1.0, 1.0], "not in order"),
        (10, [2, 2], [1.0, 1.0], "not in order"),
        (10, [-1, 2], [1.0, 1.0], "outside"),
        (10, [2, 10], [1.0, 1.0], "outside"),
        (10, [2.0], [1.0], "wrong parts"),
        (10, [[2]], [[1.0]], "wrong parts"),
        ("10", [2], [1.0], "not whole"),
    ],
)
def test_scattered_vectors_that_are_wrong_are_refused(size, places, values, told):
    arrays = [np.array(places), np.array(values)]
    parts = {
        name: {"!": "array", "v": k} for k, name in enumerate(("places", "values"))
    }
    node = {"!": "scattered", "size": size, "v": parts}
    with pytest.raises(ModelFileError, match=told):
        Decoder(files.class_of, arrays.__getitem__, {}).value(node)


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
        "Objects Tokens Sentences GrammarInputs SpanRows Anchored Graphs Graph Search SequencePairs MatchingInputs MentionPairs Side "
        "LetterCodes Points Documents Bases PairFeatures Augment Found Layers Answer "
        "OuterProductFeatures OuterCoordinates Gathered NamedTokens FeatureColumns KnownInputs Part Reason Node Mention Document _Facts Tree Sentence "
        "LinkInputs DependencyInputs ArcFeatures TokenCodes Report Visit Store Scratch Dual Tables Space GramSpace OutsideOutputs Sums KernelSums Mean Costs Solver WorkingSets "
        "Function Message Reply Flat TokenCut Pieces Encoded State Trainer Run Resolved Before Start "
        "Slope Turn Drawn BasisFit KernelResult Handover Violation Bounded Moves ProductRisk Penalty "
        "ProjectedCut SampledCut Local FeatureRows Both ListedOutputs PairStructure Growing Scopes "
        "TokenInputs SequenceTask Blocks Lane SegmentInputs GivenSpans WordIds Trie _Layout Numbering Row SharedRow Sharing PathRules LetterScores PairScores MatchCells Smoothed"
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


def test_notes_of_the_method(tmp_path):
    """`save` of a model hands its notes on."""
    model = MulticlassSVM().fit([[0.0], [1.0]], [0, 1])
    model.save(tmp_path / "a.mm", notes={"why": "a trial"})
    assert load(tmp_path / "a.mm").provenance_["why"] == "a trial"
