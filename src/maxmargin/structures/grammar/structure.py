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

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.data.warned import warn
from maxmargin.core.formulations import CRITERIA, Violation
from maxmargin.core.jit import loop
from maxmargin.core.loss import Loss, LossForm
from maxmargin.core.structure import Augment, Found, Layers, Pieces, Structure
from maxmargin.inference.tree.chart import ALL, NODE, Bonus, Kept, Scores, Words
from maxmargin.losses.trees import BracketLoss
from maxmargin.structures.grammar import parsing
from maxmargin.structures.grammar.anchors import (
    Anchored,
    Anchors,
    check_templates,
    length_bin,
)
from maxmargin.structures.grammar.f1_parsing import worst_tree
from maxmargin.structures.grammar.smoothing import (
    Smoothed,
    best_smoothed,
    known_nodes,
    smoothed,
)
from maxmargin.structures.grammar.treebank.binarise import BinaryShape, Tree
from maxmargin.structures.grammar.treebank.productions import (
    UNKNOWN,
    Productions,
    classed_by_rule,
    read_productions,
)
from maxmargin.structures.grammar.treebank.tree_rows import (
    checked_tokens,
    checked_tree,
    row_tree,
    tree_row,
)


class SpanRows(NamedTuple):
    """Features of spans as rows of one matrix; several spans may share a row."""

    ptr: Ints  # (n + 1,) spans of each sentence, numbered as in `inference.tree.chart`
    row: Ints  # (spans,)
    vectors: Any  # dense or sparse matrix


class GrammarInputs(NamedTuple):
    """Encoded sentences."""

    ptr: Ints  # (n + 1,) words of each sentence
    entry: Ints  # (words + 1,) tags that each word may have
    tag: Labels  # (entries,) symbols
    rule: Labels  # (entries,) lexical rules, -1 where tags are given
    anchored: Anchored
    tokens: list[list[tuple[str, str]]]  # (word, tag)
    kept: tuple[Kept, ...] = ()  # parts that charts may have, where they are pruned
    spans: SpanRows | None = None  # features of spans, where a kernel compares them

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
    fallback : {"none", "flat", "smooth"}
        What a sentence without a parse becomes: None, a flat tree, or the tree with the
        fewest rules that training has not shown (`smoothing`).

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
        dim = self._weight_count(productions, anchored)
        return replace(self, productions=productions, anchored=anchored, dim=dim)

    def _weight_count(self, known: Productions, anchored: Anchors) -> int:
        return known.size + anchored.size

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
        dim = self._weight_count(known, self.anchored)
        require(self.dim == dim, f"dim={self.dim} is not {dim}")

    def encode(self, X: Sequence[Any]) -> GrammarInputs:
        """Sentences as flat arrays; a tag never seen may be any, with a warning."""
        known = self._productions
        tokens = self._tokens(X)
        number = {s.label: a for a, s in enumerate(known.symbols) if s.tag}
        any_tag = [(a, -1) for a in number.values()]
        entries: list[list[tuple[int, int]]] = []
        unseen: list[str] = []
        for i, sentence in enumerate(tokens):
            for t, (word, tag) in enumerate(sentence):
                if self._lexical:
                    term = known.term(word)
                    tags = known.words.get(term, [])
                    entries.append([(a, known.lexical[a, term]) for a in tags])
                elif tag in number:
                    entries.append([(number[tag], -1)])
                else:
                    _refuse_bare(i, t, X[i][t])
                    entries.append(any_tag)
                    unseen.append(f"sentence {i}, token {t}: {tag!r}")
        if unseen:
            more = f" and {len(unseen) - 1} more" if len(unseen) > 1 else ""
            warn(
                f"{unseen[0]}{more}: tags that no training tree has; each may stand for "
                "any other tag",
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
            elif self.fallback != "none" and tokens:
                out.append(self._flat(tokens))
            else:
                out.append(None)
        return out

    def features(self, x: GrammarInputs, ids: Ints, labels: Ragged) -> Rows:
        """Counts of rules and anchored features."""
        rules, labels = self._productions.rules, known_nodes(labels)
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
                rows.append(found[0].row if found else self._other_tree(sentence))
                score[q] = found[0].score if found else -np.inf
            return self._with_scores_of_others(x, ids, w, Ragged.pack(rows), score)
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
        truth = augment.truth.take(ids)
        truth_score = self.features(x, ids, truth).dot(w)
        rows, score, sizes = [], [], []
        for q, sentence in enumerate(self._sentences(x, ids, w)):
            found = _by_loss(sentence, truth.row(q), truth_score[q], augment)
            rows += [tree.row for tree in found]
            score += [tree.score for tree in found]
            sizes.append(len(found))
        trees = pointers(sizes), Ragged.pack(rows), np.array(score)
        return Layers.of(ids, *trees, augment)

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
            if not found and len(other := self._other_tree(sentence)):
                found = [parsing.Tree(other, -np.inf)]  # its score follows below
            rows += [tree.row for tree in found]
            score += [tree.score for tree in found]
            sizes.append(len(found))
        labels, who = Ragged.pack(rows), np.repeat(ids, sizes)
        scored = self._with_scores_of_others(x, who, w, labels, np.array(score))
        return Layers(pointers(sizes), labels, scored.score, np.zeros(len(score)))

    def _other_tree(self, sentence: parsing.Sentence) -> Labels:
        """A tree for a sentence without a parse, if that is asked for; else no node."""
        found = None
        if self.fallback == "smooth" and sentence.n > 0:
            found = best_smoothed(sentence, self._smoothed)
        return np.empty(0, np.int32) if found is None else found

    def _with_scores_of_others(
        self, x: GrammarInputs, ids: Ints, w: Floats, labels: Ragged, score: Floats
    ) -> Found:
        """Trees with their scores, also those that have rules without weights."""
        others = np.flatnonzero(np.isinf(score) & (labels.sizes > 0))
        if len(others):
            score[others] = self.features(x, ids[others], labels.take(others)).dot(w)
        return Found(labels, score, score)

    @cached_property
    def _smoothed(self) -> Smoothed:
        return smoothed(self._productions, self.anchored.classes)

    def work(self, x: GrammarInputs) -> Floats:
        """Rules tried: about n^3 / 6 pairs of spans, and some tens of rules each.

        A rule that is tried, with its loss, takes the time of some 20 multiply-adds
        (measured on sentences of up to 20 words).
        """
        n = np.diff(x.ptr).astype(np.float64)
        rules = len(self._productions.rules.parent)
        return 2e4 + n**3 / 6.0 * (200.0 + 1.0 * rules)

    def explain_pieces(self, x: GrammarInputs, i: int, row: Labels) -> Pieces:
        """One part per node: its rule and the words it spans."""
        nodes = row.reshape(-1, NODE)
        psi = self.features(x, np.full(len(nodes), i), Ragged.pack(nodes))
        rules, words = self._productions.names(), [word for word, _ in x.tokens[i]]
        rules.append("a rule that training has not shown")  # number -1
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
        return names + [f"{a} @ {c}" for a in self._anchor_names() for c in classes]

    def _anchor_names(self) -> list[str]:
        return self.anchored.names()

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
            "fallback": ("none", "flat", "smooth"),
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
        weight = self._anchor_weights(w[known.size :])
        shared = parsing.largest_of((rule, unary, root))
        for i in ids:
            first, last = x.ptr[i], x.ptr[i + 1]
            a, b = x.entry[first], x.entry[last]
            words = Words(
                x.entry[first : last + 1] - a, x.tag[a:b], x.rule[a:b], score[a:b]
            )
            tables = self._anchor_tables(weight, x, int(i))
            kept = x.kept[i] if x.kept else ALL
            scores = Scores(rule, unary, root, *tables)
            largest = max(shared, parsing.largest_of((*tables, words.score)))
            yield parsing.Sentence(rules, scores, words, largest, kept)

    def _anchor_weights(self, w: Floats) -> Floats:
        """Weights of anchored features as a matrix, a column for each class."""
        return self.anchored.weights(w)

    def _anchor_tables(self, weight: Floats, x: GrammarInputs, i: int) -> list[Floats]:
        """Scores of sentence i by start, end, span and split."""
        first, n = int(x.ptr[i]) + i, int(x.ptr[i + 1] - x.ptr[i])
        return self.anchored.tables(weight, x.anchored, first, n)


def _refuse_bare(i: int, t: int, token: Any) -> None:
    """Refuse a string that is no tag of the grammar: probably a word without its tag."""
    if isinstance(token, str):
        raise ValueError(
            f"sentence {i}, token {t}: {token!r} is not a tag of the training trees. The model "
            "parses tags: give (word, tag) pairs, word/TAG in files, or train with "
            "tagger='chain' or terminals='words'"
        )


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
