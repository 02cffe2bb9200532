"""Motif finding by Gibbs sampling: one motif in every positive sequence.

Place of the motif in sequence i given all other places, up to a factor,

    P(h_i = h) = prod_j p_j(x_{h+j}) / q(x_{h+j} | the bases before),

p_j from the counts at the other places plus pseudo-counts, q a Markov background of
order 0 to 3 estimated beforehand. A sequence is scored by its best log-odds window.

[1] Lawrence et al. 1993; as the control in Yu 2011, section 5.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from maxmargin.arrays import Floats
from maxmargin.jit import loop
from maxmargin.structures.motif import Motif

PSEUDO = 0.5


@dataclass
class GibbsMotif:
    """Gibbs sampler with a Markov background.

    Parameters
    ----------
    length, order, both_strands
        As in `MotifSVM`.
    sweeps : int
        Passes over the sequences per start.
    restarts : int
        Starts; the places of the highest log-odds ever seen are kept.
    seed : int

    Examples
    --------
    >>> X = ["ccTATAgc", "gTATAccg", "cgcTATAc"]
    >>> model = GibbsMotif(length=4, order=0).fit(X, ["gcgcgccg", "ccggcgcc"])
    >>> "".join("ACGT"[k] for k in model.probabilities_.argmax(axis=1))
    'TATA'
    """

    length: int = 11
    order: int = 3
    both_strands: bool = False
    sweeps: int = 200
    restarts: int = 5
    seed: int = 0

    def fit(self, X: Sequence[Any], background: Sequence[Any] | None = None) -> Self:
        """Learn from positive sequences; the background from others if given."""
        structure = Motif(self.length, self.order, self.both_strands)
        x = structure.bind(X, [1] * len(X)).encode(X)
        if (np.diff(x.ptr) < self.length).any():
            i = int(np.flatnonzero(np.diff(x.ptr) < self.length)[0])
            raise ValueError(f"sequence {i} is shorter than the motif")
        behind = structure.encode(background) if background is not None else x
        self._q = _markov(behind.context, self.order)
        odds = _log_background(x.context, self._q)
        best = -np.inf
        for r in range(self.restarts):
            rng = np.random.default_rng([self.seed, r])
            draws = rng.random((self.sweeps + 1, len(X)))
            strands = 2 if self.both_strands else 1
            value, counts = _sample(
                x.ptr, x.letter, odds, self.length, strands, draws, PSEUDO
            )
            if value > best:
                best, self.counts_ = value, counts
        p = self.counts_ + PSEUDO
        self.probabilities_ = p / p.sum(axis=1, keepdims=True)
        self.log_odds_ = best
        return self

    def decision_function(self, X: Sequence[Any]) -> Floats:
        """Log-odds of the best window of each sequence."""
        structure = Motif(self.length, self.order, self.both_strands)
        w = np.concatenate((np.log(self.probabilities_).ravel(), self._q))
        return structure.gains(structure.encode(X), w)[1]


def _markov(context: Any, order: int) -> Floats:
    """Log-probability of a base given those before it, for each context."""
    dim = (4 ** (order + 2) - 4) // 3
    counts = np.bincount(context[context >= 0], minlength=dim).astype(np.float64)
    out, first = np.zeros(dim), 0
    for k in range(order + 1):
        size = 4 ** (k + 1)
        if k < order:  # a longer context has seen its shorter ones as well
            counts[first : first + size] += _shorter(counts, first, size, k, order)
        table = counts[first : first + size].reshape(-1, 4) + 1.0
        out[first : first + size] = np.log(
            table / table.sum(axis=1, keepdims=True)
        ).ravel()
        first += size
    return out


def _shorter(counts: Floats, first: int, size: int, k: int, order: int) -> Floats:
    total, start, width = np.zeros(size), first + size, 4 * size
    for _ in range(k, order):
        total += counts[start : start + width].reshape(-1, size).sum(axis=0)
        start, width = start + width, 4 * width
    return total


def _log_background(context: Any, q: Floats) -> Floats:
    return np.where(context >= 0, q[np.maximum(context, 0)], 0.0)


@loop
def _base(letter, h, j, length, strand):
    if strand == 0:
        return letter[h + j]
    c = letter[h + length - 1 - j]
    return c if c == 4 else 3 - c


@loop
def _count(letter, h, length, strand, sign, counts):
    for j in range(length):
        c = _base(letter, h, j, length, strand)
        if c < 4:
            counts[j, c] += sign


@loop
def _windows(letter, odds, a, b, table, length, strands, out):
    """Log-odds of every window and strand; returns how many."""
    n = 0
    for h in range(a, b - length + 1):
        away = 0.0
        for j in range(length):
            away += odds[h + j]
        for strand in range(strands):
            s = -away
            for j in range(length):
                c = _base(letter, h, j, length, strand)
                if c < 4:
                    s += table[j, c]
            out[n] = s
            n += 1
    return n


@loop
def _draw(out, n, u):
    """A window drawn in proportion to exp(out)."""
    top, total = -np.inf, 0.0
    for k in range(n):
        top = max(top, out[k])
    for k in range(n):
        total += np.exp(out[k] - top)
    left = u * total
    for k in range(n):
        left -= np.exp(out[k] - top)
        if left <= 0.0:
            return k
    return n - 1


@loop
def _sample(ptr, letter, odds, length, strands, draws, pseudo):
    """Gibbs sweeps; the best log-odds seen and the counts it had."""
    n = len(ptr) - 1
    place = np.zeros(n, np.int64)
    longest = 0
    counts = np.zeros((length, 4))
    for i in range(n):
        room = (ptr[i + 1] - ptr[i] - length + 1) * strands
        longest = max(longest, room)
        place[i] = min(np.int64(draws[0, i] * room), room - 1)
        h, strand = ptr[i] + place[i] // strands, place[i] % strands
        _count(letter, h, length, strand, 1.0, counts)
    best, kept = -np.inf, counts.copy()
    out, table = np.empty(longest), np.empty((length, 4))
    for sweep in range(1, len(draws)):
        total = 0.0
        for i in range(n):
            h, strand = ptr[i] + place[i] // strands, place[i] % strands
            _count(letter, h, length, strand, -1.0, counts)
            for j in range(length):
                mass = counts[j].sum() + 4.0 * pseudo
                for c in range(4):
                    table[j, c] = np.log((counts[j, c] + pseudo) / mass)
            m = _windows(letter, odds, ptr[i], ptr[i + 1], table, length, strands, out)
            place[i] = _draw(out, m, draws[sweep, i])
            total += out[place[i]]
            h, strand = ptr[i] + place[i] // strands, place[i] % strands
            _count(letter, h, length, strand, 1.0, counts)
        if total > best:
            best = total
            kept[:] = counts
    return best, kept
