"""Tiny searches among candidates whose alignments are hidden, and all their outputs."""

from dataclasses import replace

from cases import homology
from cases.alignment import paths
from maxmargin.losses import WrongCandidate

LOSSES = [WrongCandidate()]


def tiny(rng):
    """As `homology`, the alignment of the homolog being a first guess only."""
    structure, X, Y = homology.tiny(rng)
    return replace(structure, hidden=True), X, Y


def outputs(structure, x, i):
    """Each candidate with all its alignments."""
    rows, cols = x.pairs.sizes
    out = []
    for c, pair in enumerate(range(x.ptr[i], x.ptr[i + 1])):
        free = paths(int(rows[pair]), int(cols[pair]), structure.alignment.mode)
        out += [[c, *path] for path in free]
    return out


same = homology.same
