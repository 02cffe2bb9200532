"""Single labels, perhaps with a taxonomy above them.

score(y) = scores[y],   or with a taxonomy  sum over the nodes z at or above y  scores[z]
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cost_matrix,
    named_loss,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    Table,
    check_finite,
    main_table,
    named_tables,
)
from maxmargin.structures.classes.taxonomy import Taxonomy


@dataclass(frozen=True)
class Classes(ScoreStructure):
    """One of several classes.

    Table: "scores" (rows, classes), or (rows, nodes) with a taxonomy: see `nodes`.
    Outputs: classes (rows,). Losses: "zero-one", "taxonomy" (height of the first common
    ancestor), or costs (classes, classes), [true, said].

    Parameters
    ----------
    classes : sequence, optional
        Names of the classes; needed with a taxonomy.
    taxonomy : mapping or pairs, optional
        Parents of nodes, as in `maxmargin.MulticlassSVM`: scores belong to nodes.

    Examples
    --------
    >>> pets = Classes(("cat", "dog", "fly"), {"cat": "pet", "dog": "pet"})
    >>> pets.nodes
    ('fly', 'pet', 'cat', 'dog')
    >>> pets.best([[0.9, 0.5, 0.2, 0.5]]).outputs.tolist()
    [1]
    """

    classes: tuple[Hashable, ...] | None = None
    taxonomy: Any = field(default=None, hash=False)

    tables: ClassVar[tuple[str, ...]] = ("scores",)
    losses: ClassVar[tuple[str, ...]] = ("zero-one", "taxonomy")

    def __post_init__(self) -> None:
        """A taxonomy needs names."""
        if self.taxonomy is not None and self.classes is None:
            raise ValueError("taxonomy needs classes=(...), the names of the classes")

    @cached_property
    def _tree(self) -> Taxonomy | None:
        if self.taxonomy is None or self.classes is None:
            return None
        tree = Taxonomy.of(self.taxonomy)
        missing = [(c, None) for c in self.classes if c not in tree]
        if not missing:
            return tree
        pairs = [
            (node, tree.nodes[p] if p is not None else None)
            for node, parents in zip(tree.nodes, tree.parents, strict=True)
            for p in (parents or (None,))
        ]
        return Taxonomy.of(missing + pairs)

    @cached_property
    def _features(self) -> tuple[Floats, tuple[Hashable, ...]] | None:
        if self._tree is None or self.classes is None:
            return None
        return self._tree.features(self.classes)

    @property
    def nodes(self) -> tuple[Hashable, ...] | None:
        """What the columns of the table stand for."""
        return self.classes if self._features is None else self._features[1]

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """There are no others."""
        return {}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the table."""
        named = named_tables(scores, self.tables)
        main = main_table(named["scores"], "scores", 2, "(rows, classes)")
        if self.nodes is not None and main.shape[1] != len(self.nodes):
            raise ValueError(
                f"scores has {main.shape[1]} columns, but there are {len(self.nodes)} "
                f"{'nodes' if self._features is not None else 'classes'}"
            )
        if mask is not None:
            raise ValueError("classes take no mask: give forbidden ones the score -inf")
        check_finite(main, lambda b: main[b], "scores")
        return ScoreBatch((main,), np.ones((len(main), 1), np.int64))

    def class_scores(self, batch: ScoreBatch) -> Floats:
        """Scores of the classes, (rows, classes); `batch.extra` adds to them."""
        scores: Floats = np.asarray(batch.main, np.float64)
        if self._features is not None:
            above = self._features[0]
            if np.isfinite(scores).all():
                scores = scores @ above.T
            else:
                scores = np.where(above[None] > 0, scores[:, None], 0.0).sum(axis=2)
        return scores if batch.extra is None else scores + batch.extra

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Numbers of classes."""
        array = np.asarray(target)
        k = self.class_scores(batch).shape[1]
        if array.shape != (batch.rows,) or array.dtype.kind not in "iu":
            raise ValueError(f"target must hold {batch.rows} whole numbers")
        bad = np.flatnonzero((array < 0) | (array >= k))
        if len(bad):
            raise ValueError(
                f"row {bad[0]}: class {array[bad[0]]} of the target is not one of 0 .. {k - 1}"
            )
        rows = Ragged.single(array)
        return rows

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Classes (rows,)."""
        return rows.data.astype(np.int64)

    def unpadded(self, batch: ScoreBatch, outputs: Any) -> list[Any]:
        """Classes one by one."""
        return [int(y) for y in outputs]

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """The largest score."""
        scores = self.class_scores(batch)
        return Ragged.single(scores.argmax(axis=1)), scores.max(axis=1)

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """The largest scores, in order."""
        out = []
        for row in self.class_scores(batch):
            order = np.argsort(-row, kind="stable")[:n]
            order = order[row[order] > -np.inf]
            out.append((Ragged.single(order), row[order]))
        return out

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Score of the best class with each node."""
        scores = self.class_scores(batch)
        if self._features is None:
            return scores
        above = self._features[0] > 0
        return np.where(above[None], scores[:, :, None], -np.inf).max(axis=1)

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Softmax."""
        scores = self.class_scores(batch)
        top = scores.max(axis=1)
        power = np.exp(scores - np.where(np.isfinite(top), top, 0.0)[:, None])
        total = power.sum(axis=1)
        p = factor[:, None] * power / total[:, None]
        above = self._features
        with np.errstate(divide="ignore"):
            log_z = top + np.log(total)
        return log_z, (p if above is None else p @ above[0],)

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """The class, or its nodes."""
        k = batch.main.shape[1]
        if self._features is None:
            each = np.arange(rows.n)
            return (Cells(each, each * k + rows.data),)
        row, node = np.nonzero(self._features[0][rows.data])
        return (Cells(row, row * k + node),)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Costs of classes are no costs of nodes: see `find_augmented`."""
        if isinstance(loss, str) and named_loss(loss, self.losses) == "taxonomy":
            if self._tree is None or self.classes is None:
                raise ValueError("loss='taxonomy' needs Classes(..., taxonomy=...)")
            table = self._tree.heights(self.classes)
        else:
            k = self.class_scores(batch).shape[1]
            given = cost_matrix(loss, k, "classes")
            table = 1.0 - np.eye(k) if given is None else given
        change = table[truth.data]
        k, zeros = len(table), np.zeros(batch.rows)
        none = zeros.astype(np.int64)
        index = np.arange(batch.rows * k)
        return Costs(index, change.ravel(), zeros, zeros, none, none)

    def class_costs(self, batch: ScoreBatch, costs: Costs) -> Floats:
        """Costs by row and class."""
        return costs.change.reshape(batch.rows, -1)

    def find_augmented(
        self, batch: ScoreBatch, costs: Costs, n_jobs: int = 1
    ) -> tuple[Ragged, Floats]:
        """The largest sum of score and cost."""
        total = self.class_scores(batch) + self.class_costs(batch, costs)
        return Ragged.single(total.argmax(axis=1)), total.max(axis=1)
