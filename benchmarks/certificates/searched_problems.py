"""Tiny problems of trees, alignments, rankings, clusters and classes of the user's own."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from benchmarks.certificates.problems import named
from maxmargin import (
    AlignmentSVM,
    CoreferenceSVM,
    GrammarSVM,
    HomologySVM,
    RankingSVM,
    StructuralSVM,
)
from maxmargin.estimators import CorrelationSVM
from maxmargin.structures.clusters import PairFeatures


class Trees:
    """y is a binary tree over one tag: psi counts rules, the loss is 1 - F1."""

    name = "trees"

    def __init__(self, rng, scale):
        self.y = [self._random(rng, n) for n in (2, 3, 3, 4)]
        self.y.append(("A", ("A", "N", "N"), "N"))
        self.X = [["N"] * self._size(tree) for tree in self.y]
        self.rules = {rule for tree in self.y for rule in self._rules(tree)}

    def _random(self, rng, n):
        if n == 1:
            return "N"
        left = int(rng.integers(1, n))
        parts = self._random(rng, left), self._random(rng, n - left)
        return ("AB"[int(rng.integers(2))], *parts)

    def _size(self, tree):
        return 1 if tree == "N" else sum(map(self._size, tree[1:]))

    def _rules(self, tree, top=True):
        if top:
            yield f"-> {tree[0]}"
        if tree != "N":
            yield f"{tree[0]} -> " + " ".join(part[0] for part in tree[1:])
            for part in tree[1:]:
                yield from self._rules(part, False)

    def made(self, **settings):
        trees = [self._written(tree) for tree in self.y]
        return GrammarSVM(**settings).fit(self.X, trees)

    def _written(self, tree):
        return ("N", "n") if tree == "N" else (tree[0], *map(self._written, tree[1:]))

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        n = len(self.X[i])
        trees = (tree for a in "AB" for tree in self._from(n, a) if n > 1)
        return [tree for tree in trees if f"-> {tree[0]}" in self.rules]

    def _from(self, n, a):
        """All trees over n tags whose top is a."""
        if n == 1:
            return ["N"] if a == "N" else []
        return [
            (a, x, y)
            for b, c in itertools.product("ABN", repeat=2)
            if f"{a} -> {b} {c}" in self.rules
            for left in range(1, n)
            for x in self._from(left, b)
            for y in self._from(n - left, c)
        ]

    def psi(self, i, y):
        return Counter(self._rules(y))

    def _brackets(self, tree, start=0):
        if tree == "N":
            return []
        out, at = [(tree[0], start, start + self._size(tree))], start
        for part in tree[1:]:
            out += self._brackets(part, at)
            at += self._size(part)
        return out

    def loss(self, i, y):
        true, found = Counter(self._brackets(self.y[i])), Counter(self._brackets(y))
        both = sum((true & found).values())
        return 1 - Fraction(2 * both, true.total() + found.total())


class Alignments:
    """y are the moves of a path: psi counts letter pairs, opened and extended gaps."""

    name = "alignments"

    def __init__(self, rng, scale):
        sizes = [(1, 2), (2, 1), (2, 2), (3, 2)]
        self.X = [
            tuple("".join(rng.choice(["A", "C"], m)) for m in pair) for pair in sizes
        ]
        self.y = []
        for i in range(len(sizes)):
            some = [y for y in self.outputs(i) if "m" in y]
            self.y.append(some[int(rng.integers(len(some)))])
        self.X += [("AC", "CA"), ("AA", "CC")]  # all letters on both sides
        self.y += [("d", "m", "i"), ("m", "m")]

    def made(self, **settings):
        model = AlignmentSVM(normalize=False, **settings)
        columns = [columns_of(*x, y) for x, y in zip(self.X, self.y, strict=True)]
        return model.fit(self.X, columns)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        return paths(*map(len, self.X[i]))

    def psi(self, i, y):
        return path_features(*self.X[i], y)

    def loss(self, i, y):
        true, found = matches(self.y[i]), matches(y)
        return 1 - Fraction(len(true & found), len(true))


def paths(m, n):
    """All moves (match, delete, insert) from one end to the other, no "id"."""
    if m < 0 or n < 0:
        return []
    if m == n == 0:
        return [()]
    out = [(*y, "m") for y in paths(m - 1, n - 1)]
    out += [(*y, "d") for y in paths(m - 1, n) if not y or y[-1] != "i"]
    return out + [(*y, "i") for y in paths(m, n - 1)]


def path_features(s, t, y):
    """Counts of what the moves of a path are made of."""
    out, i, j, before = Counter(), 0, 0, ""
    for move in y:
        if move == "m":
            out[f"residue={s[i]}|residue={t[j]}"] += 1
        else:
            kind = {"d": "delete", "i": "insert"}[move]
            out[f"{kind} {'extend' if move == before else 'open'} any=*"] += 1
        i, j, before = i + (move != "i"), j + (move != "d"), move
    return out


def matches(y):
    """Pairs of positions."""
    out, i, j = set(), 0, 0
    for move in y:
        if move == "m":
            out.add((i, j))
        i, j = i + (move != "i"), j + (move != "d")
    return out


def columns_of(s, t, y):
    """Both sequences with their gaps."""
    s, t, top, low = list(s), list(t), "", ""
    for move in y:
        top += "-" if move == "i" else s.pop(0)
        low += "-" if move == "d" else t.pop(0)
    return top, low


class Homologs:
    """y is a candidate with its alignment; that of the homolog is given."""

    name = "homologs"

    def __init__(self, rng, scale):
        self.X, self.y = [("AC", ["CA", "AC"])], [(1, ("m", "m"))]
        for sizes in ((2, 1), (1, 2), (2, 2)):
            native = "".join(rng.choice(["A", "C"], 2))
            candidates = ["".join(rng.choice(["A", "C"], m)) for m in sizes]
            c = int(rng.integers(2))
            some = [y for y in paths(2, sizes[c]) if "m" in y]
            self.X.append((native, candidates))
            self.y.append((c, some[int(rng.integers(len(some)))]))

    def made(self, rescaling, **settings):
        if rescaling != "margin":
            raise ValueError("homology search has the zero-one loss")
        model = HomologySVM(alignments="given", start=None, mode="global", **settings)
        y = [
            (c, columns_of(s, among[c], path))
            for (s, among), (c, path) in zip(self.X, self.y, strict=True)
        ]
        return model.fit(self.X, y)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        (native, among), (right, known) = self.X[i], self.y[i]
        return [
            (c, y)
            for c, t in enumerate(among)
            for y in ([known] if c == right else paths(len(native), len(t)))
        ]

    def psi(self, i, y):
        native, among = self.X[i]
        return path_features(native, among[y[0]], y[1])

    def loss(self, i, y):
        return int(y[0] != self.y[i][0])


class Rankings:
    """y are the first two documents, in any order that has relevant ones first."""

    name = "rankings"

    def __init__(self, rng, scale):
        self.X = [scale * rng.normal(size=(m, 2)).round(3) for m in (3, 4, 3, 4)]
        self.y = [[1, 0, 0], [0, 1, 1, 0], [0, 1, 1], rng.integers(2, size=4).tolist()]

    def made(self, **settings):
        return RankingSVM(k=2, init=np.zeros(2), **settings).fit(self.X, self.y)

    def weights(self, model):
        return dict(enumerate(model.result_.w.tolist()))

    def outputs(self, i):
        return list(itertools.permutations(range(len(self.X[i])), 2))

    def psi(self, i, y):
        x = self.X[i]
        return {f: sum(Fraction(float(x[d, f])) for d in y) / 2 for f in range(2)}

    def loss(self, i, y):
        most = min(2, sum(self.y[i]))
        return Fraction(most - sum(self.y[i][d] for d in y), 2)

    def truths(self, i):
        return [y for y in self.outputs(i) if self._sorted(i, y)]

    def _sorted(self, i, y):
        grades = sorted(self.y[i], reverse=True)
        return [self.y[i][d] for d in y] == grades[:2]


class Orders(Rankings):
    """y is an order of all documents; the loss is the share of inverted pairs."""

    name = "orders"

    def __init__(self, rng, scale):
        self.X = [scale * rng.normal(size=(3, 2)).round(3) for _ in range(4)]
        self.y = [[1, 0, 0], [0, 1, 1], [0, 1, 0], [1, 0, 1]]

    def made(self, **settings):
        model = RankingSVM(k=2, loss="roc", init=np.zeros(2), **settings)
        return model.fit(self.X, self.y)

    def outputs(self, i):
        return list(itertools.permutations(range(3)))

    def psi(self, i, y):
        x = [[Fraction(float(v)) for v in row] for row in self.X[i]]
        return {
            f: sum((x[a][f] - x[b][f]) / 3 for a, b in itertools.combinations(y, 2))
            for f in range(2)
        }

    def loss(self, i, y):
        g = self.y[i]
        wrong = sum(g[a] < g[b] for a, b in itertools.combinations(y, 2))
        return Fraction(wrong, sum(g) * (3 - sum(g)))

    def _sorted(self, i, y):
        return self.loss(i, y) == 0


class Forests:
    """y is a forest on mentions; a truth is any that spans the true clusters."""

    name = "forests"

    def __init__(self, rng, scale):
        self.sizes = [3, 4, 3, 2]
        self.rows = [
            scale * rng.normal(size=(m * (m - 1) // 2, 2)).round(3) for m in self.sizes
        ]
        self.X = [
            PairFeatures(m, x) for m, x in zip(self.sizes, self.rows, strict=True)
        ]
        self.y = [[0, 0, 1], rng.integers(2, size=4).tolist(), [0, 0, 0], [0, 1]]

    def made(self, **settings):
        return CoreferenceSVM(**settings).fit(self.X, self.y)

    def weights(self, model):
        return dict(enumerate(model.result_.w.tolist()))

    def outputs(self, i):
        m = self.sizes[i]
        links = list(itertools.combinations(range(m), 2))
        every = (y for k in range(m) for y in itertools.combinations(links, k))
        return [y for y in every if len(set(self._clusters(m, y))) == m - len(y)]

    def _clusters(self, m, links):
        at = list(range(m))
        for a, b in links:
            at = [at[a] if c == at[b] else c for c in at]
        return at

    def psi(self, i, y):
        rows = [self.rows[i][b * (b - 1) // 2 + a] for a, b in y]
        return {f: sum(Fraction(float(row[f])) for row in rows) for f in range(2)}

    def loss(self, i, y):
        c = self.y[i]
        inside = sum(c[a] == c[b] for a, b in y)
        return len(c) - len(set(c)) - inside + Fraction(len(y) - inside, 4)

    def truths(self, i):
        return [y for y in self.outputs(i) if self.loss(i, y) == 0]


class Partitions:
    """y are clusters, found greedily or by a relaxation; psi sums the pairs inside."""

    name = "partitions"

    def __init__(self, rng, scale):
        self.sizes = [3, 4, 3, 2]
        self.rows = [
            scale * rng.normal(size=(m * (m - 1) // 2, 2)).round(3) for m in self.sizes
        ]
        self.X = [
            PairFeatures(m, x) for m, x in zip(self.sizes, self.rows, strict=True)
        ]
        self.y = [[0, 0, 1], [0, 1, 0, 1], [0, 0, 0], [0, 1]]
        self.inference = ("greedy", "relaxed")[int(rng.integers(2))]

    def made(self, **settings):
        model = CorrelationSVM(inference=self.inference, **settings)
        return model.fit(self.X, self.y)

    def weights(self, model):
        return dict(enumerate(model.result_.w.tolist()))

    def outputs(self, i):
        every = itertools.product(range(self.sizes[i]), repeat=self.sizes[i])
        return [y for y in every if all(c <= max(y[:k], default=-1) + 1
                                        for k, c in enumerate(y))]  # fmt: skip

    def psi(self, i, y):
        m = self.sizes[i]
        pairs = [(a, b) for b in range(m) for a in range(b) if y[a] == y[b]]
        rows = [self.rows[i][b * (b - 1) // 2 + a] for a, b in pairs]
        return {f: sum(Fraction(float(row[f])) for row in rows) for f in range(2)}

    def loss(self, i, y):
        pairs = list(itertools.combinations(range(self.sizes[i]), 2))
        z = self.y[i]
        wrong = sum((y[a] == y[b]) != (z[a] == z[b]) for a, b in pairs)
        return Fraction(100 * wrong, len(pairs))


class Items:
    """Which of three items to take, by an argmax of the user's own."""

    name = "own class"

    def __init__(self, rng, scale):
        self.X = [scale * rng.normal(size=(3, 2)).round(3) for _ in range(5)]
        self.y = [tuple(rng.integers(2, size=3).tolist()) for _ in self.X]

    def made(self, **settings):
        return StructuralSVM(Taken(), **settings).fit(self.X, self.y)

    def own(self):
        return Taken

    def weights(self, model):
        return dict(enumerate(model.result_.w.tolist()))

    def outputs(self, i):
        return list(itertools.product((0, 1), repeat=3))

    def psi(self, i, y):
        x = self.X[i]
        return {
            f: sum(t * Fraction(float(v)) for t, v in zip(y, x[:, f], strict=True))
            for f in range(2)
        }

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


class Taken:
    """The class that the library sees."""

    def joint_feature(self, x, y):
        return np.array(y, float) @ x

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))

    def argmax(self, w, x, y=None):
        def worth(z):
            more = 0.0 if y is None else self.loss(y, z)
            return float(w @ self.joint_feature(x, z)) + more

        return max(itertools.product((0, 1), repeat=len(x)), key=worth)
