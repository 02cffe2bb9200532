"""Rows of scores, one score per candidate: labels of tokens, or n-best outputs."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, Ints, pointers


class Candidates(NamedTuple):
    """Candidates of several examples with their scores; -inf is an impossible one.

    Examples
    --------
    >>> two = Candidates.of_rows([[2.0, 1.0], [0.0]])
    >>> two.n, two.best().tolist(), two.row(1).tolist()
    (2, [0, 0], [0.0])
    """

    ptr: Ints  # (n + 1,) first candidate of each example
    scores: Floats  # (total,)

    @classmethod
    def of_table(cls, table: ArrayLike) -> Self:
        """The same candidates for all examples: a table (examples, candidates)."""
        table = np.asarray(table, np.float64)
        if table.ndim != 2:
            raise ValueError(f"a table has 2 dimensions, not {table.ndim}")
        n, k = table.shape
        return cls(np.arange(n + 1) * k, table.reshape(-1)).checked()

    @classmethod
    def of_rows(cls, rows: ArrayLike | list[ArrayLike]) -> Self:
        """Scores of each example in turn."""
        arrays = [np.asarray(row, np.float64) for row in rows]  # type: ignore[union-attr]
        flat = np.concatenate(arrays) if arrays else np.empty(0)
        return cls(pointers([len(a) for a in arrays]), flat).checked()

    def checked(self) -> Self:
        """Refuse rows without a possible candidate, and scores that are no numbers."""
        if np.isnan(self.scores).any() or (self.scores == np.inf).any():
            raise ValueError("a score is not a number below infinity")
        if (np.diff(self.ptr) == 0).any() or (self.n and self.tops().min() == -np.inf):
            raise ValueError("an example has no possible candidate")
        return self

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.ptr) - 1

    @property
    def owner(self) -> Ints:
        """Example of each candidate."""
        return np.repeat(np.arange(self.n), np.diff(self.ptr))

    def row(self, i: int) -> Floats:
        """Scores of example i, a view."""
        return self.scores[self.ptr[i] : self.ptr[i + 1]]

    def tops(self) -> Floats:
        """Best score of each example."""
        if self.n == 0:
            return np.empty(0)
        return np.maximum.reduceat(self.scores, self.ptr[:-1])

    def below_top(self) -> Self:
        """The same candidates with their distance from the best, at most 0."""
        return self._replace(scores=self.scores - self.tops()[self.owner])

    def best(self) -> Ints:
        """Place of the best candidate in each row, the first of equals."""
        flat = np.flatnonzero(self.scores == self.tops()[self.owner])
        first = np.unique(self.owner[flat], return_index=True)[1]
        return flat[first] - self.ptr[:-1]

    def places(self, truth: ArrayLike) -> Ints:
        """Flat place of the truth of each example; -1 where it is not a candidate."""
        truth = np.asarray(truth)
        if truth.shape != (self.n,):
            raise ValueError(f"{truth.size} truths for {self.n} examples")
        if self.n and truth.dtype.kind not in "iu":
            raise ValueError(
                "truths are places in the rows: whole numbers, -1 where it is not there"
            )
        truth = truth.astype(np.int64)
        if (truth < -1).any():
            i = int(np.flatnonzero(truth < -1)[0])
            raise ValueError(f"example {i}: there is no candidate {truth[i]}")
        if (truth >= np.diff(self.ptr)).any():
            i = int(np.flatnonzero(truth >= np.diff(self.ptr))[0])
            raise ValueError(f"example {i}: there is no candidate {truth[i]}")
        return np.where(truth < 0, -1, self.ptr[:-1] + truth)
