"""Alignments to compare learned ones with: by log-odds scores, or by BLOSUM62.

`LogOdds` is the generative model: with counts of aligned letters in the references,

    score(a, b) = log P(a, b) / (P(a) P(b)),

Laplace estimates throughout, and gap scores chosen on held-out or training pairs.
`KnownMatrix` has a fixed substitution matrix and gap scores chosen the same way.

[1] Tsochantaridis et al. 2005, section 5.3. [2] Durbin et al. 1998, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.io.biology.blosum import BLOSUM62
from maxmargin.io.biology.substitution import Substitution, parse_substitution
from maxmargin.losses.pairs import AlignedPairs
from maxmargin.structures.alignment.inputs.views import Gaps, simple
from maxmargin.structures.alignment.structure import Alignment


@dataclass(frozen=True)
class KnownMatrix:
    """Align with a fixed substitution matrix and tuned affine gaps.

    Parameters
    ----------
    matrix : Substitution, default=BLOSUM62
    opening, extension : float
        Scores of the first and of each further position of a gap; negative.
    mode : str, default="global"

    Examples
    --------
    >>> model = KnownMatrix(opening=-5.0, extension=-1.0).bind()
    >>> model.predict([("HEAG", "HAG")])[0].tolist()
    [[0, 0], [1, -1], [2, 1], [3, 2]]
    """

    matrix: Substitution | None = None
    opening: float = -11.0
    extension: float = -1.0
    mode: str = "global"
    structure: Alignment | None = field(default=None, repr=False)

    def bind(self) -> KnownMatrix:
        """A copy that is ready to align."""
        matrix = self.matrix or parse_substitution(BLOSUM62.splitlines(), "BLOSUM62")
        letters = tuple(v for v in matrix.letters if v != "*")
        structure = Alignment(
            mode=self.mode,
            model=simple(["residue"]),
            gaps=Gaps(tied=True),
            alphabets={"residue": letters},
        ).bind([("".join(letters), "".join(letters))], [])
        return replace(self, matrix=matrix.restrict(letters), structure=structure)

    @property
    def weights(self) -> Floats:
        """Scores in the order of the structure's weights."""
        assert self.matrix is not None
        gaps = [self.opening, self.extension]
        return np.concatenate([self.matrix.scores.ravel(), gaps])

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Columns of the best alignment of each pair."""
        model = self if self.structure is not None else self.bind()
        assert model.structure is not None
        x = model.structure.encode(_residues(X))
        found = model.structure.argmax(x, np.arange(x.n), model.weights)
        return model.structure.decode_labels(x, found.labels)

    def tune(
        self, X: Sequence[Any], Y: Sequence[Any], openings: Sequence[float],
        extensions: Sequence[float], shift: int = 0,
    ) -> KnownMatrix:  # fmt: skip
        """A copy with the gap scores that have the best mean Q on these pairs."""
        model = self.bind()
        assert model.structure is not None
        x = model.structure.encode(_residues(X))
        truth, ids = model.structure.encode_labels(x, Y), np.arange(x.n)
        best, kept = -1.0, model
        for opening, extension in product(openings, extensions):
            trial = replace(model, opening=opening, extension=extension)
            found = model.structure.argmax(x, ids, trial.weights).labels
            score = float(1.0 - AlignedPairs(shift).value(truth, found).mean())
            if score > best:
                best, kept = score, trial
        return kept


@dataclass(frozen=True)
class LogOdds:
    """Log-odds scores from counts, with Laplace's one added to each.

    Parameters
    ----------
    letters : str or sequence
        The alphabet.
    pseudo : float, default=1.0
        Added to each count.
    background : {"letters", "pairs"}, default="letters"
        P(a) from all letters of the sequences, or as the sum of P(a, b) over b; with few
        references and many letters the latter keeps pairs never seen near zero. Letters
        of further sequences can be counted, too: see `fit`.
    """

    letters: Sequence[Any] = "ACDEFGHIKLMNPQRSTVWY"
    pseudo: float = 1.0
    background: str = "letters"

    def fit(
        self, X: Sequence[Any], Y: Sequence[Any], others: Sequence[Any] | None = None
    ) -> Substitution:
        """Scores from pairs and their alignments (columns, -1 for a gap).

        Parameters
        ----------
        X : sequence of pairs
            Sequences, or dicts with the track "residue".
        Y : sequence
            Their alignments.
        others : sequence of sequences, optional
            Unrelated sequences, such as decoys. P is then one distribution for both
            sides, counted on all letters of `X` and of these.

        Examples
        --------
        >>> table = LogOdds("AB").fit([("AB", "AB")], [[[0, 0], [1, 1]]])
        >>> table.scores.round(2).tolist()
        [[0.29, -0.41], [-0.41, 0.29]]
        """
        if self.background not in ("letters", "pairs"):
            raise ValueError(
                f"background={self.background!r} is not 'letters' or 'pairs'"
            )
        if others is not None and self.background == "pairs":
            raise ValueError("others are counted by background='letters' only")
        number = {letter: k for k, letter in enumerate(self.letters)}
        k = len(number)
        joint = np.full((k, k), self.pseudo)
        left, right = np.full(k, self.pseudo), np.full(k, self.pseudo)
        for (s, t), columns in zip(_residues(X), Y, strict=True):
            a = np.array([number[v] for v in s])
            b = np.array([number[v] for v in t])
            np.add.at(left, a, 1.0)
            np.add.at(right, b, 1.0)
            matched = np.asarray(columns).reshape(-1, 2)
            matched = matched[(matched >= 0).all(axis=1)]
            np.add.at(joint, (a[matched[:, 0]], b[matched[:, 1]]), 1.0)
        if others is not None:
            left = left + right - self.pseudo
            for sequence in others:
                np.add.at(left, [number[v] for v in _letters(sequence)], 1.0)
            right = left
        joint, left, right = joint / joint.sum(), left / left.sum(), right / right.sum()
        if self.background == "pairs":
            left, right = joint.sum(axis=1), joint.sum(axis=0)
        return Substitution(
            tuple(self.letters), np.log(joint) - np.log(np.outer(left, right))
        )


def _residues(X: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(_letters(s), _letters(t)) for s, t in X]


def _letters(sequence: Any) -> Any:
    return sequence["residue"] if isinstance(sequence, dict) else sequence
