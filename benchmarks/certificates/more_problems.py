"""Tiny problems of segments, dependency trees, cliques and joint kernels."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from benchmarks.certificates.exact import integers
from benchmarks.certificates.kernel_problems import polynomial
from benchmarks.certificates.problems import named
from maxmargin import DependencySVM, NetworkSVM, SegmentSVM, StructuralSVM
from maxmargin.kernels import Polynomial
from maxmargin.structures.network import Graph


class Segments:
    """y are segments of one or two tokens; psi has roles, lengths and pairs of labels."""

    name = "segments"

    def __init__(self, rng, scale):
        words = np.array(["a", "b"])
        sizes = [2, 3, 3, 2]
        self.X = [[{str(w): float(scale)} for w in rng.choice(words, m)] for m in sizes]
        self.y = [[(0, 2, "P")], [(1, 2, "Q")], [(0, 1, "Q"), (1, 3, "P")]]
        self.y.append([(int(rng.integers(2)), 2, "P")])
        for x in self.X[:2]:  # all features occur
            x[0], x[1] = {"a": float(scale)}, {"b": float(scale)}

    def made(self, **settings):
        model = SegmentSVM(
            max_length=2, segment_features=("length",), skip_pairs=False, **settings
        )
        return model.fit(self.X, self.y)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        return [tuple(y) for y in self._from(0, len(self.X[i]))]

    def _from(self, t, n):
        """All lists of segments of the tokens t .. n - 1."""
        if t == n:
            yield []
            return
        yield from self._from(t + 1, n)  # token t is outside
        for end in range(t + 1, min(t + 2, n) + 1):
            for label in "PQ":
                yield from ([(t, end, label), *rest] for rest in self._from(end, n))

    def _labelled(self, i, y):
        """Labels of all pieces in order (tokens outside are pieces), roles, BIO."""
        n = len(self.X[i])
        pieces = {begin: (end, label) for begin, end, label in y}
        at, order, roles, tags = 0, [], ["O"] * n, ["O"] * n
        while at < n:
            end, label = pieces.get(at, (at + 1, "O"))
            order.append((at, end, label))
            if label != "O":
                long = end - at == 2
                tags[at : at + 2 if long else at + 1] = [f"B-{label}", f"I-{label}"][
                    : end - at
                ]
                roles[at] = f"{'B' if long else 'S'}-{label}"
                if long:
                    roles[at + 1] = f"E-{label}"
            at = end
        return order, roles, tags

    def psi(self, i, y):
        out = Counter()
        order, roles, _ = self._labelled(i, y)
        for begin, end, label in order:
            for t in range(begin, end):
                names = {roles[t]} if label == "O" else {roles[t], label}
                for name in names:
                    out[f"bias / {name}"] += 1
                    for word, value in self.X[i][t].items():
                        out[f"{word} / {name}"] += Fraction(value)
            if label != "O":
                out[f"length={end - begin} / {label}"] += 1
        labels = [label for _, _, label in order]
        for a, b in itertools.pairwise(["start", *labels, "end"]):
            out[f"{a} -> {b}"] += 1
        return out

    def loss(self, i, y):
        true, found = self._labelled(i, self.y[i])[2], self._labelled(i, y)[2]
        return sum(a != b for a, b in zip(true, found, strict=True))


class Dependencies:
    """y has the head of each word; psi counts conjunctions of words, tags, distance."""

    name = "dependencies"

    def __init__(self, rng, scale):
        sizes = [2, 3, 3, 2]
        self.X = [
            [("ab"[int(rng.integers(2))], "XY"[int(rng.integers(2))]) for _ in range(m)]
            for m in sizes
        ]
        self.y = []
        for i in range(len(sizes)):
            every = self.outputs(i)
            self.y.append(list(every[int(rng.integers(len(every)))]))

    def made(self, **settings):
        model = DependencySVM(rare=0, projective=False, loss="heads", **settings)
        return model.fit(self.X, self.y)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        """All trees with one word below the root."""
        n = len(self.X[i])
        return [y for y in itertools.product(range(n + 1), repeat=n) if self._tree(y)]

    def _tree(self, y):
        if sum(head == 0 for head in y) != 1:
            return False
        for at in range(1, len(y) + 1):
            for _ in y:
                at = y[at - 1] if at else 0
            if at:
                return False
        return True

    def psi(self, i, y):
        out = Counter()
        for m, h in enumerate(y, 1):
            for name in self._arc(self.X[i], h, m):
                out[name] += 1
        return out

    def _arc(self, x, h, m):
        """Names of all conjunctions that the templates may make of this arc."""
        words = ["<root>", *(w for w, _ in x)]
        tags = ["<root>", *(t for _, t in x)]
        at = {
            "head word": words[h], "modifier word": words[m], "head tag": tags[h],
            "modifier tag": tags[m], "head ending": _ending(words[h]),
            "modifier ending": _ending(words[m]),
        }  # fmt: skip
        for name, place in (("head", h), ("modifier", m)):
            for side, step in (("after", 1), ("before", -1)):
                inside = 0 <= place + step < len(tags)
                tag = tags[place + step] if inside else "<outside>"
                at[f"tag {side} {name}"] = tag
        side, distance = ("right", m - h) if h < m else ("left", h - m)
        for template in TEMPLATES:
            name = ", ".join(f"{field}={at[field]}" for field in template)
            yield from filter(
                None, (name, ", ".join(filter(None, (name, side, str(distance)))))
            )
        for tag in sorted({tags[t] for t in range(min(h, m) + 1, max(h, m))}):
            yield (
                f"tag between={tag}, head tag={tags[h]}, modifier tag={tags[m]}, {side}"
            )

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


def _ending(word):
    """Words of one letter are their own endings."""
    return word if word == "<root>" else f"-{word}"


# McDonald, Crammer, Pereira 2005, table 1, and endings; each also with the distance.
TEMPLATES = [tuple(text.split(", ")) for text in (
    "head word, head tag", "head word", "head tag",
    "modifier word, modifier tag", "modifier word", "modifier tag",
    "head word, modifier word, head tag, modifier tag",
    "modifier word, head tag, modifier tag", "head word, modifier word, modifier tag",
    "head word, head tag, modifier tag", "head word, modifier word, head tag",
    "head word, modifier word", "head tag, modifier tag",
    "tag after head, tag before modifier, head tag, modifier tag",
    "tag before head, tag before modifier, head tag, modifier tag",
    "tag after head, tag after modifier, head tag, modifier tag",
    "tag before head, tag after modifier, head tag, modifier tag",
    "tag after head, head tag, modifier tag", "tag before head, head tag, modifier tag",
    "tag after modifier, head tag, modifier tag",
    "tag before modifier, head tag, modifier tag",
    "modifier ending, head tag", "head ending, modifier tag",
    "head ending, modifier ending",
)] + [()]  # fmt: skip


class Cliques:
    """Labels of four nodes: psi has nodes, an edge, and the labels of two triples."""

    name = "cliques"
    triples = ((0, 1, 2), (1, 2, 3))

    def __init__(self, rng, scale):
        self.values = [scale * rng.normal(size=(4, 2)).round(3) for _ in range(4)]
        self.X = [Graph(v, [[0, 3]], cliques=list(map(list, self.triples)))
                  for v in self.values]  # fmt: skip
        self.y = [rng.integers(2, size=4).tolist() for _ in self.X]
        self.y[0] = [0, 1, 0, 1]

    def made(self, **settings):
        return NetworkSVM(**settings).fit(self.X, self.y)

    def weights(self, model):
        return named(model)

    def outputs(self, i):
        return itertools.product(range(2), repeat=4)

    def psi(self, i, y):
        out = Counter()
        for v, a in enumerate(y):
            for f in range(2):
                out[f"{a}:{f}"] += Fraction(self.values[i][v, f])
            out[f"{a}:constant"] += 1
        out[f"edge:{y[0]}-{y[3]}"] += 1
        for triple in self.triples:
            out["clique:" + "-".join(str(y[v]) for v in triple)] += 1
        return out

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))


class Choice:
    """Which of three items to take; all outputs are listed."""

    def outputs(self, x):
        return list(itertools.product((0, 1), repeat=len(x)))

    def joint_feature(self, x, y):
        return np.array(y, float) @ x

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))


class JointKernels:
    """y are the items taken; J is (<psi, psi'> + 1)^2 of the sums of their features."""

    name = "joint kernels"

    def __init__(self, rng, scale):
        self.X = [min(scale, 1e2) * rng.normal(size=(3, 2)).round(3) for _ in range(4)]
        self.y = [tuple(rng.integers(2, size=3).tolist()) for _ in self.X]

    def made(self, **settings):
        model = StructuralSVM(Choice(), kernel=Polynomial(2), **settings)
        return model.fit(self.X, self.y)

    def own(self):
        return Choice

    def outputs(self, i):
        return itertools.product(range(2), repeat=3)

    def loss(self, i, y):
        return sum(a != b for a, b in zip(self.y[i], y, strict=True))

    def scores(self, model):
        """||f||^2 and f of every output, over the support pairs.

        Values of f are integers over the last value.
        """
        stored = model.structure_.inputs
        every = [np.asarray(x) for x in (*stored, *self.X)]
        numbers, shift = integers(np.concatenate([x.ravel() for x in every]))
        items, at = [], 0
        for x in every:
            items.append([numbers[at + k : at + k + 2] for k in range(0, x.size, 2)])
            at += x.size
        beta, fine = integers(model.result_.w)
        outputs = model.structure_.outputs
        points = [_psi(x, y) for x, y in zip(items, outputs, strict=False)]

        def f(psi):
            each = zip(beta, points, strict=True)
            return sum(b * polynomial(p, psi, shift) for b, p in each)

        square = sum(b * f(p) for b, p in zip(beta, points, strict=True))
        table = [{tuple(y): f(_psi(x, y)) for y in self.outputs(i)}
                 for i, x in enumerate(items[len(stored) :])]  # fmt: skip
        one = 1 << (4 * shift + fine)
        return Fraction(square, one << fine), table, one


def _psi(x, y):
    """The sum of the items taken."""
    return [sum(int(t) * row[f] for t, row in zip(y, x, strict=True)) for f in range(2)]
