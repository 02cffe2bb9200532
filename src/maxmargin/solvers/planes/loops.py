"""Loops over a store of planes, one block per example.

The planes of an example share a *support*: the list, in order of arrival, of the
coordinates of w that any of them touches. A visit reads w on the support once, works on
small local arrays, and writes the change back once. Its cache misses are therefore those
of the support, not those of all planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.jit import inner_loop, loop
from maxmargin.solvers.planes.coordinates import (
    adds,
    clears,
    dots,
    list_changed,
    part_add_scaled,
    place,
    rings_of,
)
from maxmargin.solvers.planes.steps import block_gap, box_steps, pair_steps
from maxmargin.solvers.planes.store import remove

STEPS = 10  # pairwise steps per visit of a block


class Scratch(NamedTuple):
    """Work space; `where` is -1, `acc` and `spread` are 0 between calls."""

    where: Labels  # (coordinates of an example,) position in the support
    spread: Floats  # (dim,) a plane in weight space
    local: Floats  # (support) w on the support
    acc: Floats  # (support)
    g: Floats  # (planes + 1,)
    old: Floats  # (planes + 1,)
    scale: Floats  # (dim,) stretch of each weight, or empty: see `Dual`


class Dual(NamedTuple):
    """The dual set, see `formulations.DualSet`, and how steps are made on it.

    With a stretch s above 1, steps maximise the dual with s ||dw||^2 in place of
    ||dw||^2, dw being the change of w, and w follows s times as far (`distributed`).
    Weights may have a stretch of their own (`Scratch.scale`), by which s is multiplied.
    Gram matrices are then <a, scale a>.
    """

    upper: Floats
    ridge: Floats
    box: bool
    stretch: float
    log: Labels  # coordinates of planes along which w has changed, as far as they fit
    logged: Ints  # (1,) how many, also of those that did not fit


@loop
def gather(store, scratch, space, i, w):
    """Gradients of the planes of example i, without the ridge; returns the work."""
    at, size = store.support_at[i], store.width[i]
    work = size + dots(space, store.support, at, size, w, scratch.local)
    for j in range(store.count[i]):
        s = store.first[i] + j
        h = store.b[s]
        for e in range(store.start[s], store.stop[s]):
            h -= store.val[e] * scratch.local[store.idx[e]]
        scratch.g[j] = h
        work += store.stop[s] - store.start[s]
    return work


@inner_loop
def _log_changes(log, logged, parts, at, size, amount):
    """Log the coordinates from parts[at] on whose amount is not 0."""
    for p in range(size):
        if amount[p] != 0.0:
            if logged[0] < len(log):
                log[logged[0]] = parts[at + p]
            logged[0] += 1


@inner_loop
def _add_stretched(space, parts, at, size, amount, w, scale):
    """As `adds`, with the stretch of each weight."""
    for p in range(size):
        if amount[p] != 0.0:
            part_add_scaled(space, parts[at + p], amount[p], w, scale)


@inner_loop
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
    stretch = dual.stretch  # the objective is divided by it: G stays
    tiny = 1e-12 * top / stretch
    for j in range(m):
        g[j] /= stretch
    if dual.box:
        rise = box_steps(G, m, g, alpha, upper, tiny, STEPS)
    else:
        rise = pair_steps(G, ridge / stretch, m, g, alpha, upper, tiny, STEPS)
    rise *= stretch
    for j in range(m):
        change = stretch * (alpha[j] - scratch.old[j])
        if change != 0.0:
            for e in range(store.start[f + j], store.stop[f + j]):
                scratch.acc[store.idx[e]] += change * store.val[e]
        store.idle[f + j] = 0 if alpha[j] > 0.0 else store.idle[f + j] + 1
    at, size, acc = store.support_at[i], store.width[i], scratch.acc
    if len(dual.log) > 0:
        _log_changes(dual.log, dual.logged, store.support, at, size, acc)
    if len(scratch.scale) == 0:
        adds(space, store.support, at, size, acc, w)
    else:
        _add_stretched(space, store.support, at, size, acc, w, scratch.scale)
    for p in range(size):
        acc[p] = 0.0
    return gap, rise


@loop
def sweep(store, scratch, space, dual, order, w, closed, gaps, rise, work):
    """Visit the blocks in `order`; gaps[i] is the gap each had; (rise, work) so far."""
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
def changed_entries(space, log, w, base, mark, out):
    """List where w is not `base` along the coordinates in the log: how many."""
    size = 0
    for c in log:
        size = list_changed(space, c, w, base, mark, out, size)
    return size


@loop
def take_back(idx, w, base, mark, stretch, scale):
    """(w - base) / stretch at idx; w is `base` again, and the marks are 0."""
    val = np.empty(len(idx))
    for q in range(len(idx)):
        e = idx[q]
        val[q] = (w[e] - base[e]) / (stretch * scale[e])
        w[e] = base[e]
        mark[e] = 0
    return val


@loop
def violated(store, scratch, space, start, stop, w, C, a, slack):
    """slack[i] += positive heights; where C is given a += C * those planes, and b."""
    b = 0.0
    for i in range(start, stop):
        gather(store, scratch, space, i, w)
        for j in range(store.count[i]):
            if scratch.g[j] <= 0.0:
                continue
            slack[i] += scratch.g[j]
            if len(C) > 0:
                s = store.first[i] + j
                b += C[i] * store.b[s]
                for e in range(store.start[s], store.stop[s]):
                    scratch.acc[store.idx[e]] += C[i] * store.val[e]
        if slack[i] > 0.0 and len(C) > 0:
            at, size = store.support_at[i], store.width[i]
            adds(space, store.support, at, size, scratch.acc, a)
            for p in range(size):
                scratch.acc[p] = 0.0
    return b


@inner_loop
def _gap_of(upper, ridge, top, inner, mass):
    """Gap of an example with the highest plane at `top`, alpha g and alpha summed."""
    if upper < np.inf:
        return max(upper * top - inner, 0.0)
    if ridge > 0.0:
        return 0.5 * top * top / ridge + 0.5 * ridge * mass * mass - inner
    return max(top, 0.0)


@loop
def gaps_at(store, scratch, space, dual, ids, slack, w):
    """Sum of the gaps of examples whose slacks at w are given."""
    total = 0.0
    for q in range(len(ids)):
        i = ids[q]
        gather(store, scratch, space, i, w)
        m, f = store.count[i], store.first[i]
        mass, inner, top = 0.0, 0.0, slack[q]
        for j in range(m):
            mass += store.alpha[f + j]
            inner += store.alpha[f + j] * scratch.g[j]
            top = max(top, scratch.g[j])
        total += _gap_of(dual.upper[i], dual.ridge[i], top, inner, mass)
    return total


@loop
def take_in(
    store, scratch, space, dual, ids, ptr, idx, val, b, slack, w, news, closed, found
):
    """Add the planes that are new and improve their blocks, in order.

    A plane is new if, at w, it is higher by more than `news` than all planes of its
    example. found[q] is 1 for a new plane, -1 if there was nothing new even at the w
    that the oracle was asked about (`slack`), and 0 if w has moved on since. Returns
    (sum of gaps, rise, work, added).
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
        h, first = b[q], ptr[q]
        dots(space, idx, first, ptr[q + 1] - first, w, scratch.local)
        for e in range(first, ptr[q + 1]):
            h -= val[e] * scratch.local[e - first]
        height = max(h, slack[q])
        total += _gap_of(dual.upper[i], dual.ridge[i], max(height, top), inner, mass)
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
    where, acc, rings = scratch.where, scratch.acc, rings_of(space)
    at, size = store.support_at[i], store.width[i]
    for p in range(size):
        where[place(rings, store.support[at + p])] = p
    for e in range(a, z):
        c = place(rings, idx[e])
        p = where[c]
        if p < 0:
            p = size
            where[c] = p
            store.support[at + p] = idx[e]
            size += 1
        acc[p] += val[e]
    store.width[i] = size
    for p in range(size):
        where[place(rings, store.support[at + p])] = -1
    write_plane(store, scratch, space, i, size, b)


@inner_loop
def write_plane(store, scratch, space, i, size, b):
    """The plane whose local values are in `acc` becomes the last of block i."""
    acc, against = scratch.acc, stretched_plane(store, scratch, space, i, size)
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


@inner_loop
def stretched_plane(store, scratch, space, i, size):
    """<part p, scale * plane in acc> for each p in the support of block i."""
    at, parts, acc, scale = (
        store.support_at[i],
        store.support,
        scratch.acc,
        scratch.scale,
    )
    if space.last > 0:  # by way of the plane in weight space
        if len(scale) == 0:
            adds(space, parts, at, size, acc, scratch.spread)
        else:
            _add_stretched(space, parts, at, size, acc, scratch.spread, scale)
        dots(space, parts, at, size, scratch.spread, scratch.local)
        clears(space, parts, at, size, acc, scratch.spread)
        return scratch.local
    if len(scale) == 0:
        return acc
    for p in range(size):
        scratch.local[p] = acc[p] * scale[space.base + parts[at + p] - space.last]
    return scratch.local


@loop
def refill_gram(store, scratch, space):
    """Compute all Gram matrices anew, with the stretch that weights have now."""
    for i in range(len(store.count)):
        f, room, at = store.first[i], store.room[i], store.gram_at[i]
        for j in range(store.count[i]):
            s = f + j
            for e in range(store.start[s], store.stop[s]):
                scratch.acc[store.idx[e]] = store.val[e]
            against = stretched_plane(store, scratch, space, i, store.width[i])
            for k in range(j + 1):
                dot = 0.0
                for e in range(store.start[f + k], store.stop[f + k]):
                    dot += store.val[e] * against[store.idx[e]]
                store.gram[at + j * room + k] = dot
                store.gram[at + k * room + j] = dot
            for e in range(store.start[s], store.stop[s]):
                scratch.acc[store.idx[e]] = 0.0


@inner_loop
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
