"""Model files with right checksums and wrong contents."""

import hashlib
import io
import json
import pickle
import resource
import socket
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import numpy as np

WORDS = ["Ana", "vive", "en", "Lima", "."]


def chain_file():
    """A trained model of sequences, its file, and sequences."""
    from maxmargin import ChainSVM, save

    X = [[{f"w={w}": 1.0} for w in WORDS]] * 4
    file = io.BytesIO()
    save(ChainSVM(C=1.0, tol=0.5).fit(X, [list("NVPNX")] * 4), file)
    return file.getvalue(), X


def changed(data, change):
    """The file after `change(root, arrays)`, with all checksums computed again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(parts["manifest.json"])
    change(head["root"], parts)
    sums = [parts[f"arrays/{k}.npy"] for k in range(len(parts) - 2)]
    head["arrays"] = [
        {"size": len(m), "sha256": hashlib.sha256(m).hexdigest()} for m in sums
    ]
    text = json.dumps(head).encode()
    parts["manifest.json"] = text
    parts["manifest.sha256"] = hashlib.sha256(text).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return io.BytesIO(out.getvalue())


def refused_or(data, then):
    """Right if the file is refused in our words; else what using the model leads to."""
    from maxmargin import ModelFileError, load

    try:
        model = load(data)
    except ModelFileError as error:
        return f"right: {error}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    return then(model)


def predicted(X):
    """Words for a model that predicts from a file that is not valid."""
    return lambda model: f"wrong: it predicts {str(model.predict(X)[0])[:60]}"


def chain_field(change):
    """A case: one field of the structure in the file of a chain model."""

    def case():
        data, X = chain_file()
        file = changed(data, lambda root, _: change(root["fitted"]["structure_"]["v"]))
        return refused_or(file, predicted(X))

    return case


def network_layout():
    """Features of edges at 10**9 in a model of networks."""
    from maxmargin import NetworkSVM, save

    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(4, 2)), [[0, 1], [1, 2]]) for _ in range(4)]
    file = io.BytesIO()
    save(NetworkSVM(C=1.0, tol=0.5).fit(X, [[0, 1, 0, 1]] * 4), file)

    def change(root, _):
        root["fitted"]["structure_"]["v"]["layout"]["v"]["edge_width"] = 10**9

    return refused_or(changed(file.getvalue(), change), predicted(X))


def grammar_rules():
    """A grammar that claims rules for 10**9 labels."""
    from maxmargin import GrammarSVM, save

    X = [["N", "V"], ["N", "N", "V"]] * 2
    y = [("S", ("N", "a"), ("V", "b")),
         ("S", ("X", ("N", "a"), ("N", "b")), ("V", "c"))] * 2  # fmt: skip
    file = io.BytesIO()
    save(GrammarSVM(C=1.0, tol=0.5).fit(X, y), file)

    def change(root, _):
        rules = root["fitted"]["structure_"]["v"]["productions"]["v"]["rules"]["v"]
        rules["labels"] = 10**9

    return refused_or(changed(file.getvalue(), change), predicted(X))


def server_in_a_file():
    data, X = chain_file()
    with socket.create_server(("127.0.0.1", 0)) as server:
        calls = []

        def answer():
            connection, _ = server.accept()
            calls.append(1)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def change(root, _):
            root["params"]["engine"] = address

        def then(model):
            def ask():
                try:
                    model.predict(X)
                except Exception as error:
                    calls.append(error)

            threading.Thread(target=ask, daemon=True).start()
            by = time.monotonic() + 60
            while not calls and time.monotonic() < by:
                time.sleep(0.1)
            return f"wrong: loaded, and the server was {'' if calls else 'not '}called"

        return refused_or(changed(data, change), then)


def server_in_an_estimator_inside():
    from maxmargin import MulticlassSVM, PathCV, save

    X = np.random.default_rng(0).normal(size=(20, 2))
    file = io.BytesIO()
    save(PathCV(MulticlassSVM(), [0.1, 1.0], cv=2).fit(X, X[:, 0] > 0), file)

    def change(root, _):
        root["params"]["estimator"]["params"]["engine"] = "tcp://127.0.0.1:9"

    return refused_or(changed(file.getvalue(), change), lambda m: "wrong: loaded")


class Trap:
    """An output whose unpickling is noticed."""

    opened = 0

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return opened_trap, (self.value,)


def opened_trap(value):
    Trap.opened += 1
    return Trap(value)


class Halves:
    """y = (shown, hidden): psi is the sum of both entries of x."""

    dim = 2

    def joint_feature(self, x, y):
        return np.array([x[y.value[0]], x[2 + y.value[1]]])

    def loss(self, truth, y):
        return float(truth.value[0] != y.value[0])

    def argmax(self, w, x, truth=None):
        every = [Trap((a, b)) for a in range(2) for b in range(2)]
        return max(
            every,
            key=lambda y: (
                w @ self.joint_feature(x, y)
                + (truth is not None and self.loss(truth, y))
            ),
        )

    def complete(self, w, x, y):
        every = [Trap((y.value[0], b)) for b in range(2)]
        return every[0] if w is None else max(
            every, key=lambda z: w @ self.joint_feature(x, z)
        )  # fmt: skip


def pickles_in_a_file():
    from maxmargin import StructuralSVM, load, save

    X = list(np.random.default_rng(0).normal(size=(8, 4)))
    y = [Trap((int(x[0] > x[1]), 0)) for x in X]
    file = io.BytesIO()
    save(StructuralSVM(Halves(), C=1.0, max_iter=20).fit(X, y), file)
    begin = np.frombuffer(pickle.dumps(y[0], protocol=5)[:8], np.uint8)
    with zipfile.ZipFile(file) as archive:
        members = [archive.read(name) for name in archive.namelist()]
    there = any(begin.astype(np.int32).tobytes() in member for member in members)
    Trap.opened = 0
    load(io.BytesIO(file.getvalue()), own=Halves)
    told = f"pickles in the file: {there}, opened by load: {Trap.opened}"
    return f"{'wrong' if there or Trap.opened else 'right'}: {told}"


def absurd_scalar():
    """A file of a few kB that names a text of two gigabytes."""
    data, _ = chain_file()

    def change(root, _):
        root["params"]["random_state"] = {
            "!": "scalar", "type": "<U500000000", "v": "x"
        }  # fmt: skip

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = refused_or(changed(data, change), lambda model: "right: loaded")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    return told if grown < 100 else f"wrong: {grown:.0f} MB were taken"


def large_array():
    """How much memory an array of 160 MB takes to load, at the peak."""
    from maxmargin import load

    data, _ = chain_file()
    out = io.BytesIO()
    np.save(out, np.arange(2e7))

    def change(root, parts):
        node = {"!": "array", "v": len(parts) - 2}
        root["fitted"]["structure_"]["v"]["legal"] = node
        parts[f"arrays/{len(parts) - 2}.npy"] = out.getvalue()

    with tempfile.NamedTemporaryFile(suffix=".mm") as file:
        file.write(changed(data, change).getvalue())
        file.flush()
        out = None
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = resident("VmRSS")
        try:
            load(file.name)
        except Exception as error:
            print(f"it ends in {type(error).__name__}", file=sys.stderr)
        grown = (resident("VmHWM") - before) / 1e6
    told = f"an array of 160 MB takes {grown:.0f} MB"
    return f"right: {told}" if grown < 220 else f"wrong: {told}"


def resident(kind):
    """VmHWM (peak) or VmRSS (now), in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(s.split()[1]) for s in lines if s.startswith(kind))


def motif_of_a_huge_order():
    from maxmargin import MotifSVM, save

    X, y = ["ccTATAgc", "gTATAccg", "gcgcgccg", "ccggcgcc"], [1, 1, 0, 0]
    file = io.BytesIO()
    save(MotifSVM(4, 0, random_state=0, restarts=1, C=1.0).fit(X, y), file)

    def change(root, _):
        root["fitted"]["structure_"]["v"]["order"] = 100000

    return refused_or(changed(file.getvalue(), change), predicted(X))
