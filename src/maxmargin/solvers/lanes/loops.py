"""Dual ascent on label sequences, one example after the other, as compiled loops.

Where the most violated labels differ from the truth in several places, with more than
`order` correct labels between them, no label tuple spans two of these places. Each such
*island* is a constraint of its own. Islands that overlap form a *group*, and the dual is

    max  sum_j alpha_j b_j - 1/2 ||w||^2,   w = sum_j alpha_j a_j,
    alpha >= 0,   sum of alpha in each group <= C.

This is the dual over whole sequences: draw an island (or none) from each group, with
probabilities alpha / C, independently of the other groups. That is a distribution over
whole sequences with the same w and the same expected loss. So one answer of the oracle
gives several constraints, each with its own step length.

A *block* is a run of tokens whose islands are stored together: the whole example, unless
it is long. Inner products of islands come from <x_t, x_u>, computed once per block.

Several lanes may work at a time, each on weights of its own (see `crew`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints, Labels, inner
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.structure import SequenceLayout
from maxmargin.inference.chain.viterbi import (
    backward,
    forward_among,
    join_scores,
    legal_states,
    path_score,
)
from maxmargin.solvers.lanes.groups import (
    ends_before,
    extent,
    forget,
    height,
    insert,
    island_product,
    known,
    place,
)
from maxmargin.solvers.lanes.scores import (
    add,
    fill,
    fill_listed,
    group_step,
    note,
    tuples,
)

ROUNDS = 10  # of steps over the groups of a block in one visit
SMALL = 1e-3  # share of the rise below which a further round is not worth it


class TokenInputs(NamedTuple):
    """Tokens and their features; those from `ptr` to `mid` are shared by the lanes."""

    ptr: Ints  # (tokens + 1,)
    mid: Ints  # (tokens,)
    idx: Labels  # empty: dense
    val: Floats


class SequenceTask(NamedTuple):
    """Sequences, their true labels and the loss; nothing here changes."""

    ptr: Ints  # (n + 1,) first token of each example
    truth: Labels  # (tokens,)
    forced: Labels  # (tokens,) or empty
    cost: Floats  # (K, K)
    scale: Floats  # (n,) factor on the loss
    upper: Floats  # (n,) C of each example
    legal: Floats  # scores of label pairs that a mask forbids, or empty
    eta: float
    layout: SequenceLayout
    curve: float = 1.0  # factor on inner products of label tuples and constants


class Blocks(NamedTuple):
    """Islands of all blocks in slots."""

    first_block: Ints  # (n + 1,) blocks of each example
    cut: Ints  # (blocks + 1,) first token of each block
    share_at: Ints  # (blocks,) where its triangle of <x_t, x_u>, u <= t, begins
    share: NDArray[np.float32]
    held: Ints  # (blocks,) islands held
    room: Ints  # (blocks,) slots owned
    first: Ints  # (blocks,) first slot
    label_at: Ints  # (blocks,) rows of labels, each as long as the block
    gram_at: Ints  # (blocks,) start of the (room, room) Gram matrix
    alpha: Floats  # (slots,)
    b: Floats  # (slots,) loss of the island
    idle: Labels  # (slots,) visits since alpha was positive
    low: Labels  # (slots,) first token of the island, from the block's first on
    high: Labels  # (slots,) last token
    group: Labels  # (slots,)
    labels: NDArray[np.int16]
    gram: Floats


class Lane(NamedTuple):
    """The weights as a lane sees them, and scratch space."""

    w: Floats
    tail: Floats  # weights of label tuples and constants: a view of w
    times: float  # factor on changes of shared weights until the end of the round
    # Tokens whose other weights changed in this round: of each, features that are not
    # shared, with their values, and labels with their changes.
    log_from: Ints  # (tokens + 1,) where the features of each begin; empty: no log
    log_feature: Labels
    log_value: Floats
    log_at: Ints  # (tokens + 1,) where the labels of each begin
    log_column: Labels
    log_change: Floats
    logged: Ints  # (1,) number of tokens
    nodes: Floats  # (longest * K)
    augmented: Floats  # (longest * K)
    values: Floats  # (longest * states)
    change: Floats  # (longest * K) and the change of their scores
    number: Labels  # (longest,) labels on the list of each token, 0 between calls
    columns: Labels  # (longest * K) these labels
    found: Labels  # (longest,)
    counts: Floats  # of label tuples, like `tail`, 0 between calls
    pair: Floats  # scores of label tuples, and of first and last labels
    begin: Floats
    end: Floats
    g: Floats  # (slots of a block)
    old: Floats  # (slots of a block)


@inner_loop
def _take(task, blocks, lane, i, b, news, whole, full):
    """Take islands of block b in the labels found that are new: how many there were.

    Of those that reach into the next block, a part will do, unless `whole`.
    """
    a = task.ptr[i]
    first, width = blocks.cut[b] - a, blocks.cut[b + 1] - blocks.cut[b]
    order, found, new = task.layout.order, lane.found, 0
    t = 0
    while t < width:
        if found[first + t] == task.truth[a + first + t]:
            t += 1
            continue
        low = t
        high = extent(task, blocks, lane, i, b, low)
        t, part = high + 1, False
        if high + order >= width and b + 1 < blocks.first_block[i + 1]:
            high, part = ends_before(task, i, b, blocks, lane, low, width - order), True
            if high < low or whole:
                full[b], new = 2, new + 1
                continue
        loss = 0.0
        for u in range(first + low, first + high + 1):
            loss += task.cost[task.truth[a + u], found[u]]
        loss *= task.scale[i]
        h = loss + height(
            task,
            i,
            found,
            first + low,
            first + low,
            first + high,
            lane.nodes,
            lane.tail,
        )
        if h <= news or known(blocks, lane, b, low, high, h - news, order):
            if part:
                full[b], new = 2, new + 1
            continue
        new += 1
        if blocks.held[b] >= blocks.room[b]:
            full[b] = max(full[b], 1)
            continue
        group = place(task, blocks, lane, b, low, high, task.upper[i])
        if group < 0 or blocks.held[b] >= blocks.room[b]:
            full[b] = max(full[b], 1)
        else:
            insert(task, blocks, lane, i, b, low, high, group, loss, h)
    return new


@inner_loop
def _ascend(blocks, lane, b, upper, stretch, least):
    """Pairwise steps in all groups of block b: the rise of the dual."""
    m, f, room, at = (
        blocks.held[b],
        blocks.first[b],
        blocks.room[b],
        blocks.gram_at[b],
    )
    alpha, group = blocks.alpha[f : f + m], blocks.group[f : f + m]
    G, g, top, total = blocks.gram[at : at + room * room], lane.g, 0.0, 0.0
    for j in range(m):
        lane.old[j] = alpha[j]
        top = max(top, abs(g[j]))
    for _ in range(ROUNDS):
        made = 0.0
        for j in range(m):
            lead = True
            for k in range(j):
                lead = lead and group[k] != group[j]
            if lead:
                made += group_step(
                    G, room, m, g, alpha, group, j, upper, stretch, 1e-12 * top, least
                )
        total += made
        if made <= SMALL * total:
            break
    return total


@inner_loop
def _write(task, inputs, blocks, lane, i, b):
    """Add what the steps did to the weights."""
    a, T, K = task.ptr[i], task.ptr[i + 1] - task.ptr[i], task.layout.labels
    first, width = blocks.cut[b] - a, blocks.cut[b + 1] - blocks.cut[b]
    f = blocks.first[b]
    for j in range(blocks.held[b]):
        s = f + j
        d = blocks.alpha[s] - lane.old[j]
        if d == 0.0:
            continue
        low, high = first + blocks.low[s], first + blocks.high[s]
        at = blocks.label_at[b] + j * width
        for t in range(low, high + 1):
            y, o = np.int64(task.truth[a + t]), np.int64(blocks.labels[at + t - low])
            if y == o:
                continue
            note(lane, t, K, y, d)
            note(lane, t, K, o, -d)
        tuples(
            task.layout, task.truth, blocks.labels, a, T, at, low, high, lane.tail,
            lane.times * d * task.eta,
        )  # fmt: skip
    add(inputs, lane, task.layout, a, first, first + width)


@inner_loop
def _heights(task, blocks, lane, i, b):
    """lane.g = heights of the islands of block b; returns the sum of alpha * g."""
    first, f = blocks.cut[b] - task.ptr[i], blocks.first[b]
    width, part = blocks.cut[b + 1] - blocks.cut[b], 0.0
    for j in range(blocks.held[b]):
        s, at = f + j, blocks.label_at[b] + j * width
        lane.g[j] = blocks.b[s] + height(
            task, i, blocks.labels, at, first + blocks.low[s], first + blocks.high[s],
            lane.nodes, lane.tail,
        )  # fmt: skip
        part += blocks.alpha[s] * lane.g[j]
    return part


@inner_loop
def _tops(blocks, lane, b):
    """Sum over the groups of block b of the largest height, if positive."""
    m, f, total = blocks.held[b], blocks.first[b], 0.0
    for j in range(m):
        top = max(lane.g[j], 0.0)
        for k in range(m):
            if blocks.group[f + k] == blocks.group[f + j] and (
                lane.g[k] > lane.g[j] or (lane.g[k] == lane.g[j] and k < j)
            ):
                top = 0.0
        total += top
    return total


@inner_loop
def _refresh(task, inputs, blocks, lane, i, b):
    """Fill the scores that the islands of block b have: how many."""
    a, K = task.ptr[i], task.layout.labels
    first, width = blocks.cut[b] - a, blocks.cut[b + 1] - blocks.cut[b]
    f = blocks.first[b]
    for s in range(f, f + blocks.held[b]):
        at = blocks.label_at[b] + (s - f) * width
        for t in range(first + blocks.low[s], first + blocks.high[s] + 1):
            y, o = task.truth[a + t], blocks.labels[at + t - first - blocks.low[s]]
            if y != o:
                note(lane, t, K, y, 0.0)
                note(lane, t, K, o, 0.0)
    return fill_listed(inputs, lane, task.layout, a, first, first + width, lane.nodes)


@inner_loop
def _oracle(task, inputs, lane, known, ends, i, low, high):
    """Find the most violated labels of the tokens `low` to `high` - 1 of example i.

    All other tokens have their true labels. Fills the scores of these tokens and of
    `order` ones around them. Returns the slack.
    """
    a, K, order = task.ptr[i], task.layout.labels, task.layout.order
    start, stop = max(low - order, 0), min(high + order, task.ptr[i + 1] - a)
    fill(inputs, lane, task.layout, a, start, stop, lane.nodes)
    nodes, augmented = lane.nodes[start * K :], lane.augmented[start * K :]
    found, L = lane.found[start:stop], stop - start
    truth, none = task.truth[a + start : a + stop], nodes[:0]
    pair, first, last = lane.pair, lane.begin, lane.end
    join_scores(lane.tail, task.layout, task.eta, task.legal, pair, first, last)
    if start > 0:
        first[:] = 0.0
    if a + stop < task.ptr[i + 1]:
        last[:] = 0.0
    own = path_score(nodes, none, pair, first, last, truth, K, order)
    factor = task.scale[i]
    for t in range(L):
        row = np.int64(truth[t])
        only = np.int64(-1)
        if t < low - start or t >= high - start:
            only = row
        elif len(task.forced) > 0:
            only = np.int64(task.forced[a + start + t])
        for k in range(K):
            if only >= 0 and k != only:
                augmented[t * K + k] = -np.inf
            else:
                augmented[t * K + k] = nodes[t * K + k] + factor * task.cost[row, k]
    best, state = forward_among(
        augmented, none, pair, first, last, L, K, order, none, lane.values, known, ends
    )
    backward(none, pair, L, K, order, lane.values, state, found)
    return best - own


@inner_loop
def _legal_states(task, lane):
    """The states that a mask allows before each label, see `legal_states`."""
    layout = task.layout
    join_scores(
        lane.tail, layout, task.eta, task.legal, lane.pair, lane.begin, lane.end
    )
    return legal_states(lane.pair, layout.labels, layout.order)


@inner_loop
def _ahead(task, blocks, lane, i, b, high):
    """What islands found before token `high` that begin after block b add to the slack."""
    a, order, found = task.ptr[i], task.layout.order, lane.found
    begin, right, total = blocks.cut[b + 1] - a, np.int64(0), 0.0
    for t in range(begin - 1, max(begin - 1 - order, blocks.cut[b] - a - 1), -1):
        if found[t] != task.truth[a + t]:
            break
        right += 1
    while begin < high and right < order:
        right = right + 1 if found[begin] == task.truth[a + begin] else np.int64(0)
        begin += 1
    if begin >= high:
        return 0.0
    for t in range(begin, high):
        total += task.cost[task.truth[a + t], found[t]]
    return task.scale[i] * total + height(
        task, i, found, begin, begin, high - 1, lane.nodes, lane.tail
    )


@loop
def products(
    inputs, weight, cut, at, share, bias, head, link, token, old_at, old_share
):
    """Fill the triangles <x_t, x_u> + bias of all blocks; head is -1 throughout.

    Features count `weight` times, if there are weights. Where old_at[b] is not -1, the
    triangle is taken from `old_share`.
    """
    ptr, idx, val = inputs.ptr, inputs.idx, inputs.val
    for b in range(len(cut) - 1):
        a, T = cut[b], cut[b + 1] - cut[b]
        base = ptr[a]
        if old_at[b] >= 0:
            for e in range(T * (T + 1) // 2):
                share[at[b] + e] = old_share[old_at[b] + e]
            continue
        for t in range(T):
            row = at[b] + t * (t + 1) // 2
            for u in range(t + 1):
                share[row + u] = bias
            if len(idx) == 0:
                x = val[ptr[a + t] : ptr[a + t + 1]]
                for u in range(t + 1):
                    share[row + u] += inner(x, val[ptr[a + u] : ptr[a + u + 1]])
                continue
            for e in range(ptr[a + t], ptr[a + t + 1]):
                p, v = e - base, val[e]
                if len(weight) > 0:
                    v *= weight[idx[e]]
                link[p], token[p] = head[idx[e]], t
                head[idx[e]] = p
                while p >= 0:  # all earlier tokens with this feature
                    share[row + token[p]] += v * val[base + p]
                    p = link[p]
        if len(idx) > 0:
            for e in range(ptr[a], ptr[a + T]):
                head[idx[e]] = -1


@loop
def visit(
    task, inputs, blocks, lane, ids, stretch, least, news, patience, ahead, whole, gaps,
    found, full,
):  # fmt: skip
    """Ask the oracle about each example, take in what is new, make steps.

    A long example is asked about block by block, each at the weights of that moment and
    with `ahead` tokens of what follows, since an island may go on there. Then a part of
    it is taken, or, if `whole`, none before the block is longer.

    gaps[i] is the gap that example i had, found[i] how many islands were new, and
    full[b] is 1 where block b has too few slots, 2 where it must end elsewhere.
    Returns the rise of the dual as the lane sees it.
    """
    known, ends = _legal_states(task, lane)
    return _visit(
        task, inputs, blocks, lane, known, ends, ids, stretch, least, news, patience,
        ahead, whole, gaps, found, full,
    )  # fmt: skip


@inner_loop
def _visit(
    task, inputs, blocks, lane, known, ends, ids, stretch, least, news, patience, ahead,
    whole, gaps, found, full,
):  # fmt: skip
    rise = 0.0
    for i in ids:
        found[i], gaps[i] = 0, 0.0
        if task.ptr[i + 1] == task.ptr[i] or task.upper[i] <= 0.0:
            continue
        slack, part, T = 0.0, 0.0, task.ptr[i + 1] - task.ptr[i]
        for b in range(blocks.first_block[i], blocks.first_block[i + 1]):
            low = blocks.cut[b] - task.ptr[i]
            high = min(blocks.cut[b + 1] - task.ptr[i] + ahead, T)
            slack += _oracle(task, inputs, lane, known, ends, i, low, high)
            slack -= _ahead(task, blocks, lane, i, b, high)
            part += _heights(task, blocks, lane, i, b)
            found[i] += _take(task, blocks, lane, i, b, news, whole, full)
            if blocks.held[b] > 0:
                made = _ascend(blocks, lane, b, task.upper[i], stretch, least)
                if made > 0.0:
                    _write(task, inputs, blocks, lane, i, b)
                    rise += made
                forget(blocks, b, patience, task.layout.order)
        gaps[i] = max(task.upper[i] * slack - part, 0.0)
    return rise


@loop
def sweep(
    task, inputs, blocks, lane, owner, order, stretch, least, closed, patience, gaps,
    load,
):  # fmt: skip
    """Make steps on the islands held by the blocks in `order`; returns as `visit`.

    gaps[b] is the gap that block b had; blocks with `closed` or less are left alone.
    load[b] is the number of scores that it took.
    """
    return _sweep(
        task, inputs, blocks, lane, owner, order, stretch, least, closed, patience,
        gaps, load,
    )  # fmt: skip


@inner_loop
def _sweep(
    task, inputs, blocks, lane, owner, order, stretch, least, closed, patience, gaps,
    load,
):  # fmt: skip
    rise = 0.0
    for b in order:
        i = owner[b]
        load[b] = _refresh(task, inputs, blocks, lane, i, b)
        part = _heights(task, blocks, lane, i, b)
        gaps[b] = task.upper[i] * _tops(blocks, lane, b) - part
        if gaps[b] <= closed:
            continue
        made = _ascend(blocks, lane, b, task.upper[i], stretch, least)
        if made > 0.0:
            _write(task, inputs, blocks, lane, i, b)
            rise += made
        forget(blocks, b, patience, task.layout.order)
    return rise


@loop
def slacks(task, inputs, lane, ids, out):
    """Slack of each example at the weights of the lane."""
    known, ends = _legal_states(task, lane)
    _slacks(task, inputs, lane, known, ends, ids, out)


@inner_loop
def _slacks(task, inputs, lane, known, ends, ids, out):
    for i in ids:
        out[i] = 0.0
        if task.ptr[i + 1] > task.ptr[i]:
            out[i] = _oracle(
                task, inputs, lane, known, ends, i, 0, task.ptr[i + 1] - task.ptr[i]
            )


@loop
def add_weights(task, inputs, blocks, lane, owner):
    """Add alpha times each island to the weights, which the lane writes directly."""
    for b in range(len(blocks.held)):
        for j in range(blocks.held[b]):
            lane.old[j] = 0.0
        if blocks.held[b] > 0:
            _write(task, inputs, blocks, lane, owner[b], b)


@loop
def linear_part(blocks):
    """Sum of alpha * b."""
    out = 0.0
    for b in range(len(blocks.held)):
        for s in range(blocks.first[b], blocks.first[b] + blocks.held[b]):
            out += blocks.alpha[s] * blocks.b[s]
    return out


@loop
def drop_idle(blocks, patience, order):
    """Drop islands that have had no weight for `patience` visits; counts as a visit."""
    for b in range(len(blocks.held)):
        forget(blocks, b, patience, order)


@loop
def average(mean, w, share):
    """Move the mean by `share` of the way towards w."""
    for k in range(len(w)):
        mean[k] += share * (w[k] - mean[k])


@loop
def move(task, old, new, lane, owner):
    """Copy all islands to the blocks of `new` that have their tokens.

    Those that no block has whole are left out: they must have no weight. Islands of
    several blocks that come into one keep their groups apart.
    """
    order, c, many = task.layout.order, 0, len(new.held)
    source, before, groups = np.full(many, -1), np.zeros(many, np.int64), new.held * 0
    origin = np.empty(len(new.alpha), np.int64)
    for b in range(len(old.held)):
        width = old.cut[b + 1] - old.cut[b]
        for j in range(old.held[b]):
            s = old.first[b] + j
            low, high = old.cut[b] + old.low[s], old.cut[b] + old.high[s]
            while new.cut[c + 1] <= low:
                c += 1
            while new.cut[c] > low:
                c -= 1
            if high + order >= new.cut[c + 1] and c + 1 < new.first_block[owner[b] + 1]:
                continue
            if source[c] != b:
                source[c], before[c], groups[c] = b, new.held[c], 0
                for t in range(new.first[c], new.first[c] + new.held[c]):
                    groups[c] = max(groups[c], np.int64(new.group[t]) + 1)
            m, room = new.held[c], new.room[c]
            t, to = new.first[c] + m, new.gram_at[c]
            origin[t] = j
            new.alpha[t], new.b[t], new.idle[t] = old.alpha[s], old.b[s], old.idle[s]
            new.low[t], new.high[t] = low - new.cut[c], high - new.cut[c]
            new.group[t] = old.group[s] + groups[c]
            at = old.label_at[b] + j * width
            row = new.label_at[c] + m * (new.cut[c + 1] - new.cut[c])
            for e in range(high - low + 1):
                new.labels[row + e] = old.labels[at + e]
            new.held[c] = m + 1
            for k in range(m + 1):
                if k >= before[c]:
                    r = old.gram_at[b] + j * old.room[b]
                    v = old.gram[r + origin[new.first[c] + k]]
                else:
                    v = island_product(task, new, lane, owner[b], c, m, k)
                new.gram[to + m * room + k] = v
                new.gram[to + k * room + m] = v


@loop
def fill_gram(task, blocks, lane, owner):
    """Fill the Gram matrices of all blocks."""
    for b in range(len(blocks.held)):
        room, at = blocks.room[b], blocks.gram_at[b]
        for j in range(blocks.held[b]):
            for k in range(j + 1):
                v = island_product(task, blocks, lane, owner[b], b, j, k)
                blocks.gram[at + j * room + k] = v
                blocks.gram[at + k * room + j] = v
