"""Tiny sequences and all places of a motif in them."""

import numpy as np

from maxmargin.losses import MotifLoss
from maxmargin.structures import Motif

LOSSES = [MotifLoss(), MotifLoss(miss=2.0, false_alarm=0.5)]


def tiny(rng):
    """Seven sequences, one too short for the motif, one with unknown bases."""
    sizes = [5, 9, 3, 12, 6, 7, 2]
    X = ["".join(rng.choice(list("ACGT"), size=s)) for s in sizes]
    X[4] = X[4][:2] + "N" + X[4][3:]
    X[5] = X[5].lower()
    structure = Motif(
        length=3, order=int(rng.integers(4)), both_strands=bool(rng.integers(2))
    )
    Y = [int(v) for v in rng.integers(2, size=len(X))]
    Y[0], Y[1], Y[6] = 1, 0, 0
    return structure, X, Y


def outputs(structure, x, i):
    """No motif, and every place and strand."""
    size = int(np.diff(x.ptr)[i])
    strands = (0, 1) if structure.both_strands else (0,)
    places = range(size - structure.length + 1)
    return [[0, 0, 0]] + [[1, h, s] for h in places for s in strands]
