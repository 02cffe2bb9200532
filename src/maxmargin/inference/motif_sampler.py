"""Places of a motif drawn by Gibbs sampling, one in every sequence.

    P(h_i = h | all others) ~ prod_j p_j(x_{h+j}) / q(x_{h+j} | the bases before)

p_j from the counts at the other places plus pseudo-counts, q a Markov background of
order 0 to 3. Bases are 0 .. 3, 4 if unknown; contexts are numbered as in the motif
structure: order 0 first, then order 1, and so on.

[1] Lawrence et al. 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop


def markov(context: Any, order: int) -> Floats:
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


def log_background(context: Any, q: Floats) -> Floats:
    """Log-probability of each base; 0 where it is not known."""
    return np.where(context >= 0, q[np.maximum(context, 0)], 0.0)


@inner_loop
def _base(letter, h, j, length, strand):
    if strand == 0:
        return letter[h + j]
    c = letter[h + length - 1 - j]
    return c if c == 4 else 3 - c


@inner_loop
def _count(letter, h, length, strand, sign, counts):
    for j in range(length):
        c = _base(letter, h, j, length, strand)
        if c < 4:
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
                c = _base(letter, h, j, length, strand)
                if c < 4:
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
def sample(ptr, letter, odds, length, strands, draws, pseudo):
    """Gibbs sweeps over all sequences, places drawn from `draws`, uniform in 0 .. 1.

    Returns the best log-odds seen, the counts (length, 4) and the places it had; a
    place is strands * start + strand.
    """
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
    best, kept, at = -np.inf, counts.copy(), place.copy()
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
            best, kept, at = total, counts.copy(), place.copy()
    return best, kept, at
