"""Loops over the sets V_i: single steps as printed, and sums over subsets of V_i."""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop, loop
from maxmargin.solvers.planes.coordinates import part_add, part_dot


@inner_loop
def height(store, space, i, s, w):
    """How high the plane in slot s of example i is at w, b - <a, w>."""
    at, out = store.support_at[i], store.b[s]
    for e in range(store.start[s], store.stop[s]):
        out -= store.val[e] * part_dot(space, store.support[at + store.idx[e]], w)
    return out


@loop
def single_steps(store, space, C, ids, w, changes):
    """One step in the box 0 <= alpha <= C for each plane, in order of arrival.

    w follows each step. changes[i] is the sum of the squared steps of example i.
    """
    for i in ids:
        changes[i] = 0.0
        at, gram = store.support_at[i], store.gram_at[i]
        for j in range(store.count[i]):
            s = store.first[i] + j
            fall = height(store, space, i, s, w)
            square = store.gram[gram + j * (store.room[i] + 1)]
            if square > 0.0:
                to = min(max(store.alpha[s] + fall / square, 0.0), C[i])
            else:  # an output with the features of the truth: only its loss counts
                to = C[i] if fall > 0.0 else store.alpha[s]
            step = to - store.alpha[s]
            if step != 0.0:
                store.alpha[s] = to
                changes[i] += step * step
                for e in range(store.start[s], store.stop[s]):
                    c = store.support[at + store.idx[e]]
                    part_add(space, c, step * store.val[e], w)


@loop
def sum_chosen(store, space, C, w, chosen, a):
    """Add planes that are violated at w to S; a += C * the planes of S.

    chosen[i, j] says whether plane j of example i is in S. Returns (b, height): C times
    the losses, and C times the heights at w, of all planes in S.
    """
    b, total = 0.0, 0.0
    for i in range(len(store.count)):
        at = store.support_at[i]
        for j in range(store.count[i]):
            s = store.first[i] + j
            h = height(store, space, i, s, w)
            if h > 0.0:
                chosen[i, j] = True
            if not chosen[i, j]:
                continue
            b += C[i] * store.b[s]
            total += C[i] * h
            for e in range(store.start[s], store.stop[s]):
                c = store.support[at + store.idx[e]]
                part_add(space, c, C[i] * store.val[e], a)
    return b, total


@loop
def sum_violated(store, space, ids, w, acc):
    """The sum of the violated planes of each example: (ptr, idx, val, b, slack).

    In the coordinates of the planes. `acc` is zero, and as long as the widest support.
    """
    n = len(ids)
    ptr = np.zeros(n + 1, np.int64)
    for q in range(n):
        ptr[q + 1] = ptr[q] + store.width[ids[q]]
    idx, val = np.empty(ptr[n], np.int32), np.empty(ptr[n])
    b, slack, end = np.zeros(n), np.zeros(n), 0
    for q in range(n):
        i = ids[q]
        at = store.support_at[i]
        for s in range(store.first[i], store.first[i] + store.count[i]):
            h = height(store, space, i, s, w)
            if h > 0.0:
                slack[q] += h
                b[q] += store.b[s]
                for e in range(store.start[s], store.stop[s]):
                    acc[store.idx[e]] += store.val[e]
        for p in range(store.width[i]):
            if acc[p] != 0.0:
                idx[end], val[end] = store.support[at + p], acc[p]
                acc[p] = 0.0
                end += 1
        ptr[q + 1] = end
    return ptr, idx[:end], val[:end], b, slack
