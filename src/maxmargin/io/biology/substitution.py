"""Read and write substitution matrices in the text layout of NCBI.

Comment lines begin with "#"; then a line of letters; then one line per letter with its
scores. BLAST, Biopython and parasail read this layout; BLAST wants integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.data.validation import (
    check_distinct,
    check_finite,
    check_shape,
    check_types,
)
from maxmargin.io.text import read_lines


class Substitution(NamedTuple):
    """Scores of each pair of letters."""

    letters: tuple[str, ...]
    scores: NDArray[np.float64]  # (letters, letters)

    def validate(self) -> None:
        """A finite score for each pair of letters."""
        check_types(self)
        n = len(self.letters)
        check_shape(self.scores, (n, n), "substitution matrix")
        check_finite(self.scores, "substitution matrix")
        check_distinct(self.letters, "letters")

    def restrict(self, letters: Sequence[str]) -> Substitution:
        """The scores of some letters, in their order."""
        missing = [v for v in letters if v not in self.letters]
        if missing:
            raise ValueError(f"the matrix has no letter {missing[0]!r}")
        rows = [self.letters.index(v) for v in letters]
        return Substitution(tuple(letters), self.scores[np.ix_(rows, rows)])


def read_substitution(path: str | Path) -> Substitution:
    """Read a matrix; rows and columns must have the same letters in the same order."""
    return parse_substitution(read_lines(path), str(path))


def parse_substitution(lines: Iterable[str], where: str = "matrix") -> Substitution:
    """Matrix from lines.

    Examples
    --------
    >>> parse_substitution(["# note", "   A  C", "A  4  0", "C  0  9"]).scores.tolist()
    [[4.0, 0.0], [0.0, 9.0]]
    """
    letters: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not letters:
            letters = words
            continue
        if len(rows) == len(letters) or words[0] != letters[len(rows)]:
            raise ValueError(
                f"{where}, line {number}: row {words[0]!r} is not expected"
            )
        if len(words) != len(letters) + 1:
            raise ValueError(
                f"{where}, line {number}: {len(words) - 1} scores for {len(letters)} "
                "letters"
            )
        try:
            rows.append([float(word) for word in words[1:]])
        except ValueError:
            raise ValueError(
                f"{where}, line {number}: a score is not a number"
            ) from None
    if len(rows) != len(letters) or not letters:
        raise ValueError(f"{where}: {len(rows)} rows for {len(letters)} letters")
    return Substitution(tuple(letters), np.array(rows))


def whole_numbers(scores: ArrayLike, largest: int = 11) -> NDArray[np.int64]:
    """Scores scaled so that the largest in size is `largest`, and rounded."""
    table = np.asarray(scores, np.float64)
    most = np.abs(table).max()
    return np.rint(table * (largest / most if most > 0 else 1.0)).astype(np.int64)


def write_substitution(
    matrix: Substitution, path: str | Path, comments: Sequence[str] = ()
) -> None:
    """Write a matrix; integers as integers."""
    whole = bool((matrix.scores == np.rint(matrix.scores)).all())
    cells = [
        [f"{v:.0f}" if whole else f"{v:.6g}" for v in row] for row in matrix.scores
    ]
    width = max(3, *(len(c) + 1 for row in cells for c in row))
    lines = [f"# {text}" for text in comments]
    lines.append(" " + "".join(f"{v:>{width}}" for v in matrix.letters))
    for letter, row in zip(matrix.letters, cells, strict=True):
        lines.append(letter + "".join(f"{c:>{width}}" for c in row))
    Path(path).write_text("\n".join(lines) + "\n")
