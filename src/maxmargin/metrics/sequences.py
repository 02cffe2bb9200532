"""Scores of label sequences: tokens, whole sequences, and spans.

A span is a run of tokens of one entity type: "B-PER" begins it, "I-PER" continues it,
"E-PER" ends it, "S-PER" is a span of one token, and "O" is outside of spans. Like in
conlleval (and seqeval's default mode) an I- after O or after another type begins a span.
A predicted span is correct if begin, end and type agree:

    precision = correct / predicted,  recall = correct / true,  F1 = harmonic mean.

[1] Tjong Kim Sang: Introduction to the CoNLL-2002 shared task, 2002.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

AVERAGES = ("micro", "macro", "weighted")


class SpanScore(NamedTuple):
    """Precision, recall, F1 and the number of true spans."""

    precision: float
    recall: float
    f1: float
    support: int


def token_error(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """Share of tokens with a wrong label; those whose true label is None do not count.

    Examples
    --------
    >>> token_error([["a", "b"], ["a"]], [["a", "a"], ["a"]])
    0.3333333333333333
    >>> token_error([["a", "b"], [None]], [["a", "a"], ["a"]])
    0.5
    """
    wrong, total = 0, 0
    for _, a, b in _aligned(y_true, y_pred):
        known = [(p, q) for p, q in zip(a, b, strict=True) if p is not None]
        wrong += sum(p != q for p, q in known)
        total += len(known)
    return wrong / total if total else 0.0


def sequence_accuracy(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """Share of sequences without an error; true labels that are None do not count.

    Examples
    --------
    >>> sequence_accuracy([["a", "b"], ["a"]], [["a", "a"], ["a"]])
    0.5
    """
    right = [
        all(p is None or p == q for p, q in zip(a, b, strict=True))
        for _, a, b in _aligned(y_true, y_pred)
    ]
    return sum(right) / len(right) if right else 0.0


def spans(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """(type, first token, last token) of each span of one sequence.

    Examples
    --------
    >>> spans(["B-PER", "I-PER", "O", "I-LOC"])
    [('PER', 0, 1), ('LOC', 3, 3)]
    """
    return [(kind, a, b) for kind, _, a, b in _all_spans([list(labels)])]


def span_scores(y_true: Sequence[Any], y_pred: Sequence[Any]) -> dict[str, SpanScore]:
    """Score each entity type, and 'micro', 'macro' and 'weighted' averages.

    Examples
    --------
    >>> scores = span_scores([["B-P", "O", "B-Q"]], [["B-P", "O", "O"]])
    >>> scores["P"].f1, scores["micro"].recall, scores["macro"].f1
    (1.0, 0.5, 0.5)
    """
    pairs = [(a, b) for _, a, b in _aligned(y_true, y_pred)]
    for i, (a, _) in enumerate(pairs):
        if None in a:
            raise ValueError(
                f"sequence {i}, token {a.index(None)}: the true label is None; spans "
                "are scored where all labels are known"
            )
    true = set(_all_spans([a for a, _ in pairs]))
    said = set(_all_spans([b for _, b in pairs]))
    kinds = sorted({span[0] for span in true | said})
    counts = np.zeros((len(kinds), 3), np.int64)  # correct, predicted, true
    place = {kind: j for j, kind in enumerate(kinds)}
    for column, some in enumerate((true & said, said, true)):
        for span in some:
            counts[place[span[0]], column] += 1
    scores = {kind: _score(*counts[j]) for kind, j in place.items()}
    scores["micro"] = _score(*counts.sum(axis=0))
    support = scores["micro"].support
    parts = np.array([scores[kind][:3] for kind in kinds]).reshape(-1, 3)
    even = parts.mean(axis=0) if len(kinds) else np.zeros(3)
    share = counts[:, 2] @ parts / support if support else np.zeros(3)
    for name, (p, r, f) in (("macro", even), ("weighted", share)):
        scores[name] = SpanScore(float(p), float(r), float(f), support)
    return scores


def span_f1(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """F1 over all spans (the CoNLL figure, between 0 and 1).

    Examples
    --------
    >>> span_f1([["B-P", "I-P"], ["B-Q", "O"]], [["B-P", "I-P"], ["O", "B-Q"]])
    0.5
    """
    return span_scores(y_true, y_pred)["micro"].f1


def span_report(y_true: Sequence[Any], y_pred: Sequence[Any], digits: int = 2) -> str:
    """Table of precision, recall, F1 and support per entity type, as text.

    Examples
    --------
    >>> print(span_report([["B-P", "O", "B-Q"]], [["B-P", "O", "O"]]))
                  precision    recall  f1-score   support
    <BLANKLINE>
               P       1.00      1.00      1.00         1
               Q       0.00      0.00      0.00         1
    <BLANKLINE>
       micro avg       1.00      0.50      0.67         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    scores = span_scores(y_true, y_pred)
    kinds = [kind for kind in scores if kind not in AVERAGES]
    width = max([len(kind) for kind in kinds] + [len("weighted avg"), digits])
    heads = "".join(f" {h:>9}" for h in ("precision", "recall", "f1-score", "support"))

    def line(name: str, score: SpanScore) -> str:
        numbers = "".join(f" {v:>9.{digits}f}" for v in score[:3])
        return f"{name:>{width}s} {numbers} {score.support:>9}"

    rows = [f"{'':>{width}s} {heads}", "", *(line(k, scores[k]) for k in kinds), ""]
    rows += [line(f"{name} avg", scores[name]) for name in AVERAGES]
    return "\n".join(rows) + "\n"


def _aligned(
    y_true: Sequence[Any], y_pred: Sequence[Any]
) -> Iterable[tuple[int, list[Any], list[Any]]]:
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"{len(y_true)} true sequences but {len(y_pred)} predicted ones"
        )
    for i, (a, b) in enumerate(zip(y_true, y_pred, strict=True)):
        one, two = _list(a), _list(b)
        if len(one) != len(two):
            raise ValueError(
                f"sequence {i} has {len(one)} true labels but {len(two)} predicted ones"
            )
        yield i, one, two


def _list(labels: Any) -> list[Hashable]:
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def _score(found: int, said: int, true: int) -> SpanScore:
    precision = found / said if said else 0.0
    recall = found / true if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if found else 0.0
    return SpanScore(float(precision), float(recall), float(f1), int(true))


def _all_spans(rows: list[list[str]]) -> list[tuple[str, int, int, int]]:
    """(type, sequence, first token, last token), by tables over pairs of labels."""
    known = sorted({"O", *chain.from_iterable(rows)})
    code = {label: j for j, label in enumerate(known)}
    out = code["O"]
    parts = [(label[:1], label[1:].split("-", 1)[-1] or "_") for label in known]
    opens = np.array([[_opens(p, q) for q in parts] for p in parts])
    closes = np.array([[_closes(p, q) for q in parts] for p in parts])
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
