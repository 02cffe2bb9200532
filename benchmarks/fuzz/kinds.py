"""Further models, so that mutants reach every class that a file may contain.

`tests/small/models.py` has one model of each kind; here are their variants: hidden
labels, kernels by every method, L1, calibration, nested estimators, losses and trainers
as parameters. A function returns a model, or several that predict the same inputs.
"""

from functools import cache

import numpy as np
import scipy.sparse as sp
from cases import network_typed
from cases.joint import ListedKnapsack
from cases.own import Knapsack
from small import models as small
from small.runs import matchings

import maxmargin as mm
from maxmargin.estimators.alignment.significance import ChanceScores
from maxmargin.features import Column, Templates
from maxmargin.kernels import Polynomial, Precomputed, Rbf
from maxmargin.kernels.functions import Function
from maxmargin.kernels.joint import PairFunction
from maxmargin.kernels.maps import map_to
from maxmargin.kernels.row_pairs import RowPairs, SmoothRowPairs
from maxmargin.losses import (
    AlignedPairs,
    ArcLoss,
    AveragePrecision,
    BracketF1,
    BracketHamming,
    ForestLoss,
    Hamming,
    MotifLoss,
    NDCGAtK,
    OwnLoss,
    PairLoss,
    PartialLoss,
    PrecisionAtK,
    RocArea,
    SpanLoss,
    WrongCandidate,
    ZeroOne,
)
from maxmargin.solvers import AS_WRITTEN, SOLVERS, Auto
from maxmargin.solvers.cccp import CCCP
from maxmargin.solvers.enumerated import Enumerated, KernelDual, Newton
from maxmargin.solvers.enumerated.stream import EnumeratedStream
from maxmargin.solvers.kernel import (
    BinarySmo,
    SampledCuts,
    SampledCutsAsWritten,
    Subspace,
    SubspaceAsWritten,
)
from maxmargin.solvers.n_slack.stream import StreamDual
from maxmargin.solvers.summed.stream import SummedStream
from maxmargin.structures import Matching
from maxmargin.structures.alignment import KernelAlignment, learn_positions
from maxmargin.structures.alignment.inputs.views import Prior
from maxmargin.structures.chain import Chain
from maxmargin.structures.classes.taxonomy import Taxonomy
from maxmargin.structures.latent import Partial, PartialNetwork

KERNELS = (
    "exact", "sampled", "cpsp", "nystroem", "cholesky", "sampled-as-written",
    "cpsp-as-written",
)  # fmt: skip


def sparse_weights():
    """More than 10 000 weights, most of them zero: stored by place."""
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 4000), density=0.01, rng=rng, format="csr")
    return mm.MulticlassSVM(regularizer="l1", C=1.0).fit(X, np.arange(40) % 3), X


def classes():
    """Options of classifiers, calibrated."""
    X, y = small.points()
    tree = {0: "insect", 1: "insect", 2: "all", "insect": "all"}
    near = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    three = [
        mm.MulticlassSVM(taxonomy=tree, loss="taxonomy"),
        mm.MulticlassSVM(taxonomy=Taxonomy.of(tree), rescaling="slack"),
        mm.MulticlassSVM(class_similarity=near, penalty="squared"),
        mm.MulticlassSVM(class_features=np.eye(3)[:, :2], loss=ZeroOne()),
        mm.MulticlassSVM(class_weight="balanced", regularizer="l1"),
    ]
    out = [model.fit(X, y).calibrate(X, y) for model in three]
    return [*out, mm.MulticlassSVM(fit_intercept=False).fit(X, y > 0)], X


def kernels():
    """Kernel machines by every method, two and three classes."""
    X, y = small.points()
    out = []
    for method in KERNELS:
        for labels in (y, y > 0):
            asked = {"kernel_method": method, "n_basis": 5, "max_iter": 20}
            out.append(mm.KernelSVM(C=1.0, **asked).fit(X, labels))
    out.append(mm.KernelSVM(kernel=Rbf(0.5) + Polynomial(2)).fit(X, y))
    out.append(mm.KernelSVM(kernel=Rbf(0.5) * Polynomial(2)).fit(X, y).calibrate(X, y))
    return out, X


def precomputed():
    X, y = small.points()
    gram = X @ X.T
    return mm.KernelSVM(kernel=Precomputed()).fit(gram, y), gram


def chains():
    """Chains by name: hidden labels, L1, orders, templates, calibrated."""
    X, y = small.sentences()
    hidden = [[None, *row[1:]] for row in y]
    out = [
        mm.ChainSVM(C=1.0).fit(X, [y[0], *hidden[1:]]),
        mm.ChainSVM(C=1.0, regularizer="l1").fit(X, y),
        mm.ChainSVM(C=1.0, order=2, edge_features=True, window=1).fit(X, y),
        mm.ChainSVM(C=1.0, solver="lanes", start_end=False, bias=False).fit(X, y),
        mm.ChainSVM(C=1.0, allowed={("P", "O"), ("O", "L"), ("O", "O"), ("L", "O")}),
        mm.ChainSVM(C=1.0).fit(X, y).calibrate(X, y, n=3),
        mm.ChainSVM(C=1.0).partial_fit(X, y),
        mm.ChainSVM(C=1.0, penalty="summed", warm_start=True).partial_fit(X, y),
    ]
    out[4].fit(X, y)
    return out, X


def chain_kernels():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(m, 4)).round(6) for m in (3, 5, 2, 6)]
    y = [(np.abs(x[:, 0]) > 0.5).astype(int) for x in X]
    asked = {"C": 1.0, "kernel": "rbf", "n_basis": 5, "max_iter": 20}
    return [mm.ChainSVM(kernel_method=m, **asked).fit(X, y) for m in KERNELS], X


def chain_steps():
    """Templates with every step."""
    X = [["Ana", "vive", "en", "Lima"], ["Eva", "va", "a", "Buenos"]]
    word = Column()
    parts = [word.find("[aeiou]+"), word.shape(), word.is_("title"), word.prefix(2)]
    model = mm.ChainSVM(C=1.0, features=Templates(parts))
    return model.fit(X, [list("PVAL"), list("PVAL")]), X


def segments():
    X, y = small.sentences()
    y = [[{"P": "B-PER", "L": "B-LOC"}.get(t, t) for t in row] for row in y]
    asked = {"C": 1.0, "max_length": 3, "words": "w"}
    return [
        mm.SegmentSVM(loss=SpanLoss(missed=0.2), roles=None, **asked).fit(X, y),
        mm.SegmentSVM(shared=False, start_end=False, window=1, **asked).fit(X, y),
        mm.SegmentSVM(rescaling="slack", longer="split", **asked).fit(X, y),
    ], X


def trees():
    X = [["DT", "NN", "VBD"], ["PRP", "VBD", "DT", "NN"]]
    y = [
        ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")),
              ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
    ]  # fmt: skip
    kernel = {"kernel": "quadratic", "anchors": ("first", "last"), "n_basis": 5}
    return [
        mm.GrammarSVM(C=1.0, loss=BracketF1(), rescaling="slack").fit(X, y),
        mm.GrammarSVM(C=1.0, loss=BracketHamming(), branching="left").fit(X, y),
        mm.GrammarSVM(C=1.0, coarse=5.0, regularizer="l2").fit(X, y),
        mm.GrammarSVM(C=1.0, beam=3.0, horizontal=None, regularizer="l1").fit(X, y),
        *(
            mm.GrammarSVM(C=1.0, kernel_method=m, **kernel).fit(X, y)
            for m in ("exact", "cpsp", "nystroem")
        ),
    ], X


def tagged_trees():
    """A grammar with a tagger of its own, and a search over C around it."""
    X = [["the", "cat", "sat"], ["I", "saw", "a", "dog"]] * 3
    y = [
        ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
        ("S", ("NP", ("PRP", "I")),
              ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
    ] * 3  # fmt: skip
    inner = mm.GrammarSVM(C=1.0, tagger="chain")
    return [inner.fit(X, y), mm.PathCV(inner, Cs=(0.1, 1.0)).fit(X, y)], X


def dependencies():
    X, y = small.parsed_sentences()
    return [
        mm.DependencySVM(C=1.0, loss=ArcLoss(), projective=False).fit(X, y),
        mm.DependencySVM(C=1.0, single_root=False, rescaling="slack").fit(X, y),
    ], X


def alignments():
    X, y = small.PAIRS, small.ALIGNED
    return [
        mm.AlignmentSVM(C=10.0, loss=AlignedPairs(), mode="local").fit(X, y),
        mm.AlignmentSVM(C=10.0, symmetric=True, gaps="linear", band=4).fit(X, y),
        mm.AlignmentSVM(C=10.0, alphabets="protein", regularizer="l1").fit(X, y),
        mm.AlignmentSVM(C=10.0).fit(X, y).calibrate(X, y, n=3),
        scored_by_chance(X, y),
    ], X


def scored_by_chance(X, y):
    """A model that knows the scores of unrelated sequences."""
    model = mm.AlignmentSVM(C=10.0, mode="local").fit(X, y)
    model.score_distribution_ = ChanceScores(lam=0.5, K=0.1)
    return model


def alignment_kernels():
    rng = np.random.default_rng(0)
    X = [({"residue": s, "area": rng.normal(size=(len(s), 1)).round(6)},
          {"residue": t, "area": rng.normal(size=(len(t), 1)).round(6)})
         for s, t in small.PAIRS]  # fmt: skip
    asked = {"C": 1.0, "kernel": "rbf", "n_basis": 5}
    methods = ("exact", "nystroem", "cholesky")
    return [
        mm.AlignmentSVM(kernel_method=m, **asked).fit(X, small.ALIGNED) for m in methods
    ], X


def alignment_maps():
    """Structures whose matches a map of two positions scores."""
    X, y = small.PAIRS, small.ALIGNED
    rows = learn_positions([sequence for pair in X for sequence in pair])
    plain = KernelAlignment(rows=rows, mode="local")
    bound = plain.bind(X, y)
    matches = bound.input_matrix(bound.encode(X))
    out = [plain]
    for kernel in (RowPairs(Polynomial(2), True), SmoothRowPairs(Polynomial(2))):
        phi, _ = map_to(kernel, matches, np.arange(0, len(matches), 9))
        out.append(KernelAlignment(rows=rows, phi=phi, mode="local"))
    asked = {"C": 1.0, "loss": AlignedPairs(), "max_iter": 20}
    return [mm.StructuralSVM(one, **asked).fit(X, y) for one in out], X


def networks():
    X, y = small.graphs()
    hidden = [[None, *row[1:]] for row in y]
    asked = {"C": 1.0, "max_iter": 20}
    out = [
        mm.NetworkSVM(**asked).fit(X, [y[0], *hidden[1:]]),
        mm.NetworkSVM(regularizer="l1", **asked).fit(X, y),
        mm.NetworkSVM(solver="smo", bias=False, **asked).fit(X, y),
        mm.NetworkSVM(inference="trws", loss="zero-one", **asked).fit(X, y),
        mm.NetworkSVM(inference="lp", pairwise="potts", **asked).fit(X, y),
    ]
    for method in ("sampled", "cpsp", "nystroem", "cholesky"):
        kernel = {"kernel": "rbf", "kernel_method": method, "n_basis": 5}
        out.append(mm.NetworkSVM(**kernel, **asked).fit(X, y))
    return out, X


def typed_networks():
    """Types of nodes and edges, features of edges, sparse nodes, a kernel on edges."""
    _, X, y = network_typed.tiny(np.random.default_rng(0))
    dense = [x._replace(nodes=x.nodes.toarray()) if hasattr(x, "_replace") else x
             for x in X]  # fmt: skip
    out = [mm.NetworkSVM(C=1.0).fit(X, y)]
    return [*out, mm.NetworkSVM(C=1.0, edge_kernel="rbf", max_iter=20).fit(dense, y)], X


def motifs():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    y = [1, 1, 1, 0, 0, 0]
    asked = {"length": 4, "C": 1.0, "random_state": 0, "restarts": 2}
    return [
        mm.MotifSVM(order=2, loss=MotifLoss(), **asked).fit(X, y),
        mm.MotifSVM(order=1, solver="one-slack", **asked).fit(X, y),
    ], X


def rankings():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(12, 3)).round(6) for _ in range(6)]
    y = [(x[:, 0] > 0.5).astype(int) for x in X]
    whole = [AveragePrecision(), RocArea()]
    losses = ("map", "roc", "ndcg", PrecisionAtK(3), NDCGAtK(3), *whole)
    return [mm.RankingSVM(3, loss=loss).fit(X, y) for loss in losses], X


def clusters():
    X, y = small.documents()
    return [
        mm.CoreferenceSVM(C=0.5, loss=ForestLoss(0.5), restarts=2).fit(X, y),
        small.CorrelationSVM(C=0.5, loss=PairLoss(), inference="relaxed").fit(X, y),
    ], X


def trainers():
    """Every trainer as a parameter of a fitted model."""
    X, y = matchings(6)
    kernel = {"kernel": Rbf(0.5)}
    every = [
        *(kind() for kind in {**SOLVERS, **AS_WRITTEN}.values()),
        Auto(), CCCP(Auto()), Enumerated(), Newton(), BinarySmo(), SampledCuts(**kernel),
        SampledCutsAsWritten(**kernel), Subspace(**kernel), SubspaceAsWritten(**kernel),
        StreamDual(), EnumeratedStream(), SummedStream(), KernelDual(**kernel),
    ]  # fmt: skip
    out = []
    for solver in every:
        model = mm.StructuralSVM(Matching(), C=1.0).fit(X, y)
        out.append(model.set_params(solver=solver))
    out[0].set_params(loss=WrongCandidate())
    for more in ({"regularizer": "l1"}, {"penalty": "summed"}, {"loss": "zero-one"}):
        out.append(mm.StructuralSVM(Matching(), C=1.0, **more).fit(X, y))
    return out, X


def hidden():
    """Structures with hidden parts as parameters."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(m, 4)).round(6) for m in (3, 5, 2, 6)]
    y = [[None, *(x[1:, 0] > 0).astype(int).tolist()] for x in X]
    y[0][0] = 1
    model = mm.StructuralSVM(Partial(Chain()), C=1.0, loss=PartialLoss(Hamming()))
    return model.fit(X, y), X


def hidden_networks():
    X, y = small.graphs()
    y = [y[0], *([None, *row[1:]] for row in y[1:])]
    model = mm.StructuralSVM(PartialNetwork(), C=1.0, loss=PartialLoss(Hamming()))
    return model.fit(X, y), X


def homologies():
    """Searches with known scores, given alignments, and nothing to start from."""
    X = [("HEAGAW", ["PPPP", "HEAAW"]), ("GHEEPA", ["GHEPA", "WWLL"])]
    y = [(1, ("HEAGAW", "HEA-AW")), (0, ("GHEEPA", "GHE-PA"))]
    letters = tuple("AEGHLPW")
    known = Prior(letters, np.eye(7) - 0.5, (-2.0, -1.0))
    asked = [
        {"start": known},
        {"start": None},
        {"alignments": "given", "mode": "global"},
    ]
    return [mm.HomologySVM(C=1.0, **more).fit(X, y) for more in asked], X


def product_kernel(a, b):
    """A kernel of the user's own."""
    return np.asarray(a) @ np.asarray(b).T


def pair_kernel(p, q):
    """The same for pairs: features are sums over the chosen items."""
    a, b = (x[list(y)].sum(axis=0) for x, y in (p, q))
    return float(a @ b)


def own_kernels():
    """Kernels that are functions of the user's own."""
    X, y = small.points()
    return mm.KernelSVM(kernel=Function(product_kernel)).fit(X, y), X


def own_items():
    """Losses and kernels that belong to structures of the user's own."""
    _, X = small.own()
    y = [tuple(np.flatnonzero(x[:, 0] > 0.3)[:2].tolist()) for x in X]
    loss = mm.StructuralSVM(Knapsack(), C=1.0, loss=OwnLoss(Knapsack())).fit(X, y)
    kernel = PairFunction(pair_kernel)
    return [loss, mm.StructuralSVM(ListedKnapsack(), C=1.0, kernel=kernel).fit(X, y)], X


def searches():
    X, y = small.sentences()
    X, y = X * 3, y * 3
    return mm.PathCV(mm.ChainSVM(), Cs=(0.01, 0.1), cv=3).fit(X, y), X


MORE = {
    f.__name__: cache(f)
    for f in (
        sparse_weights, classes, kernels, precomputed, chains, chain_kernels,
        chain_steps, segments, trees, tagged_trees, dependencies, alignments,
        alignment_kernels, alignment_maps, networks, typed_networks, motifs, rankings, clusters,
        trainers, hidden, hidden_networks, searches, homologies, own_kernels, own_items,
    )
}  # fmt: skip
# What `load` must be given for them.
OWN = {
    "own_kernels": (product_kernel,),
    "own_items": (Knapsack, ListedKnapsack, pair_kernel),
}
