"""Features of whole segments: which there are, and which ones a segment has.

A feature is a path in a trie: the number of its family, then numbers of words or shapes.

| family        | path                                   | in words                         |
|---------------|----------------------------------------|----------------------------------|
| "length"      | number of tokens                       | how long the segment is          |
| "phrase"      | all words                              | the segment as a whole           |
| "shape"       | shapes of all words                    | Xx de Xx: how it is written      |
| "before"      | the word before                        |                                  |
| "after"       | the word after                         |                                  |
| "around"      | the words before and after             |                                  |
| "ends"        | first and last word, if there are two  |                                  |
| "gazetteer:N" | all words                              | it is a name in the gazetteer    |

Words are in lower case. Features are those of the true segments of the training data,
which may occur at any other segment, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, Ragged
from maxmargin.core.data.validation import LARGEST, check_range, check_types, require
from maxmargin.core.jit import inner_loop, loop
from maxmargin.features.encoding.strings import Strings
from maxmargin.features.steps import shape
from maxmargin.features.tables import Gazetteer

FAMILIES = ("length", "phrase", "shape", "before", "after", "around", "ends")
GAZETTEER = "gazetteer:"


class WordIds(NamedTuple):
    """Words and shapes of all tokens by number, -1 where they are not known."""

    words: Labels
    shapes: Labels


class Trie(NamedTuple):
    """Edges by (node, symbol) in rising order; nodes 0 .. families - 1 are the roots."""

    keys: Ints  # node * symbols + symbol
    child: Ints
    column: Ints  # (nodes,) the feature that ends there, or -1
    symbols: int


@dataclass(frozen=True, eq=False)
class SegmentVocabulary:
    """The features of segments that a model knows.

    Parameters
    ----------
    families : tuple of str
        See the module docstring.
    words, shapes : Strings
        Words in lower case, and shapes.
    paths : Ragged
        Family and symbols of each path.
    columns : array (paths,)
        Which feature each path stands for: names of a gazetteer share one.

    Examples
    --------
    >>> ptr, spans = np.array([0, 4]), np.array([[1, 3]])
    >>> known = SegmentVocabulary.learn(
    ...     ("length", "phrase"), (), ["vive", "Ana", "Ruiz", "."], ptr, spans, 2)
    >>> known.names()
    ['length=2', 'phrase=ana ruiz']
    >>> known.encode(["Ana", "Ruiz"], np.array([0, 2]), 2).unpack()
    [[], [0, 1], [], []]
    """

    families: tuple[str, ...]
    words: Strings
    shapes: Strings
    paths: Ragged
    columns: Ints

    @classmethod
    def learn(
        cls,
        families: Sequence[str],
        gazetteers: Sequence[Gazetteer],
        words: Sequence[str] | None,
        ptr: Ints,
        spans: Ints,
        widest: int,
    ) -> Self:
        """Features of the segments `spans`, rows of (first token, token after the last).

        Without words, length is the only feature.
        """
        known = [f for f in families if words is not None or f == "length"]
        paths: dict[tuple[int, ...], int] = {}
        low, kinds = Numbers(), Numbers()
        texts = [] if words is None else [low.of(word.lower()) for word in words]
        forms = [] if words is None else [kinds.of(shape(word)) for word in words]
        outside = -2  # numbered last, below
        edges = set(ptr.tolist())
        for a, b in spans.tolist():
            before = outside if a in edges else texts[a - 1] if texts else outside
            after = outside if b in edges else texts[b] if texts else outside
            for f, name in enumerate(known):
                path = _path(name, a, b, texts, forms, before, after)
                if path is not None:
                    paths.setdefault((f, *path), len(paths))
        n = len(paths)
        for g, gazetteer in enumerate(gazetteers if words is not None else ()):
            for phrase in gazetteer.phrases:
                path = tuple(map(low.of, phrase.split(" ")))
                if len(path) <= widest:
                    paths[len(known) + g, *path] = n + g
        names = [f"{GAZETTEER}{g.name}" for g in gazetteers if words is not None]
        last = len(low.found)
        rows = [[last if s == outside else s for s in path] for path in paths]
        return cls(
            (*known, *names), Strings.of(low.found), Strings.of(kinds.found),
            Ragged.pack(rows), np.array(list(paths.values()), np.int64),
        )  # fmt: skip

    def validate(self) -> None:
        """Paths stay within families, words and shapes; features are numbered."""
        check_types(self)
        self.words.validate()
        self.shapes.validate()
        self.paths.validate()
        plain = [f for f in self.families if not f.startswith(GAZETTEER)]
        require(set(plain) <= set(FAMILIES), "a family of features is not known")
        require(plain == list(self.families[: len(plain)]), "families are mixed up")
        require(len(set(self.families)) == len(self.families), "a family comes twice")
        require(len(self.columns) == self.paths.n, "a path has no feature")
        require((self.paths.sizes > 1).all(), "a path is too short")
        roots = self.paths.data[self.paths.ptr[:-1]]
        check_range(roots, 0, len(self.families), "family")
        inner = np.delete(self.paths.data, self.paths.ptr[:-1])
        known = {"length": LARGEST, "shape": len(self.shapes)}
        most = [known.get(name, len(self.words) + 1) for name in self.families]
        bound = np.array(most, np.int64)[np.repeat(roots, self.paths.sizes - 1)]
        require(((inner >= 0) & (inner < bound)).all(), "a word or shape is not known")
        used = np.unique(self.columns)
        require(np.array_equal(used, np.arange(len(used))), "features are misnumbered")

    @property
    def n(self) -> int:
        """Number of features."""
        return int(self.columns.max(initial=-1)) + 1

    @property
    def reads_words(self) -> bool:
        """Whether any feature looks at words."""
        return self.families not in ((), ("length",))

    @property
    def _symbols(self) -> int:
        longest = (
            int(self.paths.data.max(initial=0)) if "length" in self.families else 0
        )
        return max(len(self.words) + 1, len(self.shapes), longest + 1, 1)

    @cached_property
    def trie(self) -> Trie:
        """The paths as a trie."""
        edges: dict[int, int] = {}
        symbols, roots = self._symbols, len(self.families)
        last = []
        for path in self.paths.unpack():
            node = path[0]
            for symbol in path[1:]:
                node = edges.setdefault(node * symbols + symbol, roots + len(edges))
            last.append(node)
        keys = np.array(list(edges), np.int64)
        child = np.array(list(edges.values()), np.int64)
        order = np.argsort(keys)
        column = np.full(roots + len(edges), -1, np.int64)
        column[last] = self.columns
        return Trie(keys[order], child[order], column, symbols)

    @cached_property
    def _roots(self) -> tuple[Ints, Ints]:
        """Root of each of FAMILIES, -1 if it is not used, and those of gazetteers."""
        where = {name: f for f, name in enumerate(self.families)}
        own = np.array([where.get(name, -1) for name in FAMILIES], np.int64)
        gazetteers = [f for name, f in where.items() if name.startswith(GAZETTEER)]
        return own, np.array(gazetteers, np.int64)

    def encode(self, words: Sequence[str] | None, ptr: Ints, widest: int) -> Ragged:
        """Features of all segments; row t * widest + w has those of w + 1 tokens from t."""
        ids = self._ids(words, int(ptr[-1]))
        rows, data = _segment_features(
            ptr, *ids, len(self.words), widest, *self._roots, *self.trie
        )
        return Ragged(rows, data)

    def _ids(self, words: Sequence[str] | None, n: int) -> WordIds:
        if words is None or not self.reads_words:
            none = np.full(n, -1, np.int32)
            return WordIds(none, none)
        types = dict.fromkeys(words)
        low, kinds = self.words.index, self.shapes.index
        number = {word: j for j, word in enumerate(types)}
        flat = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
        texts = np.array([low.get(word.lower(), -1) for word in types], np.int32)
        forms = np.array([kinds.get(shape(word), -1) for word in types], np.int32)
        return WordIds(texts[flat], forms[flat])

    def names(self) -> list[str]:
        """Name of each feature."""
        out = [""] * self.n
        for path, column in zip(self.paths.unpack(), self.columns.tolist()):
            out[column] = out[column] or self._name(self.families[path[0]], path[1:])
        return out

    def _name(self, family: str, symbols: Sequence[int]) -> str:
        if family.startswith(GAZETTEER):
            return f"gazetteer={family.removeprefix(GAZETTEER)}"
        if family == "length":
            return f"length={symbols[0]}"
        if family == "shape":
            return "shape=" + " ".join(self.shapes[s] for s in symbols)
        words = [self.words[s] if s < len(self.words) else "_" for s in symbols]
        between = {"around": " .. ", "ends": " .. "}.get(family, " ")
        return f"{family}={between.join(words)}"


class Numbers:
    """Numbers of strings in order of first sight."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Number of a string, a new one if it was not seen before."""
        return self.found.setdefault(text, len(self.found))


def _path(
    family: str, a: int, b: int, texts: list[int], forms: list[int], before: int,
    after: int,
) -> Iterable[int] | None:  # fmt: skip
    """Symbols of the feature that the segment a .. b - 1 has in a family."""
    if family == "length":
        return (b - a,)
    if family == "phrase":
        return texts[a:b]
    if family == "shape":
        return forms[a:b]
    if family == "ends":
        return (texts[a], texts[b - 1]) if b - a > 1 else None
    return {"before": (before,), "after": (after,), "around": (before, after)}[family]


@loop
def _segment_features(
    ptr, words, shapes, outside, W, roots, lists, keys, child, column, symbols
):
    n = ptr[len(ptr) - 1]
    rows = np.zeros(n * W + 1, np.int64)
    most, names = 7 + len(lists), np.empty(len(lists), np.int64)
    out, m = np.empty(min(n * W * most, n * W * 2 + 1024), np.int32), 0
    for i in range(len(ptr) - 1):
        begin, end = ptr[i], ptr[i + 1]
        for t in range(begin, end):
            if m + W * most > len(out):
                more = np.empty(2 * len(out) + W * most, np.int32)
                for j in range(m):
                    more[j] = out[j]
                out = more
            before = outside if t == begin else np.int64(words[t - 1])
            left = _step(roots[5], before, keys, child, symbols)
            lead = _step(roots[6], np.int64(words[t]), keys, child, symbols)
            alone = _step(roots[3], before, keys, child, symbols)
            phrase, form = roots[1], roots[2]
            for g in range(len(lists)):
                names[g] = lists[g]
            for w in range(W):
                s = t + w
                if s < end:
                    word = np.int64(words[s])
                    after = outside if s + 1 == end else np.int64(words[s + 1])
                    phrase = _step(phrase, word, keys, child, symbols)
                    form = _step(form, np.int64(shapes[s]), keys, child, symbols)
                    m = _put(
                        _step(roots[0], w + 1, keys, child, symbols), column, out, m
                    )
                    m = _put(phrase, column, out, m)
                    m = _put(form, column, out, m)
                    m = _put(alone, column, out, m)
                    m = _put(
                        _step(roots[4], after, keys, child, symbols), column, out, m
                    )
                    m = _put(_step(left, after, keys, child, symbols), column, out, m)
                    if w > 0:
                        node = _step(lead, word, keys, child, symbols)
                        m = _put(node, column, out, m)
                    for g in range(len(names)):
                        names[g] = _step(names[g], word, keys, child, symbols)
                        m = _put(names[g], column, out, m)
                rows[t * W + w + 1] = m
    return rows, out[:m].copy()


@inner_loop
def _put(node, column, out, m):
    """Append the feature that ends at a node, if any."""
    if node < 0 or column[node] < 0:
        return m
    out[m] = column[node]
    return m + 1


@inner_loop
def _step(node, symbol, keys, child, symbols):
    """Child of a node, or -1."""
    if node < 0 or symbol < 0 or symbol >= symbols:
        return np.int64(-1)
    key, low, high = node * symbols + symbol, 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < len(keys) and keys[low] == key:
        return child[low]
    return np.int64(-1)
