"""Tiny pairs of sequences whose matches a map of two positions scores."""

from dataclasses import fields

import numpy as np

from cases.alignment import LOSSES, outputs
from cases.alignment import tiny as plain
from maxmargin.kernels import map_to, paired
from maxmargin.kernels.functions import Polynomial, Rbf
from maxmargin.structures.alignment import Alignment, KernelAlignment, learn_positions

__all__ = ["LOSSES", "outputs", "tiny"]


def tiny(rng):
    """As for alignments; the rows themselves, or their map by a kernel."""
    made, X, Y = plain(rng)
    rows = learn_positions([sequence for pair in X for sequence in pair])
    given = {f.name: getattr(made, f.name) for f in fields(Alignment)}
    if rng.random() < 0.3:
        given["model"] = ()
    structure = KernelAlignment(**given, rows=rows)
    if rng.random() < 0.3:
        return structure, X, Y
    bound = structure.bind(X, Y)
    matches = bound.input_matrix(bound.encode(X))
    base = (Rbf(0.3), Polynomial(2, 0.5))[rng.integers(2)]
    kernel = paired(base, bool(rng.integers(2)))
    phi, _ = map_to(kernel, matches, np.arange(0, len(matches), 4))
    return KernelAlignment(**given, rows=rows, phi=phi), X, Y
