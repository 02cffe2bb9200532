"""Where the weights of a network are: types, label sets, edge classes.

`survey` looks at the training graphs once and lays out the weights as

    for each node type       labels x features     (see `arrays.Vectors` for the order)
    for each edge class      parameters x edge features

where an edge class is (edge type, type of the first node, type of the second), and its
parameters are the entries of the table of label pairs that are told apart.
`network_pieces` lists what each node and each edge adds to psi.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, Labels, Rows, pointers
from maxmargin.core.data.validation import (
    check_distinct,
    check_pointers,
    check_range,
    check_types,
    is_missing,
    refuse_fractions,
    require,
)
from maxmargin.core.structure import Pieces
from maxmargin.structures.network.graphs.graph import (
    Graph,
    SharedRow,
    as_graph,
    edge_types,
    node_types,
    ordered,
    plain,
    widths,
)

SPARSE_BELOW = 0.3  # share of non-zeros under which dense features are kept sparse
PAIRWISE = ("full", "symmetric", "potts")


class NetworkLayout(NamedTuple):
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

    def validate(self) -> None:
        """Arrays; `Network.validate` compares them with what they follow from."""
        check_types(self)

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

    def validate(self) -> None:
        """Distinct names, and edges between known types."""
        check_types(self)
        check_distinct(self.classes, "labels")
        check_distinct(self.types, "types of nodes")
        check_distinct(self.edge_classes, "classes of edges")
        require(len(self.types) == len(self.features) > 0, "a type lacks its features")
        sizes = (*self.features, self.edge_features)
        require(all(0 <= s < 2**31 for s in sizes), "a number of features is wrong")
        known = all(
            u in self.types and v in self.types for _, u, v in self.edge_classes
        )
        require(known, "an edge has an unknown type of node")


def survey(
    X: Sequence[Any], Y: Sequence[Any], bias: bool, pairwise: str
) -> tuple[Kinds, NetworkLayout]:
    """Kinds and layout of the training graphs."""
    if pairwise not in PAIRWISE:
        raise ValueError(
            f"pairwise={pairwise!r} is not one of {', '.join(map(repr, PAIRWISE))}"
        )
    graphs = [as_graph(i, g) for i, g in enumerate(X)]
    seen: dict[Hashable, set[Hashable]] = {}
    text: dict[Hashable, bool] = {}  # whether labels of nodes of this type are strings
    features: dict[Hashable, int] = {}
    edge_kinds: set[tuple[Hashable, Hashable, Hashable]] = set()
    for i, (graph, labels) in enumerate(zip(graphs, Y, strict=True)):
        kinds = node_types(graph)
        own = plain(labels)
        if len(own) != graph.n:
            raise ValueError(f"graph {i} has {graph.n} nodes, but {len(own)} labels")
        for v, label in enumerate(own):
            if label is not None and is_missing(label):
                raise ValueError(
                    f"graph {i}, node {v}: the label is {label}; None marks a label that "
                    "is not known"
                )
        for v, (kind, label) in enumerate(zip(kinds, own, strict=True)):
            named = isinstance(label, str)
            if label is not None and text.setdefault(kind, named) != named:
                raise ValueError(
                    f"graph {i}, node {v}: the label is {label!r:.40}, others are "
                    f"{'text' if text[kind] else 'not text'}; use one type"
                )
            seen.setdefault(kind, set()).add(label)
        for kind, width in zip(kinds, widths(graph), strict=True):
            if features.setdefault(kind, width) != width:
                raise ValueError(
                    f"graph {i}: a node of type {kind!r} has {width} features, "
                    f"others of this type {features[kind]}"
                )
        for kind, (u, v) in zip(edge_types(graph), graph.edges.tolist(), strict=True):
            edge_kinds.add((kind, kinds[u], kinds[v]))
    for known in seen.values():
        refuse_fractions(known)
    types = tuple(ordered(seen))
    kinds_ = Kinds(
        tuple(ordered(set().union(*seen.values()))),
        types,
        tuple(ordered(edge_kinds)),
        _keep_sparse(graphs),
        tuple(features[t] for t in types),
        _edge_width(graphs),
    )
    return kinds_, _lay_out(kinds_, seen, bias, pairwise)


def computed_layout(
    kinds: Kinds, layout: NetworkLayout, bias: bool, pairwise: str
) -> NetworkLayout:
    """The layout that follows from the kinds and the label sets in `layout`."""
    require(pairwise in PAIRWISE, f"pairwise={pairwise!r} is not known")
    check_pointers(layout.label_ptr, len(layout.label), "labels of the types")
    require(len(layout.label_ptr) == len(kinds.types) + 1, "a type lacks its labels")
    check_range(layout.label, 0, len(kinds.classes), "label")
    require((np.diff(layout.label_ptr) > 0).all(), "a type of nodes has no labels")
    seen = {
        kind: {kinds.classes[c] for c in layout.label[a:b]}
        for kind, a, b in zip(
            kinds.types, layout.label_ptr[:-1], layout.label_ptr[1:], strict=True
        )
    }
    return _lay_out(kinds, seen, bias, pairwise)


def widened(layout: NetworkLayout, width: int) -> NetworkLayout:
    """The same layout for nodes, all of one type, with `width` features."""
    shift = (width - int(layout.width[0])) * int(layout.label_ptr[-1])
    return layout._replace(
        width=np.array([width], dtype=np.int64), pair_at=layout.pair_at + shift
    )


def _keep_sparse(graphs: Sequence[Graph]) -> bool:
    if any(sp.issparse(g.nodes) or isinstance(g.nodes, SharedRow) for g in graphs):
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
) -> NetworkLayout:
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
    return NetworkLayout(
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


def network_pieces(
    x: Any, i: int, layout: NetworkLayout, local: Labels, names: list[str]
) -> Pieces:
    """Parts of the labels `local` (places in label sets, called `names`) of graph i."""
    first = int(x.node_ptr[i])
    titles = [f"node {v}: {name}" for v, name in enumerate(names)]
    parts = [node_part(x, layout, first + v, int(a)) for v, a in enumerate(local)]
    more, links = edge_pieces(x, i, layout, local, names)
    return Pieces(titles + more, Rows.pack(parts + links))


def edge_pieces(
    x: Any, i: int, layout: NetworkLayout, local: Labels, names: list[str]
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


def node_part(x: Any, layout: NetworkLayout, r: int, a: int) -> tuple[Ints, Floats]:
    """Features of node r at its local label a."""
    t, row = int(x.node_type[r]), int(x.row[r])
    some = slice(int(x.ptr[row]), int(x.ptr[row + 1]))
    k, val = int(layout.label_ptr[t + 1] - layout.label_ptr[t]), x.val[some]
    if len(x.idx):
        at = x.idx[some].astype(np.int64) * k + a
    else:
        at = np.arange(len(val)) + a * int(layout.width[t])
    return at + int(layout.node_at[t]), val


def edge_part(
    x: Any, layout: NetworkLayout, e: int, a: int, b: int
) -> tuple[Ints, Floats]:
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
