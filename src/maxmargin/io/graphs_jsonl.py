"""Graphs as JSON lines: one graph per line.

    {"nodes": [[0.2, 1.0], [0.4, 0.0]],      features of each node, all of one length
     "edges": [[0, 1]],                      pairs of node numbers, from 0
     "labels": ["up", "down"],               one per node; absent: not known
     "edge_features": [[1.5]],               optional, one row per edge
     "node_types": ["word", "tag"],          optional, text or integers
     "edge_types": ["next"],                 optional
     "cliques": [[0, 1, 2]],                 optional, lists of two or more node numbers
     "clique_types": ["line"],               optional
     "id": "graph 7"}                        optional, and further keys are kept

Nodes of one type have features of one length; with `node_types` lengths may differ.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.io.text import FormatError, numbered_lines, open_text

KEYS = ("nodes", "edges", "edge_features", "node_types", "edge_types")
CLIQUES = ("cliques", "clique_types")


def read_graphs(
    path: str | Path,
) -> tuple[list[tuple[Any, ...]], list[Any], list[dict[str, Any]]]:
    """X, y for `NetworkSVM`, and the records themselves.

    Returns
    -------
    X : list of tuples (nodes, edges, edge_features, node_types, edge_types)
        Graphs with cliques have two more entries: cliques, clique_types.
    y : list
        Labels of the nodes; None for graphs without.
    records : list of dict
        The lines as they are.
    """
    X: list[tuple[Any, ...]] = []
    y: list[Any] = []
    records: list[dict[str, Any]] = []
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, number, f"not JSON ({error})") from None
        try:
            X.append(graph_of(record))
            y.append(_labels(record))
        except (ValueError, TypeError, OverflowError) as error:
            raise FormatError(path, number, str(error)) from None
        records.append(record)
    return X, y, records


def graph_of(record: Any) -> tuple[Any, ...]:
    """One graph as `NetworkSVM` takes it, from an object with the keys above."""
    if not isinstance(record, dict) or not {"nodes", "edges"} <= record.keys():
        raise ValueError('a graph is an object with "nodes" and "edges"')
    rows = record["nodes"]
    if not isinstance(rows, list) or not all(isinstance(r, list) for r in rows):
        raise ValueError('"nodes" is not a list of lists of numbers')
    nodes: Any = [_numbers(row, f"node {v}") for v, row in enumerate(rows)]
    if len({len(row) for row in nodes}) == 1:
        nodes = np.stack(nodes)
    edges = [_pair(e, pair, len(rows)) for e, pair in enumerate(_list(record, "edges"))]
    features = record.get("edge_features")
    if features is not None:
        table = _list(record, "edge_features")
        given = [_numbers(row, f"edge {e}") for e, row in enumerate(table)]
        if len(given) != len(edges) or len({len(row) for row in given}) > 1:
            raise ValueError('"edge_features" needs rows of one length, one per edge')
        features = np.stack(given) if given else None
    types = [
        _types(record, name, size)
        for name, size in (("node_types", len(rows)), ("edge_types", len(edges)))
    ]
    if record.get("cliques") is not None:
        cliques = _cliques(record, len(rows))
        types += [cliques, _types(record, "clique_types", len(cliques))]
    elif record.get("clique_types") is not None:
        raise ValueError('there are "clique_types", but no "cliques"')
    return nodes, np.array(edges, np.int64).reshape(-1, 2), features, *types


def _cliques(record: dict[str, Any], n: int) -> list[list[int]]:
    found = _list(record, "cliques")
    for c, nodes in enumerate(found):
        several = isinstance(nodes, list) and len(nodes) >= 2
        if not several or not all(type(v) is int and 0 <= v < n for v in nodes):
            raise ValueError(
                f"clique {c} is {nodes!r:.60}, not two or more of the {n} nodes"
            )
    return found


def _list(record: dict[str, Any], name: str) -> list[Any]:
    items = record[name]
    if not isinstance(items, list):
        raise ValueError(f'"{name}" is not a list')
    return items


def _numbers(row: Any, where: str) -> np.ndarray:
    good = isinstance(row, list) and all(
        type(v) in (int, float) and math.isfinite(v) for v in row
    )
    if not good:
        raise ValueError(f"the features of {where} are not finite numbers")
    return np.array(row, dtype=np.float64)


def _pair(e: int, pair: Any, n: int) -> list[int]:
    two = isinstance(pair, list) and len(pair) == 2
    if two and all(type(v) is int and 0 <= v < n for v in pair):
        return [int(v) for v in pair]
    raise ValueError(f"edge {e} is {pair!r:.60}, not two of the {n} nodes")


def _types(record: dict[str, Any], name: str, size: int) -> list[Any] | None:
    if record.get(name) is None:
        return None
    kinds = _list(record, name)
    if len(kinds) != size or not all(type(k) in (str, int) for k in kinds):
        raise ValueError(f'"{name}" is not a list of {size} names')
    return kinds


def _labels(record: dict[str, Any]) -> list[Any] | None:
    if record.get("labels") is None:
        return None
    labels = _list(record, "labels")
    if len(labels) != len(record["nodes"]):
        raise ValueError(f"{len(record['nodes'])} nodes, but {len(labels)} labels")
    if not all(type(v) in (str, int, bool) for v in labels):
        raise ValueError("labels are neither text nor integers")
    return labels


def write_graphs(
    path: str | Path, X: Iterable[Sequence[Any]], y: Iterable[Any] | None = None
) -> None:
    """Write graphs, with labels where they are known."""
    graphs = list(X)
    labels = [None] * len(graphs) if y is None else list(y)
    with open_text(path, "wt") as file:
        for graph, own in zip(graphs, labels, strict=True):
            record = {
                key: _plain(part)
                for key, part in zip(KEYS + CLIQUES, graph)
                if part is not None
            }
            if own is not None:
                record["labels"] = _plain(own)
            file.write(json.dumps(record) + "\n")


def _plain(part: Any) -> Any:
    if sp.issparse(part):
        part = part.toarray()
    if isinstance(part, np.ndarray | np.generic):
        return part.tolist()
    return [_plain(p) if not isinstance(p, str | int | float) else p for p in part]
