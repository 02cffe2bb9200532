"""In which order examples are visited, and which of them sit out a pass."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Ints


class Resting:
    """Which examples take part in a pass.

    After a visit that changed nothing an example sits out 1 pass, after the next one 3,
    then 7, up to `longest`. A visit that changed something ends this.

    Parameters
    ----------
    n : int
        Number of examples.
    longest : int
        Passes that an example sits out at most.

    Examples
    --------
    >>> resting, everyone = Resting(2, 7), np.arange(2)
    >>> resting.visited(everyone, np.array([True, False]))
    >>> [resting.next_pass(everyone).tolist() for _ in range(2)]
    [[1], [0, 1]]
    """

    DUAL: ClassVar[tuple[str, ...]] = ("_rest", "_asleep")

    def __init__(self, n: int, longest: int) -> None:
        self._longest = longest
        self._rest = np.zeros(n, np.int64)  # passes it sits out each time
        self._asleep = np.zeros(n, np.int64)  # and how many of these are left

    def next_pass(self, order: Ints) -> Ints:
        """Those in `order` that take part; for the others one pass less is left."""
        awake = order[self._asleep[order] <= 0]
        self._asleep[order] -= 1
        return awake

    def visited(self, ids: Ints, quiet: np.ndarray) -> None:
        """Examples were visited; `quiet` says for which of them nothing changed."""
        rest = np.where(quiet, np.minimum(2 * self._rest[ids] + 1, self._longest), 0)
        self._rest[ids] = self._asleep[ids] = rest

    def wake_all(self) -> None:
        """All take part in the next pass."""
        self._asleep[:] = 0


def permutation(seed: int, turn: int, n: int, run: int = 1) -> Ints:
    """Order of examples in pass `turn`: the same for the same seed.

    Runs of neighbours stay together, which uses caches better where data are large.
    """
    rng = np.random.default_rng([seed, turn])
    if run == 1 or n < 100 * run:
        return rng.permutation(n)
    ids = (rng.permutation(np.arange(0, n, run))[:, None] + np.arange(run)).ravel()
    return ids[ids < n]
