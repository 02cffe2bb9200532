"""HOMSTRAD: structure-based alignments of protein families, one text file.

A family begins with `#family NAME<TAB>class<TAB>proteins<TAB>columns`; then each
protein has lines `ID<TAB>track<TAB>string`, one character per column, "-" for a gap.

Mizuguchi et al. 1998, HOMSTRAD: a database of protein structure alignments.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Family(NamedTuple):
    """One aligned family."""

    name: str
    kind: str
    proteins: dict[str, dict[str, str]]  # id -> track -> string with gaps


def read_homstrad(path: str | Path) -> list[Family]:
    """All families of the file (plain or gzip); what is wrong is named by line."""
    families: list[Family] = []
    columns = 0
    for number, line in _lines(Path(path)):
        parts = line.split("\t")
        if line.startswith("#family "):
            if len(parts) != 4:
                raise ValueError(f"{path}, line {number}: a family has 4 fields")
            families.append(Family(parts[0][8:], parts[1], {}))
            columns = int(parts[3])
        elif len(parts) != 3 or not families:
            raise ValueError(f"{path}, line {number}: ID, track and string expected")
        else:
            name, track, text = parts
            if len(text) != columns:
                raise ValueError(
                    f"{path}, line {number}: {name} has {len(text)} columns, its "
                    f"family has {columns}"
                )
            families[-1].proteins.setdefault(name, {})[track] = text
    return families


def family_pairs(
    family: Family, tracks: Sequence[str] = ("seq", "ss", "acc")
) -> tuple[list[tuple[dict[str, Any], dict[str, Any]]], list[np.ndarray]]:
    """All pairs of a family as inputs, and their alignments as columns.

    Tracks keep their names; "seq" becomes "residue". A protein is one object in all
    its pairs.

    Examples
    --------
    >>> family = Family("f", "", {"a": {"seq": "AC-"}, "b": {"seq": "-CD"}})
    >>> X, Y = family_pairs(family, ["seq"])
    >>> X[0][0]["residue"], Y[0].tolist()
    ('AC', [[0, -1], [1, 0], [-1, 1]])
    """
    proteins, filled = [], []
    for name, strings in family.proteins.items():
        bare: dict[str, Any] = {"name": name}
        for track in tracks:
            key = "residue" if track == "seq" else track
            bare[key] = strings[track].replace("-", "")
        proteins.append(bare)
        filled.append(np.array([c != "-" for c in strings["seq"]]))
    X, Y = [], []
    for a, b in combinations(range(len(proteins)), 2):
        both = np.stack([filled[a], filled[b]], axis=1)
        columns = np.where(both, np.cumsum(both, axis=0) - 1, -1)
        X.append((proteins[a], proteins[b]))
        Y.append(columns[both.any(axis=1)].astype(np.int32))
    return X, Y


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    packed = path.read_bytes()
    text = gzip.decompress(packed) if path.suffix == ".gz" else packed
    for number, line in enumerate(text.decode().split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")
