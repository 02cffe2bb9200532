"""What SMO on the factored dual asks of a structure.

The dual variables are marginals of nodes and edges (and of cliques), so the structure
must show its scores as tables over these, and move w along a direction in the marginals.
The types of these capabilities (tables, plans, directions) belong to inference, so
they have a file of their own beside those of `core.structure`.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.structure import Augment
from maxmargin.inference.graph.cliques import Cliques
from maxmargin.inference.graph.decode import GraphPlan
from maxmargin.inference.graph.tables import GraphTables
from maxmargin.inference.marginals.compiled_ascent import Ascent
from maxmargin.inference.marginals.directions import Direction


@runtime_checkable
class Factored(Protocol):
    """Scores that are sums over nodes and edges, as tables that SMO can read."""

    @property
    def inference(self) -> str:
        """How the best labelling is found: a method of `inference.graph.decode`."""

    def plan(self, x: Any) -> GraphPlan:
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


@runtime_checkable
class CliqueFactors(Protocol):
    """Scores that also have tables over more than two nodes."""

    def factors(self, x: Any, ids: Ints, w: Floats) -> Cliques:
        """Tables of the cliques of the graphs `ids`."""


@runtime_checkable
class CompiledAscent(Protocol):
    """Many steps of SMO on a forest in one compiled call."""

    def ascend(
        self, x: Any, ids: Ints, w: Floats, ascent: Ascent, steps: int, share: float,
        slack: Floats,
    ) -> float:  # fmt: skip
        """Several steps on each graph; what the loss term of the dual gained."""
