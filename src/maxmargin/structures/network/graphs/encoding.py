"""From graphs to the flat arrays that loops read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Vectors,
    pointers,
    real_numbers,
    usable,
)
from maxmargin.core.data.validation import check_sparse
from maxmargin.inference.graph.decode import GraphPlan, plan
from maxmargin.structures.network.graphs.graph import (
    Graph,
    SharedRow,
    as_graph,
    edge_types,
    node_types,
    widths,
)
from maxmargin.structures.network.layout import Kinds, NetworkLayout

NOTHING = np.empty((0, 0))


class Scopes(NamedTuple):
    """Nodes of the cliques of all graphs."""

    ptr: Ints  # (graphs + 1,) cliques of each graph
    node_ptr: Ints  # (cliques + 1,)
    nodes: Ints  # counted within their graph
    kind: Ints  # (cliques,) class of each


_NONE = np.empty(0, np.int64)
NO_SCOPES = Scopes(np.zeros(1, np.int64), np.zeros(1, np.int64), _NONE, _NONE)


class Graphs(NamedTuple):
    """Encoded inputs."""

    node_ptr: Ints  # (n + 1,)
    edge_ptr: Ints  # (n + 1,)
    edges: Labels  # (m, 2) nodes counted within their graph
    node_type: Labels  # (nodes,)
    edge_class: Labels  # (m,)
    row: Labels  # (nodes,) vector of each node
    ptr: Ints  # (vectors + 1,) dense or sparse
    idx: Labels  # empty when dense
    val: Floats
    edge_val: Floats  # (m * edge_width,), empty where edges have no features
    plan: GraphPlan
    gram: Floats = NOTHING  # (nodes, nodes) of the training graphs, with a kernel
    edge_gram: Floats = NOTHING  # (edges, edges) likewise
    cliques: Scopes = NO_SCOPES  # of networks that know cliques

    @property
    def n(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1

    def vectors(self, width: int) -> Vectors:
        """The vectors of the nodes, all of `width` features, one for each node."""
        vectors = Vectors(self.ptr, self.idx, self.val, width)
        if np.array_equal(self.row, np.arange(vectors.n)):
            return vectors
        matrix = vectors.matrix()[self.row]
        return Vectors.of(matrix, vectors.sparse)


def encode_graphs(
    X: Sequence[Any], kinds: Kinds, layout: NetworkLayout, bias: bool, method: str,
    cliques: bool = False, features: bool = True,
) -> Graphs:  # fmt: skip
    """Flat arrays of the graphs; types must be known. `cliques` says they are expected.

    Without `features`, those of nodes are left out.
    """
    graphs = [as_graph(i, g) for i, g in enumerate(X)]
    for i, graph in enumerate(graphs):
        if graph.cliques and not cliques:
            raise ValueError(
                f"graph {i} has cliques, but this network was made for nodes and edges; "
                "NetworkSVM without kernels and hidden labels takes cliques, if training "
                "graphs have them"
            )
    place = {t: q for q, t in enumerate(kinds.types)}
    known = {c: q for q, c in enumerate(kinds.edge_classes)}
    types: list[int] = []
    edge_class: list[int] = []
    for i, graph in enumerate(graphs):
        own = node_types(graph)
        for v, kind in enumerate(own):
            if kind not in place:
                raise ValueError(
                    f"graph {i}, node {v}: type {kind!r} was not seen in training"
                )
        types += [place[kind] for kind in own]
        for e, (kind, (u, v)) in enumerate(
            zip(edge_types(graph), graph.edges.tolist(), strict=True)
        ):
            found = known.get((kind, own[u], own[v]))
            if found is None:
                where = f"graph {i}, edge {e}"
                raise ValueError(_unseen(where, kind, own[u], own[v], bool(known)))
            edge_class.append(found)
    node_ptr = pointers([g.n for g in graphs])
    edge_ptr = pointers([len(g.edges) for g in graphs])
    edges = [g.edges for g in graphs] or [np.empty((0, 2))]
    flat = np.ascontiguousarray(np.concatenate(edges), dtype=np.int32)
    shift = np.repeat(node_ptr[:-1], np.diff(edge_ptr))
    node_type = np.array(types, dtype=np.int32)
    n_labels = np.diff(layout.label_ptr)[node_type]
    return Graphs(
        node_ptr,
        edge_ptr,
        flat,
        node_type,
        np.array(edge_class, dtype=np.int32),
        *_vectors(graphs if features else [], node_type, kinds, bias),
        _edge_values(graphs, kinds, layout, bias),
        plan(
            node_ptr,
            edge_ptr,
            (flat + shift[:, None]).astype(np.int32),
            n_labels,
            method,
        ),
    )


def _unseen(where: str, kind: Any, tail: Any, head: Any, some: bool) -> str:
    """What is wrong with an edge of a kind that has no weights, and what to do."""
    advice = "the model has no weights for it. Leave such edges out, or train with some"
    if not some:
        return f"{where}: the training graphs had no edges, so {advice}"
    ends = "" if tail is None and head is None else f" from {tail!r} to {head!r}"
    which = "" if kind is None else f" of type {kind!r}"
    return f"{where}: no edge{which}{ends} was seen in training, so {advice}"


def _vectors(
    graphs: Sequence[Graph], types: Labels, kinds: Kinds, bias: bool
) -> tuple[Labels, Ints, Labels, Floats]:
    """Vector of each node; vectors with their constant, as chosen in training."""
    parts: list[tuple[Any, Any, Any]] = []
    rows: list[Labels] = []
    at = held = 0
    for i, graph in enumerate(graphs):
        found = widths(graph)
        want = [kinds.features[t] for t in types[at : at + graph.n]]
        at += graph.n
        wrong = [v for v, (a, b) in enumerate(zip(found, want, strict=True)) if a != b]
        if wrong:
            v = wrong[0]
            raise ValueError(
                f"graph {i}, node {v}: {found[v]} features, but {want[v]} in training"
            )
        own = np.arange(graph.n, dtype=np.int32)
        graph, once = _held_once(graph)
        rows.append(held + (0 * own if once else own))
        want = want[: graph.n]
        held += graph.n
        part = _sparse_part(graph) if kinds.sparse else _dense_part(graph)
        bad = np.flatnonzero(~usable(part[2]))
        if len(bad):
            v = int(np.searchsorted(np.cumsum(part[0]), bad[0], side="right"))
            raise ValueError(
                f"graph {i}, node {v}: a feature is {part[2][bad[0]]}, not finite or so "
                "large that its square overflows"
            )
        if bias:
            part = _with_constant(*part, np.array(want), kinds.sparse)
        parts.append(part)
    empty = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
    columns = zip(empty, *parts, strict=True)
    sizes, idx, val = (np.concatenate(column) for column in columns)
    return (
        np.concatenate([np.empty(0, np.int32), *rows]),
        pointers(sizes),
        np.ascontiguousarray(idx, dtype=np.int32),
        np.ascontiguousarray(val, dtype=np.float64),
    )


def _held_once(graph: Graph) -> tuple[Graph, bool]:
    """The graph with one row of features, if all its nodes share it."""
    nodes = graph.nodes
    if isinstance(nodes, SharedRow):
        return graph._replace(nodes=nodes.row), True
    if isinstance(nodes, np.ndarray) and nodes.ndim == 2 and nodes.strides[0] == 0:
        return graph._replace(nodes=nodes[:1]), True
    return graph, False


def _sparse_part(graph: Graph) -> tuple[Any, Any, Any]:
    if sp.issparse(graph.nodes):
        check_sparse(graph.nodes, "the matrix of the nodes")
        rows = sp.csr_array(graph.nodes)
        rows.sum_duplicates()
        return np.diff(rows.indptr), rows.indices, real_numbers(rows.data)
    vectors = _numbers(graph)
    filled = [np.flatnonzero(v) for v in vectors]
    return (
        np.array([len(f) for f in filled]),
        np.concatenate(filled),
        np.concatenate([v[f] for v, f in zip(vectors, filled, strict=True)]),
    )


def _dense_part(graph: Graph) -> tuple[Any, Any, Any]:
    if sp.issparse(graph.nodes):
        check_sparse(graph.nodes, "the matrix of the nodes")
        dense = graph.nodes.toarray()
    else:
        dense = graph.nodes
    if isinstance(dense, np.ndarray) and dense.ndim == 2:
        sizes = np.full(dense.shape[0], dense.shape[1])
        return sizes, np.empty(0, np.int32), real_numbers(dense).ravel()
    vectors = _numbers(graph)
    sizes = np.array([len(v) for v in vectors])
    return sizes, np.empty(0, np.int32), np.concatenate(vectors)


def _numbers(graph: Graph) -> list[Floats]:
    """Features of the nodes as vectors."""
    try:
        return [np.ravel(real_numbers(v)) for v in graph.nodes]
    except (TypeError, ValueError) as wrong:
        raise ValueError(
            f"features of nodes must be vectors of numbers: {wrong}"
        ) from None


def _with_constant(
    sizes: Any, idx: Any, val: Any, width: Any, sparse: bool
) -> tuple[Any, Any, Any]:
    """Append a feature of value one to every vector."""
    ends = np.cumsum(sizes)
    if sparse:
        idx = np.insert(idx.astype(np.int32), ends, width)
    return sizes + 1, idx, np.insert(val, ends, 1.0)


def with_constant_column(matrix: Any) -> Any:
    """Rows with a feature of value one appended."""
    ones = np.ones((matrix.shape[0], 1))
    if sp.issparse(matrix):
        return sp.hstack([matrix, sp.csr_array(ones)], format="csr")
    return np.hstack([matrix, ones])


def _edge_values(
    graphs: Sequence[Graph], kinds: Kinds, layout: NetworkLayout, bias: bool
) -> Floats:
    if layout.shared:
        given = [i for i, g in enumerate(graphs) if g.edge_features is not None]
        if any(len(graphs[i].edges) for i in given):
            raise ValueError(
                f"graph {given[0]} has edge features, but there were none in training"
            )
        return np.empty(0)
    parts = []
    for i, graph in enumerate(graphs):
        m = len(graph.edges)
        if m == 0:
            continue
        if graph.edge_features is None:
            raise ValueError(f"graph {i} has no edge features, but training had them")
        values = real_numbers(graph.edge_features).reshape(m, -1)
        if values.shape[1] != kinds.edge_features:
            raise ValueError(
                f"graph {i}: {values.shape[1]} features per edge, but "
                f"{kinds.edge_features} in training"
            )
        if not usable(values).all():
            e = int(np.flatnonzero(~usable(values).all(axis=1))[0])
            raise ValueError(
                f"graph {i}, edge {e}: a feature is not finite, or too large"
            )
        parts.append(np.hstack([values, np.ones((m, 1))]) if bias else values)
    return np.concatenate(parts).ravel() if parts else np.empty(0)
