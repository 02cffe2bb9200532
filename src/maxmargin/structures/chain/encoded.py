"""Sequences encoded once, in files, for data that do not fit into memory.

    folder/meta.json        n, labels, window, features, and the length of each file
    folder/names.json       features by name, where they have names
    folder/{ptr,rows,idx,val,labels}.bin   the arrays of `Tokens` and of the labels

The source is read twice, a batch at a time: first for labels and feature names, then to
write. Every engine reads the files by chunks; workers on other machines map them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Ragged, Vectors
from maxmargin.core.mapped import open_array
from maxmargin.core.sequences import flat_labels, in_order, same_lengths
from maxmargin.structures.chain.constraints import check_truth
from maxmargin.structures.chain.structure import Chain, Tokens
from maxmargin.structures.chain.tokens import gather, vocabulary

FORMAT = "maxmargin encoded sequences 1"
FILES = {"ptr": "<i8", "rows": "<i8", "idx": "<i4", "val": "<f8", "labels": "<i4"}


class Encoded(NamedTuple):
    """Encoded sequences in a folder; `ChainSVM.fit` takes them in place of X and y."""

    folder: Path
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
        return sum(path.stat().st_size for path in self.folder.glob("*.bin"))

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
    sizes = _append_all(batches, folder)
    meta = {
        "format": FORMAT, "labels": list(chain.labels), "columns": chain.columns,
        "window": chain.window, "sizes": sizes, "named": chain.names is not None,
    }  # fmt: skip
    (folder / "names.json").write_text(json.dumps(list(chain.names or ())))
    (folder / "meta.json").write_text(json.dumps(meta))
    return open_encoded(folder)


def open_encoded(folder: str | Path) -> Encoded:
    """Data that `encode_sequences` wrote, without reading them.

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
        meta = json.loads((folder / "meta.json").read_text())
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} has no encoded sequences") from None
    if meta.get("format") != FORMAT:
        raise ValueError(f"{folder}/meta.json is not {FORMAT!r}")
    names = None
    if meta["named"]:
        listed = json.loads((folder / "names.json").read_text())
        names = {name: j for j, name in enumerate(listed)}
    place = {name: folder.resolve() / f"{name}.bin" for name in FILES}
    a = {
        name: open_array(place[name], 0, dtype, (meta["sizes"][name],))
        for name, dtype in FILES.items()
    }
    width = meta["columns"] * (2 * meta["window"] + 1)
    vectors = Vectors(a["rows"], a["idx"], a["val"], width)
    x = Tokens(vectors, a["ptr"], np.empty(0, np.int32))
    return Encoded(
        folder, tuple(meta["labels"]), names, meta["columns"], meta["window"], True, x,
        Ragged(a["ptr"], a["labels"]),
    )  # fmt: skip


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
            for name in vocabulary(tokens):
                names.setdefault(name, len(names))
        else:
            columns = max(columns, tokens.matrix.shape[1])
    bad = [label for label in labels if type(label) not in (str, int, bool)]
    if bad:
        raise ValueError(f"label {bad[0]!r} cannot be stored: use text or integers")
    return labels, (names or None), len(names) or columns


def _append_all(
    batches: Iterable[tuple[Tokens, Ragged]], folder: Path
) -> dict[str, int]:
    """Append every batch to the files; returns how many items each has."""
    sizes = dict.fromkeys(FILES, 0)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((folder / f"{name}.bin").open("wb"))
            for name in FILES
        }

        def append(name: str, array: Any) -> None:
            files[name].write(np.asarray(array, FILES[name]).tobytes())
            sizes[name] += len(array)

        append("ptr", [0])
        append("rows", [0])
        for x, truth in batches:
            append("ptr", x.ptr[1:] + sizes["labels"])
            append("rows", x.vectors.ptr[1:] + sizes["idx"])
            append("idx", x.vectors.idx)
            append("val", x.vectors.val)
            append("labels", truth.data)
    return sizes
