"""Trees as rows of integers, and back; what is wrong with a sentence or its tree.

A row holds the nodes of a binarised tree from the root down, left before right, five
numbers each: start, split (= end if not binary), end, rule, bracket label (-1: none).
The first node is the root rule; tags that are given have no node.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from maxmargin.inference.tree.chart import NODE
from maxmargin.structures.grammar.binarise import (
    BinaryShape,
    Node,
    Tree,
    binarise,
    restore,
)
from maxmargin.structures.grammar.productions import Productions, unary_chains

Token = tuple[str, str]  # word, tag


def checked_tokens(i: int, sentence: Any, with_tags: bool) -> list[Token]:
    """(word, tag) pairs of sentence i, the tag "" where it is to be found."""
    if isinstance(sentence, str):
        raise ValueError(
            f"sentence {i}: {sentence!r} is a string, not a list of tokens"
        )
    if not hasattr(sentence, "__iter__"):
        raise ValueError(
            f"sentence {i} is a {type(sentence).__name__}, not a list of tokens"
        )
    out = []
    for t, token in enumerate(sentence):
        if isinstance(token, str):
            out.append((token, token if with_tags else ""))
        elif isinstance(token, tuple | list) and list(map(type, token)) == [str, str]:
            out.append((token[0], token[1] if with_tags else ""))
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
    if hasattr(tree, "label"):
        raise ValueError(
            f"sentence {i}: trees of NLTK go through text, parse_trees(str(tree)).trees "
            "of maxmargin.io.treebank"
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
    nodes = [row[p : p + NODE] for p in range(0, len(row), NODE)]
    at = iter(nodes)
    root = next(at)
    symbol = {rule: a for a, rule in grammar.root.items()}[root[3]]
    return restore(_Rebuilt(grammar, tokens, at).node(symbol, 0, len(tokens)))


class _Rebuilt:
    """Binarised tree from its nodes, one after the other."""

    def __init__(
        self, grammar: Productions, tokens: Sequence[Token], nodes: Iterator[Any]
    ) -> None:
        self.grammar, self.tokens, self.nodes = grammar, tokens, nodes
        self.binary = list(grammar.binary)
        self.unary = list(grammar.unary)

    def node(self, symbol: int, start: int, end: int) -> Node:
        """The next node, which is a `symbol`."""
        name = self.grammar.symbols[symbol]
        if name.tag:
            if self.grammar.lexical:
                next(self.nodes)
            return Node(name, start, end, (), self.tokens[start][0])
        _, split, _, rule, _ = next(self.nodes)
        if rule >= len(self.binary):
            _, below = self.unary[rule - len(self.binary)]
            return Node(name, start, end, (self.node(below, start, end),))
        _, left, right = self.binary[rule]
        first = self.node(left, start, split)
        return Node(name, start, end, (first, self.node(right, split, end)))


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
