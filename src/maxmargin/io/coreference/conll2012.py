"""CoNLL-2011 and CoNLL-2012: one token per line, entities in the last column.

    #begin document (bc/cctv/00/cctv_0000); part 000
    bc/cctv/00/cctv_0000   0   0   Ann    NNP  ..  (3
    bc/cctv/00/cctv_0000   0   1   Smith  NNP  ..  3)|(4)

    #end document

`(3` opens a mention of entity 3, `3)` closes it, `(3)` is a mention of one token, `|`
divides several. An empty line ends a sentence.

[1] Pradhan et al. 2012, CoNLL-2012 shared task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from maxmargin.io.coreference.document import (
    CoreferenceDocument,
    Span,
    brackets_of,
    in_text_order,
    write_lines,
)
from maxmargin.io.text import FormatError, numbered_lines

BEGIN = re.compile(r"#begin document\s+(.*)")
PIECE = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
WORD, TAG, SHORTEST = 3, 4, 5


def read_conll2012(
    path: str | Path, encoding: str = "utf-8"
) -> list[CoreferenceDocument]:
    """All documents (parts) of a file, plain or gzip."""
    documents: list[CoreferenceDocument] = []
    reader: _Document | None = None
    number = 0
    for number, line in numbered_lines(path, encoding):
        begin = BEGIN.match(line)
        if begin is not None:
            reader = _Document(begin.group(1).strip(), path)
        elif line.startswith("#end document"):
            if reader is None:
                raise FormatError(path, number, "#end document without #begin document")
            documents.append(reader.finished(number))
            reader = None
        elif line.startswith("#") and len(line.split()) < SHORTEST:
            continue
        elif line.strip():
            if reader is None:
                raise FormatError(path, number, "a token before #begin document")
            reader.add(line, number)
        elif reader is not None:
            reader.end_sentence(number)
    if reader is not None:
        raise FormatError(path, number, "the last document has no #end document")
    return documents


class _Document:
    """The document that is being read."""

    def __init__(self, name: str, path: str | Path) -> None:
        self.name, self.path = name, path
        self.sentences: list[list[str]] = []
        self.tags: list[list[str]] = []
        self.rows: list[list[list[str]]] = []
        self.spans: list[tuple[Span, Any]] = []
        self.words: list[str] = []
        self.here: list[list[str]] = []
        self.open: dict[int, list[int]] = {}

    def add(self, line: str, number: int) -> None:
        """A token."""
        cells = line.split()
        if len(cells) < SHORTEST:
            raise FormatError(
                self.path,
                number,
                f"{len(cells)} columns, at least {SHORTEST} are needed",
            )
        t, s = len(self.words), len(self.sentences)
        self.words.append(cells[WORD])
        self.here.append(cells)
        if cells[-1] in ("-", "_", "*"):
            return
        for piece in cells[-1].split("|"):
            match = PIECE.fullmatch(piece)
            if match is None:
                raise FormatError(
                    self.path, number,
                    f"{piece!r} in the last column is neither (ID, ID) nor (ID)",
                )  # fmt: skip
            alone, opens, closes = match.groups()
            if alone is not None:
                self.spans.append(((s, t, t), int(alone)))
            elif opens is not None:
                self.open.setdefault(int(opens), []).append(t)
            else:
                begun = self.open.get(int(closes))
                if not begun:
                    raise FormatError(
                        self.path, number,
                        f"a mention of entity {closes} closes that was not opened in this "
                        "sentence",
                    )  # fmt: skip
                self.spans.append(((s, begun.pop(), t), int(closes)))

    def end_sentence(self, number: int) -> None:
        """An empty line."""
        left = [entity for entity, begun in self.open.items() if begun]
        if left:
            raise FormatError(
                self.path, number, f"a mention of entity {left[0]} is never closed"
            )
        if self.words:
            self.sentences.append(self.words)
            self.rows.append(self.here)
            wide = all(len(cells) > SHORTEST for cells in self.here)
            self.tags.append([cells[TAG] if wide else "-" for cells in self.here])
        self.words, self.here, self.open = [], [], {}

    def finished(self, number: int) -> CoreferenceDocument:
        """The whole document."""
        self.end_sentence(number)
        ordered = in_text_order(self.spans)
        told = any(tag not in ("-", "_") for row in self.tags for tag in row)
        return CoreferenceDocument(
            self.sentences, [span for span, _ in ordered], [c for _, c in ordered],
            self.name, self.tags if told else None, self.rows,
        )  # fmt: skip


def conll2012_lines(
    document: CoreferenceDocument,
    spans: Sequence[Span] | None = None,
    clusters: Sequence[Any] | None = None,
) -> list[str]:
    """Lines of a document, with other mentions and entities if given.

    Entities are numbered by first mention unless they are numbers.
    """
    spans = document.spans if spans is None else spans
    clusters = document.clusters if clusters is None else clusters
    known: dict[Any, int] = {}
    plain = all(isinstance(c, int) for c in clusters)
    numbers = [c if plain else known.setdefault(c, len(known)) for c in clusters]
    name = document.name or "(document); part 000"
    lines = [f"#begin document {name}"]
    short, _, part = name.strip().lstrip("(").partition(");")
    short = "_".join(short.split()) or "document"  # columns are divided by blanks
    part_number = "".join(filter(str.isdigit, part)) or "0"
    for s, words in enumerate(document.sentences):
        opens, alone, closes = brackets_of(spans, numbers, s, len(words))
        for t, word in enumerate(words):
            if len(word.split()) != 1:
                raise ValueError(
                    f"{name}, sentence {s}, token {t}: {word!r} is not one word, and "
                    "columns are divided by blanks"
                )
            cell = "|".join([
                *(f"({c}" for c in opens[t]), *(f"({c})" for c in alone[t]),
                *(f"{c})" for c in closes[t]),
            ])  # fmt: skip
            cells = [short, str(int(part_number)), str(t), word, "-", "-"]
            if document.records is not None:
                cells = list(document.records[s][t])
            cells[-1] = cell or "-"
            lines.append("\t".join(cells))
        lines.append("")
    return [*lines, "#end document"]


def write_conll2012(
    path: str | Path,
    documents: Iterable[CoreferenceDocument],
    clusters: Iterable[Sequence[Any]] | None = None,
) -> None:
    """Write documents; `clusters`, if given, are other entities of their mentions."""
    write_lines(path, documents, clusters, conll2012_lines)
