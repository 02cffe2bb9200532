"""Arrays that lie in files: opened, found again, and let go of.

Files are mapped copy-on-write, so that loops see arrays like any others; nothing is
ever written back.
"""

from __future__ import annotations

import mmap
import platform
from pathlib import Path
from typing import Any

import numpy as np


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


def release(inputs: Any) -> None:
    """Give back the pages of mapped arrays among encoded inputs; they stay on disk.

    The system would do so itself when memory is short; this keeps what a process is
    seen to use at what it needs.
    """
    if isinstance(inputs, tuple):
        for item in inputs:
            release(item)
    elif isinstance(inputs, np.ndarray):
        root = root_of(inputs)
        if root is not None and hasattr(mmap, "MADV_DONTNEED"):
            root._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
