"""The container of model files: a zip of one JSON manifest and .npy arrays.

    manifest.json     what the file holds, with size and SHA-256 of every array
    manifest.sha256   SHA-256 of the manifest
    arrays/0.npy ...  arrays of numbers, booleans or text, never of objects

Reading trusts nothing: names, sizes, checksums, types and shapes are checked before
memory is allocated, and whatever is wrong raises `ModelFileError`. No member is ever
written to disk, unpickled or executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from maxmargin.core.data.safe_files import replace_file

FORMAT, VERSION = "maxmargin model", 1
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
MEMBER = re.compile(r"arrays/(0|[1-9][0-9]{0,5})\.npy")
MOST_MEMBERS = 100_000
MOST_BYTES = 8 * 2**30  # of all members together, unless the caller allows more
RATIO, FREE = 200, 64 * 2**20  # what may be unpacked: FREE bytes + RATIO * packed ones
TEXT, DENSE = 2**23, 50  # the same for the manifest: parsed, it takes far more memory
SMALL = 2**14  # bytes; the overhead of a member keeps smaller ones under RATIO
HEADER = 10_000  # bytes of an array's header
PIECE = 2**20  # bytes read at once
KINDS = "biufU"  # numbers, booleans, text


class ModelFileError(ValueError):
    """A model file that cannot be read: damaged, hostile, too new or incomplete."""


def write_archive(
    target: str | os.PathLike[str] | IO[bytes],
    manifest: Mapping[str, Any],
    arrays: Sequence[np.ndarray],
    level: int = 6,
) -> None:
    """Write manifest and arrays; a path is replaced at once, or not at all.

    Level 0 stores the arrays as they are, which is quick.
    """
    data = _packed(manifest, arrays, level)
    if isinstance(target, str | os.PathLike):
        replace_file(Path(target), data)
    else:
        target.write(data)


def _packed(
    manifest: Mapping[str, Any], arrays: Sequence[np.ndarray], level: int
) -> bytes:
    members = [_npy(array) for array in arrays]
    sums = [{"size": len(m), "sha256": _sha256(m)} for m in members]
    head = {"format": FORMAT, "version": VERSION, **manifest, "arrays": sums}
    text = json.dumps(head, ensure_ascii=False, allow_nan=False).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        _add(archive, MANIFEST, text, 6)
        _add(archive, SEAL, _sha256(text).encode(), 6)
        for k, member in enumerate(members):
            _add(archive, f"arrays/{k}.npy", member, level)
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, level: int) -> None:
    """Add a member, compressed unless it would look like a zip bomb; without a date."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o644 << 16
    way = zipfile.ZIP_DEFLATED
    if level == 0 or (
        len(data) > SMALL and len(zlib.compress(data, level)) * RATIO < len(data)
    ):
        way = zipfile.ZIP_STORED
    archive.writestr(entry, data, way, compresslevel=level)


def _npy(array: np.ndarray) -> bytes:
    if array.dtype.hasobject:
        raise ModelFileError(f"an array of dtype {array.dtype} cannot be stored")
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=None, allow_pickle=False)
    return out.getvalue()


class Archive:
    """A model file, opened and checked; `array(k)` reads one array.

    Parameters
    ----------
    source : path or binary file
    most : int
        Bytes that all members together may take in memory.
    """

    def __init__(
        self, source: str | os.PathLike[str] | IO[bytes], most: int = MOST_BYTES
    ) -> None:
        file, size = _sized(source, most)
        self._zip: zipfile.ZipFile | None = None
        try:
            self._zip = zipfile.ZipFile(file)
            self._entries = _entries(self._zip, size, most)
            text = self._read(MANIFEST)
            if self._read(SEAL) != _sha256(text).encode():
                raise ModelFileError("the manifest does not match its checksum")
            self.manifest = _parsed(text)
        except ModelFileError:
            self.close()
            raise
        except Exception as error:
            self.close()
            raise ModelFileError(f"this is not a whole model file ({error})") from error

    def close(self) -> None:
        """Close the file."""
        if self._zip is not None:
            self._zip.close()

    def array(self, k: int) -> np.ndarray:
        """Array number k, writable, as it was."""
        sums = self.manifest["arrays"]
        if type(k) is not int or not 0 <= k < len(sums):
            raise ModelFileError(f"there is no array {k!r}")
        name = f"arrays/{k}.npy"
        size = self._entry(name).file_size
        with self._member(name) as member:
            array, found = _read_npy(name, member, size)
        if sums[k] != {"size": size, "sha256": found}:
            raise ModelFileError(f"{name} does not match its checksum")
        return array

    def _read(self, name: str) -> bytes:
        with self._member(name) as member:
            data = member.read()
        if len(data) != self._entry(name).file_size:
            raise ModelFileError(f"{name} is cut short")
        return data

    def _entry(self, name: str) -> zipfile.ZipInfo:
        if name not in self._entries:
            raise ModelFileError(f"{name} is missing")
        return self._entries[name]

    @contextmanager
    def _member(self, name: str) -> Iterator[IO[bytes]]:
        """A member as a stream; whatever goes wrong in it is a ModelFileError."""
        assert self._zip is not None
        try:
            with self._zip.open(self._entry(name)) as member:
                yield member
        except ModelFileError:
            raise
        except Exception as error:  # zlib, CRC, lengths, encryption: all the same
            raise ModelFileError(f"{name} is damaged ({error})") from error


def _sized(source: Any, most: int) -> tuple[Any, int]:
    """What zipfile can open, and its size.

    Files on disk are not read as a whole: memory is needed for the arrays alone.
    """
    if isinstance(source, str | os.PathLike):
        found = os.stat(source)
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError("this is not a regular file")
        file, size = os.fspath(source), found.st_size
    else:
        data = source.read(most + 1)
        file, size = io.BytesIO(data), len(data)
    if size > most:
        raise ModelFileError(f"the file is larger than the {most} bytes allowed")
    return file, size


def _entries(
    archive: zipfile.ZipFile, packed: int, most: int
) -> dict[str, zipfile.ZipInfo]:
    """Members by name, after a look at names, number and sizes."""
    found: dict[str, zipfile.ZipInfo] = {}
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise ModelFileError(f"{len(infos)} members are too many")
    for info in infos:
        name = info.orig_filename
        if name not in (MANIFEST, SEAL) and not MEMBER.fullmatch(name):
            raise ModelFileError(f"a member is called {name[:80]!r}")
        if name in found:
            raise ModelFileError(f"there are two members {name!r}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelFileError(f"{name} is packed in a way that is not used here")
        if info.flag_bits & 0x1:
            raise ModelFileError(f"{name} is encrypted")
        if name == MANIFEST and info.file_size > TEXT + DENSE * info.compress_size:
            raise ModelFileError(f"the manifest claims {info.file_size} bytes")
        found[name] = info
    total = sum(info.file_size for info in infos)
    if total > min(most, FREE + RATIO * packed):
        raise ModelFileError(
            f"the members claim {total} bytes, which is more than is allowed for a "
            f"file of {packed}"
        )
    return found


def _parsed(text: bytes) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ModelFileError(f"the manifest has the number {constant}")

    try:
        head = json.loads(
            text.decode("utf-8"), parse_constant=refuse, object_pairs_hook=_unique
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the manifest is not JSON ({error})") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelFileError("this is a zip file, but not a model of maxmargin")
    if type(head.get("version")) is not int or head["version"] < 1:
        raise ModelFileError(f"version {head.get('version')!r} is not known")
    if head["version"] > VERSION:
        raise ModelFileError(
            f"the file has version {head['version']}, newer than this library reads "
            f"({VERSION}): please update maxmargin"
        )
    if not isinstance(head.get("arrays"), list):
        raise ModelFileError("the manifest does not list the arrays")
    return head


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ModelFileError("the manifest names something twice")
    return out


class _Hashed:
    """A stream that computes the checksum of what is read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.sha, self.count = stream, hashlib.sha256(), 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.sha.update(data)
        self.count += len(data)
        return data


def _read_npy(name: str, member: IO[bytes], size: int) -> tuple[np.ndarray, str]:
    """The array in a member of `size` bytes, and the checksum of the member.

    Its header is checked before memory is allocated.
    """
    stream: Any = _Hashed(member)
    try:
        version = np.lib.format.read_magic(stream)
        length = stream.read({(1, 0): 2, (2, 0): 4}[version])
        bytes_left = int.from_bytes(length, "little")
        if bytes_left > HEADER:
            raise ValueError(f"{bytes_left} bytes are too many")
        shape, fortran, dtype = _header(version, length + stream.read(bytes_left))
    except Exception as error:
        raise ModelFileError(f"{name} has no readable header ({error})") from error
    if not plain(dtype):
        raise ModelFileError(f"{name} has dtype {dtype}, which is not allowed")
    if len(shape) > 8 or any(type(s) is not int or s < 0 for s in shape):
        raise ModelFileError(f"{name} has the shape {shape}")
    left = size - stream.count
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != left:
        raise ModelFileError(f"{name} has {left} bytes, its shape is {shape}")
    flat = np.empty(math.prod(shape), dtype)
    room = flat.view(np.uint8) if left else np.empty(0, np.uint8)
    for start in range(0, left, PIECE):
        piece = stream.read(min(PIECE, left - start))
        if len(piece) != min(PIECE, left - start):
            raise ModelFileError(f"{name} is cut short")
        room[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
    stream.read(1)  # the end of a member is where its CRC is checked
    return flat.reshape(shape, order="F" if fortran else "C"), stream.sha.hexdigest()


@lru_cache(maxsize=1024)  # arrays of a model often have the same
def _header(
    version: tuple[int, int], text: bytes
) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, Fortran order and type that the header of an array tells."""
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran, dtype = read(io.BytesIO(text), max_header_size=HEADER)
    return shape, fortran, dtype


def plain(dtype: np.dtype) -> bool:
    """Whether arrays of it are numbers, booleans, text, or records of those."""
    if dtype.hasobject or dtype.subdtype is not None:
        return False
    if dtype.names is not None:
        return all(plain(dtype[name]) for name in dtype.names)
    return dtype.kind in KINDS


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
