"""Files as people name them: paths, gzip, "-" for standard input and output."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from maxmargin.cli.errors import InputError

STANDARD = "-"


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
        if name == STANDARD:
            return self._unpacked(sys.stdin.buffer, "standard input")
        with open(name, "rb") as file:
            start = file.read(4)
        if start == b"PK\x03\x04":
            raise InputError(
                f"{name} is a zip file, perhaps a model: data are text, plain or gzip"
            )
        if start[:2] != b"\x1f\x8b":
            return name
        with open(name, "rb") as file:
            return self._unpacked(file, name)

    def _unpacked(self, file: IO[bytes], name: str) -> str:
        path = os.path.join(self._folder.name, f"{len(self._names)}.txt")
        buffered = io.BufferedReader(file) if not hasattr(file, "peek") else file  # type: ignore[type-var,arg-type]
        packed = buffered.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
        with open(path, "wb") as out:
            source: Any = gzip.GzipFile(fileobj=buffered) if packed else buffered  # type: ignore[call-overload]
            try:
                shutil.copyfileobj(source, out)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise InputError(f"{name} is damaged gzip ({error})") from None
        self._names[path] = name
        return path

    def named(self, message: str) -> str:
        """The message with the names that people gave."""
        for path, name in self._names.items():
            message = message.replace(path, name)
        return message


@contextmanager
def output_path(name: str) -> Iterator[str]:
    """A path to write to; what is written goes to standard output for "-"."""
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


def model_source(name: str) -> Any:
    """What `load` takes: a path, or the bytes of standard input."""
    return io.BytesIO(sys.stdin.buffer.read()) if name == STANDARD else name
