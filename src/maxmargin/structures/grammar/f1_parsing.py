"""The tree that violates most under the loss 1 - F1, exactly.

With m of g true brackets and e wrong ones, for any 0 <= a <= 1,

    1 - F1  <=  U = 1 - a m / g + (1 - sqrt(1 - a))^2 e / (2 g),

which is linear, so one parse maximises  score + v U. Its tree has some violation T. A
tree that violates more has a  score + v U  above a floor (`Violation.line_reaching`), and
only what occurs in such trees is stratified by the counts m and e
(`parse_forest.strata`).

U is closest at a = 1 - (e / (2 m + e))^2: early in training, when the loss alone decides
and the worst trees have no true bracket, near 0; later on, near 1/2. The best v is the
slope at which violation trades score for loss. Both are tried again where the first
choice was far off.

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Labels
from maxmargin.core.formulations import Violation
from maxmargin.inference.tree import parse_forest as trees
from maxmargin.inference.tree.chart import Bonus, Chart, Forest, Gold, gold_of
from maxmargin.losses.trees import BracketLoss
from maxmargin.structures.grammar.parsing import Sentence, Tree, best_of, slip

TIGHT = (0.45, 0.05)  # a: for most of the training, and for its beginning
SLOPES = (0.05, 20.0)  # range of v
FAR = 1.5  # a factor on v that is worth another parse
MOST = 4  # parses with a bound


class Bounded(NamedTuple):
    """Chart with the bound v (U - 1) in place of the loss, and its best tree."""

    v: float
    best: float
    tree: Tree
    bonus: Bonus
    chart: Chart


def worst_tree(
    sentence: Sentence, truth: Labels, truth_score: float, loss: BracketLoss,
    criterion: Violation,
) -> Tree:  # fmt: skip
    """The tree that violates most; the truth, which has no violation, if none does."""
    gold = gold_of(sentence.n, truth)
    g = len(gold.label)
    answer, above = Tree(truth, truth_score, g, 0), 0.0
    v, a, tried = _slope(criterion, 1.0, 0.0), TIGHT[0], []

    def floor(v: float) -> float:
        """Least  score + v (U - 1)  of a tree that violates more than `above`."""
        return truth_score + criterion.line_reaching(v, above) - v

    for _ in range(MOST):
        bounded = _bounded(sentence, gold, v, a)
        tried.append(bounded)
        tree = bounded.tree
        delta = float(loss.of_counts(tree.m, tree.e, g))
        violation = criterion.value(delta, truth_score - tree.score)
        if violation > above:
            answer, above = tree, violation
        size = above + abs(truth_score)
        closest = min(tried, key=lambda b: b.best - floor(b.v))
        least = floor(closest.v)
        if closest.best <= least + slip(size):
            return answer
        least -= sentence.slip(size)
        best = answer if above > 0.0 else tree
        delta = float(loss.of_counts(best.m, best.e, g))
        wanted = _slope(criterion, delta, truth_score - best.score)
        closer = 1.0 - (tree.e / max(2 * tree.m + tree.e, 1)) ** 2
        near = wanted <= FAR * v and v <= FAR * wanted
        if near and (a == TIGHT[1] or closer > 0.5 * a):
            break
        v, a = wanted, TIGHT[0] if closer > 0.5 * a else TIGHT[1]
    forest = sentence.forest(gold, closest.bonus, closest.chart, least)
    known = answer, above
    return _stratified(sentence, forest, known, g, truth_score, loss, criterion)


def _slope(criterion: Violation, delta: float, margin: float) -> float:
    """The v for which a tree with such a loss and margin is a stationary choice."""
    if criterion.linear:
        return criterion.weight
    return float(np.clip(criterion.ideal_weight(delta, margin), *SLOPES))


def _bounded(sentence: Sentence, gold: Gold, v: float, a: float) -> Bounded:
    bonus = f1_bound(len(gold.label), v, a)
    chart = sentence.chart(gold, bonus)
    tree = best_of(sentence, gold, bonus, chart)
    return Bounded(v, sentence.best(chart), tree, bonus, chart)


def _stratified(
    sentence: Sentence, forest: Forest, known: tuple[Tree, float], g: int,
    truth_score: float, loss: BracketLoss, criterion: Violation,
) -> Tree:  # fmt: skip
    """Worst tree of a forest, or the one that is known already with its violation."""
    score, misses, outer, around, most = trees.by_match(
        forest.edge, forest.value, len(forest.node), g
    )
    m, e = np.arange(g + 1), np.arange(most + 1)
    some = score > -np.inf
    delta = loss.of_counts(m[some], misses[some], g)
    each = criterion.value(delta, truth_score - score[some])
    above = float(each.max(initial=known[1]))
    highest = loss.of_counts(m[:, None], e[None, :], g)
    need = truth_score - criterion.most_margin(above, highest)
    need -= sentence.slip(above + abs(truth_score))
    counts, score, ptr, path = trees.strata(
        forest.node, forest.edge, forest.value, outer, around, need, 0
    )
    delta = loss.of_counts(counts[:, 0], counts[:, 1], g)
    each = criterion.value(delta, truth_score - score)
    if each.max(initial=-np.inf) <= known[1]:
        return known[0]
    at = int(np.argmax(each))
    row = sentence.written(forest, path[ptr[at] : ptr[at + 1]])
    return Tree(row, float(score[at]), *map(int, counts[at]))


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
