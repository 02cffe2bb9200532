"""Checkpoints: a run that was killed goes on, step for step as if it had not been."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from small.runs import RUNS, points

from maxmargin import (
    ChainSVM,
    Checkpoint,
    KernelSVM,
    ModelFileError,
    MotifSVM,
    MulticlassSVM,
)
from maxmargin.estimators.saving import digest
from maxmargin.structures import Matching


class Killed(Exception):
    pass


def kill_at(step):
    def watch(row):
        if row["iteration"] == step:
            raise Killed

    return watch


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_resumed_run_takes_the_same_steps(name, tmp_path):
    made, data, step = RUNS[name]
    X, y = data()
    whole = made().fit(X, y)
    assert whole.result_.iterations > step
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    for at in (step, step + 1):  # killed twice
        with pytest.raises(Killed):
            made(checkpoint=where, callbacks=kill_at(at)).fit(X, y)
        assert where.path.exists()
    again = made(checkpoint=where).fit(X, y)
    assert again.result_.w.tobytes() == whole.result_.w.tobytes()
    assert again.result_.dual == whole.result_.dual
    assert again.result_.status is whole.result_.status
    now, then = again.result_.history, whole.result_.history
    for column in ("iteration", "dual", "oracle_calls"):
        assert (now[column] == then[column]).all()
    assert where.path.exists() != again.result_.converged


def test_a_kernel_machine_of_two_classes_is_resumed(tmp_path):
    X, y = points(200)
    settings = {"C": 100.0, "gamma": 2.0, "tol": 1e-7}
    whole = KernelSVM(**settings).fit(X, y > 0).result_
    assert whole.converged and whole.iterations > 4
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    with pytest.raises(Killed):
        KernelSVM(**settings, checkpoint=where, callbacks=kill_at(3)).fit(X, y > 0)
    again = KernelSVM(**settings, checkpoint=where).fit(X, y > 0).result_
    assert again.iterations == whole.iterations
    # Columns of the Gram matrix are computed in other batches: rounding differs.
    assert again.dual == pytest.approx(whole.dual, rel=1e-12)


def test_a_kernel_machine_of_several_classes_is_resumed(tmp_path):
    X, y = points(600)
    settings = {"C": 10.0, "gamma": 0.5, "tol": 1e-4}
    whole = KernelSVM(**settings).fit(X, y).result_
    assert whole.iterations > 3
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    with pytest.raises(Killed):
        KernelSVM(**settings, checkpoint=where, callbacks=kill_at(3)).fit(X, y)
    again = KernelSVM(**settings, checkpoint=where).fit(X, y).result_
    assert again.converged
    # Columns of the Gram matrix are computed in other batches: rounding differs.
    assert again.history["dual"][:3] == pytest.approx(whole.history["dual"][:3])
    assert again.dual == pytest.approx(whole.dual, rel=2e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hidden_parts_go_on_within_the_convex_problem(tmp_path):
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"] * 2
    y = [1, 1, 1, 0, 0, 0] * 2
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    settings = {"length": 4, "order": 0, "C": 1.0, "random_state": 0, "restarts": 3}
    whole = MotifSVM(**settings).fit(X, y)
    count = [0]  # steps of all rounds and starts

    def watch(row):
        count[0] += 1
        if count[0] == len(whole.result_.history):
            raise Killed

    with pytest.raises(Killed):
        MotifSVM(**settings, callbacks=watch, checkpoint=where).fit(X, y)
    again = MotifSVM(**settings, checkpoint=where).fit(X, y)
    assert again.result_.w.tobytes() == whole.result_.w.tobytes()
    assert again.result_.primal == whole.result_.primal
    assert (again.result_.outer["objective"] == whole.result_.outer["objective"]).all()
    assert len(again.result_.history) == len(whole.result_.history)


def test_other_data_and_settings_are_refused(tmp_path):
    X, y = points()
    where = tmp_path / "run.ck"
    with pytest.warns(ConvergenceWarning):
        MulticlassSVM(tol=1e-9, max_iter=2, checkpoint=where).fit(X, y)
    assert where.exists()
    for model, data in (
        (MulticlassSVM(checkpoint=where), (X + 1e-9, y)),
        (MulticlassSVM(C=0.3, checkpoint=where), (X, y)),
        (MulticlassSVM(rescaling="slack", loss=[[0, 1, 2], [1, 0, 1], [1, 1, 0]],
                       checkpoint=where), (X, y)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="other data or with other settings"):
            model.fit(*data)
    more = MulticlassSVM(tol=1e-3, checkpoint=where).fit(X, y)  # limits may change
    assert more.result_.converged
    assert not where.exists()
    where.write_bytes(b"something else")
    with pytest.raises(ModelFileError):
        MulticlassSVM(checkpoint=where).fit(X, y)
    with pytest.raises(ValueError, match="no folder"):
        MulticlassSVM(checkpoint=tmp_path / "a" / "b").fit(X, y)


@pytest.mark.parametrize(
    ("method", "solver"),
    [
        ("sampled", "SampledCuts"),
        ("cpsp", "Subspace"),
        ("sampled-as-written", "SampledCutsAsWritten"),
        ("cpsp-as-written", "SubspaceAsWritten"),
    ],
)
def test_a_method_without_checkpoints_says_so(method, solver, tmp_path):
    model = KernelSVM(kernel_method=method, checkpoint=tmp_path / "run.ck")
    with pytest.raises(ValueError, match=f"{solver} writes no checkpoints"):
        model.fit(*points())


def test_the_digest_sees_what_matters():
    assert digest({"a": np.arange(3)}) != digest({"a": np.arange(3.0)})
    assert digest([b"1"]) != digest(["1"])
    assert digest(Matching()) == digest(Matching())
    out = subprocess.run(
        [sys.executable, "-c", "from maxmargin.estimators.saving.checkpoint import digest;"
         "print(digest([{'x', 'y', 'z'}, (1, None), {'k': 2.5}]))"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "77"},
    )  # fmt: skip
    assert out.stdout.strip() == digest([{"x", "y", "z"}, (1, None), {"k": 2.5}])


RUN = """
import sys, time
import numpy as np
from maxmargin import Checkpoint, StructuralSVM
from maxmargin.structures.classes import Multiclass
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 10))
y = (X @ rng.normal(size=(10, 4)) + 2.0 * rng.normal(size=(400, 4))).argmax(axis=1)
def watch(row):
    print("step", row["iteration"], flush=True)
    time.sleep(0.02)
model = StructuralSVM(Multiclass(), C=0.5, tol=1e-7, solver="block-dual",
                      callbacks=watch, checkpoint=Checkpoint(sys.argv[1], every=0.0))
try:
    model.fit(X, y)
except KeyboardInterrupt:
    pass
print("end", model.result_.status.name, repr(model.result_.primal), flush=True)
"""


def started(path):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUN, str(path)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_sigkill_and_sigterm(tmp_path):
    """Killed twice, then ended politely, then left alone."""
    path = tmp_path / "run.ck"
    for _ in range(2):
        process = started(path)
        for line in process.stdout:
            if path.exists() and line.startswith("step"):
                break
        time.sleep(0.05)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    process = started(path)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert "end INTERRUPTED" in said[-1] or "end CONVERGED" in said[-1]
    said = started(path).communicate()[0].splitlines()
    assert said[-1].startswith("end CONVERGED")
    primal = float(said[-1].split()[-1])
    alone = started(tmp_path / "other.ck").communicate()[0].splitlines()[-1]
    assert primal == float(alone.split()[-1])
    assert list(Path(tmp_path).iterdir()) == []


def test_ctrl_c_keeps_the_best_weights():
    X, y = points()

    def watch(row):
        if row["iteration"] == 3:
            raise KeyboardInterrupt

    model = MulticlassSVM(tol=1e-12, callbacks=watch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.result_.status.name == "INTERRUPTED"
    assert np.isfinite(model.result_.gap)
    assert model.score(X, y) > 0.5


def test_what_is_no_place_for_a_checkpoint_is_refused(tmp_path):
    X, y = [[["a"], ["b"]]], [["N", "V"]]
    with pytest.raises(TypeError, match="checkpoint=5: give a path"):
        ChainSVM(checkpoint=5).fit(X, y)
    with pytest.raises(ValueError, match="must not be negative"):
        ChainSVM(checkpoint=Checkpoint(tmp_path / "run.ck", every=-1.0)).fit(X, y)
