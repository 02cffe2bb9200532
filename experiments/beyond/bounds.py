"""What the theorems of the papers allow, beside what happens, on the data of their tables.

python -m experiments run beyond.bounds
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.taskar2003 import figure1b, figure1c
from experiments.tsochantaridis2005 import parsers, spanish, table1, table4, table5
from experiments.yu2011 import kernels, litbank, table4_1, table5_1, table6_1
from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    CoreferenceSVM,
    GrammarSVM,
    KernelSVM,
    MotifSVM,
    RankingSVM,
    bounds,
)
from maxmargin.bounds import Comparison, Edges
from maxmargin.datasets import make_homologs, read_homstrad
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.io import read_letor, tagged_words
from maxmargin.solvers import OneSlack
from maxmargin.solvers.n_slack import NSlackBlock
from maxmargin.structures.clusters import pair_features

TITLE = "Bounds of the papers beside what happens, on the data of their tables"
EPSILON, FINE = 0.1, 0.01
NOTES = [
    "Theorem 18 and Theorem 3.1 count constraints and cuts of a run that ends by epsilon; "
    "the run is the algorithm they are about (n-slack, one-slack) with that epsilon. R "
    "and Delta are computed from the data, or from the lengths that the papers use.",
    "Trees: R allows a unary rule at each node, which the papers leave out. Alignments: "
    "features are divided by the length of the pair, so R is that of a single column.",
    "Theorem 6.1 of Taskar et al. bounds the share of wrong labels on new data with "
    "probability 0.95; beside it stands the error on held-out words. Bounds above 1 say "
    "nothing.",
    "Problems with hidden parts (chapter 5 of Yu) are not convex: Theorem 3.1 is about "
    "the last convex problem inside. Completions end, as in Algorithm 5.1, when one "
    "lowers the objective by no more than epsilon times the sum of C.",
    "Training loss: the mean loss of the predictions on the training data, beside the mean "
    "slack (Propositions 1 and 2 of Tsochantaridis et al., Problem 5.1 of Yu). "
    "Balamurugan et al. state no bounds; the largest term of their summed error is the "
    "slack of Proposition 1.",
]


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """One row per table and theorem."""
    rows = []
    for made in (
        classes,
        sentences,
        homologs,
        trees,
        alignments,
        letters,
        pages,
        points,
        motifs,
        coreference,
        rankings,
        summed,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows += [row(where, one) for where, one in made(data, quick, seed)]
    return {"rows": rows, "notes": NOTES}


def row(where: str, found: Comparison) -> dict[str, Any]:
    """A bound, what happened, and their ratio."""
    happened = None if np.isnan(found.happened) else float(f"{found.happened:.4g}")
    share = None if happened is None else float(f"{happened / found.bound:.2g}")
    return {
        "table": where, "theorem": found.source, "of": found.name,
        "bound": float(f"{found.bound:.4g}"), "happened": happened,
        "happened / bound": share, "within": found.holds,
    }  # fmt: skip


def claims(result: dict) -> dict[str, bool]:
    """Theorems hold."""
    counted = [r for r in result["rows"] if r["happened"] is not None]
    return {
        "everything that was counted is within its bound": all(
            r["within"] for r in counted
        ),
        "every bound has something to compare it with": len(counted)
        == len(result["rows"]),
    }


Found = Iterator[tuple[str, Comparison]]


def _counted(rows: list[Comparison]) -> list[Comparison]:
    """The rows about this run: one solver counts constraints, another one cuts."""
    return [r for r in rows if not np.isnan(r.happened)]


def classes(data: Path, quick: bool, seed: int) -> Found:
    """Table 1: documents of a taxonomy, tree loss."""
    X, y, _, _, tree = table1.trec(data)
    some = table1.drawn(y, 4, np.random.default_rng(seed))
    for method in ("flt 0/1", "tax tree"):
        model = table1.model(method, tree, np.unique(y), 1.0 / len(some))
        model.set_params(solver=NSlackBlock(epsilon=EPSILON, tol=0.0))
        model.fit(X[some], y[some])
        for one in _counted(model.bounds(X[some], y[some], EPSILON)):
            yield f"Tsochantaridis et al., table 1, {method}", one


def sentences(data: Path, quick: bool, seed: int) -> Found:
    """Tables 2 and 3: names in Spanish sentences, the three formulations of SVM2."""
    X, y, _ = spanish.load(data, 60 if quick else 240)
    for name, form in spanish.FORMULATIONS.items():
        model = ChainSVM(
            1.0 / len(y), loss="hamming", rescaling=form.rescaling,
            penalty=form.penalty, order=1, scheme=None,
            solver=NSlackBlock(epsilon=EPSILON, tol=0.0),
        )  # fmt: skip
        model.fit(X, y)
        for one in _counted(model.bounds(X, y, EPSILON)):
            yield f"Tsochantaridis et al., tables 2 and 3, {name}", one
    model = ChainSVM(
        1.0 / len(y), loss="hamming", order=1, scheme=None,
        solver=OneSlack(epsilon=EPSILON, tol=0.0),
    )  # fmt: skip
    model.fit(X, y)
    for one in _counted(model.bounds(X, y, EPSILON)):
        yield "the sentences of tables 2 and 3, one slack", one


def homologs(data: Path, quick: bool, seed: int) -> Found:
    """Table 4: the homolog among decoys."""
    X, y = make_homologs(10 if quick else 40, seed)
    model = table4.svm(X, y, EPSILON)
    longest = max(len(sequence) for query, others in X for sequence in (query, *others))
    R = bounds.alignment_difference(longest)
    for one in _counted(model.bounds(X, y, EPSILON, R=R, Delta=1.0)):
        yield "Tsochantaridis et al., table 4", one


def trees(data: Path, quick: bool, seed: int) -> Found:
    """Table 5: grammars trained for F1."""
    short = parsers.short_trees(data, table5.WSJ, 10)
    some = short[: 30 if quick else 200]
    words = [tagged_words(tree) for tree in some]
    longest = max(map(len, words))
    # Binary rules at longest - 1 nodes, a unary rule at each of 2 longest - 1 nodes.
    R = 2.0 * float(np.hypot(longest - 1, 2 * longest - 1))
    for rescaling in ("slack", "margin"):
        model = GrammarSVM(
            1.0 / len(some), loss="f1", rescaling=rescaling, penalty="squared",
            fallback="flat", solver=NSlackBlock(epsilon=EPSILON, tol=0.0),
        )  # fmt: skip
        model.fit(words, some)
        for one in _counted(model.bounds(words, some, EPSILON, R=R)):
            yield f"Tsochantaridis et al., table 5, {rescaling} F1", one


def alignments(data: Path, quick: bool, seed: int) -> Found:
    """Tables 4.1 and 4.2 of Yu: protein alignments by one slack."""
    families = read_homstrad(data / "homstrad" / "homstrad.txt.gz")
    train = table4_1.split(families, (10 if quick else 40,), (1,), seed)[0]
    model = AlignmentSVM(
        1.0, features="simple", solver=OneSlack(epsilon=FINE, tol=0.0)
    ).fit(*train)
    # A column touches at most one feature per track; a pair has at most twice as many
    # columns as its longer sequence, by which psi is divided.
    R = 2.0 * 2.0 * float(np.sqrt(8.0))
    for one in _counted(model.bounds(*train, FINE, R=R, Delta=1.0)):
        yield "Yu, tables 4.1 and 4.2", one


def letters(data: Path, quick: bool, seed: int) -> Found:
    """Figure 1b of Taskar et al.: the error of new words."""
    words, labels, fold = figure1b.load(data)
    train = np.flatnonzero(fold == 0)[: 100 if quick else None]
    test = np.flatnonzero(fold == 1)[: 100 if quick else None]
    part = [
        [values[i] for i in ids] for ids in (train, test) for values in (words, labels)
    ]
    model = ChainSVM(0.1, loss="hamming", order=1, start_end=False).fit(*part[:2])
    wrong = 1.0 - model.score(*part[2:])
    found = model.bounds(*part[:2], EPSILON)[-1]
    yield "Taskar et al., figure 1b", found._replace(happened=wrong)


def pages(data: Path, quick: bool, seed: int) -> Found:
    """Figure 1c of Taskar et al.: the error on the pages of another school."""
    schools = [figure1c.load(data, name) for name in figure1c.SCHOOLS]
    C = figure1c.GRIDS["M3N"][2]
    (model,) = figure1c.train("M3N", schools[1:2] if quick else schools[1:], (C,))
    some = schools[1:2] if quick else schools[1:]
    X = [figure1c.graph(words, links, True) for words, _, links in some]
    x, truth = model._encoded(X, [labels for _, labels, _ in some])
    problem = model._problem(model.structure_, x, truth, None)
    longest = max(float(words.sum(axis=1).max()) for words, _, _ in some)
    edges = Edges(
        R=float(np.sqrt(2.0 * (longest + 1.0) + 1.0)),  # words and a constant, twice
        labels=max(len(labels) for _, labels, _ in some),
        degree=max(int(np.bincount(graph.edges.ravel()).max()) for graph in X),
        classes=len(model.classes_),
    )
    total = bounds.margin_bound(problem, model.coef_, edges).total
    wrong = figure1c.error(model, schools[0], True)
    theorem = "Taskar et al. 2003, Theorem 6.1"
    found = Comparison("loss per label", theorem, total, wrong)
    yield "Taskar et al., figure 1c", found


def motifs(data: Path, quick: bool, seed: int) -> Found:
    """Table 5.1 of Yu: the motif is at a hidden place."""
    sequences, y = table5_1.yeast(data)
    some = slice(None, None, 15 if quick else 1)
    X, y = sequences[some].tolist(), y[some]
    model = MotifSVM(
        11, 3, True, 1.0, restarts=1, sweeps=0, random_state=seed,
        solver=OneSlack(epsilon=EPSILON, tol=0.0),
    ).fit(X, y)  # fmt: skip
    yield from _hidden("Yu, table 5.1", model, X, y, bounds.motif_difference(11), 1.0)


def coreference(data: Path, quick: bool, seed: int) -> Found:
    """Table 5.2 of Yu: clusters hang together by a hidden forest."""
    docs = litbank.read_litbank(data / "coref_litbank" / "litbank_coref.txt.gz")
    pairs = [litbank.shortened(d, c, 60) for _, d, c in docs[: 8 if quick else 30]]
    X, y = [pair_features(d) for d, _ in pairs], [c for _, c in pairs]
    model = CoreferenceSVM(1.0, 0.01, solver=OneSlack(epsilon=EPSILON, tol=0.0))
    model.fit(X, y)
    size = max(len(c) for c in y)
    length = max(float(np.sqrt((x.features**2).sum(axis=1).max())) for x in X)
    # A forest has size - 1 links at most; each may be wrong, and each true one missing.
    Delta, R = 2.0 * (size - 1), bounds.forest_difference(size, length)
    yield from _hidden("Yu, table 5.2", model, X, y, R, Delta)


def rankings(data: Path, quick: bool, seed: int) -> Found:
    """Table 5.3 of Yu: the order of the documents is hidden."""
    parts = range(1, 2 if quick else 4)
    files = [data / "letor_ohsumed" / f"part{k}.txt.gz" for k in parts]
    some = read_letor(files, 25).normalized()
    model = RankingSVM(5, 0.1, solver=OneSlack(epsilon=FINE, tol=0.0))
    model.fit(some.X, some.y)
    R = bounds.top_difference(max(np.linalg.norm(x, axis=1).max() for x in some.X))
    yield from _hidden("Yu, table 5.3", model, some.X, some.y, R, 1.0, FINE)


def _hidden(
    where: str, model: StructuredEstimator, X: Any, y: Any, R: float, Delta: float,
    epsilon: float = EPSILON,
) -> Found:  # fmt: skip
    for one in _counted(model.bounds(X, y, epsilon, R=R, Delta=Delta)):
        yield where, one


def summed(data: Path, quick: bool, seed: int) -> Found:
    """Tables III to V of Balamurugan et al.: the summed error on OCR words."""
    words, labels, fold = figure1b.load(data)
    train = np.flatnonzero(fold == 0)[: 100 if quick else None]
    X, y = [words[i] for i in train], [labels[i] for i in train]
    model = ChainSVM(
        0.01, loss="hamming", penalty="summed", order=1, start_end=False, bias=False
    ).fit(X, y)
    x, truth = model._encoded(X, y)
    problem = model._problem(model.structure_, x, truth, None)
    where = "Balamurugan et al., tables III to V, OCR"
    yield where, bounds.risk_bound(problem, model.coef_)


def points(data: Path, quick: bool, seed: int) -> Found:
    """Tables 6.1 to 6.4 of Yu: sampled cuts and subspace pursuit, as printed."""
    sets = {"6.1, checkerboard": table6_1.checkerboard(300 if quick else 1000, seed)}
    if not quick:
        for name in ("adult", "ijcnn1"):
            X, y = kernels.load(name, data, 1000)[:2]
            sets[f"6.2 to 6.4, {name}"] = X, y
    for where, (X, y) in sets.items():
        exact = KernelSVM(1.0, gamma=1.0, tol=1e-3).fit(X, y).result_
        for method in ("sampled-as-written", "cpsp-as-written"):
            model = KernelSVM(1.0, gamma=1.0, kernel_method=method).fit(X, y)
            yield from _of_points(f"Yu, table {where}", model, exact.dual)


def _of_points(where: str, model: KernelSVM, best: float) -> Found:
    """What the notes of a run say: bounds on its objective and on its steps."""
    notes, source = model.result_.notes, "Yu 2011, Theorem "
    above = model.result_.primal - best
    for theorem in ("6.2", "6.4"):
        if f"theorem {theorem}" in notes:
            bound = float(notes[f"theorem {theorem}"])
            yield where, Comparison("above the optimum", source + theorem, bound, above)
    for theorem, what in (("6.1", "sampled cuts"), ("6.3", "cuts of the pursuit")):
        if f"theorem {theorem}" in notes:
            bound = float(notes[f"theorem {theorem}"])
            steps = float(notes["cuts_added"])
            yield where, Comparison(what, source + theorem, bound, steps)
