"""What the tables of grammars share: corpora, models, scores over folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from experiments import choices
from maxmargin import GrammarSVM
from maxmargin.baselines import PCFG
from maxmargin.core import Serial
from maxmargin.io import read_treebank, tagged_words
from maxmargin.metrics import COLLINS, bracket_scores
from maxmargin.solvers.n_slack import NSlackBlock
from maxmargin.structures.grammar import Grammar

WSJ, GUM = "ptb_sample/wsj_sample.mrg.txt.gz", "trees_gum/gum_trees.txt.gz"
EPSILON = 0.01
GRID = (0.01, 0.1, 1.0, 10.0, 100.0)  # of C; the paper has 0.1 to 100
ANCHORS = ("length", "starts", "ends", "split")
Make = Callable[[float], Any]  # C -> model
Splits = Sequence[tuple[Any, Any]]


class Clock(Serial):
    """Serial, and how long the oracle takes."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def map(self, task: Any, chunks: Any) -> list[Any]:
        begin = time.process_time()
        out = list(super().map(task, chunks))
        self.seconds += time.process_time() - begin
        return out


def short_trees(data: Path, file: str, longest: int) -> list[Any]:
    """Trees of at most so many words."""
    trees = read_treebank(data / file).trees
    return [tree for tree in trees if len(tagged_words(tree)) <= longest]


def pcfg(horizontal: int | None, smoothing: float) -> Make:
    """A PCFG, whatever C."""
    grammar = Grammar(horizontal=horizontal, fallback="flat")
    return lambda C: PCFG(grammar, smoothing)


def svm(
    loss: str, rescaling: str | None, horizontal: int | None, anchors: tuple = ()
) -> Make:
    """SVM2 by Algorithm 1 (b), or by the default solver where features are anchored."""
    return lambda C: GrammarSVM(
        C, loss=loss, rescaling=rescaling, penalty="squared",
        horizontal=horizontal, anchors=anchors, fallback="flat",
        solver="auto" if anchors else NSlackBlock(epsilon=EPSILON, tol=0.0),
        tol=0.01, engine=Clock(),
    )  # fmt: skip


def fitted(make: Make, C: float, trees: Sequence[Any]) -> Any:
    """The model of these trees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(C).fit([tagged_words(tree) for tree in trees], list(trees))


def parsed(model: Any, trees: Sequence[Any]) -> list[Any]:
    """What it makes of the words of these trees."""
    return list(model.predict([tagged_words(tree) for tree in trees]))


def chosen(
    make: Make, name: str, trees: Sequence[Any], seed: int
) -> dict[float, float]:
    """F1 of each C of the grid on one fifth of the training trees, learned from the rest."""
    part = np.random.default_rng(seed).permutation(len(trees)) % 5
    inner = [tree for tree, k in zip(trees, part, strict=True) if k]
    outer = [tree for tree, k in zip(trees, part, strict=True) if not k]
    scores: dict[float, float] = {}

    def loss(C: float) -> float:
        found = parsed(fitted(make, C, inner), outer)
        scores[C] = 100.0 * bracket_scores(outer, found).f1
        return -scores[C]

    best = choices.search(f"C of {name}", GRID, loss).value
    return {C: scores[C] for C in (best, *sorted(scores))}


def measured(
    name: str, make: Make, trees: list[Any], splits: Splits, C: float | None, seed: int
) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """One row, the test trees and what became of them; C None: chosen in each fold."""
    found: dict[str, list] = {"train": [], "test": []}
    truth: dict[str, list] = {"train": [], "test": []}
    cost: list[tuple] = []
    used: list[float] = []
    tried: list[dict[float, float]] = []
    for train, test in splits:
        part = {"train": [trees[i] for i in train], "test": [trees[i] for i in test]}
        tuned = C is None and not isinstance(make(1.0), PCFG)
        tried += [chosen(make, name, part["train"], seed)] if tuned else []
        used.append(next(iter(tried[-1])) if tuned else C or 1.0)
        begin = time.process_time()
        model = fitted(make, used[-1], part["train"])
        spent = time.process_time() - begin
        for key, some in part.items():
            found[key] += parsed(model, some)
            truth[key] += some
        if hasattr(model, "result_"):
            share = 100 * (1 - model.engine.seconds / spent)
            cost.append((spent, share, model.result_.iterations, model.result_.planes))
    row: dict[str, Any] = {"method": name}
    for key in ("train", "test"):
        scores = bracket_scores(truth[key], found[key])
        for measure in ("exact", "precision", "recall", "f1"):
            row[f"{key} {measure}"] = round(100 * getattr(scores, measure), 1)
    evalb = bracket_scores(truth["test"], found["test"], COLLINS)
    row["evalb"] = round(100 * evalb.f1, 1)
    row["C"] = " ".join(map(str, sorted(set(used)))) if cost else ""
    if tried:  # mean F1 on held-out trees of the values that every fold tried
        same = [C for C in sorted(tried[0]) if all(C in t for t in tried)]
        row["held-out f1 by C"] = " ".join(
            f"{C:g}: {np.mean([t[C] for t in tried]):.1f}" for C in same
        )
    mean = np.mean(cost, axis=0) if cost else [None] * 4
    for key, value in zip(("CPU s", "%SVM", "iter", "const"), mean, strict=True):
        row[key] = "" if value is None else round(float(value), int(key[0] in "C%"))
    return row, truth["test"], found["test"]


def against(truth: list[Any], base: list[Any], other: list[Any]) -> str:
    """McNemar's test on F1: sentences with a better and a worse one than the base."""
    better = worse = 0
    for tree, one, two in zip(truth, base, other, strict=True):
        a, b = bracket_scores([tree], [one]).f1, bracket_scores([tree], [two]).f1
        better, worse = better + (b > a), worse + (b < a)
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return f"{better}:{worse} (p = {p:.2g})"
