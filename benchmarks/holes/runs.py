"""Processes, checkpoints, and a package without a home."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PARENT = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup ignores both
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import numpy as np
from maxmargin import StructuralSVM

class Slow:
    def joint_feature(self, x, y):
        return x * (2 * y - 1)
    def loss(self, truth, y):
        return float(truth != y)
    def argmax(self, w, x, truth=None):
        os.write(1, f"{os.getpid()}\\n".encode())
        time.sleep(20)
        return 1

if __name__ == "__main__":
    X = list(np.random.default_rng(0).normal(size=(400, 50000)))
    StructuralSVM(Slow(), C=1.0, engine="processes", n_jobs=2).fit(X, [0] * 400)
"""


def parent_ends(name):
    """A case: the parent of worker processes is ended by a signal."""

    def case():
        shared = set(os.listdir("/dev/shm"))
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "parent.py"
            script.write_text(PARENT)
            command = [sys.executable, "-W", "ignore", script]
            parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            worker = int(parent.stdout.readline())
            data = set(os.listdir("/dev/shm")) - shared
            os.kill(parent.pid, getattr(signal, name))
            parent.wait(120)
            by = time.monotonic() + 20
            while time.monotonic() < by and (
                runs(worker) or data & set(os.listdir("/dev/shm"))
            ):
                time.sleep(0.2)
            alive, left = runs(worker), len(data & set(os.listdir("/dev/shm")))
            if alive:
                os.kill(worker, signal.SIGKILL)
        told = f"worker {'runs on' if alive else 'ended'}, {left} shared folders left"
        return f"{'wrong' if alive or left else 'right'}: {told}"

    return case


def runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def training(folder, watch, **more):
    """A run of at most 30 steps with a checkpoint after each."""
    from maxmargin import ChainSVM, Checkpoint

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(20)]
    y = [(x[:, 0] + rng.normal(size=4) > 0).astype(int) for x in X]
    where = Checkpoint(Path(folder) / "run.ck", **more)
    model = ChainSVM(
        C=1.0, tol=1e-9, max_iter=30, solver="one-slack", checkpoint=where,
        callbacks=watch,
    )  # fmt: skip
    return model, X, y


def vanished_folder():
    """The folder of the checkpoint is removed while training runs."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "run"
        folder.mkdir()

        def watch(row):
            if row["iteration"] == 3:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()

        model, X, y = training(folder, watch, every=0.0)
        try:
            model.fit(X, y)
        except Exception as error:
            return f"wrong: {type(error).__name__} out of fit"
        return f"right: {model.result_.iterations} steps, weights kept"


def two_runs():
    """A second run on the checkpoint of a live one, which has a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        told = []

        def watch(row):
            if row["iteration"] == 3 and not told:
                half = Path(folder) / f".run.ck.{os.getpid()}-0badcafe"
                half.write_text("being written by the first run")
                pid = os.fork()
                if pid == 0:
                    model, X, y = training(folder, None, every=0.0)
                    try:
                        model.fit(X, y)
                    except Exception as error:
                        print(error, file=sys.stderr)
                        os._exit(3)
                    os._exit(0)
                ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                told.append((ended, half.exists()))

        model, X, y = training(folder, watch, every=0.0)
        model.fit(X, y)
    ended, there = told[0]
    if ended == 3 and there:
        return "right: the second run is refused, the file of the first is there"
    second = "refused" if ended else "trains"
    return f"wrong: the second run {second}, temporary file of the first there: {there}"


def ctrl_c():
    """Ctrl-C in the first minute, with the usual distance between checkpoints."""
    with tempfile.TemporaryDirectory() as folder:

        def watch(row):
            if row["iteration"] == 5:
                os.kill(os.getpid(), signal.SIGINT)

        model, X, y = training(folder, watch)
        with contextlib.suppress(KeyboardInterrupt):
            model.fit(X, y)
        there = (Path(folder) / "run.ck").exists()
    return f"{'right: a' if there else 'wrong: no'} checkpoint is left"


def no_home():
    """No folder of the package can hold compiled loops, and HOME is unusable.

    Where Python would make a folder `__pycache__` there is a file of that name: access
    rights would not stop root.
    """
    import maxmargin

    environment = {**os.environ, "HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("NUMBA_CACHE_DIR", "MAXMARGIN_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "maxmargin"
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(maxmargin.__file__).parent, package, ignore=leave)
        for inner in [package, *(p for p in package.rglob("*") if p.is_dir())]:
            (inner / "__pycache__").touch()
        code = "from maxmargin import ChainSVM; ChainSVM().fit([[['a']]], [['b']])"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True,
            env={**environment, "PYTHONPATH": folder}, cwd=folder,
        )  # fmt: skip
    if done.returncode:
        return f"wrong: {done.stderr.strip().splitlines()[-1][:200]}"
    return "right: imported and fitted"
