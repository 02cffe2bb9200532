"""How wrong an alignment is: the share of reference pairs that it misses.

    Delta(y, y') = 1 - |{(i, j) in y' : (u, j) in y, |i - u| <= shift}| / M

over matches, with M the number of matches of the reference y. Shift 0 is Q, shift 4 is
Q4. The loss is a sum over matches, so it enters the table of an alignment.
Outputs are rows of a start and moves, see `maxmargin.inference.alignment.best_path`.

`WrongCandidate` is for homology search: whether the candidate is the right one, however
it is aligned.

[1] Yu 2011, section 4.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss


@dataclass(frozen=True)
class AlignedPairs(Loss):
    """Delta(y, y') = 1 - correct matches / matches of the reference.

    Parameters
    ----------
    shift : int, default=0
        A match counts as correct up to this far off: 0 is the Q loss, 4 the Q4 loss.

    Examples
    --------
    >>> truth = Ragged.pack([[0, 0, 2, 0, 0, 0, 1]])
    >>> labels = Ragged.pack([[0, 0, 0, 2, 0, 0, 1]])
    >>> AlignedPairs().value(truth, truth).tolist()
    [0.0]
    >>> AlignedPairs().value(truth, labels).round(3).tolist()
    [0.333]
    """

    shift: int = 0
    form = "aligned-pairs"

    def validate(self) -> None:
        """A number of positions."""
        check_types(self)
        require(0 <= self.shift < 2**31, f"shift={self.shift} must be >= 0")

    def matches(self, truth: Ragged) -> Ints:
        """M of each row."""
        return _matches(*truth)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        total = _matches(*truth)
        hits = _hits(*truth, *labels, self.shift)
        return np.where(total > 0, 1.0 - hits / np.maximum(total, 1), 0.0)


@dataclass(frozen=True)
class WrongCandidate(Loss):
    """Delta((c, a), (c', a')) = 1 if c' differs from c; alignments cost nothing.

    Examples
    --------
    >>> truth, labels = Ragged.pack([[0, 5], [1, 5]]), Ragged.pack([[0, 6], [2, 5]])
    >>> WrongCandidate().value(truth, labels).tolist()
    [0.0, 1.0]
    """

    form = "zero-one"

    def validate(self) -> None:
        """It has no parameters."""
        check_types(self)

    def zero_one(self, n_labels: int) -> Loss:
        """Itself: outputs are the same if their candidates are."""
        return self

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row: the first number is the candidate."""
        wrong = truth.data[truth.ptr[:-1]] != labels.data[labels.ptr[:-1]]
        return wrong.astype(np.float64)


@loop
def _matches(ptr, data):
    out = np.zeros(len(ptr) - 1, np.int64)
    for q in range(len(ptr) - 1):
        for k in range(ptr[q] + 2, ptr[q + 1]):
            out[q] += data[k] == 0
    return out


@loop
def _hits(ptr, data, ptr2, data2, shift):
    """Matches (i, j) of each second row with (u, j) in the first, |i - u| <= shift."""
    out = np.zeros(len(ptr) - 1, np.int64)
    for q in range(len(ptr) - 1):
        k, stop = ptr[q] + 2, ptr[q + 1]
        u, v = data[ptr[q]], data[ptr[q] + 1]
        i, j = data2[ptr2[q]], data2[ptr2[q] + 1]
        for k2 in range(ptr2[q] + 2, ptr2[q + 1]):
            if data2[k2] == 0:
                while k < stop and (v < j or (v == j and data[k] == 1)):
                    u += data[k] != 2
                    v += data[k] != 1
                    k += 1
                if k < stop and v == j and data[k] == 0 and abs(i - u) <= shift:
                    out[q] += 1
            i += data2[k2] != 2
            j += data2[k2] != 1
    return out
