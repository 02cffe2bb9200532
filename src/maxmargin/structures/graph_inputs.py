"""From graphs to flat arrays: checks that name the record, types, label sets.

`survey` looks at the training graphs once and lays out the weights; `encode_graphs`
turns any graphs into the arrays that loops read. Weights are laid out as

    for each node type       labels x features     (see `arrays.Vectors` for the order)
    for each edge class      parameters x edge features

where an edge class is (edge type, type of the first node, type of the second), and its
parameters are the entries of the table of label pairs that are told apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.arrays import Floats, Ints, Labels, pointers
from maxmargin.inference.decode import Plan, plan
from maxmargin.structures.graphs import Graph

SPARSE_BELOW = 0.3  # share of non-zeros under which dense features are kept sparse
PAIRWISE = ("full", "symmetric", "potts")


class Graphs(NamedTuple):
    """Encoded inputs."""

    node_ptr: Ints  # (n + 1,)
    edge_ptr: Ints  # (n + 1,)
    edges: Labels  # (m, 2) nodes counted within their graph
    node_type: Labels  # (nodes,)
    edge_class: Labels  # (m,)
    ptr: Ints  # (nodes + 1,) node vectors, dense or sparse
    idx: Labels  # empty when dense
    val: Floats
    edge_val: Floats  # (m * edge_width,), empty where edges have no features
    plan: Plan

    @property
    def n(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1


class Layout(NamedTuple):
    """Where the weights of every type are, and which labels it may have."""

    label_ptr: Ints  # (types + 1,) labels of each node type
    label: Labels  # codes, ascending within a type
    local: Labels  # (types * codes,) place of a code among the type's labels, or -1
    node_at: Ints  # (types,) first weight
    width: Ints  # (types,) features of a node, the constant included
    first_type: Labels  # (classes,)
    second_type: Labels  # (classes,)
    pair_at: Ints  # (classes,) first weight
    map_ptr: Ints  # (classes + 1,) table entries of each edge class
    pair_map: Labels  # parameter of each table entry, -1 for none
    edge_width: int  # features of an edge, the constant included
    shared: bool  # edges have no features: one table per class

    @property
    def codes(self) -> int:
        """Number of labels over all types."""
        return len(self.local) // max(len(self.width), 1)


class Kinds(NamedTuple):
    """Names of what the training graphs hold; not seen by loops."""

    classes: tuple[Hashable, ...]  # label of each code
    types: tuple[Hashable, ...]  # node types
    edge_classes: tuple[tuple[Hashable, Hashable, Hashable], ...]
    sparse: bool
    features: tuple[int, ...]  # per node type, without the constant
    edge_features: int  # 0: none


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
    try:
        graph = Graph(*given)
    except TypeError as wrong:
        raise ValueError(
            f"graph {i}: expected a Graph or a tuple (nodes, edges, ...), but got "
            f"{type(given).__name__}"
        ) from wrong
    if graph.n == 0:
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


def survey(X: Sequence[Any], Y: Sequence[Any], bias: bool, pairwise: str):
    """Kinds and Layout of the training graphs."""
    if pairwise not in PAIRWISE:
        raise ValueError(
            f"pairwise={pairwise!r} is not one of {', '.join(map(repr, PAIRWISE))}"
        )
    graphs = [as_graph(i, g) for i, g in enumerate(X)]
    seen: dict[Hashable, set[Hashable]] = {}
    widths: dict[Hashable, int] = {}
    edge_kinds: set[tuple[Hashable, Hashable, Hashable]] = set()
    for i, (graph, labels) in enumerate(zip(graphs, Y, strict=True)):
        kinds = node_types(graph)
        own = plain(labels)
        if len(own) != graph.n:
            raise ValueError(f"graph {i} has {graph.n} nodes, but {len(own)} labels")
        for kind, label in zip(kinds, own, strict=True):
            seen.setdefault(kind, set()).add(label)
        for kind, width in zip(kinds, _widths(graph), strict=True):
            if widths.setdefault(kind, width) != width:
                raise ValueError(
                    f"graph {i}: a node of type {kind!r} has {width} features, "
                    f"others of this type {widths[kind]}"
                )
        for kind, (u, v) in zip(edge_types(graph), graph.edges.tolist(), strict=True):
            edge_kinds.add((kind, kinds[u], kinds[v]))
    types = tuple(ordered(seen))
    kinds_ = Kinds(
        tuple(ordered(set().union(*seen.values()))),
        types,
        tuple(ordered(edge_kinds)),  # type: ignore[arg-type]
        _keep_sparse(graphs),
        tuple(widths[t] for t in types),
        _edge_width(graphs),
    )
    return kinds_, _lay_out(kinds_, seen, bias, pairwise)


def _widths(graph: Graph) -> list[int]:
    shape = getattr(graph.nodes, "shape", None)
    if shape is not None and len(shape) == 2:
        return [int(shape[1])] * graph.n
    return [len(np.ravel(v)) for v in graph.nodes]


def _keep_sparse(graphs: Sequence[Graph]) -> bool:
    if any(sp.issparse(g.nodes) for g in graphs):
        return True
    filled = total = 0
    for graph in graphs[:200]:
        for row in graph.nodes:
            filled += int(np.count_nonzero(row))
            total += np.size(row)
    return filled < SPARSE_BELOW * total


def _edge_width(graphs: Sequence[Graph]) -> int:
    """Features of an edge; all graphs that have edges must agree."""
    found = -1
    for i, graph in enumerate(graphs):
        if len(graph.edges) == 0:
            continue
        width = 0
        if graph.edge_features is not None:
            width = (
                np.asarray(graph.edge_features).reshape(len(graph.edges), -1).shape[1]
            )
        if found not in (-1, width):
            raise ValueError(
                f"graph {i} has {width} features per edge, graphs before it {found}"
            )
        found = width
    return max(found, 0)


def _lay_out(
    kinds: Kinds, seen: dict[Hashable, set[Hashable]], bias: bool, pairwise: str
) -> Layout:
    code = {label: c for c, label in enumerate(kinds.classes)}
    sets = [sorted(code[label] for label in seen[t]) for t in kinds.types]
    sizes = [len(s) for s in sets]
    local = np.full((len(sets), len(code)), -1, np.int32)
    for t, own in enumerate(sets):
        local[t, own] = np.arange(len(own))
    width = np.array(kinds.features, dtype=np.int64) + bias
    node_at = pointers(width * np.array(sizes, dtype=np.int64))
    place = {t: q for q, t in enumerate(kinds.types)}
    first = [place[u] for _, u, _ in kinds.edge_classes]
    second = [place[v] for _, _, v in kinds.edge_classes]
    maps = [
        _pair_map(sets[u], sets[v], pairwise)
        for u, v in zip(first, second, strict=True)
    ]
    shared = kinds.edge_features == 0
    edge_width = 1 if shared else kinds.edge_features + int(bias)
    pair_at = node_at[-1] + pointers([(int(m.max()) + 1) * edge_width for m in maps])
    return Layout(
        pointers(sizes),
        np.array([c for s in sets for c in s], dtype=np.int32),
        local.ravel(),
        node_at[:-1].copy(),
        width,
        np.array(first, dtype=np.int32),
        np.array(second, dtype=np.int32),
        pair_at,
        pointers([m.size for m in maps]),
        np.concatenate([m.ravel() for m in maps] or [np.empty(0)]).astype(np.int32),
        edge_width,
        shared,
    )


def _pair_map(first: list[int], second: list[int], pairwise: str) -> Any:
    """Parameter of each pair of labels."""
    a, b = np.array(first)[:, None], np.array(second)[None, :]
    if pairwise == "potts":
        return np.where(a == b, 0, -1)
    if pairwise == "full":
        return np.arange(a.size * b.size).reshape(a.size, b.size)
    key = np.minimum(a, b) * (max(first + second) + 1) + np.maximum(a, b)
    return np.unique(key, return_inverse=True)[1].reshape(a.size, b.size)


def encode_graphs(
    X: Sequence[Any], kinds: Kinds, layout: Layout, bias: bool, method: str
) -> Graphs:
    """Flat arrays of the graphs; types must be known."""
    graphs = [as_graph(i, g) for i, g in enumerate(X)]
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
                raise ValueError(
                    f"graph {i}, edge {e}: no edge of type {kind!r} from a node of "
                    f"type {own[u]!r} to one of type {own[v]!r} was seen in training"
                )
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
        *_vectors(graphs, node_type, kinds, bias),
        _edge_values(graphs, kinds, layout, bias),
        plan(
            node_ptr,
            edge_ptr,
            (flat + shift[:, None]).astype(np.int32),
            n_labels,
            method,
        ),
    )


def _vectors(
    graphs: Sequence[Graph], types: Labels, kinds: Kinds, bias: bool
) -> tuple[Ints, Labels, Floats]:
    """Node vectors with their constant, in the representation chosen in training."""
    parts: list[tuple[Any, Any, Any]] = []
    at = 0
    for i, graph in enumerate(graphs):
        widths = _widths(graph)
        want = [kinds.features[t] for t in types[at : at + graph.n]]
        at += graph.n
        wrong = [v for v, (a, b) in enumerate(zip(widths, want, strict=True)) if a != b]
        if wrong:
            v = wrong[0]
            raise ValueError(
                f"graph {i}, node {v}: {widths[v]} features, but {want[v]} in training"
            )
        part = _sparse_part(graph) if kinds.sparse else _dense_part(graph)
        bad = np.flatnonzero(~np.isfinite(part[2]))
        if len(bad):
            v = int(np.searchsorted(np.cumsum(part[0]), bad[0], side="right"))
            raise ValueError(
                f"graph {i}, node {v}: a feature is {part[2][bad[0]]}, not finite"
            )
        if bias:
            part = _with_constant(*part, np.array(want), kinds.sparse)
        parts.append(part)
    sizes, idx, val = (np.concatenate(p) for p in zip(*parts, strict=True))
    return (
        pointers(sizes),
        np.ascontiguousarray(idx, dtype=np.int32),
        np.ascontiguousarray(val, dtype=np.float64),
    )


def _sparse_part(graph: Graph) -> tuple[Any, Any, Any]:
    if sp.issparse(graph.nodes):
        rows = sp.csr_array(graph.nodes)
        rows.sum_duplicates()
        return np.diff(rows.indptr), rows.indices, rows.data.astype(np.float64)
    vectors = [np.ravel(np.asarray(v, dtype=np.float64)) for v in graph.nodes]
    filled = [np.flatnonzero(v) for v in vectors]
    return (
        np.array([len(f) for f in filled]),
        np.concatenate(filled),
        np.concatenate([v[f] for v, f in zip(vectors, filled, strict=True)]),
    )


def _dense_part(graph: Graph) -> tuple[Any, Any, Any]:
    if sp.issparse(graph.nodes):
        dense = graph.nodes.toarray()
    else:
        dense = graph.nodes
    if isinstance(dense, np.ndarray) and dense.ndim == 2:
        sizes = np.full(dense.shape[0], dense.shape[1])
        return sizes, np.empty(0, np.int32), np.array(dense, dtype=np.float64).ravel()
    vectors = [np.ravel(np.asarray(v, dtype=np.float64)) for v in dense]
    sizes = np.array([len(v) for v in vectors])
    return sizes, np.empty(0, np.int32), np.concatenate(vectors)


def _with_constant(
    sizes: Any, idx: Any, val: Any, width: Any, sparse: bool
) -> tuple[Any, Any, Any]:
    """Append a feature of value one to every vector."""
    ends = np.cumsum(sizes)
    if sparse:
        idx = np.insert(idx.astype(np.int32), ends, width)
    return sizes + 1, idx, np.insert(val, ends, 1.0)


def _edge_values(
    graphs: Sequence[Graph], kinds: Kinds, layout: Layout, bias: bool
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
        values = np.asarray(graph.edge_features, dtype=np.float64).reshape(m, -1)
        if values.shape[1] != kinds.edge_features:
            raise ValueError(
                f"graph {i}: {values.shape[1]} features per edge, but "
                f"{kinds.edge_features} in training"
            )
        if not np.isfinite(values).all():
            e = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise ValueError(f"graph {i}, edge {e}: a feature is not finite")
        parts.append(np.hstack([values, np.ones((m, 1))]) if bias else values)
    return np.concatenate(parts).ravel() if parts else np.empty(0)
