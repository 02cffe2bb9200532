"""CorefUD: CoNLL-U with entities in the column MISC.

    # newdoc id = a
    # global.Entity = eid-etype-head-other
    1<tab>Ann<tab>..<tab>Entity=(e1-person-1-
    2<tab>Smith<tab>..<tab>Entity=e1)|SpaceAfter=No

`(e1-..` opens a mention of entity e1, `e1)` closes it, `(e1-..)` is a mention of one
word; brackets of several follow each other. A mention of several pieces (`e1[1/2]`) is
read from its first word to its last; mentions of empty nodes are left out, because they
are no words.

[1] Nedoluzhko et al. 2022, CorefUD 1.0.
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
from maxmargin.io.sequences.conllu import COLUMNS, ConlluSentence, read_conllu

PIECE = re.compile(r"\(([^()]+)\)|\(([^()]+)|([^()]+)\)")
PARTS = re.compile(r"\[(\d+)/(\d+)\]$")
MISC = COLUMNS.index("misc")


def read_corefud(
    path: str | Path, encoding: str = "utf-8"
) -> list[CoreferenceDocument]:
    """All documents of a file, plain or gzip; one if it has no `# newdoc` lines."""
    groups: list[tuple[str, list[ConlluSentence]]] = []
    for sentence in read_conllu(path, encoding):
        new = _document_name(sentence)
        if new is not None or not groups:
            groups.append((new or "", []))
        groups[-1][1].append(sentence)
    return [_document(name, sentences, path) for name, sentences in groups]


def _document_name(sentence: ConlluSentence) -> str | None:
    for line in sentence.lines:
        if line is not None and line.startswith("# newdoc"):
            return line.partition("=")[2].strip()
    return None


def _document(
    name: str, sentences: list[ConlluSentence], path: str | Path
) -> CoreferenceDocument:
    found: list[tuple[Span, Any]] = []
    for s, sentence in enumerate(sentences):
        try:
            found += _mentions(s, sentence)
        except ValueError as error:
            raise ValueError(
                f"{path}, document {name!r}, sentence {s}: {error}"
            ) from None
    ordered = in_text_order(found)
    tags = [sentence.column("upos") for sentence in sentences]
    told = any(tag != "_" for row in tags for tag in row)
    return CoreferenceDocument(
        [sentence.column("form") for sentence in sentences],
        [span for span, _ in ordered], [entity for _, entity in ordered],
        name, tags if told else None, sentences,
    )  # fmt: skip


def _mentions(s: int, sentence: ConlluSentence) -> list[tuple[Span, str]]:
    out: list[tuple[Span, str]] = []
    open_at: dict[str, list[int]] = {}
    pieces: dict[str, int] = {}  # entities of several pieces: where the first begins
    for t, misc in enumerate(sentence.column("misc")):
        value = dict(p.partition("=")[::2] for p in misc.split("|")).get("Entity", "")
        if "".join(m.group(0) for m in PIECE.finditer(value)) != value:
            raise ValueError(f"word {t + 1}: {value!r} is not made of brackets")
        for match in PIECE.finditer(value):
            alone, opens, closes = match.groups()
            entity = (alone or opens or closes).split("-")[0]
            begin = open_at.setdefault(entity, [])
            if alone is not None or opens is not None:
                begin.append(t)
            if alone is None and closes is None:
                continue
            if not begin:
                raise ValueError(
                    f"word {t + 1}: a mention of {entity} closes that was not opened"
                )
            first, part = begin.pop(), PARTS.search(entity)
            if part is None:
                out.append(((s, first, t), entity))
                continue
            whole = PARTS.sub("", entity)
            pieces.setdefault(whole, first)
            if part.group(1) == part.group(2):
                out.append(((s, pieces.pop(whole), t), whole))
    left = [entity for entity, begin in open_at.items() if begin]
    if left:
        raise ValueError(f"a mention of {left[0]} is never closed")
    return out


def corefud_lines(
    document: CoreferenceDocument,
    spans: Sequence[Span] | None = None,
    clusters: Sequence[Any] | None = None,
) -> list[str]:
    """Lines of a document, with other mentions and entities if given."""
    spans = document.spans if spans is None else spans
    clusters = document.clusters if clusters is None else clusters
    names = [c if isinstance(c, str) else f"e{int(c) + 1}" for c in clusters]
    lines: list[str] = []
    for s, words in enumerate(document.sentences):
        brackets = brackets_of(spans, names, s, len(words))
        sentence = _sentence(document, s)
        at = 0
        head = [] if s else [f"# newdoc id = {document.name}", "# global.Entity = eid"]
        lines += head
        for line in sentence.lines:
            if line is None:
                opens, alone, closes = (part[at] for part in brackets)
                entity = "".join([
                    *(f"({e}" for e in opens), *(f"({e})" for e in alone),
                    *(f"{e})" for e in closes),
                ])  # fmt: skip
                lines.append(_with_entity(sentence.words[at], entity))
                at += 1
            elif not line.startswith(("# newdoc", "# global.Entity")):
                lines.append(line)
        lines.append("")
    return lines


def _sentence(document: CoreferenceDocument, s: int) -> ConlluSentence:
    if document.records is not None and isinstance(document.records[s], ConlluSentence):
        kept: ConlluSentence = document.records[s]
        return kept
    words = [
        (
            str(t),
            word,
            "_",
            document.tags[s][t - 1] if document.tags else "_",
            *["_"] * 6,
        )
        for t, word in enumerate(document.sentences[s], 1)
    ]
    return ConlluSentence(words, [None] * len(words))


def _with_entity(word: tuple[str, ...], entity: str) -> str:
    others = [
        p for p in word[MISC].split("|") if p != "_" and not p.startswith("Entity=")
    ]
    misc = "|".join([*([f"Entity={entity}"] if entity else []), *others]) or "_"
    return "\t".join([*word[:MISC], misc])


def write_corefud(
    path: str | Path,
    documents: Iterable[CoreferenceDocument],
    clusters: Iterable[Sequence[Any]] | None = None,
) -> None:
    """Write documents; `clusters`, if given, are other entities of their mentions."""
    write_lines(path, documents, clusters, corefud_lines)
