"""Rules read off binarised trees: all rules that occur, numbered and indexed.

    binary A -> B C,   unary A -> B,   root TOP -> A,   lexical T -> word

Each rule is one coordinate of psi, in this order. Unary rules apply in chains: every
contiguous piece of a chain of the treebank may stand at once above a binary rule or a
tag, so that there are finitely many trees and each is found once. A word that is rare
stands for all words of its shape, so that new words have tags.

[1] Tsochantaridis et al. 2005, section 4.5.1.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Labels, pointers
from maxmargin.core.data.validation import (
    check_distinct,
    check_pointers,
    check_range,
    check_shape,
    check_types,
    require,
    same_fields,
)
from maxmargin.inference.tree.chart import Rules
from maxmargin.structures.grammar.treebank.binarise import Node, Symbol

Pair = tuple[int, int]
Triple = tuple[int, int, int]
UNKNOWN = "<unknown>"


@dataclass(frozen=True)
class Productions:
    """The rules of a grammar, as dictionaries for people and arrays for loops."""

    symbols: tuple[Symbol, ...]  # tags first
    labels: tuple[str, ...]  # of brackets
    binary: dict[Triple, int]  # (parent, left, right) -> rule
    unary: dict[Pair, int]  # (parent, child) -> rule
    root: dict[int, int]  # symbol -> rule
    lexical: dict[tuple[int, str], int]  # (tag, word or shape) -> rule
    words: dict[str, list[int]]  # word or shape -> its tags
    count: Labels  # (rules,) how often each occurs
    rules: Rules

    @property
    def size(self) -> int:
        """Number of rules of all kinds."""
        return len(self.count)

    def validate(self, by_rule: bool | None = None) -> None:
        """Rules are numbered one after the other, and the arrays are those of the rules.

        `by_rule`: classes of anchored features are single rules, not labels; None if
        they may be either, because the grammar is not known yet.
        """
        check_types(self)
        self.rules.validate()
        n = len(self.symbols)
        check_distinct(self.symbols, "symbols")
        order = sorted(self.binary, key=lambda rule: (rule[1], rule[2], rule[0]))
        unary, roots, lexical = (
            sorted(self.unary),
            sorted(self.root),
            sorted(self.lexical),
        )
        first = 0
        kinds: list[tuple[list[Any], Mapping[Any, int]]] = [
            (order, self.binary), (unary, self.unary), (roots, self.root),
            (lexical, self.lexical),
        ]  # fmt: skip
        for rules, known in kinds:
            numbered = [(rule, first + i) for i, rule in enumerate(rules)]
            require(list(known.items()) == numbered, "rules are misnumbered")
            first += len(rules)
        check_shape(self.count, (first,), "counts of the rules")
        used = [*itertools.chain(*self.binary, *self.unary), *self.root]
        used += [tag for tag, _ in self.lexical]
        require(all(0 <= a < n for a in used), "a rule has an unknown symbol")
        require(list(self.labels) == _labels(self.symbols), "labels are not those used")
        require(self.words == _words(lexical), "words are not those of the rules")
        arrays = _indexed(
            list(self.symbols), list(self.labels), order, unary, roots,
            self._chains(unary),
        )  # fmt: skip
        if by_rule is None:
            by_rule = not np.array_equal(self.rules.rule_class, arrays.rule_class)
            by_rule |= not np.array_equal(self.rules.unary_class, arrays.unary_class)
        if by_rule:
            arrays = classed_by_rule(arrays)
        same_fields(self.rules, arrays, "arrays of the rules")

    def _chains(self, unary: list[Pair]) -> list[tuple[int, ...]]:
        """Chains of unary rules, read back from the arrays."""
        rules = self.rules
        tops, flat = rules.chain_top, rules.chain_unary
        check_pointers(rules.chain_ptr, len(flat), "chains")
        check_range(flat, 0, len(unary), "rule of a chain")
        require(len(rules.chain_ptr) == len(tops) + 1, "a chain lacks its top")
        chains = []
        for top, (a, b) in zip(
            tops.tolist(), itertools.pairwise(rules.chain_ptr.tolist()), strict=True
        ):
            chain = [top]
            for u in flat[a:b].tolist():
                require(unary[u][0] == chain[-1], "a chain of rules is broken")
                chain.append(unary[u][1])
            require(len(chain) > 1, "a chain has no rules")
            chains.append(tuple(chain))
        require(chains == sorted(set(chains)), "chains are not in order")
        return chains

    def term(self, word: str) -> str:
        """The word itself if it is known, else its shape, else the unknown word."""
        for name in (word, shape(word), UNKNOWN):
            if name in self.words:
                return name
        return ""

    def names(self) -> list[str]:
        """Each rule as text."""
        name = [str(symbol) for symbol in self.symbols]
        return [
            *(f"{name[a]} -> {name[b]} {name[c]}" for a, b, c in self.binary),
            *(f"{name[a]} -> {name[b]}" for a, b in self.unary),
            *(f"-> {name[a]}" for a in self.root),
            *(f"{name[t]} -> {word!r}" for t, word in self.lexical),
        ]


def shape(word: str) -> str:
    """Class of a rare word: capitals, digits, hyphen and ending.

    Examples
    --------
    >>> shape("Unbelievable"), shape("1987"), shape("re-elected")
    ('<Able>', '<0>', '<a-ted>')
    """
    if any(letter.isdigit() for letter in word):
        return "<0>" if word[-1].isdigit() else "<0s>"
    ending = word[-3:].lower() if len(word) > 4 else ""
    case = "A" if word[:1].isupper() else "a"
    return f"<{case}{'-' if '-' in word else ''}{ending}>"


def read_productions(trees: Iterable[Node], rare: int | None) -> Productions:
    """All rules that occur in the trees.

    Parameters
    ----------
    trees : binarised trees
    rare : int or None
        Words seen at most this often count as their shape; None: words are no rules.
    """
    seen = _Counts()
    for tree in trees:
        seen.add(tree)
    symbols = sorted(seen.symbols, key=lambda s: (not s.tag, s.made, str(s)))
    number = {symbol: i for i, symbol in enumerate(symbols)}
    binary = {
        (number[a], number[b], number[c]): n for (a, b, c), n in seen.binary.items()
    }
    order = sorted(binary, key=lambda rule: (rule[1], rule[2], rule[0]))
    unary = sorted((number[a], number[b]) for a, b in seen.unary)
    roots = sorted(number[a] for a in seen.root)
    terms = _terms(seen.lexical, number, rare)
    lexical = sorted(terms)
    counts = [binary[rule] for rule in order]
    counts += [seen.unary[symbols[a], symbols[b]] for a, b in unary]
    counts += [seen.root[symbols[a]] for a in roots]
    counts += [terms[pair] for pair in lexical]
    labels = _labels(symbols)
    chains = sorted(tuple(number[s] for s in chain) for chain in seen.chains)
    n_binary, n_unary, n_root = len(order), len(unary), len(roots)
    base = n_binary + n_unary
    return Productions(
        symbols=tuple(symbols),
        labels=tuple(labels),
        binary={rule: i for i, rule in enumerate(order)},
        unary={rule: n_binary + i for i, rule in enumerate(unary)},
        root={symbol: base + i for i, symbol in enumerate(roots)},
        lexical={pair: base + n_root + i for i, pair in enumerate(lexical)},
        words=_words(lexical),
        count=np.array(counts, np.int32),
        rules=_indexed(symbols, labels, order, unary, roots, chains),
    )


class _Counts:
    """How often each rule occurs, and which chains of unary rules."""

    def __init__(self) -> None:
        self.symbols: set[Symbol] = set()
        self.binary: Counter[tuple[Symbol, Symbol, Symbol]] = Counter()
        self.unary: Counter[tuple[Symbol, Symbol]] = Counter()
        self.root: Counter[Symbol] = Counter()
        self.lexical: Counter[tuple[Symbol, str]] = Counter()
        self.chains: set[tuple[Symbol, ...]] = set()

    def add(self, tree: Node) -> None:
        self.root[tree.symbol] += 1
        for chain in unary_chains(tree):
            symbols = tuple(node.symbol for node in chain)
            self.symbols.update(symbols)
            self.unary.update(itertools.pairwise(symbols))
            for i in range(len(symbols) - 1):
                for j in range(i + 2, len(symbols) + 1):
                    self.chains.add(symbols[i:j])
            last = chain[-1]
            if last.children:
                left, right = last.children
                self.binary[last.symbol, left.symbol, right.symbol] += 1
            else:
                self.lexical[last.symbol, last.word] += 1


def unary_chains(tree: Node) -> Iterator[list[Node]]:
    """Per span the nodes that share it, the highest first; spans from the root down."""
    stack = [tree]
    while stack:
        chain = [stack.pop()]
        while len(chain[-1].children) == 1:
            chain.append(chain[-1].children[0])
        yield chain
        stack.extend(reversed(chain[-1].children))


def _terms(
    lexical: Counter[tuple[Symbol, str]], number: dict[Symbol, int], rare: int | None
) -> Counter[tuple[int, str]]:
    """Counts of (tag, word), rare words as their shape; any tag for unknown shapes."""
    out: Counter[tuple[int, str]] = Counter()
    if rare is None:
        return out
    total: Counter[str] = Counter()
    for (_, word), n in lexical.items():
        total[word] += n
    for (tag, word), n in lexical.items():
        out[number[tag], word if total[word] > rare else shape(word)] += n
    for symbol in {number[tag] for tag, _ in lexical}:
        out[symbol, UNKNOWN] += 1
    return out


def _words(lexical: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Tags of each word."""
    words: dict[str, list[int]] = {}
    for tag, word in lexical:
        words.setdefault(word, []).append(tag)
    return words


def _labels(symbols: Iterable[Symbol]) -> list[str]:
    """Labels of brackets."""
    return sorted({s.label for s in symbols if not s.tag})


def classed_by_rule(rules: Rules) -> Rules:
    """The same rules, each a class of its own for anchored features."""
    n, more = len(rules.rule_class), len(rules.unary_class)
    return rules._replace(
        rule_class=np.arange(n, dtype=np.int32),
        unary_class=np.arange(n, n + more, dtype=np.int32),
    )


def _indexed(
    symbols: list[Symbol],
    labels: list[str],
    binary: list[Triple],
    unary: list[Pair],
    roots: list[int],
    chains: list[tuple[int, ...]],
) -> Rules:
    """Rules as flat arrays; `binary` comes sorted by left child, `chains` by top."""
    n = len(symbols)
    triples = np.array(binary, np.int32).reshape(-1, 3)
    parent, left, right = (np.ascontiguousarray(triples[:, t]) for t in range(3))
    bracket = np.array(
        [-1 if s.tag or s.made else labels.index(s.label) for s in symbols], np.int32
    )
    # classes: labels, then labels of symbols made by binarisation
    family = np.array(
        [0 if s.tag else labels.index(s.label) + len(labels) * s.made for s in symbols],
        np.int32,
    )
    number = {pair: i for i, pair in enumerate(unary)}
    steps = [[number[a, b] for a, b in itertools.pairwise(c)] for c in chains]
    flat = np.array([u for chain in steps for u in chain], np.int32)
    above = np.array([a for a, _ in unary], np.int32)
    tops = np.array([chain[0] for chain in chains], np.int32)
    root_rule = np.full(n, -1, np.int32)
    root_rule[roots] = len(binary) + len(unary) + np.arange(len(roots))
    return Rules(
        left_ptr=pointers(np.bincount(left, minlength=n)),
        left=left,
        right=right,
        parent=parent,
        parent_ptr=pointers(np.bincount(parent, minlength=n)),
        by_parent=np.argsort(parent, kind="stable").astype(np.int32),
        top_ptr=pointers(np.bincount(tops, minlength=n)),
        chain_top=tops,
        chain_bottom=np.array([chain[-1] for chain in chains], np.int32),
        chain_ptr=pointers([len(chain) for chain in steps]),
        chain_unary=flat,
        chain_label=bracket[above[flat]] if len(flat) else flat,
        label=bracket,
        labels=len(labels),
        rule_class=family[parent],
        unary_class=family[above] if len(above) else above,
        root_rule=root_rule,
    )


def log_probabilities(productions: Productions, smoothing: float = 0.0) -> Floats:
    """Weight of each rule: its log probability given what it rewrites."""
    top = len(productions.symbols)  # stands above the root
    head = np.array(
        [
            *(a for a, _, _ in productions.binary),
            *(a for a, _ in productions.unary),
            *(top for _ in productions.root),
            *(tag for tag, _ in productions.lexical),
        ],
        np.int64,
    )
    count = productions.count + smoothing
    total = np.bincount(head, weights=count, minlength=top + 1)
    weights: Floats = np.log(count) - np.log(total[head])
    return weights
