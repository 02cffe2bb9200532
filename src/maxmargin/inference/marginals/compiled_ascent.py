"""What a compiled ascent on the marginals of forests works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints


class Forests(NamedTuple):
    """What does not change between visits, for all graphs."""

    order: Ints  # (nodes,) every node after its parent
    parent: Ints  # (nodes,) edge to the parent, -1 for roots
    label_ptr: Ints  # (nodes + 1,) labels of each node in `cost` and the marginals
    edge_ptr: Ints  # (m + 1,) where the marginals of each edge start
    cost: Floats  # loss of each label
    true: np.ndarray  # (nodes,) int32
    mass: Floats  # (graphs,)


class Work(NamedTuple):
    """Scratch space for the largest graph."""

    score: Floats  # (labels,)
    up: Floats  # (labels,)
    change: Floats  # (labels,) of the marginals since the visit began
    choice: np.ndarray  # (nodes, most labels) int32
    high: np.ndarray  # (nodes,) int32: y1
    low: np.ndarray  # (nodes,) int32: y2
    gram: Floats  # (nodes, nodes)
    tally: Floats  # (table entries,) of edge parameters, zero between calls


class Ascent(NamedTuple):
    """What a compiled ascent works on: the graphs, their marginals, scratch space."""

    forests: Forests
    node: Floats  # marginals of nodes, like `Forests.cost`
    edge: Floats  # marginals of edges
    work: Work
