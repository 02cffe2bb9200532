"""Tiny random batches of every structure of scores, with all their outputs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from typing import Any

import numpy as np

from maxmargin.decode import (
    Alignment,
    Chain,
    Classes,
    DependencyTree,
    Matching,
    Network,
    Ranking,
    Segments,
    SpanTree,
)


@dataclass
class Case:
    structure: Any
    scores: dict[str, np.ndarray]
    mask: Any
    outputs: list[list[Any]]  # all outputs of each row, in a hashable form
    score: Any  # score(b, output)
    losses: dict[Any, Any]  # loss -> function(target, output, b)
    sums: bool = True  # whether log Z can be had
    nbest: bool = True
    target: Any = None  # how a target is handed over, from hashable outputs

    def targets(self, rng):
        return [every[rng.integers(len(every))] for every in self.outputs]

    def given(self, targets):
        return self.target(targets) if self.target else targets


def hamming(a, b, _=0):
    return float(sum(x != y for x, y in zip(a, b, strict=True)))


def zero_one(a, b, _=0):
    return float(a != b)


def padded(width):
    def pad(targets):
        return np.array([[*y, *[0] * (width - len(y))] for y in targets])

    return pad


def numbers(rng, *shape, dtype=np.float64):
    return rng.normal(size=shape).astype(dtype)


def chain(rng, order=1, scheme=None, wide=False, dtype=np.float64):
    B, T, K = 3, 4, 3
    names = ("O", "B-X", "I-X")
    sizes = rng.integers(1, T + 1, B)
    e, start, end = numbers(rng, B, T, K, dtype=dtype), numbers(rng, K), numbers(rng, K)
    pairs = numbers(rng, B, T - 1, K, K) if wide else numbers(rng, K, K)
    scores = {"emissions": e, "transitions": pairs, "start": start, "end": end}
    triples = np.zeros((K, K, K))
    if order == 2:
        scores["triples"] = triples = numbers(rng, K, K, K)

    def legal(y):
        inside = {"bio": "I", "iob1": "B", "bioes": ""}.get(scheme, "")
        for before, label in pairwise(["O", *(names[k] for k in y)]):
            if label[0] in inside and before == "O":
                return False
        return True

    def score(b, y):
        s = start[y[0]] + end[y[-1]] + sum(float(e[b, t, k]) for t, k in enumerate(y))
        for t in range(1, len(y)):
            s += (pairs[b, t - 1] if wide else pairs)[y[t - 1], y[t]]
        for t in range(2, len(y)):
            s += triples[y[t - 2], y[t - 1], y[t]]
        return s

    outputs = [[y for y in product(range(K), repeat=n) if legal(y)] for n in sizes]
    structure = Chain(order=order, labels=names if scheme else None, scheme=scheme)
    losses = {"hamming": hamming, "zero-one": zero_one}
    return Case(structure, scores, sizes, outputs, score, losses, target=padded(T))


def segments(rng):
    B, T, W, L = 3, 4, 3, 2
    sizes = rng.integers(1, T + 1, B)
    table, pairs = numbers(rng, B, T, W, L), numbers(rng, L, L)

    def every(n, at=0):
        if at == n:
            yield ()
        for w in range(1, min(W, n - at) + 1):
            for label in range(L):
                for rest in every(n, at + w):
                    yield ((at, at + w, label), *rest)

    def score(b, y):
        s = sum(table[b, i, j - i - 1, c] for i, j, c in y)
        return s + sum(pairs[one[2], two[2]] for one, two in pairwise(y))

    losses = {
        "segments": lambda a, b, _: float(len(set(a) ^ set(b))),
        "hamming": lambda a, b, _: float(sum(j - i for i, j, c in set(b) - set(a))),
        "zero-one": zero_one,
    }
    scores = {"segments": table, "transitions": pairs}
    return Case(
        Segments(), scores, sizes, [list(every(n)) for n in sizes], score, losses
    )


def trees(rng, dtype=np.float64):
    B, N, L = 2, 4, 2
    sizes = rng.integers(1, N + 1, B)
    table = numbers(rng, B, N, N, L, dtype=dtype)

    def every(i, j):
        for label in range(L):
            if i == j:
                yield frozenset({(i, j, label)})
            for k in range(i, j):
                for one in every(i, k):
                    for two in every(k + 1, j):
                        yield frozenset({(i, j, label)}) | one | two

    losses = {"hamming": lambda a, b, _: float(len(b - a)), "zero-one": zero_one}
    outputs = [list(every(0, n - 1)) for n in sizes]

    def score(b, y):
        return sum(float(table[b][cell]) for cell in y)

    return Case(
        SpanTree(), {"spans": table}, sizes, outputs, score, losses,
        target=lambda ys: [sorted(y) for y in ys],
    )  # fmt: skip


def is_tree(heads, single):
    if single and heads.count(0) != 1:
        return False
    for m in range(1, len(heads) + 1):
        seen = set()
        while m != 0:
            if m in seen:
                return False
            seen.add(m)
            m = heads[m - 1]
    return True


def crossing(heads):
    arcs = [tuple(sorted((m, h))) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def dependencies(rng, projective, single, labels=0):
    B, N = 2, 3 if labels else 4
    sizes = rng.integers(1, N + 1, B)
    L = max(labels, 1)
    arcs = numbers(rng, B, N, N + 1, L)

    def score(b, y):
        if labels:
            return sum(arcs[b, m, h, c] for m, (h, c) in enumerate(y))
        return sum(arcs[b, m, h, 0] for m, h in enumerate(y))

    outputs = []
    for n in sizes:
        heads = [
            y
            for y in product(range(n + 1), repeat=int(n))
            if is_tree(y, single) and not (projective and crossing(y))
        ]
        if labels:
            kinds = list(product(range(L), repeat=int(n)))
            heads = [tuple(zip(y, k, strict=True)) for y in heads for k in kinds]
        outputs.append(heads)
    losses = {"hamming": hamming, "zero-one": zero_one}
    if labels:
        losses["heads"] = lambda a, b, _: hamming([x[0] for x in a], [x[0] for x in b])
    structure = DependencyTree(projective=projective, single_root=single)

    def given(targets):
        if not labels:
            return padded(N)(targets)
        return [list(y) for y in targets]

    scores = {"arcs": arcs if labels else arcs[..., 0]}
    return Case(structure, scores, sizes, outputs, score, losses, target=given)


def alignment(rng, mode, wide=False):
    B, N, M = 2, 3, 4
    sizes = np.stack([rng.integers(1, N + 1, B), rng.integers(1, M + 1, B)])
    match = numbers(rng, B, N, M)
    if wide:
        gaps = numbers(rng, B, N, 2) - 0.5, numbers(rng, B, M, 2) - 0.5
    else:
        gaps = numbers(rng, 2) - 0.5, numbers(rng, 2) - 0.5

    def every(n, m):
        for k in range(min(n, m) + 1):
            for one in combinations(range(n), k):
                for two in combinations(range(m), k):
                    yield tuple(zip(one, two, strict=True))

    def gap(side, b, first, last):
        table = gaps[side][b] if wide else np.tile(gaps[side], (8, 1))
        return sum(table[k, int(k > first)] for k in range(first, last))

    def score(b, y):
        s, i, j = 0.0, 0, 0
        end = [*y, tuple(sizes[:, b])] if mode == "global" else y
        for q, (a, c) in enumerate(end):
            if mode == "global" or q > 0:
                s += gap(0, b, i, a) + gap(1, b, j, c)
            if q < len(y):
                s += match[b, a, c]
            i, j = a + 1, c + 1
        return s

    def share(shift):
        def loss(a, b, _):
            hits = sum(any(abs(i - u) <= shift and j == v for u, v in a) for i, j in b)
            return 1.0 - hits / len(a) if a else 0.0

        return loss

    losses = {"q": share(0), "q4": share(4), "zero-one": zero_one}
    scores = {"match": match, "deletes": gaps[0], "inserts": gaps[1]}
    outputs = [list(every(*sizes[:, b])) for b in range(B)]
    mask = (sizes[0], sizes[1])
    return Case(Alignment(mode), scores, mask, outputs, score, losses)


def network(rng, edges, wide=False):
    B, V, K = 2, 4, 2
    forest = len(edges) < V
    sizes = rng.integers(2, V + 1, B) if forest else np.full(B, V)
    unary = numbers(rng, B, V, K)
    pairs = numbers(rng, B, len(edges), K, K) if wide else numbers(rng, K, K)

    def score(b, y):
        s = sum(unary[b, v, k] for v, k in enumerate(y))
        for e, (u, v) in enumerate(edges):
            if max(u, v) < len(y):
                s += (pairs[b, e] if wide else pairs)[y[u], y[v]]
        return s

    outputs = [list(product(range(K), repeat=int(n))) for n in sizes]
    losses = {"hamming": hamming, "zero-one": zero_one}
    return Case(
        Network(edges=tuple(edges)), {"unary": unary, "pairwise": pairs}, sizes, outputs,
        score, losses, sums=forest, target=padded(V),
    )  # fmt: skip


def matching(rng):
    B, N, M = 2, 3, 4
    left = rng.integers(1, N + 1, B)
    right = np.maximum(rng.integers(1, M + 1, B), left)
    pairs = numbers(rng, B, N, M)
    outputs = [
        list(permutations(range(m), int(n))) for n, m in zip(left, right, strict=True)
    ]
    losses = {"hamming": hamming, "zero-one": zero_one}
    return Case(
        Matching(), {"pairs": pairs}, (left, right), outputs,
        lambda b, y: sum(pairs[b, i, j] for i, j in enumerate(y)), losses, sums=False,
        target=padded(N),
    )  # fmt: skip


def classes(rng, taxonomy=False):
    B, names = 3, ("cat", "dog", "fly", "ant")
    tree = (
        {"cat": "pet", "dog": "pet", "fly": "bug", "ant": "bug"} if taxonomy else None
    )
    structure = Classes(names, tree)
    nodes = structure.nodes
    scores = numbers(rng, B, len(nodes))

    def score(b, y):
        own = [names[y]] + ([tree[names[y]]] if taxonomy else [])
        return sum(scores[b, nodes.index(z)] for z in own)

    losses = {"zero-one": zero_one}
    if taxonomy:

        def height(a, b, _):
            if a == b:
                return 0.0
            return 1.0 if tree[names[a]] == tree[names[b]] else 2.0

        losses["taxonomy"] = height
    outputs = [list(range(len(names)))] * B
    return Case(
        structure, {"scores": scores}, None, outputs, score, losses, target=np.array
    )


def ranking(rng):
    B, N = 2, 4
    sizes = rng.integers(2, N + 1, B)
    scores = numbers(rng, B, N)

    def score(b, y):
        pairs = [(y[i], y[j]) for i in range(len(y)) for j in range(i + 1, len(y))]
        return float(np.mean([scores[b, i] - scores[b, j] for i, j in pairs]))

    outputs = [list(permutations(range(int(n)))) for n in sizes]
    return Case(Ranking(), {"scores": scores}, sizes, outputs, score, {}, sums=False)


RING = ((0, 1), (1, 2), (2, 3), (3, 0))
CASES = {
    "chain": chain,
    "chain-float32": lambda r: chain(r, dtype=np.float32),
    "chain-bio": lambda r: chain(r, scheme="bio"),
    "chain-iob1": lambda r: chain(r, scheme="iob1"),
    "chain-wide": lambda r: chain(r, wide=True),
    "chain-2": lambda r: chain(r, order=2),
    "chain-2-bio": lambda r: chain(r, order=2, scheme="bio"),
    "segments": segments,
    "trees": trees,
    "trees-float32": lambda r: trees(r, np.float32),
    "projective": lambda r: dependencies(r, True, True),
    "projective-many-roots": lambda r: dependencies(r, True, False),
    "projective-labels": lambda r: dependencies(r, True, True, 2),
    "non-projective": lambda r: dependencies(r, False, True),
    "non-projective-many-roots": lambda r: dependencies(r, False, False),
    "non-projective-labels": lambda r: dependencies(r, False, True, 2),
    "alignment": lambda r: alignment(r, "global"),
    "alignment-wide": lambda r: alignment(r, "global", True),
    "alignment-local": lambda r: alignment(r, "local"),
    "forest": lambda r: network(r, ((0, 1), (1, 2), (1, 3))),
    "forest-wide": lambda r: network(r, ((0, 1), (2, 1)), True),
    "ring": lambda r: network(r, RING),
    "matching": matching,
    "classes": classes,
    "taxonomy": lambda r: classes(r, True),
    "ranking": ranking,
}


def plain(output):
    """An output of the library in the form of the cases."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, list):
        return tuple(tuple(x) if isinstance(x, list) else x for x in output)
    return output


def same(structure, output):
    """As `plain`, without the padding; trees as sets."""
    got = plain(output)
    if isinstance(structure, SpanTree):
        return frozenset(got)
    if isinstance(got, tuple):
        got = tuple(x for x in got if x not in (-1, (-1, -1)))
    return got
