"""Arrays in memory-mapped files: open them, find their file, free their memory.

Files are mapped copy-on-write, so that compiled loops see ordinary arrays; nothing is
ever written back.
"""

from __future__ import annotations

import mmap
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Pages are given back after so many bytes, or so many examples: examples are visited in
# any order, and the system maps the neighbours of a page along with it.
BYTES, EXAMPLES = 2**18, 256


def open_array(
    path: str | Path, offset: int, dtype: str, shape: tuple[int, ...]
) -> np.ndarray:
    """Map an array that begins at byte `offset` of a file."""
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
    """The mapped file that an array is a view of, or None."""
    root: Any = array
    while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
        root = root.base
    return root if isinstance(root, np.memmap) else None


def place_of(array: np.ndarray) -> tuple[str, int] | None:
    """File and offset of an array in a mapped file; None for other arrays."""
    root = root_of(array)
    if root is None or root.filename is None:
        return None
    start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return str(root.filename), root.offset + start


class Pages:
    """The memory-mapped files, if any, that hold the inputs of n examples.

    `touched` counts the examples that were read, and gives the pages of the files back
    to the system now and then. The system would do so itself when memory is short; this
    way the memory that a process is seen to use stays at what it needs.
    """

    def __init__(self, inputs: Any, n: int) -> None:
        self.files = list({id(root): root for root in _roots(inputs)}.values())
        size = sum(root.nbytes for root in self.files) / max(n, 1)
        self._often = int(np.clip(BYTES / max(size, 1.0), 1, EXAMPLES))
        self._since = 0

    def touched(self, examples: int) -> None:
        """Count examples that were read; give pages back when there were many."""
        if self.files:
            self._since += examples
            if self._since >= self._often:
                self.release()

    def spans(self, n: int) -> Iterator[tuple[int, int]]:
        """Spans of n examples to visit one after the other; a single one without files.

        Pages are given back between spans.
        """
        size = self._often if self.files else max(n, 1)
        for s in range(0, n, size):
            yield s, min(s + size, n)
            self.touched(size)

    def release(self) -> None:
        """Give the pages back now."""
        self._since = 0
        if sys.platform != "win32":
            for root in self.files:
                if isinstance(root.base, mmap.mmap):
                    root.base.madvise(mmap.MADV_DONTNEED)


def _roots(inputs: Any) -> Iterator[np.memmap]:
    if isinstance(inputs, tuple):
        for item in inputs:
            yield from _roots(item)
    elif isinstance(inputs, np.ndarray):
        root = root_of(inputs)
        if root is not None:
            yield root
