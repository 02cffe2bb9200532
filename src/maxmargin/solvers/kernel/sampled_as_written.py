"""Sampled cuts as printed: Algorithm 6.2 of Yu 2011.

    g^ = |I| / k  sum_j R_{S_j} phi(x_{S_j}),     S_1 .. S_k drawn uniformly from I

In each iteration: solve the dual QP over the sampled cuts (lines 4-7), find the exact cut
g = sum_i R_i phi(x_i) at w (lines 9-13), draw k of its rows I = {i: R_i != 0} with
replacement (lines 14-16), and stop when the exact cut is violated by at most epsilon
(line 17). The products of every cut with all training rows are kept, the n x t matrix A
of section 6.4, so an iteration needs kn kernel values. What is not input (transitions,
constants) is represented exactly, as section 6.6 says.

Theorem 6.1 bounds the number of cuts in expectation, Theorem 6.2 how far the result is
above the optimum: see `notes`. `SampledCuts` is our variant, in which sampled cuts span a
space and the cuts in it are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.kernels.functions import Kernel, Linear
from maxmargin.kernels.gram import refuse_large
from maxmargin.kernels.maps import Expansion
from maxmargin.kernels.sampling import BLOCK
from maxmargin.solvers.base import Result, Solver, State, Status
from maxmargin.solvers.kernel.cuts import TokenCut, TokenCuts
from maxmargin.solvers.kernel.result import KernelResult
from maxmargin.solvers.kernel.theorems import expected_sampled_cuts, sampling_error
from maxmargin.solvers.one_slack.qp import maximise

DOUBT = 0.05  # 1 - probability of the bound of Theorem 6.2


class SampledCut(NamedTuple):
    """A cut of sampled rows, with its products with all training rows."""

    ids: Ints
    S: Floats  # (ids, z)
    rest: Floats
    values: Floats  # (rows, z) a column of A for each label


@dataclass(kw_only=True)
class SampledCutState(State):
    """Sampled cuts, their dual QP, and the scores of all rows at its solution."""

    cuts: TokenCuts
    rng: np.random.Generator
    scores: Floats  # (rows, z)
    rest: Floats
    held: list[SampledCut] = field(default_factory=list)
    b: Floats = field(default_factory=lambda: np.zeros(0))
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    alpha: Floats = field(default_factory=lambda: np.zeros(0))
    idle: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    square: float = 0.0  # ||w||^2
    xi: float = 0.0
    mass: float = (
        0.0  # largest |I| max |R_i| of a cut: C where all examples weigh alike
    )
    made: int = 0  # cuts ever added
    trace: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class SampledCutsAsWritten(Solver[SampledCutState]):
    """Algorithm 6.2 of Yu 2011. A step is one iteration.

    Parameters
    ----------
    kernel : Kernel
        On the inputs of the problem.
    samples : int
        Rows drawn for each cut, k.
    epsilon : float
        Violation of the exact cut at which training ends, in means of slacks.
    patience : int
        Iterations without weight after which a cut is dropped, 20 in the thesis.
    memory : float
        Bytes for the products of cuts with rows at most.
    """

    max_iter: int = 2000
    kernel: Kernel = Linear()
    samples: int = 200
    epsilon: float = 1e-3
    patience: int = 20
    memory: float = MEMORY
    expands: ClassVar[bool] = True
    penalties: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[type, ...]] = (MappedInputs,)
    resumable: ClassVar[bool] = False

    def start(self, problem: Problem, warm: State | None = None) -> SampledCutState:
        """No cuts, w = 0."""
        cuts = TokenCuts(problem)
        scores = np.zeros((cuts.X.shape[0], cuts.z))
        return SampledCutState(
            np.zeros(0), cuts=cuts, rng=np.random.default_rng(self.seed),
            scores=scores, rest=np.zeros(cuts.others), certificate="estimate",
        )  # fmt: skip

    def step(self, problem: Problem, state: SampledCutState) -> None:
        """The exact cut at w; unless it is within epsilon, a sample of it and the QP."""
        exact = self._look(problem, state)
        risk = float(problem.C @ exact.slack)
        if risk <= state.xi + self.epsilon * float(problem.C.sum()):
            state.status, state.fresh = Status.WITHIN_EPSILON, True
            return
        self._add(state, exact)
        self._optimise(state)
        state.planes = len(state.held)

    def verdict(self, state: SampledCutState) -> Status | None:
        """Training ends by epsilon only."""
        return state.status

    def certify(self, problem: Problem, state: SampledCutState) -> None:
        """The primal at w."""
        self._look(problem, state)
        state.fresh = True

    def report(
        self, problem: Problem, state: SampledCutState, result: Result
    ) -> KernelResult:
        """The expansion over all rows drawn, and what Theorems 6.1 and 6.2 say."""
        kernel, X = self.kernel, state.cuts.X
        ids, beta = self._expansion(state)
        radius = float(np.sqrt(kernel.diagonal(X).max(initial=0.0)))
        top = float(problem.C @ state.cuts.at(
            np.zeros_like(state.scores), np.zeros_like(state.rest)
        ).slack)  # fmt: skip
        C = float(problem.C.sum())
        spread = sampling_error(
            0.0, self.samples, max(state.made, 1), state.mass, radius,
            float(np.sqrt(2.0 * top)), DOUBT,
        )  # fmt: skip
        notes = {
            "theorem 6.2": self.epsilon * C + spread,
            "samples": self.samples, "cuts_added": state.made, "functions": len(ids),
        }  # fmt: skip
        reach = state.mass * radius / C  # no sampled cut of mean slacks is longer
        if state.made and self.epsilon < 8.0 * (reach * min(C, top)) ** 2:
            notes["theorem 6.1"] = expected_sampled_cuts(
                self.epsilon, self.samples, top, reach
            )
        return KernelResult(
            **vars(result) | {"w": beta.ravel(), "notes": {**result.notes, **notes}},
            expansion=Expansion(kernel, kernel.points(X, ids), beta, ids),
            rest=state.rest, trace=list(state.trace),
        )  # fmt: skip

    def _look(self, problem: Problem, state: SampledCutState) -> TokenCut:
        """The exact cut at w, and the primal there."""
        exact = state.cuts.at(state.scores, state.rest)
        state.oracle_calls += problem.n
        state.primal = 0.5 * state.square + float(problem.C @ exact.slack)
        state.trace.append({
            "size": len(state.held), "primal": state.primal, "dual": state.dual,
        })  # fmt: skip
        return exact

    def _add(self, state: SampledCutState, exact: TokenCut) -> None:
        """Draw rows of the exact cut; their products with all rows, and with all cuts."""
        own = np.flatnonzero(np.any(exact.R, axis=1))
        drawn = own[state.rng.integers(0, max(len(own), 1), self.samples)]
        ids, times = np.unique(drawn, return_counts=True)
        S = exact.R[ids] * (times * (len(own) / self.samples))[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", exact.R[own], exact.R[own]))
        state.mass = max(state.mass, len(own) * float(lengths.max(initial=0.0)))
        values = self._products(state, ids, S)
        cut = SampledCut(ids, S, exact.rest, values)
        m = len(state.held)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = state.gram
        for j, other in enumerate([*state.held, cut]):
            product = float(np.vdot(S, other.values[ids]) + exact.rest @ other.rest)
            gram[j, m] = gram[m, j] = product
        state.gram, state.b = gram, np.append(state.b, exact.b)
        state.alpha, state.idle = np.append(state.alpha, 0.0), np.append(state.idle, 0)
        state.held.append(cut)
        state.made += 1

    def _products(self, state: SampledCutState, ids: Ints, S: Floats) -> Floats:
        """<g^, phi(x)> for all rows x: a column of A for each label."""
        X = state.cuts.X
        values = np.empty_like(state.scores)
        refuse_large(
            len(values), state.cuts.z, self.memory / (len(state.held) + 1),
            f"the products of rows with one of {len(state.held) + 1} cuts",
            "allow more memory, or use kernel_method='sampled', which keeps fewer",
        )  # fmt: skip
        points = self.kernel.points(X, ids)
        step = max(64, BLOCK // max(len(ids), 1))
        for s in range(0, len(values), step):
            values[s : s + step] = self.kernel(X[s : s + step], points) @ S
        return values

    def _optimise(self, state: SampledCutState) -> None:
        """Solve the QP over the sampled cuts; w, xi and the dual follow."""
        alpha = maximise(state.gram, state.b, state.alpha, 1.0)
        state.idle = np.where(alpha > 0.0, 0, state.idle + 1)
        keep = np.flatnonzero(state.idle < self.patience)
        state.alpha, state.b, state.idle = alpha[keep], state.b[keep], state.idle[keep]
        state.gram = np.ascontiguousarray(state.gram[np.ix_(keep, keep)])
        state.held = [state.held[k] for k in keep]
        state.square = float(state.alpha @ state.gram @ state.alpha)
        state.xi = float(state.alpha @ state.b) - state.square
        state.dual = float(state.alpha @ state.b) - 0.5 * state.square
        state.scores, state.rest = (
            np.zeros_like(state.scores),
            np.zeros_like(state.rest),
        )
        for weight, cut in zip(state.alpha, state.held, strict=True):
            if weight > 0.0:
                state.scores += weight * cut.values
                state.rest += weight * cut.rest
        state.gap_estimate = state.gap()

    def _expansion(self, state: SampledCutState) -> tuple[Ints, Floats]:
        """Rows and coefficients of w."""
        used = [(a, c) for a, c in zip(state.alpha, state.held) if a > 0.0]
        if not used:
            return np.empty(0, np.int64), np.zeros((0, state.cuts.z))
        ids, where = np.unique(
            np.concatenate([cut.ids for _, cut in used]), return_inverse=True
        )
        beta = np.zeros((len(ids), state.cuts.z))
        np.add.at(beta, where, np.concatenate([a * cut.S for a, cut in used]))
        return ids, beta
