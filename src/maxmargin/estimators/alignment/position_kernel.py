"""Kernels between positions of sequences: match scores phi(s_i)' W phi(t_j).

The feature map phi of the kernel is chosen from the training positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.kernels.functions import named_kernel
from maxmargin.kernels.gram import check_semidefinite, refuse_large
from maxmargin.kernels.maps import KernelMap, exact, incomplete_cholesky, nystroem
from maxmargin.structures.alignment.inputs.positions import TRACK, learn_positions
from maxmargin.structures.alignment.inputs.views import Pair, View
from maxmargin.structures.alignment.structure import Alignment

METHODS = ("exact", "nystroem", "cholesky")


def with_kernel(
    structure: Alignment, sequences: Sequence[Any], estimator: Any, seed: int
) -> Alignment:
    """The structure with scores phi(s_i)' W phi(t_j) added to its match scores."""
    positions = learn_positions(sequences)
    rows = [positions.rows(s, f"sequence {k}") for k, s in enumerate(sequences)]
    distinct = np.unique(np.concatenate(rows), axis=0)
    phi = position_map(estimator, distinct, seed)
    view = View((TRACK,), real=True)
    return replace(
        structure,
        model=(*(structure.model or ()), Pair(view, view)),
        positions=replace(positions, phi=phi),
    )


def position_map(estimator: Any, rows: Floats, seed: int) -> KernelMap:
    """The feature map chosen by `kernel_method`, over distinct positions."""
    method, memory = estimator.kernel_method, estimator.memory
    if method not in METHODS:
        names = ", ".join(map(repr, METHODS))
        raise ValueError(
            f"kernel_method={method!r} is not available for alignments: choose from {names}"
        )
    if estimator.n_basis < 1:
        raise ValueError(f"n_basis={estimator.n_basis!r}: at least one point is needed")
    kernel = named_kernel(estimator.kernel, rows)
    check_semidefinite(kernel, rows)
    if method == "exact":
        refuse_large(
            len(rows), len(rows), memory, "weights of all pairs of distinct positions",
            "allow more memory, or use kernel_method='nystroem' or 'cholesky'", 2,
        )  # fmt: skip
        return exact(kernel, rows, memory)[0]
    if method == "cholesky":
        return incomplete_cholesky(kernel, rows, estimator.n_basis, memory)[0]
    return nystroem(kernel, rows, estimator.n_basis, seed, memory)
