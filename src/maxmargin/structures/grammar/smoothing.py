"""Trees for sentences that the rules of a grammar do not derive.

Rules that training has not shown are added for prediction only: a phrase may take in one
more child on either side,

    A -> A X,   A -> X A      for every phrase A and every phrase or tag X,

and any phrase may be the root. Both phrases A are the same node of the tree, so X becomes a
further child of A. The tree with the fewest of these rules is found, and among those the
one whose other rules score best. They have no weights: psi counts the known rules only.

In an encoded tree a rule that is not known has the number -1.

[1] Collins 1999, Head-driven statistical models, smooths rules child by child as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, Ragged, pointers
from maxmargin.inference.tree.chart import NODE, Rules, Scores
from maxmargin.structures.grammar.parsing import Sentence, k_best, largest_of
from maxmargin.structures.grammar.treebank.binarise import Symbol
from maxmargin.structures.grammar.treebank.productions import Productions

NOT_KNOWN = -1  # number of a rule that training has not shown


class Smoothed(NamedTuple):
    """The rules of a grammar and those that are added to them."""

    rules: Rules
    number: Labels  # (binary rules,) the rule of the grammar, or NOT_KNOWN
    phrase: Labels  # symbols that have brackets


def smoothed(known: Productions, classes: int) -> Smoothed:
    """Add a rule for each phrase and each further child of it.

    `classes` is the number of classes of anchored features; what is added has one of its own.
    """
    rules, symbols = known.rules, known.symbols
    phrase = np.flatnonzero(rules.label >= 0).astype(np.int32)
    added = {
        triple
        for a in phrase.tolist()
        for x, symbol in enumerate(symbols)
        if _fits(symbols[a], symbol)
        for triple in ((a, a, x), (a, x, a))
    }
    more = np.array(sorted(added - set(known.binary)), np.int32).reshape(-1, 3)
    parent = np.concatenate((rules.parent, more[:, 0]))
    left = np.concatenate((rules.left, more[:, 1]))
    right = np.concatenate((rules.right, more[:, 2]))
    number = np.append(np.arange(len(rules.parent)), np.full(len(more), NOT_KNOWN))
    kind = np.append(rules.rule_class, np.full(len(more), classes, np.int32))
    order, n = np.argsort(left, kind="stable"), len(symbols)
    parent = parent[order]
    return Smoothed(
        rules._replace(
            left_ptr=pointers(np.bincount(left, minlength=n)),
            left=left[order],
            right=right[order],
            parent=parent,
            parent_ptr=pointers(np.bincount(parent, minlength=n)),
            by_parent=np.argsort(parent, kind="stable").astype(np.int32),
            rule_class=kind[order].astype(np.int32),
        ),
        number[order].astype(np.int32),
        phrase,
    )


def _fits(above: Symbol, child: Symbol) -> bool:
    """Whether a symbol may be a further child of a phrase."""
    if child.tag:
        return True
    line = (above.label, *above.above)
    return not child.made and child.above == line[: len(child.above)]


def best_smoothed(sentence: Sentence, more: Smoothed) -> Labels | None:
    """The best tree with the fewest rules that are not known; None without any phrase."""
    scores = sentence.scores
    fine = _penalty(sentence)
    added = more.number < 0
    rule = np.where(added, -fine, scores.rule[more.number])
    root = scores.root.copy()
    root[more.phrase] = np.maximum(root[more.phrase], -fine)
    tables = (_one_more(table) for table in scores[3:])
    wide = Sentence(
        more.rules, Scores(rule, scores.unary, root, *tables), sentence.words,
        max(fine, sentence.largest),
    )  # fmt: skip
    found = k_best(wide, 1)
    return _known_numbers(found[0].row, sentence.rules, more) if found else None


def _penalty(sentence: Sentence) -> float:
    """More than what any two trees of the sentence differ by in score."""
    scores = sentence.scores
    parts = [scores.rule, scores.unary, scores.root, sentence.words.score, *scores[3:]]
    sizes = [largest_of([part]) for part in parts]
    longest = np.diff(sentence.rules.chain_ptr).max(initial=0)
    nodes = 2 * sentence.n * (1 + int(longest))
    return 1.0 + 2.0 * nodes * sum(sizes)


def _one_more(table: Floats) -> Floats:
    """Scores by class, with zeros for the class of the rules that were added."""
    return np.pad(table, ((0, 0), (0, 1))) if table.shape[1] > 0 else table


def _known_numbers(row: Labels, rules: Rules, more: Smoothed) -> Labels:
    """The tree with the grammar's numbers; a phrase and its further child are one node."""
    nodes = row.reshape(-1, NODE).copy()
    for q, (start, split, end, rule, label) in enumerate(nodes.tolist()):
        if q == 0:
            continue  # the root: -1 where it is not known
        if split < end:
            nodes[q, 3] = more.number[rule]
            if more.number[rule] < 0:
                same = more.rules.left[rule] == more.rules.parent[rule]
                span = (start, split) if same else (split, end)
                nodes[_first_over(nodes, q + 1, span), 4] = -1
        elif label >= 0:  # a unary rule; those of words have no bracket
            nodes[q, 3] = rule - len(more.number) + len(rules.parent)
    return nodes.reshape(-1)


def _first_over(nodes: Labels, q: int, span: tuple[int, int]) -> int:
    """The highest node over a span, from node q on."""
    while (nodes[q, 0], nodes[q, 2]) != span:
        q += 1
    return q


def known_nodes(labels: Ragged) -> Ragged:
    """Encoded trees without the nodes whose rules are not known.

    Examples
    --------
    >>> tree = [0, 2, 2, 7, -1, 0, 1, 2, -1, 3]
    >>> known_nodes(Ragged.pack([tree])).data.tolist()
    [0, 2, 2, 7, -1]
    """
    known = labels.data.reshape(-1, NODE)[:, 3] >= 0
    if known.all():
        return labels
    owner = np.repeat(np.arange(labels.n), labels.sizes // NODE)[known]
    data = labels.data.reshape(-1, NODE)[known].reshape(-1)
    return Ragged(pointers(NODE * np.bincount(owner, minlength=labels.n)), data)
