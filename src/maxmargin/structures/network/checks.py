"""Graphs as users give them: checks that name the record, types, widths."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from maxmargin.structures.network.graphs import Graph


def ordered(values: Any) -> list[Hashable]:
    """Distinct values, sorted where they can be compared, else by their names."""
    distinct = set(values)
    try:
        return sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        return sorted(distinct, key=lambda v: (type(v).__name__, str(v)))


def plain(values: Any) -> list[Any]:
    """Elements as Python objects, so that 1 and np.int64(1) are one label."""
    if isinstance(values, np.ndarray):
        return values.ravel().tolist()
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def as_graph(i: int, given: Any) -> Graph:
    """A `Graph` from a Graph or a tuple; checks nodes and edges."""
    if isinstance(given, tuple) and given and isinstance(given[0], Graph):
        raise ValueError(
            f"graph {i}: a tuple that begins with a Graph; graph_from_networkx returns "
            "the graph and the names of its nodes: graph, names = ..."
        )
    try:
        graph = Graph(*given)
        empty = graph.n == 0
    except TypeError as wrong:
        hint = " (see graph_from_networkx)" if hasattr(given, "adj") else ""
        raise ValueError(
            f"graph {i}: expected a Graph or a tuple (nodes, edges, ...), but got "
            f"{type(given).__name__}{hint}"
        ) from wrong
    if empty:
        raise ValueError(f"graph {i} has no nodes")
    edges = np.asarray(graph.edges)
    if edges.size == 0:
        edges = np.empty((0, 2), np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(
            f"graph {i}: edges must be an integer array (m, 2), but have shape "
            f"{edges.shape} and type {edges.dtype}"
        )
    _check_edges(i, graph.n, edges)
    for what, values, size in (
        ("node_types", graph.node_types, graph.n),
        ("edge_types", graph.edge_types, len(edges)),
        ("edge_features", graph.edge_features, len(edges)),
    ):
        if values is not None and len(values) != size:
            raise ValueError(
                f"graph {i}: {what} has {len(values)} entries for {size} "
                f"{'nodes' if what == 'node_types' else 'edges'}"
            )
    return graph._replace(edges=edges)


def _check_edges(i: int, n: int, edges: Any) -> None:
    out = np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=1))
    if len(out):
        e = int(out[0])
        raise ValueError(
            f"graph {i}, edge {e}: {tuple(edges[e].tolist())} leaves the graph, which "
            f"has the nodes 0 .. {n - 1}"
        )
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        e = int(loops[0])
        raise ValueError(f"graph {i}, edge {e}: node {edges[e, 0]} is linked to itself")
    key = edges.min(axis=1) * np.int64(n) + edges.max(axis=1)
    distinct, first = np.unique(key, return_index=True)
    if len(distinct) < len(key):
        again = np.setdiff1d(np.arange(len(key)), first)
        e = int(again[0])
        before = int(first[np.searchsorted(distinct, key[e])])
        raise ValueError(
            f"graph {i}, edge {e}: nodes {edges[e, 0]} and {edges[e, 1]} are linked "
            f"twice, before by edge {before}; keep one edge and tell the links apart "
            "by its features or its type"
        )


def node_types(graph: Graph) -> list[Hashable]:
    """Type of each node; None is the only type where none are given."""
    if graph.node_types is None:
        return [None] * graph.n
    return plain(graph.node_types)


def edge_types(graph: Graph) -> list[Hashable]:
    """Type of each edge; None is the only type where none are given."""
    if graph.edge_types is None:
        return [None] * len(graph.edges)
    return plain(graph.edge_types)


def widths(graph: Graph) -> list[int]:
    """Number of features of each node."""
    shape = getattr(graph.nodes, "shape", None)
    if shape is not None and len(shape) == 2:
        return [int(shape[1])] * graph.n
    return [len(np.ravel(v)) for v in graph.nodes]
