"""Sentences given as lists of strings or rows, as columns of one flat list each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Ints
from maxmargin.core.sequences import place


class TokenColumns(NamedTuple):
    """Tokens of all sentences one after the other.

    A token is a string (one column) or a row of strings: a tuple, a list, or a dict by
    the names of the columns.
    """

    tokens: list[Any]
    ptr: Ints  # (n + 1,) first token of each sentence
    single: bool  # tokens are strings, not rows
    names: tuple[str, ...]  # keys of the columns if rows are dicts

    def column(self, c: int) -> Iterable[Any]:
        """What stands in column c of each token."""
        if self.single:
            return self.tokens
        return map(itemgetter(self.names[c] if self.names else c), self.tokens)

    def strings(self, c: int, some: Ints) -> list[str]:
        """What stands in column c of some tokens; refuses what is not a string."""
        tokens, key = self.tokens, self.names[c] if self.names else c
        texts = [tokens[t] if self.single else tokens[t][key] for t in some.tolist()]
        for t, text in zip(some.tolist(), texts):
            if not isinstance(text, str):
                raise ValueError(
                    f"{place(t, self.ptr)}, column {key}: {text!r:.40} is of "
                    f"type {type(text).__name__}, not a string"
                )
        return texts


def sentences_of(
    X: Any, width: int, columns: Sequence[str], reader: str
) -> TokenColumns:
    """Sentences whose tokens have at least `width` columns, as `reader` needs them.

    Raises
    ------
    ValueError
        With the sentence and the token, if a row is shorter or of another kind.
    """
    rows = X if isinstance(X, list) else list(X)
    for i, row in enumerate(rows):
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Sequence):
            raise ValueError(
                f"sentence {i} is a {type(row).__name__}, not a list of tokens"
            )
    tokens = list(chain.from_iterable(rows))
    ptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=ptr[1:])
    kinds = set(map(type, tokens))
    if kinds == {dict}:
        return TokenColumns(tokens, ptr, False, _keys(tokens, ptr, width, columns))
    if not (kinds <= {str} or kinds <= {tuple, list}):
        _check_kinds(tokens, ptr)
    if not tokens or isinstance(tokens[0], str):
        if width > 1 and tokens:
            raise ValueError(
                f"{reader} reads column {width - 1}, but {place(0, ptr)} is a single "
                f"string, {tokens[0]!r}: give rows of {width} strings"
            )
        return TokenColumns(tokens, ptr, True, ())
    sizes = set(map(len, tokens))
    if len(sizes) > 1 or min(sizes) < width:
        _check_sizes(tokens, ptr, width, reader)
    return TokenColumns(tokens, ptr, False, ())


def _keys(
    tokens: list[dict[str, Any]], ptr: Ints, width: int, columns: Sequence[str]
) -> tuple[str, ...]:
    """Names of the columns of dicts, all of which must have them."""
    if len(columns) < width:
        raise ValueError(
            "tokens are dicts: give Templates the names of their columns, "
            "Templates(.., columns=[..])"
        )
    for t, token in enumerate(tokens):
        missing = [name for name in columns[:width] if name not in token]
        if missing:
            raise ValueError(f"{place(t, ptr)} has no column {missing[0]!r}")
    return tuple(columns)


def _check_kinds(tokens: list[Any], ptr: Ints) -> None:
    """Refuse tokens of different kinds; named tuples and the like are rows."""
    single = isinstance(tokens[0], str)
    for t, token in enumerate(tokens):
        row = isinstance(token, Sequence) and not isinstance(token, str | bytes)
        if single if row else not (single and isinstance(token, str)):
            expected = "a string" if single else "a row of strings"
            raise ValueError(
                f"{place(t, ptr)} is of type {type(token).__name__}, where "
                f"{expected} is expected"
            )


def _check_sizes(tokens: list[Any], ptr: Ints, width: int, reader: str) -> None:
    """Refuse rows of different lengths, and rows that are too short."""
    first = len(tokens[0])
    for t, token in enumerate(tokens):
        if len(token) != first:
            raise ValueError(
                f"{place(t, ptr)} has {len(token)} columns where {first} were before"
            )
    if first < width:
        raise ValueError(
            f"{reader} reads column {width - 1}, but {place(0, ptr)} has {first} "
            "columns (numbered from 0)"
        )
