"""What a file of coreference holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin.io.text import open_text

Span = tuple[int, int, int]  # sentence, first token, last token (inclusive)


class CoreferenceDocument(NamedTuple):
    """A text with mentions in text order, and the entity of each.

    Examples
    --------
    >>> document = CoreferenceDocument([["Ann", "slept"], ["She", "woke"]],
    ...                                [(0, 0, 0), (1, 0, 0)], ["e1", "e1"])
    >>> document.entities()
    [[(0, 0, 0), (1, 0, 0)]]
    """

    sentences: list[list[str]]
    spans: list[Span]
    clusters: list[Any]  # of each span
    name: str = ""
    tags: list[list[str]] | None = None
    records: Any = None  # the lines of the file, to write it again

    def entities(self) -> list[list[Span]]:
        """Spans of each entity."""
        found: dict[Hashable, list[Span]] = {}
        for span, cluster in zip(self.spans, self.clusters, strict=True):
            found.setdefault(cluster, []).append(span)
        return list(found.values())


def in_text_order(spans: Sequence[tuple[Span, Any]]) -> list[tuple[Span, Any]]:
    """Spans with their entities by place; of those that begin together the longest first."""
    return sorted(spans, key=lambda pair: (pair[0][0], pair[0][1], -pair[0][2]))


def brackets_of(
    spans: Sequence[Span], clusters: Sequence[Any], sentence: int, size: int
) -> tuple[list[list[Any]], list[list[Any]], list[list[Any]]]:
    """Entities that open, stand alone and close at each token of a sentence.

    Longer spans open first and close last, so that brackets nest.
    """
    opens: list[list[Any]] = [[] for _ in range(size)]
    alone: list[list[Any]] = [[] for _ in range(size)]
    closes: list[list[Any]] = [[] for _ in range(size)]
    here = [
        (span, cluster)
        for span, cluster in zip(spans, clusters, strict=True)
        if span[0] == sentence
    ]
    for (s, first, last), _ in here:
        if not 0 <= first <= last < size:
            raise ValueError(
                f"sentence {s} has {size} tokens: there is no mention {first} .. {last}"
            )
    for (_, first, last), cluster in sorted(here, key=lambda p: -p[0][2]):
        (alone if first == last else opens)[first].append(cluster)
    for (_, first, last), cluster in sorted(here, key=lambda p: -p[0][1]):
        if first != last:
            closes[last].append(cluster)
    return opens, alone, closes


def write_lines(
    path: str | Path,
    documents: Iterable[CoreferenceDocument],
    clusters: Iterable[Sequence[Any]] | None,
    lines_of: Callable[..., Iterable[str]],
) -> None:
    """Write what `lines_of(document, clusters=)` makes of each document."""
    kept = list(documents)
    found = [d.clusters for d in kept] if clusters is None else list(clusters)
    with open_text(path, "wt") as file:
        for document, own in zip(kept, found, strict=True):
            if len(own) != len(document.spans):
                raise ValueError(
                    f"document {document.name!r} has {len(document.spans)} mentions, "
                    f"but {len(own)} clusters"
                )
            file.write("\n".join(lines_of(document, clusters=own)) + "\n")
