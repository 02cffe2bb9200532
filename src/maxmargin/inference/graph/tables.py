"""The tables that every inference reads: scores of labels and of pairs of labels.

A graph has nodes v with labels 0 .. k_v - 1 and edges (u, v); the score of labels y is

    sum_v unary_v[y_v] + sum_(u, v) pairwise_uv[y_u, y_v]

and everything in this room looks for its maximum. A batch of graphs is one set of
flat arrays; edges may share a table, so that a grid with one Potts table keeps it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats, Ints, Labels, longest, pointers
from maxmargin.core.jit import inner_loop, loop


class GraphTables(NamedTuple):
    """Scores of one or several graphs.

    Examples
    --------
    >>> t = GraphTables.of([[0.0, 1.0], [2.0, 0.0]], [[0, 1]], [[[3.0, 0.0], [0.0, 3.0]]])
    >>> t.n, t.score(np.array([0, 0], np.int32)).tolist()
    (1, [5.0])
    """

    node_ptr: Ints  # (graphs + 1,) nodes of graph g: node_ptr[g]:node_ptr[g + 1]
    edge_ptr: Ints  # (graphs + 1,) its edges
    label_ptr: Ints  # (nodes + 1,) labels of node v in `unary`
    unary: Floats  # (label_ptr[-1],)
    edges: Labels  # (m, 2) nodes, counted over the whole batch
    pair_ptr: Ints  # (m,) where the edge's table starts; tables may be shared
    pairwise: Floats  # row-major tables (labels of the first, of the second node)

    @classmethod
    def of(cls, unary: Sequence[ArrayLike], edges: Any, pairwise: Any) -> GraphTables:
        """One graph; `pairwise` is one table per edge, or one table for all."""
        rows = [np.asarray(u, dtype=np.float64).ravel() for u in unary]
        ends = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
        flat, start = _stack(pairwise, len(ends))
        return cls(
            np.array([0, len(rows)], np.int64),
            np.array([0, len(ends)], np.int64),
            pointers([len(r) for r in rows]),
            np.concatenate(rows) if rows else np.empty(0),
            np.ascontiguousarray(ends),
            start,
            flat,
        )

    @staticmethod
    def batch(parts: Sequence[GraphTables]) -> GraphTables:
        """All graphs of all parts."""
        nodes = np.cumsum([0] + [p.node_ptr[-1] for p in parts])
        tables = np.cumsum([0] + [len(p.pairwise) for p in parts])
        return GraphTables(
            pointers(np.concatenate([np.diff(p.node_ptr) for p in parts])),
            pointers(np.concatenate([np.diff(p.edge_ptr) for p in parts])),
            pointers(np.concatenate([np.diff(p.label_ptr) for p in parts])),
            np.concatenate([p.unary for p in parts]),
            np.concatenate(
                [p.edges + at for p, at in zip(parts, nodes[:-1], strict=True)]
            ).astype(np.int32),
            np.concatenate(
                [p.pair_ptr + at for p, at in zip(parts, tables[:-1], strict=True)]
            ),
            np.concatenate([p.pairwise for p in parts]),
        )

    @property
    def n(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.label_ptr) - 1

    @property
    def n_labels(self) -> Ints:
        """Number of labels of each node."""
        return np.diff(self.label_ptr)

    def graph_of_node(self) -> Ints:
        """Graph of each node."""
        return np.repeat(np.arange(self.n), np.diff(self.node_ptr))

    def graph_of_edge(self) -> Ints:
        """Graph of each edge."""
        return np.repeat(np.arange(self.n), np.diff(self.edge_ptr))

    def score(self, labels: Labels) -> Floats:
        """Score of the labels of each graph."""
        return _score(*self, labels)

    def take(self, ids: ArrayLike) -> GraphTables:
        """The graphs `ids`, in that order; tables of edges are not copied."""
        ids = np.asarray(ids, dtype=np.int64)
        nodes, node_ptr = spans(self.node_ptr, ids)
        edges, edge_ptr = spans(self.edge_ptr, ids)
        labels, label_ptr = spans(self.label_ptr, nodes)
        shift = np.repeat(node_ptr[:-1] - self.node_ptr[ids], np.diff(edge_ptr))
        return GraphTables(
            node_ptr,
            edge_ptr,
            label_ptr,
            self.unary[labels],
            (self.edges[edges] + shift[:, None]).astype(np.int32),
            self.pair_ptr[edges],
            self.pairwise,
        )

    def table(self, e: int) -> Floats:
        """Table of edge e, a view."""
        k = self.n_labels
        rows, columns = k[self.edges[e, 0]], k[self.edges[e, 1]]
        start = self.pair_ptr[e]
        return self.pairwise[start : start + rows * columns].reshape(rows, columns)


class Best(NamedTuple):
    """Labels found, their score, and what no labels exceed."""

    labels: Labels  # (nodes,) local label of each node
    score: Floats  # (graphs,)
    bound: Floats  # (graphs,) equal to `score` where the method is exact


class Incidence(NamedTuple):
    """Edges at each node: `edge[ptr[v]:ptr[v + 1]]`, in the order of edges."""

    ptr: Ints  # (nodes + 1,)
    edge: Ints  # (2 * m,)


def incidence(edges: Labels, nodes: int) -> Incidence:
    """Edges at each of `nodes` nodes."""
    return Incidence(*_incidence(edges, nodes))


def spans(ptr: Ints, ids: Ints) -> tuple[Ints, Ints]:
    """Positions of the entries of rows `ids`, and their new row pointers."""
    starts = ptr[ids]
    out = pointers(ptr[ids + 1] - starts)
    where = np.arange(out[-1], dtype=np.int64)
    where += np.repeat(starts - out[:-1], np.diff(out))
    return where, out


def sum_by(group: Ints, values: Floats, n: int) -> Floats:
    """Sum of the values of each group 0 .. n - 1."""
    return np.bincount(group, values, minlength=n)[:n].astype(np.float64)


def loose_bound(tables: GraphTables) -> Floats:
    """sum_v max unary + sum_e max pairwise: the bound without any message."""
    return _loose_bound(*tables)


def improve(tables: GraphTables, labels: Labels, sweeps: int = 20) -> Labels:
    """Change single nodes while that raises the score (iterated conditional modes)."""
    out = labels.copy()
    near = incidence(tables.edges, tables.n_nodes)
    _improve(*tables[2:], *near, sweeps, out)
    return out


def best_flip(tables: GraphTables, labels: Labels) -> tuple[Labels, np.ndarray]:
    """The best labels of each graph that differ from the given ones at one node.

    The second value tells which graphs have such labels at all.
    """
    near = incidence(tables.edges, tables.n_nodes)
    return _best_flip(tables.node_ptr, *tables[2:], *near, labels)


def _stack(pairwise: Any, m: int) -> tuple[Floats, Ints]:
    """Flat tables and where each of m edges finds its own."""
    single = isinstance(pairwise, np.ndarray) and pairwise.ndim == 2
    rows = [pairwise] if single else list(pairwise)
    arrays = [np.asarray(p, dtype=np.float64).ravel() for p in rows]
    flat = np.concatenate(arrays) if arrays else np.empty(0)
    start = pointers([len(a) for a in arrays])[:-1]
    if single:
        start = np.zeros(m, np.int64)
    if len(start) != m:
        raise ValueError(f"{len(start)} pairwise tables were given for {m} edges")
    return np.ascontiguousarray(flat), start


@loop
def _score(node_ptr, edge_ptr, label_ptr, unary, edges, pair_ptr, pairwise, labels):
    n = len(node_ptr) - 1
    out = np.zeros(n)
    for g in range(n):
        s = 0.0
        for v in range(node_ptr[g], node_ptr[g + 1]):
            s += unary[label_ptr[v] + labels[v]]
        for e in range(edge_ptr[g], edge_ptr[g + 1]):
            u, v = edges[e, 0], edges[e, 1]
            k = label_ptr[v + 1] - label_ptr[v]
            s += pairwise[pair_ptr[e] + labels[u] * k + labels[v]]
        out[g] = s
    return out


@loop
def _loose_bound(node_ptr, edge_ptr, label_ptr, unary, edges, pair_ptr, pairwise):
    n = len(node_ptr) - 1
    out = np.zeros(n)
    for g in range(n):
        for v in range(node_ptr[g], node_ptr[g + 1]):
            out[g] += unary[label_ptr[v] : label_ptr[v + 1]].max()
        for e in range(edge_ptr[g], edge_ptr[g + 1]):
            u, v = edges[e, 0], edges[e, 1]
            size = (label_ptr[u + 1] - label_ptr[u]) * (label_ptr[v + 1] - label_ptr[v])
            out[g] += pairwise[pair_ptr[e] : pair_ptr[e] + size].max()
    return out


@loop
def _incidence(edges, nodes):
    ptr = np.zeros(nodes + 1, np.int64)
    for e in range(len(edges)):
        ptr[edges[e, 0] + 1] += 1
        ptr[edges[e, 1] + 1] += 1
    for v in range(nodes):
        ptr[v + 1] += ptr[v]
    at = ptr[:-1].copy()
    edge = np.empty(2 * len(edges), np.int64)
    for e in range(len(edges)):
        for side in range(2):
            v = edges[e, side]
            edge[at[v]] = e
            at[v] += 1
    return ptr, edge


@inner_loop
def _gains(v, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, labels, gain):
    """Score of each label of v, all other nodes fixed."""
    k = label_ptr[v + 1] - label_ptr[v]
    for a in range(k):
        gain[a] = unary[label_ptr[v] + a]
    for p in range(ptr[v], ptr[v + 1]):
        e = near[p]
        start = pair_ptr[e]
        if edges[e, 0] == v:
            u = edges[e, 1]
            ku = label_ptr[u + 1] - label_ptr[u]
            for a in range(k):
                gain[a] += pairwise[start + a * ku + labels[u]]
        else:
            row = start + labels[edges[e, 0]] * k
            for a in range(k):
                gain[a] += pairwise[row + a]
    return k


@loop
def _improve(label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, sweeps, labels):
    gain = np.empty(longest(label_ptr))
    for _ in range(sweeps):
        changed = False
        for v in range(len(label_ptr) - 1):
            k = _gains(
                v, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, labels, gain
            )
            best = labels[v]
            for a in range(k):
                if gain[a] > gain[best] + 1e-12 * (1.0 + abs(gain[best])):
                    best = a
            if best != labels[v]:
                labels[v] = best
                changed = True
        if not changed:
            break


@loop
def _best_flip(
    node_ptr, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, labels
):
    out = labels.copy()
    gain = np.empty(longest(label_ptr))
    found = np.zeros(len(node_ptr) - 1, np.bool_)
    for g in range(len(node_ptr) - 1):
        most, where, what = -np.inf, -1, 0
        for v in range(node_ptr[g], node_ptr[g + 1]):
            k = _gains(
                v, label_ptr, unary, edges, pair_ptr, pairwise, ptr, near, labels, gain
            )
            for a in range(k):
                if a != labels[v] and gain[a] - gain[labels[v]] > most:
                    most, where, what = gain[a] - gain[labels[v]], v, a
        if where >= 0:
            out[where] = what
            found[g] = True
    return out, found
