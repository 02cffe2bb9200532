"""Tokens of sequences as rows of one matrix, whatever form they come in.

A sequence is one of

    a dense array (length, features) or a scipy.sparse matrix of that shape,
    a list of feature dicts  {"word": "Madrid", "is_title": True, "length": 6.0},
    a list of feature lists  ["word=Madrid", "is_title"],  or of single strings,

and all sequences together are a list of those or a `Sequences`: one flat matrix with
offsets, taken as it is. Dicts follow CRFsuite: a string value makes the feature
"key:value", a number or bool is the value of feature "key", lists and dicts nest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Vectors,
    pointers,
    usable,
)
from maxmargin.core.jit import loop
from maxmargin.core.sequences import Sequences, place
from maxmargin.core.validation import check_sparse

DENSE = 0.3  # share of non-zeros above which dense rows are faster


Pairs = dict[Any, dict[Any, int]]  # column of a feature by key and value
_NONE: dict[Any, int] = {}


class Gathered(NamedTuple):
    """All tokens of all sequences: a matrix, or feature dicts and lists one by one."""

    matrix: Any  # dense (tokens, features) or sparse; None where tokens are named
    named: list[Any]  # feature dicts, lists or strings
    ptr: Ints  # (n + 1,) first token of each sequence


def gather(X: Any) -> Gathered:
    """One matrix, or one list of named tokens, from sequences in any known form."""
    if isinstance(X, Sequences):
        if sp.issparse(X.flat):
            check_sparse(X.flat, "the matrix of all tokens")
        return Gathered(_check_matrix(X.flat, X.offsets), [], X.offsets)
    rows = X if type(X) is list else list(X)
    quick = _named_tokens(rows)
    if quick is not None:
        return quick
    kinds = [_kind(row, i) for i, row in enumerate(rows)]
    known = sorted({k for k in kinds if k})
    if len(known) > 1:
        i, j = kinds.index(known[0]), kinds.index(known[1])
        raise ValueError(
            f"sequence {i} holds {known[0]} but sequence {j} holds {known[1]}: "
            "all sequences must come in one form"
        )
    ptr = pointers([row.shape[0] if sp.issparse(row) else len(row) for row in rows])
    if not known:
        return Gathered(np.zeros((0, 0)), [], ptr)
    if known[0] == "named features":
        return Gathered(None, list(chain.from_iterable(rows)), ptr)
    filled = [row for row, kind in zip(rows, kinds) if kind]
    if known[0] == "sparse matrices":
        widths = [row.shape[1] for row in filled]
    else:
        filled = [_dense(row, i) for i, row in enumerate(rows) if kinds[i]]
        widths = [row.shape[1] for row in filled]
    if len(set(widths)) > 1:
        j = next(j for j, width in enumerate(widths) if width != widths[0])
        i = [i for i, kind in enumerate(kinds) if kind][j]
        raise ValueError(
            f"sequence {i} has {widths[j]} features per token, others {widths[0]}"
        )
    matrix = (
        sp.vstack(filled, "csr") if sp.issparse(filled[0]) else np.concatenate(filled)
    )
    return Gathered(_check_matrix(matrix, ptr), [], ptr)


def _named_tokens(rows: list[Any]) -> Gathered | None:
    """Plain lists of feature dicts, lists or strings; None for all else.

    One sentence at a time, the checks of `_kind` would take longer than the encoding.
    """
    if set(map(type, rows)) != {list}:
        return None
    tokens = list(chain.from_iterable(rows))
    kinds = set(map(type, tokens))
    if kinds == {list}:
        if not all(map(_begins_with_name, rows)):
            return None
    elif kinds not in ({dict}, {str}):
        return None
    ptr = np.zeros(len(rows) + 1, np.int64)
    ptr[1:] = list(accumulate(map(len, rows)))
    return Gathered(None, tokens, ptr)


def _begins_with_name(row: list[Any]) -> bool:
    """Whether the first feature of the first token is a string, not a number."""
    return not row or (bool(row[0]) and type(row[0][0]) is str)


def _kind(row: Any, i: int) -> str:
    if sp.issparse(row):
        check_sparse(row, f"sequence {i}")
        return "sparse matrices"
    if isinstance(row, str | bytes | Mapping) or not hasattr(row, "__len__"):
        raise ValueError(
            f"sequence {i} is a {type(row).__name__}, not a list of tokens"
        )
    if hasattr(row, "iloc") and row.ndim == 2:
        raise ValueError(
            f"sequence {i} is a {type(row).__name__}, not a list of tokens: give "
            "its to_numpy(), or its to_dict('records') for named features"
        )
    if len(row) == 0:
        return ""
    if isinstance(row, np.ndarray) and row.dtype != object:
        return "arrays"
    named = [
        isinstance(token, Mapping | str | list | tuple | set | frozenset)
        for token in row
    ]
    if isinstance(row[0], list | tuple) and _numeric(row[0]):
        return "arrays"
    if all(named):
        return "named features"
    if not any(named):
        return "arrays"
    t = named.index(not named[0])
    raise ValueError(
        f"sequence {i}, token {t}: a {type(row[t]).__name__} among tokens given as "
        f"{type(row[0]).__name__}: dicts and arrays cannot be mixed"
    )


def _numeric(token: Sequence[Any]) -> bool:
    return len(token) > 0 and isinstance(token[0], int | float | np.number)


def _dense(row: Any, i: int) -> Any:
    try:
        array = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sequence {i} is not an array of numbers: {error}") from None
    if array.ndim != 2:
        raise ValueError(
            f"sequence {i} has {array.ndim} dimension(s): (length, features) is needed"
        )
    return array


def _check_matrix(matrix: Any, ptr: Ints) -> Any:
    if matrix.ndim != 2:
        raise ValueError("tokens must be rows of a matrix (tokens, features)")
    values = matrix.data if sp.issparse(matrix) else matrix
    if values.dtype == object:
        raise ValueError("features must be numbers, not Python objects")
    if values.dtype.kind == "f" and not usable(values).all():
        dense = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
        bad = (
            int(
                np.searchsorted(
                    dense.indptr, np.flatnonzero(~usable(dense.data))[0], "right"
                )
            )
            - 1
            if sp.issparse(matrix)
            else int(np.argwhere(~usable(dense))[0][0])
        )
        i = int(np.searchsorted(ptr, bad, "right")) - 1
        raise ValueError(
            f"sequence {i}, token {bad - ptr[i]}: a feature is not finite, or so large "
            "that its square overflows"
        )
    return matrix


def vocabulary(tokens: Gathered) -> dict[str, int]:
    """Column of each feature name, in order of first sight."""
    if _lists(tokens.named) and _all_strings(tokens.named):
        flat = chain.from_iterable(tokens.named)
        return {name: j for j, name in enumerate(dict.fromkeys(flat))}
    names: dict[str, int] = {}
    _columns(tokens, lambda name: names.setdefault(name, len(names)), {})
    return names


def named_vectors(tokens: Gathered, names: Mapping[str, int], pairs: Pairs) -> Vectors:
    """Named features as rows; names not in the vocabulary are left out.

    `pairs` remembers the columns of (key, value) pairs from one call to the next.
    """
    if _lists(tokens.named):
        sizes = list(map(len, tokens.named))
        flat = chain.from_iterable(tokens.named)
        try:
            idx = np.fromiter(map(names.get, flat, repeat(-1)), np.int32, sum(sizes))
        except TypeError:  # no name at all, say a dict; the slow way tells where
            _columns(tokens, lambda name: names.get(name, -1), pairs)
            raise
        val = np.ones(len(idx))
    else:
        sizes, idx, val = _columns(tokens, lambda name: names.get(name, -1), pairs)
    ptr = np.zeros(len(sizes) + 1, np.int64)
    ptr[1:] = list(accumulate(sizes))
    if not usable(val).all():
        bad = int(np.searchsorted(ptr, np.flatnonzero(~usable(val))[0], "right"))
        raise ValueError(
            f"{place(bad - 1, tokens.ptr)}: a feature is not finite, or so large that its "
            "square overflows"
        )
    known = idx >= 0
    if len(idx) and not known.any():
        warnings.warn(
            "none of the features of these tokens occurred in training: are they made "
            "in the same way (dicts, lists or strings, with the same names)?",
            stacklevel=3,
        )
    kept = np.zeros(len(idx) + 1, np.int64)
    known.cumsum(out=kept[1:])
    return Vectors(kept[ptr], idx[known], val[known], len(names))


def _lists(named: Sequence[Any]) -> bool:
    """Whether tokens are lists, none empty: the case that maps in C."""
    return bool(named) and set(map(type, named)) == {list} and all(named)


def _all_strings(named: Sequence[Any]) -> bool:
    return set(map(type, chain.from_iterable(named))) == {str}


def _columns(
    tokens: Gathered, column: Callable[[str], int], pairs: Pairs
) -> tuple[list[int], Labels, Floats]:
    """Features per token, their columns (-1 for unknown ones) and values.

    The column of a pair (key, value) is kept in `pairs`, so that the name "key:value"
    is not made again. So is that of True, False, 1 and 0.
    """
    idx: list[int] = []
    sizes: list[int] = []
    others: list[tuple[int, float]] = []  # places of values that are not one
    known, size = pairs.get, 0
    for row, token in enumerate(tokens.named):
        found: list[int | None] = [None]
        if type(token) is dict:
            try:
                found = [known(key, _NONE).get(value) for key, value in token.items()]
            except TypeError:  # a value that is a list or a dict
                found = [None] * len(token)
        if found and None not in found:
            idx += found  # type: ignore[arg-type]
        else:
            for j, value in _new_columns(token, found, row, tokens.ptr, column, pairs):
                if value != 1.0:
                    others.append((len(idx), value))
                idx.append(j)
        sizes.append(len(idx) - size)
        size = len(idx)
    val = np.ones(len(idx))
    if others:
        where, values = zip(*others)
        val[list(where)] = values
    return sizes, np.array(idx, np.int32), val


def _new_columns(
    token: Any,
    found: list[int | None],
    row: int,
    ptr: Ints,
    column: Callable[[str], int],
    pairs: Pairs,
) -> Iterator[tuple[int, float]]:
    """(column, value) of the features of a token, not all of which are in `pairs`."""
    if type(token) is not dict or not token:
        for name, number in _items(token, row, ptr):
            yield column(name), number
        return
    for j, (key, value) in zip(found, token.items(), strict=True):
        kind = type(value)
        if j is not None:
            yield j, 1.0
        elif kind is str:
            j = column(f"{key}:{value}")
            if j >= 0:
                pairs.setdefault(key, {})[value] = j
            yield j, 1.0
        elif kind in (bool, float, int) and type(key) is str:
            j = column(key)
            if j >= 0 and value in (0, 1):  # a zero adds nothing: no column
                pairs.setdefault(key, {})[value] = j if value else -1
            yield j, float(value)
        else:
            for name, number in _items({key: value}, row, ptr):
                yield column(name), number


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
        elif isinstance(value, list | tuple | set | frozenset):
            for item in _ordered(value):
                yield f"{key}:{_name(item)}", 1.0
        else:
            kind = type(value).__name__
            raise TypeError(f"feature {key!r} has a value of type {kind}")


def windowed(matrix: Any, ptr: Ints, reach: int) -> Any:
    """Beside each row the rows before and after it, zero beyond the sequence."""
    if reach == 0:
        return matrix
    n = matrix.shape[0]
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    parts = []
    for shift in range(-reach, reach + 1):
        source = np.arange(n) + shift
        inside = (source >= 0) & (source < n)
        inside[inside] = owner[source[inside]] == owner[inside]
        if sp.issparse(matrix):
            pick = np.flatnonzero(inside)
            ones = np.ones(len(pick)), (pick, source[pick])
            parts.append(sp.csr_array(ones, shape=(n, n)) @ matrix)
        else:
            part = np.zeros(matrix.shape)
            part[inside] = matrix[source[inside]]
            parts.append(part)
    return sp.hstack(parts, "csr") if sp.issparse(matrix) else np.hstack(parts)


def is_sparse(matrix: Any) -> bool:
    """Whether rows are better kept without their zeros."""
    if sp.issparse(matrix):
        return True
    return matrix.size == 0 or np.count_nonzero(matrix) < DENSE * matrix.size


def vectors_of(matrix: Any, sparse: bool) -> Vectors:
    """Rows of a matrix in the layout asked for; zeros of a dense one are left out."""
    if not sparse or sp.issparse(matrix):
        return Vectors.of(matrix, sparse)
    dense = np.ascontiguousarray(matrix, dtype=np.float64)
    return Vectors(*(*_compress(dense), dense.shape[1]))


@loop
def _compress(dense):
    """CSR parts of a dense matrix; scipy's way there takes ten times as long."""
    n, width = dense.shape
    ptr = np.zeros(n + 1, np.int64)
    for r in range(n):
        count = 0
        for f in range(width):
            count += dense[r, f] != 0.0
        ptr[r + 1] = ptr[r] + count
    idx, val = np.empty(ptr[n] + 1, np.int32), np.empty(ptr[n] + 1)
    for r in range(n):
        m = ptr[r]
        for f in range(width):
            idx[m] = f  # written over if the value is zero: no branch
            val[m] = dense[r, f]
            m += dense[r, f] != 0.0
    return ptr, idx[: ptr[n]], val[: ptr[n]]


def label_rows(labels: Sequence[Hashable], flat: Sequence[Any], ptr: Ints) -> Ragged:
    """Labels as numbers; a label that is not among `labels` is named with its place."""
    where = {label: k for k, label in enumerate(labels)}
    try:
        data = np.fromiter((where[y] for y in flat), np.int32, len(flat))
    except KeyError as error:
        row = next(t for t, y in enumerate(flat) if y not in where)
        known = ", ".join(repr(label) for label in labels[:8])
        raise ValueError(
            f"{place(row, ptr)}: unknown label {error.args[0]!r}; known are {known}"
            + (", .." if len(labels) > 8 else "")
        ) from None
    return Ragged(ptr, data)
