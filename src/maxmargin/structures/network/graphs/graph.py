"""Graphs as users have them, and how to build them.

A `Graph` is what a network labels: nodes with features, edges between them, both
optionally with types, edges optionally with features. Builders make one from an image,
an adjacency matrix, a graph of networkx or PyTorch Geometric, and for multi-label data,
where every label is a node of its own type and the edges say which labels depend on each
other. `as_graph` checks what users give and names the record that is wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import minimum_spanning_tree

from maxmargin.core.data.arrays import Floats, Ints, check_ordered, real_numbers
from maxmargin.core.data.validation import check_sparse

ACROSS, DOWN, FALLING, RISING = 0, 1, 2, 3  # edge types of grids


@dataclass(frozen=True)
class SharedRow:
    """The same sparse features for all nodes of a graph, held once.

    Parameters
    ----------
    row : sparse matrix (1, d)
        The features.
    n : int
        Number of nodes.

    Examples
    --------
    >>> nodes = SharedRow(sp.csr_array([[0.0, 2.0]]), 3)
    >>> nodes.shape, nodes.matrix().toarray().tolist()
    ((3, 2), [[0.0, 2.0], [0.0, 2.0], [0.0, 2.0]])
    """

    row: Any
    n: int

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self.n, int(self.row.shape[1])

    def matrix(self) -> Any:
        """All rows, written out."""
        return sp.csr_array(self.row)[np.zeros(self.n, np.int64)]


class Graph(NamedTuple):
    """One example of a network.

    Parameters
    ----------
    nodes : array or sparse matrix (n, d), list of n vectors, or SharedRow
        Features of the nodes; as a list, vectors of different types may differ in
        length. Where all nodes have the same, `SharedRow` and `numpy.broadcast_to` hold
        them once.
    edges : int array (m, 2)
        Pairs of node numbers, each pair once, no node with itself.
    edge_features : array (m, e), optional
        Features of the edges.
    node_types, edge_types : sequences of hashables, optional
        Types have weights of their own; node types also have label sets of their own.
    cliques : sequence of sequences of ints, optional
        Further sets of nodes whose labels depend on each other, each as a list of two or
        more node numbers. What the weights of a clique tell apart is a parameter of the
        network; the order of its nodes matters there.
    clique_types : sequence of hashables, optional
        Type of each clique; types have weights of their own.
    """

    nodes: Any
    edges: Any
    edge_features: Any = None
    node_types: Any = None
    edge_types: Any = None
    cliques: Any = None
    clique_types: Any = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        shape = getattr(self.nodes, "shape", None)
        return int(shape[0]) if shape else len(self.nodes)


def grid_edges(rows: int, columns: int, neighbours: int = 4) -> tuple[Ints, Ints]:
    """Edges of a grid with nodes in row-major order, and the direction of each.

    Returns
    -------
    edges : int array (m, 2)
    directions : int array (m,)
        0 across, 1 down, and with 8 neighbours 2 falling and 3 rising diagonals.

    Examples
    --------
    >>> edges, directions = grid_edges(2, 2)
    >>> edges.tolist(), directions.tolist()
    ([[0, 1], [2, 3], [0, 2], [1, 3]], [0, 0, 1, 1])
    """
    if neighbours not in (4, 8):
        raise ValueError(f"neighbours={neighbours}: a grid has 4 or 8")
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    if neighbours == 8:
        pairs += [(at[:-1, :-1], at[1:, 1:]), (at[1:, :-1], at[:-1, 1:])]
    edges = [np.c_[a.ravel(), b.ravel()] for a, b in pairs]
    kinds = np.repeat(np.arange(len(edges)), [len(e) for e in edges])
    return np.concatenate(edges), kinds


def grid_graph(
    image: ArrayLike, neighbours: int = 4, directed: bool = True, features: Any = None
) -> Graph:
    """An image (rows, columns, d) as a graph of its pixels.

    Parameters
    ----------
    image : array (rows, columns) or (rows, columns, d)
        Features of the pixels.
    neighbours : {4, 8}
        Which pixels are joined.
    directed : bool
        Give each direction an edge type, hence weights, of its own.
    features : callable, optional
        Features of the edges from those of their ends: f(first, second) -> (m, e).

    Examples
    --------
    >>> graph = grid_graph(np.zeros((3, 4, 2)))
    >>> graph.n, len(graph.edges), sorted(set(graph.edge_types.tolist()))
    (12, 17, [0, 1])
    """
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3:
        raise ValueError(f"an image has 2 or 3 axes, this one {pixels.ndim}")
    rows, columns, width = pixels.shape
    edges, kinds = grid_edges(rows, columns, neighbours)
    nodes = pixels.reshape(rows * columns, width)
    extra = None
    if features is not None:
        extra = np.asarray(features(nodes[edges[:, 0]], nodes[edges[:, 1]]))
    return Graph(nodes, edges, extra, None, kinds if directed else None)


def graph_from_adjacency(nodes: Any, adjacency: Any, weights: bool = False) -> Graph:
    """A graph from node features and a square adjacency matrix, dense or sparse.

    Links in either direction make one edge, from the lower to the higher node; entries
    on the diagonal are left out.

    Parameters
    ----------
    nodes : array or sparse matrix (n, d)
    adjacency : array or sparse matrix (n, n)
        Non-zero where nodes are linked.
    weights : bool
        Use both entries, (u, v) and (v, u), as features of the edge.

    Examples
    --------
    >>> graph = graph_from_adjacency(np.eye(3), [[0, 1, 0], [1, 0, 0], [0, 1, 1]])
    >>> graph.edges.tolist()
    [[0, 1], [1, 2]]
    """
    if sp.issparse(adjacency):
        check_sparse(adjacency, "the adjacency matrix")
    links = sp.csr_array(adjacency)
    n = nodes.shape[0]
    if links.shape != (n, n):
        raise ValueError(
            f"the adjacency matrix has shape {links.shape}, but there are {n} nodes"
        )
    either = sp.coo_array(sp.triu(abs(links) + abs(links).T, k=1))
    order = np.lexsort((either.col, either.row))
    edges = np.c_[either.row[order], either.col[order]].astype(np.int64)
    extra = None
    if weights:
        dense = links.tocsr()
        there = np.array([dense[u, v] for u, v in edges], dtype=np.float64)
        back = np.array([dense[v, u] for u, v in edges], dtype=np.float64)
        extra = np.c_[there, back]
    return Graph(nodes, edges, extra)


def graph_from_networkx(
    graph: Any,
    features: str | Sequence[str] = "x",
    edge_features: str | Sequence[str] | None = None,
    node_type: str | None = None,
    edge_type: str | None = None,
) -> tuple[Graph, list[Any]]:
    """A graph from a networkx graph, and its nodes in the order used.

    Parameters
    ----------
    graph : networkx.Graph or DiGraph
        Self loops are left out; opposite arcs of a DiGraph make one edge.
    features, edge_features : str or sequence of str
        Names of the attributes with numbers or vectors; several stand side by side.
    node_type, edge_type : str, optional
        Names of the attributes with types.

    Examples
    --------
    >>> import networkx as nx
    >>> g = nx.Graph([("a", "b")])
    >>> g.add_nodes_from([("a", {"x": [1.0]}), ("b", {"x": [2.0]})])
    >>> made, names = graph_from_networkx(g)
    >>> made.nodes.tolist(), made.edges.tolist(), names
    ([[1.0], [2.0]], [[0, 1]], ['a', 'b'])
    """
    names = list(graph.nodes)
    place = {name: i for i, name in enumerate(names)}
    rows = [_attributes(graph.nodes[v], features, f"node {v!r}") for v in names]
    same = len({len(r) for r in rows}) <= 1
    kept: dict[tuple[int, int], Any] = {}
    for u, v, data in graph.edges(data=True):
        a, b = place[u], place[v]
        if a != b and (b, a) not in kept:
            kept[a, b] = data
    edges = np.array(list(kept), dtype=np.int64).reshape(-1, 2)
    extra = None
    if edge_features is not None:
        ends = [f"edge {names[a]!r} to {names[b]!r}" for a, b in kept]
        extra = np.array(
            [
                _attributes(data, edge_features, where)
                for data, where in zip(kept.values(), ends, strict=True)
            ]
        )
    made = Graph(
        np.array(rows) if same else rows,
        edges,
        extra,
        None if node_type is None else [graph.nodes[v][node_type] for v in names],
        None if edge_type is None else [d[edge_type] for d in kept.values()],
    )
    return made, names


def _attributes(data: Any, names: str | Sequence[str], where: str) -> Floats:
    """Attributes of a node or an edge of networkx, side by side."""
    parts = []
    for name in [names] if isinstance(names, str) else names:
        if name not in data:
            raise ValueError(
                f"{where} has no attribute {name!r}; it has "
                f"{', '.join(map(repr, data)) or 'none'}"
            )
        try:
            parts.append(real_numbers(data[name]).reshape(-1))
        except (TypeError, ValueError):
            raise ValueError(
                f"{where}: attribute {name!r} is {data[name]!r:.40}, not a number or a "
                "vector"
            ) from None
    return np.concatenate(parts) if parts else np.empty(0)


def graph_from_pyg(data: Any) -> tuple[Graph, Any]:
    """A graph from a `Data` object of PyTorch Geometric, and its labels if it has any.

    Parameters
    ----------
    data : torch_geometric.data.Data
        With `x` (n, d) and `edge_index` (2, m), and perhaps `edge_attr` and `y`. Self
        loops are left out; opposite arcs make one edge, which keeps the features of the
        first.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> arcs = np.array([[0, 1, 1], [1, 0, 2]])
    >>> data = SimpleNamespace(x=np.eye(3), edge_index=arcs, y=np.array([0, 1, 1]))
    >>> graph, labels = graph_from_pyg(data)
    >>> graph.edges.tolist(), labels.tolist()
    ([[0, 1], [1, 2]], [0, 1, 1])
    """
    nodes, arcs = (_array(getattr(data, name, None)) for name in ("x", "edge_index"))
    if nodes is None or arcs is None:
        raise ValueError("the graph of PyTorch Geometric lacks x or edge_index")
    if arcs.ndim != 2 or arcs.shape[0] != 2:
        raise ValueError(f"edge_index has shape {arcs.shape}, not (2, edges)")
    ends = np.sort(arcs.T.astype(np.int64), axis=1)
    own = np.flatnonzero(ends[:, 0] != ends[:, 1])
    _, first = np.unique(ends[own], axis=0, return_index=True)
    kept = own[np.sort(first)]
    extra = _array(getattr(data, "edge_attr", None))
    if extra is not None:
        extra = extra.reshape(len(ends), -1)[kept].astype(np.float64)
    graph = Graph(nodes.astype(np.float64), arcs.T[kept].astype(np.int64), extra)
    return graph, _array(getattr(data, "y", None))


def _array(tensor: Any) -> Any:
    """A tensor, on whatever device, as an array."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
    return None if tensor is None else np.asarray(tensor)


def full_edges(labels: int) -> Ints:
    """Every pair of labels.

    Examples
    --------
    >>> full_edges(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(labels, 1)).astype(np.int64)


def tree_edges(Y: ArrayLike) -> Ints:
    """The tree of labels with the most mutual information (Chow and Liu).

    Parameters
    ----------
    Y : array (n, labels) of 0 and 1

    Examples
    --------
    >>> tree_edges([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]]).shape
    (2, 2)
    """
    share = mutual_information(Y)
    cost = share.max() + 1.0 - share  # the spanning tree leaves zeros out
    tree = sp.coo_array(minimum_spanning_tree(np.triu(cost, 1)))
    ends = np.sort(np.c_[tree.row, tree.col], axis=1)
    return ends[np.lexsort((ends[:, 1], ends[:, 0]))].astype(np.int64)


def mutual_information(Y: ArrayLike) -> Floats:
    """Mutual information of every pair of columns of 0 and 1, in nats."""
    y = np.asarray(Y, dtype=np.float64)
    total = np.zeros((y.shape[1], y.shape[1]))
    for one in (y, 1.0 - y):
        for other in (y, 1.0 - y):
            joint = one.T @ other / len(y)
            apart = np.outer(one.mean(axis=0), other.mean(axis=0))
            with np.errstate(divide="ignore", invalid="ignore"):
                total += np.where(joint > 0, joint * np.log(joint / apart), 0.0)
    return total


def multilabel_graphs(X: Any, edges: ArrayLike, labels: int) -> list[Graph]:
    """One graph per row of X: a node per label, all with the features of the row.

    Every label is a node type and every pair an edge type: nothing is shared.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    edges : int array (m, 2)
        Pairs of labels; see `full_edges` and `tree_edges`.
    labels : int
        Number of labels.

    Examples
    --------
    >>> graphs = multilabel_graphs(np.ones((2, 5)), full_edges(3), 3)
    >>> len(graphs), graphs[0].nodes.shape, graphs[0].edge_types.tolist()
    (2, (3, 5), [0, 1, 2])
    """
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    kinds, types = np.arange(labels), np.arange(len(pairs))
    if sp.issparse(X):
        check_sparse(X, "X")
        rows = sp.csr_array(X)
        return [
            Graph(SharedRow(rows[[i]], labels), pairs, None, kinds, types)
            for i in range(rows.shape[0])
        ]
    dense = np.asarray(X, dtype=np.float64)
    return [
        Graph(np.broadcast_to(x, (labels, len(x))), pairs, None, kinds, types)
        for x in dense
    ]


def image_labels(rows: Sequence[Any], shapes: Sequence[tuple[int, int]]) -> list[Any]:
    """Label rows of grid graphs back to images."""
    return [
        np.asarray(row).reshape(shape) for row, shape in zip(rows, shapes, strict=True)
    ]


def ordered(values: Iterable[Any]) -> list[Any]:
    """Distinct values, sorted where they can be compared, else by their names."""
    distinct = set(values)
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda v: (type(v).__name__, str(v)))


def plain(values: Any) -> list[Any]:
    """Elements as Python objects, so that 1 and np.int64(1) are one label."""
    if not hasattr(values, "__iter__"):
        raise ValueError(f"{values!r:.80} is not a list of labels, one for each node")
    if isinstance(values, str | bytes):
        raise ValueError(
            f"labels of nodes are one string, {values!r:.40}: give a list, one for each node"
        )
    check_ordered(values, "labels of nodes")
    values = _array(values) if hasattr(values, "detach") else values
    if isinstance(values, np.ndarray):
        return values.ravel().tolist()
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _types(values: Any) -> list[Any]:
    """Types as Python objects; those of one letter may be written as a string."""
    return plain(list(values) if isinstance(values, str) else values)


def _converted(i: int, given: Any) -> Any:
    """Graphs of other libraries, and adjacency matrices in place of edges, as a `Graph`."""
    try:
        if hasattr(given, "edge_index"):
            return graph_from_pyg(given)[0]
        if hasattr(given, "adj") and hasattr(given, "nodes"):
            return graph_from_networkx(given)[0]
        if isinstance(given, tuple) and len(given) == 2 and sp.issparse(given[1]):
            return graph_from_adjacency(*given)
    except ValueError as wrong:
        raise ValueError(f"graph {i}: {wrong}") from wrong
    return given


def _array_of(edges: Any) -> np.ndarray:
    """Edges as an array, of objects where rows differ in length."""
    try:
        return np.asarray(edges)
    except ValueError:
        return np.asarray(edges, dtype=object)


def as_graph(i: int, given: Any) -> Graph:
    """A `Graph` from a Graph, a tuple or a graph of another library; checks its parts."""
    given = _converted(i, given)
    if isinstance(given, tuple) and given and isinstance(given[0], Graph):
        raise ValueError(
            f"graph {i}: a tuple that begins with a Graph; graph_from_networkx returns "
            "the graph and the names of its nodes: graph, names = ..."
        )
    try:
        graph = Graph(*given)
        empty = graph.n == 0
    except TypeError as wrong:
        raise ValueError(
            f"graph {i}: expected a Graph or a tuple (nodes, edges, ...), but got "
            f"{type(given).__name__}"
        ) from wrong
    if empty:
        raise ValueError(f"graph {i} has no nodes")
    edges = _array_of(graph.edges)
    if edges.size == 0:
        edges = np.empty((0, 2), np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(
            f"graph {i}: edges must be an integer array (m, 2), but have shape "
            f"{edges.shape} and type {edges.dtype}; graph_from_adjacency of "
            "maxmargin.structures.network takes a matrix of zeros and ones"
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
    return graph._replace(edges=edges, cliques=_checked_cliques(i, graph))


def _checked_cliques(i: int, graph: Graph) -> tuple[tuple[int, ...], ...]:
    """The cliques as tuples of node numbers."""
    given = [] if graph.cliques is None else list(graph.cliques)
    out = []
    for c, nodes in enumerate(given):
        own = np.asarray(nodes)
        if own.ndim != 1 or own.dtype.kind not in "iu" or len(own) < 2:
            raise ValueError(
                f"graph {i}, clique {c}: {nodes!r} is not a list of two or more node "
                "numbers"
            )
        if own.min() < 0 or own.max() >= graph.n:
            raise ValueError(
                f"graph {i}, clique {c}: {own.tolist()} leaves the graph, which has the "
                f"nodes 0 .. {graph.n - 1}"
            )
        if len(set(own.tolist())) < len(own):
            raise ValueError(
                f"graph {i}, clique {c}: {own.tolist()} has a node more than once"
            )
        out.append(tuple(own.tolist()))
    if graph.clique_types is not None and len(graph.clique_types) != len(out):
        raise ValueError(
            f"graph {i}: clique_types has {len(graph.clique_types)} entries for "
            f"{len(out)} cliques"
        )
    return tuple(out)


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
    return _types(graph.node_types)


def edge_types(graph: Graph) -> list[Hashable]:
    """Type of each edge; None is the only type where none are given."""
    if graph.edge_types is None:
        return [None] * len(graph.edges)
    return _types(graph.edge_types)


def clique_types(graph: Graph) -> list[Hashable]:
    """Type of each clique; None is the only type where none are given."""
    if graph.clique_types is None:
        return [None] * len(graph.cliques or ())
    return _types(graph.clique_types)


def widths(graph: Graph) -> list[int]:
    """Number of features of each node."""
    shape = getattr(graph.nodes, "shape", None)
    if shape is not None and len(shape) == 2:
        return [int(shape[1])] * graph.n
    return [len(np.ravel(v)) for v in graph.nodes]
