"""Model files with right checksums and wrong contents: each hole of version 0.1."""

import dataclasses
import io
import json
import os
import pickle
import time
from typing import get_type_hints

import numpy as np
import pytest
from small.files import loaded, members, resealed, saved
from small.models import MODELS, OWN

from maxmargin import GrammarSVM, ModelFileError, PathCV, StructuralSVM, load, save
from maxmargin.core import Loss
from maxmargin.core.data.validation import Validated
from maxmargin.core.structure import Structure
from maxmargin.estimators.saving.model_checks import STRUCTURES
from maxmargin.estimators.saving.model_files import class_of
from maxmargin.estimators.saving.model_tags import TAGS
from maxmargin.solvers.base import Status, Trainer


def changed(data, change):
    """The file after `change(root)`, checksums right; `change` may return arrays."""
    parts = members(data)
    head = json.loads(parts["manifest.json"])
    for name, array in (change(head["root"]) or {}).items():
        out = io.BytesIO()
        np.save(out, array)
        parts[name] = out.getvalue()
    return resealed(parts, head)


def fitted(root, name):
    return root["fitted"][name]["v"]


@pytest.fixture(scope="module")
def chain():
    return saved(MODELS["chain"]()[0])


@pytest.mark.parametrize("name", ["engine", "callbacks", "checkpoint"])
@pytest.mark.parametrize("value", ["tcp://203.0.113.1:8786", None])
def test_no_file_sets_an_engine(chain, name, value):
    """A cluster answers with pickles, and gets the inputs."""

    def change(root):
        root["params"][name] = value

    with pytest.raises(ModelFileError, match=f"sets '{name}'"):
        loaded(changed(chain, change))


def test_no_file_sets_an_engine_of_an_estimator_inside():
    def change(root):
        root["params"]["estimator"]["params"]["engine"] = "tcp://203.0.113.1:8786"

    with pytest.raises(ModelFileError, match="sets 'engine'"):
        loaded(changed(saved(MODELS["path_cv"]()[0]), change))
    assert isinstance(loaded(saved(MODELS["path_cv"]()[0])), PathCV)


@pytest.mark.parametrize(
    "part, name", [("params", "estimator"), ("fitted", "estimator_")]
)
def test_an_estimator_inside_is_one(part, name):
    def change(root):
        root[part][name] = 3

    with pytest.raises(ModelFileError, match="is not an estimator"):
        loaded(changed(saved(MODELS["path_cv"]()[0]), change))


class Trap:
    """An output whose unpickling is noticed."""

    opened = 0

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return _open, (self.value,)


def _open(value):
    Trap.opened += 1
    return Trap(value)


class Halves:
    """y = (shown, hidden): psi is the sum of both entries of x."""

    dim = 2

    def joint_feature(self, x, y):
        shown, hidden = y.value
        return np.array([x[shown], x[2 + hidden]])

    def loss(self, truth, y):
        return float(truth.value[0] != y.value[0])

    def argmax(self, w, x, truth=None):
        every = [Trap((a, b)) for a in range(2) for b in range(2)]
        gain = [0.0 if truth is None else self.loss(truth, y) for y in every]
        scores = [w @ self.joint_feature(x, y) + g for y, g in zip(every, gain)]
        return every[int(np.argmax(scores))]

    def complete(self, w, x, y):
        every = [Trap((y.value[0], b)) for b in range(2)]
        if w is None:
            return every[0]
        return max(every, key=lambda z: w @ self.joint_feature(x, z))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_files_hold_no_pickles():
    rng = np.random.default_rng(0)
    X = list(rng.normal(size=(8, 4)))
    y = [Trap((int(x[0] > x[1]), 0)) for x in X]
    model = StructuralSVM(Halves(), C=1.0).fit(X, y)
    assert model.result_.truth is not None
    data = saved(model)
    rows = pickle.dumps(y[0], protocol=5)[:8]
    packed = np.frombuffer(rows, np.uint8).astype(np.int32).tobytes()
    assert not any(packed in part for part in members(data).values())
    Trap.opened = 0
    again = loaded(data, own=Halves)
    assert again.result_.truth is None
    assert Trap.opened == 0
    table = again.support_structures(0, X, y)
    assert table.feature == "w[0]" and np.isfinite(table.weight)


CHAIN = {
    "bias far away": lambda r: _put(r, "layout", "bias", 10**9),
    "bias near by": lambda r: _put(r, "layout", "bias", 200),
    "another width": lambda r: _put(r, "layout", "width", 1),
    "edges that are not there": lambda r: _put(r, "layout", "edge", 0),
    "order": lambda r: _set(r, "order", 3),
    "window": lambda r: _set(r, "window", 10**9),
    "more columns": lambda r: _set(r, "columns", 10**6),
    "an index beyond the columns": lambda r: _index(r, 10**6),
    "a negative index": lambda r: _index(r, -1),
    "not sparse": lambda r: _set(r, "sparse", "yes"),
    "a label twice": lambda r: fitted(r, "structure_")["labels"]["v"].append("O"),
}


def _set(root, field, value):
    fitted(root, "structure_")[field] = value


def _put(root, record, field, value):
    fitted(root, "structure_")[record]["v"][field] = value


def _index(root, value):
    fitted(root, "structure_")["names"]["v"][0][1] = value


@pytest.mark.parametrize("name", CHAIN)
def test_layouts_are_those_of_the_labels(chain, name):
    with pytest.raises(ModelFileError):
        loaded(changed(chain, CHAIN[name]))


OTHERS = {
    "motif": ("order", 100000),
    "alignment": ("mode", "sideways"),
    "network": ("inference", "guess"),
    "grammar": ("dim", 3),
    "ranking": ("k", 10**9),
    "segment": ("max_length", 7),
    "segment_templates": ("columns", 10**6),
    "multiclass": ("width", 10**9),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_structures_check_themselves(name):
    data = saved(MODELS[name]()[0])
    with pytest.raises(ModelFileError):
        loaded(changed(data, lambda root: _set(root, *OTHERS[name])))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_are_finite(chain, value):
    def change(root):
        k = fitted(root, "result_")["w"]["v"]
        w = np.array(np.load(io.BytesIO(members(chain)[f"arrays/{k}.npy"])))
        w[3] = value
        return {f"arrays/{k}.npy": w}

    with pytest.raises(ModelFileError, match="finite"):
        loaded(changed(chain, change))


def test_a_scalar_takes_no_more_memory_than_its_text(chain):
    def change(root):
        root["params"]["tol"] = {"!": "scalar", "type": "<U500000000", "v": "x"}

    with pytest.raises(ModelFileError, match="larger than its value"):
        loaded(changed(chain, change))


def test_an_array_is_read_once(tmp_path):
    """The file, its member and the array used to be in memory at the same time."""
    import tracemalloc

    from maxmargin.io.model_file import Archive, write_archive

    array = np.random.default_rng(0).random(2**21)
    write_archive(tmp_path / "a", {}, [array], level=0)
    tracemalloc.start()
    try:
        archive = Archive(tmp_path / "a")
        same = np.array_equal(archive.array(0), array)
        archive.close()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert same and peak < 1.3 * array.nbytes


def test_a_structure_of_another_estimator_is_refused(chain):
    other = json.loads(members(saved(MODELS["motif"]()[0]))["manifest.json"])["root"]

    def change(root):
        root["fitted"]["structure_"] = other["fitted"]["structure_"]

    with pytest.raises(ModelFileError, match="structure_ is a Motif"):
        loaded(changed(chain, change))


def test_own_objects_have_plain_attributes_only():
    data = saved(MODELS["own"]()[0])

    def change(root):
        state = root["params"]["structure"]["v"]["v"]
        state.append(["__class__", {"!": "own", "name": "Knapsack", "v": None}])

    with pytest.raises(ModelFileError, match="attribute"):
        loaded(changed(data, change), own=OWN["own"])


def records():
    """Classes in files that are made of fields, trainers apart."""
    for tag in TAGS:
        made = class_of(tag)
        plain = dataclasses.is_dataclass(made) or hasattr(made, "_fields")
        if plain and made is not Status and not issubclass(made, Trainer):
            yield made


@pytest.mark.parametrize("made", list(records()), ids=lambda made: made.__name__)
def test_every_class_in_files_validates_itself(made):
    assert isinstance(made, type) and callable(getattr(made, "validate", None)), (
        f"{made.__name__} can come from a file: it needs a method validate"
    )
    assert issubclass(made, Validated)


def test_no_structure_or_loss_can_forget_to_validate():
    for base in (Structure, Loss):
        assert "validate" in base.__abstractmethods__


def test_every_estimator_names_its_structures():
    made = {class_of(tag) for tag in TAGS if tag.startswith("estimators.")}
    estimators = {c.__name__ for c in made if hasattr(c, "get_params")}
    assert set(STRUCTURES) == estimators - {"PathCV", "StructuralSVM"}


def test_what_would_not_load_is_not_saved(tmp_path):
    model, _ = MODELS["chain"]()
    broken = load(io.BytesIO(saved(model)))
    broken.coef_ = broken.coef_[:-1].copy()
    with pytest.raises(ModelFileError):
        save(broken, tmp_path / "model.mm")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [n for n in MODELS if n != "path_cv"])
def test_what_training_makes_is_valid(name):
    model, _ = MODELS[name]()
    model.structure_.validate()
    model.result_.validate()


def test_a_motif_of_a_huge_order_is_refused_at_once():
    """The number of its weights would have a billion digits."""
    data = saved(MODELS["motif"]()[0])

    def change(root):
        root["fitted"]["structure_"]["v"]["order"] = 10**9

    begin = time.process_time()
    with pytest.raises(ModelFileError):
        loaded(changed(data, change))
    assert time.process_time() - begin < 5.0


def test_shapes_of_segments_are_known():
    model = MODELS["segment"]()[0]
    vocabulary = model.structure_.vocabulary
    vocabulary.validate()
    f = vocabulary.families.index("shape")
    paths = vocabulary.paths
    i = int(np.flatnonzero(paths.data[paths.ptr[:-1]] == f)[0])
    data = paths.data.copy()
    data[paths.ptr[i] + 1] = len(vocabulary.shapes)
    wrong = dataclasses.replace(vocabulary, paths=paths._replace(data=data))
    with pytest.raises(ValueError, match="word or shape"):
        wrong.validate()


def test_each_label_of_a_set_has_a_threshold():
    model = MODELS["multilabel"]()[0]
    data = saved(model)

    def change(root):
        return {f"arrays/{root['fitted']['thresholds_']['v']}.npy": np.empty(0)}

    with pytest.raises(ModelFileError, match="thresholds_"):
        loaded(changed(data, change))


@pytest.mark.parametrize("name", ["multilabel", "multiclass", "chain", "path_cv"])
def test_a_file_holds_a_fitted_estimator(name):
    data = saved(MODELS[name]()[0])

    def unfitted(root):
        root["fitted"] = {}

    def without_weights(root):
        fitted = root["fitted"]
        fitted = fitted["estimator_"]["fitted"] if "estimator_" in fitted else fitted
        del fitted["coef_"]

    def unfitted_inside(root):
        for value in root["fitted"].values():
            if isinstance(value, dict) and value["!"] == "estimator":
                value["fitted"] = {}

    for change in (unfitted, unfitted_inside) if name == "path_cv" else (unfitted,):
        with pytest.raises(ModelFileError, match="not fitted"):
            loaded(changed(data, change))
    with pytest.raises(ModelFileError, match="no weights"):
        loaded(changed(data, without_weights))


def test_a_tagger_can_predict():
    X, y = [["the", "cat"]] * 2, [("NP", ("DT", "the"), ("NN", "cat"))] * 2
    data = saved(GrammarSVM(C=1.0, tagger="chain").fit(X, y))

    def change(root):
        root["fitted"]["tagger_"] = 7

    with pytest.raises(ModelFileError, match="no tagger"):
        loaded(changed(data, change))

    def unfitted(root):
        root["fitted"]["tagger_"]["fitted"] = {}

    with pytest.raises(ModelFileError, match="tagger_ is not fitted"):
        loaded(changed(data, unfitted))

    def without(root):
        del root["fitted"]["tagger_"]

    with pytest.raises(ModelFileError, match="no tagger"):
        loaded(changed(data, without))


def test_weights_cannot_overflow():
    """Scores of 1.7e308 sum to infinity, and their differences are no numbers."""
    data = saved(MODELS["grammar"]()[0])

    def change(root):
        node = root["fitted"]["coef_"]
        name = f"arrays/{node['v']}.npy"
        w = np.load(io.BytesIO(members(data)[name]))
        return {name: np.full(w.shape, 1.7e308)}

    with pytest.raises(ModelFileError, match="beyond"):
        loaded(changed(data, change))


def test_features_of_templates_differ():
    fitted_templates = MODELS["chain_templates"]()[0].structure_.reader
    keys = fitted_templates.unigrams
    double = keys.take(np.arange(keys.n) // 2 * 2)
    with pytest.raises(ValueError, match="same key"):
        dataclasses.replace(fitted_templates, unigrams=double)


@pytest.mark.parametrize(
    "name, where",
    [
        ("own", ("fitted", "structure_", "owner")),
        ("joint_own", ("fitted", "structure_", "owner")),
        ("joint_own", ("fitted", "structure_", "kernel", "owner")),
    ],
)
@pytest.mark.parametrize(
    "value", [7, {"!": "new", "class": "matching.Matching", "v": {}}]
)
def test_what_the_user_hands_over_cannot_be_replaced(name, where, value):
    model = MODELS[name]()[0]

    def change(root):
        *way, last = where
        at = root[way[0]]
        for key in way[1:]:
            at = at[key]["v"]
        at[last] = value

    with pytest.raises(ModelFileError):
        load(io.BytesIO(changed(saved(model), change)), own=OWN[name])


def test_functions_of_the_user_are_functions():
    from maxmargin.kernels import PairFunction
    from maxmargin.kernels.functions import Function
    from maxmargin.structures.chain import Chain

    for kind in (Function, PairFunction):
        kind(np.dot).validate()
        for wrong in (Chain(), 7):
            with pytest.raises(ValueError, match="a function is needed"):
                kind(wrong).validate()


@pytest.mark.parametrize("name", ["joint_own", "joint_classes"])
def test_support_pairs_can_be_compared(name):
    """A support pair whose input is a text: no kernel on rows takes it."""
    data = saved(MODELS[name]()[0])

    def change(root):
        inputs = root["fitted"]["structure_"]["v"]["inputs"]
        inputs = inputs if isinstance(inputs, list) else inputs["v"]
        inputs[0] = "no row of numbers"

    with pytest.raises(ModelFileError):
        load(io.BytesIO(changed(data, change)), own=OWN.get(name, ()))


def test_parameters_of_a_file_can_be_used(chain):
    def change(root):
        root["params"]["n_jobs"] = 0

    with pytest.raises(ModelFileError, match="n_jobs=0"):
        loaded(changed(chain, change))


@pytest.mark.parametrize("name", MODELS)
def test_the_type_of_what_was_learnt_is_declared(name):
    """Files are compared with these types; a `tagged_` without one could be an array."""
    model, _ = MODELS[name]()
    learnt = {attribute for attribute in vars(model) if attribute.endswith("_")}
    by_hand = {"calibration_"}  # `check_whole` looks at it by itself
    assert learnt - by_hand <= set(get_type_hints(type(model)))


@pytest.mark.parametrize("name", MODELS)
def test_a_file_that_lacks_what_was_learnt_is_refused_or_predicts(name):
    """Each learnt attribute is left out once."""
    model, X = MODELS[name]()
    data, own = saved(model), OWN.get(name, ())
    learnt = json.loads(members(data)["manifest.json"])["root"]["fitted"]
    for left_out in learnt:

        def change(root, left_out=left_out):
            root["fitted"].pop(left_out)

        short = changed(data, change)
        try:
            again = load(io.BytesIO(short), own=own)
        except ModelFileError as error:
            assert str(error)
        else:
            again.predict(X)
