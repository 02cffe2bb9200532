"""Loops over the parts that planes are made of (see `core.structure.OuterCoordinates`).

A coordinate of a plane stands for the outer product of an input vector with a label, or
for a weight as it is. All that a trainer needs of it is <part, w> and w += c * part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Labels, inner
from maxmargin.core.jit import inner_loop


class Space(NamedTuple):
    """What a coordinate of a plane stands for, see `core.structure.OuterCoordinates`.

    Below `limit` it is vector c // k with label c % k, from there on a weight.
    """

    ptr: Ints
    idx: Labels
    val: Floats
    width: int
    k: int
    limit: int
    base: int  # the weight that coordinate `limit` stands for
    ring: int  # a power of two, not below the vectors of any example times k


@inner_loop
def place(space, c):
    """Where coordinate c of an example goes in a table that any example fits into.

    Vectors of an example are neighbours, so that no two of their coordinates meet.
    """
    if c >= space.limit:
        return space.ring + c - space.limit
    return c & (space.ring - 1)


@inner_loop
def part_dot(space, c, w):
    """<part c, w>."""
    if c >= space.limit:
        return w[space.base + c - space.limit]
    r = c // space.k
    k = c - r * space.k
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) == 0:
        return inner(space.val[a:z], w[k * space.width : (k + 1) * space.width])
    # Four sums at once: one alone would wait for each addition to end.
    step, k = np.uint64(space.k), np.uint64(k)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    p, last = np.uint64(a), np.uint64(z)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while p + four <= last:
        s0 += space.val[p] * w[np.uint64(space.idx[p]) * step + k]
        s1 += space.val[p + one] * w[np.uint64(space.idx[p + one]) * step + k]
        s2 += space.val[p + two] * w[np.uint64(space.idx[p + two]) * step + k]
        s3 += space.val[p + three] * w[np.uint64(space.idx[p + three]) * step + k]
        p += four
    while p < last:
        s0 += space.val[p] * w[np.uint64(space.idx[p]) * step + k]
        p += one
    return (s0 + s1) + (s2 + s3)


@inner_loop
def part_add(space, c, amount, w):
    """Add amount * part c to w."""
    if c >= space.limit:
        w[space.base + c - space.limit] += amount
        return
    r = c // space.k
    k = c - r * space.k
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) > 0:
        step, at = np.uint64(space.k), np.uint64(k)
        for p in range(np.uint64(a), np.uint64(z)):
            w[np.uint64(space.idx[p]) * step + at] += amount * space.val[p]
    else:
        weights = w[k * space.width : (k + 1) * space.width]
        for p in range(a, z):
            weights[p - a] += amount * space.val[p]


@inner_loop
def part_clear(space, c, w):
    """Set w to 0 wherever part c is not."""
    if c >= space.limit:
        w[space.base + c - space.limit] = 0.0
        return
    r, k = c // space.k, c % space.k
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) > 0:
        for p in range(a, z):
            w[np.int64(space.idx[p]) * space.k + k] = 0.0
    else:
        w[k * space.width : (k + 1) * space.width] = 0.0
