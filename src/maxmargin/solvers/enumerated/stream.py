"""Training in batches where outputs are few: the dual variables of all examples so far.

With psi(x, y) = phi(x) (x) Lambda(y) an example is its vector phi(x) and one alpha per
output, which takes less memory than its planes. So the vectors of earlier batches are
kept, and a further batch is a run of `Enumerated` on all examples, started from the alpha
of those before. The certificate is exact.

The data of a model that was fitted otherwise, or read from a file, are not known. Their
risk R counts as its tangent at the weights u of the model, and the problem becomes

    1/2 ||w||^2 + height - <u, w> + sum_i cost_i(slack_i),   w = u + sum alpha a.

Examples that no longer fit into memory are treated in the same way, oldest first: their
alpha stays as it is, u grows by their sum of alpha * a, and the height by that of alpha * b.
The certificate is then "reduced".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import State
from maxmargin.solvers.enumerated.block_dual import (
    LONGEST_REST,
    AlphaState,
    Enumerated,
)
from maxmargin.solvers.enumerated.loops import Tables, slacks, weights
from maxmargin.solvers.n_slack.stream import ModelState
from maxmargin.solvers.resting import Resting


@dataclass(kw_only=True)
class AlphaStreamState(AlphaState):
    """Dual variables of all batches, and the tangent that stands for other data."""

    centre: Floats  # u
    height: float = 0.0
    folded: int = 0  # examples that the tangent stands for
    C: Floats

    def refresh(self) -> None:
        """Compute the dual from alpha and w."""
        super().refresh()
        self.dual += self.height

    def stretch(self) -> None:
        """On a cone, the best multiple of alpha; the tangent stays."""
        self._stretch_about(self.centre)


@dataclass(frozen=True)
class EnumeratedStream(Enumerated):
    """`Enumerated` on a growing sample; see the module docstring.

    Parameters
    ----------
    memory : float
        Bytes for the vectors and alpha of all examples at most.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVM()  # partial_fit runs EnumeratedStream
    >>> for k in range(3):
    ...     model = model.partial_fit(X[k::3], y[k::3])
    >>> model.result_.certificate, model.score(X, y) > 0.95
    ('exact', True)
    """

    memory: float = MEMORY
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def start(self, problem: Problem, warm: State | None = None) -> AlphaStreamState:
        """The examples of earlier batches with their alpha, and the new ones."""
        new = AlphaState.of(problem)
        tables, alpha, C = new.tables, new.alpha, problem.C
        centre, height, folded = np.zeros(problem.dim), 0.0, 0
        if isinstance(warm, ModelState):
            centre, height = warm.w, warm.primal + 0.5 * float(warm.w @ warm.w)
        elif isinstance(warm, AlphaStreamState):
            tables = _joined(warm.tables, tables)
            alpha, C = np.vstack((warm.alpha, alpha)), np.append(warm.C, C)
            centre, height, folded = warm.centre, warm.height, warm.folded
        if len(centre) != problem.dim:
            raise ValueError(
                f"the model has {len(centre)} weights, the batch asks for "
                f"{problem.dim}: the first batch fixes labels and features"
            )
        n = len(alpha)
        state = AlphaStreamState(
            np.zeros(0), tables=tables, alpha=alpha, resting=Resting(n, LONGEST_REST),
            gaps=np.full(n, np.inf), within=np.zeros(n), centre=centre, height=height,
            folded=folded, C=C,
        )  # fmt: skip
        self._fold(state, n - problem.n)
        state.w = state.centre.copy()
        weights(state.tables, state.alpha, state.w)
        state.refresh()
        tangent = state.folded > 0 or isinstance(warm, ModelState) or height != 0.0
        state.certificate = "reduced" if tangent else "exact"
        state.notes = {
            "certifies": f"all outputs of {len(state.alpha)} examples"
            + (", and a bound on the cost of data seen before" if tangent else "")
        }
        return state

    def _fold(self, state: AlphaStreamState, old: int) -> None:
        """Replace the oldest examples by their tangent until the rest fits."""
        t, k = state.tables, state.alpha.shape[1]
        per_row = 8.0 * (k + 6) + 12.0 * np.diff(t.ptr)
        over = per_row.sum() - self.memory
        if over <= 0.0 or old == 0:
            return
        drop = min(int(np.searchsorted(np.cumsum(per_row), over)) + 1, old)
        gone, alpha = _rows(t, 0, drop), state.alpha[:drop]
        state.centre = state.centre.copy()
        weights(gone, alpha, state.centre)
        ridge = gone.ridge * alpha.sum(axis=1) ** 2
        state.height += float((alpha * t.b[gone.truth]).sum() - 0.5 * ridge.sum())
        n = len(state.alpha)
        state.tables, state.alpha = _rows(t, drop, n), state.alpha[drop:].copy()
        state.C, state.folded = state.C[drop:], state.folded + drop
        state.resting = Resting(n - drop, LONGEST_REST)
        state.gaps, state.within = np.full(n - drop, np.inf), np.zeros(n - drop)

    def certify(self, problem: Problem, state: AlphaState) -> None:
        """Slacks of all examples at w."""
        assert isinstance(state, AlphaStreamState)
        slack = slacks(state.tables, state.w)
        state.oracle_calls += len(slack)
        seen = state.gap_estimate
        cost = float(problem.formulation.cost(state.C, slack).sum())
        tangent = state.height - float(state.centre @ state.w)
        primal = 0.5 * float(state.w @ state.w) + tangent + cost
        state.keep(problem, state.w, primal)
        state.refresh()
        self._learn_trust(state, seen, primal)


def _joined(a: Tables, b: Tables) -> Tables:
    """The examples of both."""
    return b._replace(
        ptr=np.append(a.ptr, a.ptr[-1] + b.ptr[1:]), idx=np.append(a.idx, b.idx),
        val=np.append(a.val, b.val), square=np.append(a.square, b.square),
        truth=np.append(a.truth, b.truth), upper=np.append(a.upper, b.upper),
        ridge=np.append(a.ridge, b.ridge),
    )  # fmt: skip


def _rows(t: Tables, first: int, last: int) -> Tables:
    """Some of the examples."""
    s, e = int(t.ptr[first]), int(t.ptr[last])
    idx = t.idx[s:e].copy() if len(t.idx) else t.idx  # dense vectors have no numbers
    some = slice(first, last)
    return t._replace(
        ptr=t.ptr[first : last + 1] - s, idx=idx, val=t.val[s:e].copy(),
        square=t.square[some].copy(), truth=t.truth[some].copy(),
        upper=t.upper[some].copy(), ridge=t.ridge[some].copy(),
    )  # fmt: skip
