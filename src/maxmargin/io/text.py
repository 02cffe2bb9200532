"""Lines of a text file, plain or gzip, with their numbers for error messages."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO


class FormatError(ValueError):
    """A file that does not follow its format; names file and line."""

    def __init__(self, path: str | Path, line: int, message: str) -> None:
        super().__init__(f"{path}, line {line}: {message}")


def numbered_lines(
    path: str | Path, encoding: str = "utf-8"
) -> Iterator[tuple[int, str]]:
    """(number from 1, line without its end) of each line."""
    with open_text(path, "rt", encoding) as file:
        number = 0
        try:
            for number, line in enumerate(file, 1):
                yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise FormatError(
                path,
                number + 1,
                f"not {encoding} text ({error.reason}): say which encoding it has "
                "(--encoding latin1, or encoding='latin1'), or convert the file, as in "
                "iconv -f latin1 -t utf-8",
            ) from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(path, number + 1, f"damaged gzip ({error})") from None


def read_lines(path: str | Path, encoding: str = "utf-8") -> list[str]:
    """All lines of a file, plain or gzip."""
    return [line for _, line in numbered_lines(path, encoding)]


def open_text(path: str | Path, mode: str, encoding: str = "utf-8") -> IO[str]:
    """Open as text; gzip by the name's end when writing, by content when reading.

    A byte order mark, which some editors put in front, is not part of the text.
    """
    path = Path(path)
    packed = path.suffix == ".gz"
    if "r" in mode:
        encoding = "utf-8-sig" if encoding == "utf-8" else encoding
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
    if packed:
        binary = gzip.GzipFile(path, mode.replace("t", "b"))
        return io.TextIOWrapper(binary, encoding=encoding)
    return path.open(mode, encoding=encoding)
