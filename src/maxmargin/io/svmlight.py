"""svmlight files: `LABEL FEATURE:VALUE FEATURE:VALUE .. # comment`, one example a line.

Features are numbered from 1 in rising order; column j of the matrix is feature j + 1.
Labels are integers, or names without blanks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.io.text import FormatError, numbered_lines, open_text

LARGEST = 2**31 - 2  # number of a feature


def read_svmlight(
    path: str | Path,
    n_features: int | None = None,
    *,
    named: bool = False,
    unlabelled: bool = False,
) -> tuple[sp.csr_array, np.ndarray]:
    """X (sparse) and y of all examples.

    Parameters
    ----------
    path : path
        Text, plain or gzip.
    n_features : int, optional
        Columns, to agree with another file: features beyond it are left out. If not
        given, the largest number seen.
    named : bool
        Keep labels as they are written, also where all are whole numbers.
    unlabelled : bool
        Whether a line may have no label; it is "" then.
    """
    labels: list[str] = []
    idx: list[int] = []
    val: list[float] = []
    ptr = [0]
    for number, line in numbered_lines(path):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        if unlabelled and _is_pair(fields[0]):
            fields.insert(0, "")
        if _is_pair(fields[0]):
            raise FormatError(
                path, number, f"{fields[0]!r} stands where the label should: a line is "
                "LABEL FEATURE:VALUE .. (any label will do where it is not known)",
            )  # fmt: skip
        before = 0
        for field in fields[1:]:
            j, value = _pair(field, path, number)
            if j == 0:  # qid: says which examples belong together; not for classes
                continue
            if j <= before:
                raise FormatError(
                    path, number, f"feature {j} after {before}: they must ascend"
                )
            before = j
            if n_features is None or j <= n_features:
                idx.append(j - 1)
                val.append(value)
        if len(fields) == 1 and "," in line:
            raise FormatError(
                path, number, "this is a line of CSV: a line is LABEL FEATURE:VALUE .. (read "
                "CSV with pandas and fit MulticlassSVM in Python)",
            )  # fmt: skip
        labels.append(fields[0])
        ptr.append(len(idx))
    width = max(idx, default=-1) + 1 if n_features is None else n_features
    data = np.array(val, float), np.array(idx, np.int32), np.array(ptr, np.int64)
    y = np.array(labels if named else typed(labels))
    return sp.csr_array(data, shape=(len(labels), width)), y


def _is_pair(field: str) -> bool:
    name, colon, value = field.partition(":")
    return bool(colon) and name.isdecimal() and value[:1] in "+-.0123456789"


def _pair(field: str, path: str | Path, number: int) -> tuple[int, float]:
    name, colon, value = field.partition(":")
    if name == "qid" and colon:
        return 0, 0.0
    try:
        j, v = int(name), float(value)
    except ValueError:
        raise FormatError(path, number, f"{field!r} is not FEATURE:VALUE") from None
    if not 1 <= j <= LARGEST:
        raise FormatError(
            path, number, f"feature {j} is not in 1 .. {LARGEST}: numbers begin at 1"
        )
    return j, v


def typed(labels: Iterable[str]) -> list[Any]:
    """Integers if all labels are whole numbers, else the names.

    Examples
    --------
    >>> typed(["1", "-1.0"]), typed(["1", "one"])
    ([1, -1], ['1', 'one'])
    """
    names = list(labels)
    try:
        numbers = [_whole(name) for name in names]
    except (ValueError, OverflowError):
        return names
    return numbers if all(abs(v) < 2**62 for v in numbers) else names


def _whole(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        value = float(name)
        if value != int(value):
            raise
        return int(value)


def write_svmlight(path: str | Path, X: Any, y: Iterable[Any]) -> None:
    """Write rows of a dense or sparse matrix with their labels."""
    rows, labels = sp.csr_array(X), [str(label) for label in y]
    if rows.shape[0] != len(labels):
        raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(labels)} labels")
    for i, label in enumerate(labels):
        if not label or label.startswith("#") or any(map(str.isspace, label)):
            raise ValueError(
                f"y[{i}] is {label!r}: a label has no blanks in this format"
            )
    rows.sort_indices()
    with open_text(path, "wt") as file:
        for i, label in enumerate(labels):
            some = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[some], rows.data[some], strict=True)
            cells = "".join(f" {j + 1}:{v:.17g}" for j, v in pairs)
            file.write(f"{label}{cells}\n")
