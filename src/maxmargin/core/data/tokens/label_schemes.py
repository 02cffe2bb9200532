"""How spans are written as labels: IOB1, BIO (IOB2), BIOES, BILOU.

    tokens   Ana  Ruiz  ,  Lima  Peru
    BIO      B-P  I-P   O  B-L   B-L      every span begins with B-
    IOB1     I-P  I-P   O  I-L   B-L      B- only where a span of the same type is before
    BIOES    B-P  E-P   O  S-L   S-L      the last token of several is E-, a single one S-
    BILOU    B-P  L-P   O  U-L   U-L      the same with L- and U-

Spans are read as conlleval does: an I- after O, or after another type, opens a span.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SCHEMES = ("bio", "iob1", "bioes", "bilou")
_PLAIN = {"L": "E", "U": "S"}  # BILOU's letters in BIOES


class Recognised(NamedTuple):
    """A scheme, and the reason in a sentence for people."""

    scheme: str | None  # one of SCHEMES; None if the labels do not mark spans
    reason: str


def all_spans(rows: Sequence[Sequence[str]]) -> list[tuple[str, int, int, int]]:
    """(type, sequence, first token, last token) of all spans of label sequences.

    Examples
    --------
    >>> all_spans([["B-PER", "I-PER", "O"], ["I-LOC"]])
    [('PER', 0, 0, 1), ('LOC', 1, 0, 0)]
    """
    known = sorted({"O", *chain.from_iterable(rows)})
    code = {label: j for j, label in enumerate(known)}
    out = code["O"]
    parts = [_parts(label) for label in known]
    opens, closes, _ = span_edges(known)
    flat = [out]
    for row in rows:
        flat.extend(code[label] for label in row)
        flat.append(out)
    codes = np.array(flat)
    begin = np.flatnonzero(opens[codes[:-1], codes[1:]]) + 1
    end = np.flatnonzero(closes[codes[:-1], codes[1:]])
    first = np.cumsum([1] + [len(row) + 1 for row in rows])  # token 0 of each sequence
    row_of = np.searchsorted(first, end, "right") - 1
    begin = begin[np.searchsorted(begin, end, "right") - 1] if len(end) else begin
    return [
        (parts[codes[b]][1], int(i), int(a - first[i]), int(b - first[i]))
        for i, a, b in zip(row_of, begin, end, strict=True)
    ]


class SpanEdges(NamedTuple):
    """Where spans begin and end, by the numbers of two labels next to each other."""

    opens: NDArray[np.bool_]  # (K, K): whether a span begins with the second label
    closes: NDArray[np.bool_]  # (K, K): whether a span ends with the first one
    kinds: NDArray[np.int64]  # (K,) number of the type of each label


def span_edges(labels: Sequence[str]) -> SpanEdges:
    """Tables for labels that are numbered in this order.

    Examples
    --------
    >>> span_edges(["B-P", "I-P", "O"]).opens.astype(int).tolist()
    [[1, 0, 0], [1, 0, 0], [1, 1, 0]]
    """
    parts = [_parts(label) for label in labels]
    kinds = sorted({kind for _, kind in parts})
    return SpanEdges(
        np.array([[_opens(p, q) for q in parts] for p in parts]),
        np.array([[_closes(p, q) for q in parts] for p in parts]),
        np.array([kinds.index(kind) for _, kind in parts]),
    )


def _parts(label: str) -> tuple[str, str]:
    """Letter and type of a label."""
    head = label[:1]
    if label[1:2] == "-":
        head = _PLAIN.get(head, head)
    return head, label[1:].split("-", 1)[-1] or "_"


def _opens(before: tuple[str, str], here: tuple[str, str]) -> bool:
    """Whether a span begins with the label `here`."""
    if here[0] in "BS":
        return True
    if here[0] in "O.":
        return False
    return before[0] in "ESO" or before[1] != here[1]


def _closes(before: tuple[str, str], here: tuple[str, str]) -> bool:
    """Whether a span ends with the label `before`."""
    if before[0] in "O.":
        return False
    return before[0] in "ES" or here[0] in "BSO" or before[1] != here[1]


def labels_of_spans(
    spans: Iterable[tuple[str, int, int]], length: int, scheme: str = "bio"
) -> list[str]:
    """Labels of a sequence with the given spans (type, first token, last token).

    Examples
    --------
    >>> labels_of_spans([("PER", 0, 1), ("LOC", 3, 3)], 4, "bioes")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    >>> labels_of_spans([("PER", 0, 2), ("LOC", 2, 3)], 4)
    Traceback (most recent call last):
    ...
    ValueError: spans PER 0-2 and LOC 2-3 overlap
    """
    _check_scheme(scheme)
    out = ["O"] * length
    before: tuple[str, int, int] | None = None
    for kind, first, last in sorted(spans, key=lambda span: span[1:]):
        if not 0 <= first <= last < length:
            raise ValueError(
                f"span {kind} {first}-{last} does not lie in {length} tokens"
            )
        if before is not None and before[2] >= first:
            raise ValueError(
                f"spans {before[0]} {before[1]}-{before[2]} and {kind} {first}-{last} "
                "overlap"
            )
        letters = "B" + "I" * (last - first)
        if scheme == "iob1":
            after = before is not None and before[0] == kind and before[2] == first - 1
            letters = letters if after else "I" + letters[1:]
        elif scheme in ("bioes", "bilou"):
            letters = "S" if first == last else letters[:-1] + "E"
            if scheme == "bilou":
                letters = letters.replace("S", "U").replace("E", "L")
        for t, letter in enumerate(letters, first):
            out[t] = f"{letter}-{kind}"
        before = kind, first, last
    return out


def recognise_scheme(y: Sequence[Sequence[Any]]) -> Recognised:
    """Which scheme label sequences are written in, and how one sees it.

    Raises
    ------
    ValueError
        If labels of two schemes are mixed; both places are named.

    Examples
    --------
    >>> recognise_scheme([["I-PER", "I-PER", "B-PER", "O"]])[0]
    'iob1'
    >>> recognise_scheme([["NN", "VB"]]).reason
    "the labels do not mark spans: 'NN' is neither O nor a letter with '-' and a type"
    """
    heads: dict[str, str] = {}
    for label in dict.fromkeys(chain.from_iterable(y)):
        if label is None or label == "O":
            continue
        if type(label) is not str or label[1:2] != "-" or label[0] not in "BIESLU":
            return Recognised(
                None,
                f"the labels do not mark spans: {label!r} is neither O nor a letter with "
                "'-' and a type",
            )
        heads.setdefault(label[0], label)
    if not heads:
        return Recognised(None, "the labels do not mark spans: all are O")
    for name, letters, others in (("bioes", "ES", "LU"), ("bilou", "LU", "ES")):
        found = [heads[h] for h in letters if h in heads]
        strange = [heads[h] for h in others if h in heads]
        if found and strange:
            one, other = found[0], strange[0]
            places = " and ".join(_first(y, label) for label in (one, other))
            raise ValueError(
                f"labels of BIOES and BILOU are mixed: {one!r} and {other!r} ({places}); "
                "convert one of the parts"
            )
        if found:
            return Recognised(
                name, f"the labels are {name.upper()}: there is {found[0]!r}"
            )
    return _bio_or_iob1(y)


def _bio_or_iob1(y: Sequence[Sequence[Any]]) -> Recognised:
    """Tell BIO and IOB1 apart by the labels at the beginnings of spans."""
    inside = begins = None  # where an I- opens a span; a B- that IOB1 would not write
    for i, row in enumerate(y):
        before = "O"
        for t, label in enumerate(row):
            if label is not None and label != "O":
                kind = label[2:]
                follows = before not in (None, "O") and before[2:] == kind
                if label[0] == "I" and not follows and before is not None:
                    inside = inside or (i, t, label)
                elif label[0] == "B" and not follows:
                    begins = begins or (i, t, label)
            before = label
    if inside and begins:
        raise ValueError(
            f"labels of IOB1 and BIO are mixed: {_at(inside)} begins a span as in IOB1, "
            f"but {_at(begins)} is a beginning as in BIO; convert one of the parts"
        )
    if inside:
        return Recognised("iob1", f"the labels are IOB1: {_at(inside)} begins a span")
    return Recognised("bio", "the labels are BIO (IOB2): every span begins with B-")


def _first(y: Sequence[Sequence[Any]], label: str) -> str:
    """Where a label stands first."""
    i = next(i for i, row in enumerate(y) if label in row)
    return f"sequence {i}, token {list(y[i]).index(label)}"


def _at(place: tuple[int, int, str]) -> str:
    return f"{place[2]!r} (sequence {place[0]}, token {place[1]})"


def convert_scheme(
    y: Sequence[Sequence[str]], to: str, source: str | None = None
) -> tuple[list[list[str]], str]:
    """The same spans in another scheme, and a sentence that says what was done.

    Parameters
    ----------
    y : label sequences
    to : {"bio", "iob1", "bioes", "bilou"}
    source : str, optional
        The scheme they are in, if it is not to be recognised.

    Examples
    --------
    >>> convert_scheme([["I-PER", "I-PER", "O"]], "bioes")
    ([['B-PER', 'E-PER', 'O']], "the labels are IOB1: 'I-PER' (sequence 0, token 0) begins a \
span; converted to BIOES")
    """
    _check_scheme(to)
    if source is None:
        source, reason = recognise_scheme(y)
    else:
        _check_scheme(source)
        reason = f"the labels are {source.upper()}, as told"
    rows = [list(row) for row in y]
    if source is None or source == to:
        return rows, reason
    found: list[list[tuple[str, int, int]]] = [[] for _ in rows]
    for kind, i, first, last in all_spans(rows):
        found[i].append((kind, first, last))
    made = [labels_of_spans(s, len(row), to) for s, row in zip(found, rows)]
    return made, f"{reason}; converted to {to.upper()}"


def _check_scheme(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise ValueError(f"scheme {scheme!r} is not one of {', '.join(SCHEMES)}")
