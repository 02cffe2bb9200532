"""Loss-augmented parsing: which trees of one sentence a loss asks for.

    zero-one          the best tree, or the second best where the best is the truth
    brackets-hamming  each bracket scores weight, each true one -2 weight: one parse
    brackets-f1       the best tree for each pair of counts (m, e) that 1 - F1 depends on

For F1 a first parse with a score that is never too low gives a tree whose value no
better tree may miss; only spans, rules and counts of trees that can reach it are then
stratified. With m of g true brackets and e wrong ones, for any 0 <= a <= 1,

    1 - F1  <=  U = 1 - a m / g + (1 - sqrt(1 - a))^2 e / (2 g),

which is linear, so it enters the first parse; see `_least` for what follows from it in
each formulation.

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

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

TIGHT = 0.45  # a of the linear bound: fastest, or nearly, early and late in training


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
    most = most_brackets(sentence)
    bonus = f1_bound(g, weight)
    chart = sentence.chart(gold, bonus)
    first = _best_of(sentence, gold, bonus, chart)
    value = first.score + weight * float(loss.of_counts(first.m, first.e, g))
    answer = first if value >= own else Tree(truth, own, g, 0)
    reach = max(value, own)
    if sentence.best(chart) + weight <= reach + _slip(reach):
        return answer
    forest = sentence.forest(gold, bonus, chart, reach - weight - _slip(reach))
    counts, score, ptr, path = trees.strata(*forest, bonus, reach - weight, g, most, 0)
    total = score + weight * loss.of_counts(counts[:, 0], counts[:, 1], g)
    if len(total) and total.max() > reach:
        at = int(np.argmax(total))
        row = sentence.written(forest, path[ptr[at] : ptr[at + 1]])
        return Tree(row, float(score[at]), *map(int, counts[at]))
    return answer


def layers(sentence: Sentence, truth: Labels, own: float, loss: Any) -> list[Tree]:
    """Best tree per loss, as far as any formulation may prefer it to the others."""
    gold = gold_of(sentence.n, truth)
    if loss.form == "brackets-hamming":
        return _hamming_layers(sentence, gold, Tree(truth, own, len(gold.label)), loss)
    g, most = len(gold.label), most_brackets(sentence)
    bonus = f1_bound(g, 1.0)
    chart = sentence.chart(gold, bonus)
    out = [Tree(truth, own, g, 0), _best_of(sentence, gold, bonus, chart)]
    value = np.array([loss.of_counts(tree.m, tree.e, g) for tree in out])
    score = np.array([tree.score for tree in out])
    least = _least(score, value, own)
    forest = sentence.forest(gold, bonus, chart, least)
    counts, score, ptr, path = trees.strata(*forest, bonus, least, g, most, 0)
    value = loss.of_counts(counts[:, 0], counts[:, 1], g)
    for q in undominated(value, score):
        row = sentence.written(forest, path[ptr[q] : ptr[q + 1]])
        out.append(Tree(row, float(score[q]), *map(int, counts[q])))
    return out


def f1_bound(g: int, weight: float) -> Bonus:
    """Bonus of brackets with which  score + bonus + weight  is at least that of F1.

    The module's formula; a larger `TIGHT` tells right brackets better apart, but trees
    with ever more wrong ones come closer to the bound.

    Examples
    --------
    >>> bonus = f1_bound(4, 1.0)
    >>> 1.0 + bonus.bracket * (3 + 2) + bonus.match * 3 >= 1.0 - 2 * 3 / (3 + 2 + 4)
    True
    """
    each = weight / max(g, 1)
    wrong = 0.5 * (1.0 - (1.0 - TIGHT) ** 0.5) ** 2 * each
    return Bonus(wrong, -TIGHT * each - wrong)


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
    thin = forest._replace(edge=edge)
    _, found, ptr, path = trees.strata(*thin, NOTHING, least, 0, most, g)
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


def most_brackets(sentence: Sentence) -> int:
    """No tree of the sentence has more brackets."""
    longest = int(np.diff(sentence.rules.chain_ptr).max(initial=0))
    return sentence.n - 1 + (2 * sentence.n - 1) * longest


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
