"""Cutting-plane subspace pursuit as printed: Algorithm 6.3 of Yu 2011.

    g^ = P_B g,     w = sum_i alpha_i g^_i,     B = span of phi(b_1) .. phi(b_k)

In each iteration: solve the dual QP over the projected cuts (lines 4-7) and find the exact
cut g at w (lines 9-13). While the basis has fewer than `n_basis` points, add one, the
preimage of the residual of this cut (line 14), and project all cuts onto the larger basis
(lines 15-17). Training ends when the latest cut is violated by at most epsilon (line 18).
Points are never moved.

Preimages are found by the fixed-point iteration of the thesis (RBF kernel), by gradient
steps (differentiable kernels), or among 59 training rows (CPSP(tr)). A new point adds one
row to the Cholesky factor and one to the coordinates of each cut.

`Subspace` is our variant: the basis doubles, follows the dual's mixture of cuts, and its
points go on moving.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.kernels.functions import Differentiable, Kernel, Linear, Rbf
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.growing_basis import PREIMAGES, GrowingBasis
from maxmargin.kernels.maps import Expansion
from maxmargin.kernels.pursuit import residual
from maxmargin.solvers.base import Result, Solver, State, Status
from maxmargin.solvers.kernel.cuts import TokenCut, TokenCuts
from maxmargin.solvers.kernel.result import KernelResult
from maxmargin.solvers.kernel.theorems import most_pursuit_steps, pursuit_error
from maxmargin.solvers.one_slack.qp import maximise


@dataclass
class ProjectedCut:
    """A cut by its rows, with the coordinates of its projection."""

    rows: Ints  # those with coefficients
    R: Floats  # (rows, z)
    rest: Floats
    u: Floats  # (basis, z)

    def dense(self, n: int) -> Floats:
        """R over all n rows."""
        out = np.zeros((n, self.R.shape[1]))
        out[self.rows] = self.R
        return out


@dataclass(kw_only=True)
class PursuitState(State):
    """The basis, the projected cuts, their QP, and w in the basis."""

    cuts: TokenCuts
    basis: GrowingBasis
    rng: np.random.Generator
    u: Floats  # (basis, z) w
    rest: Floats
    held: list[ProjectedCut] = field(default_factory=list)
    b: Floats = field(default_factory=lambda: np.zeros(0))
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    alpha: Floats = field(default_factory=lambda: np.zeros(0))
    square: float = 0.0  # ||w||^2
    xi: float = 0.0
    top: float = 0.0  # objective at w = 0
    trace: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class SubspaceAsWritten(Solver[PursuitState]):
    """Algorithm 6.3 of Yu 2011. A step is one iteration.

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    n_basis : int
        Points of the basis at most.
    preimage : {"fixed-point", "gradient", "train"} or None
        How the next point is found; "train" is CPSP(tr). None: the fixed-point iteration
        with an RBF kernel, gradients with other differentiable kernels, else "train".
    epsilon : float
        Violation of the latest cut at which training ends, in means of slacks.
    memory : float
        Bytes for the values of the basis on all rows at most.
    """

    max_iter: int = 2000
    kernel: Kernel = Linear()
    n_basis: int = 200
    preimage: str | None = None
    epsilon: float = 1e-3
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (MappedInputs,)
    resumable: ClassVar[bool] = False

    def refusal(self, problem: Problem) -> str | None:
        """A way to find preimages that the kernel does not have."""
        how = self._how
        if how not in PREIMAGES:
            return f"preimage={how!r} is not known: choose from {', '.join(PREIMAGES)}"
        if how == "fixed-point" and not isinstance(self.kernel, Rbf):
            return (
                "preimage='fixed-point' needs the RBF kernel: use 'gradient' or 'train'"
            )
        if how == "gradient" and not isinstance(self.kernel, Differentiable):
            return "preimage='gradient' needs a differentiable kernel: use 'train'"
        return None

    @property
    def _how(self) -> str:
        if self.preimage is not None:
            return self.preimage
        if isinstance(self.kernel, Rbf):
            return "fixed-point"
        return "gradient" if isinstance(self.kernel, Differentiable) else "train"

    def start(self, problem: Problem, warm: State | None = None) -> PursuitState:
        """No cuts, no basis, w = 0."""
        cuts = TokenCuts(problem)
        rows = cuts.X.shape[0]
        most = min(self.n_basis, rows)
        refuse_large(
            rows, most, self.memory, "the basis on all rows", "use fewer n_basis"
        )
        return PursuitState(
            np.zeros(0), cuts=cuts, basis=GrowingBasis(self.kernel, cuts.X, most),
            rng=np.random.default_rng(self.seed), u=np.zeros((0, cuts.z)),
            rest=np.zeros(cuts.others), certificate="basis",
        )  # fmt: skip

    def step(self, problem: Problem, state: PursuitState) -> None:
        """The exact cut at w; unless it is within epsilon, a point, and the QP."""
        exact = self._look(problem, state)
        risk = float(problem.C @ exact.slack)
        if not state.held:
            state.top = risk
        if risk <= state.xi + self.epsilon * float(problem.C.sum()):
            state.status, state.fresh = Status.WITHIN_EPSILON, True
            return
        self._add(state, exact)
        if state.basis.size < min(self.n_basis, state.cuts.X.shape[0]):
            self._extend(state, exact)
        self._optimise(state)
        state.planes = len(state.held)

    def verdict(self, state: PursuitState) -> Status | None:
        """Training ends by epsilon only."""
        return state.status

    def certify(self, problem: Problem, state: PursuitState) -> None:
        """The primal at w."""
        self._look(problem, state)
        state.fresh = True

    def report(
        self, problem: Problem, state: PursuitState, result: Result
    ) -> KernelResult:
        """The expansion over the basis, and what Theorems 6.3 and 6.4 say."""
        basis, C = state.basis, float(problem.C.sum())
        none = np.empty(0, np.int64)
        points = basis.points if basis.size else self.kernel.points(state.cuts.X, none)
        beta = np.ascontiguousarray(basis.coefficients(state.u))
        expansion = Expansion(self.kernel, points, beta)
        notes = {
            "preimages": self._how, "points": basis.size, "cuts_added": len(state.held),
            "theorem 6.3": self._most_steps(state, C),
        }  # fmt: skip
        if basis.size and result.status is Status.WITHIN_EPSILON:
            notes["theorem 6.4"] = pursuit_error(
                self.epsilon, self._delta(state) / C, C, float(np.sqrt(2.0 * state.top))
            )
        return KernelResult(
            **vars(result)
            | {"w": expansion.beta.ravel(), "notes": {**result.notes, **notes}},
            expansion=expansion, rest=state.rest, trace=list(state.trace),
        )  # fmt: skip

    def _look(self, problem: Problem, state: PursuitState) -> TokenCut:
        """The exact cut at w, and the primal there."""
        scores = state.basis.values @ state.basis.coefficients(state.u)
        exact = state.cuts.at(scores, state.rest)
        state.oracle_calls += problem.n
        state.primal = 0.5 * state.square + float(problem.C @ exact.slack)
        state.trace.append({
            "size": state.basis.size, "primal": state.primal, "dual": state.dual,
        })  # fmt: skip
        return exact

    def _add(self, state: PursuitState, exact: TokenCut) -> None:
        """The exact cut, projected onto the basis there is."""
        rows = np.flatnonzero(np.any(exact.R, axis=1))
        u = state.basis.coordinates(exact.R)
        state.held.append(ProjectedCut(rows, exact.R[rows], exact.rest, u))
        m = len(state.held) - 1
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = state.gram
        for j, other in enumerate(state.held):
            product = float(np.vdot(u, other.u) + exact.rest @ other.rest)
            gram[j, m] = gram[m, j] = product
        state.gram, state.b = gram, np.append(state.b, exact.b)
        state.alpha = np.append(state.alpha, 0.0)

    def _extend(self, state: PursuitState, exact: TokenCut) -> None:
        """One point for the latest cut; all cuts are projected onto the larger basis."""
        basis, latest = state.basis, state.held[-1]
        point = basis.preimage(exact.R, latest.u, self._how, state.rng)
        if not basis.add(point):
            return
        n, more = len(exact.R), []
        for cut in state.held:
            row = basis.next_coordinate(cut.dense(n), cut.u)
            cut.u = np.concatenate((cut.u, row[None, :]))
            more.append(row)
        rows = np.array(more)
        state.gram += rows @ rows.T

    def _optimise(self, state: PursuitState) -> None:
        """Solve the QP over the projected cuts; w, xi and the dual follow."""
        state.alpha = maximise(state.gram, state.b, state.alpha, 1.0)
        state.square = float(state.alpha @ state.gram @ state.alpha)
        state.xi = float(state.alpha @ state.b) - state.square
        state.dual = float(state.alpha @ state.b) - 0.5 * state.square
        state.u = np.zeros((state.basis.size, state.cuts.z))
        state.rest = np.zeros_like(state.rest)
        for weight, cut in zip(state.alpha, state.held, strict=True):
            if weight > 0.0:
                state.u += weight * cut.u
                state.rest += weight * cut.rest
        state.gap_estimate = state.gap()

    def _delta(self, state: PursuitState) -> float:
        """Largest distance of a cut with weight from its projection.

        The QP over these cuts alone has the same solution, so the theorem needs no others.
        """
        phi, delta = state.basis.as_map(), 0.0
        for weight, cut in zip(state.alpha, state.held, strict=True):
            if weight > 0.0:
                _, left, error = residual(
                    self.kernel, state.cuts.X, cut.rows, cut.R, phi, state.rng
                )
                delta = max(delta, float(np.sqrt(left + error)))
        return delta

    def _most_steps(self, state: PursuitState, C: float) -> float:
        """Iterations at most. Cuts are C times means: their lengths are at most C R."""
        lengths = [np.sqrt(np.einsum("ij,ij->i", c.R, c.R)).sum() for c in state.held]
        rest = [float(np.linalg.norm(c.rest)) for c in state.held]
        radius = float(np.sqrt(self.kernel.diagonal(state.cuts.X).max(initial=0.0)))
        R = max([radius * a + r for a, r in zip(lengths, rest)], default=0.0) / C
        return most_pursuit_steps(self.epsilon, self.n_basis, C, R, state.top / C)
