"""Smooth relatives of the best output: by perturbation, and SparseMAP.

Perturbation (Fenchel-Young loss of a perturbed maximiser, [1]):

    F(s) = E max_y <s + sigma Z, y>,     gradient: E indicator(best under s + sigma Z)

with Gumbel or Gaussian noise Z on the main table, by an average over samples.

SparseMAP [2]: mu in the convex hull of the indicators,

    F(s) = max_mu <s, mu> - 1/2 ||mu_main||^2,      gradient: mu, a mix of few outputs

by an active set: add the output that the gradient likes best, solve the small QP over
the outputs held, drop those without weight, until the duality gap is below `tol`.

Both need the best output and nothing else, so they work for every structure.

[1] Berthet et al. 2020, Learning with differentiable perturbed optimizers.
[2] Niculae et al. 2018, SparseMAP: differentiable sparse structured inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged
from maxmargin.decode.machinery.base import ScoreStructure
from maxmargin.decode.machinery.batch import ScoreBatch, Table

NOISES = ("gumbel", "normal")


class Perturbed(NamedTuple):
    """Average of the best outputs under noise."""

    value: Floats  # (rows,) estimate of F
    error: Floats  # (rows,) its standard error
    samples: list[Ragged]  # outputs found


def perturbed(
    structure: ScoreStructure,
    batch: ScoreBatch,
    rng: np.random.Generator,
    sigma: float = 1.0,
    samples: int = 16,
    noise: str = "gumbel",
    n_jobs: int = 1,
) -> Perturbed:
    """Best outputs under `samples` draws of noise on the main table."""
    if noise not in NOISES:
        raise ValueError(f"noise={noise!r} is not one of 'gumbel', 'normal'")
    values, found = np.empty((samples, batch.rows)), []
    for k in range(samples):
        shape = batch.main.shape
        draw = rng.gumbel(size=shape) if noise == "gumbel" else rng.normal(size=shape)
        if noise == "gumbel":
            draw -= np.euler_gamma  # mean zero, so that F(s) >= max_y <s, y>
        main = batch.main.astype(np.float64) + sigma * draw
        rows, bound = structure.find_best(batch.with_main(main), n_jobs)
        structure.check_found(bound)
        values[k] = structure.row_scores(batch.with_main(main), rows)
        found.append(rows)
    spread = values.std(axis=0, ddof=1) if samples > 1 else np.full(batch.rows, np.nan)
    return Perturbed(values.mean(axis=0), spread / np.sqrt(samples), found)


class SparseMarginals(NamedTuple):
    """A mix of outputs for each row."""

    value: Floats  # (rows,) F
    gap: Floats  # (rows,) at most this far below the maximum
    outputs: list[Ragged]  # outputs with weight, of each row
    weights: list[Floats]


@dataclass
class _Mix:
    """Active set of one row."""

    rows: list[Labels] = field(default_factory=list)
    cells: list[Ints] = field(default_factory=list)  # main cells, place in the row
    amount: list[Floats] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    weight: Floats = field(default_factory=lambda: np.empty(0))

    def mean(self, size: int) -> Floats:
        out = np.zeros(size)
        for cells, amount, p in zip(self.cells, self.amount, self.weight, strict=True):
            out[cells] += p * amount
        return out

    def add(self, row: Labels, cells: Ints, amount: Floats, score: float) -> None:
        self.rows.append(row)
        self.cells.append(cells)
        self.amount.append(amount)
        self.score.append(score)
        first = len(self.rows) == 1
        self.weight = np.append(self.weight, 1.0 if first else 0.0)

    def solve(self, size: int) -> None:
        """Best weights on the simplex: equality steps, dropping what hits zero."""
        dense = np.zeros((len(self.rows), size))
        for k, (cells, amount) in enumerate(zip(self.cells, self.amount, strict=True)):
            dense[k, cells] += amount
        gram, s = dense @ dense.T, np.array(self.score)
        p, free = self.weight.copy(), np.ones(len(s), bool)
        while True:
            at = np.flatnonzero(free)
            m = len(at)
            kkt = np.ones((m + 1, m + 1))
            kkt[:m, :m], kkt[m, m] = gram[np.ix_(at, at)], 0.0
            q = np.linalg.lstsq(kkt, np.append(s[at], 1.0), rcond=None)[0][:m]
            if (q >= -1e-12).all():
                p[:] = 0.0
                p[at] = np.maximum(q, 0.0)
                break
            down = q < p[at]
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(down & (q < 0), p[at] / (p[at] - q), np.inf)
            t = min(1.0, float(step.min()))
            p[at] += t * (q - p[at])
            p[at[int(np.argmin(step))]] = 0.0
            free[at[int(np.argmin(step))]] = False
        self.weight = p / p.sum()
        self._drop()

    def _drop(self) -> None:
        keep = np.flatnonzero(self.weight > 0.0).tolist()
        self.rows = [self.rows[k] for k in keep]
        self.cells = [self.cells[k] for k in keep]
        self.amount = [self.amount[k] for k in keep]
        self.score = [self.score[k] for k in keep]
        self.weight = self.weight[keep]


def sparse_map(
    structure: ScoreStructure,
    batch: ScoreBatch,
    tol: float = 1e-9,
    max_iter: int = 1000,
    n_jobs: int = 1,
) -> SparseMarginals:
    """SparseMAP of every row."""
    size, rows = batch.main[0].size, batch.rows
    mixes = [_Mix() for _ in range(rows)]
    gap, open_rows = np.full(rows, np.inf), np.ones(rows, bool)
    pull = np.zeros((rows, size))
    for _ in range(max_iter):
        main = batch.main.astype(np.float64) - pull.reshape(batch.main.shape)
        found, bound = structure.find_best(batch.with_main(main), n_jobs)
        structure.check_found(bound)
        linear = structure.row_scores(batch, found)
        cells = structure.main_cells(batch, found)
        order = np.argsort(cells.row, kind="stable")
        ends = np.searchsorted(cells.row[order], np.arange(rows + 1))
        for b in np.flatnonzero(open_rows).tolist():
            take = order[ends[b] : ends[b + 1]]
            own = cells.place[take] - b * size
            amount = np.ones(len(own)) if cells.weight is None else cells.weight[take]
            mix = mixes[b]
            if mix.rows:
                ahead = linear[b] - float(pull[b, own] @ amount)
                held = float(mix.weight @ np.array(mix.score)) - pull[b] @ pull[b]
                gap[b] = max(ahead - held, 0.0)
                known = any(np.array_equal(found.row(b), row) for row in mix.rows)
                if known or gap[b] <= tol:
                    open_rows[b] = False
                    continue
            mix.add(found.row(b).copy(), own, amount, float(linear[b]))
            mix.solve(size)
            pull[b] = mix.mean(size)
        if not open_rows.any():
            break
    scores = [float(m.weight @ np.array(m.score)) for m in mixes]
    value = np.array(scores) - 0.5 * (pull**2).sum(axis=1)
    return SparseMarginals(
        value, gap, [Ragged.pack(m.rows) for m in mixes], [m.weight for m in mixes]
    )


def add_mixes(
    structure: ScoreStructure,
    batch: ScoreBatch,
    found: SparseMarginals,
    factor: Floats,
    out: Sequence[Table],
) -> None:
    """Add factor[b] times the mix of row b to tables like those of `batch`."""
    for k in range(max(len(w) for w in found.weights)):
        rows, weight = [], np.zeros(batch.rows)
        for b, (some, weights) in enumerate(
            zip(found.outputs, found.weights, strict=True)
        ):
            at = min(k, some.n - 1)
            rows.append(some.row(at))
            weight[b] = factor[b] * weights[at] if k < some.n else 0.0
        structure.add_indicators(batch, Ragged.pack(rows), weight, out)


def main_norms(structure: ScoreStructure, batch: ScoreBatch, rows: Ragged) -> Any:
    """||indicator in the main table||^2 of each row of integers."""
    cells = structure.main_cells(batch, rows)
    amount = np.ones(len(cells.row)) if cells.weight is None else cells.weight**2
    return np.bincount(cells.row, amount, minlength=batch.rows)
