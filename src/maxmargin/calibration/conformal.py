"""Sets of candidates that hold the truth with a promised frequency.

Each candidate c of an example has a value v(c): its probability, or its score minus the
best one (`Candidates.below_top`). Its strangeness is s(c) = -v(c). If held-out and new
examples come from the same source,

    { c : s(c) <= q },      q = the ceil((n + 1) coverage)-th smallest s(truth) of n,

holds the truth of a new example with at least the probability `coverage`, whatever the
model. Three promises can be made for the tokens of sequences:

    "token"      a share `coverage` of all tokens (counted over long runs of sequences)
    "label"      the same for the tokens of each true label, so that rare ones count
    "sequence"   for a share `coverage` of sequences all tokens are right at once

[1] Vovk, Gammerman, Shafer: Algorithmic learning in a random world, 2005.
[2] Sadinle, Lei, Wasserman: Least ambiguous set-valued classifiers, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.calibration.candidates import Candidates
from maxmargin.core.data.arrays import Floats, Ragged, pointers
from maxmargin.core.data.validation import check_pointers

PROMISES = ("token", "label", "sequence")


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Thresholds from held-out examples; see the module docstring.

    Parameters
    ----------
    per : {"token", "label", "sequence"}
    ptr, strangeness : arrays
        Strangeness of held-out truths in order, group by group: one group, or one for
        each candidate (label).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 3, 2000)
    >>> scores = Candidates.of_table(rng.normal(size=(2000, 3)) + np.eye(3)[truth])
    >>> scores = scores.below_top()
    >>> sets = ConformalSets.fit(scores, truth)
    >>> held = sets.members(scores, coverage=0.9).reshape(-1, 3)
    >>> float(held[np.arange(2000), truth].mean())
    0.9005
    """

    per: str
    ptr: Any
    strangeness: Floats

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Groups lie in the array, each in order."""
        if self.per not in PROMISES:
            raise ValueError(f"per={self.per!r} is not one of {', '.join(PROMISES)}")
        ptr, s = np.asarray(self.ptr), np.asarray(self.strangeness)
        if ptr.ndim != 1 or s.ndim != 1 or len(ptr) < 2 or ptr.dtype != np.int64:
            raise ValueError("the groups of a conformal set are not whole")
        if ptr[0] != 0 or ptr[-1] != len(s) or (np.diff(ptr) < 0).any():
            raise ValueError("the groups of a conformal set do not fit")
        if np.isnan(s).any():
            raise ValueError("a strangeness is not a number")

    @classmethod
    def fit(
        cls,
        candidates: Candidates,
        truth: ArrayLike,
        *,
        per: str = "token",
        sequences: ArrayLike | None = None,
    ) -> ConformalSets:
        """Learn the strangeness of held-out truths.

        Parameters
        ----------
        candidates : Candidates
            With probabilities, or scores below the best one.
        truth : array (n,)
            Place of the truth in each row, -1 where it is not among the candidates.
        per : {"token", "label", "sequence"}
        sequences : array, optional
            Offsets of sequences (m + 1,), for "sequence".
        """
        at = candidates.places(truth)
        s = np.where(at >= 0, -candidates.scores[at], np.inf)
        if per == "label":
            k = int(np.diff(candidates.ptr).max(initial=0))
            label = np.asarray(truth, np.int64)
            kept = label >= 0
            order = np.lexsort((s[kept], label[kept]))
            sizes = np.bincount(label[kept], minlength=k)
            return cls(per, pointers(sizes), s[kept][order])
        if per == "sequence":
            if sequences is None:
                raise ValueError("per='sequence' needs the offsets of the sequences")
            starts = np.asarray(sequences, np.int64)
            check_pointers(starts, candidates.n, "sequences")
            filled = np.flatnonzero(np.diff(starts) > 0)
            s = np.maximum.reduceat(s, starts[filled]) if len(filled) else np.empty(0)
        return cls(per, pointers([len(s)]), np.sort(s))

    def thresholds(self, coverage: float) -> Floats:
        """Q for this coverage, of each group; infinite if there are too few examples."""
        if (
            not isinstance(coverage, float | int | np.number)
            or not 0.0 < coverage < 1.0
        ):
            raise ValueError(f"coverage={coverage!r} is not between 0 and 1")
        out = []
        for a, b in zip(self.ptr[:-1], self.ptr[1:]):
            rank = math.ceil((b - a + 1) * coverage - 1e-9)
            out.append(self.strangeness[a + rank - 1] if rank <= b - a else np.inf)
        return np.array(out)

    def members(
        self, candidates: Candidates, coverage: float, *, empty: bool = False
    ) -> NDArray[np.bool_]:
        """Whether each candidate is in the set of its example.

        Parameters
        ----------
        candidates : Candidates
            With values as in `fit`.
        coverage : float
        empty : bool
            Whether sets may be empty. If not, the best candidate always is in its set,
            and the truth is covered at least as often as the best candidate is right.
        """
        q = self.thresholds(coverage)
        if self.per == "label":
            place = np.arange(len(candidates.scores)) - candidates.ptr[candidates.owner]
            if len(place) and place.max() >= len(q):
                raise ValueError(f"rows have more than the {len(q)} known candidates")
            q = q[place]
        inside = (-candidates.scores <= q) & (candidates.scores > -np.inf)
        if not empty:
            inside[candidates.ptr[:-1] + candidates.best()] = True
        return inside

    def sets(
        self, candidates: Candidates, coverage: float, *, empty: bool = False
    ) -> Ragged:
        """The places of the candidates in the set of each example, the best first."""
        inside = self.members(candidates, coverage, empty=empty)
        owner = candidates.owner
        order = np.lexsort((-candidates.scores, owner))
        order = order[inside[order]]
        sizes = np.bincount(owner[order], minlength=candidates.n)
        return Ragged(
            pointers(sizes), (order - candidates.ptr[owner[order]]).astype(np.int32)
        )


def coverage_of(
    members: NDArray[np.bool_], candidates: Candidates, truth: ArrayLike
) -> Mapping[str, float]:
    """How often the truth is in the set, and how many candidates sets have.

    Examples
    --------
    >>> two = Candidates.of_table([[0.9, 0.1], [0.6, 0.4]])
    >>> coverage_of(np.array([True, False, True, True]), two, [1, 1])
    {'coverage': 0.5, 'size': 1.5}
    """
    at = candidates.places(truth)
    held = np.where(at >= 0, members[at], False)
    return {
        "coverage": float(held.mean()),
        "size": float(members.sum() / max(candidates.n, 1)),
    }
