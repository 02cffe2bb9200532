"""Sentences given as lists of strings or rows, with each distinct token looked at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels
from maxmargin.core.data.tokens.sequences import place


class TokenColumns(NamedTuple):
    """Tokens of all sentences one after the other, by number.

    A token is a string (one column) or a row of strings: a tuple, a list, or a dict by
    the names of the columns.
    """

    distinct: list[Any]  # distinct tokens, in the order in which they are met
    first: Ints  # place of the first token of each
    number: Labels  # (tokens,) which of them each token is
    ptr: Ints  # (n + 1,) first token of each sentence
    single: bool  # tokens are strings, not rows
    names: tuple[str, ...]  # of the columns if rows were dicts

    def column(self, c: int) -> list[Any]:
        """What stands in column c of each distinct token."""
        return self.distinct if self.single else [row[c] for row in self.distinct]

    def strings(self, c: int) -> list[str]:
        """The same; refuses what is not a string."""
        texts = self.column(c)
        if set(map(type, texts)) <= {str}:
            return texts
        for text, t in zip(texts, self.first.tolist()):
            if not isinstance(text, str):
                key = self.names[c] if self.names else c
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
    names: tuple[str, ...] = ()
    kept = max(width, len(columns))
    head = tokens[0] if tokens else ""
    if type(head) is dict and set(map(type, tokens)) == {dict}:
        names = _keys(tokens, ptr, width, columns)
        tokens = [tuple(map(token.get, names)) for token in tokens]
    elif type(head) is list or (type(head) is tuple and len(head) > kept):
        if not set(map(type, tokens)) <= {tuple, list}:
            _check_kinds(tokens, ptr)
        if len(set(map(len, tokens))) > 1:
            _check_sizes(tokens, ptr, width, reader)
        tokens = [tuple(token[:kept]) for token in tokens]
    met = _met(tokens)
    kinds = set(map(type, met.distinct))
    if not (kinds <= {str} or kinds <= {tuple}):
        _check_kinds(tokens, ptr)
    if isinstance(head, str):
        if width > 1 and tokens:
            raise ValueError(
                f"{reader} reads column {width - 1}, but {place(0, ptr)} is a single "
                f"string, {head!r}: give rows of {width} strings"
            )
        return TokenColumns(*met, ptr, True, ())
    sizes = set(map(len, met.distinct))
    if len(sizes) > 1 or min(sizes) < width:
        _check_sizes(tokens, ptr, width, reader)
    return TokenColumns(*met, ptr, False, names)


class _Met(NamedTuple):
    """The first fields of `TokenColumns`."""

    distinct: list[Any]
    first: Ints
    number: Labels


def _met(tokens: list[Any]) -> _Met:
    """Number the tokens; those that have no hash (a list inside) all differ."""
    n = len(tokens)
    first: dict[Any, int] = {}
    try:
        where = np.fromiter(map(first.setdefault, tokens, count()), np.int64, n)
    except TypeError:
        return _Met(tokens, np.arange(n), np.arange(n, dtype=np.int32))
    places = np.fromiter(first.values(), np.int64, len(first))
    number = np.empty(n, np.int32)
    number[places] = np.arange(len(places), dtype=np.int32)
    return _Met(list(first), places, number[where])


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
    single, expected = isinstance(tokens[0], str), "a string or a row of strings"
    for t, token in enumerate(tokens):
        row = isinstance(token, Sequence) and not isinstance(token, str | bytes)
        if single if row else not (single and isinstance(token, str)):
            if t > 0:
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
