"""FASTA: sequences by name, and annotation tracks from several files.

A record is a line `>name description` and lines of letters. A track (secondary
structure, exposed surface) is a FASTA file with the same names and lengths.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.text import FormatError, numbered_lines, read_lines


def read_fasta(path: str | Path) -> dict[str, str]:
    """Sequences of a file by name, in order.

    Raises
    ------
    ValueError
        Where letters come before the first name, a name occurs twice or is missing, or
        a record is empty; the message names the line or the record.
    """
    return parse_fasta(read_lines(path), str(path))


def parse_fasta(lines: Iterable[str], where: str = "FASTA") -> dict[str, str]:
    r"""Sequences from lines.

    Examples
    --------
    >>> parse_fasta([">a first", "HEAG", "AW", ">b", "PAW"])
    {'a': 'HEAGAW', 'b': 'PAW'}
    """
    parts: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        if text.startswith(">"):
            words = text[1:].split()
            if not words:
                raise ValueError(f"{where}, line {number}: a record has no name")
            name = words[0]
            if name in parts:
                raise ValueError(f"{where}, line {number}: {name!r} occurs twice")
            parts[name] = []
        elif not name:
            raise ValueError(f"{where}, line {number}: letters before the first name")
        else:
            parts[name].append("".join(text.split()))
    records = {name: "".join(rows) for name, rows in parts.items()}
    for name, letters in records.items():
        if not letters:
            raise ValueError(f"{where}: record {name!r} is empty")
    return records


def write_fasta(records: Mapping[str, str], path: str | Path, width: int = 60) -> None:
    """Write sequences by name, `width` letters per line."""
    lines = []
    for name, letters in records.items():
        lines.append(f">{name}")
        lines += [letters[k : k + width] for k in range(0, len(letters), width)]
    Path(path).write_text("\n".join(lines) + "\n")


def read_tracks(paths: Mapping[str, str | Path]) -> list[dict[str, Any]]:
    """Annotated sequences from one FASTA file per track.

    Parameters
    ----------
    paths : mapping from track to file
        Such as {"residue": "pdb.fasta", "ss": "pdb.ss.fasta"}.

    Returns
    -------
    list of mappings
        {"name": ..., track: letters, ...}, in the order of the first file.
    """
    files = {track: read_fasta(path) for track, path in paths.items()}
    first = next(iter(files))
    out = []
    for name, letters in files[first].items():
        record: dict[str, Any] = {"name": name}
        for track, records in files.items():
            if name not in records:
                raise ValueError(f"{paths[track]}: record {name!r} is missing")
            if len(records[name]) != len(letters):
                raise ValueError(
                    f"{name}: track {track!r} has {len(records[name])} positions, "
                    f"{first!r} has {len(letters)}"
                )
            record[track] = records[name]
        out.append(record)
    for track, records in files.items():
        for name in records.keys() - files[first].keys():
            raise ValueError(f"{paths[track]}: record {name!r} is not in {first!r}")
    return out


def read_vectors(path: str | Path) -> dict[str, NDArray[np.float64]]:
    """Rows of numbers for each position, such as profiles or embeddings, by sequence.

    Parameters
    ----------
    path : str or Path
        A file of `numpy.savez`, which has one array (length, width) for each name.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "e.npz")
    ...     np.savez(path, **{"1abc": np.zeros((5, 3))})
    ...     {name: rows.shape for name, rows in read_vectors(path).items()}
    {'1abc': (5, 3)}
    """
    out, width = {}, None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if not isinstance(arrays, Mapping):
                raise ValueError("there is one array, without a name")
            parts = {name: np.asarray(arrays[name]) for name in arrays}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a file of numpy.savez: {error}") from None
    for name, rows in parts.items():
        if rows.dtype.kind not in "biuf" or rows.ndim not in (1, 2):
            raise ValueError(
                f"{path}: {name!r} is an array of shape {rows.shape} and type "
                f"{rows.dtype}, not (length, width) of numbers"
            )
        out[name] = rows.reshape(len(rows), -1).astype(np.float64)
        width = out[name].shape[1] if width is None else width
        if out[name].shape[1] != width:
            raise ValueError(
                f"{path}: {name!r} has {out[name].shape[1]} numbers per position, others "
                f"have {width}"
            )
    return out


def read_labelled_fasta(path: str | Path) -> tuple[list[str], list[str], list[str]]:
    """Names, sequences and labels; the label is the second word after ">".

    A record `>YAL012 +` has the label "+"; where a header has one word the label is "".
    """
    names: list[str] = []
    labels: list[str] = []
    rows: list[list[str]] = []
    for number, line in numbered_lines(path):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        if text.startswith(">"):
            words = text[1:].split()
            if not words:
                raise FormatError(path, number, "a record has no name")
            names.append(words[0])
            labels.append(words[1].removeprefix("label=") if len(words) > 1 else "")
            rows.append([])
        elif not names:
            raise FormatError(path, number, "letters before the first name")
        else:
            rows[-1].append("".join(text.split()))
    sequences = ["".join(parts) for parts in rows]
    for name, letters in zip(names, sequences, strict=True):
        if not letters:
            raise ValueError(f"{path}: record {name!r} is empty")
    return names, sequences, labels
