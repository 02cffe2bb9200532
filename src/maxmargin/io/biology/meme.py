"""Motifs in MEME text format (version 4, minimal): what Tomtom and FIMO read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.io.text import read_lines

Matrix = NDArray[np.float64]
LETTERS = {4: "ACGT", 20: "ACDEFGHIKLMNPQRSTVWY"}


class MemeMotif(NamedTuple):
    """One motif of a file."""

    name: str
    probabilities: Matrix  # (length, 4) A, C, G, T; or (length, 20) amino acids
    sites: int

    @property
    def alphabet(self) -> str:
        """The letters of the columns."""
        return LETTERS[self.probabilities.shape[1]]


def meme_text(
    motifs: Iterable[tuple[str, ArrayLike, int]],
    background: ArrayLike | None = None,
) -> str:
    """Motifs (name, probabilities (length, 4) or (length, 20), number of sites) as text.

    Columns are A, C, G, T, or the amino acids in the order of their letters.

    Examples
    --------
    >>> text = meme_text([("AC", [[0.9, 0.1, 0, 0], [0, 1, 0, 0]], 7)])
    >>> print(text.splitlines()[0])
    MEME version 4
    >>> read_meme(text)[0].probabilities.tolist()
    [[0.9, 0.1, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    found = [(name, np.asarray(matrix, float), n) for name, matrix, n in motifs]
    k = found[0][1].shape[-1] if found else 4
    for name, rows, _ in found:
        if rows.ndim != 2 or rows.shape[1] != k or k not in LETTERS:
            raise ValueError(f"motif {name}: the matrix must have 4 columns, or 20")
    share = np.full(k, 1.0 / k) if background is None else np.asarray(background, float)
    letters = [f"{c} {p:.5f}" for c, p in zip(LETTERS[k], share, strict=True)]
    lines = ["MEME version 4", "", f"ALPHABET= {LETTERS[k]}", ""]
    lines += ["strands: + -", ""] if k == 4 else []
    lines += ["Background letter frequencies"]
    lines += [" ".join(letters[j : j + 9]) for j in range(0, k, 9)] + [""]
    for name, rows, sites in found:
        if not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3) or (rows < 0).any():
            raise ValueError(f"motif {name}: each row must be probabilities")
        lines += [f"MOTIF {name}", ""]
        lines += [
            f"letter-probability matrix: alength= {k} w= {len(rows)} "
            f"nsites= {sites} E= 0"
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


def start_weights(motif: MemeMotif, order: int = 0) -> Matrix:
    """Weights for ``MotifSVM(init=)``: log-odds of the motif against equal shares.

    Each probability is raised by 0.001 first, so that none is zero.
    `order` is that of the background of the model, whose weights are zero.

    Examples
    --------
    >>> motif = MemeMotif("AC", np.array([[0.97, 0.01, 0.01, 0.01]] * 2), 7)
    >>> start_weights(motif).shape, round(float(start_weights(motif)[0]), 2)
    ((12,), 1.35)
    """
    rows = motif.probabilities + 1e-3
    k = rows.shape[1]
    rows = rows / rows.sum(axis=1, keepdims=True)
    background = (k ** (order + 2) - k) // (k - 1)
    return np.concatenate((np.log(k * rows).ravel(), np.zeros(background)))


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
            widths = {len(row) for row in rows}
            if widths not in ({4}, {20}):
                raise ValueError(f"motif {name!r} has no matrix of 4 or 20 columns")
            out.append(MemeMotif(name, np.array(rows), sites))
    return out
