"""Sequences encoded once, in files, for data that do not fit into memory.

    folder/meta.json          labels, window, features; length and checksum of each file
    folder/data-*/names.json  features by name, where they have names
    folder/data-*/{ptr,rows,idx,val,labels}.bin   the arrays of `Tokens`, and the labels

`meta.json` is written last and names the folder of the data, so that half-written
data are never opened, whatever happened to the process. A folder that it does
not name was left by such a process and can be removed.

The source is read twice, a batch at a time: first for labels and feature names, then to
write. Every engine reads the files by chunks; workers on other machines map them too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ragged, Vectors
from maxmargin.core.data.mapped import Pages, open_array
from maxmargin.core.data.memory import readable
from maxmargin.core.data.safe_files import fresh_folder, remove_folder, replace_file
from maxmargin.core.data.tokens.sequences import flat_labels, in_order, same_lengths
from maxmargin.core.data.validation import (
    check_distinct,
    check_finite,
    check_range,
    mismatch,
    require,
)
from maxmargin.structures.chain.constraints import check_truth
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.tokens.named_tokens import NamedTokens, vocabulary
from maxmargin.structures.chain.tokens.token_rows import Tokens, gather

FORMAT = "maxmargin encoded sequences 2"
FORMER = "maxmargin encoded sequences 1"  # of version 0.1, still read
META, NAMES = "meta.json", "names.json"
MOST = {META: 1e8, NAMES: 4e9}  # bytes: files may claim more than there is
DATA = re.compile(r"data-[0-9a-f]{16}")
PIECE = 2**20  # items that are checked at once
FILES = {"ptr": "<i8", "rows": "<i8", "idx": "<i4", "val": "<f8", "labels": "<i4"}


class Encoded(NamedTuple):
    """Encoded sequences in a folder; `ChainSVM.fit` takes them in place of X and y."""

    folder: Path
    place: Path  # where the arrays are
    labels: tuple[Any, ...]
    names: dict[str, int] | None
    columns: int
    window: int
    sparse: bool
    x: Tokens
    truth: Ragged

    @property
    def n(self) -> int:
        """Number of sequences."""
        return self.truth.n

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.place.glob("*.bin"))

    def bind(self, chain: Chain) -> Chain:
        """The structure with the sizes of these data."""
        if chain.window != self.window:
            raise ValueError(
                f"the data in {self.folder} were encoded with window={self.window}, not "
                f"{chain.window}: encode them again"
            )
        bound = chain.sized(self.labels, self.names, self.columns, self.sparse)
        check_truth(bound.labels, bound.legal, self.truth)
        return bound


def encode_sequences(
    source: Iterable[tuple[Any, Any]], folder: str | Path, *, window: int = 0
) -> Encoded:
    """Encode batches (X, y) into a folder; returns what `open_encoded` would.

    Parameters
    ----------
    source : iterable of (X, y) batches
        Iterated over twice: a list, or a stream of `maxmargin.io.streams`.
    folder : path
        Made if it is not there.
    window : int
        As in `ChainSVM`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = encode_sequences([([[["a"], ["b"]]], [["N", "V"]])], folder)
    ...     data.n, data.labels, data.columns
    (1, ('N', 'V'), 2)
    """
    labels, names, columns = _survey(source)
    chain = Chain(window=window).sized(in_order(labels), names, columns, True)

    def batches() -> Iterator[tuple[Tokens, Ragged]]:
        for X, y in source:
            x = chain.encode(X)
            yield x, chain.encode_labels(x, y)

    return write_encoded(batches(), folder, chain)


def write_encoded(
    batches: Iterable[tuple[Tokens, Ragged]], folder: str | Path, chain: Chain
) -> Encoded:
    """Write batches that `chain` has encoded; returns what `open_encoded` would."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    earlier = _named_data(folder)
    with fresh_folder(folder) as place:
        sizes, sums = _append_all(batches, place)
        names = json.dumps(list(chain.names or ())).encode()
        replace_file(place / NAMES, names)
        sums["names"] = hashlib.sha256(names).hexdigest()
        meta = {
            "format": FORMAT, "labels": list(chain.labels), "columns": chain.columns,
            "window": chain.window, "sizes": sizes, "named": chain.names is not None,
            "data": place.name, "sha256": sums,
        }  # fmt: skip
        replace_file(folder / META, json.dumps(meta).encode())
    if earlier is not None and earlier != place.name:
        remove_folder(folder / earlier)
    return open_encoded(folder, check=False)


def open_encoded(folder: str | Path, *, check: bool = True) -> Encoded:
    """Data that `encode_sequences` wrote.

    Parameters
    ----------
    folder : path
    check : bool, default=True
        Read all files once, without keeping them in memory, and compare checksums and
        the range of every index: training reads them without looking. Leave it out
        only for data that this program has written itself.

    Raises
    ------
    ValueError
        If a file is damaged, was cut short, or has an index that is out of range.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = encode_sequences([([[["a"], ["b"]]], [["N", "V"]])], folder)
    ...     open_encoded(folder).labels
    ('N', 'V')
    """
    folder = Path(folder)
    try:
        text = _read_file(folder / META)
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} has no encoded sequences") from None
    try:
        meta = _checked_meta(json.loads(text))
        place = (folder / meta["data"]).resolve()
        names = _read_names(place, meta) if meta["named"] else None
        arrays = _open_arrays(place, meta)
        width = meta["columns"] * (2 * meta["window"] + 1)
        if check:
            _check_arrays(place, arrays, meta, width)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{folder} cannot be read as encoded sequences: {error}"
        ) from error
    vectors = Vectors(arrays["rows"], arrays["idx"], arrays["val"], width)
    x = Tokens(vectors, arrays["ptr"], np.empty(0, np.int32))
    return Encoded(
        folder, place, tuple(meta["labels"]), names, meta["columns"], meta["window"],
        True, x, Ragged(arrays["ptr"], arrays["labels"]),
    )  # fmt: skip


def _named_data(folder: Path) -> str | None:
    """The subfolder that the meta data of an earlier encoding name, if any."""
    try:
        name = json.loads(_read_file(folder / META))["data"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return name if isinstance(name, str) and DATA.fullmatch(name) else None


def _checked_meta(meta: Any) -> dict[str, Any]:
    """The meta data, if all of them are of the right kind."""
    require(isinstance(meta, dict), f"{META} is not a mapping")
    known = meta.get("format") in (FORMAT, FORMER)
    require(known, f"{META} is not {FORMAT!r}")
    if meta["format"] == FORMER:  # files beside meta.json, and no checksums
        meta = {**meta, "data": ".", "sha256": {}}
    else:
        named = isinstance(meta["data"], str) and DATA.fullmatch(meta["data"])
        require(named, "the name of the data is wrong")
        require(set(meta["sha256"]) == {*FILES, "names"}, "a checksum is missing")
    for name in ("columns", "window"):
        wrong = mismatch(meta[name], int)
        require(not wrong and 0 <= meta[name] < 2**31, f"{name} is {meta[name]!r:.40}")
    width = meta["columns"] * (2 * meta["window"] + 1)
    require(width < 2**31, f"{width} features are too many")
    require(type(meta["named"]) is bool, "it does not say whether features have names")
    require(set(meta["sizes"]) == set(FILES), "the length of a file is missing")
    for name, size in meta["sizes"].items():
        require(type(size) is int and 0 <= size < 2**48, f"{name}.bin has a wrong size")
    labels = meta["labels"]
    plain = all(type(label) in (str, int, bool) for label in labels)
    require(isinstance(labels, list) and labels and plain, "a label is of a wrong kind")
    check_distinct(labels, "labels")
    return dict(meta)


def _read_names(place: Path, meta: dict[str, Any]) -> dict[str, int]:
    text = _read_file(place / NAMES)
    if "names" in meta["sha256"]:
        same = hashlib.sha256(text).hexdigest() == meta["sha256"]["names"]
        require(same, f"{NAMES} does not match its checksum")
    listed = json.loads(text)
    plain = isinstance(listed, list) and all(type(name) is str for name in listed)
    require(plain, f"{NAMES} is not a list of names")
    check_distinct(listed, "features")
    require(len(listed) == meta["columns"], "the number of features is wrong")
    return {name: j for j, name in enumerate(listed)}


def _size(path: Path) -> int:
    """Bytes of a regular file: pipes and devices have no end."""
    found = path.stat()
    require(stat.S_ISREG(found.st_mode), f"{path.name} is not a regular file")
    return found.st_size


def _read_file(path: Path) -> bytes:
    size, most = _size(path), MOST[path.name]
    require(size <= most, f"{path.name} has {readable(size)}, {readable(most)} at most")
    return path.read_bytes()


def _open_arrays(place: Path, meta: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays, mapped; a file that is too short would end the process later."""
    sizes = meta["sizes"]
    for name, dtype in FILES.items():
        found = _size(place / f"{name}.bin")
        expected = sizes[name] * np.dtype(dtype).itemsize
        require(found == expected, f"{name}.bin has {found} bytes, not {expected}")
    require(sizes["ptr"] > 0 and sizes["rows"] > 0, "there are no row pointers")
    require(sizes["labels"] == sizes["rows"] - 1, "tokens and labels differ in number")
    require(sizes["idx"] == sizes["val"], "a value lacks its feature")
    return {
        name: open_array(place / f"{name}.bin", 0, dtype, (sizes[name],))
        for name, dtype in FILES.items()
    }


def _check_arrays(
    place: Path, arrays: dict[str, np.ndarray], meta: dict[str, Any], width: int
) -> None:
    """Checksums, row pointers, ranges and finite values, a piece at a time."""
    sizes = meta["sizes"]
    for name, array in arrays.items():
        pages, sha = Pages((array,), len(array)), hashlib.sha256()
        for start in range(0, len(array), PIECE):
            piece = array[start : start + PIECE]
            sha.update(piece.data)
            if name == "idx":
                check_range(piece, 0, width, "idx.bin, feature")
            elif name == "labels":
                check_range(piece, 0, len(meta["labels"]), "labels.bin, label")
            elif name == "val":
                check_finite(piece, "val.bin")
            else:
                longer = array[start : start + PIECE + 1]
                require((longer[1:] >= longer[:-1]).all(), f"{name}.bin falls")
            pages.release()
        if name in meta["sha256"]:
            same = sha.hexdigest() == meta["sha256"][name]
            require(same, f"{name}.bin does not match its checksum")
    for name, total in (("ptr", sizes["labels"]), ("rows", sizes["idx"])):
        ends = int(arrays[name][0]), int(arrays[name][-1])
        require(ends == (0, total), f"{name}.bin runs from {ends[0]} to {ends[1]}")


def _survey(source: Iterable[tuple[Any, Any]]) -> tuple[set[Any], Any, int]:
    """Labels, feature names and number of features of all batches."""
    labels: set[Any] = set()
    names: dict[str, int] = {}
    columns = 0
    for X, y in source:
        tokens = gather(X)
        flat, ptr = flat_labels(y)
        same_lengths(tokens.ptr, ptr)
        labels.update(flat)
        if tokens.matrix is None:
            for name in vocabulary(NamedTokens(tokens.named, tokens.ptr)):
                names.setdefault(name, len(names))
        else:
            columns = max(columns, tokens.matrix.shape[1])
    bad = [label for label in labels if type(label) not in (str, int, bool)]
    if bad:
        raise ValueError(f"label {bad[0]!r} cannot be stored: use text or integers")
    return labels, (names or None), len(names) or columns


def _append_all(
    batches: Iterable[tuple[Tokens, Ragged]], folder: Path
) -> tuple[dict[str, int], dict[str, str]]:
    """Append every batch to the files; returns items and checksum of each."""
    sizes = dict.fromkeys(FILES, 0)
    sums = {name: hashlib.sha256() for name in FILES}
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open(folder / f"{name}.bin", "wb"))
            for name in FILES
        }

        def append(name: str, array: Any) -> None:
            data = np.asarray(array, FILES[name]).tobytes()
            files[name].write(data)
            sums[name].update(data)
            sizes[name] += len(array)

        append("ptr", [0])
        append("rows", [0])
        for x, truth in batches:
            append("ptr", x.ptr[1:] + sizes["labels"])
            append("rows", x.vectors.ptr[1:] + sizes["idx"])
            append("idx", x.vectors.idx)
            append("val", x.vectors.val)
            append("labels", truth.data)
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    return sizes, {name: sha.hexdigest() for name, sha in sums.items()}
