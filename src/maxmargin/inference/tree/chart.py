"""What charts are made of: rules, scores, words and brackets as flat arrays.

The words i .. j - 1 are span number j (j + 1) / 2 - 1 - i; each comes after its parts.
An encoded tree is a row of nodes from the root down, left before right, five numbers
each: start, split, end, rule and bracket label (-1: no bracket). For nodes that are not
binary, split = end. Rules are numbered binary, unary, root, lexical.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.data.validation import check_types

NODE = 5  # numbers per node of an encoded tree


class Rules(NamedTuple):
    """Binary rules in the order of their left child; chains in that of their top."""

    left_ptr: Ints  # (symbols + 1,) rules with this left child
    left: Labels  # (rules,)
    right: Labels  # (rules,)
    parent: Labels  # (rules,)
    parent_ptr: Ints  # (symbols + 1,) into by_parent
    by_parent: Labels  # (rules,) rules in the order of their parent
    top_ptr: Ints  # (symbols + 1,) chains with this top
    chain_top: Labels  # (chains,)
    chain_bottom: Labels  # (chains,)
    chain_ptr: Ints  # (chains + 1,) into chain_unary and chain_label
    chain_unary: Labels  # unary rules of the chain, top first
    chain_label: Labels  # the bracket each of them makes
    label: Labels  # (symbols,) bracket of a symbol, or -1
    labels: int  # number of bracket labels
    rule_class: Labels  # (rules,)
    unary_class: Labels  # (unary rules,)
    root_rule: Labels  # (symbols,) what a row says of the root, or -1

    def validate(self) -> None:
        """Arrays; `Productions.validate` compares them with the rules."""
        check_types(self)


class Scores(NamedTuple):
    """What rules score in one sentence of n words; no classes where nothing is anchored."""

    rule: Floats  # (rules,)
    unary: Floats  # (unary rules,)
    root: Floats  # (symbols,), -inf where a symbol cannot be the root
    start: Floats  # (n + 1, classes) by the position where the span begins
    end: Floats  # (n + 1, classes) where it ends
    span: Floats  # (spans, classes) by the span itself
    split: Floats  # (n + 1, classes) where it is split


class Words(NamedTuple):
    """Tags of each word: word t has the entries ptr[t]:ptr[t + 1]."""

    ptr: Ints  # (n + 1,)
    tag: Labels  # a symbol
    rule: Labels  # what a row says of the entry; -1: nothing
    score: Floats


class Kept(NamedTuple):
    """Parts that a chart may have: symbol a over span c if mask[c, group[a]].

    An empty mask keeps all.
    """

    mask: np.ndarray  # (spans, groups) of uint8
    group: Labels  # (symbols,)


ALL = Kept(np.empty((0, 0), np.uint8), np.empty(0, np.int32))


class Gold(NamedTuple):
    """A set of brackets: span c has the labels label[ptr[c]:ptr[c + 1]]."""

    ptr: Ints  # (spans + 1,)
    label: Labels


class Bonus(NamedTuple):
    """What each bracket scores, and each one in a given set on top of that."""

    bracket: float
    match: float


NOTHING = Bonus(0.0, 0.0)


class Chart(NamedTuple):
    """Best scores of all parts of a sentence; span c has the parts ptr[c]:ptr[c + 1]."""

    where: Labels  # (spans, symbols) the part, or -1
    ptr: Ints  # (spans + 1,)
    symbol: Labels  # (parts,)
    value: Floats  # (parts, 2) without and with a chain above, with bonus


class Forest(NamedTuple):
    """Trees as a graph of choices: each node takes one of its edges, and so on down.

    Edges of one node are neighbours, and every edge comes before those of the nodes it
    leads to. Node 0 is the root.
    """

    node: Labels  # (nodes, 2) span
    outer: Floats  # (nodes,) best score of what surrounds it, with bonus
    edge: Labels  # (edges, 8) node, two next nodes or -1, kind, rule, split, m, e
    value: Floats  # (edges,) score without bonus; m brackets in the set, e not in it


def no_gold(n: int) -> Gold:
    """The empty set of brackets for a sentence of n words."""
    return Gold(np.zeros(n * (n + 1) // 2 + 1, np.int64), np.empty(0, np.int32))


def gold_of(n: int, row: Labels) -> Gold:
    """Brackets of an encoded tree over n words.

    Examples
    --------
    >>> gold = gold_of(2, np.array([0, 1, 2, 7, 3, 0, 1, 1, 9, 4], np.int32))
    >>> gold.ptr.tolist(), gold.label.tolist()
    ([0, 1, 1, 2], [4, 3])
    """
    nodes = row.reshape(-1, NODE)
    nodes = nodes[nodes[:, 4] >= 0].astype(np.int64)
    spans = nodes[:, 2] * (nodes[:, 2] + 1) // 2 - 1 - nodes[:, 0]
    order = np.argsort(spans, kind="stable")
    count = np.bincount(spans, minlength=n * (n + 1) // 2)
    ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    return Gold(ptr, nodes[order, 4].astype(np.int32))
