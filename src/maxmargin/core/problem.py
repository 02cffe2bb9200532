"""Where structure, loss, formulation, data and engine meet.

    primal(w) = 1/2 ||w||^2 + sum_i cost_i(slack_i),   slack_i = max_y  b_iy - <a_iy, w>

`Problem.cuts(w, ids)` finds the highest plane of each example, and `sum_cut(w)` adds
planes up where the data are. The engine runs both; how a plane is found is in `oracle`.
Solvers see nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maxmargin.core.cuts import Cuts as Cuts  # solvers and estimators take it from here
from maxmargin.core.cuts import Risk, SumCut, add
from maxmargin.core.data.arrays import Floats, Ints, Ragged, Rows
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

TASK = 2e6  # multiply-adds that are worth a task of their own


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
        tasks = -(-len(ids) // size)
        # 2, 4, 8 .. equal tasks leave no core idle at the end.
        chunks = np.array_split(ids, 1 << max(tasks - 1, 0).bit_length())
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
        return self.engine.total(self.shared_data, find_sum_cut, add, w, self.spans())

    def risk_at(self, w: Floats) -> Risk:
        """sum_i cost_i(slack_i) at w and the largest slack, summed as `sum_cut` does."""
        return self.engine.total(self.shared_data, find_risk, add, w, self.spans())

    def risk(self, w: Floats) -> float:
        """sum_i cost_i(slack_i) at w."""
        return self.risk_at(w).risk

    @cached_property
    def _task(self) -> int:
        """Examples per task: fewer where one is dear, by counted work."""
        dear = float(self.work().mean()) if self.n else 0.0
        return int(np.clip(TASK / max(dear, 1.0), 1, CHUNK))


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
