"""What is sent to other processes, and how: homes with their large arrays.

Arrays that are views of memory-mapped files travel as the name of the file and the
place in it, and are mapped again on arrival: data on disk are never copied. With a
`spool` folder other large arrays are written there first, so that all processes of one
machine share one copy. A parcel carries the versions it was made with, and refuses to
be opened by others: loops of another version may do other things.
"""

from __future__ import annotations

import io
import pickle
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin
from maxmargin.core.mapped import open_array, place_of

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 has it inside
    from joblib.externals import cloudpickle

LARGE = 2**16  # bytes from which on an array is worth a file of its own


class VersionMismatchError(RuntimeError):
    """Client and worker run different versions."""


def versions() -> dict[str, str]:
    """What must agree between the two ends."""
    out = {"python": ".".join(platform.python_version_tuple()[:2])}
    out["maxmargin"] = maxmargin.__version__
    for name in ("numpy", "numba"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "missing"
    return out


def check_versions(theirs: dict[str, str], where: str) -> None:
    """Refuse a worker whose versions differ; the sentence names them."""
    ours = versions()
    bad = [k for k in ours if theirs.get(k) != ours[k]]
    if bad:
        pairs = ", ".join(f"{k} {ours[k]} and {theirs.get(k, 'none')}" for k in bad)
        raise VersionMismatchError(
            f"client and worker ({where}) differ in {pairs}: install the same versions "
            "on both"
        )


class Parcel:
    """A home on its way: `home` at either end, bytes in between."""

    def __init__(self, home: Any) -> None:
        self.home = home

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel packed."""
        return (opened, (pack(self.home),))

    def __sizeof__(self) -> int:
        """Bytes of the arrays, for those who plan by it."""
        return 64 + _bytes_in(self.home, 6)


def opened(data: bytes) -> Parcel:
    """The parcel with these contents."""
    return Parcel(unpack(data))


def pack(home: Any, spool: Path | None = None) -> bytes:
    """Bytes of an object; mapped arrays as names of files."""
    file = io.BytesIO()
    try:
        _Pickler(file, spool).dump((versions(), home))
    except Exception as error:
        kind = type(getattr(home, "structure", home)).__name__
        raise TypeError(
            f"{kind} cannot be sent to other processes: {error}. Everything the "
            "structure holds must be picklable (no locks, open files, generators); "
            "engine='serial' and engine='threads' do not need this"
        ) from error
    return file.getvalue()


def unpack(data: bytes) -> Any:
    """The object that was packed."""
    theirs, home = pickle.loads(data)
    check_versions(theirs, platform.node())
    return home


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc, name-defined]
    def __init__(self, file: Any, spool: Path | None) -> None:
        super().__init__(file, protocol=5)
        self._spool = spool

    def reducer_override(self, thing: Any) -> Any:
        """Arrays of files as their names; large ones go to the spool, if there is one."""
        if isinstance(thing, np.ndarray) and thing.flags.c_contiguous and thing.size:
            place = place_of(thing)
            if place is None and self._spool is not None:
                place = _spooled(thing, self._spool)
            if place is not None:
                return open_array, (*place, thing.dtype.str, thing.shape)
        return super().reducer_override(thing)


def _spooled(array: np.ndarray, spool: Path) -> tuple[str, int] | None:
    if array.nbytes < LARGE or array.dtype.hasobject:
        return None
    path = spool / f"{len(list(spool.iterdir()))}.array"
    array.tofile(path)
    return str(path), 0


def _bytes_in(thing: Any, depth: int) -> int:
    if isinstance(thing, np.ndarray):
        return thing.nbytes if place_of(thing) is None else 0
    if depth == 0:
        return 0
    if isinstance(thing, tuple | list) and len(thing) < 100:
        return sum(_bytes_in(item, depth - 1) for item in thing)
    inside = getattr(thing, "__dict__", {})
    return sum(_bytes_in(item, depth - 1) for item in inside.values())
