"""Tiny sentences with random trees, labelled or not, projective or not."""

from itertools import product
from operator import eq as same

from maxmargin.losses import ArcLoss, ZeroOne
from maxmargin.structures.dependency import Dependency, is_projective

__all__ = ["LOSSES", "outputs", "same", "tiny"]
LOSSES = [
    ZeroOne(), ArcLoss(), ArcLoss(label_cost=0.0), ArcLoss(label_cost=0.5),
    ArcLoss(normalize=True),
]  # fmt: skip


def tiny(rng):
    """Five sentences of one to four words; all options at random."""
    projective = (None, True, False)[rng.integers(3)]
    single = bool(rng.integers(2))
    labels = ("", "x", "y")[: rng.integers(1, 4)]
    sizes = (3, 1, 2, 4, 3)
    X = [
        [("abc"[rng.integers(3)], "ij"[rng.integers(2)]) for _ in range(n)]
        for n in sizes
    ]
    Y = []
    for n in sizes:
        heads = trees(n, projective is True, single)
        tree = heads[rng.integers(len(heads))]
        if len(labels) > 1:
            names = labels[1:]
            tree = [(h, names[rng.integers(len(names))]) for h in tree]
        Y.append(list(tree))
    return Dependency(projective, single, rare=int(rng.integers(2))), X, Y


def trees(n, projective, single):
    """All trees of n tokens, by their heads."""
    out = []
    for heads in product(range(n + 1), repeat=n):
        if single and heads.count(0) != 1:
            continue
        if projective and not is_projective(heads):
            continue
        if all(reaches_root(heads, t) for t in range(n)):
            out.append(heads)
    return out


def reaches_root(heads, t):
    at, steps = t + 1, 0
    while at != 0 and steps <= len(heads):
        at, steps = heads[at - 1], steps + 1
    return at == 0


def outputs(structure, x, i):
    """All trees with all labels."""
    n, width = len(x.tokens[i]), max(len(structure.labels), 1)
    return [
        [h * width + c for h, c in zip(heads, kinds, strict=True)]
        for heads in trees(n, structure.projective, structure.single_root)
        for kinds in product(range(width), repeat=n)
    ]
