"""A grammar read off a few random trees, and all trees of its sentences."""

import itertools
from functools import cache
from operator import eq as same

from maxmargin.losses import BracketF1, BracketHamming, ZeroOne
from maxmargin.structures.grammar import Grammar

__all__ = ["LOSSES", "PRUNED", "outputs", "same", "tiny"]
LOSSES = [ZeroOne(), BracketF1(), BracketHamming(), BracketHamming(normalize=True)]
PRUNED = True  # layers that no formulation can prefer are left out
ANCHORS = ("length", "first", "after", "starts", "word:last", "ends", "split")


def random_tree(rng, words, depth=0):
    """A tree over the (word, tag) pairs, with unary nodes here and there."""
    if len(words) == 1 and (depth > 2 or rng.random() < 0.6):
        return (words[0][1], words[0][0])
    label = "SAB"[rng.integers(3)]
    if depth < 3 and rng.random() < 0.25:
        return (label, random_tree(rng, words, depth + 1))
    parts = min(len(words), int(rng.integers(1, 4)) if depth < 3 else len(words))
    cuts = sorted(rng.choice(len(words) - 1, parts - 1, replace=False) + 1)
    bounds = [0, *map(int, cuts), len(words)]
    children = [
        random_tree(rng, words[a:b], depth + 1) for a, b in itertools.pairwise(bounds)
    ]
    return (label, *children)


def tiny(rng):
    """Five sentences of 1 to 4 words; all options at random."""
    X = [
        [("xyz"[rng.integers(3)], "ab"[rng.integers(2)]) for _ in range(length)]
        for length in (3, 1, 2, 4, 3)
    ]
    Y = [random_tree(rng, sentence) for sentence in X]
    structure = Grammar(
        terminals=("tags", "words")[rng.integers(2)],
        branching=("left", "right")[rng.integers(2)],
        horizontal=(None, 0, 1)[rng.integers(3)],
        vertical=int(rng.integers(1, 3)),
        anchors=tuple(a for a in ANCHORS if rng.random() < 0.3),
        anchor_by=("label", "rule")[rng.integers(2)],
        rare=int(rng.integers(2)),
    )
    return structure, X, Y


def outputs(structure, x, i):
    """All derivations from the root down: one chain at most, then a rule or a word."""
    own, rules = structure.productions, structure.productions.rules
    first, n = int(x.ptr[i]), int(x.ptr[i + 1] - x.ptr[i])
    chains = [
        (
            int(rules.chain_top[c]),
            int(rules.chain_bottom[c]),
            range(int(rules.chain_ptr[c]), int(rules.chain_ptr[c + 1])),
        )
        for c in range(len(rules.chain_top))
    ]

    @cache
    def base(start, end, a):
        if end - start == 1:
            entries = range(int(x.entry[first + start]), int(x.entry[first + end]))
            return [
                (start, end, end, int(x.rule[p]), -1) if x.rule[p] >= 0 else ()
                for p in entries
                if x.tag[p] == a
            ]
        return [
            (start, split, end, rule, int(rules.label[a]), *left, *right)
            for (parent, b, c), rule in own.binary.items()
            if parent == a
            for split in range(start + 1, end)
            for left in top(start, split, b)
            for right in top(split, end, c)
        ]

    @cache
    def top(start, end, a):
        found = list(base(start, end, a))
        for high, low, steps in chains:
            if high == a:
                head = ()
                for p in steps:
                    rule = len(own.binary) + int(rules.chain_unary[p])
                    head += (start, end, end, rule, int(rules.chain_label[p]))
                found += [head + rest for rest in base(start, end, low)]
        return found

    return [
        [0, n, n, rule, -1, *rest]
        for a, rule in own.root.items()
        for rest in top(0, n, a)
    ]
