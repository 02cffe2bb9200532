"""A few short lists of documents and all orders of their first places."""

from itertools import permutations

import numpy as np

from maxmargin.losses import NDCGAtK, PrecisionAtK
from maxmargin.structures.ranking import Ranking

LOSSES = [PrecisionAtK()]


def tiny(rng):
    """Five queries of two to five documents; one without relevant documents."""
    sizes = [4, 2, 5, 3, 4]
    X = [rng.normal(size=(m, 3)) for m in sizes]
    Y = [rng.integers(2, size=m).tolist() for m in sizes]
    Y[3] = [0, 0, 0]
    return Ranking(k=int(rng.integers(1, 4))), X, Y


def tiny_ndcg(rng):
    """The same with grades and the discount of DCG."""
    _, X, _ = tiny(rng)
    k = int(rng.integers(1, 4))
    Y = [rng.integers(3, size=len(x)).tolist() for x in X]
    return Ranking(k, NDCGAtK(k).discount(), binary=False), X, Y


def outputs(structure, x, i):
    """All ordered choices of k documents."""
    m = int(np.diff(x.ptr)[i])
    return [list(p) for p in permutations(range(m), min(structure.k, m))]
