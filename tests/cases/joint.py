"""A structure of one's own under a joint kernel, with a few support pairs."""

from cases.own import Knapsack
from maxmargin.kernels import FeatureKernel, Polynomial
from maxmargin.losses import OwnLoss
from maxmargin.losses.python_loss import pickled
from maxmargin.structures.joint import OwnPairs


class ListedKnapsack(Knapsack):
    """The same, with a list of all outputs."""

    def outputs(self, x):
        """All choices."""
        return self.choices(x)


class SearchedKnapsack(Knapsack):
    """The same, with a search by a function of the output."""

    def argmax(self, score, x, y=None):
        """Try all."""
        gain = (lambda z: 0.0) if y is None else (lambda z: self.loss(y, z))
        return max(self.choices(x), key=lambda z: score(z) + gain(z))


OWNER = ListedKnapsack()
LOSSES = [OwnLoss(OWNER)]


def tiny(rng):
    """Five examples of one to four items; the truths are the support pairs."""
    X = [rng.normal(size=(m, 3)) for m in (3, 1, 4, 2, 3)]
    Y = [OWNER.choices(x)[rng.integers(len(OWNER.choices(x)))] for x in X]
    kernel = FeatureKernel(OWNER, Polynomial(2, 0.5))
    return OwnPairs(kernel, X, Y, OWNER), X, Y


def outputs(structure, x, i):
    """All choices, pickled."""
    return [pickled(y).tolist() for y in structure.owner.choices(x.items[i])]
