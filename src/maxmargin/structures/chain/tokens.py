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
from itertools import chain, repeat
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

DENSE = 0.3  # share of non-zeros above which dense rows are faster


class Gathered(NamedTuple):
    """All tokens of all sequences: a matrix, or feature dicts and lists one by one."""

    matrix: Any  # dense (tokens, features) or sparse; None where tokens are named
    named: list[Any]  # feature dicts, lists or strings
    ptr: Ints  # (n + 1,) first token of each sequence


def gather(X: Any) -> Gathered:
    """One matrix, or one list of named tokens, from sequences in any known form."""
    if isinstance(X, Sequences):
        return Gathered(_check_matrix(X.flat, X.offsets), [], X.offsets)
    rows = list(X)
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


def _kind(row: Any, i: int) -> str:
    if sp.issparse(row):
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
    _columns(tokens, lambda name: names.setdefault(name, len(names)))
    return names


def matrix_of(tokens: Gathered, names: Mapping[str, int]) -> Any:
    """Named features as a CSR matrix; names not in the vocabulary are left out."""
    if _lists(tokens.named):
        sizes = np.fromiter(map(len, tokens.named), np.int64, len(tokens.named))
        flat = chain.from_iterable(tokens.named)
        try:
            idx = np.fromiter(map(names.get, flat, repeat(-1)), np.int32, sizes.sum())
        except TypeError:  # no name at all, say a dict; the slow way tells where
            _columns(tokens, lambda name: names.get(name, -1))
            raise
        val = np.ones(len(idx))
    else:
        sizes, idx, val = _columns(tokens, lambda name: names.get(name, -1))
    ptr = pointers(sizes)
    if not usable(val).all():
        at = np.flatnonzero(~usable(val))[0]
        bad = int(np.searchsorted(ptr, at, "right"))
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
    kept = np.concatenate(([0], np.cumsum(known)))[ptr]
    data = val[known], idx[known], kept
    return sp.csr_array(data, shape=(len(tokens.named), len(names)))


def _lists(named: Sequence[Any]) -> bool:
    """Whether tokens are lists, none empty: the case that maps in C."""
    return bool(named) and set(map(type, named)) == {list} and all(named)


def _all_strings(named: Sequence[Any]) -> bool:
    return set(map(type, chain.from_iterable(named))) == {str}


def _columns(
    tokens: Gathered, column: Callable[[str], int]
) -> tuple[Ints, Labels, Floats]:
    """Features per token, their columns and values, one token after the other.

    Columns of (key, value) pairs are remembered, so that the name "key:value" is made
    once for each pair and not for each token.
    """
    idx: list[int] = []
    val: list[float] = []
    ends: list[int] = []
    memo: dict[Any, dict[Any, int]] = {}
    single: dict[str, int] = {}
    for row, token in enumerate(tokens.named):
        if type(token) is not dict or not token:
            for name, value in _items(token, row, tokens.ptr):
                idx.append(column(name))
                val.append(value)
            ends.append(len(idx))
            continue
        for key, value in token.items():
            kind = type(value)
            if kind is str:
                known = memo.get(key)
                if known is None:
                    known = memo[key] = {}
                j = known.get(value)
                if j is None:
                    j = known[value] = column(f"{key}:{value}")
                idx.append(j)
                val.append(1.0)
            elif (kind is bool or kind is float or kind is int) and type(key) is str:
                j = single.get(key)
                if j is None:
                    j = single[key] = column(key)
                idx.append(j)
                val.append(float(value))
            else:
                for name, number in _items({key: value}, row, tokens.ptr):
                    idx.append(column(name))
                    val.append(number)
        ends.append(len(idx))
    sizes = np.diff(np.array([0, *ends], np.int64)).astype(np.int64)
    return sizes, np.array(idx, np.int32), np.array(val, np.float64)


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
