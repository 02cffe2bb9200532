"""Tiny documents and all forests on their mentions."""

from itertools import combinations

from maxmargin.losses import ForestLoss
from maxmargin.structures.clusters import Coreference, PairFeatures

LOSSES = [ForestLoss(), ForestLoss(r=0.25)]


def tiny(rng):
    """Five documents of zero to four mentions."""
    sizes = [4, 0, 3, 1, 4]
    X = [PairFeatures(m, rng.normal(size=(m * (m - 1) // 2, 3))) for m in sizes]
    Y = [first_come(rng.integers(max(m, 1), size=m)) for m in sizes]
    return Coreference(), X, Y


def first_come(clusters):
    """Numbers by first appearance."""
    names = {}
    return [names.setdefault(int(c), len(names)) for c in clusters]


def outputs(structure, x, i):
    """All forests, each hung on the smallest vertex of its trees."""
    m = int(x.mentions[i])
    pairs = list(combinations(range(m), 2))
    rows = []
    for size in range(max(m, 1)):
        for links in combinations(pairs, size):
            row = hang(m, links)
            if row is not None:
                rows.append(row)
    return rows


def hang(m, links):
    """The parents, or None if there is a cycle."""
    near = {v: [] for v in range(m)}
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    parent, trees = [-1] * m, 0
    for root in range(m):
        if parent[root] >= 0:
            continue
        trees += 1
        parent[root], stack = root, [root]
        while stack:
            v = stack.pop()
            for u in near[v]:
                if parent[u] < 0:
                    parent[u] = v
                    stack.append(u)
    return parent if m - trees == len(links) else None
