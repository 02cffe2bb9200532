"""Differences of psi in coordinates (node, label) and (edge, pair of labels).

    psi(x, y) = sum_v  phi(x_v) (x) e(y_v)  +  sum_uv  phi(x_uv) (x) e(y_u, y_v)

The trainer knows the vectors phi, so that a plane need only say which labels they meet:
two numbers for each node whose label is wrong, instead of two copies of its vector.
Edges without features have a weight for each pair of labels, which is a coordinate as it
is. See `core.structure.OuterCoordinates`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Vectors
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.structure import OuterCoordinates, PairVectors, VectorKinds
from maxmargin.structures.network.graphs.encoding import Graphs
from maxmargin.structures.network.layout import NetworkLayout


class Numbering(NamedTuple):
    """Where the coordinates of nodes, edges and weights begin."""

    k: int  # coordinates of a node
    limit: int  # first of the edges that have features
    pairs: int  # coordinates of such an edge
    last: int  # first of the weights
    base: int  # the weight that it stands for
    dim: int


def numbering(x: Graphs, layout: NetworkLayout) -> Numbering:
    """The coordinates of these graphs."""
    dim, k = int(layout.pair_at[-1]), int(np.diff(layout.label_ptr).max())
    limit = len(x.node_type) * k
    if layout.shared:
        return Numbering(k, limit, 1, limit, int(layout.pair_at[0]), dim)
    pairs = int(np.diff(layout.pair_at).max(initial=1)) // layout.edge_width
    last = limit + len(x.edge_class) * pairs
    return Numbering(k, limit, pairs, last, dim, dim)


def coordinates(x: Graphs, layout: NetworkLayout) -> OuterCoordinates | None:
    """The coordinates; None where planes have fewer entries in terms of weights.

    That is so for large graphs with few features: their planes touch all weights, but
    no more than there are.
    """
    number = numbering(x, layout)
    outer = len(x.node_type) + (0 if layout.shared else len(x.edge_class))
    sizes = np.concatenate(([0], np.cumsum(np.diff(x.ptr)[x.row])))
    entries = np.diff(sizes[x.node_ptr]) + layout.edge_width * np.diff(x.edge_ptr)
    plain = int(np.minimum(2 * entries, number.dim).sum())
    if 2 * outer >= plain or number.last + number.dim >= 2**31:
        return None
    width = int(layout.width.max())
    return OuterCoordinates(
        Vectors(x.ptr, x.idx, x.val, width),
        number.k,
        x.node_ptr,
        VectorKinds(
            x.row, x.node_type, layout.node_at, np.diff(layout.label_ptr), layout.width
        ),
        None
        if layout.shared
        else PairVectors(
            x.edge_class, x.edge_val, layout.edge_width, number.pairs, layout.pair_at,
            x.edge_ptr,
        ),
        number.base,
    )  # fmt: skip


class Row(NamedTuple):
    """Scratch: what a row has in the weights of edges; zeros between rows."""

    sums: np.ndarray
    touched: np.ndarray
    seen: np.ndarray


@inner_loop
def _put(c, value, row, m):
    """Add to a sum; how many are touched."""
    if not row.seen[c]:
        row.seen[c] = True
        row.touched[m] = c
        m += 1
    row.sums[c] += value
    return m


@inner_loop
def _flush(row, m, first, idx, val, at):
    """Sums that are not zero become entries, with coordinates from `first` on."""
    for q in range(m):
        c = row.touched[q]
        if row.sums[c] != 0.0:
            idx[at], val[at] = first + c, row.sums[c]
            at += 1
        row.sums[c], row.seen[c] = 0.0, False
    return at


@inner_loop
def _pair(e, a, b, edge_class, layout):
    """Parameter of the labels a, b of edge e, or -1; counted over all classes if shared."""
    c = edge_class[e]
    t = layout.second_type[c]
    k = layout.label_ptr[t + 1] - layout.label_ptr[t]
    p = layout.pair_map[layout.map_ptr[c] + a * k + b]
    if p >= 0 and layout.shared:
        p += layout.pair_at[c] - layout.pair_at[0]
    return p


@inner_loop
def _row(size):
    return Row(np.zeros(size), np.empty(size, np.int64), np.zeros(size, np.bool_))


@loop
def features(
    ids, node_ptr, edge_ptr, edges, edge_class, layout, number, row_ptr, local
):
    """Joint features of the local labels of each example."""
    room = row_ptr[-1]
    for i in ids:
        room += edge_ptr[i + 1] - edge_ptr[i]
    ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(room, np.int32), np.empty(room)
    row, at = _row(max(number.dim - number.base, number.pairs)), 0
    for q in range(len(ids)):
        i, m = ids[q], 0
        base = row_ptr[q] - node_ptr[i]
        for r in range(node_ptr[i], node_ptr[i + 1]):
            idx[at], val[at] = r * number.k + local[base + r], 1.0
            at += 1
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            a, b = local[row_ptr[q] + edges[e, 0]], local[row_ptr[q] + edges[e, 1]]
            p = _pair(e, a, b, edge_class, layout)
            if p >= 0 and layout.shared:
                m = _put(p, 1.0, row, m)
            elif p >= 0:
                idx[at], val[at] = number.limit + e * number.pairs + p, 1.0
                at += 1
        at = _flush(row, m, number.last, idx, val, at)
        ptr[q + 1] = at
    return ptr, idx[:at].copy(), val[:at].copy()


@loop
def difference(
    ids, node_ptr, edge_ptr, edges, edge_class, layout, number, row_ptr, true, local
):
    """Features of the truth minus those of the labels, from the parts that differ."""
    room = 2 * row_ptr[-1]
    for i in ids:
        room += 2 * (edge_ptr[i + 1] - edge_ptr[i])
    ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(room, np.int32), np.empty(room)
    row, at = _row(max(number.dim - number.base, number.pairs)), 0
    for q in range(len(ids)):
        i, m = ids[q], 0
        base = row_ptr[q] - node_ptr[i]
        for r in range(node_ptr[i], node_ptr[i + 1]):
            if true[base + r] != local[base + r]:
                idx[at], val[at] = r * number.k + true[base + r], 1.0
                idx[at + 1], val[at + 1] = r * number.k + local[base + r], -1.0
                at += 2
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            u, v = row_ptr[q] + edges[e, 0], row_ptr[q] + edges[e, 1]
            if true[u] == local[u] and true[v] == local[v]:
                continue
            good = _pair(e, true[u], true[v], edge_class, layout)
            bad = _pair(e, local[u], local[v], edge_class, layout)
            if good == bad:
                continue
            for p, sign in ((good, 1.0), (bad, -1.0)):
                if p >= 0 and layout.shared:
                    m = _put(p, sign, row, m)
                elif p >= 0:
                    idx[at], val[at] = number.limit + e * number.pairs + p, sign
                    at += 1
        at = _flush(row, m, number.last, idx, val, at)
        ptr[q + 1] = at
    return ptr, idx[:at].copy(), val[:at].copy()


@loop
def expected_difference(
    ids, node_ptr, edge_ptr, edges, edge_class, layout, number, row_ptr, true,
    label_ptr, node_mu, links, pair_ptr, edge_mu,
):  # fmt: skip
    """Features of the truth minus their expectation under marginals."""
    room = label_ptr[-1] + pair_ptr[-1]
    if layout.shared:
        room += len(ids) * (number.dim - number.base)
    ptr = np.zeros(len(ids) + 1, np.int64)
    idx, val = np.empty(room, np.int32), np.empty(room)
    row, at = _row(max(number.dim - number.base, number.pairs)), 0
    for q in range(len(ids)):
        i, m = ids[q], 0
        base = row_ptr[q] - node_ptr[i]
        for r in range(node_ptr[i], node_ptr[i + 1]):
            v = base + r
            for a in range(label_ptr[v + 1] - label_ptr[v]):
                share = (1.0 if true[v] == a else 0.0) - node_mu[label_ptr[v] + a]
                if share != 0.0:
                    idx[at], val[at] = r * number.k + a, share
                    at += 1
        for e in range(edge_ptr[i], edge_ptr[i + 1]):
            u, v = row_ptr[q] + edges[e, 0], row_ptr[q] + edges[e, 1]
            first, kv = (
                pair_ptr[links[q] + e - edge_ptr[i]],
                label_ptr[v + 1] - label_ptr[v],
            )
            for j in range((label_ptr[u + 1] - label_ptr[u]) * kv):
                a, b = j // kv, j % kv
                share = -edge_mu[first + j]
                if true[u] == a and true[v] == b:
                    share += 1.0
                p = _pair(e, a, b, edge_class, layout)
                if p >= 0 and share != 0.0:
                    m = _put(p, share, row, m)
            if not layout.shared:
                at = _flush(row, m, number.limit + e * number.pairs, idx, val, at)
                m = 0
        at = _flush(row, m, number.last, idx, val, at)
        ptr[q + 1] = at
    return ptr, idx[:at].copy(), val[:at].copy()
