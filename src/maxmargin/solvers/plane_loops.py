"""Loops over a store of planes, one block per example.

The planes of an example share a *support*: the sorted-by-arrival list of coordinates
of w that any of them touches. A visit gathers w on the support once, works on small
local arrays, and scatters the change back once, so that its cost in cache misses is
the size of the support and not the sum over planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Ints, Labels
from maxmargin.jit import loop
from maxmargin.solvers.steps import block_gap, box_steps, pair_steps

STEPS = 100  # pairwise steps per visit of a block


class Store(NamedTuple):
    """Planes of all examples in flat arrays; `top` says how much of each is used."""

    count: Ints  # (n,) planes held
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


class Scratch(NamedTuple):
    """Work space; `where` is -1 and `acc` is 0 between calls."""

    where: Labels  # (dim,) position in the support
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
def gather(store, scratch, i, w):
    """Gradients of the planes of example i, without the ridge."""
    at, size = store.support_at[i], store.width[i]
    for p in range(size):
        scratch.local[p] = w[store.support[at + p]]
    for j in range(store.count[i]):
        s = store.first[i] + j
        h = store.b[s]
        for e in range(store.start[s], store.stop[s]):
            h -= store.val[e] * scratch.local[store.idx[e]]
        scratch.g[j] = h


@loop
def improve(store, scratch, dual, i, w, closed):
    """One visit: exact ascent on the block of example i; returns (gap, rise, work)."""
    m, f = store.count[i], store.first[i]
    upper, ridge = dual.upper[i], dual.ridge[i]
    g = scratch.g
    total, work = 0.0, store.width[i]
    for j in range(m):
        total += store.alpha[f + j]
        scratch.old[j] = store.alpha[f + j]
        work += store.stop[f + j] - store.start[f + j]
    top = 0.0
    for j in range(m):
        g[j] -= ridge * total
        top = max(top, abs(g[j]))
    alpha = store.alpha[f : f + m]
    gap = block_gap(m, g, alpha, upper, ridge, dual.box)
    if gap <= closed:
        return gap, 0.0, work
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
            w[store.support[at + p]] += scratch.acc[p]
            scratch.acc[p] = 0.0
    return gap, rise, work + store.width[i]


@loop
def sweep(store, scratch, dual, order, w, closed, gaps):
    """Visit the blocks in `order`; gaps[i] is the gap each had; (rise, work)."""
    rise, work = 0.0, 0
    for i in order:
        if store.count[i] == 0:
            gaps[i] = 0.0
            continue
        gather(store, scratch, i, w)
        gap, made, cost = improve(store, scratch, dual, i, w, closed)
        gaps[i] = gap
        rise += made
        work += cost
    return rise, work


@loop
def take_in(store, scratch, dual, ids, ptr, idx, val, b, slack, w, news, closed, found):
    """Add the planes that say something new and improve their blocks, in order.

    A plane is news if it is higher at w than all that are held by more than `news`.
    found[q] is 1 where it was; returns (sum of gaps before, rise, work, added).
    """
    total, rise, work, added = 0.0, 0.0, 0, 0
    for q in range(len(ids)):
        i = ids[q]
        gather(store, scratch, i, w)
        m, f = store.count[i], store.first[i]
        mass, inner, top = 0.0, 0.0, 0.0
        for j in range(m):
            mass += store.alpha[f + j]
            inner += store.alpha[f + j] * scratch.g[j]
            top = max(top, scratch.g[j])
        h = b[q]
        for e in range(ptr[q], ptr[q + 1]):
            h -= val[e] * w[idx[e]]
        work += ptr[q + 1] - ptr[q]
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
        found[q] = 0
        if h > max(top, 0.0) + news:
            insert(store, scratch, i, ptr[q], ptr[q + 1], idx, val, b[q])
            scratch.g[store.count[i] - 1] = h
            found[q] = 1
            added += 1
        if store.count[i] > 0:
            _, made, cost = improve(store, scratch, dual, i, w, closed)
            rise += made
            work += cost
    return total, rise, work, added


@loop
def insert(store, scratch, i, a, z, idx, val, b):
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
    write_plane(store, scratch, i, size, b)


@loop
def write_plane(store, scratch, i, size, b):
    """The plane whose local values are in `acc` becomes the last of block i."""
    acc = scratch.acc
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
            own += acc[p] * acc[p]
            end += 1
    store.stop[s], store.top[3] = end, end
    store.b[s], store.alpha[s], store.idle[s] = b, 0.0, 0
    store.gram[at + j * room + j] = own
    for k in range(j):
        dot = 0.0
        for e in range(store.start[f + k], store.stop[f + k]):
            dot += store.val[e] * acc[store.idx[e]]
        store.gram[at + j * room + k] = dot
        store.gram[at + k * room + j] = dot
    for p in range(size):
        acc[p] = 0.0
    store.count[i] = j + 1


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
def merge(store, scratch, i):
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
    write_plane(store, scratch, i, store.width[i], b)
    store.alpha[f + store.count[i] - 1] = both


@loop
def evict(store, scratch, ids, most, spare):
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
                merge(store, scratch, i)
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
def weights(store, w):
    """W = sum alpha * a, from scratch."""
    w[:] = 0.0
    for i in range(len(store.count)):
        at = store.support_at[i]
        for s in range(store.first[i], store.first[i] + store.count[i]):
            if store.alpha[s] != 0.0:
                for e in range(store.start[s], store.stop[s]):
                    w[store.support[at + store.idx[e]]] += store.alpha[s] * store.val[e]


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
        new.width[i], new.width_room[i], new.support_at[i] = size, size, sup
        new.top[0], new.top[1] = to + room, gram + room * room
        new.top[2], new.top[3] = sup + size, end
