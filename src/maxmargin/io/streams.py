"""Files of any size, a batch of sequences at a time.

Every reader here is a *source*: an object that can be iterated over again and again and
yields (X, y) batches; encoding looks at the data twice, first for names and labels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from maxmargin.io.sequences.templates import Template, ner
from maxmargin.io.text import FormatError, numbered_lines

Batch = tuple[list[Any], list[Any]]
BATCH = 1000  # sequences


@dataclass(frozen=True)
class Stream:
    """Batches from a function that yields (x, y) one by one.

    Examples
    --------
    >>> stream = Stream(lambda: iter([([["a"]], ["N"]), ([["b"]], ["V"])]), batch=1)
    >>> len(list(stream)), len(list(stream))
    (2, 2)
    """

    records: Callable[[], Iterator[tuple[Any, Any]]]
    batch: int = BATCH

    def __iter__(self) -> Iterator[Batch]:
        records = self.records()
        while some := list(islice(records, self.batch)):
            yield [x for x, _ in some], [y for _, y in some]


def stream_conll(
    path: str | Path,
    *,
    template: Template = ner,
    label: int = -1,
    separator: str | None = None,
    batch: int = BATCH,
) -> Stream:
    """CoNLL columns; see `load_conll`."""

    def record(rows: list[tuple[str, ...]]) -> tuple[Any, Any]:
        at = range(len(rows[0]))[label]
        return template([r[:at] + r[at + 1 :] for r in rows]), [r[at] for r in rows]

    def records() -> Iterator[tuple[Any, Any]]:
        rows: list[tuple[str, ...]] = []
        for number, line in numbered_lines(path):
            if line.startswith("-DOCSTART-"):
                continue
            if line.strip():
                rows.append(tuple(line.split(separator)))
                if len(rows[-1]) != len(rows[0]):
                    raise FormatError(path, number, "another number of columns")
            elif rows:
                yield record(rows)
                rows = []
        if rows:
            yield record(rows)

    return Stream(records, batch)


def stream_svm_hmm(path: str | Path, *, batch: int = BATCH) -> Stream:
    """`TAG qid:EXAMPLE FEATURE:VALUE ..` lines; features keep their numbers as names."""

    def records() -> Iterator[tuple[Any, Any]]:
        x: list[dict[str, float]] = []
        y: list[int] = []
        last = None
        for number, line in numbered_lines(path):
            fields = line.partition("#")[0].split()
            if not fields:
                continue
            try:
                tag, qid = int(fields[0]), fields[1]
                pairs = (field.partition(":") for field in fields[2:])
                token = {name: float(value) for name, _, value in pairs}
            except (ValueError, IndexError) as error:
                raise FormatError(path, number, str(error)) from None
            if qid != last and x:
                yield x, y
                x, y = [], []
            last = qid
            x.append(token)
            y.append(tag)
        if x:
            yield x, y

    return Stream(records, batch)


def stream_json_lines(
    path: str | Path, *, x: str = "x", y: str = "y", batch: int = BATCH
) -> Stream:
    """One JSON object per line, with tokens under `x` and labels under `y`.

    {"x": [{"word": "Ann"}, {"word": "ran"}], "y": ["B-PER", "O"]}
    """

    def records() -> Iterator[tuple[Any, Any]]:
        for number, line in numbered_lines(path):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                yield record[x], record[y]
            except (ValueError, KeyError, TypeError) as error:
                raise FormatError(path, number, f"{error!r}") from None

    return Stream(records, batch)
