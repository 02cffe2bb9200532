"""Islands of a block: which group a new one joins, how groups are merged and split.

Leaf loops that `loops.py` calls; the arrays are described there.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import inner_loop
from maxmargin.solvers.lanes.scores import product, product_from, products_at, tuples


@inner_loop
def height(task, i, labels, at, low, high, nodes, tail):
    """- <w, island>: what the island scores more than the truth, loss left out."""
    a, T, K = task.ptr[i], task.ptr[i + 1] - task.ptr[i], task.layout.labels
    out = 0.0
    for t in range(low, high + 1):
        y, o = np.int64(task.truth[a + t]), np.int64(labels[at + t - low])
        out += nodes[t * K + o] - nodes[t * K + y]
    return out - task.eta * tuples(
        task.layout, task.truth, labels, a, T, at, low, high, tail, 0.0
    )


@inner_loop
def insert(task, blocks, lane, i, b, low, high, group, loss, h):
    """The labels found from `low` to `high` become the last island of block b."""
    a, first = task.ptr[i], blocks.cut[b] - task.ptr[i]
    T, width = task.ptr[i + 1] - a, blocks.cut[b + 1] - blocks.cut[b]
    m, room, found = blocks.held[b], blocks.room[b], lane.found
    at, s = blocks.label_at[b] + m * width, blocks.first[b] + m
    for t in range(low, high + 1):
        blocks.labels[at + t - low] = found[first + t]
    blocks.b[s], blocks.alpha[s], blocks.idle[s] = loss, 0.0, 0
    blocks.low[s], blocks.high[s], blocks.group[s] = low, high, group
    lane.g[m] = h
    start = blocks.share_at[b]
    share = blocks.share[start : start + width * (width + 1) // 2]
    tuples(
        task.layout, task.truth, found, a, T, first + low, first + low, first + high,
        lane.counts, 1.0,
    )  # fmt: skip
    begin, end, tokens = low, high, 0
    for r in range(blocks.first[b], s + 1):
        begin = min(begin, np.int64(blocks.low[r]))
        end = max(end, np.int64(blocks.high[r]))
        tokens += blocks.high[r] - blocks.low[r] + 1
    K, table = task.layout.labels, lane.augmented  # which inference no longer needs
    own = high - low + 1  # one by one it would be own * tokens
    many = own * tokens > (end - begin + 1) * (2 * own + K // 8)
    if many:
        products_at(
            share, task.truth, a + first, found, first + low, low, high, begin, end, K,
            table,
        )  # fmt: skip
    for j in range(m + 1):
        r, q = blocks.first[b] + j, blocks.label_at[b] + j * width
        lj, hj = np.int64(blocks.low[r]), np.int64(blocks.high[r])
        if many:
            v = product_from(table, task.truth, a + first, blocks.labels, q, lj, hj, K)
        else:
            v = product(
                share, task.truth, a + first, found, first + low, low, high,
                blocks.labels, q, lj, hj,
            )  # fmt: skip
        v += task.curve * task.eta**2 * tuples(
            task.layout, task.truth, blocks.labels, a, T, q, first + lj, first + hj,
            lane.counts, 0.0,
        )  # fmt: skip
        blocks.gram[blocks.gram_at[b] + m * room + j] = v
        blocks.gram[blocks.gram_at[b] + j * room + m] = v
    tuples(
        task.layout, task.truth, found, a, T, first + low, first + low, first + high,
        lane.counts, -1.0,
    )  # fmt: skip
    blocks.held[b] = m + 1


@inner_loop
def _remove(blocks, b, j):
    """Forget island j of block b: the last one takes its slot."""
    last, room, f = blocks.held[b] - 1, blocks.room[b], blocks.first[b]
    blocks.held[b] = last
    if j == last:
        return
    s, e = f + j, f + last
    blocks.alpha[s], blocks.b[s], blocks.idle[s] = (
        blocks.alpha[e],
        blocks.b[e],
        blocks.idle[e],
    )
    blocks.low[s], blocks.high[s] = blocks.low[e], blocks.high[e]
    blocks.group[s] = blocks.group[e]
    width = blocks.cut[b + 1] - blocks.cut[b]
    at, end = blocks.label_at[b] + j * width, blocks.label_at[b] + last * width
    for t in range(blocks.high[s] - blocks.low[s] + 1):
        blocks.labels[at + t] = blocks.labels[end + t]
    at = blocks.gram_at[b]
    for k in range(last):
        if k != j:
            blocks.gram[at + j * room + k] = blocks.gram[at + last * room + k]
            blocks.gram[at + k * room + j] = blocks.gram[at + last * room + k]
    blocks.gram[at + j * room + j] = blocks.gram[at + last * room + last]


@inner_loop
def _combine(task, blocks, lane, b, j, k, mass):
    """Move `mass` from islands j and k, of two groups, to a new one that is both."""
    f, m, room, at = (
        blocks.first[b],
        blocks.held[b],
        blocks.room[b],
        blocks.gram_at[b],
    )
    if blocks.low[f + k] < blocks.low[f + j]:
        j, k = k, j
    s, one, two = f + m, f + j, f + k
    width = blocks.cut[b + 1] - blocks.cut[b]
    low, high = blocks.low[one], max(blocks.high[one], blocks.high[two])
    to = blocks.label_at[b] + m * width
    for t in range(low, high + 1):
        blocks.labels[to + t - low] = task.truth[blocks.cut[b] + t]
    for r in range(2):
        q, e = (k, two) if r else (j, one)
        src = blocks.label_at[b] + q * width
        for t in range(blocks.low[e], blocks.high[e] + 1):
            label = blocks.labels[src + t - blocks.low[e]]
            if label != task.truth[blocks.cut[b] + t]:
                blocks.labels[to + t - low] = label
    blocks.low[s], blocks.high[s], blocks.idle[s] = low, high, 0
    blocks.b[s], blocks.group[s] = blocks.b[one] + blocks.b[two], blocks.group[one]
    blocks.alpha[s] = mass
    blocks.alpha[one] -= mass
    blocks.alpha[two] -= mass
    lane.g[m] = lane.g[j] + lane.g[k]
    gram = blocks.gram
    for q in range(m):
        v = gram[at + j * room + q] + gram[at + k * room + q]
        gram[at + m * room + q], gram[at + q * room + m] = v, v
    gram[at + m * room + m] = gram[at + m * room + j] + gram[at + m * room + k]
    blocks.held[b] = m + 1


@inner_loop
def _unite(task, blocks, lane, b, g, h, upper):
    """Make groups g and h one, so that its alpha sum to `upper` at most.

    Where the two sums exceed it, the excess is carried by islands that are both. False
    if there may be too few slots for these; nothing is changed then.
    """
    f = blocks.first[b]
    excess, positive = -upper, 0
    for s in range(f, f + blocks.held[b]):
        if blocks.group[s] == g or blocks.group[s] == h:
            excess += blocks.alpha[s]
            positive += blocks.alpha[s] > 0.0
    if excess > 1e-12 * upper and blocks.held[b] + positive > blocks.room[b]:
        return False
    while excess > 1e-12 * upper:
        j, k = -1, -1
        for s in range(f, f + blocks.held[b]):
            if blocks.group[s] == g and (
                j < 0 or blocks.alpha[s] > blocks.alpha[f + j]
            ):
                j = s - f
            if blocks.group[s] == h and (
                k < 0 or blocks.alpha[s] > blocks.alpha[f + k]
            ):
                k = s - f
        mass = min(excess, blocks.alpha[f + j], blocks.alpha[f + k])
        if mass <= 0.0:
            break
        # The new island is in neither group until all are made.
        _combine(task, blocks, lane, b, j, k, mass)
        blocks.group[f + blocks.held[b] - 1] = -1
        excess -= mass
    for s in range(f, f + blocks.held[b]):
        if blocks.group[s] == h or blocks.group[s] == -1:
            blocks.group[s] = g
    return True


@inner_loop
def place(task, blocks, lane, b, low, high, upper):
    """Group for a new island from `low` to `high`.

    Groups that it touches become one; -1 if there are too few slots for that.
    """
    f, order = blocks.first[b], task.layout.order
    to = last = np.int64(-1)
    s = f
    while s < f + blocks.held[b]:
        last = max(last, np.int64(blocks.group[s]))
        if blocks.low[s] <= high + order and blocks.high[s] >= low - order:
            if to < 0:
                to = np.int64(blocks.group[s])
            elif blocks.group[s] != to and not _unite(
                task, blocks, lane, b, to, blocks.group[s], upper
            ):
                return -1
        s += 1
    return to if to >= 0 else last + 1


@inner_loop
def extent(task, blocks, lane, i, b, low):
    """Last token of the island found from token `low` of block b on.

    What is found elsewhere in the reach of a group that it touches belongs to it: the
    islands of a group are alternatives to each other.
    """
    a, T, order = task.ptr[i], task.ptr[i + 1] - task.ptr[i], task.layout.order
    first, f = blocks.cut[b] - a, blocks.first[b]
    high, reach, t = low, low, low + 1
    while True:
        while t < T - first and t <= reach + order:
            if lane.found[first + t] != task.truth[a + first + t]:
                high, reach = t, max(reach, t)
            t += 1
        before = reach
        for s in range(f, f + blocks.held[b]):
            if blocks.low[s] <= high + order and blocks.high[s] >= low - order:
                for r in range(f, f + blocks.held[b]):
                    if blocks.group[r] == blocks.group[s]:
                        reach = max(reach, np.int64(blocks.high[r]))
        if reach == before:
            return high


@inner_loop
def ends_before(task, i, b, blocks, lane, low, stop):
    """Last token below `stop` after which the labels found may go on as the truth.

    Less than `low` if there is none that the transition mask allows.
    """
    K, legal = task.layout.labels, task.legal
    at, first = task.ptr[i], blocks.cut[b] - task.ptr[i]
    for t in range(stop - 1, low - 1, -1):
        y, o = task.truth[at + first + t], lane.found[first + t]
        if y == o:
            continue
        after = task.truth[at + first + t + 1]
        if len(legal) == 0 or legal[o * K + after] == 0.0:
            return t
    return low - 1


@inner_loop
def known(blocks, lane, b, low, high, h, order):
    """Whether an island in the same place, one group's, is at least as high."""
    f, group, top = blocks.first[b], np.int64(-1), 0.0
    for s in range(f, f + blocks.held[b]):
        if blocks.low[s] <= high + order and blocks.high[s] >= low - order:
            if group >= 0 and blocks.group[s] != group:
                return False
            group = np.int64(blocks.group[s])
    for s in range(f, f + blocks.held[b]):
        if blocks.group[s] == group:
            top = max(top, lane.g[s - f])
    return top >= h


@inner_loop
def forget(blocks, b, patience, order):
    """Drop islands that have had no weight for `patience` visits."""
    f, before = blocks.first[b], blocks.held[b]
    for j in range(before - 1, -1, -1):
        if blocks.alpha[f + j] > 0.0:
            blocks.idle[f + j] = 0
        else:
            blocks.idle[f + j] += 1
            if blocks.idle[f + j] >= patience:
                _remove(blocks, b, j)
    if blocks.held[b] < before:
        _regroup(blocks, b, order)


@inner_loop
def _regroup(blocks, b, order):
    """Split groups into islands that touch each other, directly or through others."""
    f, z = blocks.first[b], blocks.first[b] + blocks.held[b]
    for s in range(f, z):  # the old group, and a new one of its own
        blocks.group[s] = blocks.group[s] * 2**15 + s - f
    changed = True
    while changed:
        changed = False
        for s in range(f, z):
            for r in range(f, s):
                one, two = blocks.group[r], blocks.group[s]
                if (
                    one != two
                    and one >> 15 == two >> 15
                    and blocks.low[s] <= blocks.high[r] + order
                    and blocks.high[s] >= blocks.low[r] - order
                ):
                    blocks.group[r] = blocks.group[s] = min(one, two)
                    changed = True
    for s in range(f, z):
        blocks.group[s] &= 2**15 - 1


@inner_loop
def island_product(task, blocks, lane, i, b, j, k):
    """Inner product of islands j and k of block b of example i."""
    a, T = task.ptr[i], task.ptr[i + 1] - task.ptr[i]
    first, width = blocks.cut[b] - a, blocks.cut[b + 1] - blocks.cut[b]
    s, r = blocks.first[b] + j, blocks.first[b] + k
    at, q = blocks.label_at[b] + j * width, blocks.label_at[b] + k * width
    ls, hs = np.int64(blocks.low[s]), np.int64(blocks.high[s])
    lr, hr = np.int64(blocks.low[r]), np.int64(blocks.high[r])
    start = blocks.share_at[b]
    share = blocks.share[start : start + width * (width + 1) // 2]
    v = product(
        share,
        task.truth,
        a + first,
        blocks.labels,
        at,
        ls,
        hs,
        blocks.labels,
        q,
        lr,
        hr,
    )
    layout, truth, labels = task.layout, task.truth, blocks.labels
    one, two = (first + ls, first + hs), (first + lr, first + hr)
    tuples(layout, truth, labels, a, T, at, one[0], one[1], lane.counts, 1.0)
    u = tuples(layout, truth, labels, a, T, q, two[0], two[1], lane.counts, 0.0)
    tuples(layout, truth, labels, a, T, at, one[0], one[1], lane.counts, -1.0)
    return v + task.curve * task.eta**2 * u
