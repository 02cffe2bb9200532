"""The tree that violates most under the loss 1 - F1, exactly.

With m of g true brackets and e wrong ones, for any 0 <= a <= 1,

    1 - F1  <=  U = 1 - a m / g + (1 - sqrt(1 - a))^2 e / (2 g),

which is linear, so  score + v U  is maximised by one parse. Its tree has a violation T;
a tree that violates more has  score + v U  above a floor (`Aim.floor`), and only what
occurs in such trees is stratified by the counts m and e (`parse_forest.strata`).

U is closest at a = 1 - (e / (2 m + e))^2: early in training, when the loss alone decides
and the worst trees have no true bracket, near 0; later on, near 1/2. The best v is the
slope at which violation trades score for loss. Both are tried again where the first
choice was far off.

[1] Tsochantaridis et al. 2005, section 4.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Labels
from maxmargin.inference.tree import parse_forest as trees
from maxmargin.inference.tree.chart import Bonus, Chart, Forest, Gold, gold_of
from maxmargin.structures.grammar.parsing import Sentence, Tree, best_of, slip

TIGHT = (0.45, 0.05)  # a: for most of the training, and for its beginning
FAR = 1.5  # a factor on v that is worth another parse
MOST = 4  # parses with a bound


@dataclass(frozen=True)
class Aim:
    """What is maximised: the violation of a formulation.

    With delta = 1 - F1, r = weight * delta or, squared, sqrt(delta), and the margin
    <w, dpsi> = own - score:  r - margin, or with slack rescaling  r * (1 - margin).
    """

    slack: bool = False
    squared: bool = False
    weight: float = 1.0

    def violation(self, loss: Any, score: Any, own: float) -> Any:
        """Of trees with such losses and scores."""
        r = np.sqrt(loss) if self.squared else self.weight * loss
        return r * (1.0 + score - own) if self.slack else r + score - own

    def need(self, above: float, loss: Floats, own: float) -> Floats:
        """Score that a tree of such a loss needs for a violation above this one."""
        r = np.sqrt(loss) if self.squared else self.weight * loss
        if not self.slack:
            return own + above - r
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(r > 0.0, own - 1.0 + above / r, np.inf)

    def slope(self, loss: float, score: float, own: float) -> float:
        """Weight v of the loss for which such a tree is a stationary choice."""
        if not (self.slack or self.squared):
            return self.weight
        v = (1.0 + score - own) / max(loss, 1e-9) if self.slack else 1.0
        if self.squared:
            v *= 0.5 if self.slack else 0.5 / max(loss, 1e-9) ** 0.5
        return float(np.clip(v, 0.05, 20.0))

    def floor(self, above: float, v: float, own: float) -> float:
        """Least  score + v (U - 1)  of a tree with a violation above this one, >= 0.

        The largest violation of all (delta, score) with delta <= 1 and
        score + v delta = K  grows with K: where it is `above`.
        """
        if not self.slack:
            gain = self.weight - v
            if self.squared:
                gain = 0.25 / v if v >= 0.5 else 1.0 - v
            return own + above - gain - v
        if above >= (2.0 * v if self.squared else v):  # delta = 1 is the best choice
            K = above + v
        elif self.squared:
            K = (1.5 * above * (3.0 * v) ** 0.5) ** (2.0 / 3.0)
        else:
            K = 2.0 * (v * above) ** 0.5
        return own - 1.0 + K - v


AIMS = {
    "margin": Aim(),
    "margin squared": Aim(squared=True),
    "slack": Aim(slack=True),
    "slack squared": Aim(slack=True, squared=True),
}


class Bounded(NamedTuple):
    """Chart with the bound v (U - 1) in place of the loss, and its best tree."""

    v: float
    best: float
    tree: Tree
    bonus: Bonus
    chart: Chart


def worst_tree(
    sentence: Sentence, truth: Labels, own: float, loss: Any, aim: Aim
) -> Tree:
    """The tree of the highest violation; the truth, which has none, if there is no other."""
    gold = gold_of(sentence.n, truth)
    g = len(gold.label)
    answer, above = Tree(truth, own, g, 0), 0.0
    v, a, tried = aim.slope(1.0, own, own), TIGHT[0], []
    for _ in range(MOST):
        bounded = _bounded(sentence, gold, v, a)
        tried.append(bounded)
        tree = bounded.tree
        violation = _violation(aim, tree, g, own, loss)
        if violation > above:
            answer, above = tree, violation
        closest = min(tried, key=lambda b: b.best - aim.floor(above, b.v, own))
        least = aim.floor(above, closest.v, own) - slip(above + abs(own))
        if closest.best <= least + 2.0 * slip(above + abs(own)):
            return answer
        best = answer if above > 0.0 else tree
        wanted = aim.slope(float(loss.of_counts(best.m, best.e, g)), best.score, own)
        closer = 1.0 - (tree.e / max(2 * tree.m + tree.e, 1)) ** 2
        near = wanted <= FAR * v and v <= FAR * wanted
        if near and (a == TIGHT[1] or closer > 0.5 * a):
            break
        v, a = wanted, TIGHT[0] if closer > 0.5 * a else TIGHT[1]
    forest = sentence.forest(gold, closest.bonus, closest.chart, least)
    return _stratified(sentence, forest, (answer, above), g, own, loss, aim)


def _bounded(sentence: Sentence, gold: Gold, v: float, a: float) -> Bounded:
    bonus = f1_bound(len(gold.label), v, a)
    chart = sentence.chart(gold, bonus)
    tree = best_of(sentence, gold, bonus, chart)
    return Bounded(v, sentence.best(chart), tree, bonus, chart)


def _stratified(
    sentence: Sentence, forest: Forest, known: tuple[Tree, float], g: int, own: float,
    loss: Any, aim: Aim,
) -> Tree:  # fmt: skip
    """Worst tree of a forest, or the one that is known already with its violation."""
    score, misses, outer, around, most = trees.by_match(
        forest.edge, forest.value, len(forest.node), g
    )
    m, e = np.arange(g + 1), np.arange(most + 1)
    some = score > -np.inf
    each = aim.violation(loss.of_counts(m[some], misses[some], g), score[some], own)
    above = float(each.max(initial=known[1]))
    highest = loss.of_counts(m[:, None], e[None, :], g)
    need = aim.need(above, highest, own) - slip(above + abs(own))
    counts, score, ptr, path = trees.strata(
        forest.node, forest.edge, forest.value, outer, around, need, 0
    )
    each = aim.violation(loss.of_counts(counts[:, 0], counts[:, 1], g), score, own)
    if each.max(initial=-np.inf) <= known[1]:
        return known[0]
    at = int(np.argmax(each))
    row = sentence.written(forest, path[ptr[at] : ptr[at + 1]])
    return Tree(row, float(score[at]), *map(int, counts[at]))


def _violation(aim: Aim, tree: Tree, g: int, own: float, loss: Any) -> float:
    return float(aim.violation(loss.of_counts(tree.m, tree.e, g), tree.score, own))


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
