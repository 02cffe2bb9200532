"""Faults while checkpoints, models and encoded folders are written; locks; signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks import faults  # noqa: E402
from maxmargin import ChainSVM, Checkpoint  # noqa: E402
from maxmargin.core import InUseError, Lock  # noqa: E402
from maxmargin.io.model_file import describe  # noqa: E402


@pytest.mark.parametrize("made", [faults.Save, faults.Encode])
def test_no_fault_loses_a_file(made):
    """`benchmarks/faults.py` tries all operations."""
    kinds, outcomes, lost = faults.run(
        made(), ("ENOSPC", "vanished", "killed"), every=4
    )
    assert lost == []
    assert {"open", "write", "fsync", "replace"} <= set(kinds)
    assert outcomes["killed", "killed"] > 0 and outcomes["ENOSPC", "told"] > 0


def test_no_fault_loses_training():
    _, outcomes, lost = faults.run(faults.Train(), ("ENOSPC", "vanished", "killed"), 31)
    assert lost == []
    assert outcomes["ENOSPC", "went on"] > 0 and outcomes["killed", "killed"] > 0


def data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(20)]
    return X, [(x[:, 0] + rng.normal(size=4) > 0).astype(int) for x in X]


def test_a_checkpoint_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch):
    X, y = data()
    whole = ChainSVM(tol=1e-2, solver="one-slack").fit(X, y)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    where = Checkpoint(tmp_path / "run.ck", every=0.0)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        model = ChainSVM(tol=1e-2, solver="one-slack", checkpoint=where).fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_a_second_run_on_a_live_checkpoint_is_refused(tmp_path):
    X, y = data()
    path = tmp_path / "run.ck"
    with (
        Lock(path),
        pytest.raises(InUseError, match=f"in use by process {os.getpid()} on "),
    ):
        ChainSVM(checkpoint=path).fit(X, y)
    ChainSVM(checkpoint=path).fit(X, y)
    assert list(tmp_path.iterdir()) == []


CHILD = """
import sys, time
import numpy as np
from maxmargin import ChainSVM, Checkpoint
rng = np.random.default_rng(0)
X = [rng.normal(size=(4, 3)) for _ in range(20)]
y = [(x[:, 0] + rng.normal(size=4) > 0).astype(int) for x in X]
def slow(row):
    print("step", flush=True)
    time.sleep(0.2)
model = ChainSVM(tol=1e-9, solver="subgradient", max_iter=1000, callbacks=slow,
                 checkpoint=Checkpoint(sys.argv[1]))
try:
    model.fit(X, y)
except KeyboardInterrupt:  # which reaches the caller; the best weights stay
    print(model.result_.status.name, flush=True)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_in_the_first_minute_leaves_a_checkpoint(name, tmp_path):
    path = tmp_path / "run.ck"
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(path)],
        stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        for _ in range(2):
            assert child.stdout.readline() == "step\n"
        child.send_signal(getattr(signal, name))
        rest = child.stdout.read().split()
        assert child.wait(60) == 0
    assert rest[-1] == "INTERRUPTED"
    assert path.exists()
    assert describe(path)["notes"]["kind"] == "checkpoint"
