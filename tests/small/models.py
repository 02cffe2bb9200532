"""One small fitted model of each kind, with inputs to predict: `MODELS[name]()`.

Inputs are made by hand or by NumPy's seeded generators, which are stable, so that the
model files under `tests/fixtures/models` can be compared for ever.
"""

from functools import cache

import numpy as np
import scipy.sparse as sp
from cases.joint import ListedKnapsack
from cases.own import Knapsack

import maxmargin as mm
from maxmargin.estimators import CorrelationSVM
from maxmargin.features import Clusters, Column, Gazetteer, Templates
from maxmargin.kernels import Joint, Linear, Polynomial, Rbf
from maxmargin.losses import Hamming
from maxmargin.solvers import OneSlack
from maxmargin.structures import Matching
from maxmargin.structures.clusters import PairFeatures
from maxmargin.structures.network import Graph

# Models that need something handed over.
OWN = {"own": Knapsack, "joint_own": ListedKnapsack}


split = str.split


def points(n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return (np.eye(3)[y] + 0.2 * rng.normal(size=(n, 3))).round(6), y


def multiclass():
    X, y = points()
    names = np.array(["ant", "bee", "cow"])[y]
    return mm.MulticlassSVM(loss={("ant", "bee"): 2.0}).fit(X, names), X


def multiclass_taxonomy():
    X, y = points()
    tree = {0: "insect", 1: "insect", 2: "all", "insect": "all"}
    model = mm.MulticlassSVM(taxonomy=tree, loss="taxonomy", rescaling="slack")
    return model.fit(sp.csr_array(X), y), sp.csr_array(X)


def multilabel():
    X, y = points()
    sets = [[["ant"], ["bee", "ant"], []][c] for c in y]
    tree = [("ant", "insect"), ("bee", "insect"), ("bee", "flier"), ("cow", None)]
    return mm.MultilabelSVM(taxonomy=tree, thresholds="macro").fit(X, sets), X


def sentences():
    words = split("Ana vive en Lima . Eva no vive en Cusco . Juan va a Puno .")
    tags = list("POOLOPOOOLOPOOLO")
    tokens = [{"w": w.lower(), "cap": w[0].isupper()} for w in words]
    return [tokens[:5], tokens[5:11], tokens[11:]], [tags[:5], tags[5:11], tags[11:]]


def chain():
    X, y = sentences()
    return mm.ChainSVM(C=1.0, window=1).fit(X, y), X


def chain_constrained():
    X, y = sentences()
    y = [[{"P": "B-PER", "L": "B-LOC"}.get(t, t) for t in row] for row in y]
    return mm.ChainSVM(C=1.0, order=2, scheme="bio", solver=OneSlack()).fit(X, y), X


def chain_arrays():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(m, 4)).round(6) for m in (3, 5, 2, 6)]
    y = [(x[:, 0] > 0).astype(int) for x in X]
    return mm.ChainSVM(loss=np.array([[0.0, 1.0], [3.0, 0.0]])).fit(X, y), X


def segment():
    X, y = sentences()
    y = [[{"P": "B-PER", "L": "B-LOC"}.get(t, t) for t in row] for row in y]
    y[0][3:] = ["B-LOC", "I-LOC"]
    model = mm.SegmentSVM(C=1.0, max_length=3, words="w", forbidden={("PER", "LOC")})
    return model.fit(X, y), X


def segment_templates():
    words = [split("Ana Ruiz vive en Lima"), split("en Buenos Aires ríe Eva")]
    y = [[(0, 2, "PER"), (4, 5, "LOC")], [(1, 3, "LOC"), (4, 5, "PER")]]
    places = Gazetteer.of(["Buenos Aires", "Lima"], name="place")
    model = mm.SegmentSVM(C=1.0, features="ner", gazetteers=[places], loss="spans")
    return model.fit(words, y), words


def chain_templates():
    words = [[token["w"] for token in row] for row in sentences()[0]]
    word = Column()
    places = Gazetteer.of(["lima", "cusco"], "place")
    clusters = Clusters.from_dict({"vive": "01", "va": "01"})
    templates = Templates(
        [word, word.lower()[-1], word.suffix(2), word.listed(places),
         word.cluster(clusters), word.matches("^v"), word[-1] & word],
        [word.prefix(1)],
    )  # fmt: skip
    rng = np.random.default_rng(4)
    X = [(row, rng.normal(size=(len(row), 2)).round(6)) for row in words]
    model = mm.ChainSVM(C=1.0, features=templates).fit(X, sentences()[1])
    return model.calibrate(X, sentences()[1], n=3), X


def grammar():
    X = [["DT", "NN", "VBD"], ["PRP", "VBD", "DT", "NN"]]
    y = [
        ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")),
              ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
    ]  # fmt: skip
    return mm.GrammarSVM(C=1.0, anchors="all", vertical=2).fit(X, y), X


def grammar_words():
    X = [split("the cat sat"), split("I saw a dog"), split("I sat")]
    y = [
        ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")),
              ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
        ("S", ("NP", ("PRP", "I")), ("VP", ("VBD", "sat"))),
    ]  # fmt: skip
    model = mm.GrammarSVM(C=1.0, terminals="words", rare=0, fallback="flat")
    return model.fit(X, y), [*X, split("the dog saw")]


def parsed_sentences():
    X, y = [], []
    for noun in ("cat", "dog"):
        X.append([("the", "DET"), (noun, "NOUN"), ("sat", "VERB")])
        y.append([(2, "det"), (3, "nsubj"), (0, "root")])
        X.append([("I", "PRON"), ("saw", "VERB"), ("a", "DET"), (noun, "NOUN")])
        y.append([(2, "nsubj"), (0, "root"), (4, "det"), (2, "obj")])
    return X, y


def dependency():
    X, y = parsed_sentences()
    return mm.DependencySVM(C=1.0, rare=0).fit(X, y), X


def dependency_crossing():
    X, y = parsed_sentences()
    X, y = [*X, [("a", "X"), ("b", "X"), ("c", "X"), ("d", "X")]], [
        *([head for head, _ in tree] for tree in y), [3, 4, 0, 3],
    ]  # fmt: skip
    return mm.DependencySVM(C=1.0, loss="heads").fit(X, y), X


PAIRS = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW")]
ALIGNED = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW")]


def alignment():
    return mm.AlignmentSVM(C=10.0).fit(PAIRS, ALIGNED), PAIRS


def alignment_tracks():
    X = [
        ({"residue": s, "shape": "hc" * (len(s) // 2) + "h" * (len(s) % 2)},
         {"residue": t, "shape": "ch" * (len(t) // 2) + "c" * (len(t) % 2)})
        for s, t in PAIRS
    ]  # fmt: skip
    model = mm.AlignmentSVM(
        C=10.0, features="window", gaps="structural", loss="Q4", mode="semiglobal"
    )
    return model.fit(X, ALIGNED), X


def homology():
    X = [("HEAGAW", ["PPPP", "HEAAW"]), ("GHEEPA", ["GHEPA", "WWLL"])]
    y = [(1, ("HEAGAW", "HEA-AW")), (0, ("GHEEPA", "GHE-PA"))]
    return mm.HomologySVM(C=10.0).fit(X, y), X


def graphs():
    rng = np.random.default_rng(5)
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    X = [(rng.normal(size=(4, 2)).round(6), ring) for _ in range(6)]
    return X, [["up" if v > 0 else "down" for v in nodes[:, 0]] for nodes, _ in X]


def network():
    X, y = graphs()
    return mm.NetworkSVM(C=1.0, pairwise="potts").fit(X, y), X


def network_kernel():
    X, y = graphs()
    return mm.NetworkSVM(C=1.0, kernel=Polynomial(2), tol=0.01).fit(X, y), X


def kernel():
    X, y = points()
    return mm.KernelSVM(C=1.0, kernel="rbf", gamma=0.5).fit(X, y), X


def kernel_two():
    X, y = points()
    model = mm.KernelSVM(kernel=Polynomial(2), kernel_method="cpsp", n_basis=5)
    return model.fit(X, y > 0), X


def chain_kernel():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(m, 4)).round(6) for m in (3, 5, 2, 6)]
    y = [(np.abs(x[:, 0]) > 0.5).astype(int) for x in X]
    return mm.ChainSVM(C=1.0, kernel="quadratic").fit(X, y), X


def motif():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    model = mm.MotifSVM(length=4, order=0, C=1.0, random_state=0, both_strands=True)
    return model.fit(X, y), X


def ranking():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(12, 3)).round(6) for _ in range(6)]
    y = [(x[:, 0] > 0.5).astype(int) for x in X]
    return mm.RankingSVM(k=3).fit(X, y), X


def documents():
    rng = np.random.default_rng(7)
    X, Y = [], []
    for _ in range(4):
        y = rng.integers(2, size=6)
        rows = [[1.0, float(y[i] == y[j]) + 0.1 * rng.normal()]
                for j in range(6) for i in range(j)]  # fmt: skip
        X.append(PairFeatures(6, np.array(rows).round(6)))
        Y.append(y.tolist())
    return X, Y


def coreference():
    X, y = documents()
    return mm.CoreferenceSVM(C=0.5).fit(X, y), X


def correlation():
    X, y = documents()
    return CorrelationSVM(C=0.5, tol=0.05).fit(X, y), X


def structural():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 2)).round(6) for _ in range(8)]
    y = [np.argsort(x[:, :, 0].sum(axis=1)).tolist() for x in X]
    return mm.StructuralSVM(Matching(), C=1.0, loss=Hamming()).fit(X, y), X


def own():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)).round(6) for _ in range(6)]
    y = [tuple(np.flatnonzero(x[:, 0] > 0.3)[:2].tolist()) for x in X]
    return mm.StructuralSVM(Knapsack(), C=1.0).fit(X, y), X


def network_cliques():
    rng = np.random.default_rng(7)
    X, y = [], []
    for _ in range(8):
        labels = rng.integers(0, 2, 4)
        values = (labels[:, None] + 0.3 * rng.normal(size=(4, 2))).round(6)
        triples = [[0, 1, 2], [1, 2, 3], [3, 0]]
        X.append(Graph(values, [[0, 1]], cliques=triples, clique_types="ttp"))
        y.append(labels.tolist())
    model = mm.NetworkSVM(C=1.0, cliques={"t": "table", "p": ("at most", 1, 1)})
    return model.fit(X, y), X


def joint_own():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)).round(6) for _ in range(6)]
    y = [tuple(np.flatnonzero(x[:, 0] > 0.3)[:2].tolist()) for x in X]
    return mm.StructuralSVM(ListedKnapsack(), C=1.0, kernel=Rbf(0.5)).fit(X, y), X


def joint_classes():
    X, y = points()
    near = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    kernel = Joint(Rbf(1.0), near) + Joint(Linear(), np.eye(3))
    return mm.MulticlassSVM(kernel=kernel).fit(X, y), X


def path_cv():
    X, y = points()
    return mm.PathCV(mm.MulticlassSVM(), Cs=(0.01, 0.1)).fit(X, y), X


MODELS = {
    f.__name__: cache(f)
    for f in (
        multiclass, multiclass_taxonomy, multilabel, chain, chain_constrained, chain_arrays,
        chain_templates, segment, segment_templates, grammar, grammar_words, dependency,
        dependency_crossing, alignment, alignment_tracks, homology, network,
        network_kernel, kernel, kernel_two, chain_kernel, motif, ranking, coreference, correlation, structural, own,
        network_cliques, joint_own, joint_classes, path_cv,
    )
}  # fmt: skip


def same(a, b):
    """Whether two predictions are the same to the bit, types included."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype != object:
            return a.tobytes() == b.tobytes()
        return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b
