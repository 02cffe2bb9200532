"""A learned scoring system for other programs: matrix, gap costs and their scale.

    score of an alignment = sum of matrix[a, b] over matches
                          + open + (k - 1) * extend for each gap of k letters

where gaps at the ends of a sequence may have costs of their own.

`Scoring.aligner` makes an aligner of Biopython, `Scoring.integers` whole numbers for
BLAST and parasail. Biopython is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
            return float(np.rint(factor * pair[0])), float(np.rint(factor * pair[1]))

        ends = self.end_deletion, self.end_insertion
        return Scoring(
            self.letters, np.rint(factor * self.matrix), whole(self.deletion),
            whole(self.insertion), self.mode, factor * self.scale,
            *(None if pair is None else whole(pair) for pair in ends),
        )  # fmt: skip

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
