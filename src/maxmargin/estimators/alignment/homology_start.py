"""Scores that homology search starts from: log-odds of aligned letters.

    score(a, b) = 2 log2 P(a, b) / (P(a) P(b))        (half-bits, as BLOSUM62)

P(a, b) is counted on the given alignments. Few alignments say little about 400 pairs of
letters, so some pairs are added: for proteins as in BLOSUM62, otherwise pairs of equal
letters more often than by chance. Without alignments these are all there is.

Costs of gaps are those, of a few common ones, with which most homologs are found.

[1] Henikoff and Henikoff 1992. [2] Durbin et al. 1998, section 2.
[3] Robinson and Robinson 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.io.biology.blosum import BLOSUM62
from maxmargin.io.biology.substitution import parse_substitution
from maxmargin.structures.alignment.homology import Homology
from maxmargin.structures.alignment.inputs.letters import ALPHABETS
from maxmargin.structures.alignment.inputs.views import Gaps, Prior, matrix
from maxmargin.structures.alignment.paths import columns_of
from maxmargin.structures.alignment.structure import Alignment

TRACK = "residue"
HALF_BIT = np.log(2.0) / 2.0
EQUAL = 0.3  # share of equal letters in relatives, where nothing is known about them
PROTEIN_PAIRS = 4000.0  # pairs as in BLOSUM62 that are added to those counted
# Shares of the amino acids in proteins, by letter [3].
SHARES = {
    "A": 0.07805, "C": 0.01925, "D": 0.05364, "E": 0.06295, "F": 0.03856, "G": 0.07377,
    "H": 0.02199, "I": 0.05142, "K": 0.05744, "L": 0.09019, "M": 0.02243, "N": 0.04487,
    "P": 0.05203, "Q": 0.04264, "R": 0.05129, "S": 0.07120, "T": 0.05841, "V": 0.06441,
    "W": 0.01330, "Y": 0.03216,
}  # fmt: skip
AFFINE = ((-6.0, -1.0), (-7.0, -1.0), (-9.0, -1.0), (-11.0, -1.0))
LINEAR = ((-2.0, -2.0), (-3.0, -3.0), (-4.0, -4.0), (-6.0, -6.0))


def learn_prior(
    alignment: Alignment, X: Sequence[Any], places: Sequence[int],
    alignments: Sequence[Any], weight: Floats,
) -> Prior:  # fmt: skip
    """Scores from natives, candidates, places of the homologs and their alignments.

    `alignment` is bound; an entry of `alignments` may be None. An example of weight 2
    counts twice.
    """
    letters = tuple(alignment.symbols.letters[TRACK])
    number = _numbers(letters)
    share = np.ones(len(letters))
    for (native, candidates, *_), times in zip(X, weight.tolist(), strict=True):
        for sequence in (native, *candidates):
            _count(share, _codes(sequence, number), times)
    share /= share.sum()
    joint = np.zeros((len(letters), len(letters)))
    for q, (x, c, written) in enumerate(zip(X, places, alignments, strict=True)):
        if written is None:
            continue
        a, b = (_codes(sequence, number) for sequence in (x[0], x[1][c]))
        columns = columns_of(written, f"example {q}")
        columns = columns[(columns >= 0).all(axis=1)]
        both = np.stack([a[columns[:, 0]], b[columns[:, 1]]], axis=1)
        both = both[(both >= 0).all(axis=1)]
        np.add.at(joint, (both[:, 0], both[:, 1]), weight[q])
    expected, pairs = _expected(letters, share)
    joint += expected * (pairs if joint.any() else 1.0)
    joint /= joint.sum()
    if alignment.symmetric:
        joint = (joint + joint.T) / 2.0
    by_chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    scores = np.log(joint / by_chance) / HALF_BIT
    costs = AFFINE if alignment.gaps.affine else LINEAR
    return _best_gaps(alignment, X, np.asarray(places), letters, scores, costs, weight)


def _expected(letters: tuple[Any, ...], share: Floats) -> tuple[Floats, float]:
    """P(a, b) in relatives before any are seen, and how many pairs that is worth."""
    if set(letters) <= set(ALPHABETS["protein"]) and len(letters) > 15:
        table = parse_substitution(BLOSUM62.splitlines(), "BLOSUM62")
        known = table.restrict(letters).scores
        usual = np.array([SHARES[v] for v in letters])
        joint = np.outer(usual, usual) * np.exp(HALF_BIT * known)
        return joint / joint.sum(), PROTEIN_PAIRS
    equal = EQUAL * np.diag(share)
    return (1.0 - EQUAL) * np.outer(share, share) + equal, float(len(letters))


def _best_gaps(
    alignment: Alignment, X: Sequence[Any], places: Ints, letters: tuple[Any, ...],
    scores: Floats, costs: Sequence[tuple[float, float]], weight: Floats,
) -> Prior:  # fmt: skip
    """The scores with those gap costs under which most homologs come first."""
    plain = Alignment(
        mode=alignment.mode, model=matrix(Prior(letters, scores, (-1.0, -1.0)), TRACK),
        gaps=Gaps(affine=alignment.gaps.affine, tied=True), band=alignment.band,
        normalize=alignment.normalize, alphabets={TRACK: letters}, unknown="ignore",
    )  # fmt: skip
    search = Homology(plain).bind([x[:2] for x in X], [])
    x = search.encode([(_residues(n), [_residues(c) for c in cs]) for n, cs, *_ in X])
    ids, best, kept = np.arange(x.n), (-1.0, 0.0), costs[0]
    for opening, extension in costs:
        # The prior has gaps of -1 and -1; the weights of gaps add the rest.
        w = np.zeros(search.dim)
        w[0] = 1.0
        w[1:] = (opening + 1.0, extension + 1.0)[: search.dim - 1]
        found = search.scores(x, ids, w)
        rank, lead = [], []
        for q, c in enumerate(places.tolist()):
            own = found[x.ptr[q] : x.ptr[q + 1]]
            most = float(np.delete(own, c).max(initial=-np.inf))
            rank.append(own[c] > most)
            lead.append(np.tanh((own[c] - most) / (np.abs(own).max() + 1e-300)))
        first, ahead = (float(np.average(v, weights=weight)) for v in (rank, lead))
        quality = (first, ahead)
        if quality > best:
            best, kept = quality, (opening, extension)
    return Prior(letters, scores, kept)


def _residues(sequence: Any) -> Any:
    return sequence[TRACK] if hasattr(sequence, "keys") else sequence


def _numbers(letters: Sequence[Any]) -> dict[Any, int]:
    number = {v.lower(): k for k, v in enumerate(letters) if isinstance(v, str)}
    number |= {v.upper(): k for k, v in enumerate(letters) if isinstance(v, str)}
    return number | {v: k for k, v in enumerate(letters)}


def _codes(sequence: Any, number: dict[Any, int]) -> Ints:
    return np.array([number.get(v, -1) for v in _residues(sequence)], np.int64)


def _count(share: Floats, codes: Ints, times: float) -> None:
    share += times * np.bincount(codes[codes >= 0], minlength=len(share))
