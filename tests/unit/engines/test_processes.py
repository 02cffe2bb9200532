"""Nothing stays behind when the parent of worker processes ends, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from maxmargin.core.compiled.compiling import compile_seconds, working_time
from maxmargin.engines import Processes

CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # may ignore both, as nohup does
import numpy as np
from maxmargin.engines import Processes

def slow(data, w, chunk):
    import os
    os.write(1, f"worker {os.getpid()}\\n".encode())  # at once: workers share the pipe
    time.sleep(60)

if __name__ == "__main__":
    engine = Processes(2)
    print("folder", engine._folder, flush=True)
    try:
        list(engine.ask(np.arange(10**5), slow, np.zeros(3), [1, 2]))
    finally:
        engine.close()
"""


def started(tmp_path):
    """A parent at work, its workers and its folder of shared data."""
    script = tmp_path / "parent.py"
    script.write_text(CHILD)
    parent = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True
    )
    workers, folder = [], None
    for line in parent.stdout:
        kind, value = line.split()
        if kind == "folder":
            folder = Path(value)
        else:
            workers.append(int(value))
        if len(workers) == 2:
            return parent, workers, folder
    raise AssertionError("the parent has ended early")


def runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_worker_and_no_data_stay_behind(name, tmp_path):
    parent, workers, folder = started(tmp_path)
    assert folder.is_dir() and all(map(runs, workers))
    os.kill(parent.pid, getattr(signal, name))
    parent.wait(120)
    parent.stdout.close()
    end = time.monotonic() + 30
    while time.monotonic() < end and (folder.exists() or any(map(runs, workers))):
        time.sleep(0.1)
    assert not folder.exists(), "shared memory is left"
    assert not any(map(runs, workers)), "workers are left"


def test_closing_removes_the_folder_and_ends_the_guard():
    engine = Processes(1)
    folder = engine._folder
    guard = engine._tidy.peek()[2][1]
    assert folder.is_dir() and guard.poll() is None
    engine.close()
    assert not folder.exists() and guard.poll() is not None


def test_compiling_in_workers_stops_the_clock():
    def compiles(data, w, chunk):
        import time

        from maxmargin.core.compiled.compiling import _compilations

        _compilations.seconds += 0.2 + chunk  # as if Numba had taken so long
        time.sleep(0.4)
        return chunk

    engine = Processes(1)
    try:
        begin, spent = working_time(), compile_seconds()
        wall = time.perf_counter()
        chunks = [0.0, 0.1, 0.0]
        assert list(engine.ask(np.zeros(3), compiles, np.zeros(2), chunks)) == chunks
        assert compile_seconds() - spent == pytest.approx(0.7)
        passed = time.perf_counter() - wall
        assert working_time() - begin == pytest.approx(passed - 0.7, abs=0.05)
    finally:
        engine.close()
