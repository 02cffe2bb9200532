"""What every structure of scores can do, and what one has to provide for it.

An output chooses cells of the score tables, and its score is their sum:

    score(y) = sum over tables  <table, indicator(y)>.

So one interface serves chains, trees, alignments, graphs, matchings and classes: the
best output, the n best, the best with each cell, sums over all outputs, and the output
that violates the margin most. The indicator tables are also the derivatives of the
score, which is all that a gradient needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.decode.machinery.batch import ScoreBatch, Scores, Table, over_rows
from maxmargin.decode.machinery.cell_loops import (
    add_changes,
    add_factors_to_cells,
    add_scores_of_cells,
    cut,
    pad,
    spread_costs,
)
from maxmargin.inference import hypergraph
from maxmargin.inference.hypergraph import Hypergraph

NO_WEIGHT: Floats = np.empty(0)


class Decoded(NamedTuple):
    """Best outputs of a batch."""

    outputs: Any  # an array padded with -1, or a list: see the structure
    score: Floats  # (rows,)
    bound: Floats  # (rows,) no output scores more; equal to `score` if exact


class NBest(NamedTuple):
    """The best outputs of each row, best first."""

    outputs: list[list[Any]]
    score: list[Floats]


class Marginals(NamedTuple):
    """Log of the sum of exp(score), and its derivatives by table."""

    log_z: Floats  # (rows,)
    tables: dict[str, Table]


class Cells(NamedTuple):
    """Cells of one table that outputs choose, each perhaps with a weight."""

    row: Ints  # (cells,) row of the batch
    place: Ints  # (cells,) in the flat table
    weight: Floats | None = None


class Costs(NamedTuple):
    """A loss that is a sum over cells of the main table.

    loss(y) = constant + sum of `change` over the listed cells that y chooses
    """

    place: Ints  # (cells,) in the flat main table
    change: Floats  # (cells,)
    constant: Floats  # (rows,)
    unit: Floats  # (rows,) every change is a whole number of these; 0: there is none
    low: Ints  # (rows,) no part of an output changes the loss by fewer units
    high: Ints  # (rows,) or by more


class ScoreStructure(ABC):
    """A kind of output, defined by its scores.

    Subclasses are frozen dataclasses. `scores` is an array, the first of `tables`, or
    a mapping with that and others by name; tables that are not given are zero. `mask`
    is True at valid positions, or gives the length of each row.
    """

    tables: ClassVar[tuple[str, ...]]
    losses: ClassVar[tuple[str, ...]] = ("hamming", "zero-one")
    exact: ClassVar[bool] = True  # whether `find_best` returns the score itself

    # What a subclass provides.

    @abstractmethod
    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Shape of the other tables when shared by all rows: layer parameters."""

    @abstractmethod
    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check scores and mask."""

    @abstractmethod
    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """One row of integers for each target; refuses those that are not outputs."""

    @abstractmethod
    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Any:
        """Rows of integers as outputs of the batch."""

    @abstractmethod
    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Best row of each, and a bound on its score (the score itself if exact)."""

    @abstractmethod
    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Cells that each output chooses, table by table."""

    @abstractmethod
    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Write a loss by name as costs of cells."""

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph | None:
        """All outputs of row b, its cells numbered as in `flat_scores`; None: no."""
        return None

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Any:
        """Output of row b that chooses these cells of `flat_scores`."""
        raise NotImplementedError

    def find_nbest(
        self, batch: ScoreBatch, n: int, n_jobs: int = 1
    ) -> list[tuple[Ragged, Floats]]:
        """The n best rows of each, or all, with their scores."""

        def task(first: int, last: int) -> list[tuple[Ragged, Floats]]:
            found = []
            for b in range(first, last):
                graph = self._graph(batch, b)
                cells, score = hypergraph.k_best(graph, self.flat_scores(batch, b), n)
                rows = [self.row_of(batch, b, cells.row(r)) for r in range(cells.n)]
                found.append((Ragged.pack(rows), score))
            return found

        return [one for part in over_rows(batch.rows, task, n_jobs) for one in part]

    def find_max_marginals(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Score of the best output with each cell of the main table."""
        out = np.full(batch.main.shape, -np.inf)

        def task(first: int, last: int) -> None:
            for b in range(first, last):
                found = hypergraph.max_marginals(
                    self._graph(batch, b), self.flat_scores(batch, b)
                )
                out[b] = found[: out[b].size].reshape(out[b].shape)

        over_rows(batch.rows, task, n_jobs)
        return out

    def log_partition(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Log of the sum of exp(score) over all outputs of each row."""
        return self.weighted_marginals(batch, np.zeros(batch.rows), n_jobs)[0]

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Log Z, and the gradient of sum_b factor[b] * log Z_b by table."""
        log_z = np.zeros(batch.rows)
        out = tuple(np.zeros(a.shape) for a in batch.arrays)

        def task(first: int, last: int) -> list[Floats]:
            found = []
            for b in range(first, last):
                log_z[b], grad = hypergraph.sum_product(
                    self._graph(batch, b), self.flat_scores(batch, b)
                )
                found.append(factor[b] * grad)
            return found

        grads = [g for part in over_rows(batch.rows, task, n_jobs) for g in part]
        for b, grad in enumerate(grads):
            self._scatter(batch, b, grad, out)
        return log_z, out

    def label_count(self) -> int | None:
        """Number of labels, where the structure knows it without scores."""
        return None

    # What all of them share.

    def best(self, scores: Scores, mask: Any = None, n_jobs: int = 1) -> Decoded:
        """Best output of each row."""
        batch = self.read(scores, mask)
        rows, bound = self.find_best(batch, n_jobs)
        self.check_found(bound)
        score = bound if self.exact else self.row_scores(batch, rows)
        return Decoded(self.outputs(batch, rows), score, bound)

    def nbest(self, scores: Scores, n: int, mask: Any = None, n_jobs: int = 1) -> NBest:
        """The n best outputs of each row, or all if there are fewer."""
        batch = self.read(scores, mask)
        whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
        if not whole or n < 1:
            raise ValueError(f"n={n!r}: a whole number of outputs from 1 on is needed")
        found = self.find_nbest(batch, n, n_jobs)
        outputs = []
        for b, (rows, _) in enumerate(found):
            one = self.one_row(batch, b, rows.n)
            outputs.append(self.unpadded(one, self.outputs(one, rows)))
        return NBest(outputs, [score for _, score in found])

    def max_marginals(
        self, scores: Scores, mask: Any = None, n_jobs: int = 1
    ) -> Floats:
        """Like the main table: score of the best output that has each cell."""
        batch = self.read(scores, mask)
        return self.as_given(batch, self.find_max_marginals(batch, n_jobs))

    def marginals(self, scores: Scores, mask: Any = None, n_jobs: int = 1) -> Marginals:
        """Probabilities of all cells under exp(score) / Z, and log Z."""
        batch = self.read(scores, mask)
        log_z, tables = self.weighted_marginals(batch, np.ones(batch.rows), n_jobs)
        self.check_found(log_z)
        shown = [self.as_given(batch, table) for table in tables]
        return Marginals(log_z, dict(zip(self.tables, shown, strict=True)))

    def score(self, scores: Scores, target: Any, mask: Any = None) -> Floats:
        """Score of the given outputs."""
        batch = self.read(scores, mask)
        return self.read_target(batch, target)[1]

    def indicators(
        self, scores: Scores, target: Any, mask: Any = None
    ) -> dict[str, Table]:
        """How often the given outputs choose each cell, by table."""
        batch = self.read(scores, mask)
        rows, _ = self.read_target(batch, target)
        out = tuple(np.zeros(a.shape) for a in batch.arrays)
        self.add_indicators(batch, rows, np.ones(batch.rows), out)
        shown = [self.as_given(batch, table) for table in out]
        return dict(zip(self.tables, shown, strict=True))

    # Steps that other modules use.

    def as_given(self, batch: ScoreBatch, table: Any) -> Any:
        """A table like one of the batch in the shape in which it was handed over."""
        return table

    def read_target(self, batch: ScoreBatch, target: Any) -> tuple[Ragged, Floats]:
        """Rows of the targets and their scores; refuses those that are forbidden."""
        rows = self.encode(batch, target)
        value = self.row_scores(batch, rows)
        for b in np.flatnonzero(value == -np.inf).tolist():
            raise ValueError(self.why_forbidden(batch, rows, b))
        return rows, value

    def why_forbidden(self, batch: ScoreBatch, rows: Ragged, b: int) -> str:
        """Say what is forbidden in the target of row b."""
        return f"row {b}: the target chooses something with the score -inf"

    def main_cells(self, batch: ScoreBatch, rows: Ragged) -> Cells:
        """Cells of the main table that each output chooses."""
        return self.cells(batch, rows)[0]

    def row_scores(self, batch: ScoreBatch, rows: Ragged) -> Floats:
        """Score of each row of integers."""
        out = np.zeros(batch.rows)
        for table, cells in zip(batch.arrays, self.cells(batch, rows), strict=True):
            weight = NO_WEIGHT if cells.weight is None else cells.weight
            add_scores_of_cells(table.reshape(-1), cells.row, cells.place, weight, out)
        return out

    def add_indicators(
        self, batch: ScoreBatch, rows: Ragged, factor: Floats, out: Sequence[Table]
    ) -> None:
        """Add factor[b] times the indicator of row b to tables like those of `batch`."""
        for table, cells in zip(out, self.cells(batch, rows), strict=True):
            weight = NO_WEIGHT if cells.weight is None else cells.weight
            add_factors_to_cells(
                table.reshape(-1), cells.row, cells.place, weight, factor
            )

    def find_augmented(
        self, batch: ScoreBatch, costs: Costs, n_jobs: int = 1
    ) -> tuple[Ragged, Floats]:
        """Maximise score + loss: the row, and a bound on that sum."""
        main = batch.main.copy()
        add_changes(main.reshape(-1), costs.place, costs.change)
        rows, bound = self.find_best(batch.with_main(main), n_jobs)
        return rows, bound + costs.constant

    def flat_scores(self, batch: ScoreBatch, b: int) -> Floats:
        """Scores of row b, table after table, in float64."""
        parts = [
            np.asarray(a[b] if own else a, dtype=np.float64).ravel()
            for a, own in zip(batch.arrays, self.own_rows(batch), strict=True)
        ]
        return np.concatenate(parts)

    def own_rows(self, batch: ScoreBatch) -> tuple[bool, ...]:
        """Whether each table has a row for each row of the batch."""
        shapes = self.side_shapes(batch.main.shape)
        return (
            True,
            *(
                a.ndim > len(shapes[name])
                for name, a in zip(self.tables[1:], batch.arrays[1:], strict=True)
            ),
        )

    def one_row(self, batch: ScoreBatch, b: int, times: int = 1) -> ScoreBatch:
        """Row b as a batch of its own, repeated."""
        take = np.full(times, b)
        arrays = tuple(
            a[take] if own else a
            for a, own in zip(batch.arrays, self.own_rows(batch), strict=True)
        )
        return batch._replace(arrays=arrays, sizes=batch.sizes[take])

    def unpadded(self, batch: ScoreBatch, outputs: Any) -> list[Any]:
        """Outputs one by one, arrays without their padding."""
        if isinstance(outputs, list):
            return outputs
        return [row[row >= 0] for row in outputs]

    def check_found(self, value: Floats) -> None:
        """Refuse rows for which every output is forbidden."""
        bad = np.flatnonzero(~(value > -np.inf))
        if len(bad):
            raise ValueError(
                f"row {bad[0]}: no output is allowed; its scores of -inf, with the "
                "mask or scheme, forbid all of them"
            )

    def _graph(self, batch: ScoreBatch, b: int) -> Hypergraph:
        graph = self.hypergraph(batch, b)
        if graph is None:
            raise NotImplementedError(
                f"{type(self).__name__} has no sum over all outputs that can be "
                "computed exactly: use the hinge, the perceptron, perturbation or "
                "SparseMAP"
            )
        return graph

    def _scatter(
        self, batch: ScoreBatch, b: int, flat: Floats, out: Sequence[Table]
    ) -> None:
        """Add a vector like `flat_scores` of row b to the tables."""
        at = 0
        for table, own in zip(out, self.own_rows(batch), strict=True):
            place = table[b] if own else table
            place += flat[at : at + place.size].reshape(place.shape)
            at += place.size


def position_costs(
    batch: ScoreBatch, truth: Cells, counts: Ints, cost: Floats | None = None
) -> Costs:
    """Hamming loss: one per position whose cell is not the true one.

    Every output chooses one cell per position, so it is the number of positions less
    one per true cell. With a `cost` table (choices, choices) the main table is (rows,
    positions, choices) and every cell has its cost.
    """
    ones = np.ones(batch.rows)
    if cost is None:
        return Costs(
            truth.place, np.full(len(truth.place), -1.0), counts.astype(np.float64),
            ones, -counts, np.zeros(batch.rows, np.int64),
        )  # fmt: skip
    k = len(cost)
    unit, most = _units(cost.tobytes(), k)
    place = np.empty(k * len(truth.place), np.int64)
    change, high = np.empty(len(place)), np.zeros(batch.rows, np.int64)
    spread_costs(truth.row, truth.place, cost, most, place, change, high)
    none: Ints = np.zeros(batch.rows, np.int64)
    return Costs(place, change, 0.0 * ones, unit * ones, none, high)


@lru_cache(maxsize=16)
def _units(cost: bytes, k: int) -> tuple[float, Ints]:
    """Smallest unit of a cost matrix; the largest cost of each true choice in units."""
    table = np.frombuffer(cost).reshape(k, k)
    unit = smallest_unit(table)
    if unit == 0.0:
        return unit, np.zeros(k, np.int64)
    return unit, np.rint(table / unit).astype(np.int64).max(axis=1)


def smallest_unit(cost: Floats) -> float:
    """A number of which all costs are whole multiples; 0.0 if none is found."""
    positive = cost[cost > 0]
    if len(positive) == 0:
        return 1.0
    for parts in range(1, 25):
        unit = float(positive.min()) / parts
        if np.abs(positive / unit - np.rint(positive / unit)).max() < 1e-9:
            return unit
    return 0.0


def cost_matrix(loss: Any, k: int, what: str) -> Floats | None:
    """A (k, k) cost matrix if `loss` is one; None for a name."""
    if isinstance(loss, str):
        return None
    cost = np.ascontiguousarray(loss, dtype=np.float64)
    if cost.shape != (k, k):
        raise ValueError(f"loss has shape {cost.shape}, but there are {k} {what}")
    _check_costs(cost.tobytes(), k)
    return cost


@lru_cache(maxsize=16)
def _check_costs(cost: bytes, k: int) -> None:
    """Refuse what is no cost; a matrix that has passed is not checked again."""
    table = np.frombuffer(cost).reshape(k, k)
    if not (table.min(initial=0.0) >= 0.0 and table.max(initial=0.0) < np.inf):
        raise ValueError("loss: costs must be finite and not negative")
    if table.diagonal().any():
        raise ValueError("loss: costs must be 0 on the diagonal")


def named_loss(loss: Any, known: Sequence[str]) -> str:
    """The name of a loss, if it is one of the structure's."""
    if not isinstance(loss, str) or loss not in known:
        raise ValueError(f"loss={loss!r} is not one of {', '.join(map(repr, known))}")
    return loss


def padded_rows(rows: Ragged, width: int) -> Ints:
    """Rows as (rows, width), -1 behind each."""
    return pad(*rows, width)


def cut_rows(padded: Any, sizes: Ints) -> Ragged:
    """The first sizes[b] entries of each row of an array."""
    return Ragged(*cut(np.ascontiguousarray(padded), np.ascontiguousarray(sizes)))


def target_tuples(target: Any, batch: ScoreBatch, width: int, what: str) -> list[Ints]:
    """Lists of `width` whole numbers, one list per row, as tables (tuples, width)."""
    if isinstance(target, str) or not isinstance(target, Sequence | np.ndarray):
        raise ValueError(
            f"target must be a list with a list of {what} for each row, not {target!r:.60}"
        )
    if len(target) != batch.rows:
        raise ValueError(f"{len(target)} targets for {batch.rows} rows of scores")
    tables = []
    for b, row in enumerate(target):
        try:
            each = row if isinstance(row, np.ndarray) else list(row)
            table = np.asarray(each) if len(each) else np.zeros((0, width), np.int64)
        except (TypeError, ValueError):  # no list, or tuples of several lengths
            table = np.zeros(0)
        if table.ndim != 2 or table.shape[1] != width or table.dtype.kind not in "iu":
            raise ValueError(
                f"row {b}: the target must be a list of {what}, whole numbers, not "
                f"{row!r:.80}"
            )
        tables.append(table.astype(np.int64))
    return tables


def target_rows(
    target: Any, batch: ScoreBatch, choices: Ints | int, what: str
) -> Ragged:
    """Integers (rows, positions) as targets; those in the padding do not count."""
    width, sizes = batch.main.shape[1], batch.sizes[:, 0]
    if isinstance(target, (list, tuple)):
        for b, row in enumerate(target):
            if np.ndim(row) == 1 and len(row) != sizes[b] and len(row) != width:
                raise ValueError(
                    f"row {b}: {len(row)} {what}s in the target, but {sizes[b]} positions"
                )
        full = np.zeros((len(target), width), np.int64)
        for b, row in enumerate(target):
            whole = np.asarray(row)
            if len(whole) and whole.dtype.kind not in "iu":
                raise ValueError(
                    f"row {b}: {row!r:.80} holds {what}s that are not whole"
                )
            full[b, : len(whole)] = whole
        target = full
    array = np.asarray(target)
    if array.shape != (batch.rows, width):
        raise ValueError(
            f"target has shape {array.shape}, but the scores want ({batch.rows}, {width})"
        )
    if array.dtype.kind not in "iu":
        raise ValueError(f"target must hold whole numbers, not {array.dtype}")
    rows = cut_rows(array, sizes)
    if rows.data.min(initial=0) >= 0 and rows.data.max(initial=0) < np.min(choices):
        return rows
    limit = np.repeat(np.broadcast_to(choices, batch.rows), sizes)
    bad = np.flatnonzero((rows.data < 0) | (rows.data >= limit))
    if len(bad):
        b = int(np.searchsorted(rows.ptr, bad[0], "right")) - 1
        raise ValueError(
            f"row {b}, position {bad[0] - rows.ptr[b]}: {what} {rows.data[bad[0]]} of the "
            f"target is not one of 0 .. {limit[bad[0]] - 1}"
        )
    return rows
