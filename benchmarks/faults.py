"""Every open, write, sync and rename of save, checkpoint and encode fails once.

    python -m benchmarks.faults [--json FILE]

As SQLite is tested: an action is run once to count its operations on files; then it is
run again for each operation and each kind of fault. The operation fails with ENOSPC, EIO or
EACCES, the folder vanishes before it, or the process is killed in the middle of it. In
the end the old file or the new one must be whole, and training must end with the
weights of an undisturbed run, or continue to them.
"""

import argparse
import builtins
import errno
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np

from maxmargin import ChainSVM, Checkpoint, MulticlassSVM, load, save
from maxmargin.estimators.saving import checkpoint
from maxmargin.structures.chain import encode_sequences, open_encoded

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}
FAULTS = (*ERRORS, "vanished", "killed")


class Faults:
    """Counts operations on files below `folder`; operation number `at` goes wrong."""

    def __init__(self, folder, at=-1, fault=""):
        self.folder, self.at, self.fault, self.count = Path(folder), at, fault, 0
        self.kinds = []

    def strike(self, kind, half=None):
        """Called before an operation; `half` does a part of it."""
        self.count += 1
        self.kinds.append(kind)
        if self.count - 1 != self.at:
            return
        if self.fault == "vanished":
            shutil.rmtree(self.folder)
            return
        if half is not None:
            half()
        if self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(ERRORS[self.fault], os.strerror(ERRORS[self.fault]))

    def __enter__(self):
        self.real = builtins.open, os.fsync, os.replace, os.mkdir
        real_open, fsync, replace, mkdir = self.real

        def opened(path, mode="r", *rest, **more):
            if not set(mode) & set("wax+") or not self._ours(path):
                return real_open(path, mode, *rest, **more)
            self.strike("open")
            return File(real_open(path, mode, *rest, **more), self)

        def synced(number):
            self.strike("fsync")
            return fsync(number)

        def renamed(old, new, **more):
            self.strike("replace")
            return replace(old, new, **more)

        def made(path, *rest, **more):
            if self._ours(path):
                self.strike("mkdir")
            return mkdir(path, *rest, **more)

        builtins.open, os.fsync, os.replace, os.mkdir = opened, synced, renamed, made
        return self

    def __exit__(self, *_):
        builtins.open, os.fsync, os.replace, os.mkdir = self.real

    def _ours(self, path):
        return isinstance(path, str | Path) and self.folder in Path(path).parents


class File:
    """A file whose writes are counted."""

    def __init__(self, file, faults):
        self.file, self.faults = file, faults

    def write(self, data):
        def half():
            self.file.write(bytes(data)[: len(data) // 2])
            self.file.flush()

        self.faults.strike("write", half)
        return self.file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)


class Save:
    """A model file that is written over an older one."""

    name = "save"

    def __init__(self):
        X = np.random.default_rng(0).normal(size=(30, 3))
        self.X, y = X, (X[:, 0] > 0).astype(int)
        self.old = MulticlassSVM(C=0.01).fit(X, y)
        self.new = MulticlassSVM(C=10.0).fit(X, y)

    def prepare(self, folder):
        save(self.old, folder / "model.mm")

    def act(self, folder):
        save(self.new, folder / "model.mm")

    def check(self, folder, fault):
        if fault == "vanished" and not (folder / "model.mm").exists():
            return
        found = load(folder / "model.mm").coef_.tobytes()
        assert found in (self.old.coef_.tobytes(), self.new.coef_.tobytes())
        left = [p.name for p in folder.iterdir() if p.name != "model.mm"]
        assert fault == "killed" or not left, left


class Train:
    """Training with a checkpoint at each step."""

    name = "checkpoint"

    def __init__(self):
        rng = np.random.default_rng(0)
        self.X = [rng.normal(size=(4, 3)) for _ in range(20)]
        self.y = [(x[:, 0] + rng.normal(size=4) > 0).astype(int) for x in self.X]
        self.made = lambda **more: ChainSVM(tol=1e-2, solver="one-slack", **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.whole = self.made().fit(self.X, self.y).coef_.tobytes()

    def prepare(self, folder):
        pass

    def act(self, folder):
        where = Checkpoint(folder / "run.ck", every=0.0)
        with warnings.catch_warnings(), mock.patch.object(checkpoint, "SHARE", 1e9):
            warnings.simplefilter("ignore")
            model = self.made(checkpoint=where).fit(self.X, self.y)
        assert model.coef_.tobytes() == self.whole, "training has lost its weights"

    def check(self, folder, fault):
        folder.mkdir(exist_ok=True)
        self.act(folder)  # continues, or begins anew, and ends with the same weights
        left = [p.name for p in folder.iterdir()]
        assert not left, left


class Encode:
    """Sequences that are encoded into a folder that has older ones."""

    name = "encode"

    def __init__(self):
        words = ["Ann", "ran", "fast", ".", "Bob", "sat", "."]
        self.first = [([[[w] for w in words[:4]]], [list("NVA.")])]
        self.second = [*self.first, ([[[w] for w in words[4:]]], [list("NV.")])]

    def prepare(self, folder):
        encode_sequences(self.first, folder / "data")

    def act(self, folder):
        encode_sequences(self.second, folder / "data")

    def check(self, folder, fault):
        if fault == "vanished" and not (folder / "data" / "meta.json").exists():
            return
        data = open_encoded(folder / "data")
        assert (data.n, len(data.truth.data)) in ((1, 4), (2, 7))
        folders = [p for p in (folder / "data").iterdir() if p.is_dir()]
        assert fault in ("killed", "vanished") or len(folders) == 1, folders


def tried(action, at, fault):
    """What one fault led to; AssertionError if something was lost."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "files"
        folder.mkdir()
        action.prepare(folder)
        if fault == "killed":
            pid = os.fork()
            if pid == 0:
                with Faults(folder, at, fault):
                    action.act(folder)
                os._exit(0)
            ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            outcome = "killed" if ended == -signal.SIGKILL else f"exit {ended}"
        else:
            try:
                with Faults(folder, at, fault):
                    action.act(folder)
                outcome = "went on"
            except OSError:
                outcome = "told"
        action.check(folder, fault)
        return outcome


def operations(action):
    """Kinds of the operations of an undisturbed action."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "files"
        folder.mkdir()
        action.prepare(folder)
        with Faults(folder) as counted:
            action.act(folder)
        return counted.kinds


def run(action, faults=FAULTS, every=1):
    """Outcomes of all faults at every operation (or at one in `every`)."""
    outcomes, lost = Counter(), []
    kinds = operations(action)
    for at in range(0, len(kinds), every):
        for fault in faults:
            try:
                outcomes[fault, tried(action, at, fault)] += 1
            except Exception as error:
                lost.append((action.name, at, kinds[at], fault, repr(error)))
    return kinds, outcomes, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    args = parser.parse_args()
    told, bad = {}, []
    for made in (Save, Train, Encode):
        kinds, outcomes, lost = run(made())
        bad += lost
        told[made.name] = {
            "operations": dict(Counter(kinds)),
            "trials": sum(outcomes.values()) + len(lost),
            "outcomes": {f"{a}: {b}": n for (a, b), n in sorted(outcomes.items())},
            "lost": len(lost),
        }
    print(json.dumps(told, indent=1))
    for each in bad:
        print(*each, file=sys.stderr)
    if args.json:
        Path(args.json).write_text(json.dumps(told, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
