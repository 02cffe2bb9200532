"""How sure the spans of a label sequence are, from the sequences that compete with it.

confidence(span) = sum of p(y) over the n best label sequences y that have the span
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import real_numbers
from maxmargin.metrics.sequences import spans


class SpanConfidence(NamedTuple):
    """A span of the best sequence and the probability that it is right."""

    kind: str
    first: int
    last: int
    confidence: float


def span_confidences(
    outputs: Sequence[Sequence[str]], probabilities: ArrayLike
) -> list[SpanConfidence]:
    """Spans of the best of several label sequences, and how sure they are.

    Parameters
    ----------
    outputs : label sequences of one input, the best first
    probabilities : array (n,)
        Of the sequences, say by `Temperature`; they sum to one.

    Examples
    --------
    >>> outputs = [["B-PER", "O", "B-LOC"], ["B-PER", "O", "O"]]
    >>> for span in span_confidences(outputs, [0.75, 0.25]):
    ...     print(*span)
    PER 0 0 1.0
    LOC 2 2 0.75
    """
    p = real_numbers(probabilities).ravel()
    if len(p) != len(outputs) or not outputs:
        raise ValueError(f"{len(outputs)} outputs but {len(p)} probabilities")
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError(f"{p.tolist()} are not probabilities")
    if len({len(labels) for labels in outputs}) > 1:
        raise ValueError("the label sequences are of several inputs: lengths differ")
    mass: dict[tuple[str, int, int], float] = {}
    for labels, share in zip(outputs, p.tolist(), strict=True):
        for span in spans(labels):
            mass[span] = mass.get(span, 0.0) + share
    return [SpanConfidence(*span, min(mass[span], 1.0)) for span in spans(outputs[0])]
