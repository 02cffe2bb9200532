"""Named features of tokens as rows: dicts, lists of names, single strings.

Dicts follow CRFsuite: a string value makes the feature "key:value", a number or bool is
the value of feature "key", lists and dicts nest. An array of numbers, {"emb": vector},
makes the features "emb[0]", "emb[1]", ..
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, repeat
from operator import call
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import (
    LARGEST,
    Floats,
    Ints,
    Labels,
    Vectors,
    real_numbers,
    usable,
)
from maxmargin.core.data.tokens.sequences import place
from maxmargin.core.data.warned import warn
from maxmargin.core.jit import loop

SHAPES = 1000  # tuples of keys of dicts that are kept at hand
UNKNOWN = 10**5  # pairs that training did not have, kept at hand
NEW = -2  # column of a pair that has not been met
_VECTOR = object()  # in `PairColumns`: columns of the numbers of a vector


class NamedTokens(NamedTuple):
    """Tokens of all sequences one by one."""

    named: list[Any]  # feature dicts, lists or strings
    ptr: Ints  # (n + 1,) first token of each sequence


class ValueColumns(dict[Any, Any]):
    """Columns of the features of one key, by value."""

    def __missing__(self, value: Any) -> int:
        return NEW


class PairColumns:
    """Columns of features by key and value, added as they occur: a cache, never stored."""

    def __init__(self) -> None:
        self.unknown = 0
        self.by_key: dict[Any, ValueColumns] = {}
        self.lookups: dict[tuple[Any, ...], list[Callable[[Any], Any]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return PairColumns, ()

    def of(self, token: dict[Any, Any]) -> Iterator[Any]:
        """Column of each pair of a token, or NEW; TypeError if a value has no hash."""
        keys = tuple(token)
        lookups = self.lookups.get(keys)
        if lookups is None:
            if len(self.lookups) >= SHAPES:
                self.lookups.clear()
            lookups = [self.values(key).__getitem__ for key in keys]
            self.lookups[keys] = lookups
        return map(call, lookups, token.values())

    def keep(self, key: Any, value: str, column: int) -> None:
        """Remember the column of a pair; of unknown ones, a limited number."""
        if column < 0:
            self.unknown += 1
        if column >= 0 or self.unknown <= UNKNOWN:
            self.values(key)[value] = column

    def values(self, key: Any) -> ValueColumns:
        """The columns of a key."""
        return self.by_key.setdefault(key, ValueColumns())


class FeatureColumns(NamedTuple):
    """Columns of named features."""

    of: Callable[[str], int]  # -1 for unknown names
    pairs: PairColumns
    known: Container[str]  # names of the training data; none while they are learnt


def vocabulary(tokens: NamedTokens) -> dict[str, int]:
    """Column of each feature name, in order of first sight."""
    if _lists(tokens.named) and _all_strings(tokens.named):
        flat = chain.from_iterable(tokens.named)
        return {name: j for j, name in enumerate(dict.fromkeys(flat))}
    names: dict[str, int] = {}
    number = FeatureColumns(
        lambda name: names.setdefault(name, len(names)), PairColumns(), set()
    )
    _columns(tokens, number)
    return names


def named_vectors(
    tokens: NamedTokens, names: Mapping[str, int], pairs: PairColumns
) -> Vectors:
    """Named features as rows; names not in the vocabulary are left out.

    `pairs` remembers the columns of (key, value) pairs from one call to the next.
    """
    number = FeatureColumns(lambda name: names.get(name, -1), pairs, names)
    if _lists(tokens.named):
        sizes = list(map(len, tokens.named))
        flat = chain.from_iterable(tokens.named)
        try:
            idx = np.fromiter(map(names.get, flat, repeat(-1)), np.int32, sum(sizes))
        except TypeError:  # no name at all, say a dict; the slow way tells where
            _columns(tokens, number)
            raise
        val = np.ones(len(idx))
        ptr = _starts(sizes)
    else:
        quick = dict_columns(tokens, names, pairs)
        if quick is None:
            sizes, idx, val = _columns(tokens, number)
            ptr = _starts(sizes)
            _check_values(val, ptr, tokens.ptr)
        else:
            ptr, idx, val = quick
    kept_ptr, kept_idx, kept_val = _without_unknown(ptr, idx, val)
    if len(idx) and len(kept_idx) == 0:
        warn(
            "none of the features of these tokens occurred in training: are they made "
            "in the same way (dicts, lists or strings, with the same names)?",
        )
    return Vectors(kept_ptr, kept_idx, kept_val, len(names))


def _starts(sizes: list[int]) -> Ints:
    return np.fromiter(accumulate(sizes, initial=0), np.int64, len(sizes) + 1)


def _check_values(val: Floats, ptr: Ints, sequences: Ints) -> None:
    """Refuse values of features that are not finite, or too large."""
    if not usable(val).all():
        bad = int(np.searchsorted(ptr, np.flatnonzero(~usable(val))[0], "right"))
        raise ValueError(
            f"{place(bad - 1, sequences)}: a feature is not finite, or so large that its "
            "square overflows"
        )


@loop
def _without_unknown(ptr, idx, val):
    """Rows without the entries whose column is negative."""
    out_ptr = np.zeros(len(ptr), np.int64)
    out_idx, out_val = np.empty(len(idx), np.int32), np.empty(len(idx))
    m = 0
    for r in range(len(ptr) - 1):
        for p in range(ptr[r], ptr[r + 1]):
            if idx[p] >= 0:
                out_idx[m], out_val[m] = idx[p], val[p]
                m += 1
        out_ptr[r + 1] = m
    return out_ptr, out_idx[:m].copy(), out_val[:m].copy()


def dict_columns(
    tokens: NamedTokens, names: Mapping[str, int], pairs: PairColumns
) -> tuple[Ints, Labels, Floats] | None:
    """(ptr, columns, values) of dicts of strings and numbers; None for all others."""
    columns = FeatureColumns(lambda name: names.get(name, -1), pairs, names)
    named = tokens.named
    if set(map(type, named)) != {dict} or not all(named):
        return None
    ptr = _starts(list(map(len, named)))
    flat = chain.from_iterable(map(columns.pairs.of, named))
    try:
        idx = np.fromiter(flat, np.int32, ptr[-1])
    except TypeError:  # a value that is a list, a vector or a dict
        return None
    val = np.ones(len(idx))
    new = (idx == NEW).nonzero()[0]
    if len(new):
        rows = np.searchsorted(ptr, new, "right") - 1
        for p, r, first in zip(new.tolist(), rows.tolist(), ptr[rows].tolist()):
            key, value = next(islice(named[r].items(), p - first, None))
            if type(value) is str:
                idx[p] = _pair_column(key, value, f"{key}:{value}", columns)
            elif _plain_number(value) and type(key) is str:
                idx[p] = _pair_column(key, value, key, columns)
                val[p] = value
            else:
                return None
    return ptr, idx, val


def _plain_number(value: Any) -> bool:
    return type(value) in (bool, float, int) and abs(value) <= LARGEST


def _pair_column(key: str, value: Any, name: str, columns: FeatureColumns) -> int:
    """Column of a feature; that of a known pair is kept, so that the name is made once."""
    j = columns.of(name)
    if type(value) is str:
        columns.pairs.keep(key, value, j)
    elif j >= 0 and value == 1:
        columns.pairs.values(key)[value] = j
    elif j >= 0 and value == 0:  # a zero adds nothing: no column
        columns.pairs.values(key)[value] = -1
    return j


def _lists(named: Sequence[Any]) -> bool:
    """Whether tokens are lists, none empty: the case that maps in C."""
    return bool(named) and set(map(type, named)) == {list} and all(named)


def _all_strings(named: Sequence[Any]) -> bool:
    return set(map(type, chain.from_iterable(named))) == {str}


def _columns(
    tokens: NamedTokens, columns: FeatureColumns
) -> tuple[list[int], Labels, Floats]:
    """Features per token, their columns (-1 for unknown ones) and values.

    The column of a pair (key, value) is kept in `pairs`, so that the name "key:value"
    is not made again. So is that of True, False, 1 and 0.
    """
    idx: list[int] = []
    sizes: list[int] = []
    others: list[tuple[int, float]] = []  # places of values that are not one
    runs: list[tuple[int, Floats]] = []  # the same of vectors
    size = 0
    for row, token in enumerate(tokens.named):
        found = [NEW]
        if type(token) is dict:
            try:
                found = list(columns.pairs.of(token))
            except TypeError:  # a value that is a list, a vector or a dict
                found = [NEW] * len(token)
        if found and NEW not in found:
            idx += found
        else:
            for j, value in _new_columns(token, found, row, tokens.ptr, columns):
                if isinstance(j, list):
                    runs.append((len(idx), value))
                    idx += j
                    continue
                if value != 1.0:
                    others.append((len(idx), value))
                idx.append(j)
        sizes.append(len(idx) - size)
        size = len(idx)
    val = np.ones(len(idx))
    if others:
        where, values = zip(*others)
        val[list(where)] = values
    for at, vector in runs:
        val[at : at + len(vector)] = vector
    return sizes, np.array(idx, np.int32), val


def _new_columns(
    token: Any,
    found: list[int],
    row: int,
    ptr: Ints,
    columns: FeatureColumns,
) -> Iterator[tuple[Any, Any]]:
    """(column, value) of the features of a token, not all of which are in `pairs`.

    Of a vector: (list of columns, array of values).
    """
    column = columns.of
    if type(token) is not dict or not token:
        for name, number in _items(token, row, ptr):
            yield column(name), number
        return
    for j, (key, value) in zip(found, token.items(), strict=True):
        kind = type(value)
        if j != NEW:
            yield j, 1.0
        elif kind is str:
            yield _pair_column(key, value, f"{key}:{value}", columns), 1.0
        elif kind in (bool, float, int) and type(key) is str:
            yield _pair_column(key, value, key, columns), float(value)
        elif _is_vector(value):
            yield _vector_columns(key, value, place(row, ptr), columns)
        else:
            for name, number in _items({key: value}, row, ptr):
                yield column(name), number


def _is_vector(value: Any) -> bool:
    """Whether a value is an array, or a list of numbers."""
    if isinstance(value, np.ndarray):
        return True
    return isinstance(value, list | tuple) and is_numeric(value)


def _vector_columns(
    key: str, value: Any, where: str, columns: FeatureColumns
) -> tuple[list[int], Floats]:
    """Columns "key[0]", "key[1]", .. of a vector, and its numbers."""
    try:
        vector = real_numbers(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {key!r} is not a vector ({error})") from None
    if vector.ndim != 1:
        raise ValueError(
            f"{where}: {key!r} has {vector.ndim} dimensions: a vector has one"
        )
    numbers = columns.pairs.values(key).get(_VECTOR)
    if numbers is None:
        size = 0
        while f"{key}[{size}]" in columns.known:
            size += 1
        numbers = [columns.of(f"{key}[{j}]") for j in range(size or len(vector))]
        columns.pairs.values(key)[_VECTOR] = numbers
    if len(numbers) != len(vector):
        raise ValueError(
            f"{where}: {key!r} has {len(vector)} numbers, others have {len(numbers)}"
        )
    return numbers, vector


def _items(token: Any, row: int, ptr: Ints) -> Iterable[tuple[str, float]]:
    """(name, value) of the features of one token."""
    if isinstance(token, str):
        return ((token, 1.0),)
    if not token:
        raise ValueError(f"{place(row, ptr)} has no features")
    try:
        if isinstance(token, Mapping):
            return list(_pairs(token))
        return [(_name(name), 1.0) for name in _ordered(token)]
    except TypeError as error:
        raise ValueError(f"{place(row, ptr)}: {error}") from None


def _ordered(names: Any) -> Any:
    """Names in an order that does not depend on PYTHONHASHSEED."""
    return sorted(names, key=str) if isinstance(names, set | frozenset) else names


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"feature names must be strings, not {type(name).__name__}")
    return name


def _pairs(token: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in token.items():
        if isinstance(value, str):
            yield f"{key}:{value}", 1.0
        elif isinstance(value, int | float | np.number | np.bool_):
            yield _name(key), float(value)
        elif isinstance(value, Mapping):
            for name, number in _pairs(value):
                yield f"{key}:{name}", number
        elif _is_vector(value):
            for j, number in enumerate(real_numbers(value).tolist()):
                yield f"{key}[{j}]", number
        elif isinstance(value, list | tuple | set | frozenset):
            for item in _ordered(value):
                yield f"{key}:{_name(item)}", 1.0
        else:
            kind = type(value).__name__
            raise TypeError(
                f"feature {key!r} has a value of type {kind}: a number, a string, a "
                "bool, a list or a dict is needed; leave out what is missing"
            )


def is_numeric(token: Sequence[Any]) -> bool:
    """Whether a list begins with a number."""
    return len(token) > 0 and isinstance(token[0], int | float | np.number)
