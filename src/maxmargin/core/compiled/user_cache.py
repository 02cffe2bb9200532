"""The folder where compiled loops are kept for later runs, safe from other users.

What is read from here is run, so nobody else may be able to write it. The folder is the
first of

    MAXMARGIN_CACHE_DIR, NUMBA_CACHE_DIR/maxmargin, the user's cache folder/maxmargin

that can be used; it is made with permissions for its owner alone, and used only if it
belongs to the user who runs the process (or to root) and neither it nor a file in it can
be written by others. Where no folder can be used, loops are compiled for each process
anew, and `problem` says why.

A file is named by the hash of all that its contents depend on and is put in its place in
one step, so that processes that compile the same loop at the same time do not disturb
each other. It begins with a checksum. Files that have not been read for `KEPT_DAYS` are
removed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

KEPT_DAYS = 90
DAY = 86400.0
CHECKSUM = 16  # bytes in front of the data
SUFFIX = ".loop"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def candidate_folders() -> list[Path]:
    """Places for the cache, best first."""
    own = os.environ.get("MAXMARGIN_CACHE_DIR")
    if own:
        return [Path(own)]
    numba = os.environ.get("NUMBA_CACHE_DIR")
    if numba:
        return [Path(numba) / "maxmargin"]
    try:
        home = Path.home()
    except RuntimeError:  # neither HOME nor an entry in the list of users
        home = None
    return [base / "maxmargin" for base in _bases(home)]


def _bases(home: Path | None) -> list[Path]:
    """The user's cache folders by the custom of the platform."""
    named = {"win32": "LOCALAPPDATA"}.get(sys.platform, "XDG_CACHE_HOME")
    bases = [Path(os.environ[named])] if os.environ.get(named) else []
    if home is not None:
        custom = {"win32": "AppData/Local", "darwin": "Library/Caches"}
        bases.append(home / custom.get(sys.platform, ".cache"))
    return [base for base in bases if base.is_absolute()]


def why_untrusted(status: os.stat_result) -> str | None:
    """Why a file or folder may have been written by someone else; None if not so."""
    if os.name == "nt":  # profiles are private by their access lists
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to user {status.st_uid}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write it (mode {stat.S_IMODE(status.st_mode):o})"
    return None


class UserCache:
    """Bytes by name, in a private folder.

    Attributes
    ----------
    folder : Path or None
        Where they are; None where nothing can be kept.
    writable : bool
        False once something could not be written; what is there is still read.
    problem : str or None
        Why the cache cannot be used, or not be written.
    """

    def __init__(self, folders: list[Path] | None = None) -> None:
        self.folder: Path | None = None
        self.problem: str | None = "there is no home folder"
        self.writable = True
        self._swept = False
        for folder in candidate_folders() if folders is None else folders:
            self.problem = _unusable(folder)
            if self.problem is None:
                self.folder = folder
                break
            self.problem += "; name a folder of your own in MAXMARGIN_CACHE_DIR"

    def count(self) -> int:
        """How many files there are."""
        return 0 if self.folder is None else len(list(self.folder.glob(f"*{SUFFIX}")))

    def load(self, name: str) -> bytes | None:
        """What was saved under the name; None if nothing, or nothing to be trusted."""
        if self.folder is None:
            return None
        path = self.folder / (name + SUFFIX)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                if why_untrusted(status) is not None:
                    return None
                data = file.read()
        except OSError:
            return None
        if time.time() - status.st_mtime > DAY:
            with suppress(OSError):  # read-only
                os.utime(path)  # in use: see `_sweep`
        checksum, body = data[:CHECKSUM], data[CHECKSUM:]
        return body if checksum == _checksum(body) else None

    def save(self, name: str, data: bytes) -> bool:
        """Keep data under a name; returns whether that was possible."""
        if self.folder is None or not self.writable:
            return False
        half = self.folder / f".{uuid.uuid4().hex}.half"
        try:
            handle = os.open(half, _NEW_FILE, 0o600)
            with open(handle, "wb") as file:
                file.write(_checksum(data) + data)
            os.replace(half, self.folder / (name + SUFFIX))
            self._sweep()
        except OSError as error:  # read-only, a full disk, a folder that has gone
            self.writable, self.problem = False, f"{self.folder}: {error.strerror}"
            with suppress(OSError):
                half.unlink()
            return False
        return True

    def _sweep(self) -> None:
        """Remove, once per process, what has not been read for a long time."""
        if self._swept or self.folder is None:
            return
        self._swept = True
        before = time.time() - KEPT_DAYS * DAY
        with os.scandir(self.folder) as entries:
            for entry in entries:
                ours = entry.name.endswith((SUFFIX, ".half"))
                if ours and entry.stat().st_mtime < before:
                    Path(entry.path).unlink(missing_ok=True)


def _unusable(folder: Path) -> str | None:
    """Why a folder cannot hold the cache; it is made if it is not there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        hand = why_untrusted(folder.stat())
    except OSError as error:
        return f"{folder} cannot be made: {error.strerror}"
    if hand is not None:
        return f"{folder} is not safe: {hand}"
    return None


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECKSUM).digest()
