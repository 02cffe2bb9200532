"""Coarse-to-fine parsing: only parts of a chart that a coarse grammar finds likely.

The coarse grammar has plain labels, and its new symbols name neither parents nor
siblings (vertical=1, horizontal=0), so every fine tree becomes a coarse tree when these
names are dropped. With its rules weighted by their log probabilities, a part (span, symbol) is
kept if it occurs in some coarse tree with

    log p(tree)  >=  log p(best tree) - threshold,

or in the true tree. Fine charts then have only parts whose coarse symbol is kept.

Trees that are left out are constraints that training does not see. The dual of fewer
constraints is still a lower bound on the objective; what pruning has missed is the
difference between slacks with and without it, which a last exact pass measures.

[1] Yu 2011, section 7.2.1. [2] Charniak et al. 2006, Multilevel coarse-to-fine PCFG
parsing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Labels, Ragged
from maxmargin.inference.tree import cky
from maxmargin.inference.tree.chart import NODE, NOTHING, Forest, Kept, Rules, no_gold
from maxmargin.structures.grammar.parsing import Sentence
from maxmargin.structures.grammar.structure import Grammar, GrammarInputs
from maxmargin.structures.grammar.treebank.binarise import Symbol
from maxmargin.structures.grammar.treebank.productions import (
    Productions,
    log_probabilities,
)


def coarse_symbol(symbol: Symbol) -> Symbol:
    """What is left of a symbol that forgets its parents and its siblings.

    Examples
    --------
    >>> str(coarse_symbol(Symbol("NP", ("S",), ("NN", "PP"))))
    'NP|<>'
    """
    return symbol._replace(above=(), covers=() if symbol.made else None)


def pruned(
    grammar: Grammar, x: GrammarInputs, truth: Ragged, X: Sequence[Any], Y: Sequence[Any],
    threshold: float,
) -> GrammarInputs:  # fmt: skip
    """The training sentences with the parts that a coarse grammar keeps.

    Parameters
    ----------
    grammar : Grammar
        Bound to X and Y.
    x, truth
        X and Y as the grammar encodes them.
    threshold : float
        How far, in log probability, a coarse tree may be below the best one.
    """
    if not threshold > 0:
        raise ValueError(f"coarse={threshold!r}: the threshold must be positive")
    coarse = replace(
        grammar, horizontal=0, vertical=1, anchors=(), productions=None, beam=np.inf
    ).bind(X, Y)
    known, fine = coarse._productions, grammar._productions
    number = {symbol: g for g, symbol in enumerate(known.symbols)}
    group = np.array([number[coarse_symbol(s)] for s in fine.symbols], np.int32)
    w = log_probabilities(known)
    kept = []
    inputs = coarse.encode(X)
    for i, sentence in enumerate(coarse._sentences(inputs, np.arange(x.n), w)):
        mask = _worth(sentence, len(known.symbols), threshold)
        _mark_tree(mask, truth.row(i), fine, x, i, group)
        kept.append(Kept(mask, group))
    return x._replace(kept=tuple(kept))


def kept_share(x: GrammarInputs) -> float:
    """Share of the pairs (span, coarse symbol) that are kept."""
    total = sum(kept.mask.size for kept in x.kept)
    return sum(int(kept.mask.sum()) for kept in x.kept) / max(total, 1)


def _worth(sentence: Sentence, symbols: int, threshold: float) -> np.ndarray:
    """Parts of all trees of a coarse grammar that score enough."""
    n = sentence.n
    gold = no_gold(n)
    chart = sentence.chart(gold, NOTHING)
    floor = sentence.best(chart) - threshold
    forest = sentence.forest(gold, NOTHING, chart, floor)
    mask = np.zeros((n * (n + 1) // 2, symbols), np.uint8)
    span, symbol = _parts(forest, sentence.rules, sentence.words.tag)
    mask[span, symbol] = 1
    return mask


def _parts(forest: Forest, rules: Rules, tag: Labels) -> tuple[Any, Any]:
    """Span and symbol of everything that occurs in a forest."""
    edge = forest.edge
    start, end = forest.node[edge[:, 0]].astype(np.int64).T
    span = end * (end + 1) // 2 - 1 - start
    kind, rule = edge[:, 3], edge[:, 4]
    spans, symbols = [], []
    for which, tables in (
        (cky.ROOT, (None,)), (cky.BARE, (None,)), (cky.RULE, (rules.parent,)),
        (cky.CHAIN, (rules.chain_top, rules.chain_bottom)), (cky.WORD, (tag,)),
    ):  # fmt: skip
        some = kind == which
        for table in tables:
            spans.append(span[some])
            symbols.append(rule[some] if table is None else table[rule[some]])
    return np.concatenate(spans), np.concatenate(symbols)


def _mark_tree(
    mask: np.ndarray, row: Labels, known: Productions, x: GrammarInputs, i: int,
    group: Labels,
) -> None:  # fmt: skip
    """Keep the parts of an encoded tree."""
    rules = known.rules
    n_binary = len(rules.parent)
    unary = list(known.unary)
    roots = {rule: a for a, rule in known.root.items()}
    tags = {rule: tag for (tag, _), rule in known.lexical.items()}
    for start, split, end, rule, _ in row.reshape(-1, NODE).tolist():
        span = end * (end + 1) // 2 - 1 - start
        if rule < n_binary:
            left = split * (split + 1) // 2 - 1 - start
            right = end * (end + 1) // 2 - 1 - split
            mask[span, group[rules.parent[rule]]] = 1
            mask[left, group[rules.left[rule]]] = 1
            mask[right, group[rules.right[rule]]] = 1
        elif rule < n_binary + len(unary):
            mask[span, group[list(unary[rule - n_binary])]] = 1
        elif rule in roots:
            mask[span, group[roots[rule]]] = 1
        elif rule in tags:
            mask[span, group[tags[rule]]] = 1
