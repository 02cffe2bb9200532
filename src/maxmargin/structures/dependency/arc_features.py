"""The features of an arc, as keys of 63 bits, and the numbers of the keys in the model.

An arc from head h to modifier m has one feature for each template: some of the words,
tags and endings at and around its two ends, the tags between them, alone or together
with direction and distance [1]. A feature is a key

    template (5 bits) | direction and distance (4) | a (18) | b (18) | c (9) | d (9)

so that different features have different keys, and names can be read off keys. A model
knows the keys of the arcs of its training trees, sorted: the number of a feature is the
place of its key. Keys are looked up in a table with open addressing.

[1] McDonald, Crammer, Pereira 2005, Online large-margin training of dependency parsers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels
from maxmargin.core.jit import inner_loop, loop

# What the templates hold, in the order of the fields a, b, c, d: the word, tag or ending
# (w, t, e) of the head or the modifier (h, m), or of the token before or after it (-, +).
# Fields a and b have room for words.
TEMPLATES = (
    (), ("wh", "", "th"), ("wh",), ("", "", "th"), ("wm", "", "tm"), ("wm",),
    ("", "", "tm"), ("wh", "wm", "th", "tm"), ("", "wm", "th", "tm"),
    ("wh", "wm", "", "tm"), ("wh", "", "th", "tm"), ("wh", "wm", "th"), ("wh", "wm"),
    ("", "", "th", "tm"), ("th+", "tm-", "th", "tm"), ("th-", "tm-", "th", "tm"),
    ("th+", "tm+", "th", "tm"), ("th-", "tm+", "th", "tm"), ("th+", "", "th", "tm"),
    ("th-", "", "th", "tm"), ("", "tm-", "th", "tm"), ("", "tm+", "th", "tm"),
    ("", "em", "th"), ("eh", "", "", "tm"), ("eh", "em"), ("between", "", "th", "tm"),
)  # fmt: skip
PLAIN = 24  # templates 1 .. 24 also occur without direction and distance
BETWEEN = 25
# Templates whose features, with the direction but without the distance, meet labels.
LABELLED = np.array([0, 4, 5, 6, 3, 7, 8, 10, 12, 13, 18, 19, 20, 21, 22, 23, 24])
MOST_KEYS = 2 * PLAIN + 1  # of an arc, tags between its ends left out
FIBONACCI = np.uint64(0x9E3779B97F4A7C15)


class ArcFeatures(NamedTuple):
    """Numbers of the features of all arcs: arc a has idx[ptr[a]:ptr[a + 1]].

    The arcs of a sentence of n tokens are n (n + 1) rows, the arc of token m from head h
    at m (n + 1) + h.
    """

    ptr: Ints
    idx: Labels
    label_ptr: Ints  # features that meet labels
    label_idx: Labels


def key_table(keys: Ints) -> Ints:
    """Table of open addressing: key and number of each, -1 where a place is free."""
    size = 8
    while size < 2 * len(keys):
        size *= 2
    return _key_table(keys, size)


def true_keys(
    ptr: Ints, word: Labels, tag: Labels, ending: Labels, heads: Labels
) -> tuple[Ints, Ints]:
    """Sorted keys of the arcs of the true trees, and of those that meet labels."""
    found, labelled = _true_keys(ptr, word, tag, ending, heads, LABELLED)
    return np.unique(found), np.unique(labelled)


def encode_arcs(
    ptr: Ints, word: Labels, tag: Labels, ending: Labels, table: Ints, labels: Ints
) -> ArcFeatures:
    """Known features of all arcs of all sentences."""
    return ArcFeatures(
        *_encode_arcs(ptr, word, tag, ending, table, labels, LABELLED),
    )


@loop
def _key_table(keys, size):
    table = np.full(2 * size, -1, np.int64)
    for k in range(len(keys)):
        at = _place(keys[k], size)
        while table[2 * at] >= 0:
            at = (at + 1) % size
        table[2 * at], table[2 * at + 1] = keys[k], k
    return table


@inner_loop
def _place(key, size):
    mixed = np.uint64(key) * FIBONACCI
    return np.int64((mixed ^ (mixed >> np.uint64(32))) % np.uint64(size))


@inner_loop
def _number(key, table):
    """Number of a key, -1 if it is not known."""
    size = len(table) // 2
    at = _place(key, size)
    while table[2 * at] >= 0:
        if table[2 * at] == key:
            return table[2 * at + 1]
        at = (at + 1) % size
    return np.int64(-1)


@inner_loop
def _way(h, m):
    """Direction and distance, 1 .. 12: 1, 2, 3, 4, 5-9, 10 or more, to either side."""
    d = abs(h - m)
    if d >= 10:
        d = 6
    elif d > 5:
        d = 5
    return d if h < m else d + 6


@inner_loop
def _packed(template, way, a, b, c, d):
    key = (np.int64(template) << 58) | (np.int64(way) << 54) | (np.int64(a) << 36)
    return key | (np.int64(b) << 18) | (np.int64(c) << 9) | np.int64(d)


@inner_loop
def _sided(key, h, m):
    """The key with the direction of the arc in place of direction and distance."""
    side = np.int64(1 if h < m else 7)
    return (key & ~(np.int64(15) << 54)) | (side << 54)


@inner_loop
def _at(column, begin, n, t):
    """Entry of position t (0 is the root), 0 outside the sentence."""
    return column[begin + t] if 0 <= t <= n else 0


@inner_loop
def _write_keys(word, tag, ending, begin, n, h, m, seen, out):
    """Keys of the arc from position h to m (0 is the root); how many there are.

    out[t] is template t with direction and distance, so that `LABELLED` can point there.
    """
    way = _way(h, m)
    wh, wm = word[begin + h], word[begin + m]
    th, tm = tag[begin + h], tag[begin + m]
    eh, em = ending[begin + h], ending[begin + m]
    before_h, after_h = _at(tag, begin, n, h - 1), _at(tag, begin, n, h + 1)
    before_m, after_m = _at(tag, begin, n, m - 1), _at(tag, begin, n, m + 1)
    out[0] = _packed(0, way, 0, 0, 0, 0)
    for part in range(2):
        w = way if part == 0 else 0
        base = 0 if part == 0 else PLAIN
        out[base + 1] = _packed(1, w, wh, 0, th, 0)
        out[base + 2] = _packed(2, w, wh, 0, 0, 0)
        out[base + 3] = _packed(3, w, 0, 0, th, 0)
        out[base + 4] = _packed(4, w, wm, 0, tm, 0)
        out[base + 5] = _packed(5, w, wm, 0, 0, 0)
        out[base + 6] = _packed(6, w, 0, 0, tm, 0)
        out[base + 7] = _packed(7, w, wh, wm, th, tm)
        out[base + 8] = _packed(8, w, 0, wm, th, tm)
        out[base + 9] = _packed(9, w, wh, wm, 0, tm)
        out[base + 10] = _packed(10, w, wh, 0, th, tm)
        out[base + 11] = _packed(11, w, wh, wm, th, 0)
        out[base + 12] = _packed(12, w, wh, wm, 0, 0)
        out[base + 13] = _packed(13, w, 0, 0, th, tm)
        out[base + 14] = _packed(14, w, after_h, before_m, th, tm)
        out[base + 15] = _packed(15, w, before_h, before_m, th, tm)
        out[base + 16] = _packed(16, w, after_h, after_m, th, tm)
        out[base + 17] = _packed(17, w, before_h, after_m, th, tm)
        out[base + 18] = _packed(18, w, after_h, 0, th, tm)
        out[base + 19] = _packed(19, w, before_h, 0, th, tm)
        out[base + 20] = _packed(20, w, 0, before_m, th, tm)
        out[base + 21] = _packed(21, w, 0, after_m, th, tm)
        out[base + 22] = _packed(22, w, 0, em, th, 0)
        out[base + 23] = _packed(23, w, eh, 0, 0, tm)
        out[base + 24] = _packed(24, w, eh, em, 0, 0)
    count = MOST_KEYS
    side = 1 if h < m else 7
    for t in range(min(h, m) + 1, max(h, m)):
        between = tag[begin + t]
        if not seen[between]:  # each tag once
            seen[between] = True
            out[count] = _packed(BETWEEN, side, between, 0, th, tm)
            count += 1
    for t in range(min(h, m) + 1, max(h, m)):
        seen[tag[begin + t]] = False
    return count


@loop
def _true_keys(ptr, word, tag, ending, heads, labelled):
    total = np.int64(0)
    for i in range(len(ptr) - 1):
        n = ptr[i + 1] - ptr[i]
        for m in range(n):
            total += MOST_KEYS + abs(heads[ptr[i] + m] - m - 1)
    found = np.empty(total, np.int64)
    meet = np.empty(len(heads) * len(labelled), np.int64)
    seen, key = np.zeros(512, np.bool_), np.empty(MOST_KEYS + 512, np.int64)
    size, other = 0, 0
    for i in range(len(ptr) - 1):
        n = ptr[i + 1] - ptr[i]
        for m in range(1, n + 1):
            h = np.int64(heads[ptr[i] + m - 1])
            count = _write_keys(word, tag, ending, ptr[i] + i, n, h, m, seen, key)
            for k in range(count):
                found[size + k] = key[k]
            for k in range(len(labelled)):
                meet[other + k] = _sided(key[labelled[k]], h, m)
            size += count
            other += len(labelled)
    return found[:size].copy(), meet


@inner_loop
def _grown(data, size):
    """An array with room for `size` entries, with those of `data` in front."""
    if size <= len(data):
        return data
    out = np.empty(max(size, 2 * len(data)), np.int32)
    for k in range(len(data)):
        out[k] = data[k]
    return out


@loop
def _encode_arcs(ptr, word, tag, ending, table, label_table, labelled):
    arcs = 0
    for i in range(len(ptr) - 1):
        n = ptr[i + 1] - ptr[i]
        arcs += n * (n + 1)
    arc_ptr, label_ptr = np.zeros(arcs + 1, np.int64), np.zeros(arcs + 1, np.int64)
    idx, label_idx = np.empty(1024, np.int32), np.empty(1024, np.int32)
    seen, key = np.zeros(512, np.bool_), np.empty(MOST_KEYS + 512, np.int64)
    arc, size, other = 0, 0, 0
    for i in range(len(ptr) - 1):
        n = ptr[i + 1] - ptr[i]
        for m in range(1, n + 1):
            idx = _grown(idx, size + (n + 1) * (MOST_KEYS + min(n, 512)))
            label_idx = _grown(label_idx, other + (n + 1) * len(labelled))
            for h in range(n + 1):
                if h != m:
                    count = _write_keys(
                        word, tag, ending, ptr[i] + i, n, h, m, seen, key
                    )
                    for k in range(count):
                        number = _number(key[k], table)
                        if number >= 0:
                            idx[size] = number
                            size += 1
                    for k in range(len(labelled)):
                        number = _number(_sided(key[labelled[k]], h, m), label_table)
                        if number >= 0:
                            label_idx[other] = number
                            other += 1
                arc += 1
                arc_ptr[arc], label_ptr[arc] = size, other
    return arc_ptr, idx[:size].copy(), label_ptr, label_idx[:other].copy()


@loop
def fill_arcs(
    ptr, idx, label_ptr, label_idx, first, w, known, truth, head_cost, label_cost, out
):
    """out[m, h, c] = <w, features of the arc with label c>, with its loss added.

    `known` is the number of features that do not meet labels; `truth` is the row of the
    true tree, empty where no loss is added.
    """
    n, L = out.shape[0], out.shape[2]
    for m in range(n):
        right_head, right_label = -1, -1
        if len(truth) > 0:
            right_head, right_label = truth[m] // L, truth[m] % L
        for h in range(n + 1):
            arc = first + m * (n + 1) + h
            score = 0.0
            for p in range(ptr[arc], ptr[arc + 1]):
                score += w[idx[p]]
            cell = out[m, h]
            for c in range(L):
                cell[c] = score
            for p in range(label_ptr[arc], label_ptr[arc + 1]):
                base = known + np.int64(label_idx[p]) * L
                for c in range(L):
                    cell[c] += w[base + c]
            if len(truth) > 0:
                for c in range(L):
                    if h != right_head:
                        cell[c] += head_cost
                    elif c != right_label:
                        cell[c] += label_cost


@loop
def gather_arcs(ptr, idx, label_ptr, label_idx, group, arcs, labels, known, L):
    """Psi of groups of arcs with labels: (row pointers, coordinates)."""
    size = 0
    for a in arcs:
        size += ptr[a + 1] - ptr[a] + label_ptr[a + 1] - label_ptr[a]
    row_ptr, out = np.zeros(len(group), np.int64), np.empty(size, np.int32)
    at = 0
    for q in range(len(group) - 1):
        for k in range(group[q], group[q + 1]):
            a = arcs[k]
            for p in range(ptr[a], ptr[a + 1]):
                out[at] = idx[p]
                at += 1
            for p in range(label_ptr[a], label_ptr[a + 1]):
                out[at] = known + label_idx[p] * L + labels[k]
                at += 1
        row_ptr[q + 1] = at
    return row_ptr, out


@loop
def outer_arcs(label_ptr, label_idx, group, arcs, labels, known, L):
    """Psi of groups of arcs, a coordinate for each arc, then weights that meet labels."""
    size = len(arcs)
    for a in arcs:
        size += label_ptr[a + 1] - label_ptr[a]
    row_ptr, out = np.zeros(len(group), np.int64), np.empty(size, np.int32)
    at = 0
    for q in range(len(group) - 1):
        for k in range(group[q], group[q + 1]):
            a = arcs[k]
            out[at] = a
            at += 1
            for p in range(label_ptr[a], label_ptr[a + 1]):
                out[at] = known + label_idx[p] * L + labels[k]
                at += 1
        row_ptr[q + 1] = at
    return row_ptr, out
