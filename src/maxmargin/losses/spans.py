"""Losses of segmentations: spans that are missed, and spans that are wrong.

    Delta(y, y') = scale * (wrong * |spans of y' not in y| + missed * |spans of y not in y'|)

A span has the right label and the right ends, or it is wrong. Outputs are rows of codes,
one for each token, see `maxmargin.inference.chain.semi_markov`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.loss import Loss


@dataclass(frozen=True)
class SpanLoss(Loss):
    """Delta(y, y') = scale * (wrong * wrong spans + missed * missed spans).

    Parameters
    ----------
    wrong : float, default=1.0
        Cost of a span that is not in the truth.
    missed : float, default=1.0
        Cost of a true span that is not found. With slack rescaling, raise it for more
        recall.
    normalize : bool, default=False
        Divide by the number of true spans.

    Examples
    --------
    >>> truth = Ragged.pack([[1, 2, 0, 3]])  # a span of two tokens, one of one
    >>> SpanLoss().value(truth, Ragged.pack([[1, 2, 0, 0]])).tolist()  # one is missed
    [1.0]
    >>> SpanLoss().value(truth, Ragged.pack([[1, 0, 0, 3]])).tolist()  # cut too short
    [2.0]
    """

    wrong: float = 1.0
    missed: float = 1.0
    normalize: bool = False
    form = "spans"

    def validate(self) -> None:
        """Costs are finite and not negative."""
        check_types(self)
        for name, cost in (("wrong", self.wrong), ("missed", self.missed)):
            good = np.isfinite(cost) and cost >= 0
            require(good, f"{name}={cost!r}: costs must be finite and >= 0")

    def bind(self, n_labels: int) -> SpanLoss:
        """Check the costs."""
        self.validate()
        return self

    def scale(self, truth: Ragged) -> Floats:
        """1 / number of true spans if normalised."""
        if not self.normalize:
            return np.ones(truth.n)
        return 1.0 / np.maximum(span_counts(truth), 1)

    def value(self, truth: Ragged, labels: Ragged) -> Floats:
        """Loss of each row of `labels` against the same row of `truth`."""
        one, two = _begins(truth), _begins(labels)
        both = one & two & (truth.data == labels.data)
        both[both] = _ends(truth)[both] == _ends(labels)[both]
        common = _counts(truth, both)
        missed, wrong = _counts(truth, one) - common, _counts(truth, two) - common
        return self.scale(truth) * (self.missed * missed + self.wrong * wrong)


def span_counts(rows: Ragged) -> Ints:
    """Number of spans of each row.

    Examples
    --------
    >>> span_counts(Ragged.pack([[1, 2, 0, 3], [], [0]])).tolist()
    [2, 0, 0]
    """
    return _counts(rows, _begins(rows))


def _begins(rows: Ragged) -> np.ndarray:
    """Tokens at which a span begins."""
    return rows.data % 2 == 1


def _ends(rows: Ragged) -> Ints:
    """Of each token: the first token after it that does not go on with its span."""
    stops = np.flatnonzero((rows.data == 0) | _begins(rows))
    stops = np.union1d(stops, rows.ptr)
    return stops[np.searchsorted(stops, np.arange(len(rows.data)), "right")]


def _counts(rows: Ragged, marked: np.ndarray) -> Ints:
    total = np.concatenate(([0], np.cumsum(marked)))
    return total[rows.ptr[1:]] - total[rows.ptr[:-1]]
