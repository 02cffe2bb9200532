"""A few points in a few classes: dense or sparse, with and without output features."""

import numpy as np
import scipy.sparse as sp

from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.classes import Multiclass

K = 4
COST = np.array([[0, 1, 2, 3], [1, 0, 0, 2], [0.5, 1, 0, 1], [4, 1, 1, 0]], float)
LOSSES = [ZeroOne(), Hamming(), Hamming(cost=COST), Hamming(cost=COST, normalize=True)]


def tiny(rng):
    """Eight points, one of them zero."""
    X = rng.normal(size=(8, 3))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[3] = 0.0
    Y = np.append(rng.permutation(K), rng.integers(K, size=4))
    features = rng.normal(size=(K, 5)) if rng.integers(2) else None
    structure = Multiclass(features, bias=float(rng.integers(2)))
    return structure, sp.csr_array(X) if rng.integers(2) else X, Y


def outputs(structure, x, i):
    """All classes."""
    return [[y] for y in range(structure.k)]
