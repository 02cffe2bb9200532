"""Labelled brackets (PARSEVAL): how parsers are compared.

A bracket is (label, first word, last word + 1) of a node that is neither a tag nor a
word. With m brackets in common, p predicted and g true, summed over all sentences,

    precision = m / p,   recall = m / g,   F1 = 2 m / (p + g).

`COLLINS` has the customary settings of the program evalb: the top bracket and
punctuation do not count, ADVP and PRT are the same. Sentences without a parse (None)
have no bracket, so that they cost recall (evalb leaves them out).

[1] Black et al. 1991, PARSEVAL; Sekine and Collins, evalb, parameter file COLLINS.prm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from maxmargin.core.data.foreign.nltk_trees import from_nltk

Tree = Any  # a leaf `str`, or a node `(label, child, ...)`
Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class BracketRules:
    """Which brackets count.

    Parameters
    ----------
    dropped_tags : tags whose words are taken out before brackets are read
    dropped_labels : labels of nodes that are no brackets
    same : label -> the label it counts as
    labelled : whether labels must agree
    """

    dropped_tags: frozenset[str] = frozenset()
    dropped_labels: frozenset[str] = frozenset(("", "TOP", "ROOT"))
    same: dict[str, str] = field(default_factory=dict)
    labelled: bool = True


ALL = BracketRules()
COLLINS = BracketRules(
    dropped_tags=frozenset((",", ":", "``", "''", ".", "-NONE-")),
    dropped_labels=frozenset(("", "TOP", "ROOT", "S1")),
    same={"PRT": "ADVP"},
)


class BracketScores(NamedTuple):
    """Micro-averaged scores of a set of sentences."""

    precision: float
    recall: float
    f1: float
    exact: float  # share of sentences with all brackets right and none too many
    crossing: float  # predicted brackets that cross a true one, per sentence
    tagging: float  # share of words with the right tag, dropped words left out
    parsed: float  # share of sentences with a parse
    matched: int
    predicted: int
    true: int


def brackets(tree: Tree | None, rules: BracketRules = ALL) -> Counter[Bracket]:
    """Multiset of labelled brackets.

    Examples
    --------
    >>> tree = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> sorted(brackets(tree))
    [('NP', 0, 2), ('S', 0, 3), ('VP', 2, 3)]
    """
    found: Counter[Bracket] = Counter()
    if tree is not None:
        _collect(from_nltk(tree), 0, rules, found)
    return found


def bracket_scores(
    truth: Sequence[Tree],
    predicted: Sequence[Tree | None],
    rules: BracketRules = ALL,
) -> BracketScores:
    """Precision, recall and F1 over all sentences together.

    Trees are nested tuples, or trees of NLTK; None where there is no parse.

    Examples
    --------
    >>> truth = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> guess = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VBD", "sat"))
    >>> scores = bracket_scores([truth, truth], [guess, None])
    >>> round(scores.precision, 3), round(scores.recall, 3), scores.exact
    (1.0, 0.333, 0.0)
    """
    if len(truth) != len(predicted):
        raise ValueError(f"{len(truth)} true trees, but {len(predicted)} predictions")
    m = p = g = exact = crossing = right = words = parsed = 0
    pairs = zip(map(from_nltk, truth), map(from_nltk, predicted), strict=True)
    for i, (tree, guess) in enumerate(pairs):
        own, other = brackets(tree, rules), brackets(guess, rules)
        common = sum((own & other).values())
        m += common
        p += sum(other.values())
        g += sum(own.values())
        tags = list(_tags(tree, rules))
        words += len(tags)
        if guess is None:
            continue
        theirs = list(_tags(guess, rules))
        if len(theirs) != len(tags):
            raise ValueError(
                f"sentence {i}: the prediction has {len(theirs)} words, "
                f"the truth {len(tags)}"
            )
        parsed += 1
        exact += own == other
        right += sum(a == b for a, b in zip(tags, theirs, strict=True))
        crossing += crossings(other, own)
    n = max(len(truth), 1)
    return BracketScores(
        precision=m / p if p else float(g == 0),
        recall=m / g if g else float(p == 0),
        f1=2 * m / (p + g) if p + g else 1.0,
        exact=exact / n,
        crossing=crossing / n,
        tagging=right / words if words else 1.0,
        parsed=parsed / n,
        matched=m,
        predicted=p,
        true=g,
    )


def _collect(
    tree: Tree, start: int, rules: BracketRules, found: Counter[Bracket]
) -> int:
    """Add the brackets of `tree`, which begins at word `start`; where it ends."""
    if isinstance(tree, str):
        return start + 1
    if len(tree) == 2 and isinstance(tree[1], str):
        return start + (tree[0] not in rules.dropped_tags)
    end = start
    for child in tree[1:]:
        end = _collect(child, end, rules, found)
    if end > start and tree[0] not in rules.dropped_labels:
        label = rules.same.get(tree[0], tree[0]) if rules.labelled else ""
        found[label, start, end] += 1
    return end


def _tags(tree: Tree, rules: BracketRules) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif len(tree) == 2 and isinstance(tree[1], str):
        if tree[0] not in rules.dropped_tags:
            yield tree[0]
    else:
        for child in tree[1:]:
            yield from _tags(child, rules)


def crossings(found: Counter[Bracket], true: Counter[Bracket]) -> int:
    """How many brackets of `found` cross one of `true`."""
    return sum(k for bracket, k in found.items() if _crosses(bracket, true))


def _crosses(bracket: Bracket, others: Counter[Bracket]) -> bool:
    _, a, b = bracket
    return any(a < c < b < d or c < a < d < b for _, c, d in others)
