"""Names of one or more words as a trie over numbered words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Ints, Labels
from maxmargin.features.encoding import loops


class PhraseTrie(NamedTuple):
    """Edges (node, word) as keys of a hash table; see `loops.phrase_codes`."""

    words: dict[str, int]
    lower: bool
    table: Ints
    ptr: Ints
    edges: Labels
    ends: NDArray[np.bool_]  # of each node: whether a name ends there

    @classmethod
    def of(cls, phrases: Iterable[str], lower: bool) -> Self:
        """The trie of names whose words are divided by single blanks."""
        words: dict[str, int] = {}
        edges: dict[tuple[int, int], int] = {}
        last: list[int] = []
        for phrase in phrases:
            node = 0
            for word in phrase.split(" "):
                edge = node, words.setdefault(word, len(words))
                node = edges.setdefault(edge, len(edges) + 1)
            last.append(node)
        data = np.array(list(edges), np.int32).reshape(-1)
        ptr = np.arange(len(edges) + 1, dtype=np.int64) * 2
        ends = np.zeros(len(edges) + 1, np.bool_)
        ends[last] = True
        table = loops.key_table(ptr, data)[0]
        return cls(words, lower, table, ptr, data, ends)

    def word_ids(self, strings: Iterable[str]) -> Labels:
        """Number of each string as a word, -1 if it is none."""
        get = self.words.get
        if self.lower:
            return np.array([get(s.lower(), -1) for s in strings], np.int32)
        return np.array([get(s, -1) for s in strings], np.int32)

    def codes(self, ptr: Ints, words: Labels) -> Labels:
        """Part of each token in a name: 0 none, 1 B, 2 I, 3 E, 4 S.

        Examples
        --------
        >>> trie = PhraseTrie.of(["buenos aires", "lima"], lower=True)
        >>> words = trie.word_ids(["de", "Buenos", "Aires", "a", "Lima"])
        >>> trie.codes(np.array([0, 5]), words).tolist()
        [0, 1, 3, 0, 4]
        """
        return loops.phrase_codes(
            ptr, words, self.table, self.ptr, self.edges, self.ends
        )
