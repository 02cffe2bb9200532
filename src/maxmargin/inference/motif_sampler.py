"""Places of a motif drawn by Gibbs sampling, one in every sequence.

    P(h_i = h | all others) ~ prod_j p_j(x_{h+j}) / q(x_{h+j} | the bases before)

p_j from the counts at the other places plus pseudo-counts, q a Markov background of
order 0 to 3. Of k letters, 0 .. k - 1 are known and k is unknown; contexts are numbered
as in the motif structure: order 0 first, then order 1, and so on.

[1] Lawrence et al. 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop


def markov(context: Any, order: int, k: int = 4) -> Floats:
    """Log-probability of one of k letters given those before it, for each context."""
    letters = k
    dim = (letters ** (order + 2) - letters) // (letters - 1)
    counts = np.bincount(context[context >= 0], minlength=dim).astype(np.float64)
    out, first = np.zeros(dim), 0
    for long in range(order + 1):
        size = letters ** (long + 1)
        if long < order:  # a longer context has seen its shorter ones as well
            counts[first : first + size] += _shorter(
                counts, first, size, order - long, letters
            )
        table = counts[first : first + size].reshape(-1, letters) + 1.0
        out[first : first + size] = np.log(
            table / table.sum(axis=1, keepdims=True)
        ).ravel()
        first += size
    return out


def _shorter(counts: Floats, first: int, size: int, more: int, letters: int) -> Floats:
    total, start, width = np.zeros(size), first + size, letters * size
    for _ in range(more):
        total += counts[start : start + width].reshape(-1, size).sum(axis=0)
        start, width = start + width, letters * width
    return total


def log_background(context: Any, q: Floats) -> Floats:
    """Log-probability of each base; 0 where it is not known."""
    return np.where(context >= 0, q[np.maximum(context, 0)], 0.0)


@inner_loop
def _base(letter, h, j, length, strand, k):
    if strand == 0:
        return letter[h + j]
    c = letter[h + length - 1 - j]
    return c if c == k else k - 1 - c


@inner_loop
def _count(letter, h, length, strand, sign, counts):
    for j in range(length):
        c = _base(letter, h, j, length, strand, counts.shape[1])
        if c < counts.shape[1]:
            counts[j, c] += sign


@inner_loop
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
                c = _base(letter, h, j, length, strand, table.shape[1])
                if c < table.shape[1]:
                    s += table[j, c]
            out[n] = s
            n += 1
    return n


@inner_loop
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
def sample(ptr, letter, odds, length, strands, draws, pseudo, k):
    """Gibbs sweeps over all sequences, places drawn from `draws`, uniform in 0 .. 1.

    Returns the best log-odds seen, the counts (length, k) and the places it had; a
    place is strands * start + strand.
    """
    n = len(ptr) - 1
    place = np.zeros(n, np.int64)
    longest = 0
    counts = np.zeros((length, k))
    for i in range(n):
        room = (ptr[i + 1] - ptr[i] - length + 1) * strands
        longest = max(longest, room)
        place[i] = min(np.int64(draws[0, i] * room), room - 1)
        h, strand = ptr[i] + place[i] // strands, place[i] % strands
        _count(letter, h, length, strand, 1.0, counts)
    best, kept, at = -np.inf, counts.copy(), place.copy()
    out, table = np.empty(longest), np.empty((length, k))
    for sweep in range(1, len(draws)):
        total = 0.0
        for i in range(n):
            h, strand = ptr[i] + place[i] // strands, place[i] % strands
            _count(letter, h, length, strand, -1.0, counts)
            for j in range(length):
                mass = counts[j].sum() + k * pseudo
                for c in range(k):
                    table[j, c] = np.log((counts[j, c] + pseudo) / mass)
            m = _windows(letter, odds, ptr[i], ptr[i + 1], table, length, strands, out)
            place[i] = _draw(out, m, draws[sweep, i])
            total += out[place[i]]
            h, strand = ptr[i] + place[i] // strands, place[i] % strands
            _count(letter, h, length, strand, 1.0, counts)
        if total > best:
            best, kept, at = total, counts.copy(), place.copy()
    return best, kept, at
