"""Judgements and runs of TREC: what trec_eval reads.

    qrels   QUERY ITER DOCUMENT GRADE
    run     QUERY Q0 DOCUMENT RANK SCORE NAME

Lines that begin with # and empty lines are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.io.text import read_lines


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    r"""Grades of the judged documents of each query.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "judged.txt"
    >>> _ = path.write_text("7 0 d1 1\n7 0 d2 0\n")
    >>> read_qrels(path)
    {'7': {'d1': 1, 'd2': 0}}
    """
    out: dict[str, dict[str, int]] = {}
    for number, words in _rows(path, 4, "QUERY ITER DOCUMENT GRADE"):
        query, _, document, grade = words
        try:
            value = int(grade)
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: the grade {grade!r} is not a whole number"
            ) from None
        _enter(out, query, document, value, f"{path}, line {number}")
    return out


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Scores of the retrieved documents of each query; ranks are ignored."""
    out: dict[str, dict[str, float]] = {}
    for number, words in _rows(path, 6, "QUERY Q0 DOCUMENT RANK SCORE NAME"):
        try:
            score = float(words[4])
        except ValueError:
            score = np.nan
        if not np.isfinite(score):
            raise ValueError(
                f"{path}, line {number}: the score {words[4]!r} is not a finite number"
            )
        _enter(out, words[0], words[2], score, f"{path}, line {number}")
    return out


def write_run(
    path: str | Path, run: Mapping[str, Mapping[str, float]], name: str = "maxmargin"
) -> None:
    """Write scores by query and document, best first, as trec_eval reads them."""
    with Path(path).open("w", encoding="utf-8") as out:
        for query, scores in run.items():
            order = sorted(sorted(scores, reverse=True), key=lambda d: -scores[d])
            for rank, document in enumerate(order, 1):
                for what, word in (("query", query), ("document", document)):
                    if not str(word) or any(c.isspace() for c in str(word)):
                        raise ValueError(
                            f"the {what} {word!r} has blanks in its name, or none"
                        )
                score = float(scores[document])
                out.write(f"{query} Q0 {document} {rank} {score!r} {name}\n")


def run_of_queries(
    qid: Sequence[Any], documents: Sequence[Any], scores: Any
) -> dict[str, dict[str, float]]:
    """A run from one table: query, name and score of each document.

    Examples
    --------
    >>> run_of_queries([7, 7, 8], ["a", "b", "a"], [0.5, 2.0, 1.0])
    {'7': {'a': 0.5, 'b': 2.0}, '8': {'a': 1.0}}
    """
    out: dict[str, dict[str, float]] = {}
    rows = zip(qid, documents, np.asarray(scores).tolist(), strict=True)
    for r, (query, document, score) in enumerate(rows):
        _enter(out, str(query), str(document), float(score), f"row {r}")
    return out


def _enter(
    table: dict[str, dict[str, Any]], query: str, document: str, value: Any, where: str
) -> None:
    row = table.setdefault(query, {})
    if document in row:
        raise ValueError(f"{where}: document {document!r} of query {query!r} again")
    row[document] = value


def _rows(path: str | Path, size: int, layout: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != size:
            raise ValueError(
                f"{path}, line {number}: {len(words)} fields, not {layout!r}"
            )
        yield number, words
