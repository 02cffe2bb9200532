"""Compiled loops: from types of tokens to features.

A *type* is a distinct string of a column. A *key* of a feature is a row of integers: its
skeleton (the literal text of a template) and the values of its slots. All keys are in
one hash table with open addressing; a slot of the table holds the number of a feature in
its lower 32 bits and a part of the hash above, so that most wrong keys are told apart
without looking at them.

Templates with one slot are not looked up token by token: the features that a type has
at a place are a row of a table (`type_rows`), and tokens copy those rows.

Sentences are padded: the types 0 .. reach - 1 before a sentence and reach .. 2 reach - 1
after it stand for what lies outside.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.data.arrays import longest
from maxmargin.core.jit import inner_loop, loop

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
HIGH = np.uint64(33)
TOKEN, SENTENCE, JUMP = 0, 1, 2


@inner_loop
def _mixed(h, value):
    h = (h ^ np.uint64(value)) * FACTOR
    return h ^ (h >> SHIFT)


@inner_loop
def _hash(key, n):
    h = np.uint64(n)
    for j in range(n):
        h = _mixed(h, np.int64(key[j]))
    return h


@inner_loop
def _find(key, n, table, ptr, data):
    """(feature with this key or -1, its place in the table, or where it would go)."""
    h = _hash(key, n)
    mark = np.int64(h >> HIGH)
    mask = len(table) - 1
    s = np.int64(h & np.uint64(mask))
    while table[s] >= 0:
        if table[s] >> 32 == mark:
            f = table[s] & 0xFFFFFFFF
            first = ptr[f]
            if ptr[f + 1] - first == n:
                same = True
                for j in range(n):
                    if data[first + j] != key[j]:
                        same = False
                        break
                if same:
                    return f, s
        s = (s + 1) & mask
    return np.int64(-1), s


@inner_loop
def _entry(key, n, f):
    """What the table holds for feature f with this key."""
    return (np.int64(_hash(key, n) >> HIGH) << 32) | f


@loop
def key_table(ptr, data):
    """Hash table of keys, and the first key that is there twice, or -1."""
    n = len(ptr) - 1
    size = 8
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    double = -1
    for f in range(n):
        key, width = data[ptr[f] : ptr[f + 1]], ptr[f + 1] - ptr[f]
        found, s = _find(key, width, table, ptr, data)
        if found >= 0:
            double = f
            break
        table[s] = _entry(key, width, f)
    return table, double


@inner_loop
def _position(mode, offset, t, length, start, reach, jump):
    """Place of a slot in the padded types; what is too far away stops at the pad."""
    if mode == TOKEN:
        return start + t + offset
    if mode == SENTENCE:
        at = offset - 1 if offset >= 0 else offset + length
    else:
        at = t + jump
    return start + min(max(at, -reach), length - 1 + reach)


@loop
def pad(ptr, flat, reach, out):
    """Types of all tokens with those of the outside around each sentence."""
    m = 0
    for i in range(len(ptr) - 1):
        for d in range(reach):
            out[m] = d
            m += 1
        for t in range(ptr[i], ptr[i + 1]):
            out[m] = flat[t]
            m += 1
        for d in range(reach):
            out[m] = reach + d
            m += 1


@loop
def phrase_codes(ptr, words, table, edge_ptr, edge_data, ends):
    """Part of each token in the phrases of a trie: 0 none, 1 B, 2 I, 3 E, 4 S.

    The edge (node, word) leads to node f + 1, where f is its number as a key; node 0 is
    the root. `ends` says at which nodes a phrase ends. From left to right the longest
    phrase is taken.
    """
    out = np.zeros(len(words), np.int32)
    key = np.empty(2, np.int32)
    for i in range(len(ptr) - 1):
        t = ptr[i]
        while t < ptr[i + 1]:
            node, end = 0, t
            u = t
            while u < ptr[i + 1] and words[u] >= 0:
                key[0], key[1] = node, words[u]
                edge = _find(key, 2, table, edge_ptr, edge_data)[0]
                if edge < 0:
                    break
                node = edge + 1
                u += 1
                if ends[node]:
                    end = u
            if end == t:
                t += 1
                continue
            if end == t + 1:
                out[t] = 4
            else:
                out[t], out[end - 1] = 1, 3
                for v in range(t + 1, end - 1):
                    out[v] = 2
            t = end
    return out


@loop
def type_rows(
    sizes, block_source, block_ptr, single_skeleton, single_atom, value_at, values,
    table, key_ptr, key_data,
):  # fmt: skip
    """Features that each type has in each block of templates with one slot.

    Returns (row_at, row_ptr, row_idx): those of type x in block b are the entries
    row_ptr[row_at[b] + x] up to row_ptr[row_at[b] + x + 1] of `row_idx`.
    """
    blocks = len(block_source)
    row_at = np.zeros(blocks + 1, np.int64)
    most = 0
    for b in range(blocks):
        n = sizes[block_source[b]]
        row_at[b + 1] = row_at[b] + n + 1
        most += n * (block_ptr[b + 1] - block_ptr[b])
    row_ptr = np.zeros(row_at[blocks] + 1, np.int64)
    row_idx = np.empty(most, np.int32)
    key = np.empty(2, np.int32)
    m = 0
    for b in range(blocks):
        for x in range(sizes[block_source[b]]):
            row_ptr[row_at[b] + x] = m
            for j in range(block_ptr[b], block_ptr[b + 1]):
                value = values[value_at[single_atom[j]] + x]
                if value < 0:
                    continue
                key[0], key[1] = single_skeleton[j], value
                f = _find(key, 2, table, key_ptr, key_data)[0]
                if f >= 0:
                    row_idx[m] = f
                    m += 1
        row_ptr[row_at[b + 1] - 1] = m
    return row_at, row_ptr, row_idx[:m].copy()


@inner_loop
def _place_tokens(
    t, length, start, reach, types, known, place_mode, place_offset, place_via,
    jump_at, jumps, more_jump_at, more_jumps, at,
):  # fmt: skip
    """Where each place is, seen from token t: `at` holds positions in `types`."""
    for q in range(len(place_mode)):
        jump = np.int64(0)
        if place_mode[q] == JUMP:
            s = place_via[q]
            x = types[s, start + t]
            if x < known[s]:
                jump = jumps[jump_at[q] + x]
            else:
                jump = more_jumps[more_jump_at[q] + x - known[s]]
        mode, offset = place_mode[q], place_offset[q]
        at[q] = _position(mode, offset, t, length, start, reach, jump)


@loop
def place_types(ptr, types, source, reach, mode, offset, via, jumps):
    """Type of a source that each token sees at a place."""
    out = np.empty(ptr[len(ptr) - 1], np.int32)
    for i in range(len(ptr) - 1):
        length = ptr[i + 1] - ptr[i]
        start = ptr[i] + reach * (2 * i + 1)
        for t in range(length):
            jump = np.int64(0)
            if mode == JUMP:
                jump = jumps[types[via, start + t]]
            at = _position(mode, offset, t, length, start, reach, jump)
            out[ptr[i] + t] = types[source, at]
    return out


@loop
def token_parts(
    ptr, types, reach, first, known,
    place_mode, place_offset, place_via, jump_at, jumps, more_jump_at, more_jumps,
    block_source, block_place, row_at, more_at,
    joint_ptr, joint_skeleton, slot_source, slot_place, slot_atom,
    value_at, values, more_value_at, more_values,
    table, key_ptr, key_data,
):  # fmt: skip
    """Features of all tokens in parts: (ptr, parts).

    A part is a row of the first tables of `type_rows`, then (from their number of rows
    on) of those named `more`, then a single feature. Types below `known[source]` have
    their rows, values and jumps in the first arrays, the others in those named `more`.
    Tokens before `first` in a sentence get none.
    """
    n = ptr[len(ptr) - 1]
    out_ptr = np.zeros(n + 1, np.int64)
    blocks, joints = len(block_source), len(joint_skeleton)
    beyond = row_at[blocks]
    single = beyond + more_at[blocks]
    parts = np.empty(n * (blocks + joints), np.int32)
    at = np.empty(len(place_mode), np.int64)
    key = np.empty(longest(joint_ptr) + 1, np.int32)
    m = 0
    for i in range(len(ptr) - 1):
        length = ptr[i + 1] - ptr[i]
        start = ptr[i] + reach * (2 * i + 1)
        for t in range(min(first, length)):
            out_ptr[ptr[i] + t + 1] = m
        for t in range(first, length):
            _place_tokens(
                t, length, start, reach, types, known, place_mode, place_offset,
                place_via, jump_at, jumps, more_jump_at, more_jumps, at,
            )  # fmt: skip
            for b in range(blocks):
                s = block_source[b]
                x = types[s, at[block_place[b]]]
                if x < known[s]:
                    parts[m] = row_at[b] + x
                else:
                    parts[m] = beyond + more_at[b] + x - known[s]
                m += 1
            for j in range(joints):
                key[0] = joint_skeleton[j]
                size = 1
                for p in range(joint_ptr[j], joint_ptr[j + 1]):
                    s, a = slot_source[p], slot_atom[p]
                    x = types[s, at[slot_place[p]]]
                    if x < known[s]:
                        key[size] = values[value_at[a] + x]
                    else:
                        key[size] = more_values[more_value_at[a] + x - known[s]]
                    if key[size] < 0:
                        break
                    size += 1
                if size == joint_ptr[j + 1] - joint_ptr[j] + 1:
                    f = _find(key, size, table, key_ptr, key_data)[0]
                    if f >= 0:
                        parts[m] = single + f
                        m += 1
            out_ptr[ptr[i] + t + 1] = m
    return out_ptr, parts[:m].copy()


@inner_loop
def _copied(part, row_ptr, row_idx, more_ptr, more_idx, idx, m):
    """Write the features of a part to `idx` from m on; returns where they end."""
    beyond = len(row_ptr) - 1
    single = beyond + len(more_ptr) - 1
    if part < beyond:
        for p in range(row_ptr[part], row_ptr[part + 1]):
            idx[m] = row_idx[p]
            m += 1
    elif part < single:
        for p in range(more_ptr[part - beyond], more_ptr[part - beyond + 1]):
            idx[m] = more_idx[p]
            m += 1
    else:
        idx[m] = part - single
        m += 1
    return m


@inner_loop
def _part_size(part, row_ptr, more_ptr):
    beyond = len(row_ptr) - 1
    if part < beyond:
        return row_ptr[part + 1] - row_ptr[part]
    if part < beyond + len(more_ptr) - 1:
        return more_ptr[part - beyond + 1] - more_ptr[part - beyond]
    return np.int64(1)


@loop
def joined_rows(ptr, parts, row_ptr, row_idx, more_ptr, more_idx):
    """Features of tokens (ptr, idx) from their parts."""
    out_ptr = np.zeros(len(ptr), np.int64)
    total = 0
    for t in range(len(ptr) - 1):
        for p in range(ptr[t], ptr[t + 1]):
            total += _part_size(parts[p], row_ptr, more_ptr)
        out_ptr[t + 1] = total
    idx = np.empty(total, np.int32)
    m = 0
    for part in parts:
        m = _copied(part, row_ptr, row_idx, more_ptr, more_idx, idx, m)
    return out_ptr, idx


@loop
def rows_in_use(parts, row_ptr, row_idx, more_ptr, more_idx):
    """Parts numbered as they are met, and the features (ptr, idx) of each of them."""
    highest = -1
    for part in parts:
        highest = max(highest, part)
    number = np.full(highest + 1, -1, np.int32)
    met, out = np.empty(len(parts), np.int32), np.empty(len(parts), np.int32)
    n, total = 0, 0
    for p in range(len(parts)):
        part = parts[p]
        if number[part] < 0:
            number[part] = n
            met[n] = part
            total += _part_size(part, row_ptr, more_ptr)
            n += 1
        out[p] = number[part]
    out_ptr, idx = np.zeros(n + 1, np.int64), np.empty(total, np.int32)
    m = 0
    for r in range(n):
        m = _copied(met[r], row_ptr, row_idx, more_ptr, more_idx, idx, m)
        out_ptr[r + 1] = m
    return out, out_ptr, idx


@loop
def add_keys(table, ptr, data, counts, first, n, keys, times, where):
    """Take in the rows of `keys` (without negative entries), seen `times[i]` times.

    `where[i]` is the token that has row i first; the least of a key goes to `first`.
    `n` keys are there already. The arrays are as of `key_table`, with room for more.
    Returns them, perhaps larger, and the new number of keys.
    """
    width = keys.shape[1]
    for i in range(len(keys)):
        if times[i] == 0:
            continue
        whole = True
        for j in range(width):
            whole &= keys[i, j] >= 0
        if not whole:
            continue
        f, s = _find(keys[i], width, table, ptr, data)
        if f >= 0:
            counts[f] += times[i]
            first[f] = min(first[f], where[i])
            continue
        if n == len(counts) or ptr[n] + width > len(data):
            table, ptr, data, counts, first = _grown(n, ptr, data, counts, first, width)
            s = _find(keys[i], width, table, ptr, data)[1]
        table[s] = _entry(keys[i], width, n)
        for j in range(width):
            data[ptr[n] + j] = keys[i, j]
        ptr[n + 1] = ptr[n] + width
        counts[n], first[n] = times[i], where[i]
        n += 1
    return table, ptr, data, counts, first, n


@inner_loop
def _grown(n, ptr, data, counts, first, width):
    """Room for twice as many keys."""
    room = 2 * n + 512
    new_ptr = np.zeros(room + 1, np.int64)
    new_counts, new_first = np.zeros(room, np.int64), np.zeros(room, np.int64)
    new_data = np.empty(2 * len(data) + 512 * width, np.int32)
    for f in range(n):
        new_ptr[f + 1] = ptr[f + 1]
        new_counts[f], new_first[f] = counts[f], first[f]
    for p in range(ptr[n]):
        new_data[p] = data[p]
    size = 8
    while size < 2 * room:
        size *= 2
    table = np.full(size, -1, np.int64)
    mask = size - 1
    for f in range(n):
        key, size = new_data[ptr[f] : ptr[f + 1]], ptr[f + 1] - ptr[f]
        s = np.int64(_hash(key, size) & np.uint64(mask))
        while table[s] >= 0:
            s = (s + 1) & mask
        table[s] = _entry(key, size, f)
    return table, new_ptr, new_data, new_counts, new_first
