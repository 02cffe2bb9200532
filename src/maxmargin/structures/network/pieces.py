"""Labels of a network taken apart: what each node and each edge adds to psi."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Labels, Rows
from maxmargin.core.structure import Pieces
from maxmargin.structures.network.layout import Layout


def network_pieces(
    x: Any, i: int, layout: Layout, local: Labels, names: list[str]
) -> Pieces:
    """Parts of the labels `local` (places in label sets, called `names`) of graph i."""
    first = int(x.node_ptr[i])
    titles = [f"node {v}: {name}" for v, name in enumerate(names)]
    parts = [node_part(x, layout, first + v, int(a)) for v, a in enumerate(local)]
    more, links = edge_pieces(x, i, layout, local, names)
    return Pieces(titles + more, Rows.pack(parts + links))


def edge_pieces(
    x: Any, i: int, layout: Layout, local: Labels, names: list[str]
) -> tuple[list[str], list[tuple[Ints, Floats]]]:
    """Names and features of the edges of graph i that have any."""
    titles, parts = [], []
    for e in range(int(x.edge_ptr[i]), int(x.edge_ptr[i + 1])):
        u, v = (int(end) for end in x.edges[e])
        part = edge_part(x, layout, e, int(local[u]), int(local[v]))
        if len(part[0]):
            titles.append(f"edge {u}-{v}: {names[u]}-{names[v]}")
            parts.append(part)
    return titles, parts


def node_part(x: Any, layout: Layout, r: int, a: int) -> tuple[Ints, Floats]:
    """Features of node r at its local label a."""
    t = int(x.node_type[r])
    some = slice(int(x.ptr[r]), int(x.ptr[r + 1]))
    k, val = int(layout.label_ptr[t + 1] - layout.label_ptr[t]), x.val[some]
    if len(x.idx):
        at = x.idx[some].astype(np.int64) * k + a
    else:
        at = np.arange(len(val)) + a * int(layout.width[t])
    return at + int(layout.node_at[t]), val


def edge_part(x: Any, layout: Layout, e: int, a: int, b: int) -> tuple[Ints, Floats]:
    """Features of edge e at the local labels a, b; empty where they share none."""
    c = int(x.edge_class[e])
    t = int(layout.second_type[c])
    k = int(layout.label_ptr[t + 1] - layout.label_ptr[t])
    p = int(layout.pair_map[layout.map_ptr[c] + a * k + b])
    if p < 0:
        return np.empty(0, np.int64), np.empty(0)
    width = layout.edge_width
    val = np.ones(1) if layout.shared else x.edge_val[e * width : (e + 1) * width]
    return np.arange(len(val)) + int(layout.pair_at[c]) + p * width, val
