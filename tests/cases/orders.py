"""A few short lists of documents and all their orders."""

from itertools import permutations

import numpy as np

from maxmargin.losses import AveragePrecision, RocArea
from maxmargin.structures.ranking import FullOrder

LOSSES = [AveragePrecision(), RocArea()]


def tiny(rng):
    """Five queries of one to five documents; one without relevant documents."""
    sizes = [4, 1, 5, 3, 4]
    X = [rng.normal(size=(m, 3)) for m in sizes]
    Y = [rng.integers(2, size=m).tolist() for m in sizes]
    Y[3] = [0, 0, 0]
    return FullOrder(), X, Y


def outputs(structure, x, i):
    """All orders."""
    m = int(np.diff(x.ptr)[i])
    return [list(p) for p in permutations(range(m))]
