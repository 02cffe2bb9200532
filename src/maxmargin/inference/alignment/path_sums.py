"""Sums over all global alignments of two sequences, and their derivatives.

The paths of `best_path.py` from corner to corner, each with weight exp(score). With
M, D, I the sums over paths that end at (i, j) with a match, a delete or an insert,

    M[i, j] = (M + D + I)[i - 1, j - 1] * match[i - 1, j - 1]
    D[i, j] = M[i - 1, j] * open + D[i - 1, j] * extend
    I[i, j] = (M + D)[i, j - 1] * open + I[i, j - 1] * extend

on probabilities, every row divided by its largest entry; the same backwards. Every path
crosses from row i to row i + 1 once, by a match or a delete, which gives the scale of
the marginals. Rows of the batch where that becomes tiny are reported and have to be
done with logarithms (`hypergraph.py`).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop

TINY = 1e-100


@loop
def sum_paths(
    first, last, match, sizes, deletes, inserts, log_z, factor, out_match, out_deletes,
    out_inserts, wanted,
):  # fmt: skip
    """Log Z of rows first .. last - 1; if wanted, factor * marginals are added.

    Gap scores are (1 or rows, 1 or positions, 2), and so are their marginals.
    """
    N, M = match.shape[1], match.shape[2]
    forward, backward = np.empty((N + 1, 3, M + 1)), np.empty((2, 3, M + 1))
    power, down, right = np.empty((N, M)), np.empty((N, 2)), np.empty((M, 2))
    bad = np.zeros(last - first, np.bool_)
    for b in range(first, last):
        n, m = sizes[b, 0], sizes[b, 1]
        log_z[b] = _scaled(b, n, m, match, deletes, inserts, power, down, right)
        log_z[b] += _fill_forward(n, m, power, down, right, forward)
        if not np.isfinite(log_z[b]):
            bad[b - first] = True
        elif wanted:
            bad[b - first] = not _fill_backward(
                b, n, m, power, down, right, forward, backward, factor[b], out_match,
                out_deletes, out_inserts, False,
            ) or not _fill_backward(
                b, n, m, power, down, right, forward, backward, factor[b], out_match,
                out_deletes, out_inserts, True,
            )  # fmt: skip
    return bad


@inner_loop
def _scaled(b, n, m, match, deletes, inserts, power, down, right):
    """Exponentials of the scores, those of a row of matches less their maximum."""
    total = 0.0
    for i in range(n):
        gap = deletes[min(b, deletes.shape[0] - 1), min(i, deletes.shape[1] - 1)]
        top = max(gap[0], gap[1])
        for j in range(m):
            top = max(top, np.float64(match[b, i, j]))
        for j in range(m):
            power[i, j] = np.exp(np.float64(match[b, i, j]) - top)
        down[i, 0], down[i, 1] = np.exp(gap[0] - top), np.exp(gap[1] - top)
        total += top
    for j in range(m):
        gap = inserts[min(b, inserts.shape[0] - 1), min(j, inserts.shape[1] - 1)]
        right[j, 0], right[j, 1] = np.exp(gap[0]), np.exp(gap[1])
    return total


@inner_loop
def _fill_forward(n, m, power, down, right, forward):
    """Sums over the beginnings of paths, rows scaled; log of the sum over all."""
    total = 0.0
    for i in range(n + 1):
        a, d, e = forward[i, 0], forward[i, 1], forward[i, 2]
        a[0], d[0], e[0] = (1.0 if i == 0 else 0.0), 0.0, 0.0
        if i == 0:
            for j in range(1, m + 1):
                a[j] = d[j] = 0.0
        else:
            a1, d1, e1 = forward[i - 1, 0], forward[i - 1, 1], forward[i - 1, 2]
            one, two, row = down[i - 1, 0], down[i - 1, 1], power[i - 1]
            for j in range(m + 1):
                d[j] = a1[j] * one + d1[j] * two
            for j in range(m):
                a[j + 1] = (a1[j] + d1[j] + e1[j]) * row[j]
        for j in range(1, m + 1):
            e[j] = (a[j - 1] + d[j - 1]) * right[j - 1, 0] + e[j - 1] * right[j - 1, 1]
        top = 0.0
        for j in range(m + 1):
            top = max(top, a[j], d[j], e[j])
        if not 0.0 < top < np.inf:
            return np.nan
        for j in range(m + 1):
            a[j] /= top
            d[j] /= top
            e[j] /= top
        total += np.log(top)
    whole = forward[n, 0, m] + forward[n, 1, m] + forward[n, 2, m]
    return total + np.log(whole) if whole > TINY else np.nan


@inner_loop
def _fill_backward(
    b, n, m, power, down, right, forward, backward, factor, out_match, out_deletes,
    out_inserts, write,
):  # fmt: skip
    """Sums over the ends of paths; writes the marginals, or tells if they are safe."""
    now, after = backward[0], backward[1]
    for i in range(n, -1, -1):
        flow = 0.0
        if i < n:
            flow = _cross(i, m, power, down, forward[i], after)
            if not flow > TINY:
                return False
            if write:
                _write_cross(
                    b, i, m, power, down, forward[i], after, factor / flow, out_match,
                    out_deletes,
                )  # fmt: skip
        top = _row_back(i, n, m, power, down, right, after, now)
        if not 0.0 < top < np.inf:
            return False
        if i == n:
            flow = forward[n, 0, m] + forward[n, 1, m] + forward[n, 2, m]
        if write:
            _write_row(b, m, right, forward[i], now, factor * top / flow, out_inserts)
        now, after = after, now
    return True


@inner_loop
def _row_back(i, n, m, power, down, right, after, now):
    """Row i from row i + 1, divided by its largest entry, which is returned."""
    top = 0.0
    for j in range(m, -1, -1):
        ahead = 1.0 if i == n and j == m else 0.0
        a, d, e = ahead, ahead, ahead
        if i < n:
            if j < m:
                on = power[i, j] * after[0, j + 1]
                a, d, e = a + on, d + on, e + on
            a += down[i, 0] * after[1, j]
            d += down[i, 1] * after[1, j]
        if j < m:
            a += right[j, 0] * now[2, j + 1]
            d += right[j, 0] * now[2, j + 1]
            e += right[j, 1] * now[2, j + 1]
        now[0, j], now[1, j], now[2, j] = a, d, e
        top = max(top, a, d, e)
    for j in range(m + 1):
        now[0, j] /= top
        now[1, j] /= top
        now[2, j] /= top
    return top


@inner_loop
def _cross(i, m, power, down, here, after):
    """Sum over all paths of their step from row i to row i + 1, up to scale."""
    s = 0.0
    for j in range(m + 1):
        s += (here[0, j] * down[i, 0] + here[1, j] * down[i, 1]) * after[1, j]
    for j in range(m):
        s += (here[0, j] + here[1, j] + here[2, j]) * power[i, j] * after[0, j + 1]
    return s


@inner_loop
def _write_cross(b, i, m, power, down, here, after, scale, out_match, out_deletes):
    for j in range(m):
        s = (here[0, j] + here[1, j] + here[2, j]) * power[i, j] * after[0, j + 1]
        out_match[b, i, j] += scale * s
    one, two = 0.0, 0.0
    for j in range(m + 1):
        one += here[0, j] * after[1, j]
        two += here[1, j] * after[1, j]
    place = out_deletes[
        min(b, out_deletes.shape[0] - 1), min(i, out_deletes.shape[1] - 1)
    ]
    place[0] += scale * one * down[i, 0]
    place[1] += scale * two * down[i, 1]


@inner_loop
def _write_row(b, m, right, here, now, scale, out_inserts):
    for j in range(m):
        place = out_inserts[
            min(b, out_inserts.shape[0] - 1), min(j, out_inserts.shape[1] - 1)
        ]
        begin = (here[0, j] + here[1, j]) * right[j, 0] * now[2, j + 1]
        place[0] += scale * begin
        place[1] += scale * here[2, j] * right[j, 1] * now[2, j + 1]
