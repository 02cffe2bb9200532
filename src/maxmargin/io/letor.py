"""LETOR files: `grade qid:Q 1:v 2:v ... # comment`, one document per line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.text import read_lines

LARGEST = 10**6  # number of a feature: matrices are dense


class Queries(NamedTuple):
    """Documents by query, in the order of the file."""

    X: list[NDArray[np.float64]]  # (documents, features) of each query
    y: list[NDArray[np.int64]]  # grades
    qid: list[str]

    def normalized(self) -> Queries:
        """Every feature of a query scaled to 0 .. 1; constant ones to 0."""
        return self._replace(X=[_to_unit(x) for x in self.X])


def read_letor(
    paths: str | Path | Sequence[str | Path], n_features: int | None = None
) -> Queries:
    """Read one or several files, gzipped or not.

    The documents of a query stand together, as svm_rank and trec_eval want them too.

    Parameters
    ----------
    paths : path or sequence of paths
    n_features : int, optional
        Width of the matrices; by default the largest feature number seen.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    docs: dict[str, list[tuple[int, dict[int, float]]]] = {}
    begun: dict[str, str] = {}
    for path in several:
        for q, doc in _documents(read_lines(path), str(path), begun):
            docs.setdefault(q, []).append(doc)
    most = max((max(d, default=0) for ds in docs.values() for _, d in ds), default=0)
    width = most if n_features is None else n_features
    if most > width:
        raise ValueError(f"feature {most} occurs, but n_features={width}")
    X, y = [], []
    for ds in docs.values():
        matrix = np.zeros((len(ds), width))
        for r, (_, values) in enumerate(ds):
            for f, v in values.items():
                matrix[r, f - 1] = v
        X.append(matrix)
        y.append(np.array([g for g, _ in ds], np.int64))
    return Queries(X, y, list(docs))


def parse_letor(text: str) -> Queries:
    r"""Read text.

    Examples
    --------
    >>> data = parse_letor("2 qid:7 1:0.5 2:1 # a\n0 qid:7 2:3\n1 qid:8 1:2")
    >>> data.qid, data.y[0].tolist(), data.X[0].tolist()
    (['7', '8'], [2, 0], [[0.5, 1.0], [0.0, 3.0]])
    >>> data.normalized().X[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    docs: dict[str, list[tuple[int, dict[int, float]]]] = {}
    for q, doc in _documents(text.splitlines(), "text", {}):
        docs.setdefault(q, []).append(doc)
    width = max((max(d, default=0) for ds in docs.values() for _, d in ds), default=0)
    X = [
        np.array([[d.get(f + 1, 0.0) for f in range(width)] for _, d in ds])
        for ds in docs.values()
    ]
    y = [np.array([g for g, _ in ds], np.int64) for ds in docs.values()]
    return Queries(X, y, list(docs))


def _documents(
    lines: Iterable[str], name: str, begun: dict[str, str]
) -> Iterable[tuple[str, tuple[int, dict[int, float]]]]:
    """(query, document) of each line; `begun` says where each query began."""
    last = None
    for number, line in enumerate(lines, 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        where = f"{name}, line {number}"
        try:
            grade = _grade(words[0])
            key, q = words[1].split(":")
            pairs = [word.split(":") for word in words[2:]]
            numbers = [int(f) for f, _ in pairs]
            values = dict(zip(numbers, [float(v) for _, v in pairs], strict=True))
            if key != "qid" or any(not 1 <= f <= LARGEST for f in numbers):
                raise ValueError
        except (ValueError, IndexError, OverflowError):
            raise ValueError(f"{where}: not 'grade qid:Q 1:v 2:v ...'") from None
        if len(values) < len(numbers):
            twice = next(f for f in numbers if numbers.count(f) > 1)
            raise ValueError(f"{where}: feature {twice} occurs twice")
        if q != last and q in begun:
            raise ValueError(
                f"{where}: query {q!r} began at {begun[q]}, and other queries stand in "
                "between; put the documents of a query together"
            )
        begun.setdefault(q, where)
        last = q
        yield q, (grade, values)


def _grade(word: str) -> int:
    grade = float(word)
    if not abs(grade) <= LARGEST or grade != int(grade):
        raise ValueError
    return int(grade)


def _to_unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = x.min(axis=0), x.max(axis=0)
    span = high - low
    return np.where(span > 0, (x - low) / np.where(span > 0, span, 1.0), 0.0)
