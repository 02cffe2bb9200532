"""Files that are replaced at once; locks that name their holder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maxmargin.core.data.safe_files import InUseError, Lock, remove_halves, replace_file

HOLD = """
import sys, time
from pathlib import Path
from maxmargin.core.data.safe_files import Lock
with Lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_names_the_process_that_holds_it(tmp_path):
    path = tmp_path / "run.ck"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InUseError, match=f"in use by process {other.pid} on "):
            Lock(path).__enter__()
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    with Lock(path):  # the system has freed it
        pass
    assert list(tmp_path.iterdir()) == []


def test_halves_of_dead_processes_are_removed_and_nothing_else(tmp_path):
    """Version 0.1 removed what another run was writing, and files of the user."""
    path = tmp_path / "run.ck"
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    import maxmargin.core.data.safe_files as files

    def half(pid, node=None):
        name = f".run.ck.{node or files._node()}-{pid}-0123abcd.part"
        (tmp_path / name).write_bytes(b"")
        return name

    gone = half(dead.pid)
    kept = {half(os.getpid()), half(dead.pid, "elsewhere")}
    for name in (".run.ck.mine-notes123", ".run.ck.1-abcdefgh", "run.ck.part"):
        (tmp_path / name).write_bytes(b"")
        kept.add(name)
    remove_halves(path)
    left = {p.name for p in tmp_path.iterdir()}
    assert left == kept and gone not in left


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    replace_file(path, b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, full)
            with pytest.raises(OSError, match="No space left"):
                replace_file(path, b"new")
        assert path.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        replace_file(Path(tmp_path / "nowhere" / "file"), b"new")
