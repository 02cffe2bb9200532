"""Further runs with checkpoints, beside those of `tests/small/runs.py`.

Chains, segments, trees, alignments, cliques, hidden parts, kernel machines. Joint kernels
and the trainers that choose functions as they train write no checkpoints.
"""

import numpy as np
from small.runs import points

import maxmargin as mm
from maxmargin.estimators import CorrelationSVM
from maxmargin.structures.clusters import PairFeatures
from maxmargin.structures.network import Graph


def sequences():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(int(m), 3)) for m in rng.integers(2, 6, size=20)]
    return X, [rng.integers(3, size=len(x)).tolist() for x in X]


def hidden_sequences():
    X, y = sequences()
    return X, [y[0], *([None, *row[1:]] for row in y[1:])]


def motifs():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"] * 2
    return X, [1, 1, 1, 0, 0, 0] * 2


def lists():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(12, 3)) for _ in range(8)]
    return X, [rng.integers(2, size=12) for _ in X]


def of(kind, *args, **settings):
    return lambda **more: kind(*args, **{"tol": 1e-6, "C": 1.0, **settings}, **more)


def entities():
    """Spans at random: more constraints than two steps can find."""
    rng = np.random.default_rng(5)
    words = np.array(["Ana", "vive", "en", "Lima", "Eva"])
    X = [[[w] for w in rng.choice(words, 6).tolist()] for _ in range(20)]
    return X, [
        [(int(k), int(k) + 2, "ABC"[int(k) % 3])] for k in rng.integers(5, size=20)
    ]


def bracketed():
    """Binary trees over one tag, at random."""
    rng = np.random.default_rng(6)

    def tree(size):
        if size == 1:
            return ("N", "a")
        left = int(rng.integers(1, size))
        return ("AB"[int(rng.integers(2))], tree(left), tree(size - left))

    sizes = rng.integers(2, 6, size=15).tolist()
    return [["N"] * size for size in sizes], [tree(size) for size in sizes]


def parsed():
    rng = np.random.default_rng(7)
    X = [[(str(w), "X") for w in rng.integers(4, size=5)] for _ in range(15)]
    return X, [[0, *(int(rng.integers(1, k + 1)) for k in range(1, 5))] for _ in X]


def aligned():
    rng = np.random.default_rng(8)
    X, y = [], []
    for _ in range(10):
        s = "".join(rng.choice(list("ACGT"), 6))
        cut = int(rng.integers(1, 5))
        X.append((s, s[:cut] + s[cut + 1 :]))
        at = int(rng.integers(1, 5))
        t = X[-1][1]
        y.append((s, t[:at] + "-" + t[at:]))
    return X, y


def with_cliques():
    rng = np.random.default_rng(9)
    triples = [[0, 1, 2], [1, 2, 3]]
    X = [Graph(rng.normal(size=(4, 2)), [[0, 1]], cliques=triples) for _ in range(15)]
    return X, [rng.integers(2, size=4).tolist() for _ in X]


def documents():
    rng = np.random.default_rng(10)
    X = [PairFeatures(5, rng.normal(size=(10, 2))) for _ in range(10)]
    return X, [rng.integers(3, size=5).tolist() for _ in X]


KERNEL = {"kernel": "rbf", "n_basis": 8, "max_iter": 30}
MORE = {
    "chain": (of(mm.ChainSVM, solver="block-dual"), sequences, 3),
    "lanes": (of(mm.ChainSVM, solver="lanes"), sequences, 3),
    "chain, l1": (of(mm.ChainSVM, regularizer="l1", max_iter=40), sequences, 5),
    "chain, hidden labels": (of(mm.ChainSVM, tol=1e-4), hidden_sequences, 2),
    "segments": (of(mm.SegmentSVM, max_length=3), entities, 2),
    "grammar": (of(mm.GrammarSVM), bracketed, 2),
    "dependency": (of(mm.DependencySVM, rare=0, loss="heads"), parsed, 2),
    "alignment": (of(mm.AlignmentSVM, C=10.0), aligned, 2),
    "cliques": (of(mm.NetworkSVM), with_cliques, 2),
    "ranking": (of(mm.RankingSVM, k=3), lists, 2),
    "coreference": (of(mm.CoreferenceSVM), documents, 2),
    "correlation": (of(CorrelationSVM), documents, 2),
    "motif": (of(mm.MotifSVM, 4, 0, random_state=0, restarts=2), motifs, 2),
    "kernel, two classes": (
        of(mm.KernelSVM, gamma=2.0, C=100.0, tol=1e-10),
        lambda: (points(200)[0], points(200)[1] > 0), 3,
    ),
    **{
        f"kernel, {m}": (of(mm.KernelSVM, kernel_method=m, **KERNEL), points, 2)
        for m in ("exact", "cholesky")
    },
    "chain with a kernel": (of(mm.ChainSVM, **KERNEL), sequences, 3),
}  # fmt: skip
