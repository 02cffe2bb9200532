"""Loss-augmented parsing: which trees of one sentence a loss asks for.

    zero-one          the best tree, or the second best where the best is the truth
    brackets-hamming  each bracket scores weight, each true one -2 weight: one parse
    brackets-f1       the best tree for each pair of counts (m, e) that 1 - F1 depends on

For F1 a first parse with a score that is never too low gives a tree whose value no
better tree may miss; only spans, rules and counts of trees that can reach it are then
stratified. With m of g true brackets and e wrong ones, for any 0 <= a <= 1,

    1 - F1  <=  U = 1 - a m / g + (1 - sqrt(1 - a))^2 e / (2 g),

which is linear, so it enters the first parse; see `_least` for what follows from it in
each formulation. The best of score + U is convex in a, and least for one tree at
a = 1 - (e / (2 m + e))^2: early in training, when the loss alone decides and the worst
trees have no true bracket, at 0; later on, near 1/2. So some a are tried in turn.

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.arrays import Floats, Labels
from maxmargin.inference import cky
from maxmargin.inference import parse_forest as trees
from maxmargin.inference.chart import (
    NOTHING,
    Bonus,
    Chart,
    Forest,
    Gold,
    Rules,
    Scores,
    Words,
    gold_of,
    no_gold,
)

TIGHT = (0.45, 0.2, 0.05)  # a of the linear bound: the next one if it may be closer


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

    @property
    def n(self) -> int:
        """Number of words."""
        return len(self.words.ptr) - 1

    def chart(self, gold: Gold, bonus: Bonus, beam: float = np.inf) -> Chart:
        """Best scores of all parts."""
        return Chart(*cky.inside(*self, gold, bonus, beam))

    def best(self, chart: Chart) -> float:
        """Score of the best tree."""
        whole = slice(chart.ptr[-2], chart.ptr[-1]) if self.n else slice(0)
        total = self.scores.root[chart.symbol[whole]] + chart.value[whole, 1]
        return float(total.max(initial=-np.inf))

    def forest(self, gold: Gold, bonus: Bonus, chart: Chart, floor: float) -> Forest:
        """All trees above the floor."""
        return Forest(*cky.forest(*self, gold, bonus, *chart, floor))

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
    reach = _slip(best) if k == 1 else 1.0
    while True:
        forest = sentence.forest(gold, NOTHING, chart, best - reach)
        found = _k_best(sentence, forest, NOTHING, k)
        if len(found) == k or reach == np.inf:
            return found
        reach = reach * 8 if reach < 1e6 else np.inf


def best_other(
    sentence: Sentence, truth: Labels, own: float, weight: float
) -> Tree | None:
    """Best tree that is not the truth, None if it scores no more than own - weight."""
    gold = no_gold(sentence.n)
    chart = sentence.chart(gold, NOTHING)
    best = sentence.best(chart)
    for floor, k in ((best - _slip(best), 1), (own - weight - _slip(own), 2)):
        forest = sentence.forest(gold, NOTHING, chart, min(floor, best - _slip(best)))
        for tree in _k_best(sentence, forest, NOTHING, k):
            if not np.array_equal(tree.row, truth):
                return tree
    return None


def best_linear(sentence: Sentence, truth: Labels, bonus: Bonus) -> Tree:
    """Best tree where brackets score, and brackets of the truth score otherwise."""
    gold = gold_of(sentence.n, truth)
    chart = sentence.chart(gold, bonus)
    return _best_of(sentence, gold, bonus, chart)


def best_f1(
    sentence: Sentence, truth: Labels, own: float, weight: float, loss: Any
) -> Tree:
    """Best tree by  score + weight * loss,  loss a function of the counts; exact."""
    gold = gold_of(sentence.n, truth)
    g = len(gold.label)
    answer, reach = Tree(truth, own, g, 0), own
    closest: Bounded | None = None
    for bounded in _bounded(sentence, gold, weight):
        tree = bounded.tree
        total = tree.score + weight * float(loss.of_counts(tree.m, tree.e, g))
        if total > reach:
            answer, reach = tree, total
        if closest is None or bounded.best < closest.best:
            closest = bounded
        if closest.best + weight <= reach + _slip(reach):
            return answer
    assert closest is not None
    forest = closest.forest(sentence, gold, reach - weight - _slip(reach))
    strata = Strata(forest, g, loss)
    better = float((strata.score + weight * strata.loss).max(initial=reach))
    need = better - weight * strata.highest - _slip(better)
    for tree in strata.trees(sentence, forest, need):
        total = tree.score + weight * float(loss.of_counts(tree.m, tree.e, g))
        if total > reach:
            answer, reach = tree, total
    return answer


def layers(sentence: Sentence, truth: Labels, own: float, loss: Any) -> list[Tree]:
    """Best tree per loss, as far as any formulation may prefer it to the others."""
    gold = gold_of(sentence.n, truth)
    if loss.form == "brackets-hamming":
        return _hamming_layers(sentence, gold, Tree(truth, own, len(gold.label)), loss)
    g = len(gold.label)
    tried = list(_bounded(sentence, gold, 1.0))
    out = [Tree(truth, own, g, 0), *(bounded.tree for bounded in tried)]
    value = np.array([loss.of_counts(tree.m, tree.e, g) for tree in out])
    score = np.array([tree.score for tree in out])
    closest = min(tried, key=lambda bounded: bounded.best)
    forest = closest.forest(sentence, gold, _least(score, value, own))
    strata = Strata(forest, g, loss)
    value, score = np.append(value, strata.loss), np.append(score, strata.score)
    found = strata.trees(sentence, forest, _need(score, value, own, strata.highest))
    value = np.array([loss.of_counts(tree.m, tree.e, g) for tree in found])
    score = np.array([tree.score for tree in found])
    return out + [found[q] for q in undominated(value, score)]


class Bounded(NamedTuple):
    """Chart with a linear bound in place of the loss, and its best tree."""

    best: float  # score + bound - weight of that tree
    tree: Tree
    bonus: Bonus
    chart: Chart

    def forest(self, sentence: Sentence, gold: Gold, floor: float) -> Forest:
        """All trees whose  score + bound - weight  is above the floor."""
        return sentence.forest(gold, self.bonus, self.chart, floor)


def _bounded(sentence: Sentence, gold: Gold, weight: float) -> Iterator[Bounded]:
    """One linear bound after the other, as long as the next one may be much closer."""
    for a in TIGHT:
        bonus = f1_bound(len(gold.label), weight, a)
        chart = sentence.chart(gold, bonus)
        tree = _best_of(sentence, gold, bonus, chart)
        yield Bounded(sentence.best(chart), tree, bonus, chart)
        if 1.0 - (tree.e / max(2 * tree.m + tree.e, 1)) ** 2 > 0.5 * a:
            return


class Strata:
    """What the trees of a forest can reach, by their brackets in common with the truth.

    Attributes
    ----------
    score, loss : array
        Of one tree for each number m of brackets in common that some tree has.
    highest : array (g + 1, most e + 1)
        Loss by m and e.
    """

    def __init__(self, forest: Forest, g: int, loss: Any) -> None:
        score, misses, self._outer, self._around, most = trees.by_match(
            forest.edge, forest.value, len(forest.node), g
        )
        m, e = np.arange(g + 1), np.arange(most + 1)
        some = score > -np.inf
        self.score = score[some]
        self.loss = loss.of_counts(m[some], misses[some], g)
        self.highest = loss.of_counts(m[:, None], e[None, :], g)

    def trees(self, sentence: Sentence, forest: Forest, need: Floats) -> list[Tree]:
        """Trees that no other one beats in counts and score, of those with need."""
        counts, score, ptr, path = trees.strata(
            forest.node, forest.edge, forest.value, self._outer, self._around, need, 0
        )
        return [
            Tree(
                sentence.written(forest, path[ptr[q] : ptr[q + 1]]),
                float(score[q]),
                *map(int, counts[q]),
            )
            for q in range(len(score))
        ]


def f1_bound(g: int, weight: float, a: float) -> Bonus:
    """Bonus of brackets with which  score + bonus + weight  is at least that of F1.

    The module's formula; a larger a tells right brackets better apart, but trees with
    ever more wrong ones come closer to the bound.

    Examples
    --------
    >>> bonus = f1_bound(4, 1.0, 0.45)
    >>> 1.0 + bonus.bracket * (3 + 2) + bonus.match * 3 >= 1.0 - 2 * 3 / (3 + 2 + 4)
    True
    """
    each = weight / max(g, 1)
    wrong = 0.5 * (1.0 - (1.0 - a) ** 0.5) ** 2 * each
    return Bonus(wrong, -a * each - wrong)


def undominated(loss: Floats, score: Floats) -> list[int]:
    """Trees that no other one beats in both loss and score, the highest loss first.

    Examples
    --------
    >>> undominated(np.array([0.5, 1.0, 0.2, 0.5]), np.array([3.0, 2.0, 1.0, 4.0]))
    [1, 3]
    """
    best, out = -np.inf, []
    for q in np.lexsort((-score, -loss)):
        if score[q] > best:
            best = score[q]
            out.append(int(q))
    return out


def _hamming_layers(
    sentence: Sentence, gold: Gold, truth: Tree, loss: Any
) -> list[Tree]:
    """Layers of a loss that is a sum: one count, wrong brackets less those in common."""
    g, own = len(gold.label), truth.score
    chart = sentence.chart(gold, NOTHING)
    each = float(loss.of_counts(0, 1, g) - loss.of_counts(0, 0, g))
    linear = best_linear(sentence, truth.row, Bonus(each, -2.0 * each))
    out = [truth, _best_of(sentence, gold, NOTHING, chart), linear]
    most = _longest(sentence)
    value = np.array([loss.of_counts(tree.m, tree.e, g) for tree in out])
    score = np.array([tree.score for tree in out])
    highest = float(loss.of_counts(0, most, g))
    if highest == 0.0:  # no tree has brackets: all are as good as the truth
        return out
    slack = own - 1.0 + float((value * (1.0 - own + score)).max()) / highest
    margin = float((np.sqrt(value) + score).max()) - highest**0.5
    least = min(slack, margin, float(score.max()))
    least -= _slip(least)
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


def _least(score: Floats, value: Floats, own: float) -> float:
    """No formulation prefers a tree with  score + U - 1  below this to these trees.

    With z = 1 - own + score, a tree that beats the best violation L of these trees has

        loss z > L           so  z + U >= 2 sqrt(L)
        sqrt(loss) z > L     so  z + U >= 3/2 sqrt(2 L) (sqrt(2 L) / 2)^(1/3)
        sqrt(loss) + s > L   so  s + U >= L - 1/4,    and    loss + s > L,

    by the inequality of arithmetic and geometric means, and sqrt(u) <= u + 1/4.
    """
    z, root = 1.0 - own + score, np.sqrt(value)
    slack = 2.0 * float((value * z).max(initial=0.0)) ** 0.5
    twice = (2.0 * float((root * z).max(initial=0.0))) ** 0.5
    squared = 1.5 * twice * (0.5 * twice) ** (1.0 / 3.0)
    least = min(
        own - 1.0 + min(slack, squared),
        float((root + score).max()) - 0.25,
        float((value + score).max()),
    )
    return least - 1.0 - _slip(least)


def _need(score: Floats, value: Floats, own: float, loss: Floats) -> Floats:
    """Score at which a tree of such a loss beats these trees in some formulation."""
    z, root = 1.0 - own + score, np.sqrt(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        slack = own - 1.0 + float((value * z).max(initial=0.0)) / loss
        squared = own - 1.0 + float((root * z).max(initial=0.0)) / np.sqrt(loss)
    out = np.fmin(np.fmin(slack, squared), float((value + score).max()) - loss)
    out = np.fmin(out, float((root + score).max()) - np.sqrt(loss))
    return out - 1e-9 * (1.0 + np.abs(own))


def _longest(sentence: Sentence) -> int:
    """Brackets of the tree that has most of them: a parse where nothing else counts."""
    rules, scores, words = sentence
    nil = Scores(*(np.where(np.isinf(part), part, 0.0) for part in scores))
    blank = Sentence(rules, nil, words._replace(score=np.zeros(len(words.score))))
    chart = blank.chart(no_gold(sentence.n), Bonus(1.0, 0.0))
    return int(blank.best(chart))


def _best_of(sentence: Sentence, gold: Gold, bonus: Bonus, chart: Chart) -> Tree:
    best = sentence.best(chart)
    forest = sentence.forest(gold, bonus, chart, best - _slip(best))
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


def _slip(value: float) -> float:
    """Room for rounding."""
    return 1e-9 * (1.0 + abs(value))
