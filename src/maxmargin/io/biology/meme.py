"""Motifs in MEME text format (version 4, minimal): what Tomtom and FIMO read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.foreign.biopython_records import is_of_biopython
from maxmargin.io.text import read_lines

Matrix = NDArray[np.float64]
LETTERS = {4: "ACGT", 20: "ACDEFGHIKLMNPQRSTVWY"}
MOST_SITES = 1e15  # that a motif may claim to be made from


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
    both_strands: bool = True,
) -> str:
    """Motifs (name, probabilities (length, 4) or (length, 20), number of sites) as text.

    Columns are A, C, G, T, or the amino acids in the order of their letters.
    `both_strands` says that sites of DNA were looked for on both.

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
    strands = "strands: + -" if both_strands else "strands: +"
    lines += [strands, ""] if k == 4 else []
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
    where = "text"
    if not text.lstrip().startswith("MEME version"):
        text, where = "\n".join(read_lines(source)), str(source)
        first = next((line for line in text.splitlines() if line.strip()), "")
        if not first.lstrip().startswith("MEME version"):
            raise ValueError(
                f"{where}: {first[:40]!r} is not 'MEME version 4', the first line of "
                "motifs in MEME format"
            )
    return _motifs(text, where)


def start_weights(motif: Any, order: int = 0) -> Matrix:
    """Weights for ``MotifSVM(init=)``: log-odds of the motif against equal shares.

    `motif` is one of `read_meme`, or a `Bio.motifs.Motif` of Biopython. Each probability
    is raised by 0.001 first, so that none is zero. `order` is that of the background of
    the model, whose weights are zero.

    Examples
    --------
    >>> motif = MemeMotif("AC", np.array([[0.97, 0.01, 0.01, 0.01]] * 2), 7)
    >>> start_weights(motif).shape, round(float(start_weights(motif)[0]), 2)
    ((12,), 1.35)
    """
    if is_of_biopython(motif):
        shares = motif.pwm  # letter -> its probability at each place
        columns = [shares[letter] for letter in LETTERS.get(len(shares), shares)]
        motif = MemeMotif(str(motif.name or ""), np.array(columns, float).T, 0)
    rows = motif.probabilities + 1e-3
    k = rows.shape[1]
    rows = rows / rows.sum(axis=1, keepdims=True)
    background = (k ** (order + 2) - k) // (k - 1)
    return np.concatenate((np.log(k * rows).ravel(), np.zeros(background)))


def _motifs(text: str, where: str) -> list[MemeMotif]:
    out: list[MemeMotif] = []
    name, lines = "", text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("MOTIF"):
            name = (line.split()[1:] or [""])[0]
        elif line.startswith("letter-probability matrix"):
            at = f"{where}, line {number}, motif {name!r}"
            said = _said(line, at)
            width = said.get("w", 0.0)
            rows = (
                lines[number : number + int(width)] if 0 < width <= len(lines) else []
            )
            if not rows or len(rows) < width:
                raise ValueError(f"{at}: w= {width:g} rows are announced, not there")
            table = [_row(r, f"{where}, line {number + k}", name)
                     for k, r in enumerate(rows, 1)]  # fmt: skip
            if len({len(row) for row in table}) != 1:
                raise ValueError(f"{at}: its rows do not have one width")
            sites = said.get("nsites", 0.0)
            if not 0.0 <= sites <= MOST_SITES:
                raise ValueError(f"{at}: nsites= {sites:g} is not a number of sites")
            out.append(MemeMotif(name, np.array(table), int(sites)))
    return out


def _said(line: str, where: str) -> dict[str, float]:
    """What the line above a matrix says: w, alength, nsites, E."""
    words = line.replace("=", " = ").split()
    try:
        return {
            words[k - 1]: float(words[k + 1]) for k, v in enumerate(words) if v == "="
        }
    except (ValueError, IndexError):
        raise ValueError(f"{where}: {line[:60]!r} is not 'w= 8 nsites= 20'") from None


def _row(line: str, where: str, name: str) -> list[float]:
    """Probabilities of the letters at one place."""
    try:
        row = [float(v) for v in line.split()]
    except ValueError:
        raise ValueError(
            f"{where}, motif {name!r}: {line[:40]!r} is not a row of numbers"
        ) from None
    if len(row) not in LETTERS:
        raise ValueError(
            f"{where}, motif {name!r}: {len(row)} numbers, where a row has 4 (DNA) or 20 "
            "(protein)"
        )
    if not abs(sum(row) - 1.0) < 0.05 or min(row) < 0.0:
        raise ValueError(
            f"{where}, motif {name!r}: the row adds up to {sum(row):.3g}; it has to be "
            "probabilities"
        )
    return row
