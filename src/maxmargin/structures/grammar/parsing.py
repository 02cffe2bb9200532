"""Loss-augmented parsing: which trees of one sentence a loss asks for.

    zero-one          the best tree, or the second best where the best is the truth
    brackets-hamming  each bracket scores weight, each true one -2 weight: one parse
    brackets-f1       see `f1_parsing`

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels
from maxmargin.inference.tree import cky
from maxmargin.inference.tree import parse_forest as trees
from maxmargin.inference.tree.chart import (
    ALL,
    NOTHING,
    Bonus,
    Chart,
    Forest,
    Gold,
    Kept,
    Rules,
    Scores,
    Words,
    gold_of,
    no_gold,
)
from maxmargin.losses.trees import BracketLoss


class Tree(NamedTuple):
    """An encoded tree, its score and its brackets in and not in a given set."""

    row: Labels
    score: float
    m: int = 0
    e: int = 0


class Sentence(NamedTuple):
    """What is needed to parse one sentence."""

    rules: Rules
    scores: Scores
    words: Words
    largest: float  # the largest finite score, in absolute value
    kept: Kept = ALL  # parts that its charts may have

    @property
    def n(self) -> int:
        """Number of words."""
        return len(self.words.ptr) - 1

    def chart(self, gold: Gold, bonus: Bonus, beam: float = np.inf) -> Chart:
        """Best scores of all parts."""
        return Chart(*cky.inside(*self[:3], gold, bonus, beam, self.kept))

    def best(self, chart: Chart) -> float:
        """Score of the best tree."""
        whole = slice(chart.ptr[-2], chart.ptr[-1]) if self.n else slice(0)
        total = self.scores.root[chart.symbol[whole]] + chart.value[whole, 1]
        return float(total.max(initial=-np.inf))

    def forest(self, gold: Gold, bonus: Bonus, chart: Chart, floor: float) -> Forest:
        """All trees above the floor."""
        return Forest(*cky.forest(*self[:3], gold, bonus, *chart, floor))

    def slip(self, value: float) -> float:
        """Room for rounding in sums near a value, whose terms may be far larger."""
        return slip(value) + 1e-14 * (self.n + 1) * self.largest

    def written(self, forest: Forest, path: Any) -> Labels:
        """Encoded tree of a path through a forest."""
        return cky.written(self.rules, self.words, forest.node, forest.edge, path)


def k_best(sentence: Sentence, k: int, beam: float = np.inf) -> list[Tree]:
    """The k best trees, best first; fewer where there are no more."""
    gold = no_gold(sentence.n)
    chart = sentence.chart(gold, NOTHING, beam)
    best = sentence.best(chart)
    if best == -np.inf:
        return [] if np.isinf(beam) else k_best(sentence, k)
    reach = sentence.slip(best) if k == 1 else 1.0
    while True:
        forest = sentence.forest(gold, NOTHING, chart, best - reach)
        found = _k_best(sentence, forest, NOTHING, k)
        if len(found) == k or reach == np.inf:
            return found
        reach = reach * 8 if reach < 1e6 else np.inf


def best_other(
    sentence: Sentence, truth: Labels, truth_score: float, weight: float
) -> Tree | None:
    """Best tree that is not the truth, None if it scores no more than truth_score - weight."""
    gold = no_gold(sentence.n)
    chart = sentence.chart(gold, NOTHING)
    best = sentence.best(chart)
    for floor, k in (
        (best - sentence.slip(best), 1),
        (truth_score - weight - sentence.slip(truth_score), 2),
    ):
        forest = sentence.forest(
            gold, NOTHING, chart, min(floor, best - sentence.slip(best))
        )
        for tree in _k_best(sentence, forest, NOTHING, k):
            if not np.array_equal(tree.row, truth):
                return tree
    return None


def best_linear(sentence: Sentence, truth: Labels, bonus: Bonus) -> Tree:
    """Best tree where brackets score, and brackets of the truth score otherwise."""
    gold = gold_of(sentence.n, truth)
    chart = sentence.chart(gold, bonus)
    return best_of(sentence, gold, bonus, chart)


def hamming_layers(
    sentence: Sentence, right: Labels, truth_score: float, loss: BracketLoss
) -> list[Tree]:
    """Best tree per loss, as far as any formulation may prefer it to the others.

    The loss is a sum: one count, wrong brackets less those in common with the truth.
    """
    gold = gold_of(sentence.n, right)
    g = len(gold.label)
    truth = Tree(right, truth_score, g)
    chart = sentence.chart(gold, NOTHING)
    each = float(loss.of_counts(0, 1, g) - loss.of_counts(0, 0, g))
    linear = best_linear(sentence, truth.row, Bonus(each, -2.0 * each))
    out = [truth, best_of(sentence, gold, NOTHING, chart), linear]
    most = _longest(sentence)
    value = np.array([loss.of_counts(tree.m, tree.e, g) for tree in out])
    score = np.array([tree.score for tree in out])
    highest = float(loss.of_counts(0, most, g))
    if highest == 0.0:  # no tree has brackets: all are as good as the truth
        return out
    slack = (
        truth_score - 1.0 + float((value * (1.0 - truth_score + score)).max()) / highest
    )
    margin = float((np.sqrt(value) + score).max()) - highest**0.5
    least = min(slack, margin, float(score.max()))
    least -= sentence.slip(least)
    forest = sentence.forest(gold, NOTHING, chart, least)
    edge = forest.edge.copy()
    edge[:, 7] -= edge[:, 6]
    edge[:, 6] = 0
    need = np.full((1, most + 1 + g), least)
    around = np.zeros(len(forest.node), np.int64)
    _, found, ptr, path = trees.strata(
        forest.node, edge, forest.value, forest.outer[:, None], around, need, g
    )
    for q in range(len(found)):
        edges = path[ptr[q] : ptr[q + 1]]
        m, e = forest.edge[edges, 6:].sum(axis=0)
        out.append(
            Tree(sentence.written(forest, edges), float(found[q]), int(m), int(e))
        )
    return out


def _longest(sentence: Sentence) -> int:
    """Brackets of the tree that has most of them: a parse where nothing else counts."""
    rules, scores, words = sentence[:3]
    nil = Scores(*(np.where(np.isinf(part), part, 0.0) for part in scores))
    zero = words._replace(score=np.zeros(len(words.score)))
    blank = Sentence(rules, nil, zero, largest=0.0)
    chart = blank.chart(no_gold(sentence.n), Bonus(1.0, 0.0))
    return int(blank.best(chart))


def best_of(sentence: Sentence, gold: Gold, bonus: Bonus, chart: Chart) -> Tree:
    """Best tree of a chart."""
    best = sentence.best(chart)
    forest = sentence.forest(gold, bonus, chart, best - sentence.slip(best))
    return _k_best(sentence, forest, bonus, 1)[0]


def _k_best(sentence: Sentence, forest: Forest, bonus: Bonus, k: int) -> list[Tree]:
    score, ptr, path = trees.k_best(
        forest.edge, forest.value, len(forest.node), bonus, k
    )
    out = []
    for q in range(len(score)):
        edges = path[ptr[q] : ptr[q + 1]]
        m, e = forest.edge[edges, 6:].sum(axis=0)
        pure = score[q] - bonus.bracket * (m + e) - bonus.match * m
        out.append(Tree(sentence.written(forest, edges), float(pure), int(m), int(e)))
    return out


def largest_of(scores: Iterable[Floats]) -> float:
    """The largest absolute value of finite scores."""
    return max(float(np.abs(s[np.isfinite(s)]).max(initial=0.0)) for s in scores)


def slip(value: float) -> float:
    """Room for rounding of a value."""
    return 1e-9 * (1.0 + abs(value))
