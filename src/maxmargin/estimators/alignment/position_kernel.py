"""Kernels between positions of sequences: a match of s_i with t_j scores f(s_i, t_j).

    exact, nystroem, cholesky   f = phi(s)' W phi(t), phi chosen from the training positions
    sampled, cpsp               f = sum_k beta_k K(s, p_k) K(t, q_k), pairs chosen in training

The first are weights of an `Alignment` as any others. The second are trained like other
kernels (`fitting.kernels.mapped`), over pairs of positions; what comes out is written as
phi(s)' W phi(t), too, with phi(s) = K(s, .) at the positions of these pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.kernels.mapped import (
    KernelMachine,
    KernelMixin,
    kernel_plan,
)
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.kernels.functions import Kernel, Precomputed, named_kernel
from maxmargin.kernels.gram import check_semidefinite, refuse_large
from maxmargin.kernels.maps import (
    Expansion,
    KernelMap,
    exact,
    incomplete_cholesky,
    nystroem,
)
from maxmargin.kernels.row_pairs import RowPairs, halves, paired
from maxmargin.solvers.base import Result
from maxmargin.structures.alignment.inputs.positions import (
    KERNEL_VIEW,
    Positions,
    learn_positions,
)
from maxmargin.structures.alignment.inputs.views import Pair
from maxmargin.structures.alignment.kernel_structure import KernelAlignment
from maxmargin.structures.alignment.structure import Alignment

BY_POSITION = ("exact", "nystroem", "cholesky")  # the basis is one of positions
OTHERS = "kernel_method='nystroem' or 'cholesky', whose basis is one of positions"
SORTED = 3  # numbers per cell while distinct pairs of positions are looked for


class PositionKernels(KernelMixin):
    """Kernels on positions for an estimator whose structure is an `Alignment`."""

    structure_: Any

    @property
    def _chooses_pairs(self) -> bool:
        """Whether training chooses pairs of positions."""
        return self.kernel is not None and self.kernel_method not in BY_POSITION

    def _can_stream(self) -> bool:
        return super()._can_stream() if self._chooses_pairs else True

    def _check_has_weights(self, what: str) -> None:
        if self._chooses_pairs and what == "support_structures":
            raise ValueError(
                f"{what} is about the constraints of weights: kernel_method="
                f"{self.kernel_method!r} has none for the kernel"
            )
        super()._check_has_weights(what)

    def _trained_weights(self) -> Any:
        """None where lengths of features are not those of the kernel."""
        return None if self._chooses_pairs else super()._trained_weights()

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if self._chooses_pairs:
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _kernel(self, X: Any) -> Kernel:
        """The kernel of two positions, scaled to the distinct ones among the rows of X."""
        positions = np.unique(np.concatenate(halves(X)), axis=0)
        return paired(kernel_of(self, positions), bool(self.symmetric))

    def _adopt_expansion(self, machine: KernelMachine) -> None:
        """Become the alignment over the positions of the pairs that were chosen."""
        structure: Any = machine.structure
        rest = structure.split_weights(machine.w)[1]
        alignment, w = folded(structure, machine.expansion, rest)
        notes = {
            **machine.result.notes,
            "pairs of positions": len(machine.expansion.beta),
        }
        self._adopt(alignment, replace(machine.result, w=w, notes=notes))
        self.basis_trace_ = machine.trace

    def _adopt(self, structure: Structure, result: Result) -> None:
        approximate = self.kernel is not None and self.kernel_method != "exact"
        if approximate and result.certificate == "exact":
            result = replace(result, certificate="basis")
        super()._adopt(structure, result)


def with_kernel(
    structure: Alignment, X: Sequence[Any], estimator: PositionKernels
) -> Alignment:
    """The structure with scores f(s_i, t_j) added to its match scores."""
    for q, pair in enumerate(X):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pair {q}: two sequences are needed")
    positions = learn_positions([sequence for pair in X for sequence in pair])
    rows = [
        [positions.rows(sequence, f"pair {q}") for sequence in pair]
        for q, pair in enumerate(X)
    ]
    distinct = np.unique(np.concatenate([r for pair in rows for r in pair]), axis=0)
    if estimator._chooses_pairs:
        cells = sum(len(first) * len(second) for first, second in rows)
        check_memory(cells, distinct, estimator)
        plain = {f.name: getattr(structure, f.name) for f in fields(Alignment)}
        return KernelAlignment(**plain, rows=positions)
    phi = position_map(estimator, distinct, estimator._seed())
    return replace(
        structure,
        model=(*(structure.model or ()), Pair(KERNEL_VIEW, KERNEL_VIEW)),
        positions=replace(positions, phi=phi),
    )


def kernel_of(estimator: PositionKernels, rows: Floats) -> Kernel:
    """The kernel asked for, scaled to rows of positions."""
    kernel: Kernel = named_kernel(estimator.kernel, rows)
    if isinstance(kernel, Precomputed):
        raise ValueError(
            f"kernel={estimator.kernel!r}: positions of alignments have no numbers that a "
            "matrix of values could go by: give a Kernel, or a function of two matrices"
        )
    return kernel


def check_memory(cells: int, distinct: Floats, estimator: PositionKernels) -> None:
    """Refuse more pairs of positions, or more weights of them, than fit into memory."""
    memory, instead = estimator.memory, f"allow more memory, or use {OTHERS}"
    refuse_large(cells, SORTED, memory, "all cells of the training pairs", instead)
    n, width = distinct.shape
    refuse_large(
        min(cells, n * n), 2 * width, memory, "distinct pairs of positions", instead, 2
    )
    if estimator.kernel_method.startswith("sampled"):  # may draw every position
        refuse_large(
            n, n, memory, "weights of all pairs of distinct positions",
            f"allow more memory, or use kernel_method='cpsp', or {OTHERS}", 2,
        )  # fmt: skip


def position_map(estimator: PositionKernels, rows: Floats, seed: int) -> KernelMap:
    """The feature map chosen by `kernel_method`, over distinct positions."""
    method, memory = estimator.kernel_method, estimator.memory
    kernel = kernel_of(estimator, rows)
    check_semidefinite(kernel, rows)
    if method == "exact":
        refuse_large(
            len(rows), len(rows), memory, "weights of all pairs of distinct positions",
            "allow more memory, or use kernel_method='cpsp', 'nystroem' or 'cholesky'",
            2,
        )  # fmt: skip
        return exact(kernel, rows, memory)[0]
    if method == "cholesky":
        return incomplete_cholesky(kernel, rows, estimator.n_basis, memory)[0]
    return nystroem(kernel, rows, estimator.n_basis, seed, memory)


def folded(
    structure: KernelAlignment, expansion: Expansion, rest: Floats
) -> tuple[Alignment, Floats]:
    """An expansion over pairs of positions as weights of pairs of distinct positions.

    W_pq is the coefficient of the pair (p, q), and phi(s) has K(s, p) for all p.
    """
    positions: Positions | None = structure.rows
    assert positions is not None
    kernel = expansion.kernel
    base = kernel.kernel if isinstance(kernel, RowPairs) else kernel
    points, beta = np.asarray(expansion.points), expansion.beta[:, 0]
    if len(beta) == 0:  # nothing to learn: one position without weight
        points, beta = np.zeros((1, 2 * positions.width)), np.zeros(1)
    both = np.concatenate(halves(points))
    distinct, number = np.unique(both, axis=0, return_inverse=True)
    first, second = number.ravel().reshape(2, -1)
    weights = np.zeros((len(distinct), len(distinct)))
    np.add.at(weights, (first, second), beta)
    if structure.symmetric:
        weights = 0.5 * (weights + weights.T)
    phi = Expansion(base, distinct, np.eye(len(distinct)))
    return structure.unfolded(phi, weights, rest)
