"""Tiny problems with their features and losses written out.

A problem has inputs X, truths y, `made(**settings)` for a trained model, `weights(model)`
by the name of the feature, all `outputs(i)`, `psi(i, y)` and `loss(i, y)`. Where parts of
the truth are hidden, `truths(i)` lists what it may be.
"""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from maxmargin import ChainSVM, MotifSVM, MulticlassSVM, NetworkSVM, StructuralSVM
from maxmargin.losses import Hamming
from maxmargin.structures import Matching


def named(model):
    """Weights by the names of the features."""
    names, w = model.structure_.feature_names(), model.result_.w
    return dict(zip(names, w.tolist(), strict=True))


class Classes:
    """y is a class: psi = x (x) e_y; weights by class, as coef_ has them."""

    name = "classes"

    def __init__(self, rng, scale):
        self.X = scale * rng.normal(size=(6, 2)).round(3)
        self.y = np.array([0, 1, 2, 0, 1, 2])

    def made(self, **settings):
        return MulticlassSVM(fit_intercept=False, **settings).fit(self.X, self.y)

    def weights(self, model):
        w = model.structure_.weights(model.result_.w)  # (features, classes)
        return {(f, c): w[f, c] for f in range(2) for c in range(3)}

    def outputs(self, i):
        return range(3)

    def psi(self, i, y):
        return {(f, y): Fraction(self.X[i, f]) for f in range(2)}

    def loss(self, i, y):
        return int(y != self.y[i])


class Chains:
    """y are labels: psi counts x_t with y_t, pairs, first, last and single labels."""

    name = "chains"

    def __init__(self, rng, scale):
        sizes = rng.integers(1, 4, size=5)
        self.X = [scale * rng.normal(size=(int(m), 2)).round(3) for m in sizes]
        self.y = [rng.integers(2, size=len(x)).tolist() for x in self.X]
        self.y[0][0], self.y[1][0] = 0, 1

    def made(self, **settings):
        return ChainSVM(**settings).fit(self.X, self.y)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        return itertools.product(range(2), repeat=len(self.X[i]))

    def psi(self, i, y):
        out = Counter()
        for t, label in enumerate(y):
            for f in range(2):
                out[f"x{f} / {label}"] += Fraction(self.X[i][t, f])
            out[f"bias / {label}"] += 1
        for a, b in itertools.pairwise(y):
            out[f"{a} -> {b}"] += 1
        out[f"start -> {y[0]}"] += 1
        out[f"{y[-1]} -> end"] += 1
        return out

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


class Matchings:
    """y is a permutation: psi sums the features of the matched pairs."""

    name = "matchings"

    def __init__(self, rng, scale):
        self.X = [scale * rng.normal(size=(3, 3, 2)).round(3) for _ in range(5)]
        self.y = [rng.permutation(3).tolist() for _ in self.X]

    def made(self, **settings):
        model = StructuralSVM(Matching(), loss=Hamming(), **settings)
        return model.fit(self.X, self.y)

    def weights(self, model):
        return dict(enumerate(model.result_.w.tolist()))

    def outputs(self, i):
        return itertools.permutations(range(3))

    def psi(self, i, y):
        return {
            f: sum(Fraction(self.X[i][j, y[j], f]) for j in range(3)) for f in range(2)
        }

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


class Networks:
    """Labels of the nodes of a path: psi has nodes, a constant, and pairs of labels."""

    name = "networks"

    def __init__(self, rng, scale):
        self.edges = [[0, 1], [1, 2]]
        self.X = [
            (scale * rng.normal(size=(3, 2)).round(3), self.edges) for _ in range(4)
        ]
        self.y = [rng.integers(2, size=3).tolist() for _ in self.X]
        self.y[0] = [0, 1, 0]

    def made(self, **settings):
        return NetworkSVM(**settings).fit(self.X, self.y)

    def weights(self, model):
        """Nodes (label, feature) or (feature, label), then pairs."""
        w, sparse = model.result_.w, model.structure_.kinds.sparse
        nodes = w[:6].reshape(3, 2) if sparse else w[:6].reshape(2, 3).T
        out = {(f, a): nodes[f, a] for f in range(3) for a in range(2)}
        pairs = itertools.product(range(2), repeat=2)
        return {**out, **{("pair", *p): v for p, v in zip(pairs, w[6:], strict=True)}}

    def outputs(self, i):
        return itertools.product(range(2), repeat=3)

    def psi(self, i, y):
        out = Counter()
        for v, a in enumerate(y):
            for f in range(2):
                out[f, a] += Fraction(self.X[i][0][v, f])
            out[2, a] += 1
        for u, v in self.edges:
            out["pair", y[u], y[v]] += 1
        return out

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


class Motifs:
    """y is a place or none; the objective has the best place of each true motif."""

    name = "motifs"

    def __init__(self, rng, scale):
        letters = np.array(list("ACGT"))
        self.X = ["".join(rng.choice(letters, 6)) for _ in range(6)]
        self.y = [1, 1, 1, 0, 0, 0]

    def made(self, **settings):
        model = MotifSVM(length=3, order=0, restarts=1, random_state=0, **settings)
        return model.fit(self.X, self.y)

    def weights(self, model):
        w = model.result_.w
        out = {(j, c): w[4 * j + k] for j in range(3) for k, c in enumerate("ACGT")}
        return {**out, **{("back", c): w[12 + k] for k, c in enumerate("ACGT")}}

    def outputs(self, i):
        return [None, *range(4)]

    def psi(self, i, y):
        out = Counter()
        for t, c in enumerate(self.X[i]):
            inside = y is not None and y <= t < y + 3
            out[(t - y, c) if inside else ("back", c)] += 1
        return out

    def loss(self, i, y):
        return int((y is not None) != bool(self.y[i]))

    def truths(self, i):
        return list(range(4)) if self.y[i] else [None]


class HiddenChains(Chains):
    """Chains whose first labels are not known: a truth is any completion."""

    name = "hidden chains"

    def __init__(self, rng, scale):
        super().__init__(rng, scale)
        self.X.append(scale * rng.normal(size=(3, 2)).round(3))
        self.y.append([None, 1, 0])
        self.y[2][0] = None

    def loss(self, i, y):
        pairs = zip(self.y[i], y, strict=True)
        return sum(a is not None and a != b for a, b in pairs)

    def truths(self, i):
        return [y for y in self.outputs(i) if self.loss(i, y) == 0]
