"""Motifs in MEME text format (version 4, minimal): what Tomtom and FIMO read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.io.text import read_lines

Matrix = NDArray[np.float64]


class MemeMotif(NamedTuple):
    """One motif of a file."""

    name: str
    probabilities: Matrix  # (length, 4) A, C, G, T
    sites: int


def meme_text(
    motifs: Iterable[tuple[str, ArrayLike, int]],
    background: ArrayLike | None = None,
) -> str:
    """Motifs (name, probabilities (length, 4), number of sites) as text.

    Examples
    --------
    >>> text = meme_text([("AC", [[0.9, 0.1, 0, 0], [0, 1, 0, 0]], 7)])
    >>> print(text.splitlines()[0])
    MEME version 4
    >>> read_meme(text)[0].probabilities.tolist()
    [[0.9, 0.1, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    share = np.full(4, 0.25) if background is None else np.asarray(background, float)
    letters = " ".join(f"{c} {p:.5f}" for c, p in zip("ACGT", share, strict=True))
    lines = ["MEME version 4", "", "ALPHABET= ACGT", "", "strands: + -", ""]
    lines += ["Background letter frequencies", letters, ""]
    for name, matrix, sites in motifs:
        rows = np.asarray(matrix, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise ValueError(f"motif {name}: the matrix must have 4 columns")
        if not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3) or (rows < 0).any():
            raise ValueError(f"motif {name}: each row must be probabilities")
        lines += [f"MOTIF {name}", ""]
        lines += [
            f"letter-probability matrix: alength= 4 w= {len(rows)} nsites= {sites} E= 0"
        ]
        lines += ["  ".join(f"{p:.6f}" for p in row) for row in rows]
        lines += [""]
    return "\n".join(lines)


def read_meme(source: str | Path) -> list[MemeMotif]:
    """Motifs of a file, or of text that begins with "MEME version"."""
    text = str(source)
    if not text.lstrip().startswith("MEME version"):
        text = "\n".join(read_lines(source))
    try:
        return _motifs(text)
    except (IndexError, StopIteration, OverflowError, ValueError) as error:
        name = "text" if "\n" in str(source) else str(source)
        raise ValueError(f"{name}: not motifs in MEME format ({error})") from None


def _motifs(text: str) -> list[MemeMotif]:
    lines = iter(text.splitlines())
    out: list[MemeMotif] = []
    name = ""
    for line in lines:
        if line.startswith("MOTIF"):
            name = line.split()[1]
        elif line.startswith("letter-probability matrix"):
            words = line.replace("=", "= ").split()
            width = int(words[words.index("w=") + 1])
            sites = (
                int(float(words[words.index("nsites=") + 1]))
                if "nsites=" in words
                else 0
            )
            rows = [[float(v) for v in next(lines).split()] for _ in range(width)]
            if not rows or any(len(row) != 4 for row in rows):
                raise ValueError(f"motif {name!r} has no matrix of four columns")
            out.append(MemeMotif(name, np.array(rows), sites))
    return out
