"""Files that are replaced at once; locks that name their holder."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from maxmargin.core.data.safe_files import (
    InUseError,
    Lock,
    _node,
    fcntl,
    remove_halves,
    replace_file,
)

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


@pytest.mark.skipif(os.name == "nt", reason="no process can be asked about there")
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


needs_locks = pytest.mark.skipif(fcntl is None, reason="no locks here")


@needs_locks
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_does_not_empty_the_file_that_a_link_leads_to(tmp_path, link):
    """In a folder that others may write to, the name of the lock can be taken."""
    mine = tmp_path / "thesis.txt"
    mine.write_text("years of work")
    link(mine, tmp_path / ".run.ck.lock")
    with pytest.raises(OSError, match="is a link"), Lock(tmp_path / "run.ck"):
        pass
    assert mine.read_text() == "years of work"


@needs_locks
def test_what_is_no_file_is_no_lock(tmp_path):
    os.mkfifo(tmp_path / ".run.ck.lock")
    with pytest.raises(OSError, match="no regular file"), Lock(tmp_path / "run.ck"):
        pass


@needs_locks
def test_the_holder_of_a_lock_is_told_in_plain_letters(tmp_path):
    """Whoever may write to the folder may write into the file of the lock."""
    with Lock(tmp_path / "run.ck"):
        who = {"process": 7, "host": "\x1b[2Jhost" + "x" * 500}
        (tmp_path / ".run.ck.lock").write_text(json.dumps(who))
        with pytest.raises(InUseError) as told, Lock(tmp_path / "run.ck"):
            pass
    assert "process 7" in str(told.value) and str(told.value).isprintable()
    assert len(str(told.value)) < 300 + len(str(tmp_path))


def test_a_half_of_a_process_that_cannot_be_is_left_alone(tmp_path):
    """No number of a process has so many digits: asking for it is an OverflowError."""
    odd = tmp_path / f".run.ck.{_node()}-{10**20}-0123abcd.part"
    odd.write_bytes(b"")
    replace_file(tmp_path / "run.ck", b"data")
    assert (tmp_path / "run.ck").read_bytes() == b"data" and odd.exists()


def test_no_process_is_asked_by_ctrl_c(tmp_path, monkeypatch):
    """On Windows os.kill(pid, 0) sends Ctrl-C to a run that is at work."""
    half = tmp_path / f".run.ck.{_node()}-{os.getpid()}-0123abcd.part"
    half.write_bytes(b"")
    sent = []
    with monkeypatch.context() as patched:
        patched.setattr(platform, "system", lambda: "Windows")
        patched.setattr(os, "kill", lambda *what: sent.append(what))
        remove_halves(tmp_path / "run.ck")
    assert sent == [] and half.exists()
