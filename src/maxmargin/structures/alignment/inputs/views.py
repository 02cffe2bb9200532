"""How positions of annotated sequences are described: views, pairs of views, gaps.

A sequence has tracks: residues, secondary structure, exposed surface, a profile. A
`View` is one description of a position made of tracks: their letters together, perhaps
over a window, or the real vector of a profile. A match of position i with position j
has one indicator per `Pair` of views,

    phi(i, j) = sum over pairs (u, v) of  e[u(i)] (x) e[v(j)],

so a model is a tuple of pairs, and the sum of two models is their concatenation. A gap
is described by views of the position that is skipped and of the two neighbours of the
slot where it falls on the other side.

[1] Yu 2011, section 4.4: Simple, Anova2, Tensor, Window, Profile, and the gap model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Protocol, runtime_checkable

import numpy as np

from maxmargin.core.data.validation import (
    check_distinct,
    check_finite,
    check_shape,
    check_types,
    require,
)

RESIDUE_BINS = ("AGPST", "C", "DENQ", "FWY", "HKR", "ILMV")


@dataclass(frozen=True)
class View:
    """The letters of `tracks` at a position, or in a window around it.

    Parameters
    ----------
    tracks : tuple of str
        Their letters together are one symbol; no tracks: one symbol for all positions.
    reach : int, default=0
        Window from -reach to +reach; beyond the ends stands a symbol of its own.
    bins : tuple of str, optional
        Groups of letters taken as one; letters in no group count as beyond the end.
    real : bool, default=False
        The single track holds vectors, which enter as they are.
    ends : bool, default=False
        Of slots: whether they lie at an end of the sequence, whatever its letters.
    """

    tracks: tuple[str, ...] = ()
    reach: int = 0
    bins: tuple[str, ...] | None = None
    real: bool = False
    ends: bool = False

    def validate(self) -> None:
        """A window that can be read, one track if it holds vectors."""
        check_types(self)
        require(0 <= self.reach <= 62, f"reach={self.reach} is out of range")
        if self.real:
            plain = len(self.tracks) == 1 and self.reach == 0 and self.bins is None
            require(plain, "a view of vectors has one track, no window and no bins")
        if self.ends:
            require(self == View(ends=True), "a view of the ends is about nothing else")

    @property
    def name(self) -> str:
        """As in the names of features."""
        if self.ends:
            return "end"
        window = f"[{-self.reach}..{self.reach}]" if self.reach else ""
        return "+".join(self.tracks) + window or "any"


END = View(ends=True)


@dataclass(frozen=True)
class Pair:
    """Weights for each pair of symbols (left(i), right(j)) of a match.

    With a `table` of scores, such as BLOSUM62, the pair has one weight that multiplies
    the table: letters in `table.letters`, numbers in `table.scores`.
    """

    left: View
    right: View
    table: Any = None

    def validate(self) -> None:
        """Views that are valid, and a table of letters and scores if any."""
        check_types(self)
        self.left.validate()
        self.right.validate()
        if self.table is not None:
            require(isinstance(self.table, ScoreTable), "the table has no scores")
            single = all(len(v.tracks) == 1 for v in (self.left, self.right))
            require(single, "a table of scores is about single tracks")
            n = len(self.table.letters)
            check_shape(np.asarray(self.table.scores), (n, n), "table of scores")
            check_finite(self.table.scores, "table of scores")


@runtime_checkable
class ScoreTable(Protocol):
    """A substitution matrix."""

    letters: Sequence[str]
    scores: Any  # (letters, letters)


@dataclass(frozen=True, eq=False)
class Prior:
    """Known scores of matches and gaps, as one feature of an alignment.

        prior(x, y) = sum over matches scores[s_i, t_j] + sum over gaps (open + extend ..)

    As the table of a `Pair` it has one weight s, and all other weights v are what the
    model learns beyond it: score = s * prior(x, y) + <v, psi(x, y)>. The penalty
    1/2 (s^2 + ||v||^2) then pulls the model towards s times the known scores, not to zero.

    Parameters
    ----------
    letters : tuple of str
    scores : array (letters, letters)
    gaps : (float, float)
        Scores of the first and of each further letter of a gap; negative as a rule.
    """

    letters: tuple[str, ...]
    scores: Any
    gaps: tuple[float, float]

    def validate(self) -> None:
        """Finite numbers for distinct letters."""
        check_types(self)
        check_distinct(self.letters, "letters of the prior")
        n = len(self.letters)
        check_shape(np.asarray(self.scores), (n, n), "scores of the prior")
        check_finite(self.scores, "scores of the prior")
        require(len(self.gaps) == 2, "the prior has two gap scores")
        check_finite(np.asarray(self.gaps), "gap scores of the prior")


@dataclass(frozen=True)
class Gaps:
    """What a gap costs.

    Parameters
    ----------
    affine : bool, default=True
        Whether the first position of a gap has weights of its own.
    opening, extension : tuple of View
        Views of the skipped position; the empty view is one weight for all.
    slot : tuple of View
        Views of the two positions around the gap, on the other side; at its opening.
    tied : bool, default=False
        One set of weights for gaps on either side.
    ends : bool, default=False
        Whether gaps before the first and after the last letter of a sequence have weights
        of their own, which are added to those of all gaps.
    """

    affine: bool = True
    opening: tuple[View, ...] = (View(),)
    extension: tuple[View, ...] = (View(),)
    slot: tuple[View, ...] = ()
    tied: bool = False
    ends: bool = False

    @property
    def around(self) -> tuple[View, ...]:
        """All views of slots."""
        return (*self.slot, END) if self.ends else self.slot

    def validate(self) -> None:
        """Views that are valid, none of vectors."""
        check_types(self)
        for view in (*self.opening, *self.extension, *self.slot):
            view.validate()
            plain = not (view.real or view.ends)
            require(plain, "gaps are described by letters, not by vectors")


def simple(
    tracks: Sequence[str], others: Sequence[str] | None = None
) -> tuple[Pair, ...]:
    """Every track against every track.

    Examples
    --------
    >>> [f"{p.left.name}|{p.right.name}" for p in simple(["residue", "ss"])]
    ['residue|residue', 'residue|ss', 'ss|residue', 'ss|ss']
    """
    return _crossed([(t,) for t in tracks], [(t,) for t in others or tracks])


def anova2(
    tracks: Sequence[str], others: Sequence[str] | None = None
) -> tuple[Pair, ...]:
    """Every two tracks together against every two tracks together."""
    left, right = combinations(tracks, 2), combinations(others or tracks, 2)
    return _crossed(list(left), list(right))


def tensor(
    tracks: Sequence[str], others: Sequence[str] | None = None
) -> tuple[Pair, ...]:
    """All tracks together against all tracks together."""
    return _crossed([tuple(tracks)], [tuple(others or tracks)])


def window(
    reaches: Mapping[str, int], bins: Mapping[str, Sequence[str]] | None = None
) -> tuple[Pair, ...]:
    """Each track in a window against itself in a window, letters binned.

    Examples
    --------
    >>> pair, = window({"residue": 1}, {"residue": RESIDUE_BINS})
    >>> pair.left.name, pair.left == pair.right
    ('residue[-1..1]', True)
    """
    grouped = bins or {}
    views = [
        View((t,), reach, tuple(grouped[t]) if t in grouped else None)
        for t, reach in reaches.items()
    ]
    return tuple(Pair(v, v) for v in views)


def profile(
    track: str, tracks: Sequence[str], others: Sequence[str] | None = None
) -> tuple[Pair, ...]:
    """A real-valued track against each track and against itself."""
    real = View((track,), real=True)
    right = tuple(Pair(View((t,)), real) for t in tracks)
    left = tuple(Pair(real, View((t,))) for t in others or tracks)
    return (*right, *left, Pair(real, real))


def matrix(table: Any, track: str = "residue") -> tuple[Pair, ...]:
    """One weight times known scores: a substitution matrix, or a `Prior` with gap costs."""
    return (Pair(View((track,)), View((track,)), table),)


def structural_gaps(residue: str, structure: Sequence[str]) -> Gaps:
    """Opening by residue, structure, and structure around the slot ([1], 4.4.2)."""
    shape = View(tuple(structure))
    return Gaps(opening=(View((residue,)), shape), slot=(shape,))


def _crossed(
    left: Sequence[tuple[str, ...]], right: Sequence[tuple[str, ...]]
) -> tuple[Pair, ...]:
    return tuple(Pair(View(a), View(b)) for a, b in product(left, right))
