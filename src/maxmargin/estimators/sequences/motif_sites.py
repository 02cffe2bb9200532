"""All sites of a motif in sequences, with p-values.

A window that starts at h scores

    s(h) = sum_j  w[j, x_{h+j}] - background(x_{h+j} | bases before)

and its p-value is the probability that a window of random bases, drawn independently
with the shares of the training sequences, scores as much. Scores are rounded to a grid of
`BINS` steps, and the distribution of their sum is computed exactly by going through the
positions, one state for each combination of the last bases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.structures.motif import Bases, Motif

BINS = 2000  # steps between the lowest and the highest score


class Site(NamedTuple):
    """A place where the motif may be."""

    sequence: int  # number of the sequence
    start: int  # first base, from 0, on the forward strand
    strand: str  # "+" or "-"
    score: float  # above zero: the model says that the motif is here
    p_value: float  # probability that a random window scores as much


def window_scores(structure: Motif, x: Bases, i: int, w: Floats) -> Floats:
    """Scores (strands, windows) of all windows of sequence i."""
    length, k = structure.length, structure.k
    letters = x.letter[x.ptr[i] : x.ptr[i + 1]]
    context = x.context[x.ptr[i] : x.ptr[i + 1]]
    n = len(letters) - length + 1
    if n < 1:
        return np.zeros((2 if structure.both_strands else 1, 0))
    lost = np.where(context >= 0, w[k * length + np.maximum(context, 0)], 0.0)
    away = np.convolve(lost, np.ones(length), "valid")
    table = np.zeros((length, k + 1))  # an unknown letter scores nothing
    table[:, :k] = w[: k * length].reshape(length, k)
    strands = [(letters, table)]
    if structure.both_strands:
        other = np.where(letters == k, k, k - 1 - letters)
        strands.append((other, table[::-1]))
    return np.array([
        sum(t[j, row[j : j + n]] for j in range(length)) - away for row, t in strands
    ])  # fmt: skip


class ScoreDistribution:
    """P(score of a random window >= s) for one strand of a motif.

    Parameters
    ----------
    structure : Motif
    w : array
        Its weights.
    shares : array (k,)
        Probabilities of the letters.
    strand : {0, 1}
        The strand that is read.
    """

    def __init__(
        self, structure: Motif, w: Floats, shares: Floats, strand: int
    ) -> None:
        gains = _gains(structure, w, strand)
        low = gains.min(axis=(1, 2))
        total = float((gains.max(axis=(1, 2)) - low).sum())
        self._lowest, self._step = float(low.sum()), max(total, 1e-12) / BINS
        rounded = np.rint((gains - low[:, None, None]) / self._step).astype(np.int64)
        size = int(rounded.max(axis=(1, 2)).sum()) + 1
        k, contexts = structure.k, structure.k**structure.order
        chance = np.zeros((contexts, size))
        first = np.ones(1)
        for _ in range(structure.order):  # the bases before the window
            first = (first[:, None] * shares).ravel()
        chance[:, 0] = first
        for step in rounded:
            after = np.zeros_like(chance)
            for c in range(contexts):
                for base in range(k):
                    moved = np.zeros(size)
                    up = step[c, base]
                    moved[up:] = shares[base] * chance[c, : size - up]
                    after[(c * k + base) % contexts] += moved
            chance = after
        tail = np.cumsum(chance.sum(axis=0)[::-1])[::-1]
        self._tail = np.minimum(tail, 1.0)  # rounding

    def least(self) -> float:
        """P-value of the best window that there is."""
        return float(self._tail[self._tail > 0.0].min())

    def p_values(self, scores: Floats) -> Floats:
        """P(score >= s) of each score."""
        at = np.rint((np.asarray(scores) - self._lowest) / self._step).astype(np.int64)
        inside = np.clip(at, 0, len(self._tail) - 1)
        beyond = at >= len(self._tail)
        out: Floats = np.where(beyond, self._tail[-1], self._tail[inside])
        return out


def _gains(structure: Motif, w: Floats, strand: int) -> Floats:
    """Gain (position, context, base) of reading a base after the bases of a context."""
    length, order, k = structure.length, structure.order, structure.k
    table = w[: k * length].reshape(length, k)
    if strand:
        table = table[::-1, ::-1]
    first = sum(k**m for m in range(1, order + 1))  # where full contexts begin
    out = np.empty((length, k**order, k))
    for c in range(k**order):
        before = [(c // k**m) % k for m in range(order)]  # the latest first
        for base in range(k):
            code = base + sum(k ** (m + 1) * b for m, b in enumerate(before))
            out[:, c, base] = table[:, base] - w[k * length + first + code]
    return out
