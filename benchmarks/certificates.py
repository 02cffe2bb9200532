"""Certificates compared with exact rational arithmetic over all outputs.

    python -m benchmarks.certificates [--fits 2000] [--seed 0] [--json FILE]

Tiny problems are trained and their certificates checked with code that shares nothing
with the library: features and losses are written out here, all outputs are listed, and
the objective

    P(w) = 1/2 ||w||^2 + sum_i C_i xi_i        (squared penalty: C_i xi_i^2 / 2)

is computed in fractions at the weights of the result. With P* the lowest exact objective
of all runs on a problem, a certificate is false if

    its primal differs from P(w),   its dual exceeds P*,   or its gap is not theirs.

No w can have an objective below the optimum, so a dual above P* is above the optimum.
"""

import argparse
import itertools
import json
import sys
import time
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

from maxmargin import ChainSVM, MotifSVM, MulticlassSVM, NetworkSVM, StructuralSVM
from maxmargin.losses import Hamming
from maxmargin.structures import Matching

ROUNDING = Fraction(1, 10**7)  # of values, and of the primal where squared losses enter
SCALES = [1e-6, 1e-3, 0.1, 1.0, 3.0, 1e2, 1e4, 1e6]
TRAINERS = ["auto", "block-dual", "n-slack", "one-slack", "bcfw", "sdm", "subgradient"]
FORMS = [("margin", "linear"), ("slack", "linear"), ("margin", "squared"),
         ("slack", "squared")]  # fmt: skip


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
        names, w = model.structure_.feature_names(), model.result_.w
        return dict(zip(names, w.tolist(), strict=True))

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


PROBLEMS = [Classes, Chains, Matchings, Networks, Motifs]


def score(w, psi):
    return sum((w[k] * v for k, v in psi.items()), Fraction(0))


def exact_primal(problem, model, C, rescaling, penalty):
    """P(w) in fractions; square roots of losses are avoided by C_i xi_i^2 = C max ..^2."""
    given = problem.weights(model)
    w = {k: Fraction(float(v)) for k, v in given.items()}
    total = Fraction(1, 2) * sum(v * v for v in w.values())
    for i in range(len(problem.y)):
        every = [(score(w, problem.psi(i, y)), problem.loss(i, y))
                 for y in problem.outputs(i)]  # fmt: skip
        if hasattr(problem, "truths"):
            right = max(score(w, problem.psi(i, y)) for y in problem.truths(i))
        else:
            right = score(w, problem.psi(i, tuple_of(problem.y[i])))
        slack = Fraction(0)
        for value, loss in every:
            margin = right - value
            root = Fraction(float(np.sqrt(loss))) if penalty == "squared" else loss
            h = root * (1 - margin) if rescaling == "slack" else root - margin
            slack = max(slack, h)
        C_i = Fraction(float(C))
        total += C_i * slack * slack / 2 if penalty == "squared" else C_i * slack
    return total


def tuple_of(y):
    return tuple(y) if isinstance(y, list) else int(y)


def fits(number, seed):
    """Problems with their settings, at random."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        made = PROBLEMS[k % len(PROBLEMS)]
        scale = SCALES[int(rng.integers(len(SCALES)))]
        C = float(10.0 ** rng.integers(-10, 11))
        forms = FORMS[:2] if made is Motifs else FORMS
        form = forms[int(rng.integers(len(forms)))]
        tol = float(10.0 ** -rng.integers(1, 13))
        yield made(np.random.default_rng(seed * 10**6 + k), scale), C, form, tol


def check(problem, C, form, tol, trainers):
    """Results of all trainers on one problem: (trainer, what is false or "")."""
    rescaling, penalty = form
    runs = []
    for trainer in trainers:
        settings = {"C": C, "rescaling": rescaling, "penalty": penalty, "tol": tol}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = problem.made(solver=trainer, max_iter=300, **settings)
        except ValueError as error:  # a trainer that does not know the formulation
            runs.append((trainer, f"refused: {error}", None, None))
            continue
        exact = exact_primal(problem, model, C, rescaling, penalty)
        runs.append((trainer, "", model.result_, exact))
    best = min((run[3] for run in runs if run[2] is not None), default=None)
    hidden = hasattr(problem, "truths")
    for trainer, told, result, exact in runs:
        if result is None:
            yield trainer, told
            continue
        yield trainer, _false(result, exact, best, hidden)


def _false(result, exact, best, hidden):
    primal, dual = Fraction(float(result.primal)), Fraction(float(result.dual))
    room = ROUNDING * max(abs(exact), Fraction(1, 10**300))
    above = result.certificate != "exact" and primal >= exact  # an upper bound is one
    if abs(primal - exact) > room and not above:
        return f"false: primal {float(primal)!r}, exactly {float(exact)!r}"
    if hidden:  # the dual is that of a convex problem above the objective
        return "true"
    if dual > best * (1 + ROUNDING):
        return f"false: dual {float(dual)!r}, but {float(best)!r} is reached"
    gap = max(primal - dual, 0) / max(abs(primal), Fraction(1, 10**300))
    if abs(gap - Fraction(float(result.gap))) > ROUNDING:
        return f"false: gap {result.gap!r}, not {float(gap)!r}"
    if result.status.name == "CONVERGED" and result.gap > 1:
        return "false: converged with a gap above one"
    return "true"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json")
    args = parser.parse_args()
    outcomes, bad, begin, done = Counter(), [], time.time(), 0
    for problem, C, form, tol in fits(args.fits, args.seed):
        for trainer, told in check(problem, C, form, tol, TRAINERS):
            outcomes[problem.name, told.split(":")[0]] += 1
            done += not told.startswith("refused")
            if told.startswith("false"):
                bad.append((problem.name, trainer, C, form, tol, told))
        if done >= args.fits:
            break
    summary = {
        "fits": done,
        "outcomes": {f"{a}: {b}": n for (a, b), n in sorted(outcomes.items())},
        "false": len(bad),
        "seconds": round(time.time() - begin, 1),
    }
    print(json.dumps(summary, indent=1))
    for each in bad:
        print(*each, file=sys.stderr)
    if args.json:
        Path(args.json).write_text(json.dumps(summary, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
