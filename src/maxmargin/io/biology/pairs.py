"""Aligned pairs in FASTA: records one and two belong together, three and four, ..

    >first
    HEAGAWGHE-E
    >second
    --P-AW-HEAE

Rows of a pair have one length and gaps "-", "." or "~"; without gaps they are sequences
to align.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.biology.alignments import GAPS, columns_of_rows, rows_of_columns
from maxmargin.io.text import FormatError, numbered_lines, open_text

WIDTH = 60


class Pairs(NamedTuple):
    """Pairs of sequences, their alignments where rows had one length, and names."""

    X: list[tuple[str, str]]
    y: list[NDArray[np.int32] | None]  # columns; None: not aligned
    names: list[tuple[str, str]]


def read_pairs(path: str | Path) -> Pairs:
    """Pairs of a file; names may occur several times."""
    records: list[tuple[str, int, list[str]]] = []
    for number, line in numbered_lines(path):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        if text.startswith(">"):
            records.append((text[1:].strip() or "?", number, []))
        elif not records:
            raise FormatError(path, number, "letters before the first '>name'")
        else:
            records[-1][2].append("".join(text.split()))
    if len(records) % 2:
        raise FormatError(
            path,
            records[-1][1],
            f"{records[-1][0]!r} has no partner: records are pairs",
        )
    out = Pairs([], [], [])
    for (a, number, rows_a), (b, _, rows_b) in zip(records[::2], records[1::2]):
        first, second = ("".join(rows).translate(GAPS) for rows in (rows_a, rows_b))
        bare = first.replace("-", ""), second.replace("-", "")
        if not bare[0] or not bare[1]:
            raise FormatError(
                path, number, f"the pair {a!r}, {b!r} has an empty sequence"
            )
        gaps = "-" in first or "-" in second
        if gaps and len(first) != len(second):
            raise FormatError(
                path, number,
                f"the rows {a!r} and {b!r} have {len(first)} and {len(second)} columns",
            )  # fmt: skip
        same = len(first) == len(second)
        out.X.append(bare)
        out.y.append(columns_of_rows(first, second) if same else None)
        out.names.append((a, b))
    return out


def write_pairs(
    path: str | Path,
    X: Sequence[tuple[str, str]],
    y: Iterable[NDArray[np.int32]],
    names: Sequence[tuple[str, str]],
) -> None:
    """Write alignments, two records each."""
    with open_text(path, "wt") as file:
        for (first, second), columns, pair in zip(X, y, names, strict=True):
            for name, row in zip(pair, rows_of_columns(columns, first, second)):
                rows = [row[k : k + WIDTH] for k in range(0, len(row), WIDTH)]
                file.write("\n".join([f">{name}", *rows]) + "\n")
