"""Label sequences: emissions, transitions, first and last labels, label triples.

score(y) = start[y_1] + end[y_L] + sum_t emissions[t, y_t]
         + sum_t transitions[y_{t-1}, y_t]  (+ triples[y_{t-2}, y_{t-1}, y_t])
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, check_ordered
from maxmargin.decode.machinery.base import (
    Cells,
    Costs,
    ScoreStructure,
    cost_matrix,
    cut_rows,
    named_loss,
    padded_rows,
    position_costs,
    target_rows,
)
from maxmargin.decode.machinery.batch import (
    ScoreBatch,
    Scores,
    Table,
    check_finite,
    main_table,
    named_tables,
    over_rows,
    row_sizes,
    side_table,
)
from maxmargin.decode.sequences.legal_labels import legal_tables
from maxmargin.inference.chain.score_tables import (
    ScoreTables,
    add_chain_indicators,
    add_chain_scores,
    best_chains,
    best_triples,
    chain_cells,
    chain_hypergraph,
    label_cells,
    sum_chains,
)
from maxmargin.inference.hypergraph import Hypergraph

NO_TRIPLES: Floats = np.zeros((0, 0, 0))


@dataclass(frozen=True)
class Chain(ScoreStructure):
    """Label sequences.

    Tables: "emissions" (rows, tokens, labels); "transitions" (labels, labels), or
    (rows, tokens - 1, labels, labels); "start" and "end" (labels,); with order 2
    "triples" (labels, labels, labels). Outputs: integers (rows, tokens), -1 behind each
    row. Losses: "hamming", "zero-one", or costs (labels, labels), [true, said].

    Parameters
    ----------
    order : int, default=1
        1: scores of label pairs; 2: of label triples, too.
    labels : sequence, optional
        Names of the labels, in the order of the table: needed for a scheme.
    scheme : str, optional
        "bio" (IOB2), "iob1", "bioes" or "bilou": outputs obey it.
    allowed : set of pairs or array (labels, labels), optional
        Which label may follow which.

    Examples
    --------
    >>> names = ("O", "B-PER", "I-PER")
    >>> chain = Chain(labels=names, scheme="bio")
    >>> scores = np.array([[[0.0, 1.0, 3.0], [0.0, 0.5, 2.0], [1.0, 0.0, 0.0]]])
    >>> [names[k] for k in chain.best(scores).outputs[0]]
    ['B-PER', 'I-PER', 'O']
    >>> chain.nbest(scores, 2).score[0].tolist()
    [4.0, 3.0]
    """

    order: int = 1
    labels: tuple[Hashable, ...] | None = None
    scheme: str | None = None
    allowed: Any = field(default=None, hash=False)

    tables: ClassVar[tuple[str, ...]] = (
        "emissions", "transitions", "triples", "start", "end",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuse orders that are not there and schemes without names."""
        if self.order not in (1, 2):
            raise ValueError(f"order={self.order!r} is not 1 or 2")
        if self.scheme is not None and self.labels is None:
            raise ValueError(f"scheme={self.scheme!r} needs labels=(...), their names")
        if self.labels is None:
            return
        check_ordered(self.labels, "labels")
        if any(not isinstance(label, Hashable) for label in self.labels):
            raise ValueError(
                "labels must be names, as in ['O', 'B-PER', 'I-PER']; scores of pairs of "
                "labels are given as transitions=.."
            )
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"labels={self.labels!r} has a name twice")
        _ = self._legal  # refuses unknown schemes, and labels that do not fit theirs

    @cached_property
    def _legal(self) -> tuple[Floats, Floats, Floats] | None:
        """What is legal among the labels that have names."""
        names = self.labels or ()
        return legal_tables(names, len(names), self.scheme, self.allowed)

    def label_count(self) -> int | None:
        """Number of names."""
        return None if self.labels is None else len(self.labels)

    def side_shapes(self, main: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Transitions, first and last labels, triples."""
        k = main[-1]
        triples = (k, k, k) if self.order == 2 else (0,)
        return {"transitions": (k, k), "triples": triples, "start": (k,), "end": (k,)}

    def read(self, scores: Scores, mask: Any = None) -> ScoreBatch:
        """Check the tables; what is illegal gets -inf."""
        named = named_tables(scores, self.tables)
        main = main_table(named["emissions"], "emissions", 3, "(rows, tokens, labels)")
        b, t, k = main.shape
        if self.labels is not None and len(self.labels) != k:
            raise ValueError(
                f"emissions has scores of {k} labels, but {len(self.labels)} have names"
            )
        sizes = row_sizes(mask, b, t)
        check_finite(main, lambda r: main[r, : sizes[r]], "emissions")
        shapes = self.side_shapes(main.shape)
        wide = ((k, k), (b, t - 1, k, k))
        transitions = side_table(named.get("transitions"), "transitions", wide)
        triples = side_table(named.get("triples"), "triples", (shapes["triples"],))
        start = side_table(named.get("start"), "start", ((k,),))
        end = side_table(named.get("end"), "end", ((k,),))
        legal = (
            self._legal if self.labels else legal_tables(None, k, None, self.allowed)
        )
        if legal is not None:
            transitions = transitions + legal[0]
            start, end = start + legal[1], end + legal[2]
        return ScoreBatch((main, transitions, triples, start, end), sizes[:, None])

    def encode(self, batch: ScoreBatch, target: Any) -> Ragged:
        """Labels as they are."""
        return target_rows(target, batch, batch.main.shape[2], "label")

    def why_forbidden(self, batch: ScoreBatch, rows: Ragged, b: int) -> str:
        """Say which label of row b may not stand where it does."""
        row = rows.row(b)
        names = self.labels or tuple(range(batch.main.shape[2]))
        _, _, _, start, end = batch.arrays
        said = [repr(names[k]) for k in row]
        if start[row[0]] == -np.inf:
            return f"row {b}: no sequence may begin with {said[0]}"
        if end[row[-1]] == -np.inf:
            return f"row {b}: no sequence may end with {said[-1]}"
        pairs = self._four(batch)
        for t in range(len(row)):
            if batch.main[b, t, row[t]] == -np.inf:
                return f"row {b}, token {t}: {said[t]} has the score -inf"
            table = pairs[min(b, len(pairs) - 1), min(t - 1, pairs.shape[1] - 1)]
            if t > 0 and table[row[t - 1], row[t]] == -np.inf:
                return f"row {b}, token {t}: {said[t]} may not follow {said[t - 1]}"
        return f"row {b}: the target holds a label triple with score -inf"

    def outputs(self, batch: ScoreBatch, rows: Ragged) -> Ints:
        """Integers (rows, tokens)."""
        return padded_rows(rows, batch.main.shape[1])

    def _four(self, batch: ScoreBatch) -> Table:
        """Transitions as (1 or rows, 1 or tokens - 1, K, K)."""
        table, (_, T, K) = batch.arrays[1], batch.main.shape
        if table.ndim == 2 or T == 1:  # of one token there are no transitions
            return np.zeros((1, 1, K, K)) if T == 1 else table.reshape(1, 1, K, K)
        return table

    def find_best(self, batch: ScoreBatch, n_jobs: int = 1) -> tuple[Ragged, Floats]:
        """Viterbi."""
        main, _, triples, start, end = batch.arrays
        sizes, pairs = batch.sizes[:, 0].copy(), self._four(batch)
        labels = np.empty(main.shape[:2], np.int32)
        value = np.empty(batch.rows)

        def task(first: int, last: int) -> None:
            if self.order == 1:
                best_chains(first, last, main, sizes, pairs, start, end, labels, value)
            else:
                best_triples(
                    first, last, main, sizes, pairs, triples, start, end, labels, value
                )

        over_rows(batch.rows, task, n_jobs, self._work(batch), apart=True)
        return cut_rows(labels, sizes), value

    def _work(self, batch: ScoreBatch) -> float:
        """Nanoseconds of Viterbi's algorithm, about: some of each token, and additions."""
        additions = batch.main.shape[2] ** (self.order + 1)
        return float(batch.sizes.sum()) * (20 + 0.08 * additions)

    def cells(self, batch: ScoreBatch, rows: Ragged) -> tuple[Cells, ...]:
        """Labels, label pairs and triples, the first and the last label."""
        _, T, K = batch.main.shape
        ptr, data = rows
        by_row = batch.arrays[1].ndim == 4
        row, label, own, pair, last, triple = chain_cells(ptr, data, T, K, by_row)
        if self.order == 1:
            last, triple = last[:0], triple[:0]
        each = np.arange(rows.n)
        return (
            Cells(row, label),
            Cells(own, pair),
            Cells(last, triple),
            Cells(each, data[ptr[:-1]].astype(np.int64)),
            Cells(each, data[ptr[1:] - 1].astype(np.int64)),
        )

    def main_cells(self, batch: ScoreBatch, rows: Ragged) -> Cells:
        """Labels."""
        row, place = np.empty((2, len(rows.data)), np.int64)
        label_cells(*rows, *batch.main.shape[1:], row, place)
        return Cells(row, place)

    def row_scores(self, batch: ScoreBatch, rows: Ragged) -> Floats:
        """All tables in one pass over the labels."""
        out = np.zeros(batch.rows)
        tables = self._five(batch.arrays)
        add_chain_scores(*rows, *tables[:3], self.order, *tables[3:], out)
        return out

    def add_indicators(
        self, batch: ScoreBatch, rows: Ragged, factor: Floats, out: Sequence[Table]
    ) -> None:
        """All tables in one pass over the labels."""
        tables = self._five(out)
        add_chain_indicators(*rows, factor, *tables[:3], self.order, *tables[3:])

    def _five(self, arrays: Sequence[Table]) -> tuple[Table, ...]:
        """Tables with transitions as (1 or rows, 1 or tokens - 1, K, K)."""
        main, pairs, triples, start, end = arrays
        K = main.shape[2]
        if self.order == 1:
            triples = NO_TRIPLES
        if pairs.ndim == 2:
            pairs = pairs.reshape(1, 1, K, K)
        return main, pairs, triples, start, end

    def costs(self, batch: ScoreBatch, truth: Ragged, loss: Any) -> Costs:
        """Hamming, or a cost matrix [true label, label]."""
        cost = cost_matrix(loss, batch.main.shape[2], "labels")
        if cost is None:
            named_loss(loss, self.losses)
        return position_costs(
            batch, self.main_cells(batch, truth), batch.sizes[:, 0], cost
        )

    def hypergraph(self, batch: ScoreBatch, b: int) -> Hypergraph:
        """Tokens from left to right."""
        K = batch.main.shape[2]
        sizes = [a[b].size if own else a.size for a, own in zip(
            batch.arrays, self.own_rows(batch), strict=True)]  # fmt: skip
        at = np.cumsum(sizes)[:-1].tolist()
        step = K * K if batch.arrays[1].ndim == 4 else 0
        return chain_hypergraph(int(batch.sizes[b, 0]), K, self.order, step, tuple(at))

    def row_of(self, batch: ScoreBatch, b: int, cells: Labels) -> Labels:
        """Labels of the chosen emissions."""
        K = batch.main.shape[2]
        own = np.sort(cells[cells < batch.main[b].size])
        return own % K

    def log_partition(self, batch: ScoreBatch, n_jobs: int = 1) -> Floats:
        """Forward algorithm."""
        if self.order == 2:
            return super().log_partition(batch, n_jobs)
        log_z = np.empty(batch.rows)
        args = self._sum_arguments(batch)
        work = 2 * self._work(batch)
        over_rows(batch.rows, lambda a, z: sum_chains(a, z, args, log_z), n_jobs, work)
        return log_z

    def weighted_marginals(
        self, batch: ScoreBatch, factor: Floats, n_jobs: int = 1
    ) -> tuple[Floats, tuple[Table, ...]]:
        """Forward-backward."""
        if self.order == 2:
            return super().weighted_marginals(batch, factor, n_jobs)
        log_z = np.empty(batch.rows)
        emissions, pairs = np.zeros(batch.main.shape), np.zeros(self._four(batch).shape)
        args, K = self._sum_arguments(batch), batch.main.shape[2]
        shared = len(pairs) == 1

        def task(first: int, last: int) -> tuple[Table, ...]:
            mine = np.zeros(pairs.shape) if shared else pairs
            ends = np.zeros(K), np.zeros(K)
            sum_chains(first, last, args, log_z, (emissions, mine, *ends), factor)
            return mine, *ends

        start, end = np.zeros(K), np.zeros(K)
        for part in over_rows(batch.rows, task, n_jobs, 4 * self._work(batch)):
            start += part[1]
            end += part[2]
            if shared:
                pairs += part[0]
        table = batch.arrays[1]
        transitions = (
            pairs.reshape(table.shape)
            if table.size == pairs.size
            else np.zeros(table.shape)
        )
        return log_z, (emissions, transitions, np.zeros(0), start, end)

    def _sum_arguments(self, batch: ScoreBatch) -> ScoreTables:
        main, _, _, start, end = batch.arrays
        return ScoreTables(
            main, batch.sizes[:, 0].copy(), self._four(batch), start, end
        )
