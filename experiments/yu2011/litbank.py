"""LitBank coreference: documents with gold mentions."""

from __future__ import annotations

import gzip
from pathlib import Path

from maxmargin.structures.clusters import Document, Mention


def read_litbank(path: Path) -> list[tuple[str, Document, list[int]]]:
    """(name, document, cluster of each mention), sorted by name."""
    out = []
    name, sentences, mentions, clusters = "", [], [], []

    def close() -> None:
        if name:
            out.append((name, Document(sentences, mentions), clusters))

    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            kind, *rest = line.rstrip("\n").split("\t")
            if kind.startswith("#doc"):
                close()
                name, sentences, mentions, clusters = kind[5:], [], [], []
            elif kind == "S":
                sentences.append(rest[0].split(" "))
            elif kind == "M":
                s, a, b = (int(v) for v in rest[:3])
                mentions.append(Mention(s, a, b, rest[3], rest[4]))
                clusters.append(int(rest[5]))
    close()
    return sorted(out, key=lambda item: item[0])


def shortened(document: Document, clusters: list[int], most: int) -> tuple:
    """The first `most` mentions."""
    return document._replace(mentions=document.mentions[:most]), clusters[:most]
