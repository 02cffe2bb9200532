"""psi of a chain as sparse rows, and the layout of its weights.

psi(x, y) - psi(x, z) is written from the places where y and z differ alone; a
coordinate may occur more than once in a row, its values then add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.jit import loop


class Layout(NamedTuple):
    """Where the parts of a chain's weights begin; -1 where a part is absent."""

    labels: int  # K
    order: int  # m
    width: int  # input features F; their weights (F * K) come first
    pairs: int  # T_1 (K^2), T_2 (K^3), .. T_m
    start: int  # (K,)
    end: int  # (K,)
    bias: int  # (K,)
    edge: int  # E, the weights of F features and K^2 "labels"
    dim: int


def layout_of(
    k: int, order: int, width: int, start_end: bool, bias: bool, edge: bool
) -> Layout:
    """Lay out the weights of k labels and `width` input features."""
    sizes = {
        "pairs": sum(k ** (j + 2) for j in range(order)),
        "start": k * start_end,
        "end": k * start_end,
        "bias": k * bias,
        "edge": width * k * k * edge,
    }
    at, parts = width * k, {}
    for name, size in sizes.items():
        parts[name] = at if size else -1
        at += size
    return Layout(labels=k, order=order, width=width, **parts, dim=at)


def widened(layout: Layout, width: int) -> Layout:
    """The same layout for another number of input features (no edge features)."""
    shift = (width - layout.width) * layout.labels
    starts = {name: getattr(layout, name) for name in ("pairs", "start", "end", "bias")}
    moved = {name: at + shift if at >= 0 else -1 for name, at in starts.items()}
    return layout._replace(width=width, dim=layout.dim + shift, **moved)


@loop
def differences(vptr, vidx, vval, ptr, ids, layout, eta, astart, adata, bptr, bdata):
    """psi(a) - psi(b) for each id: labels a from astart[q] on, b in row q (or none)."""
    size = 0
    for q in range(len(ids)):
        L = ptr[ids[q] + 1] - ptr[ids[q]]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        size += _room(vptr, ptr[ids[q]], one, two, layout)
    row_ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        L = ptr[ids[q] + 1] - ptr[ids[q]]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        m = _write(vptr, vidx, vval, ptr[ids[q]], one, two, layout, eta, idx, val, m)
        row_ptr[q + 1] = m
    return row_ptr, idx[:m], val[:m]


@loop
def _room(vptr, begin, one, two, layout):
    """Bound the entries of psi(one) - psi(two); two may be empty."""
    size, L = 0, len(one)
    if layout.start >= 0 or layout.end >= 0:
        size += 4
    for t in range(L):
        if len(two) == 0 or one[t] != two[t]:
            here = vptr[begin + t + 1] - vptr[begin + t]
            size += 2 * here + 2 + (layout.order + 1) * (layout.order + 2)
            if layout.edge >= 0:
                after = vptr[begin + t + 2] - vptr[begin + t + 1] if t + 1 < L else 0
                size += 2 * (here + after)
    return size


@loop
def _write(vptr, vidx, vval, begin, one, two, layout, eta, idx, val, m):
    """Write psi(one) - psi(two) from place m on; returns the place after it."""
    K, L, width, plain = layout.labels, len(one), layout.width, len(two) == 0
    if L == 0:
        return m
    run = layout.order + 1  # tokens since the last difference
    for t in range(L):
        run += 1
        y = np.int64(one[t])
        o = y if plain else np.int64(two[t])
        if plain or y != o:
            run = 0
            m = _write_node(
                vptr, vidx, vval, width, begin + t, 0, K, y, o, plain, idx, val, m
            )
            if layout.bias >= 0:
                m = _put(layout.bias + y, layout.bias + o, 1.0, plain, idx, val, m)
        at, rows, power, sy, so = layout.pairs, 1, 1, y, o
        for j in range(1, min(layout.order, t) + 1):
            power *= K
            rows *= K
            sy += np.int64(one[t - j]) * power
            so += np.int64(one[t - j] if plain else two[t - j]) * power
            if run <= j:
                m = _put(at + sy, at + so, eta, plain, idx, val, m)
            at += rows * K
        if layout.edge >= 0 and t > 0 and run <= 1:
            sy = one[t - 1] * K + y
            so = sy if plain else two[t - 1] * K + o
            m = _write_node(
                vptr,
                vidx,
                vval,
                width,
                begin + t,
                layout.edge,
                K * K,
                sy,
                so,
                plain,
                idx,
                val,
                m,
            )
    for part, t in ((layout.start, 0), (layout.end, L - 1)):
        if part >= 0 and (plain or one[t] != two[t]):
            o = one[t] if plain else two[t]
            m = _put(part + one[t], part + o, eta, plain, idx, val, m)
    return m


@loop
def _put(plus, minus, value, plain, idx, val, m):
    idx[m], val[m] = plus, value
    if plain:
        return m + 1
    idx[m + 1], val[m + 1] = minus, -value
    return m + 2


@loop
def _write_node(vptr, vidx, vval, width, r, base, K, y, o, plain, idx, val, m):
    sparse = len(vidx) > 0
    for p in range(vptr[r], vptr[r + 1]):
        f = np.int64(vidx[p]) if sparse else p - vptr[r]
        v = vval[p]
        if v == 0.0:
            continue
        if sparse:
            m = _put(base + f * K + y, base + f * K + o, v, plain, idx, val, m)
        else:
            m = _put(base + y * width + f, base + o * width + f, v, plain, idx, val, m)
    return m
