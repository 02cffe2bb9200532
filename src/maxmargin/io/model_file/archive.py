"""The container of model files: a zip of one JSON manifest and .npy arrays.

    manifest.json     what the file holds, with size and SHA-256 of every array
    manifest.sha256   SHA-256 of the manifest
    arrays/0.npy ...  arrays of numbers, booleans or text, never of objects

Reading trusts nothing: names, sizes, checksums, types and shapes are checked before
memory is allocated, and whatever is wrong raises `ModelFileError`. No member is ever
written to disk, unpickled or executed.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import io
import json
import math
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

FORMAT, VERSION = "maxmargin model", 1
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
MEMBER = re.compile(r"arrays/(0|[1-9][0-9]{0,5})\.npy")
MOST_MEMBERS = 100_000
MOST_BYTES = 8 * 2**30  # of all members together, unless the caller allows more
RATIO, FREE = 200, 64 * 2**20  # what may be unpacked: FREE bytes + RATIO * packed ones
SMALL = 2**14  # bytes; the overhead of a member keeps smaller ones under RATIO
HEADER = 10_000  # bytes of an array's header
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


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` atomically: readers see the old file or the new one."""
    if not path.parent.is_dir():  # said of the folder, not of the temporary file
        raise FileNotFoundError(
            errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent)
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_halves(path: Path) -> None:
    """Remove the temporary files of processes that were killed while writing `path`."""
    for half in path.parent.glob(f".{glob.escape(path.name)}.*-????????"):
        half.unlink(missing_ok=True)


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
        data = _bytes_of(source, most)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._entries = _entries(self._zip, len(data), most)
            text = self._read(MANIFEST)
            if self._read(SEAL) != _sha256(text).encode():
                raise ModelFileError("the manifest does not match its checksum")
            self.manifest = _parsed(text)
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"this is not a whole model file ({error})") from error

    def array(self, k: int) -> np.ndarray:
        """Array number k, writable, as it was."""
        sums = self.manifest["arrays"]
        if type(k) is not int or not 0 <= k < len(sums):
            raise ModelFileError(f"there is no array {k!r}")
        name = f"arrays/{k}.npy"
        data = self._read(name)
        if sums[k] != {"size": len(data), "sha256": _sha256(data)}:
            raise ModelFileError(f"{name} does not match its checksum")
        return _parsed_npy(name, data)

    def _read(self, name: str) -> bytes:
        if name not in self._entries:
            raise ModelFileError(f"{name} is missing")
        try:
            with self._zip.open(self._entries[name]) as member:
                data = member.read()
        except Exception as error:  # zlib, CRC, lengths, encryption: all the same
            raise ModelFileError(f"{name} is damaged ({error})") from error
        if len(data) != self._entries[name].file_size:
            raise ModelFileError(f"{name} is cut short")
        return data


def _bytes_of(source: Any, most: int) -> bytes:
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            data = file.read(most + 1)
    else:
        data = source.read(most + 1)
    if len(data) > most:
        raise ModelFileError(f"the file is larger than the {most} bytes allowed")
    return data


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


def _parsed_npy(name: str, data: bytes) -> np.ndarray:
    """The array in `data`; its header is checked before memory is allocated."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = read(stream, max_header_size=HEADER)
    except Exception as error:
        raise ModelFileError(f"{name} has no readable header ({error})") from error
    if not plain(dtype):
        raise ModelFileError(f"{name} has dtype {dtype}, which is not allowed")
    if len(shape) > 8 or any(type(s) is not int or s < 0 for s in shape):
        raise ModelFileError(f"{name} has the shape {shape}")
    body = memoryview(data)[stream.tell() :]
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise ModelFileError(f"{name} has {len(body)} bytes, its shape is {shape}")
    flat = np.frombuffer(body, dtype).copy()
    return flat.reshape(shape, order="F" if fortran else "C")


def plain(dtype: np.dtype) -> bool:
    """Whether arrays of it are numbers, booleans, text, or records of those."""
    if dtype.hasobject or dtype.subdtype is not None:
        return False
    if dtype.names is not None:
        return all(plain(dtype[name]) for name in dtype.names)
    return dtype.kind in KINDS


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
