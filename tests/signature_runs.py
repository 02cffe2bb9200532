"""Small runs that call every loop with the types the library uses: `signatures.json`.

    python tests/signature_runs.py                 # run them all, and write the list
    python tests/signature_runs.py ChainSVM ..     # print the uses of these runs as JSON

Runs are named after the estimator that they fit in the plain way; those named "options"
go through trainers, formulations, losses and inference that have to be asked for. A new
loop needs a run here that reaches it; most often one of `tests/cases` or of
`small/models.py` does already.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE / "contracts", HERE.parent / "src"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402
from small.models import MODELS, OWN, documents, graphs, points, sentences  # noqa: E402

import maxmargin as mm  # noqa: E402
from maxmargin.core import Augment, ByLoss, NBest  # noqa: E402
from maxmargin.core.compiled.signatures import (  # noqa: E402
    Listing,
    Use,
    listing_of,
    recorded,
    type_of,
    type_text,
)

OPTIONS = "options"


def plain_runs():
    """Models of `small/models.py` by the name of their estimator."""
    kinds = {
        "MulticlassSVM": (
            "multiclass",
            "multiclass_taxonomy",
            "path_cv",
            "joint_classes",
        ),
        "MultilabelSVM": ("multilabel",),
        "KernelSVM": ("kernel", "kernel_two"),
        "ChainSVM": (
            "chain",
            "chain_constrained",
            "chain_arrays",
            "chain_kernel",
            "chain_templates",
        ),
        "SegmentSVM": ("segment", "segment_templates"),
        "GrammarSVM": ("grammar", "grammar_words"),
        "DependencySVM": ("dependency", "dependency_crossing"),
        "AlignmentSVM": ("alignment", "alignment_tracks"),
        "HomologySVM": ("homology",),
        "NetworkSVM": ("network", "network_kernel", "network_cliques"),
        "MotifSVM": ("motif",),
        "RankingSVM": ("ranking",),
        "CoreferenceSVM": ("coreference",),
        "CorrelationSVM": ("correlation",),
        "StructuralSVM": ("structural", "own", "joint_own"),
    }
    assert {m for names in kinds.values() for m in names} == set(MODELS)
    runs = {kind: [_fitted(name) for name in names] for kind, names in kinds.items()}
    runs["ChainSVM"] += [_many_tokens, _plain_text]
    return runs


def _many_tokens():
    """The trainer of large data: `warmup ChainSVM` is to compile it, too."""
    model, X = MODELS["chain"]()
    mm.ChainSVM(solver="lanes", tol=1e-2).fit(X, model.predict(X))
    named = [[["a"], ["b"]]], [["N", "V"]]
    mm.ChainSVM().fit(*named).tag(named[0][0])


def _plain_text():
    """Words in, tags out, by a built-in template."""
    X = [["Ana", "vive", "en", "Lima"], ["Va", "a", "Cusco"]]
    y = [["B-PER", "O", "O", "B-LOC"], ["O", "O", "B-LOC"]]
    mm.ChainSVM(features="ner").fit(X, y).predict(X)


def _fitted(name):
    def run():
        model, X = MODELS[name]()
        model.predict(X)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.mm"
            model.save(path)
            own = OWN.get(name, ())
            mm.load(path, own=own).predict(X)

    return run


def structures():
    """Every structure: argmax, cuts, layers, n-best, with each of its losses."""
    import cases

    for case in cases.modules().values():
        rng = np.random.default_rng(0)
        unbound, X, Y = case.tiny(rng)
        structure = unbound.bind(X, Y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, Y)
        w = rng.normal(size=structure.dim)
        ids = np.arange(x.n)
        structure.decode_labels(x, truth)
        structure.features(x, ids, truth).dot(w)
        for loss in (None, *case.LOSSES):
            augment = None
            if loss is not None:
                bound = loss.bind(structure.label_count())
                augment = Augment(truth, bound, np.full(x.n, 0.5))
            _asked(structure, x, ids, w, augment)


def _asked(structure, x, ids, w, augment):
    structure.argmax(x, ids, w, augment)
    if augment is not None:
        structure.cuts(x, ids, w, augment)
        by_loss = structure.offers(ByLoss)
        if by_loss is not None:
            by_loss.argmax_by_loss(x, ids, w, augment)
    nbest = structure.offers(NBest)
    if nbest is not None:
        with suppress(ValueError):  # a structure may refuse a loss here, in words
            nbest.nbest(x, ids, w, 3, augment)


def trainers():
    """Every trainer on sequences and classes, in every formulation."""
    from dense import ROWS

    from maxmargin.solvers import AS_WRITTEN, SOLVERS
    from maxmargin.solvers.frank_wolfe import BCFW
    from maxmargin.solvers.n_slack import BlockDual
    from maxmargin.solvers.summed import SDCD

    X, y = points()
    sequences = [X[k : k + 3] for k in range(0, 30, 3)], y.reshape(10, 3).tolist()
    for rescaling, penalty in ROWS.values():
        asked = {"rescaling": rescaling, "penalty": penalty, "max_iter": 8}
        if rescaling is None:
            asked["loss"] = "zero-one"
        for solver in (
            *SOLVERS, "auto", BCFW(steps="pairwise", cache=50, max_iter=8),
            BCFW(steps="away", cache=50, max_iter=8), BlockDual(most=2, max_iter=8),
            BlockDual(memory=3e4, max_iter=8),
        ):  # fmt: skip
            _tried(mm.ChainSVM(solver=solver, **asked), *sequences)
            _tried(mm.MulticlassSVM(solver=solver, **asked), X, y)

    summed = SDCD(change=1e-3, max_iter=8)
    for solver in (summed, *AS_WRITTEN):
        _tried(mm.ChainSVM(solver=solver, penalty="summed", max_iter=8), *sequences)
    mm.ChainSVM(penalty="summed", max_iter=8).partial_fit(*sequences)
    _tried(mm.ChainSVM(regularizer="l1", max_iter=8), *sequences)
    _tried(mm.MulticlassSVM(regularizer="l1", max_iter=8), X, y)
    mm.ChainSVM(solver="bcfw", max_iter=8).fit_path(*sequences, Cs=(0.1, 1.0))


def _tried(model, X, y):
    """Fit and predict where the combination is not refused."""
    with suppress(ValueError, TypeError, MemoryError):
        model.fit(X, y).predict(X)


def sequences():
    """What `ChainSVM` can be asked beside the best labels; baselines."""
    from maxmargin.baselines import CRF, HMM, Perceptron
    from maxmargin.solvers import Cocoa, Lanes
    from maxmargin.structures.chain import Chain

    X, y = sentences()
    model = mm.ChainSVM(C=1.0).fit(X, y)
    model.predict_nbest(X, 3)
    model.max_marginals(X)
    model.explain(X[0])
    spans, Xs = MODELS["segment"]()
    spans.predict_nbest(Xs, 3)
    spans.max_marginals(Xs)
    ones = [np.eye(5)[[k, (k + 1) % 5]] for k in range(5)]  # many zeros in an array
    mm.ChainSVM().fit(ones, [[0, 1]] * 5)
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=(6, 2)) for _ in range(20)]
    labels = [rng.integers(3, size=6).tolist() for _ in range(20)]
    for lanes in (1, 2):
        for inputs, outputs in ((X, y), (noise, labels)):
            model = mm.ChainSVM(solver=Lanes(lanes=lanes, tol=1e-2))
            model.fit_path(inputs, outputs, Cs=(0.1, 5.0))
    for inputs, outputs in ((X, y), (noise, labels)):
        model = mm.ChainSVM(solver=Lanes(tol=1e-2), warm_start=True)
        model.fit(inputs, outputs).set_params(solver=Lanes(lanes=2, tol=1e-2))
        model.fit(inputs, outputs)
        mm.ChainSVM(1.0, solver=Cocoa(shards=4, max_iter=300)).fit(inputs, outputs)
    CRF().fit(X, y).predict(X)
    HMM().fit(X, y).predict(X)
    Perceptron(Chain()).fit(X, y).predict(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ck"
        mm.ChainSVM(checkpoint=str(path), max_iter=1, tol=1e-9).fit(X, y)
        mm.ChainSVM(checkpoint=str(path), max_iter=3, tol=1e-9).fit(X, y)


def text():
    """Features compiled from templates, gazetteers, calibration."""
    from maxmargin.calibration import Isotonic
    from maxmargin.features import Column, Gazetteer, Templates, builtin_templates

    words = [["Ana", "vive", "en", "Lima"], ["Eva", "va", "a", "Buenos", "Aires"]]
    builtin_templates("ner", width=1).fit([[(w,) for w in row] for row in words])
    places = Gazetteer.of(["Buenos Aires", "Lima"], name="place")
    word = Column()
    parts = [word.lower(), word.suffix(2)[-1], word[-1] & word[0], word.listed(places)]
    Templates(parts).fit(words).encode(words)
    Isotonic.fit([0.1, 0.4, 0.3, 0.9], [0, 0, 1, 1])


def scores():
    """Best outputs, n-best, marginals and oracles of plain score arrays."""
    from score_cases import CASES

    from maxmargin.decode import Chain, Ranking, best_spans, most_violated

    for name, made in CASES.items():
        for seed in (0, 1):
            rng = np.random.default_rng(seed)
            case = made(rng)
            structure, asked = case.structure, (case.scores, case.mask)
            structure.best(*asked)
            structure.nbest(case.scores, 3, case.mask)
            structure.max_marginals(*asked)
            target = case.given(case.targets(rng))
            structure.score(case.scores, target, case.mask)
            if name != "ranking":
                structure.indicators(case.scores, target, case.mask)
                batch = structure.read(*asked)  # gradients have the type of the scores
                rows, _ = structure.read_target(batch, target)
                out = tuple(np.zeros(a.shape, a.dtype) for a in batch.arrays)
                structure.add_indicators(batch, rows, np.ones(batch.rows), out)
                structure.cells(batch, rows)
            if isinstance(structure, Chain):
                costs = 1.0 - np.eye(case.scores["emissions"].shape[2])
                most_violated(structure, case.scores, target, case.mask, costs)
            with suppress(NotImplementedError):  # sums that are not known exactly
                structure.marginals(*asked)
                structure.log_partition(structure.read(*asked))
            with suppress(NotImplementedError, ValueError):  # determinants underflow
                large = {k: 1e4 * v for k, v in case.scores.items()}  # sums of logs
                structure.marginals(large, case.mask)
                structure.log_partition(structure.read(large, case.mask))
            for rescaling in ("margin", "slack"):
                with suppress(ValueError, NotImplementedError):
                    most_violated(
                        structure, case.scores, target, case.mask, rescaling=rescaling
                    )
    order = np.array([[0.3, 0.1, 0.9]])
    for loss in Ranking.losses:
        most_violated(Ranking(), order, [[1, 0, 0]], loss=loss)
    best_spans([(0, 2, "PER", 1.0), (1, 4, "ORG", 1.5), (2, 4, "LOC", 0.8)])


def networks():
    """Every way of inference on rings and chains, kernels, the factored dual."""
    from maxmargin.baselines import MarkovNetwork
    from maxmargin.inference.graph import decode
    from maxmargin.kernels import Polynomial
    from maxmargin.structures.network import Graph

    X, y = graphs()
    chains = [(nodes, edges[:-1]) for nodes, edges in X]
    rng = np.random.default_rng(0)
    featured = [Graph(n, e, rng.normal(size=(len(e), 2))) for n, e in X]
    for inference in decode.METHODS:
        for pairwise in ("full", "potts"):
            model = mm.NetworkSVM(inference=inference, pairwise=pairwise, max_iter=5)
            for inputs in (X, chains, featured):
                _tried(model, inputs, y)
    for inputs in (X, chains, featured):
        for loss, rescaling in (("zero-one", "margin"), ("hamming", "slack")):
            _tried(mm.NetworkSVM(loss=loss, rescaling=rescaling, max_iter=5), inputs, y)
        for inference in ("auto", "lp", "trws"):
            for kernel in (None, Polynomial(2)):
                model = mm.NetworkSVM(
                    solver="smo", kernel=kernel, inference=inference, max_iter=5
                )
                _tried(model, inputs, y)
    _tried(mm.NetworkSVM(edge_kernel="rbf", max_iter=5), featured, y)
    for C in (0.1, 100.0):  # the truth is the best labelling at large C
        for inference in ("auto", "trws"):
            model = mm.NetworkSVM(C, loss="zero-one", inference=inference, max_iter=20)
            _tried(model, X, y)
    MarkovNetwork().fit(X, y).predict(X)


def others():
    """Kernels, alignments, motifs, rankings and clusterings beside the plain ones."""
    from maxmargin.baselines import KnownMatrix, PairwiseRanking
    from maxmargin.estimators import CorrelationSVM

    for opening in (-11.0, -1e5):  # 16 and 32 bits
        KnownMatrix(opening=opening).predict([("HEAG", "HAG")])
    X, y = points()
    for method in ("exact", "sampled", "cpsp", "nystrom"):
        for labels in (y, y > 0):
            model = mm.KernelSVM(kernel_method=method, n_basis=5, max_iter=20)
            _tried(model, X, labels)
    _tried(mm.KernelSVM(tol=1e-6, max_iter=20), X, y)  # columns in double precision
    model, X = MODELS["motif"]()
    model.explain(X[0])
    rng = np.random.default_rng(0)
    queries = [rng.normal(size=(8, 3)) for _ in range(4)]
    relevant = [(x[:, 0] > 0).astype(int) for x in queries]
    PairwiseRanking().fit(queries, relevant)
    CorrelationSVM(C=5.0, inference="relaxed", max_iter=20).fit(*documents())


def leaf_loops():
    """Loops that structures of a user's own may call, from Python or in a loop."""
    from maxmargin.core import Vectors, add_scores, fill_scores
    from maxmargin.core.data.arrays import inner
    from maxmargin.inference.alignment import best_path
    from maxmargin.inference.graph import GraphTables, forest
    from maxmargin.solvers.planes.steps import block_gap, box_steps

    vectors, w, out = Vectors.of(np.eye(3), False), np.ones(9), np.zeros(3)
    fill_scores(*vectors, 0, w, 3, out)
    add_scores(*vectors, 0, out, 3, w)
    inner(w, w)
    sizes, gap = np.array([3]), np.full((4, 4), -1.0)
    cells = best_path.band(sizes, sizes, 3)
    tables = best_path.AlignmentTables(
        sizes, sizes, *cells, np.eye(3).ravel(), gap, gap
    )
    best_path.linear_paths(tables, best_path.GLOBAL)
    G, b = np.eye(2), np.ones(2)
    box_steps(G, 2, b.copy(), np.zeros(2), 1.0, 1e-9, 5)
    block_gap(2, b, np.zeros(2), 1.0, 0.0, True)
    forest.marginals(GraphTables.of([[0.0, 1.0], [1.0, 0.0]], [[0, 1]], np.eye(2)))


RUNS = {
    **plain_runs(),
    OPTIONS: [
        structures,
        trainers,
        sequences,
        text,
        scores,
        networks,
        others,
        leaf_loops,
    ],
}


def uses_of(names):
    """Loops used by runs, among those that this process has not called before."""
    with recorded() as uses, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            for run in RUNS[name]:
                run()
    return uses


def _apart(name):
    """The uses of one run in a process of its own, where nothing is loaded yet."""
    command = [sys.executable, __file__, name]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {Use(loop, tuple(map(type_of, row))) for loop, row in json.loads(out)}


def main(names):
    """Write the list, or print the uses of some runs."""
    if names:
        uses = uses_of(names)
        rows = [[u.loop, [type_text(t) for t in u.types]] for u in uses]
        sys.stdout.write(json.dumps(rows))
        return
    # Once to compile: a loop that is first met inside another is not seen to be called.
    uses_of(RUNS)
    found = {name: _apart(name) for name in RUNS}
    more = found.pop(OPTIONS)
    listing_of(found, more).write()
    loops = Listing.read().loops
    signatures = sum(map(len, loops.values()))
    sys.stdout.write(f"{len(loops)} loops, {signatures} signatures\n")


if __name__ == "__main__":
    main(sys.argv[1:])
