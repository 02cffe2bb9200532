"""Class taxonomies: trees and lattices above the classes.

A taxonomy is a set of nodes Z with a partial order; the classes are some of its nodes.

    lambda_z(y) = beta_z  if z = y or z is above y, else 0      (output features)
    loss(y, y') = height of the first common ancestor of y and y'

The height of a node is the longest way down from it. In a lattice the first common
ancestor is the lowest of them; classes that have none meet in an implied root above
everything. Nodes above every class add the same to every score and are left out.

Label paths, as HiClass has them, are rows of names from the top down:
``["animal", "pet", "cat"]``. A node is then named by its whole path,
``"animal::pet::cat"``, because the same name may occur in several places.

[1] Tsochantaridis et al. 2005, sections 4.2.1 and 5.1.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.validation import (
    check_distinct,
    check_types,
    is_missing,
    require,
)

Node = Hashable
SEPARATOR = "::"  # between the names of a path, as in HiClass


@dataclass(frozen=True)
class Taxonomy:
    """Nodes with their parents, parents first.

    Use `Taxonomy.of` to make one.

    Parameters
    ----------
    nodes : tuple of hashable
        Names, every node after all of its parents.
    parents : tuple of tuple of int
        Positions of the parents of each node; none for a top node.

    Examples
    --------
    >>> tree = Taxonomy.of({"cat": "pet", "dog": "pet", "pet": "animal",
    ...                     "fly": "animal"})
    >>> tree.heights(["cat", "dog", "fly"]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    >>> features, nodes = tree.features(["cat", "dog", "fly"])
    >>> nodes
    ('pet', 'fly', 'cat', 'dog')
    >>> features.tolist()
    [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    """

    nodes: tuple[Node, ...]
    parents: tuple[tuple[int, ...], ...]

    def validate(self) -> None:
        """Distinct nodes, each after its parents."""
        check_types(self)
        check_distinct(self.nodes, "nodes of the taxonomy")
        require(len(self.parents) == len(self.nodes), "a node lacks its parents")
        for z, parents in enumerate(self.parents):
            require(all(0 <= p < z for p in parents), f"node {z} is before a parent")

    @classmethod
    def of(cls, spec: Any) -> Taxonomy:
        """From any of the usual ways to write one down.

        Parameters
        ----------
        spec : Taxonomy, mapping, networkx.DiGraph or iterable of pairs
            A mapping from each node to its parent, or to a list of its parents in a
            lattice (None: no parent); pairs (node, parent); a nested mapping from each
            node to what is below it, ``{"a": {"b": {}, "c": ["d", "e"]}}``; or a
            directed graph of networkx, whose edges go from parents to children.

        Raises
        ------
        ValueError
            If nodes lie above themselves; the cycle is named.
        """
        if isinstance(spec, Taxonomy):
            return spec
        return cls(*_sorted(_table(_pairs(spec))))

    @classmethod
    def from_paths(cls, paths: Iterable[Any]) -> Taxonomy:
        """From label paths, one row of names per example, from the top down.

        Shorter paths may be padded by "" or None, as in HiClass. The classes are what
        `join_paths` makes of the rows.

        Examples
        --------
        >>> paths = [["animal", "cat"], ["animal", "dog"], ["plant", ""]]
        >>> Taxonomy.from_paths(paths).nodes
        ('animal', 'plant', 'animal::cat', 'animal::dog')
        """
        pairs: list[tuple[Node, Any]] = []
        for label in dict.fromkeys(join_paths(paths)):
            names = label.split(SEPARATOR)
            above = [SEPARATOR.join(names[:d]) for d in range(1, len(names) + 1)]
            pairs += zip(above, [None, *above[:-1]], strict=True)
        return cls.of(pairs)

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` with edges from parents to children.

        Examples
        --------
        >>> list(Taxonomy.of({"cat": "pet", "dog": "pet"}).to_networkx().edges)
        [('pet', 'cat'), ('pet', 'dog')]
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        for node, parents in zip(self.nodes, self.parents, strict=True):
            graph.add_edges_from((self.nodes[p], node) for p in parents)
        return graph

    def __contains__(self, node: Node) -> bool:
        """Whether there is a node of this name."""
        return node in self.nodes

    def above(self) -> np.ndarray:
        """Boolean (nodes, nodes): row z has its ancestors and itself."""
        out = np.eye(len(self.nodes), dtype=bool)
        for z, parents in enumerate(self.parents):
            for parent in parents:
                out[z] |= out[parent]
        return out

    def height(self) -> Floats:
        """Longest way down from each node; 0 at the leaves."""
        out = np.zeros(len(self.nodes))
        for z in range(len(self.nodes) - 1, -1, -1):
            for parent in self.parents[z]:
                out[parent] = max(out[parent], out[z] + 1.0)
        return out

    def heights(self, classes: Sequence[Node]) -> Floats:
        """Loss table: height of the first common ancestor of each pair of classes.

        Parameters
        ----------
        classes : sequence of k nodes

        Returns
        -------
        array (k, k), zero on the diagonal
        """
        at, height = self._places(classes), self.height()
        above = self.above()[at]
        out = np.full((len(at), len(at)), height.max() + 1.0)
        for z in np.argsort(-height, kind="stable"):
            below = np.flatnonzero(above[:, z])
            out[np.ix_(below, below)] = height[z]
        np.fill_diagonal(out, 0.0)
        return out

    def answer_costs(
        self, classes: Sequence[Node], cost: float
    ) -> tuple[tuple[Node, ...], Floats]:
        """What each node costs as an answer where each class is true.

            cost(z, y) = cost * height(z)                       if z is y or above y
                         height of the first common ancestor    otherwise

        With `cost` below one it pays to stop at an inner node where the classes below it
        are about equally likely; with one, answers are always classes.

        Parameters
        ----------
        classes : sequence of k nodes
        cost : float
            Of each level that an answer leaves open, from 0 to 1.

        Returns
        -------
        tuple of m nodes, array (m, k)
            The classes, then all other nodes above a class, lowest first.

        Examples
        --------
        >>> tree = Taxonomy.of({"cat": "pet", "dog": "pet", "fly": None})
        >>> nodes, costs = tree.answer_costs(["cat", "dog", "fly"], 0.25)
        >>> nodes[3], costs[3].tolist()
        ('pet', [0.25, 0.25, 2.0])
        """
        if not 0.0 <= cost <= 1.0:
            raise ValueError(
                f"cost={cost!r}: what a level left open costs must be from 0 to 1"
            )
        at, height = self._places(classes), self.height()
        above = self.above()
        used = np.flatnonzero(above[at].any(axis=0))
        inner = np.setdiff1d(used, at)
        inner = inner[np.argsort(height[inner], kind="stable")]
        order = [*at, *inner.tolist()]
        nodes = tuple(self.nodes[z] for z in order)
        table = self.heights(nodes)[:, : len(at)]
        right = above[at][:, order].T  # answers above, or equal to, the true class
        return nodes, np.where(right, cost * height[order][:, None], table)

    def paths(self, labels: Iterable[Node], root: bool = False) -> list[list[Node]]:
        """Each label with all nodes above it, from the top down.

        Parameters
        ----------
        labels : iterable of nodes
        root : bool
            Whether a node above all others is listed; measures leave it out.

        Examples
        --------
        >>> tree = Taxonomy.of({"cat": "pet", "pet": "top", "fly": "top"})
        >>> tree.paths(["cat", "fly"])
        [['pet', 'cat'], ['fly']]
        """
        above = self.above()
        if not root:
            above[:, above.all(axis=0)] = False
        rows = above[self._places(list(labels))]
        return [[self.nodes[z] for z in np.flatnonzero(row)] for row in rows]

    def features(
        self, classes: Sequence[Node], node_weights: Any = None
    ) -> tuple[Floats, tuple[Node, ...]]:
        """Lambda of each class, and the nodes behind its columns.

        Parameters
        ----------
        classes : sequence of k nodes
        node_weights : mapping, optional
            beta_z of nodes by name; 1 where absent.

        Returns
        -------
        array (k, z), tuple of z nodes
        """
        above = self.above()[self._places(classes)]
        used = np.flatnonzero(above.any(axis=0) & ~above.all(axis=0))
        values = above[:, used] * self._weights(node_weights)[used]
        return np.ascontiguousarray(values), tuple(self.nodes[z] for z in used)

    def _places(self, classes: Sequence[Node]) -> list[int]:
        place = {node: z for z, node in enumerate(self.nodes)}
        missing = [c for c in classes if c not in place]
        if missing:
            raise ValueError(
                f"class {missing[0]!r} has no node in the taxonomy"
                + (f" (nor have {len(missing) - 1} others)" if missing[1:] else "")
            )
        return [place[c] for c in classes]

    def _weights(self, node_weights: Any) -> Floats:
        out = np.ones(len(self.nodes))
        if node_weights is None:
            return out
        if not isinstance(node_weights, Mapping):
            raise ValueError("node_weights must map names of nodes to weights")
        place = {node: z for z, node in enumerate(self.nodes)}
        for node, weight in node_weights.items():
            if node not in place:
                raise ValueError(f"node_weights: the taxonomy has no node {node!r}")
            if not np.isfinite(weight) or weight < 0:
                raise ValueError(
                    f"node_weights[{node!r}] is {weight}: weights must be finite and "
                    "not negative"
                )
            out[place[node]] = float(weight)
        return out


def join_paths(paths: Iterable[Any]) -> list[str]:
    """Label paths as single labels, for `fit`; see `Taxonomy.from_paths`.

    Examples
    --------
    >>> join_paths([["animal", "cat"], ["plant", ""]])
    ['animal::cat', 'plant']
    """
    out = []
    for i, path in enumerate(paths):
        if isinstance(path, str) or not isinstance(path, Iterable):
            raise ValueError(
                f"path {i} is {path!r}: a row of names from the top down is needed"
            )
        row = [None if is_missing(v) or v == "" else str(v) for v in path]
        size = row.index(None) if None in row else len(row)
        names = [name for name in row[:size] if name is not None]
        if size == 0:
            raise ValueError(f"path {i} is empty")
        if any(name is not None for name in row[size:]):
            raise ValueError(f"path {i}, level {size}: a name is missing in the middle")
        wrong = [d for d, name in enumerate(names) if SEPARATOR in name]
        if wrong:
            raise ValueError(
                f"path {i}, level {wrong[0]}: {names[wrong[0]]!r} has {SEPARATOR!r} in it"
            )
        out.append(SEPARATOR.join(names))
    return out


def split_paths(labels: Iterable[str]) -> np.ndarray:
    """Predicted labels as label paths (n, levels), padded by "" as in HiClass.

    Examples
    --------
    >>> split_paths(["animal::cat", "plant"]).tolist()
    [['animal', 'cat'], ['plant', '']]
    """
    rows = [str(label).split(SEPARATOR) for label in labels]
    levels = max(map(len, rows), default=0)
    table = [row + [""] * (levels - len(row)) for row in rows]
    return np.array(table, dtype=object).reshape(len(rows), levels)


def _networkx_pairs(graph: Any) -> Iterator[tuple[Node, Any]]:
    if not graph.is_directed():
        raise ValueError(
            "taxonomy: this graph of networkx has no directions: give a DiGraph with "
            "edges from parents to children"
        )
    yield from ((node, None) for node in graph.nodes)
    yield from ((child, parent) for parent, child in graph.edges())


def _pairs(spec: Any) -> Iterator[tuple[Node, Any]]:
    """(node, parent) for every edge; parent None for nodes without."""
    networkx: Any = sys.modules.get("networkx")  # loaded, if spec is one of its graphs
    if networkx is not None and isinstance(spec, networkx.Graph):
        yield from _networkx_pairs(spec)
        return
    if isinstance(spec, Mapping):
        if any(map(_holds_mapping, spec.values())):
            yield from _nested(spec, None)
            return
        for node, parents in spec.items():
            several = isinstance(parents, list | tuple | set | frozenset)
            for parent in sorted(parents, key=str) if several else [parents]:
                yield node, parent
        return
    if isinstance(spec, str) or not isinstance(spec, Iterable):
        raise ValueError(
            f"taxonomy={spec!r}: give a mapping from nodes to parents, a nested "
            "mapping, pairs (node, parent), or a DiGraph of networkx"
        )
    for i, pair in enumerate(spec):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"taxonomy: item {i}, {pair!r}, is not (node, parent)")
        yield pair[0], pair[1]


def _holds_mapping(value: Any) -> bool:
    several = isinstance(value, list | tuple)
    return isinstance(value, Mapping) or (
        several and any(isinstance(part, Mapping) for part in value)
    )


def _nested(spec: Any, parent: Node | None) -> Iterator[tuple[Node, Any]]:
    """Nodes of nested mappings; a list holds leaves, or further mappings."""
    for node, below in spec.items():
        yield node, parent
        leaves = isinstance(below, list | tuple | set | frozenset)
        for part in below if leaves else [below]:
            if isinstance(part, Mapping):
                yield from _nested(part, node)
            elif part is not None:
                yield part, node


def _table(pairs: Iterable[tuple[Node, Any]]) -> dict[Node, list[Node]]:
    """Parents of every node that occurs on either side, each once."""
    out: dict[Node, list[Node]] = {}
    for node, parent in pairs:
        mine = out.setdefault(node, [])
        if parent is not None and parent not in mine:
            mine.append(parent)
            out.setdefault(parent, [])
    if not out:
        raise ValueError("the taxonomy has no nodes")
    return out


def _sorted(
    table: dict[Node, list[Node]],
) -> tuple[tuple[Node, ...], tuple[tuple[int, ...], ...]]:
    """Nodes in the order of their depth, parents first; refuses cycles."""
    left = {node: set(parents) for node, parents in table.items()}
    nodes: list[Node] = []
    while left:
        free = [node for node, waits in left.items() if not waits]
        if not free:
            raise ValueError(f"the taxonomy has a cycle: {_cycle(left)}")
        for node in free:
            del left[node]
        for waits in left.values():
            waits.difference_update(free)
        nodes.extend(free)
    place = {node: z for z, node in enumerate(nodes)}
    return tuple(nodes), tuple(tuple(place[p] for p in table[z]) for z in nodes)


def _cycle(left: dict[Node, set[Node]]) -> str:
    """One cycle among the nodes left, each of which waits for a parent."""
    way = [next(iter(left))]
    while True:
        parent = min((p for p in left[way[-1]] if p in left), key=str)
        if parent in way:
            way = [*way[way.index(parent) :], parent]
            return " -> ".join(map(str, way))
        way.append(parent)
