"""What is mutated: model files, checkpoints and encoded folders of every kind.

A subject makes mutants and uses them: an outcome is "refused", "used", or begins with
"BAD". What goes wrong in code of the user's own (class `Knapsack`) is not counted.
`uncovered` says which classes of the table of model files no subject contains.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
import traceback
import warnings
import weakref
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from benchmarks.fuzz.mutate import mutated_archive, mutated_array, mutated_json
from maxmargin import ChainSVM, Checkpoint, ModelFileError, load, save
from maxmargin.core.data.arrays import Ragged, Rows, Vectors
from maxmargin.estimators.saving.model_files import class_of, tag_of
from maxmargin.io.biology.substitution import Substitution
from maxmargin.io.model_file.model import read_model, write_model
from maxmargin.structures.chain import encode_sequences, open_encoded
from maxmargin.structures.chain.tokens.encoded_files import FILES
from maxmargin.structures.grammar.treebank.binarise import BinaryShape, binarise

SHM = Path("/dev/shm")  # where files need no disk: trials write and sync many
IN_MEMORY = SHM if os.access(SHM, os.W_OK) else None


def _folder_of(subject):
    """A folder that goes with the subject."""
    folder = tempfile.mkdtemp(prefix="fuzz-", dir=IN_MEMORY)
    weakref.finalize(subject, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class ModelFile:
    """Model files, one or several: a mutant is refused, or predicts."""

    def __init__(self, name, models, X, own=()):
        self.name, self.X, self.own = f"model {name}", X, own
        self.files = []
        for model in models if isinstance(models, list) else [models]:
            out = io.BytesIO()
            save(model, out)
            self.files.append(out.getvalue())

    def originals(self):
        return self.files

    def mutant(self, rng):
        return mutated_archive(self.files[int(rng.integers(len(self.files)))], rng)

    def use(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = load(io.BytesIO(data), own=self.own)
            except ModelFileError as error:
                return "refused" if str(error) else "BAD: an error without words"
            try:
                model.predict(self.X)
                if hasattr(model, "structure_"):
                    model.structure_.feature_names()
                if hasattr(model, "calibration_"):
                    _ask_calibrated(model, self.X)
            except Exception as error:
                if self.own and _in_own_code(error):
                    return "an error of the user's class"
                raise
            return "used"


def _ask_calibrated(model, X):
    """Probabilities and sets; not every model has all of them."""
    for name in ("predict_ranked", "predict_proba", "predict_marginals"):
        ask = getattr(model, name, None)
        if ask is not None:
            ask(X)


def _in_own_code(error):
    """Whether the error came up in the user's code, here `tests/cases` and `kinds`."""
    last = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return last.parent.name == "cases" or last.stem == "kinds"


class PlainObjects:
    """Classes that no estimator stores any more: files may still name them.

    A mutant is refused, or loops run over it.
    """

    def __init__(self):
        self.name = "objects"
        table = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
        self.data = io.BytesIO()
        write_model(
            {
                "rows": Rows.from_dense(table),
                "ragged": Ragged.pack([[1, 2], [0]]),
                "dense": Vectors.of(table, False),
                "sparse": Vectors.of(sp.csr_array(table), True),
                "shape": BinaryShape(horizontal=1),
                "letters": Substitution(("A", "C"), np.eye(2)),
            },
            self.data, tag_of, {"kind": "checkpoint", "mark": ""},
        )  # fmt: skip
        self.data = self.data.getvalue()

    def originals(self):
        return [self.data]

    def mutant(self, rng):
        return mutated_archive(self.data, rng)

    def use(self, data):
        try:
            held, _ = read_model(io.BytesIO(data), class_of, {})
        except ModelFileError as error:
            return "refused" if str(error) else "BAD: an error without words"
        for value in held.values() if isinstance(held, dict) else ():
            if isinstance(value, Rows):
                wide = int(value.idx.max(initial=-1)) + 1
                if wide < 10**6:
                    value.minus(value.take(np.arange(value.n))).dot(np.ones(wide))
            elif isinstance(value, Vectors) and value.width < 10**6:
                value.slice(0, value.n).csr() @ np.ones(value.width)
            elif isinstance(value, Ragged):
                Ragged.concat([value.take([k]) for k in range(value.n)])
            elif isinstance(value, BinaryShape):
                binarise(("S", ("A", "a"), ("B", "b"), ("C", "c")), value)
            elif isinstance(value, Substitution):
                value.restrict(value.letters[:1])
        return "used"


class CheckpointFile:
    """A checkpoint: a mutant is refused, or training continues from it."""

    def __init__(self, name, made, X, y, step):
        self.name, self.made, self.X, self.y = f"checkpoint {name}", made, X, y
        self.folder = _folder_of(self)
        path = self.folder / "run.ck"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            where = Checkpoint(path, every=0.0)
            with contextlib.suppress(_KilledError):
                made(checkpoint=where, callbacks=_Kill(step)).fit(X, y)
        self.data = path.read_bytes()

    def originals(self):
        return [self.data]

    def mutant(self, rng):
        return mutated_archive(self.data, rng)

    def use(self, data):
        path = self.folder / "mutant.ck"
        path.write_bytes(data)
        few = {"callbacks": _Few(3), "checkpoint": path}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.made(**few).fit(self.X, self.y)
            except (ValueError, ModelFileError) as error:
                return "refused" if str(error) else "BAD: an error without words"
        return "used"


class _KilledError(Exception):
    pass


class _Kill:
    """Ends training as if the process were killed."""

    def __init__(self, step):
        self.step = step

    def __call__(self, row):
        if row["iteration"] == self.step:
            raise _KilledError


class _Few:
    """Ends training after so many steps."""

    def __init__(self, steps):
        self.left = steps

    def __call__(self, row):
        self.left -= 1
        return self.left <= 0


class EncodedFolder:
    """A folder of encoded sequences: a mutant is refused, or trains."""

    def __init__(self):
        self.name = "encoded folder"
        self.folder = _folder_of(self) / "data"
        X, y = sentences()
        encode_sequences([(X[:10], y[:10]), (X[10:], y[10:])], self.folder)
        self.meta = json.loads((self.folder / "meta.json").read_text())
        place = self.folder / self.meta["data"]
        self.arrays = {n: np.fromfile(place / f"{n}.bin", FILES[n]) for n in FILES}
        self.names = json.loads((place / "names.json").read_text())

    def originals(self):
        return [(self.meta, self.arrays, self.names)]

    def mutant(self, rng):
        meta, arrays, names = self.meta, dict(self.arrays), self.names
        way = rng.random()
        if way < 0.3:
            meta = mutated_json(meta, rng)
        elif way < 0.4:
            names = mutated_json(names, rng)
        else:
            name = list(FILES)[int(rng.integers(len(FILES)))]
            arrays[name] = mutated_array(arrays[name], rng)
            sizes = {**meta["sizes"], name: arrays[name].size}
            meta = {**meta, "sizes": sizes if rng.random() < 0.8 else meta["sizes"]}
        return meta, arrays, names

    def use(self, parts):
        meta, arrays, names = parts
        folder = Path(tempfile.mkdtemp(dir=self.folder.parent))
        try:
            place = folder / self.meta["data"]
            place.mkdir()
            text = json.dumps(names).encode()
            (place / "names.json").write_bytes(text)
            sums = {"names": hashlib.sha256(text).hexdigest()}
            for name, array in arrays.items():
                data = np.asarray(array).tobytes()
                (place / f"{name}.bin").write_bytes(data)
                sums[name] = hashlib.sha256(data).hexdigest()
            if isinstance(meta, dict) and isinstance(meta.get("sha256"), dict):
                known = {k: sums.get(k, v) for k, v in meta["sha256"].items()}
                meta = {**meta, "sha256": known}
            (folder / "meta.json").write_text(json.dumps(meta))
            return self._trained(folder)
        finally:
            shutil.rmtree(folder)

    def _trained(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                data = open_encoded(folder)
            except (ValueError, OSError) as error:
                return "refused" if str(error) else "BAD: an error without words"
            ChainSVM(solver="block-dual", max_iter=3, window=data.window).fit(data)
        return "used"


def sentences(n=20):
    rng = np.random.default_rng(0)
    words = {"Ann": "N", "ran": "V", "fast": "A", "the": "D"}
    names = list(words)
    X = [[[names[j]] for j in rng.integers(4, size=int(rng.integers(1, 6)))]
         for _ in range(n)]  # fmt: skip
    return X, [[words[token[0]] for token in x] for x in X]


def every(names=None):
    """All subjects, or those whose name has one of the given words."""
    out = [*models(names), *checkpoints(names)]
    if _wanted("encoded folder", names):
        out.append(EncodedFolder())
    if _wanted("objects", names):
        out.append(PlainObjects())
    return out


def _wanted(name, names):
    return names is None or any(word in name for word in names)


def models(names=None):
    """Model files of all kinds that the tests know."""
    from small.models import MODELS, OWN

    from benchmarks.fuzz import kinds

    OWN, MODELS = {**OWN, **kinds.OWN}, {**MODELS, **kinds.MORE}
    out = []
    for name, made in MODELS.items():
        if _wanted(f"model {name}", names):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # few steps will do
                model, X = made()
            out.append(ModelFile(name, model, X, OWN.get(name, ())))
    return out


def checkpoints(names=None):
    """Checkpoints of the trainers that write them."""
    from small.runs import RUNS

    from benchmarks.fuzz.runs import MORE

    out = []
    for name, (made, data, step) in {**RUNS, **MORE}.items():
        if _wanted(f"checkpoint {name}", names):
            out.append(CheckpointFile(name, made, *data(), step))
    return out


def uncovered(known):
    """Names of the table of model files that occur in no file of these subjects."""
    from maxmargin.estimators.saving.model_tags import TAGS

    left = set(TAGS)
    for subject in known:
        for data in subject.originals():
            if isinstance(data, bytes):
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    left -= set(_classes(json.loads(archive.read("manifest.json"))))
    return sorted(left)


def _classes(node):
    """Every "class" in a document."""
    if isinstance(node, dict) and isinstance(node.get("class"), str):
        yield node["class"]
    if isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _classes(value)
