"""Weights of cliques: which joint labels are told apart.

A clique class is (clique type, node types of its nodes, in order). Its pattern says what
its weights tell apart among the joint labels of its nodes:

    "table"                    every joint label, one weight each
    "equal"                    whether all labels are equal, one weight
    ("at most", k, label)      whether at most k nodes have this label, one weight

Pattern weights count where the pattern holds. All weights of cliques come after those of
nodes and edges.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from math import prod
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Rows, pointers
from maxmargin.core.data.validation import check_distinct, check_types, require
from maxmargin.inference.graph.triangulation import MAX_TABLE
from maxmargin.structures.network.graphs.encoding import Scopes
from maxmargin.structures.network.graphs.graph import (
    Graph,
    as_graph,
    clique_types,
    node_types,
    ordered,
)
from maxmargin.structures.network.layout import Kinds, NetworkLayout

AT_MOST = "at most"


class CliqueLayout(NamedTuple):
    """Classes of cliques, and where their weights are, counted from the first of them."""

    classes: tuple[tuple[Hashable, tuple[Hashable, ...]], ...]
    map_ptr: Ints  # (classes + 1,) table entries
    map: Labels  # weight of each table entry within its class, -1 for none
    at: Ints  # (classes + 1,) first weight

    def validate(self) -> None:
        """Distinct classes; `CliqueNetwork.validate` compares the rest."""
        check_types(self)
        check_distinct(self.classes, "classes of cliques")

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.at[-1])

    def tables(self, w: Floats) -> Floats:
        """Tables of all classes, one after the other, from the weights of cliques."""
        shift = np.repeat(self.at[:-1], np.diff(self.map_ptr))
        return np.where(self.map >= 0, w[np.maximum(self.map, 0) + shift], 0.0)


def survey_cliques(
    X: Sequence[Any], kinds: Kinds, layout: NetworkLayout, patterns: Any
) -> CliqueLayout:
    """Classes and layout of the cliques of the training graphs."""
    found: set[tuple[Hashable, tuple[Hashable, ...]]] = set()
    sizes = dict(zip(kinds.types, np.diff(layout.label_ptr).tolist(), strict=True))
    for i, given in enumerate(X):
        graph = as_graph(i, given)
        own = node_types(graph)
        for c, (kind, nodes) in enumerate(
            zip(clique_types(graph), graph.cliques, strict=True)
        ):
            types = tuple(own[v] for v in nodes)
            entries = prod(sizes[t] for t in types)
            if entries > MAX_TABLE:
                raise ValueError(
                    f"graph {i}, clique {c}: its {len(nodes)} nodes have {entries:.3g} "
                    f"joint labels, more than the {MAX_TABLE:.3g} that a table may have; "
                    "split it into smaller cliques that overlap, or use edges"
                )
            found.add((kind, types))
    if isinstance(patterns, Mapping):
        unknown = [t for t in patterns if t not in {kind for kind, _ in found}]
        if unknown:
            raise ValueError(f"cliques={patterns!r}: no clique has type {unknown[0]!r}")
    return lay_out_cliques(tuple(ordered(found)), kinds, layout, patterns)


def lay_out_cliques(
    classes: tuple[tuple[Hashable, tuple[Hashable, ...]], ...],
    kinds: Kinds,
    layout: NetworkLayout,
    patterns: Any,
) -> CliqueLayout:
    """The layout that follows from the classes."""
    place = {t: q for q, t in enumerate(kinds.types)}
    maps = []
    for kind, types in classes:
        require(all(t in place for t in types), "a clique has an unknown type of node")
        sets = [_labels(kinds, layout, place[t]) for t in types]
        require(prod(map(len, sets)) <= MAX_TABLE, "a clique has too many joint labels")
        maps.append(_map(pattern_of(patterns, kind), sets))
    return CliqueLayout(
        classes,
        pointers([len(m) for m in maps]),
        np.concatenate([*maps, np.empty(0, np.int32)]).astype(np.int32),
        pointers([int(m.max(initial=-1)) + 1 for m in maps]),
    )


def pattern_of(patterns: Any, kind: Hashable) -> Any:
    """The pattern of a type of cliques, checked."""
    found = patterns.get(kind, "table") if isinstance(patterns, Mapping) else patterns
    if found in ("table", "equal"):
        return found
    plain = isinstance(found, tuple | list) and len(found) == 3 and found[0] == AT_MOST
    if not plain or not isinstance(found[1], Integral) or found[1] < 0:
        raise ValueError(
            f"cliques={found!r} is not a pattern: choose 'table', 'equal' or "
            "('at most', k, label), or a mapping from clique types to these"
        )
    return found


def _labels(kinds: Kinds, layout: NetworkLayout, t: int) -> list[Hashable]:
    codes = layout.label[layout.label_ptr[t] : layout.label_ptr[t + 1]]
    return [kinds.classes[c] for c in codes]


def _map(pattern: Any, sets: list[list[Hashable]]) -> Labels:
    """Weight of each joint label."""
    if pattern == "table":
        return np.arange(prod(map(len, sets)), dtype=np.int32)
    if pattern == "equal":
        held = [len(set(joint)) == 1 for joint in product(*sets)]
        return np.where(held, 0, -1).astype(np.int32)
    _, most, label = pattern
    if not any(label in own for own in sets):
        raise ValueError(
            f"cliques={pattern!r}: {label!r} is not a label of these nodes"
        )
    few = [joint.count(label) <= most for joint in product(*sets)]
    return np.where(few, 0, -1).astype(np.int32)


def encode_cliques(X: Sequence[Any], cliques: CliqueLayout) -> Scopes:
    """The cliques of the graphs as flat arrays; their classes must be known."""
    known = {c: q for q, c in enumerate(cliques.classes)}
    sizes, widths, nodes, kinds = [], [], [], []
    for i, given in enumerate(X):
        graph: Graph = as_graph(i, given)
        own = node_types(graph)
        for c, (kind, scope) in enumerate(
            zip(clique_types(graph), graph.cliques, strict=True)
        ):
            found = known.get((kind, tuple(own[v] for v in scope)))
            if found is None:
                raise ValueError(
                    f"graph {i}, clique {c}: no clique of type {kind!r} over "
                    f"{len(scope)} nodes of these types was seen in training"
                )
            kinds.append(found)
            widths.append(len(scope))
            nodes += list(scope)
        sizes.append(len(graph.cliques))
    return Scopes(
        pointers(sizes),
        pointers(widths),
        np.array(nodes, dtype=np.int64),
        np.array(kinds, dtype=np.int64),
    )


def clique_names(
    cliques: CliqueLayout, kinds: Kinds, layout: NetworkLayout, patterns: Any
) -> list[str]:
    """Names of the weights of cliques."""
    place = {t: q for q, t in enumerate(kinds.types)}
    names: list[str] = []
    for kind, types in cliques.classes:
        prefix = "clique:" if kind is None else f"clique {kind}:"
        pattern = pattern_of(patterns, kind)
        if pattern == "table":
            sets = [_labels(kinds, layout, place[t]) for t in types]
            names += [prefix + "-".join(map(str, joint)) for joint in product(*sets)]
        elif pattern == "equal":
            names.append(f"{prefix}equal")
        else:
            names.append(f"{prefix}at most {pattern[1]} {pattern[2]}")
    return names


def beside(first: Rows, second: Rows) -> Rows:
    """Rows with the entries of both."""
    sizes, more = np.diff(first.ptr), np.diff(second.ptr)
    ptr = pointers(sizes + more)
    idx, val = np.empty(ptr[-1], np.int32), np.empty(ptr[-1])
    left = np.arange(len(first.idx)) + np.repeat(ptr[:-1] - first.ptr[:-1], sizes)
    shift = ptr[:-1] + sizes - second.ptr[:-1]
    right = np.arange(len(second.idx)) + np.repeat(shift, more)
    idx[left], val[left] = first.idx, first.val
    idx[right], val[right] = second.idx, second.val
    return Rows(ptr, idx, val)
