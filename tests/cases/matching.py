"""A few bipartite matchings and all permutations."""

from itertools import permutations

import numpy as np

from maxmargin.losses import Hamming, ZeroOne
from maxmargin.structures import Matching

COST = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [0.5, 1, 0, 1], [4, 1, 1, 0]], float)
LOSSES = [ZeroOne(), Hamming(), Hamming(normalize=True), Hamming(cost=COST)]


def tiny(rng):
    """Six examples of one to four items."""
    sizes = [4, 1, 3, 2, 3, 4]
    X = [rng.normal(size=(m, m, 3)) for m in sizes]
    return Matching(), X, [rng.permutation(m).tolist() for m in sizes]


def outputs(structure, x, i):
    """All permutations."""
    return [list(y) for y in permutations(range(int(x.size[i])))]
