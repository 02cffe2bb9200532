"""Loops over a store of planes, one block per example.

The planes of an example share a *support*: the sorted-by-arrival list of coordinates
of w that any of them touches. A visit gathers w on the support once, works on small
local arrays, and scatters the change back once, so that its cost in cache misses is
the size of the support and not the sum over planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels, inner
from maxmargin.jit import loop
from maxmargin.solvers.steps import block_gap, box_steps, pair_steps

STEPS = 10  # pairwise steps per visit of a block


class Store(NamedTuple):
    """Planes of all examples in flat arrays; `top` says how much of each is used."""

    count: Ints  # type: ignore[assignment]  # (n,) planes held
    room: Ints  # (n,) slots owned
    first: Ints  # (n,) first slot
    gram_at: Ints  # (n,) start of the (room, room) Gram matrix
    width: Ints  # (n,) size of the support
    width_room: Ints  # (n,) entries owned in `support`
    support_at: Ints  # (n,) start of the support
    alpha: Floats  # (slots,)
    b: Floats  # (slots,)
    start: Ints  # (slots,) entries of the plane: start:stop
    stop: Ints  # (slots,)
    idle: Ints  # (slots,) visits since alpha was positive
    gram: Floats
    support: Labels  # coordinates of w
    idx: Labels  # entries: positions in the support
    val: Floats
    top: Ints  # (4,) used: slots, gram, support, entries


class Space(NamedTuple):
    """What a coordinate of a plane stands for, see `structures.base.Parts`.

    Below `limit` it is vector c // k with label c % k, from there on a weight.
    """

    ptr: Ints
    idx: Labels
    val: Floats
    width: int
    k: int
    limit: int
    base: int  # the weight that coordinate `limit` stands for


class Scratch(NamedTuple):
    """Work space; `where` is -1, `acc` and `spread` are 0 between calls."""

    where: Labels  # (coordinates,) position in the support
    spread: Floats  # (dim,) a plane in weight space
    local: Floats  # (support) w on the support
    acc: Floats  # (support)
    g: Floats  # (planes + 1,)
    old: Floats  # (planes + 1,)


class Dual(NamedTuple):
    """The dual set, see `formulations.DualSet`."""

    upper: Floats
    ridge: Floats
    box: bool


@loop
def part_dot(space, c, w):
    """<part c, w>."""
    if c >= space.limit:
        return w[space.base + c - space.limit]
    r = c // space.k
    k = c - r * space.k
    a, z = space.ptr[r], space.ptr[r + 1]
    if len(space.idx) == 0:
        return inner(space.val[a:z], w[k * space.width : (k + 1) * space.width])
    s, step, k = 0.0, np.uint64(space.k), np.uint64(k)
    for p in range(np.uint64(a), np.uint64(z)):
        s += space.val[p] * w[np.uint64(space.idx[p]) * step + k]
    return s


@loop
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


@loop
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


@loop
def gather(store, scratch, space, i, w):
    """Gradients of the planes of example i, without the ridge; returns the work."""
    at, size = store.support_at[i], store.width[i]
    work = size
    for p in range(size):
        c = store.support[at + p]
        scratch.local[p] = part_dot(space, c, w)
        if c < space.limit:
            r = c // space.k
            work += space.ptr[r + 1] - space.ptr[r]
    for j in range(store.count[i]):
        s = store.first[i] + j
        h = store.b[s]
        for e in range(store.start[s], store.stop[s]):
            h -= store.val[e] * scratch.local[store.idx[e]]
        scratch.g[j] = h
        work += store.stop[s] - store.start[s]
    return work


@loop
def improve(store, scratch, space, dual, i, w, closed):
    """Exact ascent on the block of example i after `gather`; returns (gap, rise)."""
    m, f = store.count[i], store.first[i]
    upper, ridge = dual.upper[i], dual.ridge[i]
    g = scratch.g
    total = 0.0
    for j in range(m):
        total += store.alpha[f + j]
        scratch.old[j] = store.alpha[f + j]
    top = 0.0
    for j in range(m):
        g[j] -= ridge * total
        top = max(top, abs(g[j]))
    alpha = store.alpha[f : f + m]
    gap = block_gap(m, g, alpha, upper, ridge, dual.box)
    if gap <= closed:
        return gap, 0.0
    room, at = store.room[i], store.gram_at[i]
    G = store.gram[at : at + room * room].reshape(room, room)
    tiny = 1e-12 * top
    if dual.box:
        rise = box_steps(G, m, g, alpha, upper, tiny, STEPS)
    else:
        rise = pair_steps(G, ridge, m, g, alpha, upper, tiny, STEPS)
    for j in range(m):
        change = alpha[j] - scratch.old[j]
        if change != 0.0:
            for e in range(store.start[f + j], store.stop[f + j]):
                scratch.acc[store.idx[e]] += change * store.val[e]
        store.idle[f + j] = 0 if alpha[j] > 0.0 else store.idle[f + j] + 1
    at = store.support_at[i]
    for p in range(store.width[i]):
        if scratch.acc[p] != 0.0:
            part_add(space, store.support[at + p], scratch.acc[p], w)
            scratch.acc[p] = 0.0
    return gap, rise


@loop
def sweep(store, scratch, space, dual, order, w, closed, gaps):
    """Visit the blocks in `order`; gaps[i] is the gap each had; (rise, work)."""
    rise, work = 0.0, 0
    for i in order:
        if store.count[i] == 0:
            gaps[i] = 0.0
            continue
        cost = gather(store, scratch, space, i, w)
        gap, made = improve(store, scratch, space, dual, i, w, closed)
        gaps[i] = gap
        rise += made
        work += 2 * cost if made > 0.0 else cost
    return rise, work


@loop
def take_in(
    store, scratch, space, dual, ids, ptr, idx, val, b, slack, w, news, closed, found
):
    """Add the planes that say something new and improve their blocks, in order.

    A plane is news if it is higher at w than all that are held by more than `news`.
    found[q] is 1 where it was, -1 where the oracle knew nothing new even at its own w
    (`slack`), 0 where w has moved on since; returns (sum of gaps, rise, work, added).
    """
    total, rise, work, added = 0.0, 0.0, 0, 0
    for q in range(len(ids)):
        i = ids[q]
        work += 2 * gather(store, scratch, space, i, w)
        m, f = store.count[i], store.first[i]
        mass, inner, top = 0.0, 0.0, 0.0
        for j in range(m):
            mass += store.alpha[f + j]
            inner += store.alpha[f + j] * scratch.g[j]
            top = max(top, scratch.g[j])
        h = b[q]
        for e in range(ptr[q], ptr[q + 1]):
            h -= val[e] * part_dot(space, idx[e], w)
        height = max(h, slack[q])
        if dual.upper[i] < np.inf:
            total += max(dual.upper[i] * max(height, top) - inner, 0.0)
        elif dual.ridge[i] > 0.0:
            high = max(height, top)
            total += (
                0.5 * high * high / dual.ridge[i]
                + 0.5 * dual.ridge[i] * mass * mass
                - inner
            )
        else:
            total += max(max(height, top), 0.0)
        found[q] = 0 if slack[q] > max(top, 0.0) + news else -1
        if h > max(top, 0.0) + news:
            insert(store, scratch, space, i, ptr[q], ptr[q + 1], idx, val, b[q])
            scratch.g[store.count[i] - 1] = h
            found[q] = 1
            added += 1
        if store.count[i] > 0:
            rise += improve(store, scratch, space, dual, i, w, closed)[1]
    return total, rise, work, added


@loop
def insert(store, scratch, space, i, a, z, idx, val, b):
    """Append a plane to block i; room must have been made (see `make_room`)."""
    where, acc = scratch.where, scratch.acc
    at, size = store.support_at[i], store.width[i]
    for p in range(size):
        where[store.support[at + p]] = p
    for e in range(a, z):
        p = where[idx[e]]
        if p < 0:
            p = size
            where[idx[e]] = p
            store.support[at + p] = idx[e]
            size += 1
        acc[p] += val[e]
    store.width[i] = size
    for p in range(size):
        where[store.support[at + p]] = -1
    write_plane(store, scratch, space, i, size, b)


@loop
def write_plane(store, scratch, space, i, size, b):
    """The plane whose local values are in `acc` becomes the last of block i."""
    acc, against = scratch.acc, scratch.acc
    if space.limit > 0:
        against = scratch.local
        spread_out(store, scratch, space, i, size)
    j = store.count[i]
    f, room, at = store.first[i], store.room[i], store.gram_at[i]
    end = store.top[3]
    s = f + j
    store.start[s] = end
    own = 0.0
    for p in range(size):
        if acc[p] != 0.0:
            store.idx[end] = p
            store.val[end] = acc[p]
            own += acc[p] * against[p]
            end += 1
    store.stop[s], store.top[3] = end, end
    store.b[s], store.alpha[s], store.idle[s] = b, 0.0, 0
    store.gram[at + j * room + j] = own
    for k in range(j):
        dot = 0.0
        for e in range(store.start[f + k], store.stop[f + k]):
            dot += store.val[e] * against[store.idx[e]]
        store.gram[at + j * room + k] = dot
        store.gram[at + k * room + j] = dot
    for p in range(size):
        acc[p] = 0.0
    store.count[i] = j + 1


@loop
def spread_out(store, scratch, space, i, size):
    """local[p] = <part p, plane in acc>, by way of the plane in weight space."""
    at = store.support_at[i]
    for p in range(size):
        if scratch.acc[p] != 0.0:
            part_add(space, store.support[at + p], scratch.acc[p], scratch.spread)
    for p in range(size):
        scratch.local[p] = part_dot(space, store.support[at + p], scratch.spread)
    for p in range(size):
        if scratch.acc[p] != 0.0:
            part_clear(space, store.support[at + p], scratch.spread)


@loop
def make_room(store, ids, sizes):
    """Give each example in `ids` a free slot and support for `sizes` more entries.

    Blocks that are full move to the end of their arrays with twice the room. The
    arrays must be long enough (`PlaneBlocks.reserve`).
    """
    for q in range(len(ids)):
        i = ids[q]
        if store.count[i] == store.room[i]:
            old, new = store.room[i], max(2, 2 * store.room[i])
            to, f = store.top[0], store.first[i]
            for j in range(store.count[i]):
                store.alpha[to + j], store.b[to + j] = (
                    store.alpha[f + j],
                    store.b[f + j],
                )
                store.start[to + j] = store.start[f + j]
                store.stop[to + j] = store.stop[f + j]
                store.idle[to + j] = store.idle[f + j]
            gram, at = store.top[1], store.gram_at[i]
            for j in range(store.count[i]):
                for k in range(store.count[i]):
                    store.gram[gram + j * new + k] = store.gram[at + j * old + k]
            store.first[i], store.room[i], store.gram_at[i] = to, new, gram
            store.top[0], store.top[1] = to + new, gram + new * new
        if store.width[i] + sizes[q] > store.width_room[i]:
            new = 2 * (store.width[i] + sizes[q])
            to, at = store.top[2], store.support_at[i]
            for p in range(store.width[i]):
                store.support[to + p] = store.support[at + p]
            store.support_at[i], store.width_room[i] = to, new
            store.top[2] = to + new


@loop
def remove(store, i, j):
    """Forget plane j of block i: the last plane takes its place."""
    last = store.count[i] - 1
    f, room, at = store.first[i], store.room[i], store.gram_at[i]
    if j != last:
        s, t = f + j, f + last
        store.alpha[s], store.b[s] = store.alpha[t], store.b[t]
        store.start[s], store.stop[s] = store.start[t], store.stop[t]
        store.idle[s] = store.idle[t]
        for k in range(last):
            if k != j:
                value = store.gram[at + last * room + k]
                store.gram[at + j * room + k] = value
                store.gram[at + k * room + j] = value
        store.gram[at + j * room + j] = store.gram[at + last * room + last]
    store.count[i] = last


@loop
def merge(store, scratch, space, i):
    """Replace the two planes of least weight by their average: the dual stays."""
    m, f = store.count[i], store.first[i]
    j, k = -1, -1
    for r in range(m):
        if j < 0 or store.alpha[f + r] < store.alpha[f + j]:
            j, k = r, j
        elif k < 0 or store.alpha[f + r] < store.alpha[f + k]:
            k = r
    aj, ak = store.alpha[f + j], store.alpha[f + k]
    both = aj + ak
    share = aj / both if both > 0.0 else 0.5
    for e in range(store.start[f + j], store.stop[f + j]):
        scratch.acc[store.idx[e]] += share * store.val[e]
    for e in range(store.start[f + k], store.stop[f + k]):
        scratch.acc[store.idx[e]] += (1.0 - share) * store.val[e]
    b = share * store.b[f + j] + (1.0 - share) * store.b[f + k]
    remove(store, i, max(j, k))
    remove(store, i, min(j, k))
    write_plane(store, scratch, space, i, store.width[i], b)
    store.alpha[f + store.count[i] - 1] = both


@loop
def evict(store, scratch, space, ids, most, spare):
    """Leave each example in `ids` with at most `most` - 1 planes.

    Planes without weight go first, the longest idle before the others; if all have
    weight the two lightest are merged, provided `spare` entries are free for it.
    """
    for i in ids:
        while store.count[i] >= most:
            f, worst = store.first[i], -1
            for j in range(store.count[i]):
                if store.alpha[f + j] == 0.0 and (
                    worst < 0 or store.idle[f + j] > store.idle[f + worst]
                ):
                    worst = j
            if worst >= 0:
                remove(store, i, worst)
            elif store.top[3] + store.width[i] <= spare:
                merge(store, scratch, space, i)
            else:
                break


@loop
def forget_idle(store, patience):
    """Drop planes that have carried no weight for `patience` visits."""
    for i in range(len(store.count)):
        j = store.count[i] - 1
        while j >= 0:
            s = store.first[i] + j
            if store.alpha[s] == 0.0 and store.idle[s] >= patience:
                remove(store, i, j)
            j -= 1


@loop
def ridge_value(store, ridge):
    """sum_i ridge_i (sum alpha_i)^2."""
    out = 0.0
    for i in range(len(store.count)):
        total = 0.0
        for s in range(store.first[i], store.first[i] + store.count[i]):
            total += store.alpha[s]
        if total > 0.0:
            out += ridge[i] * total * total
    return out


@loop
def dual_value(store, ridge):
    """Sum alpha * b - 1/2 sum_i ridge_i (sum alpha_i)^2."""
    out = 0.0
    for i in range(len(store.count)):
        for s in range(store.first[i], store.first[i] + store.count[i]):
            out += store.alpha[s] * store.b[s]
    return out - 0.5 * ridge_value(store, ridge)


@loop
def radius(store):
    """Largest squared length of a plane."""
    out = 0.0
    for i in range(len(store.count)):
        for j in range(store.count[i]):
            out = max(out, store.gram[store.gram_at[i] + j * (store.room[i] + 1)])
    return out


@loop
def weights(store, space, w):
    """W = sum alpha * a, from scratch."""
    w[:] = 0.0
    for i in range(len(store.count)):
        at = store.support_at[i]
        for s in range(store.first[i], store.first[i] + store.count[i]):
            if store.alpha[s] != 0.0:
                for e in range(store.start[s], store.stop[s]):
                    c = store.support[at + store.idx[e]]
                    part_add(space, c, store.alpha[s] * store.val[e], w)


@loop
def live(store):
    """Slots, Gram, support and plane entries that `compact` would copy."""
    out = np.zeros(4, np.int64)
    for i in range(len(store.count)):
        out[0] += store.room[i]
        out[1] += store.room[i] * store.room[i]
        out[2] += _roomy(store.width[i])
        for s in range(store.first[i], store.first[i] + store.count[i]):
            out[3] += store.stop[s] - store.start[s]
    return out


@loop
def _roomy(width):
    return width + width // 4


@loop
def planes_of(store, i):
    """Planes of block i in coordinates of w: ((ptr, idx, val), b, alpha)."""
    m, f, at = store.count[i], store.first[i], store.support_at[i]
    ptr = np.zeros(m + 1, np.int64)
    for j in range(m):
        ptr[j + 1] = ptr[j] + store.stop[f + j] - store.start[f + j]
    idx, val = np.empty(ptr[m], np.int32), np.empty(ptr[m])
    for j in range(m):
        for k in range(ptr[j + 1] - ptr[j]):
            e = store.start[f + j] + k
            idx[ptr[j] + k] = store.support[at + store.idx[e]]
            val[ptr[j] + k] = store.val[e]
    return (ptr, idx, val), store.b[f : f + m].copy(), store.alpha[f : f + m].copy()


@loop
def compact(old, new):
    """Copy every block into fresh arrays, in order, without the holes."""
    for i in range(len(old.count)):
        m = old.count[i]
        room = old.room[i]
        f, at = old.first[i], old.gram_at[i]
        to, gram = new.top[0], new.top[1]
        new.count[i], new.room[i], new.first[i], new.gram_at[i] = m, room, to, gram
        for j in range(m):
            for k in range(m):
                new.gram[gram + j * room + k] = old.gram[at + j * room + k]
        end = new.top[3]
        for j in range(m):
            s, t = f + j, to + j
            new.alpha[t], new.b[t], new.idle[t] = old.alpha[s], old.b[s], old.idle[s]
            new.start[t] = end
            for e in range(old.start[s], old.stop[s]):
                new.idx[end], new.val[end] = old.idx[e], old.val[e]
                end += 1
            new.stop[t] = end
        sup, size = new.top[2], old.width[i]
        for p in range(size):
            new.support[sup + p] = old.support[old.support_at[i] + p]
        space = _roomy(size)
        new.width[i], new.width_room[i], new.support_at[i] = size, space, sup
        new.top[0], new.top[1] = to + room, gram + room * room
        new.top[2], new.top[3] = sup + space, end
