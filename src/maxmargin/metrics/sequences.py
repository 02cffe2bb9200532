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
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.tokens.label_schemes import all_spans

Span = tuple[str, int, int, int]  # type, sequence, first token, last token
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
    return [(kind, a, b) for kind, _, a, b in all_spans([list(labels)])]


def span_scores(y_true: Sequence[Any], y_pred: Sequence[Any]) -> dict[str, SpanScore]:
    """Score each entity type, and 'micro', 'macro' and 'weighted' averages.

    Examples
    --------
    >>> scores = span_scores([["B-P", "O", "B-Q"]], [["B-P", "O", "O"]])
    >>> scores["P"].f1, scores["micro"].recall, scores["macro"].f1
    (1.0, 0.5, 0.5)
    """
    true, said = map(set, _known_spans(y_true, y_pred))
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


class SpanErrors(NamedTuple):
    """What became of the spans, counted; each true and each predicted span once.

    A predicted span that is not correct is paired with the true span, not yet paired,
    that it shares most tokens with.
    """

    correct: int  # begin, end and type agree
    wrong_type: int  # begin and end agree
    wrong_extent: int  # the type agrees, and some tokens
    wrong_both: int  # some tokens agree
    missed: int  # true spans without a partner
    spurious: int  # predicted spans without a partner


class SpanConfusion(NamedTuple):
    """Types of paired spans: rows are true types, columns predicted ones.

    The last row and column are spans without a partner: spurious and missed ones.
    """

    kinds: list[str]
    counts: np.ndarray  # (kinds + 1, kinds + 1)

    def table(self) -> str:
        """As text."""
        heads = [*self.kinds, "none"]
        width = max(len(h) for h in [*heads, "true"]) + 2
        lines = ["true".ljust(width) + "".join(h.rjust(width) for h in heads)]
        for head, row in zip(heads, self.counts.tolist()):
            lines.append(head.ljust(width) + "".join(f"{v:>{width}}" for v in row))
        return "\n".join(lines) + "\n"


def span_confusion(
    y_true: Sequence[Any], y_pred: Sequence[Any]
) -> tuple[SpanConfusion, SpanErrors]:
    """Which types are taken for which others, and what kinds of errors there are.

    Examples
    --------
    >>> truth = [["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG"]]
    >>> found = [["B-PER", "O", "O", "B-ORG", "B-LOC", "O"]]
    >>> confusion, errors = span_confusion(truth, found)
    >>> print(confusion.table())
    true     LOC   ORG   PER  none
    LOC        0     1     0     0
    ORG        0     0     0     1
    PER        0     0     1     0
    none       1     0     0     0
    <BLANKLINE>
    >>> errors.wrong_type, errors.wrong_extent, errors.missed, errors.spurious
    (1, 1, 1, 1)
    """
    true, said = _known_spans(y_true, y_pred)
    kinds = sorted({span[0] for span in (*true, *said)})
    place = {kind: j for j, kind in enumerate(kinds)}
    counts = np.zeros((len(kinds) + 1, len(kinds) + 1), np.int64)
    tally = dict.fromkeys(SpanErrors._fields, 0)
    pairs = _paired_spans(true, said)
    for a, b in pairs:
        counts[place[a[0]], place[b[0]]] += 1
        if a == b:
            tally["correct"] += 1
        elif a[1:] == b[1:]:
            tally["wrong_type"] += 1
        else:
            tally["wrong_extent" if a[0] == b[0] else "wrong_both"] += 1
    for span in set(true) - {a for a, _ in pairs}:
        counts[place[span[0]], -1] += 1
        tally["missed"] += 1
    for span in set(said) - {b for _, b in pairs}:
        counts[-1, place[span[0]]] += 1
        tally["spurious"] += 1
    return SpanConfusion(kinds, counts), SpanErrors(**tally)


def _paired_spans(true: list[Span], said: list[Span]) -> list[tuple[Span, Span]]:
    """Spans of both sides that belong together, largest overlaps first."""
    by_sequence: dict[int, list[Span]] = {}
    for span in said:
        by_sequence.setdefault(span[1], []).append(span)
    found = []
    for a in true:
        for b in by_sequence.get(a[1], []):
            shared = min(a[3], b[3]) - max(a[2], b[2]) + 1
            if shared > 0:
                same = a[2:] == b[2:], a[0] == b[0]
                found.append((not same[0], -shared, not same[1], a, b))
    pairs, used = [], set()
    for *_, a, b in sorted(found):
        if ("true", a) not in used and ("said", b) not in used:
            used |= {("true", a), ("said", b)}
            pairs.append((a, b))
    return pairs


def _known_spans(
    y_true: Sequence[Any], y_pred: Sequence[Any]
) -> tuple[list[Span], list[Span]]:
    """Spans of true and predicted labels, all of which must be known."""
    pairs = [(a, b) for _, a, b in _aligned(y_true, y_pred)]
    for i, (a, _) in enumerate(pairs):
        if None in a:
            raise ValueError(
                f"sequence {i}, token {a.index(None)}: the true label is None; spans "
                "are scored where all labels are known"
            )
    return all_spans([a for a, _ in pairs]), all_spans([b for _, b in pairs])


def _aligned(
    y_true: Sequence[Any], y_pred: Sequence[Any]
) -> Iterable[tuple[int, list[Any], list[Any]]]:
    if y_true is None:
        raise ValueError("the true sequences are None: give a list of them")
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"{len(y_true)} true sequences but {len(y_pred)} predicted ones"
        )
    for i, (a, b) in enumerate(zip(y_true, y_pred, strict=True)):
        if isinstance(a, str) != isinstance(b, str):
            text = a if isinstance(a, str) else b
            raise ValueError(
                f"sequence {i}: labels are one string, {text!r:.40}: give a list of labels"
            )
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
