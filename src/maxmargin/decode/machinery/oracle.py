"""The output that violates the margin most: what a structured hinge loss needs.

With margin(y) = score(target) - score(y) and delta(y) = loss(target, y),

    xi = max_y  b(y) - a(y) * margin(y)

| rescaling | penalty    | b          | a          |
|-----------|------------|------------|------------|
| "margin"  | "linear"   | delta      | 1          |
| "slack"   | "linear"   | delta      | delta      |
| "margin"  | "squared"  | root delta | 1          |
| "slack"   | "squared"  | root delta | root delta |

The first row is one search with the loss added to the scores, and so is every row under
the zero-one loss (the best output other than the target). The others need the best
output per value of the loss: dynamic programs are solved in layers. Where these do not
exist, the n best outputs under score + weight * loss are searched, with n doubled until
the bound of `Violation.line_bound` proves that no other output violates more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.core.formulations import Formulation
from maxmargin.decode.classes import Classes
from maxmargin.decode.machinery.base import Costs, ScoreStructure
from maxmargin.decode.machinery.batch import ScoreBatch, Scores, over_rows
from maxmargin.decode.machinery.cell_loops import sum_costs
from maxmargin.decode.ranking import Ranking
from maxmargin.inference.hypergraph import best_by_cost

MOST = 4096  # outputs looked at in one row, where no layers exist


class MostViolated(NamedTuple):
    """The most violated output of each row."""

    rows: Ragged
    truth: Ragged
    delta: Floats  # (rows,) its loss
    margin: Floats  # (rows,) score of the target less its score
    value: Floats  # (rows,) xi, at least 0
    bound: Floats  # (rows,) no output violates more


def most_violated(
    structure: ScoreStructure,
    scores: Scores,
    target: Any,
    mask: Any = None,
    loss: Any = None,
    rescaling: str = "margin",
    penalty: str = "linear",
    n_jobs: int = 1,
) -> tuple[Any, Floats, Floats]:
    """Loss-augmented decoding: outputs, their losses and violations.

    Examples
    --------
    >>> from maxmargin.decode import Chain
    >>> scores = np.array([[[1.0, 0.0], [0.0, 0.5]]])
    >>> worst, delta, xi = most_violated(Chain(), scores, [[0, 1]])
    >>> worst.tolist(), delta.tolist(), xi.tolist()
    ([[0, 0]], [1.0], [0.5])
    """
    batch = structure.read(scores, mask)
    formulation = Formulation(rescaling, penalty)
    found = search(structure, batch, target, loss, formulation, n_jobs)
    return structure.outputs(batch, found.rows), found.delta, found.value


def default_loss(structure: ScoreStructure) -> str:
    """The first loss that the structure names."""
    return structure.losses[0]


def search(
    structure: ScoreStructure,
    batch: ScoreBatch,
    target: Any,
    loss: Any,
    formulation: Formulation,
    n_jobs: int = 1,
) -> MostViolated:
    """Most violated rows of a batch that has been read."""
    loss = default_loss(structure) if loss is None else loss
    truth, own = structure.read_target(batch, target)
    zero_one = isinstance(loss, str) and loss == "zero-one"
    if isinstance(structure, Ranking):
        return _ranking(structure, batch, target, truth, own, loss, formulation)
    if zero_one and not isinstance(structure, Classes):
        rows, delta, bound = _best_other(structure, batch, truth, own, n_jobs)
        margin = own - structure.row_scores(batch, rows)
        value = formulation.criterion.value(delta, margin)
        return _kept(MostViolated(rows, truth, delta, margin, value, value + bound))
    costs = structure.costs(batch, truth, loss)
    if formulation.linear_in_loss(zero_one):
        return _augmented(structure, batch, truth, own, costs, n_jobs)
    if isinstance(structure, Classes):
        return _classes(structure, batch, truth, own, costs, formulation)
    layered = (costs.unit > 0).all() and structure.hypergraph(batch, 0) is not None
    search_rows = _layered if layered else _certified
    return search_rows(structure, batch, truth, own, costs, formulation, n_jobs)


def loss_augmented(
    structure: ScoreStructure,
    batch: ScoreBatch,
    truth: Ragged,
    loss: Any,
    temperature: float = 1.0,
) -> tuple[ScoreBatch, Floats]:
    """Scores under which output y has (score(y) + loss(y) - constant) / temperature.

    For losses that are sums over cells. Returns the batch and the constant of each row.
    """
    whole = isinstance(loss, str) and loss == "zero-one"
    if isinstance(structure, Ranking) or (whole and not isinstance(structure, Classes)):
        raise NotImplementedError(
            f"the loss {loss!r} of {type(structure).__name__} is not a sum over parts of "
            "an output, which a smooth maximum needs: use the hinge"
        )
    costs = structure.costs(batch, truth, loss)
    main, extra = batch.main.copy(), batch.extra
    if isinstance(structure, Classes):
        extra = structure.class_costs(batch, costs) / temperature
    else:
        main.reshape(-1)[costs.place] += costs.change.astype(main.dtype)
    arrays = tuple(a / a.dtype.type(temperature) for a in (main, *batch.arrays[1:]))
    return batch._replace(arrays=arrays, extra=extra), costs.constant


def _kept(found: MostViolated) -> MostViolated:
    """The target itself violates by zero: rows below that become the target."""
    bad = found.value < 0
    if not bad.any():
        return found
    rows = [
        found.truth.row(b) if bad[b] else found.rows.row(b) for b in range(found.rows.n)
    ]
    delta, margin, value = (np.where(bad, 0.0, part) for part in found[2:5])
    bound = np.maximum(found.bound, 0.0)
    return MostViolated(Ragged.pack(rows), found.truth, delta, margin, value, bound)


def loss_of(
    structure: ScoreStructure, batch: ScoreBatch, rows: Ragged, costs: Costs
) -> Floats:
    """Loss of rows, from the costs of their cells."""
    if isinstance(structure, Classes):
        return structure.class_costs(batch, costs)[np.arange(rows.n), rows.data]
    cells, out = structure.main_cells(batch, rows), costs.constant.copy()
    size = batch.main[0].size
    sum_costs(costs.place, costs.change, cells.place, size, batch.rows, out)
    return np.maximum(out, 0.0)


def _augmented(
    structure: ScoreStructure, batch: ScoreBatch, truth: Ragged, own: Floats,
    costs: Costs, n_jobs: int,
) -> MostViolated:  # fmt: skip
    rows, bound = structure.find_augmented(batch, costs, n_jobs)
    structure.check_found(bound)
    delta = loss_of(structure, batch, rows, costs)
    margin = own - structure.row_scores(batch, rows)
    value = delta - margin
    found = MostViolated(
        rows, truth, delta, margin, value, np.maximum(bound - own, value)
    )
    return _kept(found)


def _best_other(
    structure: ScoreStructure,
    batch: ScoreBatch,
    truth: Ragged,
    own: Floats,
    n_jobs: int,
) -> tuple[Ragged, Floats, Floats]:
    """The best output that is not the target; the target where there is no other."""
    rows, delta = [], np.ones(batch.rows)
    for b, (two, _) in enumerate(structure.find_nbest(batch, 2, n_jobs)):
        other = [two.row(k) for k in range(two.n)]
        other = [r for r in other if not np.array_equal(r, truth.row(b))]
        delta[b] = float(bool(other))
        rows.append(other[0] if other else truth.row(b))
    return Ragged.pack(rows), delta, np.zeros(batch.rows)


def _classes(
    structure: Classes, batch: ScoreBatch, truth: Ragged, own: Floats, costs: Costs,
    formulation: Formulation,
) -> MostViolated:  # fmt: skip
    delta = structure.class_costs(batch, costs)
    margin = own[:, None] - structure.class_scores(batch)
    value = formulation.criterion.value(delta, margin)
    value[np.arange(batch.rows), truth.data] = 0.0
    at = value.argmax(axis=1)
    each = np.arange(batch.rows)
    top = value[each, at]
    return MostViolated(
        Ragged.single(at), truth, delta[each, at], margin[each, at], top, top
    )


def _ranking(
    structure: Ranking, batch: ScoreBatch, target: Any, truth: Ragged, own: Floats,
    loss: Any, formulation: Formulation,
) -> MostViolated:  # fmt: skip
    if not formulation.linear_in_loss(loss == "zero-one"):
        raise NotImplementedError(
            "rankings are trained with rescaling='margin' and penalty='linear': the "
            "best order per value of the loss is not known to be easy to find"
        )
    grades = structure.grades(batch, target)
    rows = structure.find_worst(batch, grades, loss)
    delta = np.array(
        [
            structure.loss_value(rows.row(b), grades.row(b), loss)
            for b in range(batch.rows)
        ]
    )
    margin = own - structure.row_scores(batch, rows)
    value = formulation.criterion.value(delta, margin)
    return _kept(MostViolated(rows, truth, delta, margin, value, value))


def _layered(
    structure: ScoreStructure, batch: ScoreBatch, truth: Ragged, own: Floats,
    costs: Costs, formulation: Formulation, n_jobs: int,
) -> MostViolated:  # fmt: skip
    """Best output per value of the loss, then the most violated of these."""
    size = batch.main[0].size
    steps = np.zeros(batch.main.size, np.int64)
    row = costs.place // size
    np.add.at(
        steps, costs.place, np.rint(costs.change / costs.unit[row]).astype(np.int64)
    )

    def task(first: int, last: int) -> list[tuple[Labels, float, float]]:
        found = []
        for b in range(first, last):
            graph, flat = (
                structure.hypergraph(batch, b),
                structure.flat_scores(batch, b),
            )
            assert graph is not None
            units = np.zeros(len(flat), np.int64)
            units[:size] = steps[b * size : (b + 1) * size]
            low, high = int(costs.low[b]), int(costs.high[b])
            cost, cells, score = best_by_cost(graph, flat, units, low, high)
            delta = np.maximum(costs.constant[b] + cost * costs.unit[b], 0.0)
            value = formulation.criterion.value(delta, own[b] - score)
            k = int(np.argmax(value)) if len(value) else -1
            if k < 0:
                structure.check_found(np.where(np.arange(b + 1) < b, 0.0, -np.inf))
            row_found = np.asarray(structure.row_of(batch, b, cells.row(k)), np.int32)
            found.append((row_found, float(delta[k]), float(value[k])))
        return found

    parts = [one for part in over_rows(batch.rows, task, n_jobs) for one in part]
    rows = Ragged.pack([p[0] for p in parts])
    delta, value = (np.array([p[k] for p in parts]) for k in (1, 2))
    margin = own - structure.row_scores(batch, rows)
    return _kept(MostViolated(rows, truth, delta, margin, value, value))


def _certified(
    structure: ScoreStructure, batch: ScoreBatch, truth: Ragged, own: Floats,
    costs: Costs, formulation: Formulation, n_jobs: int,
) -> MostViolated:  # fmt: skip
    """Row by row: n best outputs under score + weight * loss until the bound is met."""
    size, rows = batch.main[0].size, []
    delta, value, bound = (np.zeros(batch.rows) for _ in range(3))
    for b in range(batch.rows):
        one = structure.one_row(batch, b)
        mine = costs.place // size == b
        part = Costs(
            costs.place[mine] - b * size, costs.change[mine],
            *(np.array([c[b]]) for c in costs[2:]),
        )  # fmt: skip
        found = _certified_row(structure, one, own[b], part, formulation, n_jobs)
        row, delta[b], value[b], bound[b] = found
        rows.append(row)
    packed = Ragged.pack(rows)
    margin = own - structure.row_scores(batch, packed)
    return _kept(MostViolated(packed, truth, delta, margin, value, bound))


def _certified_row(
    structure: ScoreStructure, one: ScoreBatch, own: float, costs: Costs,
    formulation: Formulation, n_jobs: int,
) -> tuple[Labels, float, float, float]:  # fmt: skip
    most = float(costs.constant[0] + np.maximum(costs.change, 0.0).sum())
    weight, best = _line(structure, one, own, costs, formulation, most, n_jobs)
    n = 4
    while True:
        main = one.main.astype(np.float64)
        np.add.at(main.reshape(-1), costs.place, weight * costs.change)
        ((found, score),) = structure.find_nbest(one.with_main(main), n, n_jobs)
        several = structure.one_row(one, 0, found.n)
        delta = _losses_of_row(structure, several, found, costs)
        margin = own - structure.row_scores(several, found)
        value = formulation.criterion.value(delta, margin)
        k = int(np.argmax(value))
        if value[k] > best[2]:
            best = (found.row(k), float(delta[k]), float(value[k]))
        # What has not been seen has  weight * delta - margin <= this.
        last = score[-1] + weight * costs.constant[0] - own
        limit = formulation.criterion.line_bound(
            np.array([weight]), np.array([last]), np.array([most])
        )
        bound = 0.0 if found.n < n else float(limit[0])
        if bound <= best[2] * (1.0 + 1e-9) + 1e-9 or n >= MOST:
            return (*best, max(bound, best[2]))
        n *= 4


def _line(
    structure: ScoreStructure, one: ScoreBatch, own: float, costs: Costs,
    formulation: Formulation, most: float, n_jobs: int,
) -> tuple[float, tuple[Labels, float, float]]:  # fmt: skip
    """The weight of the loss with the lowest bound, and the best output seen."""
    best: tuple[Labels, float, float] = (np.empty(0, np.int32), 0.0, -np.inf)
    choice, lowest = 1.0, np.inf
    for weight in 2.0 ** np.arange(-6.0, 7.0):
        main = one.main.astype(np.float64)
        np.add.at(main.reshape(-1), costs.place, weight * costs.change)
        rows, bound = structure.find_best(one.with_main(main), n_jobs)
        structure.check_found(bound)
        delta = _losses_of_row(structure, one, rows, costs)
        margin = own - structure.row_scores(one, rows)
        value = formulation.criterion.value(delta, margin)
        if value[0] > best[2]:
            best = (rows.row(0), float(delta[0]), float(value[0]))
        top = bound + weight * costs.constant - own
        limit = formulation.criterion.line_bound(
            np.array([weight]), top, np.array([most])
        )
        if limit[0] < lowest:
            choice, lowest = float(weight), float(limit[0])
    return choice, best


def _losses_of_row(
    structure: ScoreStructure, several: ScoreBatch, rows: Ragged, costs: Costs
) -> Floats:
    """Losses of outputs of one row, whose costs are given once."""
    size, n = several.main[0].size, rows.n
    index = (costs.place[None] + np.arange(n)[:, None] * size).ravel()
    change = np.tile(costs.change, n)
    constant = np.repeat(costs.constant, n)
    zero: Ints = np.zeros(n, np.int64)
    wide = Costs(index, change, constant, np.repeat(costs.unit, n), zero, zero)
    return loss_of(structure, several, rows, wide)
