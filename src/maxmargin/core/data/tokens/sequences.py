"""Sequences of tokens or labels: one flat array with offsets; labels of any kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain as concatenated
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Ints, check_ordered, pointers
from maxmargin.core.data.validation import is_missing, refuse_fractions


class Sequences:
    """Sequences that lie one after the other in a flat array: no copies.

    Parameters
    ----------
    flat : array or scipy.sparse matrix
        Rows of all tokens (tokens, features), or their labels (tokens,).
    offsets : array (n + 1,)
        Sequence i is flat[offsets[i]:offsets[i + 1]].

    Examples
    --------
    >>> words = Sequences(np.arange(10).reshape(5, 2), [0, 3, 5])
    >>> len(words), words[1].tolist(), words[[1, 0]].offsets.tolist()
    (2, [[6, 7], [8, 9]], [0, 2, 5])
    """

    def __init__(self, flat: Any, offsets: ArrayLike) -> None:
        self.flat: Any = flat if sp.issparse(flat) else np.asarray(flat)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        ends = self.offsets
        if len(ends) == 0 or ends[0] != 0 or ends[-1] != self.flat.shape[0]:
            raise ValueError(
                f"offsets must run from 0 to the {self.flat.shape[0]} rows of the array"
            )
        if (np.diff(ends) < 0).any():
            i = int(np.flatnonzero(np.diff(ends) < 0)[0])
            raise ValueError(
                f"sequence {i} ends before it begins: offsets must not fall"
            )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: Any) -> Any:
        """One sequence by number; several, as `Sequences`, by slice, mask, indices."""
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            return self.flat[self.offsets[i] : self.offsets[i + 1]]
        ids = np.arange(len(self))[key]
        sizes = np.diff(self.offsets)[ids]
        ptr = pointers(sizes)
        rows = np.arange(ptr[-1]) + np.repeat(self.offsets[ids] - ptr[:-1], sizes)
        flat = self.flat.tocsr() if sp.issparse(self.flat) else self.flat
        return Sequences(flat[rows], ptr)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Sequences(n={len(self)}, rows={self.flat.shape[0]})"


def place(row: int, ptr: Ints) -> str:
    """'sequence 3, token 5' of a flat row."""
    i = int(np.searchsorted(ptr, row, "right")) - 1
    return f"sequence {i}, token {row - ptr[i]}"


def flat_labels(Y: Any) -> tuple[list[Any], Ints]:
    """All labels one after the other, and where each sequence begins."""
    if isinstance(Y, Sequences):
        return np.asarray(Y.flat).tolist(), Y.offsets
    rows = []
    for i, row in enumerate(Y):
        if isinstance(row, str | bytes):
            raise ValueError(
                f"sequence {i}: labels are one string, {row!r:.40}: give a list of labels, "
                f"as in {list(row[:3])!r}, and write [X], [y] for a single sequence"
            )
        check_ordered(row, f"sequence {i}")
        _check_flat(i, row)
        if isinstance(row, np.ndarray):
            rows.append(row.tolist())
        elif hasattr(row, "__len__") and hasattr(row, "__iter__"):
            rows.append(row)
        else:
            raise ValueError(
                f"sequence {i}: labels are a {type(row).__name__}, not a list of labels"
            )
    return list(concatenated.from_iterable(rows)), pointers([len(row) for row in rows])


def _check_flat(i: int, row: Any) -> None:
    """Refuse labels in rows, such as a column or zeros and ones for each label."""
    head = row[:1] if isinstance(row, list | tuple) else ()
    nested = len(head) > 0 and isinstance(head[0], list | set | dict | np.ndarray)
    if nested or (isinstance(row, np.ndarray) and row.ndim != 1):
        raise ValueError(
            f"sequence {i}: its labels are rows of labels: give one label for each token"
        )


def mark_spans(labels: Iterable[Hashable]) -> bool:
    """Whether any label is named like a part of a span.

    Examples
    --------
    >>> mark_spans(["B-PER", "O"]), mark_spans(["NOUN", "VERB"])
    (True, False)
    """
    return any(isinstance(v, str) and v[1:2] == "-" for v in labels)


def has_hidden(Y: Any) -> bool:
    """Whether any label is None, that is, not known.

    Examples
    --------
    >>> has_hidden([["a", "b"], ["a", None]]), has_hidden([np.array([0, 1])])
    (True, False)
    """
    rows = [Y.flat] if isinstance(Y, Sequences) else Y
    return any(
        label is None
        for row in rows
        if isinstance(row, Iterable)
        and not (isinstance(row, np.ndarray) and row.dtype != object)
        for label in row
    )


def same_lengths(tokens: Ints, labels: Ints) -> None:
    """Refuse labels that do not fit the tokens one to one."""
    if len(tokens) != len(labels):
        raise ValueError(
            f"there are {len(tokens) - 1} sequences of tokens but {len(labels) - 1} of "
            "labels"
        )
    bad = np.flatnonzero(np.diff(tokens) != np.diff(labels))
    if len(bad):
        i = int(bad[0])
        raise ValueError(
            f"sequence {i} has {tokens[i + 1] - tokens[i]} tokens but "
            f"{labels[i + 1] - labels[i]} labels"
        )


def in_order(labels: set[Hashable]) -> tuple[Hashable, ...]:
    """Sort labels; those that cannot be compared are refused, or sorted by name."""
    if not labels:
        raise ValueError("there are no labels: all sequences are empty")
    if odd := [y for y in labels if not isinstance(y, str | int | None)]:
        if any(map(is_missing, odd)):
            raise ValueError("a label is nan; None marks a label that is not known")
        refuse_fractions(odd)
    try:
        return tuple(sorted(cast(set[Any], labels)))
    except TypeError:
        kinds = sorted({type(y).__name__ for y in labels})
        if len(kinds) > 1:
            raise ValueError(
                f"labels are of several types, {' and '.join(kinds)}: use one type"
            ) from None
        return tuple(sorted(labels, key=lambda y: (type(y).__name__, repr(y))))


def is_tagged_word(token: Any) -> bool:
    """Whether a token is a word and its tag."""
    pair = isinstance(token, tuple | list) and len(token) == 2
    return pair and all(isinstance(part, str) for part in token)
