"""What SMO on the factored dual asks of a structure.

The dual variables are marginals of nodes and edges, so the structure must show its
scores as tables over nodes and edges, and move w along a direction in the marginals.
These two capabilities stand here, and not in `core.structure`, because their types
(tables, plans, directions) belong to inference.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.structure import Augment
from maxmargin.inference.graph.decode import Plan
from maxmargin.inference.graph.tables import GraphTables
from maxmargin.inference.marginals.directions import Direction


@runtime_checkable
class Factored(Protocol):
    """Scores that are sums over nodes and edges, as tables that SMO can read."""

    @property
    def inference(self) -> str:
        """How the best labelling is found: a method of `inference.graph.decode`."""

    def plan(self, x: Any) -> Plan:
        """How inference treats each graph."""

    def tables(self, x: Any, ids: Ints, w: Floats) -> GraphTables:
        """Scores of labels and label pairs of the graphs `ids`."""

    def augmented(
        self, x: Any, ids: Ints, tables: GraphTables, augment: Augment
    ) -> GraphTables:
        """Tables with weight * loss added to the scores of labels."""

    def local_labels(self, x: Any, ids: Ints, labels: Ragged) -> Labels:
        """Labels as places in the label sets of their nodes."""

    def transfer(
        self,
        x: Any,
        ids: Ints,
        w: Floats,
        tables: GraphTables,
        way: Direction,
        gain: Floats,
    ) -> Floats:
        """Move mass along `way`, w with it; how far each group of nodes went."""


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


@runtime_checkable
class CompiledAscent(Protocol):
    """Many steps of SMO on a forest in one compiled call."""

    def ascend(
        self, x: Any, ids: Ints, w: Floats, ascent: Ascent, steps: int, share: float,
        slack: Floats,
    ) -> float:  # fmt: skip
        """Several steps on each graph; what the loss term of the dual gained."""
