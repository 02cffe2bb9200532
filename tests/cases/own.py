"""A structure from three Python methods: which items to take, at most two of them."""

from itertools import combinations

import numpy as np

from maxmargin.losses import OwnLoss
from maxmargin.losses.python_loss import pickled
from maxmargin.structures import OwnStructure


class Knapsack:
    """Choose at most `most` rows of x; the loss counts what differs."""

    def __init__(self, most=2):
        self.most = most

    def choices(self, x):
        """All outputs."""
        items, most = range(len(x)), min(self.most, len(x))
        return [tuple(c) for r in range(most + 1) for c in combinations(items, r)]

    def joint_feature(self, x, y):
        """Sum of the rows taken."""
        return np.sum([x[j] for j in y], axis=0) if y else np.zeros(x.shape[1])

    def loss(self, y, y_hat):
        """Size of the symmetric difference."""
        return float(len(set(y) ^ set(y_hat)))

    def argmax(self, w, x, y=None):
        """Try all."""
        return max(self.choices(x), key=lambda z: self._worth(w, x, y, z))

    def _worth(self, w, x, y, z):
        gain = 0.0 if y is None else self.loss(y, z)
        return float(w @ self.joint_feature(x, z)) + gain


OWNER = Knapsack()
LOSSES = [OwnLoss(OWNER)]


def tiny(rng):
    """Five examples of one to four items."""
    X = [rng.normal(size=(m, 3)) for m in (3, 1, 4, 2, 3)]
    Y = [OWNER.choices(x)[rng.integers(len(OWNER.choices(x)))] for x in X]
    return OwnStructure(OWNER), X, Y


def outputs(structure, x, i):
    """All choices, pickled."""
    return [pickled(y).tolist() for y in structure.owner.choices(x.items[i])]
