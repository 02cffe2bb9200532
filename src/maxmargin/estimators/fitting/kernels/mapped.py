"""Kernels for any estimator whose structure takes mapped inputs.

A problem over the inputs as they are becomes a machine of scores

    f_a(x) = sum_j beta_ja K(b_j, x)        for the labels a of the structure

by one of the methods; the structure then works on these scores with weights one. What
is not input (transitions, constants) keeps its linear weights.

    nystroem, cholesky          an explicit map phi, then any trainer over phi(x)
    exact                       the same over a map of all rows; for classes working sets
                                on columns of the Gram matrix (`KernelDual`)
    sampled, cpsp               solvers that choose functions as they train
    exact, two classes          SMO on the Gram matrix (`KernelSVM`)

All of them are a plan of `training`, so that callbacks, limits, warm starts and paths
are those of every other fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs, Structure
from maxmargin.estimators.fitting.base import OF_EARLIER, StructuredEstimator
from maxmargin.estimators.fitting.kernels.certificate import of_expansion
from maxmargin.estimators.fitting.parameters import SampleWeight
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.kernels.functions import Kernel, Precomputed, named_kernel, rows_for
from maxmargin.kernels.gram import check_semidefinite
from maxmargin.kernels.maps import (
    Expansion,
    KernelMap,
    exact,
    incomplete_cholesky,
    nystroem,
)
from maxmargin.reports.weight_tables import kernel_points
from maxmargin.solvers.base import Result, State, Trainer
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated.kernel_dual import KernelDual, kernel_dual_applies
from maxmargin.solvers.kernel.binary_smo import BinarySmo
from maxmargin.solvers.kernel.cpsp_as_written import SubspaceAsWritten
from maxmargin.solvers.kernel.cuts import TokenCuts
from maxmargin.solvers.kernel.result import KernelResult
from maxmargin.solvers.kernel.sampled_as_written import SampledCutsAsWritten
from maxmargin.solvers.kernel.sampled_cuts import SampledCuts
from maxmargin.solvers.kernel.subspace import Subspace
from maxmargin.structures.joint.structure import PairStructure

BASES = ("free", "train")


class KernelMachine(NamedTuple):
    """A structure over the scores of an expansion, and how it was trained."""

    structure: Structure  # over scores
    w: Floats
    result: Result
    expansion: Expansion
    trace: list[dict[str, float]]


class MappedProblem(NamedTuple):
    """A problem over phi(x), and what led to it."""

    cuts: TokenCuts  # of the problem over x
    problem: Problem
    phi: KernelMap
    values: Floats  # phi of all rows
    dual: bool  # whether the expansion may be one over support rows


class KernelMixin(StructuredEstimator):
    """`kernel`, `kernel_method`, `n_basis`, `basis` and `memory` for an estimator."""

    kernel: Any = None
    kernel_method: str = "exact"
    n_basis: int = 200
    basis: str = "free"
    memory: float = MEMORY

    expansion_: Expansion
    basis_trace_: list[Any]

    @available_if(lambda self: self._can_stream())
    def partial_fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Continue training with a further batch; not there with a kernel.

        See `StructuredEstimator.partial_fit`.
        """
        return super().partial_fit(X, y, sample_weight)

    def _can_stream(self) -> bool:
        """Whether there is a `partial_fit`."""
        if self.kernel is not None:
            raise AttributeError(
                "partial_fit is not available for kernels, which need all rows at once"
            )
        return True

    def _adopt_expansion(self, machine: KernelMachine) -> None:
        """Become the model that training with a kernel has led to."""
        for name in OF_EARLIER:
            self.__dict__.pop(name, None)
        self.structure_, self.result_ = machine.structure, machine.result
        self.coef_, self.expansion_ = machine.w, machine.expansion
        self.basis_trace_ = machine.trace

    def _has_pairs(self) -> bool:
        """Whether the fitted model is one over support pairs of a joint kernel."""
        return isinstance(vars(self).get("structure_"), PairStructure)

    def _check_has_weights(self, what: str) -> None:
        if self._has_pairs() and what in ("explain", "best_few"):
            return  # support pairs have names and coefficients
        if "expansion_" in vars(self) or self._has_pairs():
            raise ValueError(
                f"{what} is about the weights of features: a kernel has none"
            )

    def _size(self) -> tuple[int, str]:
        if "expansion_" in vars(self):
            return len(self.expansion_.beta), "points of the kernel"
        if self._has_pairs():
            return len(self.result_.w), "support pairs"
        return super()._size()

    def _learned(self) -> Sequence[str]:
        if "expansion_" in vars(self):
            return [kernel_points(self.expansion_.beta)]
        if self._has_pairs():
            return []
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
        return checked_square(named_kernel(self.kernel, X), X)

    def _kernel_trainer(
        self, problem: Problem
    ) -> tuple[Trainer, Problem, MappedProblem | None]:
        """How to train, over which problem, and the map that led to it, if any."""
        self._check_kernel_settings()
        structure = problem.structure.require(MappedInputs, "a kernel")
        X = structure.input_matrix(problem.x)
        if self.kernel_method.startswith(("sampled", "cpsp")):
            return self._growing(self._checked_kernel(X)), problem, None
        if self._trains_by_columns(problem):
            given = {} if self.max_iter is None else {"max_iter": self.max_iter}
            trainer: Trainer = KernelDual(
                self.tol, max_time=self.max_time, seed=self._seed(),
                kernel=self._checked_kernel(X), memory=self.memory, **given,
            )  # fmt: skip
            return trainer, problem, None
        mapped = self._mapped(problem)
        trainer = choose(
            self.solver, mapped.problem, tol=self.tol, max_iter=self.max_iter,
            max_time=self.max_time, seed=self._seed(),
        )  # fmt: skip
        return trainer, mapped.problem, mapped

    def _trains_by_columns(self, problem: Problem) -> bool:
        """Whether training needs columns of the Gram matrix, not a map of all rows."""
        exact = self.kernel_method == "exact" and self.solver == "auto"
        return exact and kernel_dual_applies(problem, self.memory)

    def _growing(self, kernel: Kernel) -> Trainer:
        """A solver that chooses functions as it trains."""
        if self.kernel_method.endswith("-as-written"):
            return self._as_written(kernel)
        if self.kernel_method == "cpsp":
            return Subspace(
                self.tol, max_time=self.max_time, seed=self._seed(), kernel=kernel,
                n_basis=self.n_basis, free=self.basis == "free", inner=self.solver,
                inner_steps=self.max_iter, memory=self.memory,
            )  # fmt: skip
        turns = SampledCuts.max_iter if self.max_iter is None else self.max_iter
        return SampledCuts(
            self.tol, turns, self.max_time, self._seed(), kernel=kernel,
            samples=self.n_basis, inner=self.solver, inner_steps=self.max_iter,
            memory=self.memory,
        )  # fmt: skip

    def _as_written(self, kernel: Kernel) -> Trainer:
        """The algorithms of Yu 2011 as printed; `tol` is their epsilon.

        `solver` may be an object of the algorithm, for the options it has beyond these.
        """
        sampled = self.kernel_method == "sampled-as-written"
        kind = SampledCutsAsWritten if sampled else SubspaceAsWritten
        if isinstance(self.solver, kind):
            return replace(self.solver, kernel=kernel)
        if self.solver != "auto":
            given = self.solver if isinstance(self.solver, str) else type(self.solver)
            raise ValueError(
                f"solver={given!r}: kernel_method={self.kernel_method!r} is a solver "
                f"of its own: leave solver='auto', or give a {kind.__name__}(..)"
            )
        common: dict[str, Any] = {
            "max_time": self.max_time, "seed": self._seed(), "kernel": kernel,
            "epsilon": self.tol, "memory": self.memory,
        }  # fmt: skip
        if self.max_iter is not None:
            common["max_iter"] = self.max_iter
        if sampled:
            return SampledCutsAsWritten(**common, samples=self.n_basis)
        train = "train" if self.basis == "train" else None
        return SubspaceAsWritten(**common, n_basis=self.n_basis, preimage=train)

    def _check_kernel_settings(self) -> None:
        if self.basis not in BASES:
            raise ValueError(f"basis={self.basis!r} is neither 'free' nor 'train'")

    def _checked_kernel(self, X: Any) -> Kernel:
        """The kernel asked for; refused if it is not positive semi-definite on X."""
        X = rows_for(X)
        kernel: Kernel = self._kernel(X)
        check_semidefinite(kernel, X)
        return kernel

    def _mapped(self, problem: Problem) -> MappedProblem:
        """The problem over an explicit map."""
        cuts, memory = TokenCuts(problem), self.memory
        X, whole = cuts.X, self.kernel_method == "exact"
        kernel = self._checked_kernel(X)
        if whole:
            phi, values = exact(kernel, X, memory)
        elif self.kernel_method == "cholesky":
            phi, values = incomplete_cholesky(kernel, X, self.n_basis, memory)
        else:
            phi = nystroem(kernel, X, self.n_basis, self._seed(), memory)
            values = phi(X)
        return MappedProblem(cuts, cuts.over(phi, values), phi, values, whole)


def kernel_plan(
    estimator: KernelMixin, data: TrainingData, C: float | None = None
) -> TrainingPlan:
    """What to run where a kernel replaces the inputs by scores."""
    problem = estimator._problem(*data[:4], C)
    if problem.formulation.regularizer != "l2":
        raise ValueError(
            "regularizer='l1' is about the weights of features, and a kernel has none: "
            "leave out one of the two"
        )
    trainer, problem, mapped = estimator._kernel_trainer(problem)

    def adopt(one: Any, result: Result, state: State | None) -> None:
        if isinstance(result, KernelResult):
            machine = machine_of(data.structure, result)
        else:
            assert mapped is not None
            machine = machine_over_map(data.structure, mapped, result, state)
        one._adopt_expansion(machine)

    def certify(result: Result, state: State | None) -> Result:
        if isinstance(trainer, KernelDual | BinarySmo):  # they work with the machine
            return result
        over = problem if mapped is None else mapped.cuts.problem
        cuts = TokenCuts(over.with_C(over.C * result.notes.get("C", 1.0)))
        if isinstance(result, KernelResult):
            expansion, rest = result.expansion, result.rest
            return of_expansion(cuts, expansion, rest, result, estimator.tol)
        assert mapped is not None
        machine = machine_over_map(data.structure, mapped, result, state)
        inner: Any = mapped.problem.structure
        weights, rest = inner.split_weights(result.w)
        trained = mapped.values @ weights
        return of_expansion(
            cuts, machine.expansion, rest, result, estimator.tol, trained
        )

    return TrainingPlan(
        trainer, problem, adopt, data.X, data.y, streams=False, certify=certify
    )


def checked_square(kernel: Kernel, X: Any) -> Kernel:
    """The kernel; a precomputed one is refused unless X is a square matrix."""
    if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed kernel is a square matrix, but X has shape {X.shape}"
        )
    return kernel


def machine_of(structure: Structure, result: KernelResult) -> KernelMachine:
    """The machine of a solver that chooses its functions itself."""
    return _machine(structure, result.expansion, result.rest, result, result.trace)


def machine_over_map(
    structure: Structure, mapped: MappedProblem, result: Result, state: State | None
) -> KernelMachine:
    """The machine of a trainer over an explicit map."""
    over = mapped.problem.structure.require(MappedInputs, "a kernel")
    weights, rest = over.split_weights(result.w)
    expansion = mapped.phi.expansion(weights)
    if not mapped.dual and result.certificate == "exact":
        result = replace(result, certificate="basis")
    if mapped.dual and state is not None:
        expansion = dual_expansion(mapped, state, weights, expansion)
    return _machine(structure, expansion, rest, result, [])


def _machine(
    structure: Structure, expansion: Expansion, rest: Floats, result: Result,
    trace: list[dict[str, float]],
) -> KernelMachine:  # fmt: skip
    """The structure over the scores of an expansion."""
    over: Any = structure.require(MappedInputs, "a kernel").mapped(expansion)
    w = over.join_weights(np.eye(expansion.width), rest)
    plain = {f.name: getattr(result, f.name) for f in fields(Result)}
    return KernelMachine(over, w, Result(**plain | {"w": w}), expansion, trace)


def dual_expansion(
    mapped: MappedProblem, state: State, weights: Floats, dense: Expansion
) -> Expansion:
    """The expansion over support rows, if the trainer's dual variables give w."""
    R = mapped.cuts.mixture(mapped.problem, state)
    if R is None:
        return dense
    scale = float(np.abs(weights).max(initial=0.0))
    if not np.allclose(mapped.values.T @ R, weights, rtol=0.0, atol=1e-8 * scale):
        return dense
    rows = np.flatnonzero(np.any(R, axis=1))
    kernel = dense.kernel
    return Expansion(kernel, kernel.points(mapped.cuts.X, rows), R[rows], rows)
