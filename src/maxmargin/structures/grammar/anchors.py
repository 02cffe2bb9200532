"""Anchored features: features of a rule that depend on where it is applied.

For a rule of class c over the words i .. j - 1, split at k, each template t adds one
feature (t, value, c), whose value depends on one position only:

    "length"                  j - i, in bins
    "before" "first" "starts" the tags i - 1, i, and both
    "last" "after" "ends"     the tags j - 1, j, and both
    "split"                   the tags k - 1 and k                  (binary rules)

and "word:first" etc. use the word instead (its tag where the word is rare). So the
scores of all spans are sums of one row of numbers per start, end, length and split.
`kernel_structure` compares the features of spans by a kernel instead.
Classes are labels of nodes, or single rules. Values not seen at training have no feature.

[1] Tsochantaridis et al. 2005, section 4.5.1, last paragraph; Taskar et al. 2004b.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels
from maxmargin.core.data.validation import check_distinct, check_types, require
from maxmargin.structures.grammar.treebank.productions import shape

PLACES = {
    "length": "length",
    "before": "start",
    "first": "start",
    "starts": "start",
    "last": "end",
    "after": "end",
    "ends": "end",
    "split": "split",
}
_NEAR = {  # which neighbours of the position
    "before": (-1,),
    "first": (0,),
    "starts": (-1, 0),
    "last": (-1,),
    "after": (0,),
    "ends": (-1, 0),
    "split": (-1, 0),
}
LENGTHS = np.array([0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6] + [7] * 10 + [8], np.int32)
BINS = 9
EDGE = "<edge>"


class Anchored(NamedTuple):
    """Values of all positions: position t of sentence i is row ptr[i] + i + t."""

    start: Labels  # (positions, templates) row of the weights, or -1
    end: Labels
    split: Labels


@dataclass(frozen=True)
class Anchors:
    """Templates, the values seen of each, and the classes they meet."""

    templates: tuple[str, ...] = ()
    classes: int = 0
    values: tuple[tuple[tuple[str, ...], ...], ...] = ()  # per template, but length
    words: frozenset[str] = frozenset()  # words that are not rare

    def validate(self) -> None:
        """Known templates, and distinct values of each."""
        check_types(self)
        check_templates(self.templates)
        require(self.classes >= 0, f"classes={self.classes} is negative")
        count = len(self.values)
        require(count in (0, len(self._local())), "a template lacks its values")
        for template, values in zip(self._local(), self.values):
            check_distinct(values, f"values of {template!r}")

    @property
    def rows(self) -> int:
        """Number of values of all templates together."""
        return sum(map(len, self.values)) + BINS * self.has_length

    @property
    def size(self) -> int:
        """Number of features."""
        return self.rows * self.classes

    @property
    def has_length(self) -> bool:
        """Whether the length of spans matters."""
        return "length" in self.templates

    def bind(
        self, sentences: Sequence[Sequence[tuple[str, str]]], rare: int
    ) -> Anchors:
        """Know the values that occur; sentences are lists of (word, tag)."""
        count = Counter(word for sentence in sentences for word, _ in sentence)
        words = frozenset(word for word, n in count.items() if n > rare)
        bare = Anchors(self.templates, self.classes, words=words)
        values = []
        for template in self._local():
            seen = {
                bare.value(template, s, t) for s in sentences for t in range(len(s) + 1)
            }
            values.append(tuple(sorted(seen)))
        return Anchors(self.templates, self.classes, tuple(values), words)

    def encode(self, sentences: Sequence[Sequence[tuple[str, str]]]) -> Anchored:
        """Rows of weights that each position of each sentence meets."""
        lookup, row = {}, BINS * self.has_length
        for template, values in zip(self._local(), self.values, strict=True):
            for value in values:
                lookup[template, value] = row
                row += 1
        tables: dict[str, list[list[int]]] = {"start": [], "end": [], "split": []}
        for s in sentences:
            for t in range(len(s) + 1):
                for place, table in tables.items():
                    table.append(
                        [
                            lookup.get((template, self.value(template, s, t)), -1)
                            for template in self._local()
                            if PLACES[_bare(template)] == place
                        ]
                    )
        return Anchored(*(_matrix(tables[p]) for p in ("start", "end", "split")))

    def value(
        self, template: str, sentence: Sequence[tuple[str, str]], t: int
    ) -> tuple[str, ...]:
        """What a template says of position t."""
        out = []
        for step in _NEAR[_bare(template)]:
            if 0 <= t + step < len(sentence):
                word, tag = sentence[t + step]
                named = template.startswith("word:") and word in self.words
                out.append(word if named else f"/{tag or shape(word)}")
            else:
                out.append(EDGE)
        return tuple(out)

    def weights(self, w: Floats) -> Floats:
        """Weights as (rows + 1, classes); the last row is for values not seen."""
        out = np.zeros((self.rows + 1, self.classes))
        out[:-1] = w.reshape(self.rows, self.classes)
        return out

    def tables(self, weight: Floats, x: Anchored, first: int, n: int) -> list[Floats]:
        """Scores by start, end, span and split of the sentence at row `first`."""
        where = slice(first, first + n + 1)
        out = [weight[x.start[where]].sum(axis=1), weight[x.end[where]].sum(axis=1)]
        start, end = spans_of(n)
        bins = length_bin(end - start) if self.has_length else np.full(len(end), -1)
        return [*out, weight[bins], weight[x.split[where]].sum(axis=1)]

    def names(self) -> list[str]:
        """Each row of weights as text."""
        out = [f"length bin {b}" for b in range(BINS * self.has_length)]
        for template, values in zip(self._local(), self.values, strict=True):
            out += [f"{template} {' '.join(value)}" for value in values]
        return out

    def _local(self) -> list[str]:
        return [t for t in self.templates if t != "length"]


def check_templates(templates: Sequence[str]) -> None:
    """ValueError that names the template that is not known."""
    for template in templates:
        if _bare(template) not in PLACES or template == "word:length":
            known = ", ".join(PLACES)
            raise ValueError(
                f"anchors: {template!r} is not one of {known} (or word: and one of them)"
            )


def length_bin(length: np.ndarray) -> Labels:
    """Bin of a span's length: 1, 2, 3, 4, 5-6, 7-10, 11-20, more."""
    return LENGTHS[np.minimum(length, len(LENGTHS) - 1)]


@lru_cache(maxsize=256)
def spans_of(n: int) -> tuple[Ints, Ints]:
    """Starts and ends of all spans of n words, in the order of `inference.tree.chart`.

    Examples
    --------
    >>> [part.tolist() for part in spans_of(2)]
    [[0, 1, 0], [1, 2, 2]]
    """
    pairs = [(i, j) for j in range(1, n + 1) for i in range(j - 1, -1, -1)]
    start, end = np.array(pairs, np.int64).reshape(-1, 2).T
    return start, end


def _bare(template: str) -> str:
    return template.removeprefix("word:")


def _matrix(rows: list[list[int]]) -> Labels:
    width = len(rows[0]) if rows else 0
    return np.array(rows, np.int32).reshape(len(rows), width)
