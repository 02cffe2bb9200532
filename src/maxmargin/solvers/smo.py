"""SMO on the factored dual of max-margin Markov networks.

    max  sum_x sum_v mu_x(y_v) Delta(y_v) - 1/2 || sum_x C psi(truth) - E_mu psi ||^2

over locally consistent marginals mu of nodes and edges with mass C. On forests, and with
marginals of cliques on triangulated graphs, this is the exponential dual itself; on
other graphs it is a relaxation, whose value is an upper bound. Where psi has features of
cliques of its own (`CliqueFactors`), each lies in a clique of the triangulation, whose
marginals tell the expected feature: the dual is factored over these [1, section 8].

A step takes one example. Inference finds the labels y1 of highest gradient (the
loss-augmented best) and the labels y2 of lowest gradient that still have mass. Mass
lambda moves from the marginals of y2 to those of y1, with lambda in closed form. Where
y1 and y2 differ in several places that are not connected, each place has a lambda of its
own. When no y1 beats its y2, the KKT conditions hold. Examples at their optimum are
skipped for some passes, each time twice as many as before.

[1] Taskar, Guestrin and Koller 2003, equations (10) and (12), sections 5 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.factored import CliqueFactors, CompiledAscent, Factored
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Augment
from maxmargin.inference.graph.cliques import Cliques, decode_cliques
from maxmargin.inference.graph.decode import DENSE, decode
from maxmargin.inference.graph.forest import rooted
from maxmargin.inference.graph.tables import GraphTables
from maxmargin.inference.graph.triangulation import MAX_TABLE
from maxmargin.inference.loopy import relaxation
from maxmargin.inference.marginals.compiled_ascent import Ascent, Forests, Work
from maxmargin.inference.marginals.directions import Direction
from maxmargin.inference.marginals.polytope import Point
from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.resting import Resting, permutation

LONGEST_REST = 15  # passes that an example sits out at most


@dataclass(kw_only=True)
class SmoState(State):
    """Marginals, and what is known about each example."""

    DERIVED: ClassVar[tuple[str, ...]] = (*State.DERIVED, "forests", "work")

    point: Point
    slack: Floats  # (n,) as last seen
    resting: Resting
    linear: float = 0.0  # the loss term of the dual
    forests: Forests | None = None  # what compiled ascent reads, where it is offered
    work: Work | None = None
    turn: int = 0


@dataclass(frozen=True)
class Smo(Solver[SmoState]):
    """Mass moved between marginals, one example at a time.

    A step of `max_iter` is one pass over the examples that are not skipped.

    Parameters
    ----------
    block : int
        Examples per call of inference; their steps are still made one by one, each
        with the exact gradient at the weights of its turn.
    inner : int
        Steps per visit of an example at most, where they are compiled (forests).
    share : float
        A visit ends when score(y1) - score(y2) is below this share of what it was.
    """

    max_iter: int = 2000
    block: int = 16
    inner: int = 10
    share: float = 0.1
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (Factored,)
    uses: ClassVar[tuple[type, ...]] = (CliqueFactors, CompiledAscent)

    def refusal(self, problem: Problem) -> str | None:
        """Margin rescaling with a loss that is a sum over nodes is needed."""
        if problem.formulation.rescaling == "margin" and problem.loss.form == "table":
            return _too_wide(problem)
        return (
            "solver 'smo' moves marginals, so it needs rescaling='margin' and a loss "
            "that is a sum over nodes, such as 'hamming'"
        )

    def start(self, problem: Problem, warm: State | None = None) -> SmoState:
        """All mass on the truth, w = 0; or an earlier run's marginals, scaled to C."""
        if isinstance(warm, SmoState) and _continues(warm, problem):
            return _rescaled(warm, problem)
        structure = problem.structure.require(Factored, "solver 'smo'")
        ids, n = np.arange(problem.n), problem.n
        w = np.zeros(problem.dim)
        tables = structure.tables(problem.x, ids, w)
        true = structure.local_labels(problem.x, ids, problem.truth)
        point = Point(tables, structure.plan(problem.x), true, problem.C)
        resting = Resting(n, LONGEST_REST)
        state = SmoState(w, point=point, slack=np.zeros(n), resting=resting)
        if problem.structure.offers(CompiledAscent) is not None:
            augment = Augment(problem.truth, problem.loss, np.ones(n))
            loss = structure.augmented(problem.x, ids, tables, augment)
            state.forests, state.work = ascent_arrays(
                tables, point, loss.unary - tables.unary, true
            )
        return state

    def step(self, problem: Problem, state: SmoState) -> None:
        """One pass; certify when the slacks seen suggest that the gap is closed."""
        if state.gap_estimate <= self.tol:
            self.certify(problem, state)
            if state.gap() <= self.tol:
                return
        state.turn += 1
        before = state.dual
        augment = Augment(problem.truth, problem.loss, np.ones(problem.n))
        order = permutation(self.seed, state.turn, problem.n)
        awake = state.resting.next_pass(order)
        for s in range(0, len(awake), self.block):
            self._visit(problem, state, augment, awake[s : s + self.block])
            if state.late():
                break
        square = problem.structure.square(state.w)
        state.dual = state.linear - 0.5 * square
        state.planes = int((state.point.node > 0).sum())
        primal = 0.5 * square + float(problem.C @ state.slack)
        state.gap_estimate = max(primal - state.dual, 0.0) / max(primal, 1e-300)
        if state.judge(state.dual - before, 1e-15, 4):
            state.resting.wake_all()

    def _visit(
        self, problem: Problem, state: SmoState, augment: Augment, ids: Ints
    ) -> None:
        x = problem.x
        if state.forests is not None:
            self._ascend(problem, state, ids)
            return
        structure = problem.structure.require(Factored, "solver 'smo'")
        plain = structure.tables(x, ids, state.w)
        tables = structure.augmented(x, ids, plain, augment)
        beyond = problem.structure.offers(CliqueFactors)
        factors = None if beyond is None else beyond.factors(x, ids, state.w)
        true = structure.local_labels(x, ids, augment.truth.take(ids))
        right = plain.score(true)
        if factors is not None:
            right += factors.score(plain, true)
        way, best = self._direction(problem, state, ids, tables, factors)
        cost = tables.unary - plain.unary
        gain = way.gain(tables, cost)
        by = structure.transfer(x, ids, state.w, plain, way, gain)
        state.point.move(ids, tables, way, by)
        state.linear += float(by @ gain)
        state.oracle_calls += len(ids)
        state.slack[ids] = np.maximum(best - right, 0.0)
        moved = np.zeros(len(ids))
        np.maximum.at(moved, way.graph_of_group(tables), by)
        quiet = moved <= 1e-9 * problem.C[ids]
        state.resting.visited(ids, quiet)

    def _ascend(self, problem: Problem, state: SmoState, ids: Ints) -> None:
        """Several steps on each example, compiled."""
        compiled = problem.structure.require(CompiledAscent, "compiled ascent")
        point = state.point
        assert state.forests is not None and state.work is not None
        ascent = Ascent(state.forests, point.node, point.edge, state.work)
        gain = compiled.ascend(
            problem.x, ids, state.w, ascent, self.inner, self.share, state.slack
        )
        state.linear += gain
        state.oracle_calls += len(ids)

    def _direction(
        self, problem: Problem, state: SmoState, ids: Ints, tables: GraphTables,
        factors: Cliques | None,
    ) -> tuple[Direction, Floats]:  # fmt: skip
        """From y2 to y1, and a bound on the augmented scores."""
        structure = problem.structure.require(Factored, "solver 'smo'")
        method = structure.inference
        if method == "lp":
            found = relaxation.relax(tables)
            return state.point.toward_relaxed(ids, tables, found), found.value
        plan = structure.plan(problem.x).take(ids)
        if factors is None:
            best = decode(tables, plan, method)
        else:
            best = decode_cliques(tables, factors, plan, method)
        return state.point.toward(ids, tables, best.labels, factors), best.bound


def _too_wide(problem: Problem) -> str | None:
    """A graph with cliques whose junction tree has no tables, by its number."""
    if problem.structure.offers(CliqueFactors) is None:
        return None
    structure = problem.structure.require(Factored, "solver 'smo'")
    wide = np.flatnonzero(structure.plan(problem.x).kind == DENSE)
    if len(wide) == 0:
        return None
    return (
        f"graph {wide[0]}: its junction tree is too wide for inference="
        f"{structure.inference!r}, and solver 'smo' moves marginals of its cliques: use "
        f"inference='junction', which has tables of up to {MAX_TABLE:.3g} entries and "
        "says how large larger ones are, or solver='block-dual'"
    )


def _continues(warm: SmoState, problem: Problem) -> bool:
    """Whether the marginals fit: the same graphs, all C changed by one factor."""
    if len(warm.w) != problem.dim or len(warm.point.mass) != problem.n:
        return False
    factor = problem.C / np.maximum(warm.point.mass, 1e-300)
    return bool(np.allclose(factor, factor[0], rtol=1e-12))


def _rescaled(warm: SmoState, problem: Problem) -> SmoState:
    factor = float(problem.C[0] / warm.point.mass[0])
    warm.point.scale(factor)
    w = warm.w * factor
    state = SmoState(
        w, point=warm.point, linear=warm.linear * factor, slack=warm.slack.copy(),
        resting=Resting(problem.n, LONGEST_REST), work=warm.work,
    )  # fmt: skip
    if warm.forests is not None:
        state.forests = warm.forests._replace(mass=warm.point.mass)
    state.dual = state.linear - 0.5 * problem.structure.square(w)
    state.gap_estimate = 0.0 if factor == 1.0 else np.inf
    return state


def ascent_arrays(
    tables: GraphTables, point: Point, cost: Floats, true: Labels
) -> tuple[Forests, Work]:
    """What `ascend` reads, and its scratch space."""
    tree = rooted(tables)
    nodes = int(np.diff(tables.node_ptr).max(initial=1))
    labels = int(np.diff(tables.label_ptr[tables.node_ptr]).max(initial=1))
    most = int(tables.n_labels.max(initial=1))
    forests = Forests(
        tree.order, tree.parent, tables.label_ptr, point.edge_ptr, cost, true,
        point.mass,
    )  # fmt: skip
    work = Work(
        np.zeros(labels), np.zeros(labels), np.zeros(labels),
        np.zeros((nodes, most), np.int32), np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int32), np.zeros((nodes, nodes)),
        np.zeros(len(tables.pairwise)),
    )  # fmt: skip
    return forests, work
