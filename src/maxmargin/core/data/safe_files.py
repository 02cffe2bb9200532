"""Files that are replaced at once or not at all, and locks between processes.

`replace_file` writes beside the file, syncs, and renames: whatever happens, a reader
finds the old file or the new one, whole. `Lock` says that a process is at work on a
file; the system frees it when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: locks are not taken there
    fcntl = None  # type: ignore[assignment]


class InUseError(RuntimeError):
    """Another run is at work on the same file."""


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` atomically: readers see the old file or the new one.

    What killed processes had half written is removed.
    """
    if not path.parent.is_dir():  # said of the folder, not of the temporary file
        raise FileNotFoundError(
            errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent)
        )
    temporary = path.with_name(
        f".{path.name}.{_node()}-{os.getpid()}-{secrets.token_hex(4)}.part"
    )
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # the error that led here says more
            temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    remove_halves(path)


def sync_folder(folder: Path) -> None:
    """Make sure that a rename survives a crash of the machine, where this can be done."""
    with contextlib.suppress(OSError):  # some systems cannot open folders
        at = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(at)
        finally:
            os.close(at)


def remove_halves(path: Path) -> None:
    """Remove what processes of this machine left that died while writing `path`."""
    own = re.compile(
        rf"\.{re.escape(path.name)}\.{_node()}-([0-9]{{1,9}})-[0-9a-f]{{8}}\.part"
    )
    with contextlib.suppress(OSError):  # tidying up is no reason to fail
        for other in path.parent.iterdir():
            found = own.fullmatch(other.name)
            if found and not _runs(int(found[1])):
                other.unlink()


def _node() -> str:
    """Name of this machine, as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9]", "", platform.node())[:32] or "here"


def _runs(pid: int) -> bool:
    if platform.system() == "Windows":  # signal 0 is Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, but is not ours
        return True
    return True


class Lock:
    """A lock on a file, held by one run at a time.

    Parameters
    ----------
    path : path
        What is worked on; the lock is a hidden file beside it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Lock(Path(folder) / "run.ck"):
    ...         try:
    ...             with Lock(Path(folder) / "run.ck"):
    ...                 pass
    ...         except InUseError as error:
    ...             print("is in use by process" in str(error))
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = path.with_name(f".{path.name}.lock")
        self._file: int | None = None

    def __enter__(self) -> Lock:
        """Take the lock; InUseError names the process that has it."""
        while fcntl is not None:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                holder = _holder(file)
                os.close(file)
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    return self  # a file system without locks
                raise InUseError(
                    f"{self.path} is in use by {holder}: wait until it ends, or name "
                    "another file"
                ) from None
            if self._is_current(file):
                self._file = file
                who = {"process": os.getpid(), "host": platform.node()}
                os.ftruncate(file, 0)
                os.pwrite(file, json.dumps(who).encode(), 0)
                return self
            os.close(file)  # its holder has removed it meanwhile: once more
        return self

    def _opened(self) -> int:
        """The file of the lock; what is no file of its own is not written to.

        Others may be allowed to write to the folder, and put a link to a file there.
        """
        links = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            file = os.open(self._place, os.O_RDWR | os.O_CREAT | links, 0o644)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise OSError(f"{self._place} is a link: remove it") from None
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_nlink < 2:
            return file
        os.close(file)
        what = "is a link" if stat.S_ISREG(found.st_mode) else "is no regular file"
        raise OSError(f"{self._place} {what}: remove it")

    def _is_current(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._place))
        except FileNotFoundError:
            return False

    def __exit__(self, *_: object) -> None:
        """Free the lock."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._place.unlink()
            os.close(self._file)
            self._file = None


def _holder(file: int) -> str:
    try:
        who = json.loads(os.pread(file, 1000, 0))
        host = re.sub(r"[^A-Za-z0-9_.-]", "", str(who["host"]))[:100]
        return f"process {int(who['process'])} on {host}"
    except (ValueError, KeyError, TypeError, OSError):
        return "another process"


@contextlib.contextmanager
def fresh_folder(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, removed again if the block fails."""
    made = parent / f"data-{secrets.token_hex(8)}"
    made.mkdir()
    try:
        yield made
    except BaseException:
        remove_folder(made)
        raise


def remove_folder(folder: Path) -> None:
    """Remove a folder of plain files, as far as this can be done."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
