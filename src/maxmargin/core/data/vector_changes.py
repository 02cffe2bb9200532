"""Changes of a few entries of a long vector, and copies of the vector that follow it.

The leading process holds w. Each process that works on shards has a copy, and each of
its threads a second one to work on. After a round only the entries that changed are
sent and written, so a round costs what it touched, however long w is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels
from maxmargin.core.jit import loop


class Change(NamedTuple):
    """Values of some entries of a vector; `idx` ascends.

    Examples
    --------
    >>> one, two = Change.of({1: 1.0, 3: 2.0}), Change.of({0: 1.0, 3: 1.0})
    >>> add_changes(one, two).idx.tolist(), add_changes(one, two).val.tolist()
    ([0, 1, 3], [1.0, 1.0, 3.0])
    """

    idx: Labels
    val: Floats

    @classmethod
    def of(cls, entries: dict[int, float] | None = None) -> Change:
        """From a dict of entries."""
        items = sorted((entries or {}).items())
        idx = np.array([k for k, _ in items], np.int32)
        return cls(idx, np.array([v for _, v in items], np.float64))

    @property
    def square(self) -> float:
        """Sum of the squared values."""
        return float(self.val @ self.val)


def add_changes(one: Change, two: Change) -> Change:
    """The sum of two changes."""
    # What came by network may be read-only, for which loops are not compiled.
    own = [np.require(a, requirements=["W", "C"]) for a in (*one, *two)]
    return Change(*_merged(*own))


class Weights(NamedTuple):
    """A vector, and which of its entries changed since its last version.

    Attributes
    ----------
    w : array
        The vector.
    version : int
        A number that grows with each change.
    news : array or None
        Entries that may differ from those of version - 1; None: all.
    """

    w: Floats
    version: int
    news: Labels | None = None


class Update(NamedTuple):
    """What brings a copy to a version: all entries, or those that are new."""

    version: int
    idx: Labels | None  # None: all
    val: Floats
    since: int  # the version that a copy must have if idx is given


class StaleWeightsError(RuntimeError):
    """A copy of w is too old for the update that came."""


class Lease(NamedTuple):
    """A vector to work on, for the time of one call.

    `w` equals `base` at the beginning, and again when the call ends. `kept` is a place
    for work space, which the next lease of the same vector finds there.
    """

    w: Floats
    base: Floats
    kept: dict[str, Any]


class Replicas:
    """The copies of w in one process: one that nobody alters, and one per thread.

    Parameters
    ----------
    base : array
        The vector as it is at `version`; it is not copied.
    version : int
        Its version.

    Examples
    --------
    >>> w = np.zeros(3)
    >>> copies = Replicas(w, 0)
    >>> with copies.lease() as lease:
    ...     lease.w[1] = 5.0  # work
    ...     lease.w[1] = lease.base[1]
    >>> copies.follow(Update(1, np.array([2], np.int32), np.array([7.0]), since=0))
    >>> with copies.lease() as lease:
    ...     lease.w.tolist()
    [0.0, 0.0, 7.0]
    """

    def __init__(self, base: Floats, version: int) -> None:
        self.base, self.version = base, version
        self._free: list[tuple[int, Lease]] = []  # with the version that they are of

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """A vector that no other call uses; after an error it is thrown away."""
        version, lease = self.version, None
        while lease is None and self._free:
            try:
                old, lease = self._free.pop()
            except IndexError:  # another thread took the last one
                break
            lease = lease if old == version else None
        if lease is None:
            lease = Lease(self.base.copy(), self.base, {})
        yield lease
        self._free.append((version, lease))

    def follow(self, update: Update) -> None:
        """Bring all copies to the version of the update; one thread at a time."""
        if update.version == self.version:
            return
        if update.idx is not None and update.since != self.version:
            raise StaleWeightsError(
                f"version {self.version} of w is here, {update.since} is needed"
            )
        where: Any = slice(None) if update.idx is None else update.idx
        free, self._free = self._free, []
        if self.base is not update.val:
            self.base[where] = update.val
        for old, lease in free:
            if old == self.version:
                lease.w[where] = update.val
                self._free.append((update.version, lease))
        self.version = update.version


def update_of(weights: Weights, whole: bool) -> Update:
    """What brings a copy to these weights: the changes, or all of them."""
    w, version, news = weights
    if whole or news is None:
        return Update(version, None, w, version)
    return Update(version, news, w[news], version - 1)


@loop
def _merged(idx, val, idx2, val2):
    """Two sparse vectors with ascending indices, added."""
    n, m = len(idx), len(idx2)
    out, sums = np.empty(n + m, np.int32), np.empty(n + m)
    p, q, r = 0, 0, 0
    while p < n or q < m:
        if q == m or (p < n and idx[p] < idx2[q]):
            out[r], sums[r] = idx[p], val[p]
            p += 1
        elif p == n or idx2[q] < idx[p]:
            out[r], sums[r] = idx2[q], val2[q]
            q += 1
        else:
            out[r], sums[r] = idx[p], val[p] + val2[q]
            p, q = p + 1, q + 1
        r += 1
    return out[:r].copy(), sums[:r].copy()
