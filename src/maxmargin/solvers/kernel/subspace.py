"""Cutting-plane subspace pursuit: a shared basis that grows with the machine.

In turns, until the basis has the size asked for,

    extend the basis towards v = sum alpha a, the planes weighted by the dual,
    move its points up the gradient of ||P v||^2 (any point, for smooth kernels),
    train in the span of the basis (a linear problem over `KernelMap`).

At full size points and coefficients move down the objective together (`descend`).

The optimum o_B in the span is max_alpha of the dual with ||P v|| for ||v||, and
o_B - o* <= 1/2 ||v - P v||^2 (the dual at alpha without the projection is a lower bound
on o*). Algorithm 6.3 of [1] adds one point per cut, a preimage of the residual of that
cut, and leaves it where it is. Here the basis doubles, v is the convex combination of
cuts that the dual holds, and points go on moving: on ijcnn1 (3000 rows, 50 points,
optimum 2150) this lowered the objective from 7290 to 3650.

A step is one step of the solver that trains in the span; the last one of each turn
also grows the basis or moves its points.

[1] Yu 2011, Algorithm 6.3, sections 6.5-6.6, Theorem 6.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.kernels.functions import Differentiable, Kernel, Linear, dense_rows
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import COPIES, Expansion, KernelMap, map_points, map_to
from maxmargin.kernels.preimage import refine
from maxmargin.kernels.pursuit import extend, residual
from maxmargin.solvers.base import (
    NestedState,
    Result,
    Solver,
    State,
    Status,
    Trainer,
    begin,
)
from maxmargin.solvers.choose import choose
from maxmargin.solvers.kernel.cuts import TokenCuts, carried
from maxmargin.solvers.kernel.moving_points import descend
from maxmargin.solvers.kernel.result import KernelResult

FIRST = 8  # points of the first basis
STEPS, LAST = 20, 200  # gradient steps per turn; at full size, down the objective,
PART, PER_POINT, AFTER = 5000, 50, 40  # rows that lead, and steps over all after them
WORK = 1e10  # ... unless that is more work, in products of numbers ...
EXP = 30  # ... with so many for a kernel value besides its products
ROWS = 4  # rows of v to choose from, per point ...
LEAST, MOST = 3000, 20000  # ... within these bounds
WIDTH = 0.3  # slacks below it count as squares while points move
ROUGH = 0.02  # tolerance of all turns but the last
MANY = 10**9  # steps in all: turns and the steps of each are limited instead
ENDED = (Status.INTERRUPTED, Status.STOPPED, Status.MAX_TIME)  # no further turns


class BasisFit(NamedTuple):
    """What training in the span of a basis led to."""

    phi: KernelMap
    result: Result


@dataclass(kw_only=True)
class BasisState(NestedState):
    """The basis, the training in its span that is under way, and the turns so far."""

    cuts: TokenCuts
    rng: np.random.Generator
    top: float  # objective at w = 0
    sizes: list[int]  # of the bases still to come
    R: Floats  # (rows, z) the plane that the dual holds
    phi: KernelMap | None = None
    ids: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    moved: bool = False  # whether the points of the last basis have moved
    trace: list[dict[str, float]] = field(default_factory=list)
    planes_seen: list[Floats] = field(default_factory=list)


@dataclass(frozen=True)
class Subspace(Solver[BasisState]):
    """Cutting-plane subspace pursuit (CPSP).

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    n_basis : int
        Points of the basis.
    free : bool
        Whether points may leave the training rows, where the kernel has a slope.
    inner : str or Trainer
        Trains in the span of the basis.
    inner_steps : int, optional
        Steps of `inner` per turn at most.
    memory : float
        Bytes for mapped rows at most.
    """

    max_iter: int = MANY
    kernel: Kernel = Linear()
    n_basis: int = 200
    free: bool = True
    inner: str | Trainer = "auto"
    inner_steps: int | None = None
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard", "summed")
    needs: ClassVar[tuple[type, ...]] = (MappedInputs,)
    resumable: ClassVar[bool] = False

    def start(self, problem: Problem, warm: State | None = None) -> BasisState:
        """The first basis; or that of an earlier run, at its full size."""
        cuts = TokenCuts(problem)
        rows = cuts.X.shape[0]
        n_basis = min(self.n_basis, rows)
        refuse_large(
            rows, n_basis, self.memory, "the mapped rows", "use fewer n_basis", COPIES
        )
        first = cuts.at(np.zeros((rows, cuts.z)), np.zeros(cuts.others))
        state = BasisState(
            np.zeros(0), cuts=cuts, rng=np.random.default_rng(self.seed),
            top=float(problem.formulation.cost(problem.C, first.slack).sum()),
            sizes=_sizes(n_basis), R=first.R,
        )  # fmt: skip
        dual = None
        if isinstance(warm, BasisState) and self._fits(warm):
            assert warm.inner is not None
            state.sizes, state.R = state.sizes[-1:], warm.R
            state.phi, state.ids = warm.phi, warm.ids
            dual = carried(warm.inner.state)
        self._grow(state, dual)
        return state

    def step(self, problem: Problem, state: BasisState) -> None:
        """One step in the span; at its end, the next turn."""
        assert state.inner is not None
        state.inner.state.deadline = state.deadline
        state.inner.advance()
        state.follow()
        if state.inner.status is not None:
            self._end_training(state)

    def verdict(self, state: BasisState) -> Status | None:
        """A gap in the span does not end the run: the basis may have to grow."""
        return state.status

    def certify(self, problem: Problem, state: BasisState) -> None:
        """The run ends within a turn: certify what it has led to."""
        if state.inner is not None and state.status is None:
            state.inner.status = state.inner.status or Status.STOPPED
            self._end_training(state)

    def rounding(self, problem: Problem, state: BasisState) -> float:
        """The rounding error of the problem in the span."""
        return float("nan") if state.inner is None else state.inner.rounding

    def report(
        self, problem: Problem, state: BasisState, result: Result
    ) -> KernelResult:
        """The machine over the points of the basis."""
        assert state.inner is not None
        w = result.w
        if w.shape != (state.inner.problem.dim,):  # the basis has just grown
            w = state.inner.state.w
        expansion, rest = _machine(state, w)
        told = state.trace[-1] if state.trace else {}
        notes = {**result.notes, **state.inner.notes, **told}
        plain = vars(result) | {"notes": notes, "certificate": "basis"}
        trace = list(state.trace)
        return KernelResult(**plain, expansion=expansion, rest=rest, trace=trace)

    def _fits(self, warm: BasisState) -> bool:
        same = warm.phi is not None and warm.phi.kernel == self.kernel
        return same and len(warm.R) > 0 and warm.inner is not None

    def _grow(self, state: BasisState, dual: State | None) -> None:
        """The next basis, and training in its span."""
        size = state.sizes.pop(0)
        state.inner = None  # mapped rows are large: those of one basis at a time
        state.phi, state.ids = _grown(
            self.kernel, state.cuts.X, state.R, state.phi, state.ids, size, self._free,
            state.rng,
        )  # fmt: skip
        rough = self._free or bool(state.sizes)
        self._train(state, max(self.tol, ROUGH) if rough else self.tol, dual)

    @property
    def _free(self) -> bool:
        """Whether points move off the training rows."""
        return self.free and isinstance(self.kernel, Differentiable)

    def _train(self, state: BasisState, tol: float, dual: State | None) -> None:
        assert state.phi is not None
        problem = state.cuts.over(state.phi, state.phi(state.cuts.X))
        trainer = choose(
            self.inner, problem, tol=tol, max_iter=self.inner_steps, seed=self.seed
        )
        state.calls = state.oracle_calls
        state.inner = begin(trainer, problem, dual)

    def _end_training(self, state: BasisState) -> None:
        """After training in a span: move the points, grow the basis, or end."""
        assert state.inner is not None and state.phi is not None
        fit = BasisFit(state.phi, state.inner.finish())
        state.follow()
        ended = fit.result.status in ENDED or state.late()
        if self._free and not state.sizes and not state.moved and not ended:
            state.moved = True
            start, rest = _machine(state, fit.result.w)
            dual = carried(state.inner.state)
            state.inner = None
            state.phi = _move(state, start, rest)
            self._train(state, self.tol, dual)
            return
        self._note_turn(state, fit)
        if ended or not state.sizes or not np.any(state.R):
            _bound_cuts(self.kernel, state, fit)
            state.status = fit.result.status
        else:
            self._grow(state, carried(state.inner.state))

    def _note_turn(self, state: BasisState, fit: BasisFit) -> None:
        """The plane that the dual holds, and how near the span comes to it."""
        assert state.inner is not None
        cuts = state.cuts
        machine, rest = _machine(state, fit.result.w)
        state.planes_seen.append(cuts.at(machine(cuts.X), rest).R)
        found = cuts.mixture(state.inner.problem, state.inner.state)
        state.R = state.planes_seen[-1] if found is None else found
        state.trace.append(_bounds(self.kernel, cuts.X, state.R, fit, state.rng))


def _machine(state: BasisState, w: Floats) -> tuple[Expansion, Floats]:
    """The expansion over the points, and further weights."""
    assert state.inner is not None and state.phi is not None
    structure: Any = state.inner.problem.structure
    weights, rest = structure.split_weights(w)
    return state.phi.expansion(weights), rest


def _grown(
    kernel: Kernel, X: Any, R: Floats, phi: KernelMap | None, ids: Ints, size: int,
    free: bool, rng: np.random.Generator,
) -> tuple[KernelMap, Ints]:  # fmt: skip
    """A map of `size` points: those there are, and more of what they lack of v."""
    rows = _sample(R, size, rng)
    more = size - (phi.width if phi is not None else 0)
    fresh = extend(kernel, X, rows, R[rows], phi, more, rng)
    if not free:
        return map_to(kernel, X, np.append(ids, fresh))
    points = dense_rows(X[fresh])
    if phi is not None:
        points = np.concatenate((phi.points, points))
    return map_points(kernel, refine(kernel, X[rows], R[rows], points, STEPS)), ids


def _move(state: BasisState, start: Expansion, rest: Floats) -> KernelMap:
    """A map to better points: down the objective with coefficients and weights.

    Where rows are many, some of them lead most of the way.
    """
    cuts, rng = state.cuts, state.rng
    kernel, points, beta = start.kernel, start.points, start.beta
    n, (m, d) = cuts.X.shape[0], points.shape
    few, product = max(PART, PER_POINT * m), cuts.product
    turns: list[tuple[Any, Any, int]] = [(cuts.X, cuts, LAST)]
    if product is not None and n > 2 * few:
        ids = np.sort(rng.permutation(n)[:few])
        turns = [(cuts.X[ids], product.part(ids), LAST), (cuts.X, cuts, AFTER)]
    for X, asked, most in turns:
        work = float(X.shape[0]) * m * (d + EXP)
        steps = int(np.clip(WORK / work, STEPS, most))

        def risk(scores: Floats, others: Floats, asked: Any = asked) -> Any:
            return asked.slope(scores, others, WIDTH)

        points, beta, rest = descend(
            kernel, X, risk, points, beta, rest, steps, state.late
        )
    return map_points(kernel, points)


def _sizes(n_basis: int) -> list[int]:
    """Doubling up to the size asked for."""
    sizes, size = [], FIRST
    while size < n_basis:
        sizes.append(size)
        size *= 2
    return [*sizes, n_basis]


def _sample(R: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Rows of v to look at, all or some; any rows where v is zero."""
    rows = np.flatnonzero(np.any(R, axis=1))
    if len(rows) == 0:  # no constraint is violated, whatever the weights
        rows = np.arange(len(R))
    most = int(np.clip(ROWS * size, LEAST, MOST))
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def _bounds(
    kernel: Kernel, X: Any, R: Floats, fit: BasisFit, rng: Any
) -> dict[str, float]:
    """How far the optimum in the span may be from that of the kernel itself.

    "bound" is 1/2 ||v - P v||^2 and the gap of training.
    """
    rows = np.flatnonzero(np.any(R, axis=1))
    whole, left, error = residual(kernel, X, rows, R[rows], fit.phi, rng)
    left += error  # on the safe side
    gap = fit.result.primal - fit.result.dual
    return {
        "size": fit.phi.width,
        "primal": fit.result.primal,
        "norm": float(np.sqrt(max(whole, 0.0))),
        "delta": float(np.sqrt(left)),
        "bound": 0.5 * left + gap,
    }


def _bound_cuts(kernel: Kernel, state: BasisState, fit: BasisFit) -> None:
    """Add to each turn ||g - P g|| of the cut at its end, and what Theorem 6.4 says.

    P projects onto the final basis; with delta the largest of these and ||w*|| at most
    sqrt(2 primal(0)), the objective is within sqrt(2 primal(0)) delta + gap of the best.
    """
    trace, X = state.trace, state.cuts.X
    for row, R in zip(trace, state.planes_seen, strict=True):
        rows = np.flatnonzero(np.any(R, axis=1))
        _, left, error = residual(kernel, X, rows, R[rows], fit.phi, state.rng)
        row["cut delta"] = float(np.sqrt(left + error))
    delta = max([trace[-1]["delta"], *[row["cut delta"] for row in trace]])
    gap = fit.result.primal - fit.result.dual
    trace[-1]["theorem 6.4"] = float(np.sqrt(2.0 * state.top)) * delta + gap
