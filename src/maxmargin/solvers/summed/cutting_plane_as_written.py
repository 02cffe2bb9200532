"""Cutting planes for OP2-1-slack as printed: Algorithm 1 of Balamurugan et al. 2012.

    min  1/2 ||w||^2 + C xi,    xi >= sum_i sum_{y in S_i} (l_i(y) - <a_iy, w>)

In each iteration: solve the QP over the cuts so far (line 7), add the most violated
output of each example to V_i (lines 9-12), add the violated outputs of V_i to S_i
(lines 13-17), and add the tuple (S_1, .., S_n) as a cut unless its height is at most
xi + epsilon (lines 19-23).

As printed, S_i is never emptied. Its cut then also has outputs that are satisfied by
now, whose terms are negative: it lies below the most violated cut, and the stopping rule
can hold too early. `notes["missed"]` is the distance between the two at the end, as a
share of the objective. With `reset=True` S_i is emptied in each iteration, so the cut is
the most violated one over V_i, as in our variant `LSECuttingPlane`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver, State, Status
from maxmargin.solvers.n_slack.sdm import type_one
from maxmargin.solvers.one_slack.cutting_plane import HELD, VECTORS
from maxmargin.solvers.one_slack.qp import maximise
from maxmargin.solvers.summed.cutting_plane import TupleState
from maxmargin.solvers.summed.loops import sum_chosen
from maxmargin.solvers.summed.violators import Violators

Chosen = NDArray[np.bool_]  # (n, planes) which planes of V_i are in S_i


@dataclass(kw_only=True)
class ChosenState(TupleState):
    """Cuts, the sets V_i, and their subsets S_i."""

    chosen: Chosen = field(default_factory=lambda: np.zeros((0, 0), np.bool_))


@dataclass(frozen=True)
class LSECuttingPlaneAsWritten(Solver[ChosenState]):
    """Algorithm 1 of Balamurugan et al. 2012. A step is one iteration.

    Parameters
    ----------
    epsilon : float
        Height above xi at which the tuple is no longer added, in sums of slacks
        (without C). The paper has 0.1 for OCR and 1 for larger data.
    reset : bool
        Whether S_i is emptied in each iteration; the paper does not say so.
    kappa1, kappa2 : int or None
        Iterations that ask the oracle: all (None, as printed), or as in `SDCD`, which
        the text describes as a heuristic to save time.
    k : int
        Outputs per question; 1 is the paper.
    memory : float
        Bytes at most: a quarter for cuts, the rest for planes.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    >>> solver = LSECuttingPlaneAsWritten(epsilon=0.01)
    >>> model = ChainSVM(penalty="summed", solver=solver).fit(X, y)
    >>> model.result_.notes["missed"] >= 0.0
    True
    """

    max_iter: int = 5000
    epsilon: float = 0.1
    reset: bool = False
    kappa1: int | None = None
    kappa2: int = 5
    k: int = 1
    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("summed",)
    resumable: ClassVar[bool] = False

    def start(self, problem: Problem, warm: State | None = None) -> ChosenState:
        """No cuts, V_i holds the truth, S_i is empty (lines 2-5)."""
        room = 0.75 * self.memory - 8.0 * VECTORS * problem.dim
        sets = Violators(problem, self.k, max(room, 0.0))
        return ChosenState(np.zeros(problem.dim), sets=sets, certificate="reduced")

    def step(self, problem: Problem, state: ChosenState) -> None:
        """V_i and S_i grow at w; the tuple becomes a cut; the QP is solved."""
        asks = self.kappa1 is None or state.asks
        asks = asks or type_one(state.loops, self.kappa1 or 0, self.kappa2)
        state.loops += 1
        sets = state.sets
        if asks:
            everyone = np.arange(problem.n)
            sets.add(sets.look(problem, state.w, everyone), state.w)
            state.oracle_calls += problem.n
        blocks = sets.blocks
        state.chosen = _wide_enough(state.chosen, problem.n, int(blocks.counts().max()))
        if self.reset:
            state.chosen[:] = False
        a = np.zeros(problem.dim)
        b, height = sum_chosen(
            blocks.store, blocks.space, problem.C, state.w, state.chosen, a
        )
        xi = float(state.heights().max(initial=0.0))
        state.asks = height <= xi + self.epsilon * float(problem.C.mean())
        if state.asks and asks:
            state.status = Status.WITHIN_EPSILON
            return
        if not state.asks:
            state.add(a, b, 0.25 * HELD * self.memory)
            alpha = maximise(state.gram, state.b, state.alpha, 1.0)
            state.move_to(alpha, patience=self.max_iter + 1)
        state.planes = blocks.planes

    def certify(self, problem: Problem, state: ChosenState) -> None:
        """Witness w on V_i; note what the cut over S_i misses of the worst one."""
        state.sets.certify(problem, state)
        xi = float(state.heights().max(initial=0.0))
        worst = float(problem.C @ state.sets.slacks(state.w))
        beyond = worst - xi - self.epsilon * float(problem.C.mean())
        state.notes["missed"] = max(beyond, 0.0) / max(abs(state.primal), 1e-300)
        state.notes["cuts"] = state.made


def _wide_enough(chosen: Chosen, n: int, width: int) -> Chosen:
    """The same table with room for `width` planes of each of n examples."""
    if chosen.shape[1] >= width and len(chosen) == n:
        return chosen
    out = np.zeros((n, 2 * width), np.bool_)
    out[: len(chosen), : chosen.shape[1]] = chosen
    return out
