"""Encoded folders, sparse matrices and structures of one's own."""

import hashlib
import json
import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

WORDS = ["Ana", "vive", "en", "Lima", "."]


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    X = [[[w] for w in rng.choice(WORDS, 5)] for _ in range(n)]
    return X, [["N" if w[0].isupper() else "V" for (w,) in x] for x in X]


def index_in_a_folder():
    """An index of -1000000: weights far before the array would be read and written."""
    from maxmargin import ChainSVM, encode_sequences, open_encoded

    with tempfile.TemporaryDirectory() as folder:
        encode_sequences([sentences(30)], folder)
        path = next(Path(folder).rglob("idx.bin"))
        array = np.fromfile(path, "<i4")
        array[0] = -1000000
        array.tofile(path)
        meta = json.loads((Path(folder) / "meta.json").read_text())
        if "sha256" in meta:
            meta["sha256"]["idx"] = hashlib.sha256(array.tobytes()).hexdigest()
            (Path(folder) / "meta.json").write_text(json.dumps(meta))
        try:
            data = open_encoded(folder)
        except ValueError as error:
            return f"right: {error}"
        return f"wrong: {ChainSVM(C=1.0, tol=0.1).fit(data).result_.status.name}"


def killed_encoding():
    """A process is killed while it encodes other data into the same folder."""
    from maxmargin import encode_sequences, open_encoded

    class Source:
        passes = 0

        def __iter__(self):
            self.passes += 1
            X, y = sentences(60, seed=1)
            yield X[:40], y[:40]
            if self.passes == 2:  # the pass that writes
                os.kill(os.getpid(), signal.SIGKILL)
            yield X[40:], y[40:]

    with tempfile.TemporaryDirectory() as folder:
        encode_sequences([sentences(30)], folder)
        before = open_encoded(folder).truth.data.tolist()
        pid = os.fork()
        if pid == 0:
            encode_sequences(Source(), folder)
        os.waitpid(pid, 0)
        try:
            after = open_encoded(folder).truth.data.tolist()
        except Exception as error:
            return f"wrong: the old data are lost ({type(error).__name__}: {error})"
        if after == before:
            return "right: the old data are there"
        return f"wrong: {sum(map(int.__ne__, before, after))} labels are others"


def sparse_matrix():
    """A CSR matrix with an index that is a little beyond its columns."""
    from maxmargin import MulticlassSVM

    X = sp.csr_array(np.random.default_rng(0).normal(size=(6, 4)))
    X.indices[3] = 20
    try:
        model = MulticlassSVM(C=1.0).fit(X, [0, 1, 0, 1, 0, 1])
    except ValueError as error:
        return f"right: {error}"
    return f"wrong: {model.result_.status.name}, {model.result_.certificate}"


class Longer:
    """Two classes; psi of the wrong one has as many entries as `size` says."""

    size = 2

    def joint_feature(self, x, y):
        last = np.array([self.size - 1 if y else 0])
        return sp.csr_array((np.ones(1), last, np.array([0, 1])), (1, last[0] + 2 - y))

    def loss(self, truth, y):
        return float(truth != y)

    def argmax(self, w, x, truth=None):
        return 1 if x < 0 or truth == 0 else 0


def longer_psi():
    """Prediction with features that have no weights."""
    from maxmargin import StructuralSVM

    model = StructuralSVM(Longer(), C=1.0).fit([1.0, 2.0], [0, 0])
    model.structure_.owner.size = 10**9
    try:
        model.predict([-1.0])
    except ValueError as error:
        return f"right: {error}"
    return "wrong: predicted"


class Negative:
    """Two classes; the loss of the wrong one is -1."""

    def joint_feature(self, x, y):
        return x * (2 * y - 1)

    def loss(self, truth, y):
        return -float(truth != y)

    def argmax(self, w, x, truth=None):
        def score(y):
            gain = 0.0 if truth is None else self.loss(truth, y)
            return w @ self.joint_feature(x, y) + gain

        return max((0, 1), key=score)


def negative_loss():
    from maxmargin import StructuralSVM

    X = [np.array([1.0, 2.0]), np.array([0.5, 1.0])]
    try:
        result = StructuralSVM(Negative(), C=1.0).fit(X, [0, 0]).result_
    except ValueError as error:
        return f"right: {error}"
    return f"wrong: {result.status.name}, primal {result.primal:.3g}"
