"""Where long examples are cut into blocks: away from the constraints that have weight.

A constraint must lie in one block, with `order` correct labels after it. Where the most
violated labels go on across the end of a block, the block should end elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Ints

Marks = NDArray[np.bool_]


def inside(low: Ints, high: Ints, tokens: int) -> Marks:
    """Of each place before a token, and the end: whether low < place <= high for a pair.

    Examples
    --------
    >>> inside(np.array([1]), np.array([3]), 5).astype(int).tolist()
    [0, 0, 1, 1, 0, 0]
    """
    step = np.zeros(tokens + 2, np.int64)
    np.add.at(step, np.minimum(low, tokens) + 1, 1)
    np.add.at(step, np.minimum(high, tokens) + 1, -1)
    return np.cumsum(step)[:-1] > 0


def joined(cut: Ints, first: Ints, marked: Marks) -> tuple[Ints, Ints]:
    """Each marked block becomes one with the next.

    Examples
    --------
    >>> cuts = joined(np.array([0, 2, 4, 6]), np.array([0, 2, 3]), np.eye(3, 1).ravel() > 0)
    >>> [c.tolist() for c in cuts]
    [[0, 4, 6], [0, 1, 2]]
    """
    begins = np.ones(len(cut), bool)
    begins[1:-1] = ~marked[:-1]
    begins[first] = True
    target = np.cumsum(begins) - 1
    return cut[begins], target[first]


def other_cuts(
    cut: Ints, first: Ints, marked: Marks, taken: Marks, piece: int, widest: int
) -> tuple[Ints, Ints, int]:
    """Move the ends of marked blocks to places that are not taken.

    Where there is no such place, the block is joined with the next, if both together
    have at most `widest` tokens. Blocks of these examples that are wider than two pieces
    are cut. Returns cuts, the first block of each example, and the number of marked
    blocks that end where they did.
    """
    taken, new, unmet = taken.copy(), [], 0
    near = max(piece // 8, 1)
    for p in cut[1:][marked]:
        taken[max(p - near, 0) : p + near + 1] = True
    count = np.diff(first)
    asked = np.add.reduceat(marked, first[:-1]) > 0 if len(marked) else marked
    done = 0
    for i in np.flatnonzero(asked & (count > 1)):
        a, z = first[i], first[i + 1]
        new.append(cut[done:a])
        ends, failed = _ends(cut[a : z + 1], marked[a:z], taken, piece, widest)
        new.append(np.array(ends[:-1], np.int64))
        count[i], unmet, done = len(ends) - 1, unmet + failed, z
    new.append(cut[done:])
    return np.concatenate(new), np.append(0, np.cumsum(count)), unmet


def _ends(
    old: Ints, marked: Marks, taken: Marks, piece: int, widest: int
) -> tuple[list[int], int]:
    """New cuts of one example, its ends included, and how many could not move."""
    ends, unmet = [int(old[0])], 0
    for k in range(1, len(old) - 1):
        left, at, right = ends[-1], int(old[k]), int(old[k + 1])
        place = _free(taken, left, right, piece) if marked[k - 1] else at
        if place < 0 and right - left > widest:
            place, unmet = at, unmet + 1
        if place >= 0:
            ends.append(place)
    ends.append(int(old[-1]))
    return _narrow(ends, taken, piece), unmet


def _narrow(ends: Sequence[int], taken: Marks, piece: int) -> list[int]:
    """Cut what is wider than two pieces, where it can be."""
    out = [ends[0]]
    for right in ends[1:]:
        while right - out[-1] > 2 * piece:
            place = _free(taken, out[-1], min(right, out[-1] + 2 * piece), piece)
            if place < 0:
                break
            out.append(place)
        out.append(right)
    return out


def _free(taken: Marks, left: int, right: int, piece: int) -> int:
    """The free place nearest to the middle, not close to the ends; or -1."""
    least = max(piece // 4, 1)
    places = np.flatnonzero(~taken[left + least : right - least + 1]) + left + least
    if len(places) == 0:
        return -1
    return int(places[np.argmin(np.abs(places - (left + right) / 2))])
