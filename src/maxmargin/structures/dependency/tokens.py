"""Words, tags and endings of sentences as numbers.

A token is a word, or a (word, tag) pair. Where tags are missing, the ending of a word
stands for its tag. Numbers 0, 1 and 2 stand for what is outside the sentence, for the
root, and for anything that training has not shown often enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, pointers
from maxmargin.core.data.tokens.sequences import is_tagged_word
from maxmargin.core.data.validation import check_distinct, check_types, require

Token = tuple[str, str]  # word, tag

OUTSIDE, ROOT, UNKNOWN, FIRST = 0, 1, 2, 3
SPECIAL = ("<outside>", "<root>", "<unknown>")
MOST_WORDS, MOST_TAGS = 2**18, 2**9  # numbers that fit into the key of a feature
ENDING = 3  # letters


class TokenCodes(NamedTuple):
    """Tokens as numbers; each sentence has one place for its root in front."""

    ptr: Ints  # (n + 1,) tokens of each sentence, roots left out
    word: Labels
    tag: Labels
    ending: Labels


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What training has shown: number k + 3 stands for entry k."""

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()

    def validate(self) -> None:
        """Distinct entries whose numbers fit into the keys of features."""
        check_types(self)
        limits = (MOST_WORDS, MOST_TAGS, MOST_WORDS)
        named = zip(("words", "tags", "endings"), limits, strict=True)
        for (name, most), entries in zip(named, self._columns, strict=True):
            check_distinct(entries, name)
            require(len(entries) + FIRST <= most, f"there are {len(entries)} {name}")

    @property
    def _columns(self) -> tuple[tuple[str, ...], ...]:
        return self.words, self.tags, self.endings

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], ...]:
        return tuple(
            {entry: FIRST + k for k, entry in enumerate(column)}
            for column in self._columns
        )

    def encode(self, sentences: Sequence[Sequence[Token]]) -> TokenCodes:
        """Numbers of all tokens."""
        rows: list[tuple[int, ...]] = []
        for sentence in sentences:
            rows.append((ROOT, ROOT, ROOT))
            rows += [self._token(word, tag) for word, tag in sentence]
        table = np.array(rows, np.int32).reshape(-1, 3).T.copy()
        return TokenCodes(pointers([len(s) for s in sentences]), *table)

    def _token(self, word: str, tag: str) -> tuple[int, ...]:
        parts = (word, tag, ending(word))
        known = zip(parts, self._numbers, strict=True)
        return tuple([numbers.get(part, UNKNOWN) for part, numbers in known])

    def name(self, column: int, number: int) -> str:
        """What a number stands for, in column 0 (words), 1 (tags) or 2 (endings)."""
        if number < FIRST:
            return SPECIAL[number]
        entry = self._columns[column][number - FIRST]
        return f"-{entry}" if column == 2 else entry


def read_vocabulary(sentences: Sequence[Sequence[Token]], rare: int) -> Vocabulary:
    """Words and endings seen more than `rare` times, and all tags.

    Examples
    --------
    >>> read_vocabulary([[("a", "DT"), ("dog", "NN")], [("a", "DT")]], rare=1)
    Vocabulary(words=('a',), tags=('DT', 'NN'), endings=('a',))
    """
    tokens = [token for sentence in sentences for token in sentence]
    return Vocabulary(
        _frequent((word for word, _ in tokens), rare, MOST_WORDS),
        _frequent((tag for _, tag in tokens), 0, MOST_TAGS),
        _frequent((ending(word) for word, _ in tokens), rare, MOST_WORDS),
    )


def _frequent(entries: Iterable[str], rare: int, most: int) -> tuple[str, ...]:
    """Entries seen more than `rare` times, the most frequent if there are too many."""
    counts = Counter(entries)
    kept = sorted((-k, entry) for entry, k in counts.items() if k > rare)
    return tuple(sorted(entry for _, entry in kept[: most - FIRST]))


def ending(word: str) -> str:
    """The last letters of a word.

    Examples
    --------
    >>> ending("Parsing"), ending("is")
    ('ing', 'is')
    """
    return word[-ENDING:].lower()


def checked_sentence(i: int, sentence: Any) -> list[Token]:
    """(word, tag) pairs of sentence i."""
    if isinstance(sentence, str):
        raise ValueError(
            f"sentence {i} is one string, {sentence!r:.40}: give a list of words or of "
            "(word, tag) pairs"
        )
    if isinstance(sentence, Mapping | Set) or not hasattr(sentence, "__iter__"):
        raise ValueError(
            f"sentence {i} is a {type(sentence).__name__}, not a list of words or of "
            "(word, tag) pairs"
        )
    sentence, out = list(sentence), []
    for t, token in enumerate(sentence):
        if isinstance(token, str) != isinstance(sentence[0], str):
            raise ValueError(
                f"sentence {i}, token {t}: {token!r:.40} stands beside {sentence[0]!r:.40}: "
                "give all words a tag, or none"
            )
        if isinstance(token, str):
            out.append((str(token), f"-{ending(token)}"))
        elif is_tagged_word(token):
            out.append((str(token[0]), str(token[1])))
        else:
            raise ValueError(
                f"sentence {i}, token {t}: {token!r:.40} is neither a word nor a "
                "(word, tag) pair"
            )
    return out
