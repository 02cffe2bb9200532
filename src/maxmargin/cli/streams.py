"""Files as people name them: paths, gzip, "-" for standard input and output."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from maxmargin.cli.errors import InputError, UsageError

STANDARD = "-"
ZIP = b"PK\x03\x04"  # how zip files begin, models among them


class Inputs:
    """Plain files for readers that want a path, and the names people gave them."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="maxmargin-")
        self._names: dict[str, str] = {}

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: Any) -> None:
        self._folder.cleanup()

    def plain(self, name: str) -> str:
        """A path to the unpacked content of a file, or of standard input."""
        path, shown = name, name
        if name == STANDARD:
            shown = "standard input"
            path = self._copy(sys.stdin.buffer, shown)
        with open(path, "rb") as file:
            start = file.read(4)
        if start == ZIP:
            raise InputError(
                f"{shown} is a zip file, perhaps a model: data are text, plain or gzip"
            )
        if start[:2] != b"\x1f\x8b":
            return path
        with gzip.open(path, "rb") as packed:
            try:
                return self._copy(packed, shown)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InputError(f"{shown} is damaged gzip ({error})") from None

    def _copy(self, source: IO[bytes] | gzip.GzipFile, name: str) -> str:
        """Copy to a temporary file, which messages call by `name`."""
        folder = os.path.join(self._folder.name, str(len(self._names)))
        os.mkdir(folder)
        base = os.path.basename(name).removesuffix(".gz") or "data"
        path = os.path.join(folder, base)
        self._names[path] = name
        with open(path, "wb") as out:
            shutil.copyfileobj(source, out)
        return path

    def named(self, message: str) -> str:
        """The message with the names that people gave."""
        for path, name in self._names.items():
            message = message.replace(path, name)
        return message


@contextmanager
def output_path(name: str, read: Sequence[str] = ()) -> Iterator[str]:
    """A path to write to; what is written goes to standard output for "-".

    Files that the command has read, and models, are not overwritten.
    """
    check_not_read(name, read)
    if _is_zip(name):
        raise UsageError(
            f"{name} is a model or another zip file: write to another file"
        )
    if name != STANDARD:
        yield name
        return
    with tempfile.TemporaryDirectory(prefix="maxmargin-") as folder:
        path = os.path.join(folder, "out")
        Path(path).touch()
        yield path
        sys.stdout.flush()
        with open(path, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()


def check_not_read(name: str, read: Sequence[str]) -> None:
    """Refuse to overwrite a file that the command reads."""
    for other in read:
        files = STANDARD not in (name, other) and all(
            map(os.path.exists, (name, other))
        )
        if files and os.path.samefile(name, other):
            raise UsageError(
                f"{name} is read by this command, which would overwrite it: write to "
                "another file"
            )


def check_model_place(name: str, read: Sequence[str]) -> None:
    """Refuse to overwrite a file that is no model, such as data without a model's name."""
    check_not_read(name, read)
    if os.path.isfile(name) and os.path.getsize(name) > 0 and not _is_zip(name):
        raise UsageError(
            f"{name} exists and is no model, so it is not overwritten: the last file of "
            "train is the model to write, as in maxmargin train DATA model.mm"
        )


def _is_zip(name: str) -> bool:
    if name == STANDARD or not os.path.isfile(name):
        return False
    with open(name, "rb") as file:
        return file.read(4) == ZIP


def model_source(name: str) -> Any:
    """What `load` takes: a path, or the bytes of standard input."""
    return io.BytesIO(sys.stdin.buffer.read()) if name == STANDARD else name
