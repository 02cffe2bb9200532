"""Arrays that lie in files: opened, found again, and let go of.

Files are mapped copy-on-write, so that loops see arrays like any others; nothing is
ever written back.
"""

from __future__ import annotations

import mmap
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# What is read before pages are given back. Examples are visited in any order, and the
# system maps the neighbours of a page with it, hence the second bound.
BYTES, EXAMPLES = 2**18, 256


def open_array(
    path: str | Path, offset: int, dtype: str, shape: tuple[int, ...]
) -> np.ndarray:
    """An array in a file, from byte `offset` on."""
    if 0 in shape:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    try:
        array = np.memmap(path, dtype, "c", offset, shape)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{platform.node()} does not see {path}: the encoded data must lie in a "
            "folder that all workers share"
        ) from None
    return array.view(np.ndarray)


def root_of(array: Any) -> np.memmap | None:
    """The mapping that an array is a view of, if it is one."""
    root: Any = array
    while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
        root = root.base
    return root if isinstance(root, np.memmap) else None


def place_of(array: np.ndarray) -> tuple[str, int] | None:
    """File and offset of a view of a mapped file."""
    root = root_of(array)
    if root is None or root.filename is None:
        return None
    start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return str(root.filename), root.offset + start


class Pages:
    """The files that arrays among the inputs of n examples lie in, if any.

    `read` is told how many examples were looked at, and now and then gives the pages
    back; they stay on disk. The system would do so itself when memory is short; this
    keeps what a process is seen to use at what it needs.
    """

    def __init__(self, inputs: Any, n: int) -> None:
        self.files = list({id(root): root for root in _roots(inputs)}.values())
        size = sum(root.nbytes for root in self.files) / max(n, 1)
        self._often = int(np.clip(BYTES / max(size, 1.0), 1, EXAMPLES))
        self._since = 0

    def read(self, examples: int) -> None:
        """So many examples more were read."""
        if self.files:
            self._since += examples
            if self._since >= self._often:
                self.release()

    def pieces(self, n: int) -> Iterator[tuple[int, int]]:
        """Spans of n examples to visit one after the other: one span without files."""
        size = self._often if self.files else max(n, 1)
        for s in range(0, n, size):
            yield s, min(s + size, n)
            self.read(size)

    def release(self) -> None:
        """Give the pages back now."""
        self._since = 0
        if hasattr(mmap, "MADV_DONTNEED"):
            for root in self.files:
                root._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _roots(inputs: Any) -> Iterator[np.memmap]:
    if isinstance(inputs, tuple):
        for item in inputs:
            yield from _roots(item)
    elif isinstance(inputs, np.ndarray):
        root = root_of(inputs)
        if root is not None:
            yield root
