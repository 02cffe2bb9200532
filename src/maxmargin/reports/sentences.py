"""Label sequences with their words: spans by type, and errors marked in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from maxmargin.core.data.tokens.label_schemes import recognise_scheme
from maxmargin.metrics.sequences import (
    AVERAGES,
    sequence_accuracy,
    span_confusion,
    span_scores,
)
from maxmargin.reports.drawing.svg import heat, table


def marks_spans(truth: Sequence[Any]) -> bool:
    """Whether outputs are label sequences that mark spans, all labels known.

    Examples
    --------
    >>> marks_spans([["B-PER", "O"]]), marks_spans([["N", "V"]]), marks_spans(["B-PER"])
    (True, False, False)
    """
    rows = [row for row in truth if isinstance(row, list | tuple)]
    if not rows or len(rows) != len(truth) or any(None in row for row in rows):
        return False
    try:
        return recognise_scheme(rows).scheme is not None
    except ValueError:  # two schemes: spans are read as conlleval reads them
        return True


def span_tables(truth: Sequence[Any], found: Sequence[Any]) -> str:
    """Precision, recall and F1 of each type of span, and which types are mixed up."""
    scores = span_scores(truth, found)
    order = [*(k for k in scores if k not in AVERAGES), "micro"]
    rows = [
        [
            k if k != "micro" else "all",
            *(f"{v:.3f}" for v in scores[k][:3]),
            scores[k][3],
        ]
        for k in order
    ]
    confusion, errors = span_confusion(truth, found)
    heads = [*confusion.kinds, "none"]
    counted = ", ".join(
        f"{number} {name.replace('_', ' ')}"
        for name, number in errors._asdict().items()
        if number
    )
    exact = 100.0 * sequence_accuracy(truth, found)
    scored = table(["type", "precision", "recall", "F1", "spans"], rows, "tnnnn")
    mixed = heat(confusion.counts, heads, heads, corner="true \\ found", whole=True)
    return (
        f'<div class="pair"><div>{scored}</div><div>{mixed}</div></div>'
        f"<p>{exact:.1f} % of the sentences have no error. Spans: {counted}.</p>"
    )


def marked_sentence(
    words: Sequence[str], truth: Sequence[Any], found: Sequence[Any]
) -> str:
    """A sentence as HTML: labels below the words, wrong ones in red with the true ones.

    Examples
    --------
    >>> "wrong" in marked_sentence(["Ana"], ["B-PER"], ["O"])
    True
    """
    out = []
    for word, a, b in zip(words, truth, found, strict=True):
        label = "" if a == b == "O" else str(b)
        if a != b:
            label = f'<span class="wrong">{escape(str(b))}, not {escape(str(a))}</span>'
        else:
            label = escape(label)
        out.append(f'<span class="token">{escape(word)}<small>{label}</small></span>')
    return f'<p class="sentence">{" ".join(out)}</p>'


def sentence_lines(
    words: Sequence[str], truth: Sequence[Any], found: Sequence[Any]
) -> list[str]:
    """The same as lines of text: word, true and found label, * where they differ.

    Examples
    --------
    >>> sentence_lines(["Ana", "va"], ["B-PER", "O"], ["O", "O"])
    ['* Ana B-PER O', '  va  O     O']
    """
    wide = [max(map(len, map(str, column)), default=0) for column in (words, truth)]
    return [
        f"{'*' if a != b else ' '} {word:{wide[0]}} {a!s:{wide[1]}} {b}".rstrip()
        for word, a, b in zip(words, truth, found, strict=True)
    ]
