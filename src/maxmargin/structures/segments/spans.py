"""True and predicted segments: label sequences, lists of spans, and rows of codes.

A span is (first token, token after the last, label). Label sequences are read in the
scheme that they are recognised to be written in, and must fit it everywhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Ragged
from maxmargin.core.data.tokens.label_schemes import (
    Recognised,
    all_spans,
    labels_of_spans,
    recognise_scheme,
)
from maxmargin.core.data.tokens.sequences import same_lengths

Span = tuple[int, int, Hashable]
LONGER = ("error", "split")
ADVICE = "or give scheme='bio' (or another) to read the labels as conlleval does"


class GivenSpans(NamedTuple):
    """Spans of all sequences, and how they were written."""

    rows: list[list[Span]]
    scheme: str | None  # of label sequences; None: they were lists of spans


def given_spans(Y: Any, ptr: Ints, told: str | None = None) -> GivenSpans:
    """Spans of outputs in either form, checked against the number of tokens.

    Label sequences must be in one scheme throughout, which is recognised. If the scheme
    is told, labels are read as conlleval does, where an I- after O begins a span.

    Examples
    --------
    >>> given_spans([["B-PER", "I-PER", "O"]], np.array([0, 3]))
    GivenSpans(rows=[[(0, 2, 'PER')]], scheme='bio')
    >>> given_spans([[(0, 2, "PER")], []], np.array([0, 3, 5])).rows
    [[(0, 2, 'PER')], []]
    >>> given_spans([[(0, 2, "PER"), (1, 3, "LOC")]], np.array([0, 3]))
    Traceback (most recent call last):
    ...
    ValueError: sequence 0: spans (0, 2, 'PER') and (1, 3, 'LOC') overlap
    """
    rows = [_row(row, i) for i, row in enumerate(Y)]
    sizes = np.diff(ptr).tolist()
    if len(rows) != len(sizes):
        raise ValueError(
            f"there are {len(sizes)} sequences of tokens but {len(rows)} of outputs"
        )
    if _are_spans(rows, sizes):
        checked = [_checked(row, n, i) for i, (row, n) in enumerate(zip(rows, sizes))]
        return GivenSpans(checked, None)
    same_lengths(ptr, np.cumsum([0, *map(len, rows)]))
    return _read_labels(rows, told)


def _row(row: Any, i: int) -> list[Any]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ValueError(
            f"sequence {i}: the output is a {type(row).__name__}, not a list of labels or "
            "of spans (first token, token after the last, label)"
        )
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


def _are_spans(rows: list[list[Any]], sizes: list[int]) -> bool:
    """Whether outputs are lists of spans; refuses a mixture with labels."""
    spans = labels = None
    for i, row in enumerate(rows):
        for item in row:
            if isinstance(item, str) or item is None:
                labels = i if labels is None else labels
            else:
                spans = i if spans is None else spans
    if spans is not None and labels is not None:
        raise ValueError(
            f"sequence {spans} holds spans but sequence {labels} holds labels: outputs "
            "must come in one form"
        )
    if spans is None and labels is None:  # empty lists: spans of sentences without any
        return any(sizes)
    return spans is not None


def _checked(row: list[Any], n: int, i: int) -> list[Span]:
    """Spans of one sequence in order, which lie in its n tokens and do not overlap."""
    out: list[Span] = []
    for item in row:
        good = isinstance(item, Sequence) and len(item) == 3
        whole = good and all(
            isinstance(v, int | np.integer) and not isinstance(v, bool)
            for v in item[:2]
        )
        if not whole:
            raise ValueError(
                f"sequence {i}: {item!r:.60} is not a span (first token, token after the "
                "last, label)"
            )
        first, end, label = int(item[0]), int(item[1]), item[2]
        if not 0 <= first < end <= n:
            raise ValueError(
                f"sequence {i}: span ({first}, {end}, {label!r}) does not lie in its {n} "
                "tokens; a span is (first token, token after the last, label)"
            )
        if label is None or label == "O":
            raise ValueError(
                f"sequence {i}: span ({first}, {end}, {label!r}) has no label; leave "
                "tokens outside of spans out"
            )
        out.append((first, end, label))
    out.sort(key=lambda span: span[:2])
    for one, two in pairwise(out):
        if two[0] < one[1]:
            raise ValueError(f"sequence {i}: spans {one} and {two} overlap")
    return out


def _read_labels(rows: list[list[Any]], told: str | None) -> GivenSpans:
    """Spans of label sequences."""
    for i, row in enumerate(rows):
        for t, label in enumerate(row):
            if label is None:
                raise ValueError(
                    f"sequence {i}, token {t}: the label is None; SegmentSVM needs all "
                    "labels"
                )
    scheme, reason = (told, "") if told is not None else _recognised(rows)
    if scheme is None:
        if all(label == "O" for row in rows for label in row):
            return GivenSpans([[] for _ in rows], "bio")
        raise ValueError(
            f"{reason}; give labels as B-PER, I-PER, O, or lists of spans (first token, "
            "token after the last, label)"
        )
    found: list[list[tuple[str, int, int]]] = [[] for _ in rows]
    for kind, i, first, last in all_spans(rows):
        found[i].append((kind, first, last))
    if told is None:
        _check_scheme(rows, found, scheme, reason)
    return GivenSpans(
        [[(a, b + 1, kind) for kind, a, b in spans] for spans in found], scheme
    )


def _recognised(rows: list[list[Any]]) -> Recognised:
    try:
        return recognise_scheme(rows)
    except ValueError as error:
        raise ValueError(f"{error}; {ADVICE}") from None


def _check_scheme(
    rows: list[list[Any]],
    found: list[list[tuple[str, int, int]]],
    scheme: str,
    reason: str,
) -> None:
    """Refuse labels that the scheme would not write for the spans that were read."""
    for i, (spans, row) in enumerate(zip(found, rows, strict=True)):
        made = labels_of_spans(spans, len(row), scheme)
        if made != row:
            t = next(t for t in range(len(row)) if made[t] != row[t])
            raise ValueError(
                f"sequence {i}, token {t}: {row[t]!r} does not fit {scheme.upper()} "
                f"({reason}), which would have {made[t]!r} there; {ADVICE}"
            )


def split_long(rows: list[list[Span]], longest: int, longer: str) -> list[list[Span]]:
    """Refuse spans of more tokens than `longest`, or cut them into pieces."""
    out = []
    for i, row in enumerate(rows):
        pieces: list[Span] = []
        for first, end, label in row:
            if end - first > longest and longer == "error":
                raise ValueError(
                    f"sequence {i}, token {first}: the span ({first}, {end}, {label!r}) has "
                    f"{end - first} tokens, more than max_length={longest}: raise "
                    "max_length, or cut such spans into pieces with longer='split'"
                )
            for a in range(first, end, longest):
                pieces.append((a, min(a + longest, end), label))
        out.append(pieces)
    return out


def codes_of(rows: list[list[Span]], labels: Sequence[Hashable], ptr: Ints) -> Ragged:
    """Rows of codes, see `inference.chain.semi_markov`; labels[0] is outside."""
    where = {label: k for k, label in enumerate(labels)}
    data = np.zeros(int(ptr[-1]), np.int32)
    for i, row in enumerate(rows):
        for first, end, label in row:
            k = where.get(label, 0)
            if k == 0:
                known = ", ".join(repr(label) for label in labels[1:9])
                raise ValueError(
                    f"sequence {i}, token {first}: unknown label {label!r}; known are {known}"
                )
            at = int(ptr[i])
            data[at + first] = 2 * k - 1
            data[at + first + 1 : at + end] = 2 * k
    return Ragged(ptr, data)


def spans_of(codes: Ragged, labels: Sequence[Hashable]) -> list[list[Span]]:
    """Lists of spans of rows of codes."""
    data, ptr = codes.data, codes.ptr
    first = np.flatnonzero(data % 2 == 1)
    stops = np.union1d(np.flatnonzero((data == 0) | (data % 2 == 1)), ptr)
    end = stops[np.searchsorted(stops, first, "right")]
    row = np.searchsorted(ptr, first, "right") - 1
    found = [row, first - ptr[row], end - ptr[row], (data[first] + 1) // 2]
    out: list[list[Span]] = [[] for _ in range(codes.n)]
    for i, a, b, k in zip(*[part.tolist() for part in found], strict=True):
        out[i].append((a, b, labels[k]))
    return out


def written(
    rows: list[list[Span]], sizes: Sequence[int], scheme: str | None
) -> list[Any]:
    """Spans as label sequences in a scheme, or as they are."""
    if scheme is None:
        return list(rows)
    return [
        labels_of_spans([(str(k), a, b - 1) for a, b, k in spans], n, scheme)
        for spans, n in zip(rows, sizes, strict=True)
    ]
