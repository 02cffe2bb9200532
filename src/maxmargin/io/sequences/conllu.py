"""CoNLL-U: ten columns of Universal Dependencies, divided by tabs.

    # text = Vámonos
    1-2<tab>Vámonos<tab>_ ..            a token of several words
    1<tab>Vamos<tab>ir<tab>VERB<tab>_<tab>Mood=Imp<tab>0<tab>root<tab>_<tab>_
    2<tab>nos<tab>nosotros<tab>PRON ..

Words are the lines with a whole number. Comments, tokens of several words and empty
nodes (2.1) are kept and written again, but they are no words.

[1] https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.io.text import FormatError, numbered_lines, open_text

COLUMNS = (
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
)  # fmt: skip
_WORD = re.compile(r"[1-9]\d*")
_OTHER = re.compile(r"[1-9]\d*-[1-9]\d*|\d+\.[1-9]\d*")


class ConlluSentence(NamedTuple):
    """The words of a sentence, and the lines around them."""

    words: list[tuple[str, ...]]  # ten columns each
    lines: list[str | None]  # all lines; None for each word

    def column(self, name: str) -> list[str]:
        """One column of all words, say "form" or "upos"."""
        if name not in COLUMNS:
            raise ValueError(f"{name!r} is not one of {', '.join(COLUMNS)}")
        return [word[COLUMNS.index(name)] for word in self.words]


def read_conllu(path: str | Path, encoding: str = "utf-8") -> list[ConlluSentence]:
    """All sentences of a file, plain or gzip."""
    sentences: list[ConlluSentence] = []
    words: list[tuple[str, ...]] = []
    lines: list[str | None] = []
    same: dict[str, str] = {}
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            if words:
                sentences.append(ConlluSentence(words, lines))
                words, lines = [], []
            continue
        if line.startswith("#"):
            lines.append(line)
            continue
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise FormatError(
                path, number,
                f"{len(cells)} columns divided by tabs, where CoNLL-U has {len(COLUMNS)}",
            )  # fmt: skip
        if _OTHER.fullmatch(cells[0]):
            lines.append(line)
        elif _WORD.fullmatch(cells[0]) and int(cells[0]) == len(words) + 1:
            lines.append(None)
            words.append(tuple([same.setdefault(cell, cell) for cell in cells]))
        else:
            raise FormatError(
                path, number,
                f"the word after {len(words)} others must have the number "
                f"{len(words) + 1}, not {cells[0]!r}",
            )  # fmt: skip
    if words:
        sentences.append(ConlluSentence(words, lines))
    return sentences


def load_conllu(
    path: str | Path,
    *,
    columns: Sequence[str] = ("form",),
    label: str = "upos",
    encoding: str = "utf-8",
) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """X (rows of some columns) and y (labels) for sequence models.

    Parameters
    ----------
    path : path
    columns : sequence of str
        Columns of X: "form", "lemma", "xpos", ..
    label : str
        Column of y.
    encoding : str
    """
    sentences = read_conllu(path, encoding)
    X = [list(zip(*(s.column(name) for name in columns))) for s in sentences]
    return X, [s.column(label) for s in sentences]


def write_conllu(
    path: str | Path,
    sentences: Iterable[ConlluSentence],
    labels: Iterable[Sequence[Any]] | None = None,
    *,
    label: str = "upos",
) -> None:
    """Write sentences; `labels`, if given, take the place of a column.

    Comments, tokens of several words and empty nodes stay where they were.
    """
    if label not in COLUMNS:
        raise ValueError(f"{label!r} is not one of {', '.join(COLUMNS)}")
    at = COLUMNS.index(label)
    kept = list(sentences)
    rows = [s.column(label) for s in kept] if labels is None else list(labels)
    if len(rows) != len(kept):
        raise ValueError(f"{len(kept)} sentences but labels of {len(rows)}")
    with open_text(path, "wt") as file:
        for i, (sentence, row) in enumerate(zip(kept, rows, strict=True)):
            if len(row) != len(sentence.words):
                raise ValueError(
                    f"sentence {i} has {len(sentence.words)} words, {len(row)} labels"
                )
            words = iter(zip(sentence.words, row, strict=True))
            for line in sentence.lines:
                if line is None:
                    word, value = next(words)
                    line = "\t".join([*word[:at], str(value), *word[at + 1 :]])
                file.write(line + "\n")
            file.write("\n")
