"""Sentences as arrays: features of tokens, features of segments, and words.

Tokens come in the forms that chains take (`structures.chain.tokens`), or as strings or
rows of columns whose features are made by templates (`maxmargin.features`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from maxmargin.core.data.arrays import Ints, Ragged, Vectors
from maxmargin.core.data.tokens.sequences import place
from maxmargin.features.templates import Templates
from maxmargin.structures.chain.tokens.token_rows import Gathered, gather


class SegmentInputs(NamedTuple):
    """Encoded inputs: tokens of all sentences as rows, and features of segments."""

    vectors: Vectors  # of tokens
    pieces: Ragged  # row t * widest + w: features of the w + 1 tokens from t on
    ptr: Ints  # (n + 1,) first token of each sentence

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.ptr) - 1


class Sentences(NamedTuple):
    """Tokens as they were given, and their words where they are known."""

    tokens: Gathered | None  # None: templates read the sentences themselves
    words: list[str] | None
    ptr: Ints


def read_sentences(X: Any, templates: Templates | None, key: str | None) -> Sentences:
    """Sentences in any known form; `key` says where the word of a token is.

    Examples
    --------
    >>> read_sentences([[{"w": "Ana", "cap": True}]], None, "w").words
    ['Ana']
    >>> read_sentences([[["w=Ana", "cap"]]], None, "w=").words
    ['Ana']
    """
    if templates is not None:
        columns = templates.sentences(X)
        column = 0
        if key is not None:
            if key not in templates.columns:
                raise ValueError(
                    f"words={key!r} is not a column of the templates: they have "
                    f"{', '.join(map(repr, templates.columns)) or 'no names'}"
                )
            column = templates.columns.index(key)
        words = columns.column(column)
        every = [words[k] for k in columns.number.tolist()]
        return Sentences(None, every, columns.ptr)
    tokens = gather(X)
    named = tokens.named
    if tokens.matrix is not None:
        if key is not None and len(tokens.ptr) > 1 and tokens.ptr[-1] > 0:
            raise ValueError(f"words={key!r}: tokens are rows of numbers, not of words")
        return Sentences(tokens, None, tokens.ptr)
    if key is None:
        plain = set(map(type, named)) == {str}
        return Sentences(tokens, list(named) if plain else None, tokens.ptr)
    return Sentences(
        tokens,
        [_word(t, named, key, tokens.ptr) for t in range(len(named))],
        tokens.ptr,
    )


def _word(t: int, named: list[Any], key: str, ptr: Ints) -> str:
    """The word of token t: by key of a dict, or what follows a prefix in a list."""
    token = named[t]
    if isinstance(token, Mapping):
        word = token.get(key)
        if isinstance(word, str):
            return word
        what = "is missing" if word is None else f"is of type {type(word).__name__}"
        raise ValueError(f"{place(t, ptr)}: the word, feature {key!r}, {what}")
    for name in (token,) if isinstance(token, str) else token:
        if isinstance(name, str) and name.startswith(key):
            return name[len(key) :]
    raise ValueError(
        f"{place(t, ptr)}: no feature begins with {key!r}, as the word should"
    )


def selected(x: SegmentInputs, start: int, stop: int, widest: int) -> SegmentInputs:
    """Some neighbouring sentences; their entries are views."""
    a, b = int(x.ptr[start]), int(x.ptr[stop])
    rows = x.pieces.ptr[a * widest : b * widest + 1]
    data = x.pieces.data[int(rows[0]) : int(rows[-1])]
    pieces = Ragged(rows - rows[0], data)
    return SegmentInputs(x.vectors.slice(a, b), pieces, x.ptr[start : stop + 1] - a)
