"""Where structure, loss, formulation, data and engine meet.

    primal(w) = 1/2 ||w||^2 + sum_i cost_i(slack_i),   slack_i = max_y  b_iy - <a_iy, w>

`Problem.cuts(w, ids)` finds the highest plane of each example, and `sum_cut(w)` adds
planes up where the data are. The engine runs both; how a plane is found is in `oracle`.
Solvers see nothing else.

`rounding_of` bounds the rounding error of the primal. A slack is a difference of scores,
which are sums of products (`core/data/arrays.py`), and C multiplies its error: at
C = 1e10 the sixth digit of the primal may be wrong, whatever the trainer does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maxmargin.core.cuts import Cuts as Cuts  # solvers and estimators take it from here
from maxmargin.core.cuts import Risk, SumCut, add
from maxmargin.core.data.arrays import UNIT, Floats, Ints, Ragged, Rows, summation_error
from maxmargin.core.engine import Engine, Serial
from maxmargin.core.oracle import (
    CHUNK,
    Oracle,
    chunks_of,
    find_cuts,
    find_outer_cuts,
    find_risk,
    find_several,
    find_slacks,
    find_sum_cut,
)

TASK = 8e6  # multiply-adds that are worth a task of their own, a few milliseconds
SAMPLE = 32  # examples whose scores are looked at for rounding; all where they are few


@dataclass(frozen=True)
class Problem(Oracle):
    """An oracle and the engine that runs it; never altered.

    Parameters
    ----------
    structure, loss, formulation, x, truth, first
        As in `Oracle`.
    C : array (n,)
        Penalty of each example: C times its sample weight.
    engine : Engine
        Where the oracle runs.
    """

    engine: Engine = Serial()

    @cached_property
    def shared_data(self) -> Problem:
        """The problem without its engine, which is what workers get."""
        return replace(self, engine=Serial())

    def with_truth(self, truth: Ragged) -> Problem:
        """The same problem with other true outputs (hidden parts completed)."""
        return replace(self, truth=truth)

    def with_C(self, C: Floats) -> Problem:
        """The same problem with other penalties: every plane stays valid."""
        return replace(self, C=C)

    def cuts(
        self, w: Floats, ids: Ints | None = None, chunk: int | None = None
    ) -> Cuts:
        """The highest plane of each example in `ids` (default: all)."""
        return self._map_cuts(w, ids, find_cuts, chunk)

    def slacks(self, w: Floats) -> Floats:
        """The slack of each example: a pass without its planes."""
        chunks = chunks_of(np.arange(self.n), self._task)
        return np.concatenate(
            list(self.engine.ask(self.shared_data, find_slacks, w, chunks))
        )

    def planes(self, w: Floats, ids: Ints | None = None) -> Cuts:
        """As `cuts`, in the coordinates of `outer_coordinates`."""
        return self._map_cuts(
            w, ids, find_cuts if self.outer_coordinates() is None else find_outer_cuts
        )

    def _map_cuts(
        self,
        w: Floats,
        ids: Ints | None,
        question: Callable[[Oracle, Floats, Ints], Cuts],
        chunk: int | None = None,
    ) -> Cuts:
        ids = np.arange(self.n) if ids is None else ids
        # Long passes are cut into some 64 tasks: each costs a little, whatever it holds.
        size = chunk or max(self._task, min(len(ids) // 64, 8 * CHUNK))
        if not chunk and self._work > TASK / CHUNK:  # long ones: work for four threads
            size = min(size, max(len(ids) // 4, 1))
        tasks = -(-len(ids) // size)
        # 2, 4, 8 .. equal tasks leave no core idle at the end.
        chunks = [ids]
        if tasks > 1:
            chunks = np.array_split(ids, 1 << (tasks - 1).bit_length())
        return _joined(self.engine.ask(self.shared_data, question, w, chunks))

    def several(self, w: Floats, ids: Ints, k: int) -> Cuts:
        """Up to k highest planes of each example, best first; ids repeat.

        In the coordinates of `outer_coordinates` where inference is exact; `slack` is
        then the height of each row. Where there is no `nbest` for this loss (see
        `most`), the highest comes alone.
        Rows of one example are neighbours; an example with fewer than k outputs has
        fewer rows. The truth itself, a plane of height zero, may be among them.
        """
        if self.most(k) == 1:
            return self.planes(w, ids) if self.exact else self.cuts(w, ids)
        chunks = [(chunk, k) for chunk in chunks_of(ids, self._task)]
        return _joined(self.engine.ask(self.shared_data, find_several, w, chunks))

    def sum_cut(self, w: Floats) -> SumCut:
        """A plane below  sum_i cost_i(slack_i)  that touches it at w.

        Planes are added up where the data is, and the sums along a fixed tree.
        """
        engine, spans = self.engine, self.spans()
        cut: SumCut = engine.total(self.shared_data, find_sum_cut, add, w, spans)
        return cut

    def risk_at(self, w: Floats) -> Risk:
        """sum_i cost_i(slack_i) at w and the largest slack, summed as `sum_cut` does."""
        engine, spans = self.engine, self.spans()
        risk: Risk = engine.total(self.shared_data, find_risk, add, w, spans)
        return risk

    def risk(self, w: Floats) -> float:
        """sum_i cost_i(slack_i) at w."""
        return self.risk_at(w).risk

    @cached_property
    def _task(self) -> int:
        """Examples per task: fewer where each takes much work (counted, not timed)."""
        return int(np.clip(TASK / max(self._work, 1.0), 1, CHUNK))

    @cached_property
    def _work(self) -> float:
        """Multiply-adds of inference for an example, on average."""
        return float(self.work().mean()) if self.n else 0.0


def _joined(answers: Iterable[Cuts]) -> Cuts:
    """The planes of several chunks, one after the other."""
    parts = list(answers)
    if len(parts) == 1:
        return parts[0]
    return Cuts(
        np.concatenate([p.ids for p in parts]),
        Rows.concat([p.a for p in parts]),
        np.concatenate([p.b for p in parts]),
        np.concatenate([p.slack for p in parts]),
        Ragged.concat([p.labels for p in parts]),
    )


def rounding_of(
    problem: Problem, w: Floats, primal: float, planes: int, inputs: float = 0.0,
    square: float | None = None,
) -> float:  # fmt: skip
    """Bound on the rounding error of the objective at w.

    The largest score of some examples, true and most violated outputs alike, stands for
    that of all outputs; `planes` is how many outputs count where their errors are summed.
    `inputs` is how far the score of an output may be off because inputs are inexact, as
    kernel values are. `square` is ||w||^2, where it is not that of the structure.
    """
    if not math.isfinite(primal) or problem.n == 0:
        return 0.0
    ids = np.unique(np.linspace(0, problem.n - 1, SAMPLE).astype(np.int64))
    parts = [(problem, ids)]
    if problem.pages.files:  # then only these examples are read
        cut = [problem.slice(i, i + 1) for i in ids]
        parts = [(one, np.array([at])) for one, at in cut]
    size, largest_loss = 0.0, 1.0
    for part, here in parts:
        cuts, score = find_cuts(part, w, here), np.zeros(len(here))
        for labels in (part.truth.take(here), cuts.labels):
            # An answer of a relaxation has no labels: its plane stands for it below.
            given = np.flatnonzero(np.diff(labels.ptr))
            psi = part.structure.features(part.x, here[given], labels.take(given))
            score[given] += _absolute(psi).dot(np.abs(w))
        bare = np.diff(cuts.labels.ptr) == 0
        score[bare] += _absolute(cuts.a).dot(np.abs(w))[bare]
        size = max(size, float((score + np.abs(cuts.b)).max()))
        largest_loss = max(largest_loss, float(np.abs(cuts.b).max()))
    work = float(problem.work()[ids].max())
    error = summation_error(max(work, 4.0)) * size + 2.0 * inputs
    if problem.formulation.scales:
        error *= largest_loss
    if square is None:
        square = problem.structure.square(w)
    return cost_error(problem, error, primal, planes) + summation_error(len(w)) * square


def _absolute(rows: Rows) -> Rows:
    return Rows(rows.ptr, rows.idx, np.abs(rows.val))


def cost_error(problem: Problem, error: float, primal: float, planes: int) -> float:
    """How far an error of each slack may move what all slacks cost."""
    C, penalty = problem.C, problem.formulation.penalty
    total = float(C[np.isfinite(C)].sum())
    adding = summation_error(problem.n) * abs(primal)
    if penalty == "hard":  # 1/2 ||w||^2 / margin^2
        return 2.0 * error * abs(primal) + adding
    if penalty == "squared":  # the slacks s have  sum C s <= sqrt(sum C  sum C s^2)
        slacks = math.sqrt(2.0 * abs(primal) * total)
        return error * slacks + 0.5 * total * error**2 + adding
    if penalty == "summed":
        total = max(total, float(C.max(initial=0.0)) * planes)
    return total * error + adding


def kernel_rounding(
    problem: Problem, R: Floats, largest: float, primal: float, share: float,
    loss: float = 1.0,
) -> float:  # fmt: skip
    """The same for a machine  f = sum_i R_i K(x_i, .), with kernel values at most `largest`.

    `share` is how far rounding may move a score, as a share of the sum of the absolute
    values of what it is made of; `loss` is the largest.
    """
    total = float(np.abs(R).sum())
    score = share * largest * total
    slack = 2.0 * score + UNIT * loss
    if problem.formulation.scales:
        slack *= loss
    return cost_error(problem, slack, primal, 0) + score * total
