"""Which training examples shaped a weight: w = sum_iy alpha_iy a_iy, one coordinate.

Trainers do not keep the outputs behind their constraints, so the convex problem is
solved once more with a record of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.cuts import Cuts
from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent, MostViolated
from maxmargin.estimators.explaining.fitted_model import (
    FittedModel,
    decode_one,
    weight_name,
)
from maxmargin.estimators.fitting.inputs import by_position, output_at
from maxmargin.estimators.fitting.training import TrainingPlan, train
from maxmargin.reports.explanation import Support, SupportTable
from maxmargin.solvers.base import Result, Run, Solver, Watch, run
from maxmargin.solvers.cccp import LatentResult
from maxmargin.solvers.n_slack.block_dual import BlockDual
from maxmargin.solvers.planes.store import planes_of
from maxmargin.solvers.summed.sdcd import SDCD, SummedState


def support_structures(
    model: FittedModel,
    feature: str | int,
    X: Any,
    y: Any,
    n: int = 10,
    sample_weight: Any = None,
) -> SupportTable:
    """Which training examples, against which wrong outputs, made a weight.

    See `StructuredEstimator.support_structures`.
    """
    check_is_fitted(model, "result_")
    model._check_has_weights("support_structures")
    if model.structure_.offers(MostViolated) is None:
        raise ValueError("support_structures: a kernel has no weights to ask about")
    X, y = by_position(X), by_position(y)
    names = model._weight_names()
    at = _find(feature, names, len(model._weights()))
    record = _Record(model.result_, model.tol)
    twin: Any = clone(model)
    plan = twin._plan(twin._training_data(X, y, sample_weight))
    for _ in train(twin, plan, record.runs):
        pass
    who = model._examples(y, sample_weight)
    items = model._inputs(X)
    rows = []
    for i, labels, loss, alpha, value in record.planes(at):
        source = int(who[i])
        wrong = None
        if labels is not None:
            inputs = model.structure_.encode(_items(items, source))
            wrong = decode_one(model, inputs, labels)
        rows.append(
            Support(source, output_at(y, source), wrong, loss, alpha, alpha * value)
        )
    rows.sort(key=lambda row: -abs(row.adds))
    total = sum(row.adds for row in rows)
    return SupportTable(weight_name(names, at), total, tuple(rows[:n]))


def _items(X: Any, i: int) -> Any:
    """Example i alone, as a matrix of one row or a list of one."""
    return X[i : i + 1] if hasattr(X, "shape") else [X[i]]


def _find(feature: str | int, names: Sequence[str] | None, dim: int) -> int:
    if isinstance(feature, str):
        if names is None:
            names = [f"w[{j}]" for j in range(dim)]
        for j, name in enumerate(names):
            if name == feature:
                return j
        raise ValueError(
            f"feature={feature!r} is not the name of a weight; see explain(x), or give "
            "its number"
        )
    if not -dim <= feature < dim:
        raise ValueError(f"feature={feature}: there are {dim} weights")
    return int(feature) % dim


@dataclass(frozen=True)
class _Recorded(Problem):
    """A problem that remembers the outputs it has answered with."""

    seen: dict[int, dict[bytes, Labels]] = field(default_factory=dict)

    def outer_coordinates(self) -> None:
        """Planes in the coordinates of w, so that they can be compared."""
        return

    def outputs(self) -> None:
        """Ask the oracle even where all outputs could be listed."""
        return

    def _map_cuts(
        self, w: Floats, ids: Ints | None, question: Any, chunk: int | None = None
    ) -> Cuts:
        return self._noted(super()._map_cuts(w, ids, question, chunk))

    def several(self, w: Floats, ids: Ints, k: int) -> Cuts:
        """As for any problem, with a record."""
        return self._noted(super().several(w, ids, k))

    def _noted(self, cuts: Cuts) -> Cuts:
        for q, i in enumerate(cuts.ids.tolist()):
            row = cuts.labels.row(q)
            self.seen.setdefault(i, {}).setdefault(row.tobytes(), row)
        return cuts


class _Record:
    """One run with a record, and the planes that carry weight in it."""

    def __init__(self, result: Result, tol: float) -> None:
        self.hidden = result if isinstance(result, LatentResult) else None
        self.tol = tol
        self.problem: _Recorded
        self.state: Any = None

    def runs(self, plan: TrainingPlan, watch: Watch | None) -> Iterator[Run]:
        """The schedule of a fit that records what the oracle returns."""
        problem = plan.problem
        if problem.structure.offers(MostViolated) is None:
            raise ValueError("support_structures: a kernel has no weights to ask about")
        known = {k: v for k, v in vars(problem).items() if k in _FIELDS}
        if self.hidden is not None:
            known["truth"] = self._completed(self.hidden, problem)
        self.problem = _Recorded(**known)
        kind: type[Solver[Any]] = BlockDual
        if problem.formulation.penalty == "summed":
            kind = SDCD
        result, state = run(kind(tol=self.tol), self.problem, watch=watch)
        self.state = state
        if self.hidden is not None:  # for estimators that look for it
            result = LatentResult(**{**vars(result), "truth": self.problem.truth})
        yield Run(result, state)

    def _completed(self, result: LatentResult, problem: Problem) -> Ragged:
        """The true outputs with their hidden parts; models from files have weights only."""
        if result.truth is not None and result.truth.n == problem.n:
            return result.truth
        latent = problem.structure.require(Latent, "support_structures")
        everyone = np.arange(problem.n)
        return latent.complete(problem.x, everyone, result.w, problem.truth)

    def planes(self, at: int) -> Iterator[tuple[int, Labels | None, float, float, Any]]:
        """(example, output, loss, alpha, a[at]) of planes with weight that have `at`."""
        state = self.state
        blocks = state.sets.blocks if isinstance(state, SummedState) else state.blocks
        for i in np.flatnonzero(blocks.counts()).tolist():
            (ptr, idx, val), _, alpha = planes_of(blocks.store, i)
            stored = Rows(ptr, idx, val).csr(self.problem.dim)
            value = stored[:, [at]].toarray()[:, 0]
            for j in np.flatnonzero((alpha > 0) & (value != 0)).tolist():
                labels, loss = self._behind(i, stored[[j]])
                yield i, labels, loss, float(alpha[j]), float(value[j])

    def _behind(self, i: int, plane: Any) -> tuple[Labels | None, float]:
        """The recorded output whose plane this is, and its loss."""
        problem, rows = self.problem, list(self.problem.seen[i].values())
        ids, labels = np.full(len(rows), i), Ragged.pack(rows)
        truth, features = problem.truth.take(ids), problem.structure.features
        dpsi = features(problem.x, ids, truth).minus(features(problem.x, ids, labels))
        delta = problem.loss.value(truth, labels)
        a = problem.formulation.plane(dpsi, delta)[0].csr(problem.dim)
        away = a - sp.vstack([plane] * len(rows))
        distance = np.asarray(away.multiply(away).sum(axis=1)).ravel()
        best = int(np.argmin(distance))
        if distance[best] > 1e-12 * (1.0 + float(plane.multiply(plane).sum())):
            return None, float("nan")
        return rows[best], float(delta[best])


_FIELDS = ("structure", "loss", "formulation", "x", "truth", "C", "engine")
