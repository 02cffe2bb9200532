"""Raw text with annotated spans, counted in characters: JSON lines of annotation tools.

    {"text": "Ana lives in Lima.", "entities": [[0, 3, "PER"], [13, 17, "LOC"]]}

spaCy, Prodigy and doccano write such files. Taggers want words with labels instead;
`split_text` finds the words and remembers where they stand, so that answers can be
written as characters again.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.core.data.tokens.label_schemes import all_spans
from maxmargin.core.data.warned import warn
from maxmargin.io.text import FormatError, numbered_lines

OPENING, CLOSING = "([{\"'“«", ")]}\"'”»,;:!?"
LISTS = ("entities", "spans", "label", "labels")  # names that tools give to the spans
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
ENDS = (("start", "end"), ("start_offset", "end_offset"))


class Word(NamedTuple):
    """A word and where it stands: text[start:end]."""

    text: str
    start: int
    end: int


class AnnotatedText(NamedTuple):
    """A text and its spans (start, end, label), in characters; `end` is excluded."""

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()

    def words(self) -> list[Word]:
        """The words; ends of spans also divide words."""
        return split_text(
            self.text, itertools.chain(*(span[:2] for span in self.spans))
        )

    def labels(self) -> list[str]:
        """A BIO label for each of `words()`."""
        out: list[str] = []
        for _, start, end in self.words():
            label = "O"
            for first, last, kind in self.spans:
                if first <= start and end <= last:
                    label = (
                        f"{'I' if out and self._goes_on(first, start) else 'B'}-{kind}"
                    )
            out.append(label)
        return out

    def _goes_on(self, first: int, start: int) -> bool:
        return bool(self.text[first:start].strip())


def split_text(text: str, cuts: Iterable[int] = ()) -> list[Word]:
    """Words between blanks, with punctuation split off as in most training data.

    Parameters
    ----------
    text : str
    cuts : iterable of int
        Places where a word ends in any case.

    Examples
    --------
    >>> split_text("Ana (25) lives.")[1:3]
    [Word(text='(', start=4, end=5), Word(text='25', start=5, end=7)]
    """
    at, out = sorted(set(cuts)), []
    for found in re.finditer(r"\S+", text):
        start, end = found.span()
        edges = [start, *(c for c in at if start < c < end), end]
        for a, b in itertools.pairwise(edges):
            out += _divided(text, a, b)
    return out


def split_sentences(text: str) -> list[list[str]]:
    """The words of each sentence; sentences end at . ! ? before a blank, or with the line.

    Examples
    --------
    >>> split_sentences("Ann met Bob. She liked him.")
    [['Ann', 'met', 'Bob', '.'], ['She', 'liked', 'him', '.']]
    """
    parts = ([word.text for word in split_text(p)] for p in SENTENCE_END.split(text))
    return [words for words in parts if words]


def _divided(text: str, start: int, end: int) -> list[Word]:
    """One stretch without blanks, its punctuation split off on both sides."""
    before, after = [], []
    while end - start > 1 and text[start] in OPENING:
        before.append(Word(text[start], start, start + 1))
        start += 1
    while end - start > 1 and (
        text[end - 1] in CLOSING or _ends_sentence(text[start:end])
    ):
        after.append(Word(text[end - 1], end - 1, end))
        end -= 1
    return [*before, Word(text[start:end], start, end), *reversed(after)]


def _ends_sentence(chunk: str) -> bool:
    """Whether the last letter is a full stop that is not part of an abbreviation."""
    return chunk[-1] == "." and "." not in chunk[:-1]


def spans_in_text(
    words: Sequence[Word], labels: Sequence[str]
) -> list[tuple[int, int, str]]:
    """Spans of BIO, BIOES or IOB labels as (start, end, label) in characters.

    Examples
    --------
    >>> spans_in_text(split_text("In Buenos Aires."), ["O", "B-LOC", "I-LOC", "O"])
    [(3, 15, 'LOC')]
    """
    found = all_spans([list(labels)])
    return [(words[a].start, words[b].end, kind) for kind, _, a, b in found]


def read_annotated(path: str | Path, encoding: str = "utf-8") -> list[AnnotatedText]:
    """Read JSON lines of texts with spans, as spaCy, Prodigy and doccano have them.

    Spans are ``[start, end, label]`` or objects with ``start``, ``end`` and ``label``,
    under the name ``entities``, ``spans``, ``label`` or ``labels``. A warning names the
    first span that begins or ends inside a word.
    """
    out, dividing = [], []
    for number, line in numbered_lines(path, encoding):
        if line.strip():
            try:
                out.append(_record(json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise FormatError(path, number, str(error)) from None
            dividing += [(number, *pair) for pair in _dividing(out[-1])]
    if dividing:
        number, (start, end, label), word = dividing[0]
        warn(
            f"{path}, line {number}: the span {start} .. {end} ({label}) divides "
            f"{word!r:.40}, and {len(dividing)} of {sum(len(t.spans) for t in out)} spans "
            "divide words, which stay whole in texts to predict: check the ends of spans"
        )
    return out


def _dividing(text: AnnotatedText) -> list[tuple[tuple[int, int, str], str]]:
    """Spans with an end inside a word, and that word."""
    words = split_text(text.text) if text.spans else []
    return [
        (span, inside[0])
        for span in text.spans
        if (
            inside := [
                w.text for w in words if any(w.start < e < w.end for e in span[:2])
            ]
        )
    ]


def load_annotated(
    path: str | Path, encoding: str = "utf-8"
) -> tuple[list[list[str]], list[list[str]]]:
    """X (words) and y (BIO labels) of annotated texts."""
    texts = read_annotated(path, encoding)
    X = [[word.text for word in text.words()] for text in texts]
    return X, [text.labels() for text in texts]


def annotated_line(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """One line of such a file."""
    record = {"text": text, "entities": [list(span) for span in spans]}
    return json.dumps(record, ensure_ascii=False)


def _record(found: Any) -> AnnotatedText:
    if isinstance(found, list) and len(found) == 2 and isinstance(found[1], dict):
        found = {"text": found[0], **found[1]}  # (text, {"entities": ..}) of spaCy 2
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise ValueError(
            'not a text with spans, {"text": "..", "entities": [[start, end, "LABEL"]]}'
        )
    named = (found[name] for name in LISTS if isinstance(found.get(name), list))
    rows: list[Any] = next(named, [])
    text = found["text"]
    spans = sorted(_span(row, text) for row in rows)
    for one, other in itertools.pairwise(spans):
        if other[0] < one[1]:
            raise ValueError(
                f"the spans {one} and {other} overlap: a tagger gives each word one label; "
                "remove one of them"
            )
    return AnnotatedText(text, tuple(spans))


def _span(row: Any, text: str) -> tuple[int, int, str]:
    if isinstance(row, dict):
        ends = next((names for names in ENDS if names[0] in row), ENDS[0])
        row = [row.get(ends[0]), row.get(ends[1]), row.get("label")]
    good = isinstance(row, list) and len(row) == 3
    if not good or [type(v) for v in row] != [int, int, str] or not row[2]:
        raise ValueError(f'a span is [start, end, "LABEL"], not {row!r:.60}')
    start, end, label = row
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"the span {start} .. {end} is not in the text, which has {len(text)} "
            "characters (they count from 0, and the end is excluded)"
        )
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        raise ValueError(f"the span {row[0]} .. {row[1]} holds blanks only")
    return start, end, label
