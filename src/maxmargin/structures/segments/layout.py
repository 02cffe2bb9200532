"""psi of a segmentation as sparse rows, and the layout of its weights.

With label k of a segment (0: outside) and role r of a token in its segment (first, inner,
last, single, ..), psi is the sum of

    x_t (x) e(role and label of t)            over tokens t
    x_t (x) e(label of t)                     over tokens inside segments, if shared
    g(x, segment) (x) e(label of segment)     over segments
    e(label, next label), e(first label), e(last label), e(role and label of t)
    e(label, label of the next segment)       where only tokens outside lie between

psi(x, y) - psi(x, z) is written from the places where y and z differ alone; a coordinate
may occur more than once in a row, its values then add up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.validation import check_types
from maxmargin.core.jit import inner_loop, loop
from maxmargin.inference.chain.semi_markov import segment_end

ROLES = {None: 1, "bio": 2, "bioes": 4}  # roles of a token in its segment


class SegmentLayout(NamedTuple):
    """Where the parts of the weights begin; -1 where a part is absent.

    A token label is 0 outside, 1 + (k - 1) * roles + role inside a segment of label k
    and, if shared, beside it 1 + (C - 1) * roles + k - 1.
    """

    labels: int  # C, labels of segments with "outside", which is 0
    roles: int  # 1: all alike; 2: first, later; 4: first, inner, last, single
    shared: int  # 1 if tokens have weights by label whatever their role
    tokens: int  # K, labels of tokens
    widest: int  # W, tokens of the longest segment
    width: int  # F, input features; their weights (F * K) come first
    pieces: int  # G features of segments, (G * (C - 1)), feature-major
    n_pieces: int  # G
    pairs: int  # (C * C)
    start: int  # (C,)
    end: int  # (C,)
    bias: int  # (K,)
    skip: int  # ((C - 1) * (C - 1)), pairs of labels with tokens outside between
    states: int  # C, or 2 C - 1 where tokens outside remember the last label
    dim: int

    def validate(self) -> None:
        """Integers; `Segments.validate` compares them with what they follow from."""
        check_types(self)


def layout_of(
    labels: int, roles: int, shared: bool, widest: int, width: int, n_pieces: int,
    start_end: bool, skip: bool,
) -> SegmentLayout:  # fmt: skip
    """Lay out the weights."""
    tokens = 1 + (labels - 1) * (roles + shared)
    sizes = {
        "pieces": n_pieces * (labels - 1), "pairs": labels**2,
        "start": labels * start_end, "end": labels * start_end, "bias": tokens,
        "skip": (labels - 1) ** 2 * skip,
    }  # fmt: skip
    at, parts = width * tokens, {}
    for name, size in sizes.items():
        parts[name] = at if size else -1
        at += size
    return SegmentLayout(
        labels=labels, roles=roles, shared=int(shared), tokens=tokens, widest=widest,
        width=width, n_pieces=n_pieces, dim=at,
        states=2 * labels - 1 if skip else labels, **parts,
    )  # fmt: skip


@lru_cache(maxsize=8)
def widened(layout: SegmentLayout, width: int) -> SegmentLayout:
    """The same layout for another number of input features."""
    shift = (width - layout.width) * layout.tokens
    names = ("pieces", "pairs", "start", "end", "bias", "skip")
    starts = {name: getattr(layout, name) for name in names}
    moved = {name: at + shift if at >= 0 else -1 for name, at in starts.items()}
    return layout._replace(width=width, dim=layout.dim + shift, **moved)


@loop
def differences(
    vptr, vidx, vval, gptr, gidx, ptr, first, ids, layout, astart, adata, bptr, bdata
):
    """psi(a) - psi(b) for each id: codes a from astart[q] on, b in row q (or none).

    Row `first[i]` of the vectors is that of the first token of sequence i.
    """
    size = 0
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        size += _room(vptr, gptr, first[i], ptr[i], one, two, layout)
        size += _room(vptr, gptr, first[i], ptr[i], two, one, layout)
    row_ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        i = ids[q]
        L = ptr[i + 1] - ptr[i]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        for sign in (1.0, -1.0):
            m = _write_tokens(
                vptr, vidx, vval, first[i], one, two, sign, layout, idx, val, m
            )
            m = _write_segments(gptr, gidx, ptr[i], one, two, sign, layout, idx, val, m)
            one, two = two, one
        row_ptr[q + 1] = m
    return row_ptr, idx[:m], val[:m]


@inner_loop
def _room(vptr, gptr, row, token, one, two, layout):
    """Bound the entries that the codes `one` add."""
    size, t = 2, 0
    for t in range(len(one)):
        if len(two) == 0 or _role_label(one, t, layout) != _role_label(two, t, layout):
            size += (1 + layout.shared) * (vptr[row + t + 1] - vptr[row + t] + 1)
    t = 0
    while t < len(one):
        end = segment_end(one, t)
        if one[t] > 0:
            g = (token + t) * layout.widest + end - t - 1
            size += gptr[g + 1] - gptr[g]
        size += 2
        t = end
    return size


@inner_loop
def _role_label(codes, t, layout):
    """Token label of token t, see `SegmentLayout`."""
    code = np.int64(codes[t])
    if code == 0:
        return 0
    k = (code + 1) // 2
    at = 1 + (k - 1) * layout.roles
    if layout.roles == 1:
        return at
    later = code % 2 == 0
    if layout.roles == 2:
        return at + later
    goes_on = t + 1 < len(codes) and codes[t + 1] == 2 * k
    if goes_on:
        return at + later
    return at + 2 if later else at + 3


@inner_loop
def _write_tokens(vptr, vidx, vval, row, one, two, sign, layout, idx, val, m):
    """Features of the tokens whose token label differs."""
    K, sparse = layout.tokens, len(vidx) > 0
    for t in range(len(one)):
        label, other = _role_label(one, t, layout), 0
        if len(two) > 0:
            other = _role_label(two, t, layout)
            if label == other:
                continue
        k = (np.int64(one[t]) + 1) // 2
        same = len(two) > 0 and (two[t] + 1) // 2 == k
        for part in range(1 + layout.shared):
            if part == 1:
                if k == 0 or same:
                    continue
                label = 1 + (layout.labels - 1) * layout.roles + k - 1
            for p in range(vptr[row + t], vptr[row + t + 1]):
                if vval[p] != 0.0:
                    if sparse:
                        idx[m] = np.int64(vidx[p]) * K + label
                    else:
                        idx[m] = label * layout.width + p - vptr[row + t]
                    val[m] = sign * vval[p]
                    m += 1
            idx[m], val[m] = layout.bias + label, sign
            m += 1
    return m


@inner_loop
def _write_segments(gptr, gidx, token, one, two, sign, layout, idx, val, m):
    """Features of segments that the other side does not have, and label pairs."""
    C, L, t, before = layout.labels, len(one), 0, np.int64(-1)
    seen, other, at = np.int64(0), np.int64(0), 0  # last labels in `one` and `two`
    while t < L:
        end, k = segment_end(one, t), (np.int64(one[t]) + 1) // 2
        begins = len(two) > 0 and two[t] == one[t]  # there, a segment of k begins too
        if k > 0 and not (begins and segment_end(two, t) == end):
            g = (token + t) * layout.widest + end - t - 1
            for p in range(gptr[g], gptr[g + 1]):
                idx[m] = layout.pieces + np.int64(gidx[p]) * (C - 1) + k - 1
                val[m] = sign
                m += 1
        if t > 0:
            if not (begins and (two[t - 1] + 1) // 2 == before):
                idx[m], val[m] = layout.pairs + before * C + k, sign
                m += 1
        elif layout.start >= 0 and not begins:
            idx[m], val[m] = layout.start + k, sign
            m += 1
        if k > 0 and layout.skip >= 0:
            while at < t and len(two) > 0:
                other = (np.int64(two[at]) + 1) // 2 if two[at] > 0 else other
                at += 1
            apart = t > 0 and before == 0 and seen > 0
            there = begins and t > 0 and two[t - 1] == 0 and other == seen
            if apart and not there:
                idx[m] = layout.skip + (seen - 1) * (C - 1) + k - 1
                val[m] = sign
                m += 1
            seen = k
        t, before = end, k
    same = L > 0 and len(two) > 0 and (two[L - 1] + 1) // 2 == before
    if L > 0 and layout.end >= 0 and not same:
        idx[m], val[m] = layout.end + before, sign
        m += 1
    return m
