"""Sampled planes: kernels in time linear in the number of rows.

A plane below the risk is v = sum_i R_i phi(x_i) over rows i. It is replaced by r rows
drawn from it, v^ = sum_j S_j phi(x_j) with E v^ = v, whose products with all training
rows are computed once and kept. Algorithm 6.2 of [1] puts one sampled plane per turn
into its quadratic program; its optimum carries the noise of every plane. Here

    sampled planes (in parts: neighbouring rows of a sign) only span a space;
    planes and risk in that space are exact, trained as any linear problem is;
    the next rows are drawn from v = sum alpha a, the planes as the dual weighs them.

So the primal is that of the machine returned, and w = P v gives the distance from the
optimum, 1/2 ||v - w||^2 = 1/2 sum_i R_i (v - w)(x_i), estimated from the rows drawn.
One row is drawn from each of r shares of equal mass along a tree order of the rows, which
varies less than rows drawn at random. `SampledCutsAsWritten` is Algorithm 6.2 itself, for
which Theorem 6.2 holds.

[1] Yu 2011, Algorithm 6.2, and section 6.6 for structures.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.compiled.compiling import working_time
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.kernels.functions import Kernel, Linear
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import COPIES, Expansion
from maxmargin.kernels.pursuit import distance, some_rows
from maxmargin.kernels.sampling import Functions, KernelSums, draw, tree_order
from maxmargin.solvers.base import Result, Solver, State, Status, Trainer, run
from maxmargin.solvers.choose import choose
from maxmargin.solvers.kernel.cuts import Flat, TokenCuts, carried
from maxmargin.solvers.kernel.result import KernelResult

PARTS, EACH = 16, 4  # functions per turn, and of each label if that is more
FEWEST = 3  # turns whose functions must fit into the memory
ROUGH = 0.02  # tolerance of early turns
CALM = 3  # turns that must have gained little, where there are no dual variables


class Turn(NamedTuple):
    """What training in the span led to."""

    weights: Floats  # (functions, z)
    rest: Floats
    R: Floats  # (rows, z) the plane that the dual holds
    held: Floats  # (functions, z) its projection, if `whole`
    whole: bool  # whether R is made of dual variables
    warm: State | None
    result: Result


class Drawn(NamedTuple):
    """Rows drawn from a plane, and functions made of them."""

    ids: Ints
    S: Floats  # (rows drawn, z)
    sums: KernelSums


@dataclass(kw_only=True)
class SampledState(State):
    """The functions so far, what training in their span led to, and the next rows."""

    cuts: TokenCuts
    span: Functions
    place: Ints  # of each row along the tree order
    rng: np.random.Generator
    drawn: Drawn
    turn: Turn | None = None
    rough: float = float("inf")  # tolerance of the turn
    trace: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class SampledCuts(Solver[SampledState]):
    """Sampled cutting planes. A step is a turn: draw rows, train in the larger span.

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    samples : int
        Rows drawn per turn.
    inner : str or Trainer
        Trains in the span of the functions.
    inner_steps : int, optional
        Steps of `inner` per turn at most.
    memory : float
        Bytes for the functions' values on all rows at most.
    """

    max_iter: int = 100
    kernel: Kernel = Linear()
    samples: int = 200
    inner: str | Trainer = "auto"
    inner_steps: int | None = None
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard", "summed")
    needs: ClassVar[tuple[type, ...]] = (MappedInputs,)
    resumable: ClassVar[bool] = False

    def start(self, problem: Problem, warm: State | None = None) -> SampledState:
        """No functions, or those of an earlier run; rows of the first plane."""
        cuts, rng = TokenCuts(problem), np.random.default_rng(self.seed)
        n, z = cuts.X.shape[0], cuts.z
        refuse_large(
            n, FEWEST * _parts(z, self._most(n)) * z, self.memory,
            f"functions of {FEWEST} turns on all rows",
            "allow more memory, or use fewer rows", COPIES + 1,
        )  # fmt: skip
        place = tree_order(self.kernel, cuts.X, rng)
        span = Functions(self.kernel, cuts.X)
        if isinstance(warm, SampledState) and warm.span.kernel == self.kernel:
            span = warm.span
        R = cuts.at(np.zeros((n, z)), np.zeros(cuts.others)).R
        drawn = self._draw(span, R, rng, place)
        return SampledState(
            np.zeros(0), cuts=cuts, span=span, place=place, rng=rng, drawn=drawn,
            certificate="estimate",
        )  # fmt: skip

    def step(self, problem: Problem, state: SampledState) -> None:
        """Add the rows drawn to the span, train in it, and draw the next rows."""
        span, last = state.span, state.turn
        self._make_room(state)
        grown, done = span.add(state.drawn.ids, state.drawn.sums), state.rough
        gap = state.gap_estimate
        state.fresh = True
        state.rough = 0.5 * self.tol
        if grown:
            state.rough = max(state.rough, min(ROUGH, 0.1 * gap))
        if span.width == 0:  # no example asks for anything: w = 0 is best
            state.oracle_calls, state.status = problem.n, Status.CONVERGED
            state.primal = state.dual = state.gap_estimate = 0.0
            return
        if last is not None and not grown and done <= state.rough:
            self._look_at_other_rows(state, last)
            return
        turn = state.turn = self._train(state, last)
        if turn.result.status is Status.INTERRUPTED:
            state.status = Status.INTERRUPTED
        state.drawn = self._draw(span, turn.R, state.rng, state.place)
        state.primal = turn.result.primal
        if turn.whole:
            state.dual = turn.result.dual - 0.5 * _left(turn, span, state.drawn)
            gap = (state.primal - state.dual) / max(state.primal, 1e-300)
        else:  # without dual variables, what the last turns gained
            state.dual = -np.inf
            recent = [turn["primal"] for turn in state.trace[-CALM:]]
            before = max(recent) if len(recent) == CALM else np.inf
            gap = (before - state.primal) / max(state.primal, 1e-300)
            gap = max(gap, state.rough)  # what this turn leaves open
        state.gap_estimate, state.planes = max(gap, 0.0), span.width
        state.oracle_calls += problem.n
        if turn.whole and gap <= self.tol and state.status is None:
            self._look_at_other_rows(state, turn)
        self._note(state)

    def verdict(self, state: SampledState) -> Status | None:
        """By the estimated gap."""
        if state.status is None and state.gap_estimate <= self.tol:
            return Status.CONVERGED
        return state.status

    def certify(self, problem: Problem, state: SampledState) -> None:
        """Every turn ends with the primal of its machine."""

    def report(
        self, problem: Problem, state: SampledState, result: Result
    ) -> KernelResult:
        """The expansion over all rows drawn."""
        cuts, kernel, turn = state.cuts, self.kernel, state.turn
        weights = np.zeros((state.span.width, cuts.z)) if turn is None else turn.weights
        rest = np.zeros(cuts.others) if turn is None else turn.rest
        full = np.zeros((state.span.width, cuts.z))
        full[: len(weights)] = weights  # functions added since have no weight yet
        ids, beta = state.span.expansion(full)
        notes = {"samples": self.samples, "functions": state.span.width}
        return KernelResult(
            **vars(result) | {
                "w": beta.ravel(), "gap": state.gap_estimate,
                "notes": {**result.notes, **notes},
            },
            expansion=Expansion(kernel, kernel.points(cuts.X, ids), beta, ids),
            rest=rest, trace=list(state.trace),
        )  # fmt: skip

    def _make_room(self, state: SampledState) -> None:
        """Fewer functions, if the new ones would not fit into the memory."""
        rows, new = state.cuts.X.shape[0], state.drawn.sums.values.shape[1]
        most, turn = self._most(rows), state.turn
        if turn is not None and state.span.width + new > most:
            turned = state.span.reduce(turn.weights, most - new)
            state.turn = turn._replace(
                weights=turned.T @ turn.weights, held=turned.T @ turn.held
            )

    def _most(self, rows: int) -> int:
        """Functions whose values on all rows fit into the memory."""
        return int(self.memory // (8.0 * rows * (COPIES + 1)))

    def _draw(
        self, span: Functions, R: Floats, rng: np.random.Generator, place: Ints
    ) -> Drawn:
        """Rows drawn from R, and functions made of them."""
        ids, S = draw(R, self.samples, rng, place)
        parts = _parts(R.shape[1], self._most(len(R)))
        return Drawn(ids, S, span.sums(ids, S, parts, R))

    def _look_at_other_rows(self, state: SampledState, turn: Turn) -> None:
        """End if many rows agree with those drawn; else the worst of them come next.

        The rows drawn are few, and may be in the span where others are not.
        """
        span, result, R = state.span, turn.result, turn.R
        rows, missing, left = np.flatnonzero(np.any(R, axis=1)), span.missing(), np.inf
        if turn.whole:
            few = some_rows(len(rows), state.rng)
            inside = span.values[rows[few]] @ turn.held
            left = sum(distance(self.kernel, state.cuts.X, rows, R[rows], few, inside))
        elif not missing.any():
            left = 0.0
        state.primal, state.dual = result.primal, result.dual - 0.5 * left
        gap = (state.primal - state.dual) / max(state.primal, 1e-300)
        if turn.whole:
            state.gap_estimate = max(gap, 0.0)
        if gap <= max(self.tol, result.gap) or not missing.any():
            state.gap_estimate, state.status = max(gap, 0.0), result.status
            return
        z, size = R.shape[1], np.abs(R).sum(axis=1) ** 2 if turn.whole else 1.0
        most = _parts(z, self._most(len(R))) * z
        ids = np.argsort(-missing * size, kind="stable")[:most]
        ids = np.sort(ids[missing[ids] > 0.0])
        S = np.zeros((len(ids), z))
        S[:, 0] = 1.0  # a function of each row
        state.drawn = Drawn(ids, S, span.sums(ids, S, len(ids), R))

    def _train(self, state: SampledState, last: Turn | None) -> Turn:
        cuts, span = state.cuts, state.span
        problem = cuts.over(Flat(span.width, False), span.values)
        trainer = choose(
            self.inner, problem, tol=state.rough, max_iter=self.inner_steps,
            seed=self.seed,
        )  # fmt: skip
        if np.isfinite(state.deadline):
            left = max(state.deadline - working_time(), 1e-3)
            trainer = replace(trainer, max_time=left)
        warm = last.warm if last is not None else None
        result, inner = run(trainer, problem, start=warm)
        structure: Any = problem.structure
        weights, rest = structure.split_weights(result.w)
        R = cuts.mixture(problem, inner)
        whole = R is not None
        if R is None:
            R = cuts.at(span.values @ weights, rest).R
        held = structure.split_weights(inner.w)[0]
        return Turn(weights, rest, R, held, whole, carried(inner), result)

    def _note(self, state: SampledState) -> None:
        state.trace.append({
            "size": state.planes, "primal": state.primal, "gap": state.gap_estimate,
        })  # fmt: skip


def _parts(z: int, most: float) -> int:
    """Functions per turn and label; `EACH` only where these fit, `most` in all.

    Examples
    --------
    >>> _parts(1, 1e6), _parts(10, 1e6), _parts(10, 70)
    (16, 4, 2)
    """
    return int(max(1, PARTS // z, min(EACH, most // (FEWEST * z))))


def _left(turn: Turn, span: Functions, drawn: Drawn) -> float:
    """||v - P v||^2 from the rows drawn, and its standard error on top."""
    away = drawn.sums.at - span.values[drawn.ids] @ turn.held
    terms = np.einsum("ij,ij->i", drawn.S, away)
    spread = float(np.sqrt(len(terms) * terms.var())) if len(terms) > 1 else 0.0
    return max(float(terms.sum()), 0.0) + spread
