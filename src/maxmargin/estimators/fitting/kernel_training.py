"""Kernels for any estimator whose structure takes mapped inputs.

`fit_kernel` turns a problem over the inputs as they are into a machine of scores

    f_a(x) = sum_j beta_ja K(b_j, x)        for the labels a of the structure

by one of the methods; the structure then works on these scores with weights one. What
is not input (transitions, constants) keeps its linear weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Ragged
from maxmargin.core.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator, warn_unless_converged
from maxmargin.estimators.fitting.callbacks import watching
from maxmargin.estimators.fitting.checkpoint import keeper_of
from maxmargin.kernels.functions import named_kernel
from maxmargin.kernels.gram import check_semidefinite
from maxmargin.kernels.maps import Expansion, exact, incomplete_cholesky, nystroem
from maxmargin.reports.learned import kernel_points
from maxmargin.solvers.base import Result, State
from maxmargin.solvers.choose import choose
from maxmargin.solvers.kernel.cuts import TokenCuts
from maxmargin.solvers.kernel.sampled_cuts import Sampled, train_sampled
from maxmargin.solvers.kernel.subspace import Span, pursue

METHODS = ("exact", "sampled", "cpsp", "nystroem", "cholesky")
BASES = ("free", "train")


class Lifted(NamedTuple):
    """A kernel machine."""

    structure: Structure  # over scores
    w: Floats
    result: Result
    expansion: Expansion
    trace: list[dict[str, float]]


class KernelMixin(StructuredEstimator):
    """`kernel`, `kernel_method`, `n_basis`, `basis` and `memory` for an estimator."""

    kernel: Any = None
    kernel_method: str = "exact"
    n_basis: int = 200
    basis: str = "free"
    memory: float = MEMORY

    expansion_: Expansion

    def _fit_encoded(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: Any
    ) -> Self:
        if not self._maps_inputs():
            return super()._fit_encoded(structure, x, truth, sample_weight)
        if "_schedule" in self.__dict__:
            raise ValueError("paths and streams are for estimators without a kernel")
        problem = self._problem(structure, x, truth, sample_weight)
        try:
            lifted = self._lift(problem)
        finally:
            self._release(problem.engine)
        self._adopt_expansion(lifted)
        self._state = self._mark = None
        warn_unless_converged(lifted.result)
        return self

    def _maps_inputs(self) -> bool:
        """Whether a kernel replaces the inputs by scores."""
        return self.kernel is not None

    def _adopt(self, structure: Structure, result: Result) -> None:
        super()._adopt(structure, result)
        for name in ("expansion_", "basis_trace_"):  # of an earlier fit with a kernel
            self.__dict__.pop(name, None)

    def _adopt_expansion(self, lifted: Lifted) -> None:
        """Become the model that training with a kernel has led to."""
        self.structure_, self.result_ = lifted.structure, lifted.result
        self.coef_, self.expansion_ = lifted.w, lifted.expansion
        self.basis_trace_ = lifted.trace

    def _check_has_weights(self, what: str) -> None:
        if "expansion_" in vars(self):
            raise ValueError(
                f"{what} is about the weights of features: a kernel has none"
            )

    def _size(self) -> tuple[int, str]:
        if "expansion_" in vars(self):
            return len(self.expansion_.beta), "points of the kernel"
        return super()._size()

    def _learned(self) -> Sequence[str]:
        if "expansion_" in vars(self):
            return [kernel_points(self.expansion_.beta)]
        return super()._learned()

    @property
    def basis_(self) -> Any:
        """Points of the kernel expansion, as rows."""
        return self.expansion_.points

    @property
    def support_(self) -> Ints:
        """Numbers of the training rows in the kernel expansion."""
        rows = self.expansion_.rows
        if rows is None:
            raise AttributeError(
                f"kernel_method={self.kernel_method!r} does not keep which training rows "
                "its points are, if any: see basis_"
            )
        return rows

    def _kernel(self, X: Any) -> Any:
        """The kernel asked for, scaled to the inputs X."""
        return named_kernel(self.kernel, X)

    def _lift(self, problem: Problem) -> Lifted:
        """Train by the method asked for."""
        if self.kernel_method not in METHODS:
            names = ", ".join(map(repr, METHODS))
            raise ValueError(
                f"kernel_method={self.kernel_method!r} is not known: choose from {names}"
            )
        if self.basis not in BASES:
            raise ValueError(f"basis={self.basis!r} is neither 'free' nor 'train'")
        if self.checkpoint is not None and self.kernel_method in ("sampled", "cpsp"):
            raise ValueError(
                f"kernel_method={self.kernel_method!r} writes no checkpoints: leave "
                "checkpoint out, or choose another method"
            )
        if self.n_basis < 1:
            raise ValueError(f"n_basis={self.n_basis!r}: at least one point is needed")
        cuts = TokenCuts(problem)
        kernel = self._kernel(cuts.X)
        check_semidefinite(kernel, cuts.X)
        seed = self._seed()
        if self.kernel_method == "sampled":
            return self._lift_sampled(cuts, kernel, seed)
        if self.kernel_method == "cpsp":
            return self._lift_span(cuts, kernel, seed)
        return self._lift_map(problem, cuts, kernel, seed)

    def _lift_sampled(self, cuts: TokenCuts, kernel: Any, seed: int) -> Lifted:
        """Train by sampled planes."""

        def made(now: Sampled) -> Lifted:
            return lifted(cuts.problem, now.expansion, now.rest, now.result, now.trace)

        with watching(self, lambda one, now: one._adopt_expansion(made(now))) as watch:
            machine = train_sampled(
                cuts, kernel, self.n_basis, self._turn, self.tol,
                max_iter=self.max_iter, max_time=self.max_time, seed=seed,
                memory=self.memory, watch=watch,
            )  # fmt: skip
        return made(machine)

    def _lift_span(self, cuts: TokenCuts, kernel: Any, seed: int) -> Lifted:
        """Train in the span of a basis that grows."""
        free = self.basis == "free" and hasattr(kernel, "slope")

        def made(span: Span) -> Lifted:
            weights, rest = split(span.problem, span.result.w)
            told = span.trace[-1] if span.trace else {}
            result = replace(span.result, notes={**span.result.notes, **told})
            expansion = span.phi.expansion(weights)
            return lifted(cuts.problem, expansion, rest, result, span.trace)

        with watching(self, lambda one, now: one._adopt_expansion(made(now))) as watch:
            span = pursue(
                cuts, kernel, self.n_basis, self._turn, self.tol, free=free, seed=seed,
                memory=self.memory, watch=watch,
            )  # fmt: skip
        return made(span)

    def _lift_map(
        self, problem: Problem, cuts: TokenCuts, kernel: Any, seed: int
    ) -> Lifted:
        """Train over an explicit map."""
        X = cuts.X
        if self.kernel_method == "exact":
            phi, values = exact(kernel, X, self.memory)
        elif self.kernel_method == "cholesky":
            phi, values = incomplete_cholesky(kernel, X, self.n_basis, self.memory)
        else:
            phi = nystroem(kernel, X, self.n_basis, seed, self.memory)
            values = phi(X)
        over = cuts.over(phi, values)
        solver = self._turn(over, self.tol)
        keeper = keeper_of(self.checkpoint, over, solver)

        def take(one: Any, made: Result) -> None:
            weights, rest = split(over, made.w)
            one._adopt_expansion(
                lifted(problem, phi.expansion(weights), rest, made, [])
            )

        with watching(self, take) as watch:
            result, state = solver.solve(over, None, watch, keeper)
        if keeper is not None:
            keeper.finish(result)
        weights, rest = split(over, result.w)
        expansion = phi.expansion(weights)
        if self.kernel_method == "exact":
            expansion = dual_expansion(cuts, over, state, values, weights, expansion)
        return lifted(problem, expansion, rest, result, [])

    def _turn(self, problem: Problem, tol: float) -> Any:
        return choose(
            self.solver, problem, tol=tol, max_iter=self.max_iter,
            max_time=self.max_time, seed=self._seed(),
        )  # fmt: skip


def split(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """Weights of the mapped inputs, and all others."""
    structure: Any = problem.structure
    weights, rest = structure.split_weights(w)
    return weights, rest


def lifted(
    problem: Problem, expansion: Expansion, rest: Floats, result: Result, trace: Any
) -> Lifted:
    """The structure over the scores of an expansion."""
    structure = problem.structure.mapped(expansion)  # type: ignore[attr-defined]
    w = structure.join_weights(np.eye(expansion.width), rest)
    return Lifted(structure, w, replace(result, w=w), expansion, trace)


def dual_expansion(
    cuts: TokenCuts, problem: Problem, state: State, values: Floats, weights: Floats,
    dense: Expansion,
) -> Expansion:  # fmt: skip
    """The expansion over support rows, if the trainer's dual variables give w."""
    R = cuts.mixture(problem, state)
    if R is None:
        return dense
    scale = float(np.abs(weights).max(initial=0.0))
    if not np.allclose(values.T @ R, weights, rtol=0.0, atol=1e-8 * scale):
        return dense
    rows = np.flatnonzero(np.any(R, axis=1))
    kernel = dense.kernel
    return Expansion(kernel, kernel.points(cuts.X, rows), R[rows], rows)
