"""Positions of sequences as rows of numbers, and as kernel features.

A row holds the letters of a position as indicators and its vectors as they are, all
tracks side by side. `Positions` adds the track phi(row) to sequences: with the pair
(phi, phi) in the model a match of i with j scores

    phi(s_i)' W phi(t_j) = sum over basis positions p, q of B_pq K(s_i, p) K(t_j, q),

a kernel expansion over pairs of basis positions; everything else stays as it is.

[1] Yu 2011, section 6.2 (kernels on positions). [2] Tsochantaridis et al. 2005,
    Proposition 21 (products of kernels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.validation import (
    FeatureMap,
    check_distinct,
    check_types,
    require,
)
from maxmargin.structures.alignment.inputs.encoding import (
    is_real,
    record_name,
    tracks_of,
)
from maxmargin.structures.alignment.inputs.views import View

TRACK = "kernel"  # the name of the track that is added
KERNEL_VIEW = View((TRACK,), real=True)


@dataclass(frozen=True, eq=False)
class Positions:
    """Rows of positions, mapped by phi where it is given.

    Parameters
    ----------
    letters : dict from track to its letters
    widths : dict from track to the length of its vectors
    phi : map from rows to features, optional

    Examples
    --------
    >>> positions = learn_positions(["ab", {"residue": "b"}])
    >>> positions.rows("bb", "here").tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """

    letters: dict[str, tuple[Any, ...]]
    widths: dict[str, int]
    phi: FeatureMap | None = None

    def validate(self) -> None:
        """Distinct letters; a map, if there is one, takes the rows."""
        check_types(self)
        for name, letters in self.letters.items():
            check_distinct(letters, f"letters of track {name!r}")
        require(all(w >= 0 for w in self.widths.values()), "a track has no width")
        fits = self.phi is None or self.phi.inputs in (None, self.width)
        require(fits, "the map takes other rows")

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return sum(map(len, self.letters.values())) + sum(self.widths.values())

    def rows(self, sequence: Any, where: str) -> Floats:
        """A row per position; letters never seen are zeros."""
        tracks = tracks_of(sequence, where)
        missing = [t for t in (*self.letters, *self.widths) if t not in tracks]
        if missing:
            raise ValueError(f"{where}: track {missing[0]!r} is missing")
        parts = []
        for name, known in self.letters.items():
            place = {letter: k for k, letter in enumerate(known)}
            part = np.zeros((len(tracks[name]), len(known)))
            for i, letter in enumerate(tracks[name]):
                if letter in place:
                    part[i, place[letter]] = 1.0
            parts.append(part)
        for name, width in self.widths.items():
            part = np.asarray(tracks[name], dtype=np.float64)
            if part.shape[1] != width:
                raise ValueError(
                    f"{where}: track {name!r} has vectors of {part.shape[1]} numbers, "
                    f"not {width}"
                )
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def __call__(self, X: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Pairs whose sequences have the track phi(row) too."""
        if self.phi is None:
            raise ValueError("these positions have no map yet")
        made: dict[Any, Any] = {}
        out = []
        for q, pair in enumerate(X):
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(f"pair {q}: two sequences are needed")
            for side, sequence in zip(("first", "second"), pair, strict=True):
                key = sequence if isinstance(sequence, str) else id(sequence)
                if key not in made:
                    where = record_name(sequence, f"pair {q}, {side} sequence")
                    rows = self.phi(self.rows(sequence, where))
                    named = sequence if hasattr(sequence, "items") else None
                    tracks = dict(named) if named else {"residue": sequence}
                    made[key] = {**tracks, TRACK: rows}
            keys = [s if isinstance(s, str) else id(s) for s in pair]
            out.append((made[keys[0]], made[keys[1]]))
        return out


def learn_positions(sequences: Sequence[Any]) -> Positions:
    """The letters and widths of all tracks that occur."""
    letters: dict[str, dict[Any, None]] = {}
    widths: dict[str, int] = {}
    for k, sequence in enumerate(sequences):
        where = record_name(sequence, f"sequence {k}")
        for name, values in tracks_of(sequence, where).items():
            if is_real(values):
                widths[name] = values.shape[1]
            else:
                letters.setdefault(name, {}).update(dict.fromkeys(values))
    ordered = {name: tuple(sorted(seen, key=str)) for name, seen in letters.items()}
    return Positions(ordered, widths)
