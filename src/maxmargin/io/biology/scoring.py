"""A learned scoring system for other programs: matrix, gap costs and their scale.

    score of an alignment = sum of matrix[a, b] over matches
                          + open + (k - 1) * extend for each gap of k letters

where gaps at the ends of a sequence may have costs of their own.

`Scoring.aligner` makes an aligner of Biopython, `Scoring.parasail` what parasail's
functions take, `Scoring.blast` a matrix file and flags for BLAST. Biopython and parasail
are imported when they are asked for.

Conventions differ. Here, in Biopython and in parasail a gap of k letters costs
open + (k - 1) * extend; in BLAST it costs existence + k * extension, so its existence is
open - extend.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class ParasailScoring(NamedTuple):
    """What functions such as ``parasail.nw_trace_striped_16`` take.

    ``parasail.nw(first, second, s.open, s.extend, s.matrix).score`` is ``s.scale`` times
    the score of the model, up to rounding.
    """

    matrix: Any  # parasail.Matrix
    open: int
    extend: int
    scale: float


class BlastScoring(NamedTuple):
    """A matrix for a file, and the costs of gaps as BLAST counts them."""

    text: str  # in the layout of NCBI
    gapopen: int
    gapextend: int
    scale: float

    def flags(self, path: str) -> list[str]:
        """Arguments of blastp for a matrix file at `path`."""
        gaps = ["-gapopen", str(self.gapopen), "-gapextend", str(self.gapextend)]
        return ["-matrix", path, *gaps]


MODES = ("global", "semiglobal", "local")


@dataclass(frozen=True)
class Scoring:
    """Scores of matches and gaps; gaps have scores below zero as a rule.

    Parameters
    ----------
    letters : tuple of str
        The rows and columns of the matrix.
    matrix : array (letters, letters)
        Score of a letter of the first sequence against one of the second.
    deletion, insertion : pair of float
        (open, extend): scores of the first and of every further letter of a gap.
        A deletion skips letters of the first sequence, an insertion of the second.
    mode : {"global", "semiglobal", "local"}
        How the model aligns.
    scale : float
        By how much the scores were multiplied since they were learned.
    end_deletion, end_insertion : pair of float, optional
        (open, extend) of gaps before the first and after the last letter of the other
        sequence; by default those of all gaps.
    """

    letters: tuple[str, ...]
    matrix: NDArray[np.float64]
    deletion: tuple[float, float]
    insertion: tuple[float, float]
    mode: str = "global"
    scale: float = 1.0
    end_deletion: tuple[float, float] | None = None
    end_insertion: tuple[float, float] | None = None

    def integers(self, largest: int = 11) -> Scoring:
        """The same in whole numbers, the largest of the matrix being `largest`.

        Rounding changes alignments a little; the larger `largest`, the less.
        """
        most = float(np.abs(self.matrix).max())
        factor = largest / most if most > 0 else 1.0

        def whole(pair: tuple[float, float]) -> tuple[float, float]:
            opening, extension = np.rint(factor * np.array(pair)) + 0.0
            return float(opening), float(extension)

        ends = self.end_deletion, self.end_insertion
        rounded = np.rint(factor * self.matrix) + 0.0  # + 0.0: no "-0" in files
        return Scoring(
            self.letters, rounded, whole(self.deletion),
            whole(self.insertion), self.mode, factor * self.scale,
            *(None if pair is None else whole(pair) for pair in ends),
        )  # fmt: skip

    def parasail(self, largest: int = 11) -> ParasailScoring:
        """Matrix and gap costs for parasail, in whole numbers.

        Parasail has one cost for gaps in either sequence, and none of their own for gaps
        at the ends: a model with such costs is refused.

        Examples
        --------
        >>> scoring = Scoring(("A", "C"), np.array([[2.0, -1.0], [-1.0, 3.0]]),
        ...                   (-4.0, -1.0), (-4.0, -1.0))
        >>> import parasail                                     # doctest: +SKIP
        >>> s = scoring.parasail(largest=3)                     # doctest: +SKIP
        >>> parasail.nw("ACCA", "ACA", s.open, s.extend, s.matrix).score  # doctest: +SKIP
        3
        """
        import parasail

        whole, opening, extension = self._one_cost("parasail", largest)
        letters = [letter for letter in whole.letters if letter != "*"]
        matrix = parasail.matrix_create(
            "".join(letters), 1, 0
        )  # with a row "*" at the end
        if "*" in whole.letters:
            letters.append("*")
        at = [whole.letters.index(letter) for letter in letters]
        for i, row in enumerate(whole.matrix[np.ix_(at, at)].astype(int).tolist()):
            for j, value in enumerate(row):
                matrix[i, j] = value
        return ParasailScoring(matrix, opening, extension, whole.scale)

    def blast(self, largest: int = 11) -> BlastScoring:
        """A matrix file and gap costs for BLAST, in whole numbers.

        blastp knows statistics for its own matrices only; give others by their file to
        programs that take one, and read E-values from `fit_evalues`.

        Examples
        --------
        >>> scoring = Scoring(("A", "C"), np.array([[2.0, -1.0], [-1.0, 3.0]]),
        ...                   (-4.0, -1.0), (-4.0, -1.0))
        >>> scoring.blast(largest=3).flags("learned.mat")
        ['-matrix', 'learned.mat', '-gapopen', '3', '-gapextend', '1']
        """
        whole, opening, extension = self._one_cost("BLAST", largest)
        return BlastScoring(
            whole.ncbi_text(), opening - extension, extension, whole.scale
        )

    def _one_cost(self, who: str, largest: int) -> tuple[Scoring, int, int]:
        """Whole numbers with one cost for all gaps, as (scoring, open, extend)."""
        if self.deletion != self.insertion:
            raise ValueError(
                f"{who} has one cost for gaps in either sequence, but this model has "
                f"{self.deletion} and {self.insertion}: train with symmetric=True"
            )
        if {self.end_deletion, self.end_insertion} - {None, self.deletion}:
            raise ValueError(
                f"{who} has no costs of their own for gaps at the ends: train with "
                "end_gaps=False, or use aligner()"
            )
        whole = self.integers(largest)
        opening, extension = (int(-v) for v in whole.deletion)
        if extension < 0 or opening < extension:
            raise ValueError(
                f"gaps cost {opening} and {extension}: {who} needs costs, and opening "
                "must cost at least as much as extending"
            )
        return whole, opening, extension

    def ncbi_text(self) -> str:
        """The matrix in the layout of NCBI, with gap costs and scale in comments."""
        lines = [
            f"# scores are {self.scale:.6g} times those of the model",
            f"# gaps: deletion {self.deletion}, insertion {self.insertion} (first letter, "
            "every further one)",
        ]
        if self.end_deletion is not None:
            lines.append(
                f"# gaps at the ends: {self.end_deletion}, {self.end_insertion}"
            )
        lines.append("   " + " ".join(f"{letter:>4}" for letter in self.letters))
        for letter, row in zip(self.letters, self.matrix, strict=True):
            lines.append(f"{letter}  " + " ".join(f"{value:4g}" for value in row))
        return "\n".join(lines) + "\n"

    def json_text(self) -> str:
        """Everything as JSON."""
        told = {
            "letters": list(self.letters), "matrix": self.matrix.tolist(),
            "deletion": self.deletion, "insertion": self.insertion, "mode": self.mode,
            "scale": self.scale, "end_deletion": self.end_deletion,
            "end_insertion": self.end_insertion,
        }  # fmt: skip
        return json.dumps(told) + "\n"

    def aligner(self) -> Any:
        """A `Bio.Align.PairwiseAligner` that gives the same scores.

        Examples
        --------
        >>> scoring = Scoring(("A", "C"), np.array([[2.0, -1.0], [-1.0, 3.0]]),
        ...                   (-4.0, -1.0), (-4.0, -1.0))
        >>> scoring.aligner().score("ACCA", "ACA")
        3.0
        """
        from Bio.Align import PairwiseAligner, substitution_matrices

        aligner = PairwiseAligner()
        aligner.mode = "local" if self.mode == "local" else "global"
        table = substitution_matrices.Array("".join(self.letters), dims=2)
        for i, a in enumerate(self.letters):
            for j, b in enumerate(self.letters):
                table[a, b] = self.matrix[i, j]
        aligner.substitution_matrix = table
        aligner.open_deletion_score, aligner.extend_deletion_score = self.deletion
        aligner.open_insertion_score, aligner.extend_insertion_score = self.insertion
        if self.end_deletion is not None:
            opening, extension = self.end_deletion
            aligner.open_end_deletion_score = opening
            aligner.extend_end_deletion_score = extension
        if self.end_insertion is not None:
            opening, extension = self.end_insertion
            aligner.open_end_insertion_score = opening
            aligner.extend_end_insertion_score = extension
        if self.mode == "semiglobal":
            aligner.end_insertion_score = 0.0
            aligner.end_deletion_score = 0.0
        return aligner
