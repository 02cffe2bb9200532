"""Loops over the parts that planes are made of (see `core.structure.OuterCoordinates`).

A coordinate of a plane stands for the outer product of an input vector with a label, or
for a weight as it is (see `Space` in `store`). All that a trainer needs of it is
<part, w> and w += c * part.

`dots`, `adds` and `clears` do this for a list of coordinates. Trainers use them where
time matters: a call that takes a `Space` copies its twenty fields, which for a single
coordinate takes longer than the work.
"""

import numpy as np

from maxmargin.core.data.arrays import inner
from maxmargin.core.jit import inner_loop


@inner_loop
def place(rings, c):
    """Where coordinate c of an example goes in a table that any example fits into.

    Vectors of an example are neighbours, so that no two of their coordinates meet.
    `rings` comes from `rings_of`.
    """
    limit, last, ring, pair_ring = rings
    if c < limit:
        return c & (ring - 1)
    if c < last:
        return ring + ((c - limit) & (pair_ring - 1))
    return ring + pair_ring + c - last


@inner_loop
def rings_of(space):
    """What `place` needs to know of a space."""
    return space.limit, space.last, space.ring, space.pair_ring


@inner_loop
def part_size(space, c):
    """How many products <part c, w> takes; none where the part is a weight."""
    if c < space.limit:
        r = c // space.k
        if len(space.row) > 0:
            r = space.row[r]
        return space.ptr[r + 1] - space.ptr[r]
    return space.pair_width if c < space.last else 0


@inner_loop
def _pair_of(space, c):
    """First weight and first value of a part that is a pair of labels of an edge."""
    e = (c - space.limit) // space.pairs
    p = c - space.limit - e * space.pairs
    first = space.pair_at[space.pair_kind[e]] + p * space.pair_width
    return first, e * space.pair_width


@inner_loop
def _vector_of(space, c):
    """Vector, label, first weight, labels and width of a part that is a vector's."""
    r = c // space.k
    label = c - r * space.k
    if len(space.row) == 0:
        return np.int64(r), label, np.int64(0), space.k, space.width
    t = space.kind[r]
    return np.int64(space.row[r]), label, space.at[t], space.labels[t], space.widths[t]


@inner_loop
def part_dot(space, c, w):
    """<part c, w>."""
    if c >= space.last:
        return w[space.base + c - space.last]
    if c >= space.limit or len(space.row) > 0:
        return _other_dot(space, c, w)
    r = c // space.k
    k = c - r * space.k
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) == 0:
        return inner(space.val[a:z], w[k * space.width : (k + 1) * space.width])
    return sparse_dot(space.idx, space.val, a, z, space.k, k, w)


@inner_loop
def sparse_dot(idx, val, a, z, labels, at, w):
    """Sum of val[p] * w[idx[p] * labels + at]."""
    # Four sums at once: one alone would wait for each addition to end.
    step, k = np.uint64(labels), np.uint64(at)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    p, last = np.uint64(a), np.uint64(z)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while p + four <= last:
        s0 += val[p] * w[np.uint64(idx[p]) * step + k]
        s1 += val[p + one] * w[np.uint64(idx[p + one]) * step + k]
        s2 += val[p + two] * w[np.uint64(idx[p + two]) * step + k]
        s3 += val[p + three] * w[np.uint64(idx[p + three]) * step + k]
        p += four
    while p < last:
        s0 += val[p] * w[np.uint64(idx[p]) * step + k]
        p += one
    return (s0 + s1) + (s2 + s3)


@inner_loop
def _other_dot(space, c, w):
    """<part c, w> of pairs of labels, and where vectors are of several kinds."""
    if c >= space.limit:
        first, at = _pair_of(space, c)
        size = space.pair_width
        return inner(space.pair_val[at : at + size], w[first : first + size])
    r, k, first, labels, width = _vector_of(space, c)
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) == 0:
        own = w[first + k * width : first + (k + 1) * width]
        return inner(space.val[a:z], own)
    return sparse_dot(space.idx, space.val, a, z, labels, first + k, w)


@inner_loop
def part_add(space, c, amount, w):
    """Add amount * part c to w."""
    if c >= space.last:
        w[space.base + c - space.last] += amount
        return
    if c >= space.limit or len(space.row) > 0:
        _other_add(space, c, amount, w)
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
def _other_add(space, c, amount, w):
    """Add parts of pairs of labels, and where vectors are of several kinds."""
    if c >= space.limit:
        first, at = _pair_of(space, c)
        for f in range(space.pair_width):
            w[first + f] += amount * space.pair_val[at + f]
        return
    r, k, first, labels, width = _vector_of(space, c)
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) > 0:
        step, at = np.uint64(labels), np.uint64(first + k)
        for p in range(np.uint64(a), np.uint64(z)):
            w[np.uint64(space.idx[p]) * step + at] += amount * space.val[p]
    else:
        weights = w[first + k * width : first + (k + 1) * width]
        for p in range(a, z):
            weights[p - a] += amount * space.val[p]


@inner_loop
def part_add_scaled(space, c, amount, w, scale):
    """Add amount * part c to w, each entry times its scale."""
    if c >= space.last:
        e = space.base + c - space.last
        w[e] += amount * scale[e]
        return
    if c >= space.limit:
        first, at = _pair_of(space, c)
        for f in range(space.pair_width):
            w[first + f] += amount * scale[first + f] * space.pair_val[at + f]
        return
    r, k, first, labels, width = _vector_of(space, c)
    a, z = space.ptr[r], space.ptr[r + 1]
    for p in range(a, z):
        if len(space.idx) > 0:
            e = first + np.int64(space.idx[p]) * labels + k
        else:
            e = first + k * width + p - a
        w[e] += amount * scale[e] * space.val[p]


@inner_loop
def part_clear(space, c, w):
    """Set w to 0 wherever part c is not."""
    if c >= space.last:
        w[space.base + c - space.last] = 0.0
        return
    if c >= space.limit:
        first, _ = _pair_of(space, c)
        for f in range(space.pair_width):
            w[first + f] = 0.0
        return
    r, k, first, labels, width = _vector_of(space, c)
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) > 0:
        for p in range(a, z):
            w[first + np.int64(space.idx[p]) * labels + k] = 0.0
    else:
        w[first + k * width : first + (k + 1) * width] = 0.0


@inner_loop
def dots(space, parts, at, size, w, out):
    """out[p] = <part, w> for the coordinates from parts[at] on; how many products."""
    work, limit, last, base = 0, space.limit, space.last, space.base - space.last
    ptr, idx, val, k = space.ptr, space.idx, space.val, space.k
    if len(space.row) > 0:
        for p in range(size):
            out[p] = part_dot(space, parts[at + p], w)
            work += part_size(space, parts[at + p])
        return work
    if len(idx) > 0:
        work = _sparse_dots(
            parts, at, size, ptr, idx, val, k, limit, last, base, w, out
        )
    elif limit > 0:
        width = space.width
        work = _dense_dots(
            parts, at, size, ptr, val, width, k, limit, last, base, w, out
        )
    else:
        for p in range(size):
            out[p] = w[base + parts[at + p]]
    if last > limit:
        for p in range(size):
            if limit <= parts[at + p] < last:
                out[p] = _other_dot(space, parts[at + p], w)
                work += space.pair_width
    return work


@inner_loop
def _sparse_dots(parts, at, size, ptr, idx, val, k, limit, last, base, w, out):
    work = 0
    for p in range(size):
        c = parts[at + p]
        if c < limit:
            r = c // k
            a, z = ptr[r], ptr[r + 1]
            out[p] = sparse_dot(idx, val, a, z, k, c - r * k, w)
            work += z - a
        elif c >= last:
            out[p] = w[base + c]
    return work


@inner_loop
def _dense_dots(parts, at, size, ptr, val, width, k, limit, last, base, w, out):
    work = 0
    for p in range(size):
        c = parts[at + p]
        if c < limit:
            r = c // k
            a, z, first = ptr[r], ptr[r + 1], (c - r * k) * width
            out[p] = inner(val[a:z], w[first : first + width])
            work += z - a
        elif c >= last:
            out[p] = w[base + c]
    return work


@inner_loop
def adds(space, parts, at, size, amount, w):
    """Add amount[p] times the part of each coordinate from parts[at] on to w."""
    limit, last, base = space.limit, space.last, space.base - space.last
    ptr, idx, val, k = space.ptr, space.idx, space.val, space.k
    if len(space.row) > 0:
        for p in range(size):
            if amount[p] != 0.0:
                part_add(space, parts[at + p], amount[p], w)
        return
    if len(idx) > 0:
        _sparse_adds(parts, at, size, ptr, idx, val, k, limit, last, base, amount, w)
    elif limit > 0:
        width = space.width
        _dense_adds(parts, at, size, ptr, val, width, k, limit, last, base, amount, w)
    else:
        for p in range(size):
            w[base + parts[at + p]] += amount[p]
    if last > limit:
        for p in range(size):
            if limit <= parts[at + p] < last and amount[p] != 0.0:
                _other_add(space, parts[at + p], amount[p], w)


@inner_loop
def _sparse_adds(parts, at, size, ptr, idx, val, k, limit, last, base, amount, w):
    for p in range(size):
        c, change = parts[at + p], amount[p]
        if change == 0.0:
            continue
        if c < limit:
            r = c // k
            step, label = np.uint64(k), np.uint64(c - r * k)
            for e in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
                w[np.uint64(idx[e]) * step + label] += change * val[e]
        elif c >= last:
            w[base + c] += change


@inner_loop
def _dense_adds(parts, at, size, ptr, val, width, k, limit, last, base, amount, w):
    for p in range(size):
        c, change = parts[at + p], amount[p]
        if change == 0.0:
            continue
        if c < limit:
            r = c // k
            a, z, first = ptr[r], ptr[r + 1], (c - r * k) * width
            weights = w[first : first + width]
            for e in range(a, z):
                weights[e - a] += change * val[e]
        elif c >= last:
            w[base + c] += change


@inner_loop
def clears(space, parts, at, size, amount, w):
    """Set w to 0 where `adds` with these amounts has changed it."""
    base, limit, last = space.base - space.last, space.limit, space.last
    ptr, idx, k, width = space.ptr, space.idx, space.k, space.width
    alike = len(space.row) == 0
    for p in range(size):
        c = parts[at + p]
        if c >= last:
            w[base + c] = 0.0
        elif amount[p] == 0.0:
            continue
        elif c >= limit or not alike:
            part_clear(space, c, w)
        elif len(idx) > 0:
            r = c // k
            step, label = np.uint64(k), np.uint64(c - r * k)
            for e in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
                w[np.uint64(idx[e]) * step + label] = 0.0
        else:
            first = c % k * width
            for e in range(first, first + width):
                w[e] = 0.0


@inner_loop
def _list_entry(e, w, base, mark, out, size):
    """Append e to out[:size] if w differs there and e has no mark yet: the new size."""
    if mark[e] == 0 and w[e] != base[e]:
        mark[e] = 1
        out[size] = e
        return size + 1
    return size


@inner_loop
def list_changed(space, c, w, base, mark, out, size):
    """Append the entries of part c where w is not `base` to out[:size], each once."""
    if c >= space.last:
        return _list_entry(space.base + c - space.last, w, base, mark, out, size)
    if c >= space.limit:
        first, _ = _pair_of(space, c)
        for f in range(space.pair_width):
            size = _list_entry(first + f, w, base, mark, out, size)
        return size
    r, k, first, labels, width = _vector_of(space, c)
    a, z = space.ptr[r], space.ptr[r + 1]
    for p in range(a, z):
        if len(space.idx) > 0:
            e = first + np.int64(space.idx[p]) * labels + k
        else:
            e = first + k * width + p - a
        size = _list_entry(e, w, base, mark, out, size)
    return size
