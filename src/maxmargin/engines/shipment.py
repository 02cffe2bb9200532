"""How the data that all questions share are sent to other processes.

Arrays in memory-mapped files travel as the name of the file and the offset in it, and
are mapped again on arrival: data on disk are never copied. If there is a `spool` folder,
other large arrays are written to it first, so that all processes of one machine share
one copy. A shipment carries the versions of the packages it was made with and cannot be
opened by others, because compiled loops of another version may differ.
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
from maxmargin.core.data.mapped import open_array, place_of

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 has it inside
    from joblib.externals import cloudpickle

LARGE = 2**16  # bytes: larger arrays get a file of their own


class VersionMismatchError(RuntimeError):
    """Client and worker run different versions."""


def versions() -> dict[str, str]:
    """Versions that must agree between client and worker."""
    out = {"python": ".".join(platform.python_version_tuple()[:2])}
    out["maxmargin"] = maxmargin.__version__
    for name in ("numpy", "numba"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "missing"
    return out


def check_versions(theirs: dict[str, str], where: str) -> None:
    """Refuse a worker whose versions differ, and name them."""
    ours = versions()
    bad = [k for k in ours if theirs.get(k) != ours[k]]
    if bad:
        pairs = ", ".join(f"{k} {ours[k]} and {theirs.get(k, 'none')}" for k in bad)
        raise VersionMismatchError(
            f"client and worker ({where}) differ in {pairs}: install the same versions "
            "on both"
        )


class Shipment:
    """Shared data that pickle in packed form.

    Parameters
    ----------
    content : object
        The shared data themselves, at either end of the way.
    """

    def __init__(self, content: Any) -> None:
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel packed."""
        return (open_shipment, (pack(self.content),))

    def __sizeof__(self) -> int:
        """Bytes of the arrays: Dask's scheduler plans by them."""
        return 64 + _bytes_in(self.content, 6)


def open_shipment(data: bytes) -> Shipment:
    """The shipment with this packed content."""
    return Shipment(unpack(data))


def pack(content: Any, spool: Path | None = None) -> bytes:
    """Bytes of an object, with mapped arrays as names of files."""
    file = io.BytesIO()
    try:
        _Pickler(file, spool).dump((versions(), content))
    except Exception as error:
        name = type(getattr(content, "structure", content)).__name__
        raise TypeError(
            f"{name} cannot be sent to other processes: {error}. Everything the "
            "structure holds must be picklable (no locks, open files, generators); "
            "engine='serial' and engine='threads' do not need this"
        ) from error
    return file.getvalue()


def unpack(data: bytes) -> Any:
    """The object that was packed."""
    theirs, content = pickle.loads(data)
    check_versions(theirs, platform.node())
    return content


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: Any, spool: Path | None) -> None:
        super().__init__(file, protocol=5)
        self._spool = spool

    def reducer_override(self, thing: Any) -> Any:
        """Send arrays in files by name; write large ones to the spool, if there is one."""
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
