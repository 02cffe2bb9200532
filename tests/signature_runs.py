"""Small runs that call every loop with the types the library uses: `signatures.json`.

    python tests/signature_runs.py                 # run them all, and write the list
    python tests/signature_runs.py ChainSVM ..     # print the uses of these runs as JSON

Runs are named after the estimator that they fit in the plain way; those named "options"
go through trainers, formulations, losses and inference that have to be asked for. A new
loop needs a run here that reaches it; most often one of `tests/cases` or of
`small_models.py` does already.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE / "unit", HERE / "contracts", HERE.parent / "src"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402
from small_models import MODELS, OWN, documents, graphs, points, sentences  # noqa: E402

import maxmargin as mm  # noqa: E402
from maxmargin.core import Augment, Formulation, Problem  # noqa: E402
from maxmargin.core.signatures import Listing, Use, listing_of, recorded  # noqa: E402
from maxmargin.core.signatures import type_of, type_text  # noqa: E402

OPTIONS = "options"


def plain_runs():
    """Models of `small_models.py` by the name of their estimator."""
    kinds = {
        "MulticlassSVM": ("multiclass", "multiclass_taxonomy", "path_cv"),
        "KernelSVM": ("kernel", "kernel_two"),
        "ChainSVM": ("chain", "chain_constrained", "chain_arrays", "chain_kernel"),
        "GrammarSVM": ("grammar", "grammar_words"),
        "AlignmentSVM": ("alignment", "alignment_tracks"),
        "HomologySVM": ("homology",),
        "NetworkSVM": ("network", "network_kernel"),
        "MotifSVM": ("motif",),
        "RankingSVM": ("ranking",),
        "CoreferenceSVM": ("coreference",),
        "CorrelationSVM": ("correlation",),
        "StructuralSVM": ("structural", "own"),
    }
    assert {m for names in kinds.values() for m in names} == set(MODELS)
    return {kind: [_fitted(name) for name in names] for kind, names in kinds.items()}


def _fitted(name):
    def run():
        model, X = MODELS[name]()
        model.predict(X)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.mm"
            model.save(path)
            own = {c.__name__: c for c in [OWN[name]]} if name in OWN else {}
            mm.load(path, own=own).predict(X) if own else mm.load(path).predict(X)

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
        if "argmax_by_loss" in structure.provides:
            structure.argmax_by_loss(x, ids, w, augment)
    if "nbest" in structure.provides:
        try:
            structure.nbest(x, ids, w, 3, augment)
        except ValueError:  # a structure may refuse a loss here, in words
            pass


def trainers():
    """Every trainer on sequences, classes and matchings, in every formulation."""
    import cases
    from dense import ROWS

    from maxmargin.solvers import SOLVERS
    from maxmargin.solvers.enumerated import Enumerated

    kinds = {**SOLVERS, "enumerated": Enumerated}
    for name in ("chain", "multiclass", "matching"):
        case = cases.modules()[name]
        structure, X, Y = case.tiny(np.random.default_rng(1))
        structure = structure.bind(X, Y)
        x = structure.encode(X)
        loss = case.LOSSES[0].bind(structure.label_count())
        for rescaling, penalty in ROWS.values():
            problem = Problem(
                structure, loss, Formulation(rescaling, penalty), x,
                structure.encode_labels(x, Y), np.full(x.n, 0.5),
            )  # fmt: skip
            for kind in kinds.values():
                _solved(kind(max_iter=5), problem)
            _solved(SOLVERS["bcfw"](max_iter=5, steps="pairwise", cache=50), problem)


def _solved(solver, problem):
    try:
        solver.solve(problem)
    except ValueError:  # refused: not its formulation or structure
        pass


RUNS = {**plain_runs(), OPTIONS: [structures, trainers]}


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
        print(json.dumps([[u.loop, [type_text(t) for t in u.types]] for u in uses]))
        return
    found = {name: _apart(name) for name in RUNS}
    more = found.pop(OPTIONS)
    listing_of(found, more).write()
    listing = Listing.read()
    print(f"{len(listing.loops)} loops, {sum(map(len, listing.loops.values()))} signatures")


if __name__ == "__main__":
    main(sys.argv[1:])
