"""Sets of labels: without a taxonomy, in a tree, and where labels have several parents."""

from itertools import product

import numpy as np
import scipy.sparse as sp

from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures.classes import LabelSets

COST = np.array([[0.0, 2.0], [0.5, 0.0]])
LOSSES = [ZeroOne(), Hamming(), Hamming(cost=COST), Hamming(normalize=True)]
TAXONOMIES = [(), ((), (0,), (0,), (1,)), ((), (), (0, 1), (1,))]


def tiny(rng):
    """Seven points with four labels."""
    X = rng.normal(size=(7, 3))
    X[rng.random(X.shape) < 0.3] = 0.0
    parents = TAXONOMIES[rng.integers(3)]
    structure = LabelSets(parents, bias=float(rng.integers(2)), k=4)
    Y = [list(y) for y in rng.permutation(closed(parents))[:7]]
    while len(Y) < 7:
        Y.append(Y[0])
    return structure, sp.csr_array(X) if rng.integers(2) else X, Y


def closed(parents):
    return [
        y
        for y in product([0, 1], repeat=4)
        if all(y[p] for z, above in enumerate(parents) if y[z] for p in above)
    ]


def outputs(structure, x, i):
    """All sets that have what is above their labels."""
    return [list(y) for y in closed(structure.parents)]
