"""psi of a chain as sparse rows, and the layout of its weights.

psi(x, y) - psi(x, z) is computed only from the places where y and z differ; a
coordinate may occur more than once in a row, its values then add up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Ragged, Vectors, pointers
from maxmargin.core.data.validation import check_types
from maxmargin.core.jit import inner_loop, loop

WHOLE = 10**6  # tokens up to which all of them get their units at once


class ChainLayout(NamedTuple):
    """Where the parts of a chain's weights begin; -1 where a part is absent."""

    labels: int  # K
    order: int  # m
    width: int  # input features F; their weights (F * K) come first
    pairs: int  # T_1 (K^2), T_2 (K^3), .. T_m
    start: int  # (K,)
    end: int  # (K,)
    bias: int  # (K,)
    edge: int  # E, the weights of the edge features and K^2 "labels"
    dim: int

    def validate(self) -> None:
        """Integers; `Chain.validate` compares them with what they follow from."""
        check_types(self)


def layout_of(
    k: int, order: int, width: int, start_end: bool, bias: bool, edge: int
) -> ChainLayout:
    """Lay out the weights of k labels, `width` input and `edge` edge features."""
    sizes = {
        "pairs": sum(k ** (j + 2) for j in range(order)),
        "start": k * start_end,
        "end": k * start_end,
        "bias": k * bias,
        "edge": edge * k * k,
    }
    at, parts = width * k, {}
    for name, size in sizes.items():
        parts[name] = at if size else -1
        at += size
    return ChainLayout(labels=k, order=order, width=width, **parts, dim=at)


@lru_cache(maxsize=8)
def widened(layout: ChainLayout, width: int) -> ChainLayout:
    """The same layout for another number of input features (no edge features)."""
    shift = (width - layout.width) * layout.labels
    starts = {name: getattr(layout, name) for name in ("pairs", "start", "end", "bias")}
    moved = {name: at + shift if at >= 0 else -1 for name, at in starts.items()}
    return layout._replace(width=width, dim=layout.dim + shift, **moved)


@lru_cache(maxsize=8)
def unit_vectors(n: int) -> Vectors:
    """Tokens as unit vectors: psi over them is psi in outer coordinates."""
    rows = np.arange(n, dtype=np.int32)
    return Vectors(np.arange(n + 1, dtype=np.int64), rows, np.ones(n), n)


def unit_inputs(n: int, ptr: Ints, ids: Ints) -> tuple[Any, ...]:
    """First arguments of `differences` for psi in `parts`: vectors, ptr and ids."""
    if n <= WHOLE:
        units = unit_vectors(n)[:3]
        return *units, *units, ptr, ids
    sizes = ptr[ids + 1] - ptr[ids]
    own = pointers(sizes)
    rows = np.repeat(ptr[ids] - own[:-1], sizes) + np.arange(own[-1])
    each = np.arange(own[-1] + 1), rows.astype(np.int32), np.ones(own[-1])
    return *each, *each, own, np.arange(len(ids))


def some_rows(rows: Ragged, ids: Ints) -> Ragged:
    """The rows `ids`; a view where it is one, for solvers that ask one by one."""
    if len(ids) != 1:
        return rows.take(ids)
    row = rows.row(ids[0])
    return Ragged(np.array([0, len(row)]), row)


@loop
def differences(
    vptr, vidx, vval, eptr, eidx, evals, ptr, ids, layout, eta, astart, adata, bptr,
    bdata,
):  # fmt: skip
    """psi(a) - psi(b) for each id: labels a from astart[q] on, b in row q (or none).

    The features of single labels are in v.., those of label pairs in e...
    """
    size = 0
    for q in range(len(ids)):
        L = ptr[ids[q] + 1] - ptr[ids[q]]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        size += _room(vptr, eptr, ptr[ids[q]], one, two, layout)
    row_ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(size, np.int32), np.empty(size)
    m = 0
    for q in range(len(ids)):
        L = ptr[ids[q] + 1] - ptr[ids[q]]
        one, two = adata[astart[q] : astart[q] + L], bdata[bptr[q] : bptr[q + 1]]
        m = _write(
            vptr, vidx, vval, eptr, eidx, evals, ptr[ids[q]], one, two, layout, eta, idx,
            val, m,
        )  # fmt: skip
        row_ptr[q + 1] = m
    return row_ptr, idx[:m], val[:m]


@inner_loop
def _room(vptr, eptr, begin, one, two, layout):
    """Bound the entries of psi(one) - psi(two); two may be empty."""
    size, L = 0, len(one)
    if layout.start >= 0 or layout.end >= 0:
        size += 4
    for t in range(L):
        if len(two) == 0 or one[t] != two[t]:
            here = vptr[begin + t + 1] - vptr[begin + t]
            size += 2 * here + 2 + (layout.order + 1) * (layout.order + 2)
            if layout.edge >= 0:  # of this token, and of the next one
                stop = begin + min(t + 2, L)
                size += 2 * (eptr[stop] - eptr[begin + t])
    return size


@inner_loop
def _write(
    vptr, vidx, vval, eptr, eidx, evals, begin, one, two, layout, eta, idx, val, m
):
    """Write psi(one) - psi(two) from place m on; returns the place after it."""
    K, L, plain = layout.labels, len(one), len(two) == 0
    other = one if plain else two
    run = layout.order + 1  # tokens since the last difference
    for t in range(L):
        y, o, run = np.int64(one[t]), np.int64(other[t]), run + 1
        if plain or y != o:
            run = 0
        if run == 0:
            m = _write_input(
                vptr, vidx, vval, layout.width, begin + t, 0, K, y, o, plain, idx, val,
                m,
            )  # fmt: skip
        if layout.edge >= 0 and t > 0 and run <= 1:
            sy, so = one[t - 1] * K + y, other[t - 1] * K + o
            width = (layout.dim - layout.edge) // (K * K)
            m = _write_input(
                eptr, eidx, evals, width, begin + t, layout.edge, K * K, sy, so, plain,
                idx, val, m,
            )  # fmt: skip
        at, rows, sy, so = layout.pairs, 1, y, o
        for j in range(min(layout.order, t) + 1):
            if j > 0:
                rows *= K
                sy += one[t - j] * rows
                so += other[t - j] * rows
            first = layout.bias if j == 0 else at
            if run <= j and first >= 0:
                m = _put(first + sy, first + so, eta if j else 1.0, plain, idx, val, m)
            at += rows * K if j else 0
        for part in range(2):
            first = layout.end if part else layout.start
            if run == 0 and first >= 0 and t == part * (L - 1):
                m = _put(first + y, first + o, eta, plain, idx, val, m)
    return m


@inner_loop
def _put(plus, minus, value, plain, idx, val, m):
    idx[m], val[m] = plus, value
    if plain:
        return m + 1
    idx[m + 1], val[m + 1] = minus, -value
    return m + 2


@inner_loop
def _write_input(vptr, vidx, vval, width, r, base, kinds, y, o, plain, idx, val, m):
    """Input features of token r with "label" y less those with o."""
    sparse = len(vidx) > 0
    step, jump = (kinds, 1) if sparse else (1, width)
    for p in range(vptr[r], vptr[r + 1]):
        f = np.int64(vidx[p]) if sparse else p - vptr[r]
        at = base + f * step
        if vval[p] != 0.0:
            m = _put(at + y * jump, at + o * jump, vval[p], plain, idx, val, m)
    return m
