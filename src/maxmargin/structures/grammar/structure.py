"""Weighted context-free grammars.

x is a sentence of tags (or words), y a tree over it, and psi counts rules:

    <w, psi(x, y)> = sum over nodes of w[rule] + sum over anchored features of the node

Rules are all those of the training trees in Chomsky normal form (`binarise`), so trees
go in and come out as they are in the treebank. The best tree is found by CKY; trees are
nested tuples `(label, child, ...)` with `(tag, word)` for each word. An encoded tree is
a row of nodes, five numbers each: start, split, end, rule, bracket label or -1.

[1] Tsochantaridis et al. 2005, section 4.5.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.formulations import CRITERIA, Violation
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss, LossForm
from maxmargin.core.structure import Augment, Found, Layers, Pieces, Structure
from maxmargin.core.validation import check_types, require
from maxmargin.inference.tree.chart import NODE, Bonus, Scores, Words
from maxmargin.losses.brackets import BracketLoss
from maxmargin.structures.grammar import parsing
from maxmargin.structures.grammar.anchors import (
    Anchored,
    Anchors,
    check_templates,
    length_bin,
)
from maxmargin.structures.grammar.binarise import BinaryShape, Tree
from maxmargin.structures.grammar.f1_parsing import worst_tree
from maxmargin.structures.grammar.productions import (
    UNKNOWN,
    Productions,
    classed_by_rule,
    read_productions,
)
from maxmargin.structures.grammar.tree_rows import (
    checked_tokens,
    checked_tree,
    row_tree,
    tree_row,
)


class GrammarInputs(NamedTuple):
    """Encoded sentences."""

    ptr: Ints  # (n + 1,) words of each sentence
    entry: Ints  # (words + 1,) tags that each word may have
    tag: Labels  # (entries,) symbols
    rule: Labels  # (entries,) lexical rules, -1 where tags are given
    anchored: Anchored
    tokens: list[list[tuple[str, str]]]  # (word, tag)

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.ptr) - 1


@dataclass(frozen=True, eq=False)
class Grammar(Structure):
    """Trees of a weighted context-free grammar read off the training trees.

    Parameters
    ----------
    terminals : {"tags", "words"}
        "tags": the tags are given, tokens are tags or (word, tag) pairs. "words": tokens
        are words, tags are found with the tree.
    branching : {"right", "left"}
        Which way rules with more than two children are split.
    horizontal : int or None
        Children that new symbols remember; None: all.
    vertical : int
        1: plain labels; 2: labels know their parent; and so on.
    start : str
        Name of what stands above the root.
    anchors : tuple of str
        Templates of anchored features, see `anchors`.
    anchor_by : {"label", "rule"}
        What meets the values of the templates: the label of the node, or its rule.
    rare : int
        Words seen at most this often count as their shape (or tag, in anchors).
    beam : float
        Predictions drop parts that score less than the best of their span by more; inf:
        exact. Training is exact in any case.
    fallback : {"none", "flat"}
        What a sentence without a parse becomes: None, or a flat tree. With "none", a
        warning names tags that no training tree has.

    Examples
    --------
    >>> tree = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> X = [["DT", "NN", "VBD"]]
    >>> grammar = Grammar().bind([[("the", "DT"), ("cat", "NN"), ("sat", "VBD")]], [tree])
    >>> x = grammar.encode(X)
    >>> found = grammar.argmax(x, np.array([0]), np.zeros(grammar.dim))
    >>> grammar.decode_labels(x, found.labels)
    [('S', ('NP', ('DT', 'DT'), ('NN', 'NN')), ('VP', ('VBD', 'VBD')))]
    """

    terminals: str = "tags"
    branching: str = "right"
    horizontal: int | None = None
    vertical: int = 1
    start: str = "TOP"
    anchors: tuple[str, ...] = ()
    anchor_by: str = "label"
    rare: int = 1
    beam: float = np.inf
    fallback: str = "none"
    productions: Productions | None = None
    anchored: Anchors = Anchors()
    dim: int = 0

    losses: ClassVar[tuple[LossForm, ...]] = (
        "zero-one",
        "brackets-f1",
        "brackets-hamming",
    )

    def bind(self, X: Sequence[Any], Y: Sequence[Tree]) -> Grammar:
        """Read the rules off the trees Y of the sentences X."""
        self._check()
        if len(X) != len(Y):
            raise ValueError(f"{len(X)} sentences, but {len(Y)} trees")
        if len(X) == 0:
            raise ValueError("no sentences: a grammar is read off at least one tree")
        tokens = self._tokens(X)
        nodes = [
            checked_tree(i, tree, tokens[i], self._shape) for i, tree in enumerate(Y)
        ]
        productions = read_productions(nodes, self.rare if self._lexical else None)
        if self.anchor_by == "rule":
            rules = classed_by_rule(productions.rules)
            productions = replace(productions, rules=rules)
        anchored = Anchors(self.anchors, self._classes(productions))
        anchored = anchored.bind(tokens, self.rare)
        dim = productions.size + anchored.size
        return replace(self, productions=productions, anchored=anchored, dim=dim)

    def _classes(self, productions: Productions) -> int:
        """Classes of nodes that anchored features meet; 0 without any."""
        if not self.anchors:
            return 0
        if self.anchor_by == "rule":
            return len(productions.binary) + len(productions.unary)
        return 2 * len(productions.labels)

    def validate(self) -> None:
        """Rules and anchored features fit together and have `dim` weights."""
        check_types(self)
        self._check()
        self.anchored.validate()
        if self.productions is None:
            require(self.dim == 0, "there are no rules")
            return
        known = self.productions
        known.validate(self.anchor_by == "rule")
        require(len(known.root) > 0, "no symbol can be the root")
        require(self.anchored.templates == self.anchors, "templates differ")
        require(self.anchored.classes == self._classes(known), "classes differ")
        complete = len(self.anchored.values) == len(self.anchored._local())
        require(complete, "a template lacks its values")
        dim = known.size + self.anchored.size
        require(self.dim == dim, f"dim={self.dim} is not {dim}")

    def encode(self, X: Sequence[Any]) -> GrammarInputs:
        """Sentences as flat arrays; tags never seen are warned of: there is no parse."""
        known = self._productions
        tokens = self._tokens(X)
        number = {s.label: a for a, s in enumerate(known.symbols) if s.tag}
        entries: list[list[tuple[int, int]]] = []
        unseen: list[str] = []
        for i, sentence in enumerate(tokens):
            for t, (word, tag) in enumerate(sentence):
                if self._lexical:
                    term = known.term(word)
                    tags = known.words.get(term, [])
                    entries.append([(a, known.lexical[a, term]) for a in tags])
                else:
                    entries.append([(number[tag], -1)] if tag in number else [])
                    if tag not in number:
                        unseen.append(f"sentence {i}, token {t}: {tag!r}")
        if unseen and len(unseen) == len(entries) and len(unseen) > 1:
            raise ValueError(
                f"{unseen[0]}: no training tree has this tag, nor any other tag of these "
                "sentences. The model parses tags: give (word, tag) pairs, word/TAG in "
                "files, or train with terminals='words'"
            )
        if unseen:
            more = f" and {len(unseen) - 1} more" if len(unseen) > 1 else ""
            left = "no parse" if self.fallback == "none" else "a flat tree only"
            warnings.warn(
                f"{unseen[0]}{more}: tags that no training tree has, so there is {left}",
                stacklevel=2,
            )
        flat = np.array([e for word in entries for e in word], np.int32).reshape(-1, 2)
        return GrammarInputs(
            pointers([len(sentence) for sentence in tokens]),
            pointers([len(word) for word in entries]),
            np.ascontiguousarray(flat[:, 0]),
            np.ascontiguousarray(flat[:, 1]),
            self.anchored.encode(tokens),
            tokens,
        )

    def encode_labels(self, x: GrammarInputs, Y: Sequence[Tree]) -> Ragged:
        """Trees as rows of nodes; ValueError where a rule is not in the grammar."""
        rows = []
        for i, tree in enumerate(Y):
            node = checked_tree(i, tree, x.tokens[i], self._shape)
            rows.append(tree_row(i, node, self._productions, self._lexical))
        return Ragged.pack(rows)

    def decode_labels(self, x: GrammarInputs, labels: Ragged) -> list[Tree | None]:
        """Rows of nodes back to trees of the treebank."""
        out: list[Tree | None] = []
        for row, tokens in zip(labels.unpack(), x.tokens, strict=True):
            if row:
                out.append(row_tree(row, self._productions, tokens))
            elif self.fallback == "flat" and tokens:
                out.append(self._flat(tokens))
            else:
                out.append(None)
        return out

    def features(self, x: GrammarInputs, ids: Ints, labels: Ragged) -> Rows:
        """Counts of rules and anchored features."""
        rules = self._productions.rules
        first = x.ptr[ids] + ids
        ptr, idx = _features(
            *labels, first, rules.rule_class, rules.unary_class, *x.anchored,
            length_bin(np.arange(64)), self.anchored.has_length, self.anchored.classes,
            self._productions.size,
        )  # fmt: skip
        return Rows(ptr, idx, np.ones(len(idx)))

    def argmax(
        self, x: GrammarInputs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best tree of each sentence; an empty row and -inf where there is none."""
        rows, score = [], np.full(len(ids), -np.inf)
        if augment is None:
            for q, sentence in enumerate(self._sentences(x, ids, w)):
                found = parsing.k_best(sentence, 1, self.beam)
                rows.append(found[0].row if found else np.empty(0, np.int32))
                score[q] = found[0].score if found else -np.inf
            return Found(Ragged.pack(rows), score, score)
        truth = augment.truth.take(ids)
        truth_score = self.features(x, ids, truth).dot(w)
        for q, sentence in enumerate(self._sentences(x, ids, w)):
            right, weight = truth.row(q), float(augment.weight[ids[q]])
            tree = _worst(sentence, right, truth_score[q], weight, augment.loss)
            rows.append(tree.row)
            score[q] = tree.score
        labels = Ragged.pack(rows)
        score += augment.weight[ids] * augment.loss.value(truth, labels)
        return Found(labels, score, score)

    def argmax_by_loss(
        self, x: GrammarInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best tree per loss; those that no formulation could prefer are left out."""
        truth, loss = augment.truth.take(ids), augment.loss
        truth_score = self.features(x, ids, truth).dot(w)
        rows, score, sizes, which = [], [], [], []
        for q, sentence in enumerate(self._sentences(x, ids, w)):
            found = _by_loss(sentence, truth.row(q), truth_score[q], augment)
            rows += [tree.row for tree in found]
            score += [tree.score for tree in found]
            sizes.append(len(found))
            which += [q] * len(found)
        labels = Ragged.pack(rows)
        value = loss.value(truth.take(which), labels)
        return Layers(pointers(sizes), labels, np.array(score), value)

    def listed(self, loss: Loss) -> bool:
        """Only the zero-one loss, which adds the same to all trees but one."""
        return loss.form == "zero-one"

    def nbest(
        self,
        x: GrammarInputs,
        ids: Ints,
        w: Floats,
        k: int,
        augment: Augment | None = None,
    ) -> Layers:
        """The k best trees of each sentence, best first, without a loss."""
        if augment is not None:
            raise ValueError("the k best trees are those without a loss: leave it out")
        rows, score, sizes = [], [], []
        for sentence in self._sentences(x, ids, w):
            found = parsing.k_best(sentence, k)
            rows += [tree.row for tree in found]
            score += [tree.score for tree in found]
            sizes.append(len(found))
        return Layers(
            pointers(sizes), Ragged.pack(rows), np.array(score), np.zeros(len(score))
        )

    def work(self, x: GrammarInputs) -> Floats:
        """Rules tried: about n^3 / 6 pairs of spans, and some tens of rules each."""
        n = np.diff(x.ptr).astype(np.float64)
        return 1000.0 + n**3 / 6.0 * (10.0 + 0.05 * len(self._productions.rules.parent))

    def explain_pieces(self, x: GrammarInputs, i: int, row: Labels) -> Pieces:
        """One part per node: its rule and the words it spans."""
        nodes = row.reshape(-1, NODE)
        psi = self.features(x, np.full(len(nodes), i), Ragged.pack(nodes))
        rules, words = self._productions.names(), [word for word, _ in x.tokens[i]]
        names = [
            f"{rules[rule]} ({' '.join(words[start:end])})"
            for start, _, end, rule, _ in nodes.tolist()
        ]
        return Pieces(names, psi)

    def feature_names(self) -> list[str]:
        """Rules, then anchored features by class."""
        names = self._productions.names()
        labels = self._productions.labels
        if self.anchor_by == "rule":
            classes = names[
                : len(self._productions.binary) + len(self._productions.unary)
            ]
        else:
            classes = [*labels, *(f"{label}|" for label in labels)]
        return names + [f"{a} @ {c}" for a in self.anchored.names() for c in classes]

    @property
    def _productions(self) -> Productions:
        if self.productions is None:
            raise ValueError("this grammar has no rules yet: bind it to trees first")
        return self.productions

    @property
    def _lexical(self) -> bool:
        return self.terminals == "words"

    @property
    def _shape(self) -> BinaryShape:
        return BinaryShape(self.branching, self.horizontal, self.vertical, self.start)

    def _check(self) -> None:
        choices = {
            "terminals": ("tags", "words"),
            "branching": ("right", "left"),
            "anchor_by": ("label", "rule"),
            "fallback": ("none", "flat"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not one of {allowed}"
                )
        if self.horizontal is not None and self.horizontal < 0:
            raise ValueError(f"horizontal={self.horizontal} must be None or >= 0")
        if self.vertical < 1:
            raise ValueError(f"vertical={self.vertical} must be at least 1")
        if self.rare < 0:
            raise ValueError(f"rare={self.rare} must not be negative")
        if not self.beam > 0:
            raise ValueError(f"beam={self.beam} must be positive")
        check_templates(self.anchors)

    def _tokens(self, X: Sequence[Any]) -> list[list[tuple[str, str]]]:
        return [checked_tokens(i, s, not self._lexical) for i, s in enumerate(X)]

    def _flat(self, tokens: Sequence[tuple[str, str]]) -> Tree:
        """All words under the commonest root."""
        known = self._productions
        best = max(known.root, key=lambda a: known.count[known.root[a]])
        leaves = [(tag or self._common_tag(word), word) for word, tag in tokens]
        return (known.symbols[best].label, *leaves)

    def _common_tag(self, word: str) -> str:
        """The commonest tag of a word or its shape; of all words, if neither is known."""
        known, often = self._productions, Counter[int]()
        found = known.term(word)
        for (tag, term), rule in known.lexical.items():
            if found in (term, UNKNOWN):
                often[tag] += int(known.count[rule])
        return known.symbols[often.most_common(1)[0][0]].label

    def _sentences(
        self, x: GrammarInputs, ids: Ints, w: Floats
    ) -> Iterator[parsing.Sentence]:
        """Rules, scores and words of each sentence asked about."""
        known, rules = self._productions, self._productions.rules
        n_binary, n_unary = len(rules.parent), len(known.unary)
        rule, unary = w[:n_binary].copy(), w[n_binary : n_binary + n_unary].copy()
        root = np.full(len(known.symbols), -np.inf)
        roots = np.array(list(known.root), np.int64)
        root[roots] = w[rules.root_rule[roots]]
        score = np.where(x.rule >= 0, w[x.rule], 0.0)
        weight = self.anchored.weights(w[known.size :])
        for i in ids:
            first, last = x.ptr[i], x.ptr[i + 1]
            a, b = x.entry[first], x.entry[last]
            words = Words(
                x.entry[first : last + 1] - a, x.tag[a:b], x.rule[a:b], score[a:b]
            )
            tables = self.anchored.tables(weight, x.anchored, first + i, last - first)
            yield parsing.Sentence(rules, Scores(rule, unary, root, *tables), words)


def _worst(
    sentence: parsing.Sentence,
    truth: Labels,
    truth_score: float,
    weight: float,
    loss: Loss,
) -> parsing.Tree:
    """Best tree by  score + weight * loss."""
    if loss.form == "zero-one":
        other = parsing.best_other(sentence, truth, truth_score, weight)
        if other is None or other.score + weight <= truth_score:
            return parsing.Tree(truth, truth_score)
        return other
    assert isinstance(loss, BracketLoss)
    if loss.form == "brackets-f1":
        return worst_tree(sentence, truth, truth_score, loss, Violation(weight=weight))
    each = weight * float(loss.scale(Ragged.pack([truth]))[0])
    return parsing.best_linear(sentence, truth, Bonus(each, -2.0 * each))


def _by_loss(
    sentence: parsing.Sentence, truth: Labels, truth_score: float, augment: Augment
) -> list[parsing.Tree]:
    """Best tree for each loss that matters for the criterion, the truth first."""
    loss = augment.loss
    if loss.form == "zero-one":
        other = parsing.best_other(sentence, truth, truth_score, np.inf)
        return [parsing.Tree(truth, truth_score)] + ([other] if other else [])
    assert isinstance(loss, BracketLoss)
    g = int((truth.reshape(-1, NODE)[:, 4] >= 0).sum())
    if loss.form == "brackets-f1":
        found = [parsing.Tree(truth, truth_score, g)]
        for criterion in [augment.criterion] if augment.criterion else CRITERIA:
            found.append(worst_tree(sentence, truth, truth_score, loss, criterion))
    else:
        found = parsing.hamming_layers(sentence, truth, truth_score, loss)
    best: dict[float, parsing.Tree] = {}
    for tree in found:
        value = round(float(loss.of_counts(tree.m, tree.e, g)), 12)
        if value not in best or tree.score > best[value].score:
            best[value] = tree
    return [best[value] for value in sorted(best)]


@loop
def _features(
    ptr, data, first, rule_class, unary_class, start, end, split, bins, has_length,
    classes, offset,
):  # fmt: skip
    """Coordinates of psi of each row: rules, then anchored features of each node."""
    n_binary, n_inner = len(rule_class), len(rule_class) + len(unary_class)
    each = start.shape[1] + end.shape[1] + split.shape[1] + 1
    out_ptr = np.zeros(len(ptr), np.int64)
    idx = np.empty(len(data) // 5 * (1 + each), np.int32)
    size = 0
    for q in range(len(ptr) - 1):
        for p in range(ptr[q], ptr[q + 1], 5):
            i, k, j, rule = data[p], data[p + 1], data[p + 2], data[p + 3]
            idx[size] = rule
            size += 1
            if classes == 0 or rule >= n_inner:
                continue
            binary = rule < n_binary
            c = rule_class[rule] if binary else unary_class[rule - n_binary]
            if has_length:
                idx[size] = offset + bins[min(j - i, len(bins) - 1)] * classes + c
                size += 1
            for place in range(3):
                table, at = start, i
                if place == 1:
                    table, at = end, j
                elif place == 2:
                    table, at = split, k
                for t in range(table.shape[1] if place < 2 or binary else 0):
                    row = table[first[q] + at, t]
                    if row >= 0:
                        idx[size] = offset + row * classes + c
                        size += 1
        out_ptr[q + 1] = size
    return out_ptr, idx[:size].copy()
