"""Trees as rows of integers, and back; what is wrong with a sentence or its tree.

A row holds the nodes of a binarised tree from the root down, left before right, five
numbers each: start, split (= end if not binary), end, rule, bracket label (-1: none).
The first node is the root rule; tags that are given have no node.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from typing import Any

from maxmargin.core.data.tokens.sequences import is_tagged_word
from maxmargin.inference.tree.chart import NODE
from maxmargin.structures.grammar.treebank.binarise import (
    BinaryShape,
    Node,
    Tree,
    binarise,
)
from maxmargin.structures.grammar.treebank.productions import Productions, unary_chains

Token = tuple[str, str]  # word, tag


def checked_tokens(i: int, sentence: Any, with_tags: bool) -> list[Token]:
    """(word, tag) pairs of sentence i, the tag "" where it is to be found."""
    if isinstance(sentence, str):
        raise ValueError(
            f"sentence {i}: {sentence!r} is a string, not a list of tokens"
        )
    if isinstance(sentence, Mapping | Set) or not hasattr(sentence, "__iter__"):
        raise ValueError(
            f"sentence {i} is a {type(sentence).__name__}, not a list of tokens"
        )
    out = []
    for t, token in enumerate(sentence):
        if isinstance(token, str):
            out.append((str(token), str(token) if with_tags else ""))
        elif is_tagged_word(token):
            out.append((str(token[0]), str(token[1]) if with_tags else ""))
        else:
            what = "tag" if with_tags else "word"
            raise ValueError(
                f"sentence {i}, token {t}: {token!r} is neither a {what} nor a "
                "(word, tag) pair"
            )
    return out


def checked_tree(
    i: int, tree: Tree, tokens: Sequence[Token], shape: BinaryShape
) -> Node:
    """Binarised tree i, if it is a tree over the tokens."""
    if tree is None:
        raise ValueError(f"sentence {i}: there is no tree")
    if type(tree) not in (tuple, list, str):
        raise ValueError(
            f"sentence {i}: the tree is a {type(tree).__name__}, not a nested tuple; "
            "from_nltk of maxmargin.io.trees makes one of a tree of NLTK"
        )
    try:
        node = binarise(tree, shape)
    except ValueError as error:
        raise ValueError(f"sentence {i}, {error}") from None
    leaves = [chain[-1] for chain in unary_chains(node) if not chain[-1].children]
    if len(leaves) != len(tokens):
        raise ValueError(
            f"sentence {i}: the tree has {len(leaves)} words, the sentence {len(tokens)}"
        )
    for t, (leaf, (word, tag)) in enumerate(zip(leaves, tokens, strict=True)):
        if tag and leaf.symbol.label != tag:
            raise ValueError(
                f"sentence {i}, token {t}: the tree has the tag "
                f"{leaf.symbol.label!r}, the sentence {tag!r}"
            )
        if not tag and leaf.word != word:
            raise ValueError(
                f"sentence {i}, token {t}: the tree has the word {leaf.word!r}, "
                f"the sentence {word!r}"
            )
    return node


def tree_row(i: int, tree: Node, grammar: Productions, lexical: bool) -> list[int]:
    """Row of a binarised tree; ValueError where one of its rules is not known."""
    number = {symbol: a for a, symbol in enumerate(grammar.symbols)}
    label = grammar.rules.label
    try:
        rule = grammar.root[number[tree.symbol]]
        row = [tree.start, tree.end, tree.end, rule, -1]
        for chain in unary_chains(tree):
            for node, below in itertools.pairwise(chain):
                a = number[node.symbol]
                rule = grammar.unary[a, number[below.symbol]]
                row += [node.start, node.end, node.end, rule, int(label[a])]
            node = chain[-1]
            a = number[node.symbol]
            if node.children:
                left, right = node.children
                rule = grammar.binary[a, number[left.symbol], number[right.symbol]]
                row += [node.start, left.end, node.end, rule, int(label[a])]
            elif lexical:
                rule = grammar.lexical[a, grammar.term(node.word)]
                row += [node.start, node.end, node.end, rule, -1]
    except KeyError:
        raise ValueError(
            f"sentence {i}: a rule of its tree is not in the grammar: {_unknown(tree, grammar)}"
        ) from None
    return row


def row_tree(row: Sequence[int], grammar: Productions, tokens: Sequence[Token]) -> Tree:
    """Tree of the treebank that a row stands for."""
    nodes = [row[p : p + NODE] for p in range(NODE, len(row), NODE)]  # below the root
    (tree,) = _Rebuilt(grammar, tokens, nodes).parts(0, len(tokens))
    return tree


class _Rebuilt:
    """Trees from their nodes, one after the other.

    Spans and labels of the brackets say all: rules may be ones that the grammar lacks.
    """

    def __init__(
        self, grammar: Productions, tokens: Sequence[Token], nodes: Sequence[Any]
    ) -> None:
        self.grammar, self.tokens, self.nodes, self.at = grammar, tokens, nodes, 0
        self.tag = {rule: tag for (tag, _), rule in grammar.lexical.items()}

    def parts(self, start: int, end: int) -> list[Tree]:
        """What stands over a span: a tree, or the trees that a node without a bracket has."""
        node = self.nodes[self.at] if self.at < len(self.nodes) else None
        if node is None or (node[0], node[2]) != (start, end):
            word, tag = self.tokens[start]  # as given: training may not have shown it
            return [(tag, word)]
        self.at += 1
        _, split, _, rule, label = node
        if rule in self.tag:
            tag = self.grammar.symbols[self.tag[rule]].label
            return [(tag, self.tokens[start][0])]
        below = self.parts(start, split)
        if split < end:
            below += self.parts(split, end)
        return below if label < 0 else [(self.grammar.labels[label], *below)]


def _unknown(tree: Node, grammar: Productions) -> str:
    """The first rule of the tree that the grammar does not have."""
    known = set(grammar.names())
    if f"-> {tree.symbol}" not in known:
        return f"-> {tree.symbol}"
    for chain in unary_chains(tree):
        for node in chain:
            text = f"{node.symbol} -> {' '.join(str(c.symbol) for c in node.children)}"
            if node.children and text not in known:
                return text
    return "a tag over its word"
