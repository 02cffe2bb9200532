"""Correlation clustering, relaxed: how far two items are together, from 0 to 1.

    max  sum_{i<j} score_ij z_ij    s.t.  z_ij + z_jk - z_ik <= 1,   0 <= z <= 1

for all triples: items that are together with a third one are together. A 0/1 solution
is the best partition; any solution is at least as good as that. Triangles are added
when they are violated, and HiGHS solves the linear programs; with too few triangles the
value is still an upper bound.

Pairs i < j are numbered j (j - 1) / 2 + i.

[1] Finley and Joachims 2005, section 4.2 (the relaxation of SVM-cluster).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats
from maxmargin.core.jit import inner_loop, loop

ROUNDS = 40
TOLERANCE = 1e-7


class RelaxedPartition(NamedTuple):
    """A relaxed partition."""

    pair: Floats  # (pairs,) z
    value: float  # no partition scores more


def relax(m: int, score: Floats) -> RelaxedPartition:
    """The relaxed partition of m items.

    Examples
    --------
    >>> relax(3, np.array([2.0, -3.0, 1.0])).pair.round(6).astype(int).tolist()
    [1, 0, 0]

    One item drawn to three that repel each other:

    >>> np.abs(relax(4, np.array([-1.0, -1, -1, 1, 1, 1])).pair).round(6).tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.5]
    """
    z = (score > 0.0).astype(np.float64)
    rows: list[np.ndarray] = []
    for _ in range(ROUNDS):
        broken = _broken(m, z)
        if len(broken) == 0:
            break
        rows.append(broken)
        z = _solve(score, np.concatenate(rows))
    return RelaxedPartition(z, float(score @ z))


def _solve(score: Floats, triples: np.ndarray) -> Floats:
    """The linear program over the triangles (ij, jk, ik)."""
    count = len(triples)
    values = np.tile([1.0, 1.0, -1.0], count)
    where = np.repeat(np.arange(count), 3), triples.ravel()
    A = sp.csr_array((values, where), shape=(count, len(score)))
    gain = score / max(float(np.abs(score).max(initial=0.0)), 1e-300)  # of size one
    found = scipy.optimize.linprog(-gain, A_ub=A, b_ub=np.ones(count), bounds=(0, 1))
    if found.x is None:
        raise ValueError(f"the linear program of a partition failed: {found.message}")
    return np.clip(found.x, 0.0, 1.0)


@inner_loop
def _pair(i, j):
    return j * (j - 1) // 2 + i if i < j else i * (i - 1) // 2 + j


@loop
def _broken(m, z):
    """For each pair the triangle that it breaks most, if it breaks any."""
    out = np.empty((m * (m - 1) // 2, 3), np.int64)
    n = 0
    for k in range(m):
        for i in range(k):
            own, worst, at = z[_pair(i, k)], TOLERANCE, -1
            for j in range(m):
                if j != i and j != k:
                    over = z[_pair(i, j)] + z[_pair(j, k)] - own - 1.0
                    if over > worst:
                        worst, at = over, j
            if at >= 0:
                out[n, 0], out[n, 1] = _pair(i, at), _pair(at, k)
                out[n, 2] = _pair(i, k)
                n += 1
    return out[:n].copy()
