"""Orders of items: the best order sorts by score.

    score(h) = mean over pairs (a before b) of  scores[a] - scores[b]

A target is the relevance of each item. The loss compares an order with it, so it is
no sum over cells but over pairs or places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    named_loss,
    padded_rows,
    target_rows,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    check_finite,
    main_table,
    named_tables,
    row_sizes,
)
from maxmargin.decode.matching import Matching
from maxmargin.inference.orders import best_interleaving, place_weights


@dataclass(frozen=True)
class Ranking(ScoreStructure):
    """Orders of the items of each row.

    Table: "scores" (rows, items). Outputs: items (rows, items), best first, -1 behind
    each row. Targets: grades (rows, items), whole numbers, 0 for what is not relevant.
    Losses: "pairs", mean over all pairs of the difference of grades of those in the
    wrong order; "average-precision" and "roc-area", one minus these, for grades above
    zero against zero; "zero-one", an order that puts a lower grade first.

    Examples
    --------
    >>> Ranking().best([[0.1, 0.9, 0.4]]).outputs.tolist()
    [[1, 2, 0]]
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)
    losses: ClassVar[tuple[str, ...]] = (
        "pairs", "average-precision", "roc-area", "zero-one",
    )  # fmt: skip

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """There are no others."""
        return {}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the table."""
        named = named_tables(scores, self.tables)
        main = main_table(named["scores"], "scores", 2, "(rows, items)")
        sizes = row_sizes(mask, *main.shape)
        check_finite(main, lambda b: main[b, : sizes[b]], "scores")
        for b in range(len(main)):
            if (main[b, : sizes[b]] == -np.inf).any():
                raise ValueError(f"row {b}: a score is -inf; mask items out instead")
        return ScoreBatch((main,), sizes[:, None])

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """The order by grade, of equals by score: the true order that scores most."""
        grades = self.grades(batch, target)
        rows = []
        for b in range(batch.rows):
            n = batch.sizes[b, 0]
            rows.append(np.lexsort((-batch.main[b, :n], -grades.row(b))))
        return Ragged.pack(rows)

    def grades(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Grades of the items."""
        return target_rows(target, batch, np.iinfo(np.int32).max, "grade")

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Items in order."""
        return padded_rows(rows, batch.main.shape[1])

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Sort."""
        rows = []
        for b in range(batch.rows):
            values = batch.main[b, : batch.sizes[b, 0]]
            rows.append(np.argsort(-values, kind="stable"))
        packed = Ragged.pack(rows)
        return packed, self.row_scores(batch, packed)

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Items, weighted by their place."""
        row = np.repeat(np.arange(rows.n), rows.sizes)
        weight = [np.zeros(0), *(place_weights(int(n)) for n in rows.sizes)]
        index = row * batch.main.shape[1] + rows.data
        return (Cells(row, index, np.concatenate(weight)),)

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Losses of orders are no sums over cells."""
        raise NotImplementedError("see find_worst")

    def loss_value(self, order: Labels, grades: Labels, loss: str) -> float:
        """Loss of one order against grades."""
        name = named_loss(loss, self.losses)
        g = grades[order].astype(np.float64)
        if name in ("pairs", "zero-one"):
            lost = np.triu(np.maximum(g[None] - g[:, None], 0.0)).sum()
            pairs = max(len(g) * (len(g) - 1) / 2, 1.0)
            return float(lost > 0) if name == "zero-one" else float(lost / pairs)
        seen = g > 0
        before = np.cumsum(~seen)[seen]
        cost = placing_costs(name, int(seen.sum()), int((~seen).sum()))
        return float(cost[np.arange(len(before)), before].sum())

    def find_worst(self, batch: ScoreBatch, grades: Ragged, loss: Any) -> Ragged:
        """Order that maximises score + loss, for each row."""
        name = named_loss(loss, self.losses)
        rows = []
        for b in range(batch.rows):
            s = batch.main[b, : batch.sizes[b, 0]].astype(np.float64)
            g = grades.row(b)
            if name == "pairs":
                # Swapping a pair costs its difference in grades and twice that in score.
                rows.append(np.argsort(-(s - 0.5 * g), kind="stable"))
            elif name == "zero-one":
                rows.append(_best_wrong_order(s, g))
            else:
                rows.append(_interleaved(s, g > 0, name))
        return Ragged.pack(rows)

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """Items to places: a matching with scores item * place."""
        found = []
        for b in range(batch.rows):
            table = self._places(batch, b)
            ((columns, score),) = Matching().find_nbest(table, n, n_jobs)
            orders = [np.argsort(columns.row(k)) for k in range(columns.n)]
            found.append((Ragged.pack(orders), score))
        return found

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """(rows, items, places): the best order with each item at each place."""
        N = batch.main.shape[1]
        out = np.full((batch.rows, N, N), -np.inf)
        for b in range(batch.rows):
            n = int(batch.sizes[b, 0])
            table = self._places(batch, b)
            out[b, :n, :n] = Matching().find_max_marginals(table, n_jobs)[0]
        return out

    def _places(self, batch: ScoreBatch, b: int) -> ScoreBatch:
        n = int(batch.sizes[b, 0])
        values = batch.main[b, :n].astype(np.float64)
        return Matching().read((values[:, None] * place_weights(n))[None])


def placing_costs(name: str, relevant: int, others: int) -> Floats:
    """Cost of the i-th relevant item after j others, (relevant, others + 1).

    Examples
    --------
    >>> placing_costs("average-precision", 1, 2).round(3).tolist()
    [[0.0, 0.5, 0.667]]
    """
    j = np.arange(others + 1.0)
    if name == "roc-area":
        return np.tile(j / max(relevant * others, 1), (relevant, 1))
    i = np.arange(1.0, relevant + 1.0)[:, None]
    return (1.0 - i / (i + j)) / max(relevant, 1)


def _interleaved(scores: Floats, relevant: Any, name: str) -> Ints:
    order = np.argsort(-scores, kind="stable")
    good, bad = order[relevant[order]], order[~relevant[order]]
    cost = placing_costs(name, len(good), len(bad))
    weights = place_weights(len(scores))
    _, seen = best_interleaving(scores[good], scores[bad], weights, cost)
    out = np.empty_like(order)
    out[seen], out[~seen] = good, bad
    return out


def _best_wrong_order(scores: Floats, grades: Labels) -> Ints:
    """The best order in which some pair of different grades is in the wrong order.

    It follows the scores but for one pair at most: in an order by score, if that is
    right, exchanging a pair of neighbours of different grades costs least.
    """
    order = np.lexsort((grades, -scores))  # of equal scores the lower grade first
    g = grades[order]
    if (np.diff(g) > 0).any() or len(g) < 2:
        return order
    s, step = scores[order], np.flatnonzero(np.diff(g) < 0)
    if len(step) == 0:
        return order
    k = int(step[np.argmin(s[step] - s[step + 1])])
    out = order.copy()
    out[k], out[k + 1] = order[k + 1], order[k]
    return out
