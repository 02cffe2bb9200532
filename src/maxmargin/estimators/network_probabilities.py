"""Scores of the labels of each node, the other nodes being labelled as predicted.

    s(v, k) = unary(v, k) + sum over edges (v, u) of pairwise(k, label of u)

up to a number that all labels of a node share, this is the score of the prediction with
label k at node v. After calibration, p(k at v) ~ exp(s(v, k) / T).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.inference.graph.tables import GraphTables, spans
from maxmargin.structures.network.structure import Network


def conditional_scores(tables: GraphTables, labels: Labels) -> Floats:
    """s(v, k) of all labels of all nodes, laid out as ``tables.unary``.

    Examples
    --------
    >>> t = GraphTables.of([[0.0, 1.0], [2.0, 0.0]], [[0, 1]], [[[3.0, 0.0], [0.0, 4.0]]])
    >>> conditional_scores(t, np.array([0, 1])).tolist()
    [0.0, 5.0, 5.0, 0.0]
    """
    out = np.array(tables.unary, dtype=np.float64)
    first, second = tables.edges[:, 0], tables.edges[:, 1]
    sizes = np.stack([tables.n_labels[first], tables.n_labels[second]], axis=1)
    for a, b in np.unique(sizes, axis=0).reshape(-1, 2).tolist():
        of = np.flatnonzero((sizes == (a, b)).all(axis=1))
        start, u, v = tables.pair_ptr[of], first[of], second[of]
        rows, cols = np.arange(a), np.arange(b)
        to_first = tables.pairwise[(start + labels[v])[:, None] + b * rows]
        to_second = tables.pairwise[(start + b * labels[u])[:, None] + cols]
        np.add.at(out, tables.label_ptr[u][:, None] + rows, to_first)
        np.add.at(out, tables.label_ptr[v][:, None] + cols, to_second)
    return out


def node_scores(structure: Network, x: Any, ids: Ints, w: Floats) -> Floats:
    """(nodes, K) over the labels of all types; those of other types have -inf."""
    found = structure.argmax(x, ids, w).labels
    tables = structure.tables(x, ids, w)
    local = structure.local_labels(x, ids, found)
    flat = conditional_scores(tables, local)
    sizes = tables.n_labels
    node = np.repeat(np.arange(tables.n_nodes), sizes)
    inside = np.arange(len(flat)) - tables.label_ptr[node]
    out = np.full((tables.n_nodes, structure.label_count()), -np.inf)
    layout = structure.layout
    assert layout is not None  # of a bound structure
    kind = x.node_type[spans(x.node_ptr, ids)[0]][node]
    out[node, layout.label[layout.label_ptr[kind] + inside]] = flat
    return out
