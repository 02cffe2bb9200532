"""SVM-hmm files: one token per line, sentences numbered by qid.

    TAG qid:EXAMPLE FEATURE:VALUE FEATURE:VALUE .. # comment

Features are numbered from 1, in rising order; column j of the matrix is feature j + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.tokens.sequences import Sequences
from maxmargin.io.text import FormatError, numbered_lines, open_text

LARGEST = 2**31 - 2  # number of a feature, and of a tag


def read_svm_hmm(
    path: str | Path, n_features: int | None = None
) -> tuple[Sequences, Sequences]:
    """X (sparse rows) and y (integers) of all sequences.

    Parameters
    ----------
    path : path
        Text, plain or gzip.
    n_features : int, optional
        Columns of the matrix, to agree with another file: features beyond it are left
        out. If not given, the largest number seen.
    """
    labels: list[int] = []
    idx: list[int] = []
    val: list[float] = []
    ptr, offsets, seen, last = [0], [0], set(), None
    for number, line in numbered_lines(path):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            tag, qid = int(fields[0]), fields[1]
            if abs(tag) > LARGEST:
                raise FormatError(path, number, f"the tag {tag} is too large")
            if not qid.startswith("qid:"):
                raise FormatError(path, number, "'TAG qid:EXAMPLE' must come first")
            if qid != last:
                if qid in seen:
                    raise FormatError(path, number, f"{qid} occurs again further up")
                seen.add(qid)
                if last is not None:
                    offsets.append(len(labels))
                last = qid
            _read_pairs(fields[2:], idx, val, n_features)
        except FormatError:
            raise
        except (ValueError, IndexError) as error:
            raise FormatError(path, number, str(error)) from None
        labels.append(tag)
        ptr.append(len(idx))
    if labels:
        offsets.append(len(labels))
    width = n_features if n_features is not None else max(idx, default=-1) + 1
    data = np.array(val, float), np.array(idx, np.int32), np.array(ptr, np.int64)
    matrix = sp.csr_array(data, shape=(len(labels), width))
    return Sequences(matrix, offsets), Sequences(np.array(labels, np.int64), offsets)


def _read_pairs(
    fields: Sequence[str], idx: list[int], val: list[float], width: int | None
) -> None:
    before = 0
    for field in fields:
        name, colon, value = field.partition(":")
        if not colon:
            raise ValueError(f"{field!r} is not FEATURE:VALUE")
        number = int(name)
        if number > LARGEST:
            raise ValueError(f"feature {number} is larger than {LARGEST}")
        if number <= before:
            raise ValueError(
                f"feature {number} after {before}: numbers must rise from 1"
            )
        before = number
        if width is None or number <= width:
            idx.append(number - 1)
            val.append(float(value))


def write_svm_hmm(path: str | Path, X: Any, y: Any) -> None:
    """Write sequences of dense or sparse rows with integer labels."""
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sequences, but y has {len(y)}")
    with open_text(path, "wt") as file:
        for i in range(len(X)):
            rows, tags = sp.csr_array(X[i]), np.asarray(y[i])
            if rows.shape[0] != len(tags):
                raise ValueError(
                    f"sequence {i} has {rows.shape[0]} tokens but {len(tags)} labels"
                )
            if tags.dtype.kind not in "biu":
                raise ValueError(
                    f"sequence {i}: labels are whole numbers in this format"
                )
            rows.sort_indices()
            for t, tag in enumerate(tags):
                some = slice(rows.indptr[t], rows.indptr[t + 1])
                pairs = zip(rows.indices[some], rows.data[some], strict=True)
                cells = "".join(f" {j + 1}:{v:.17g}" for j, v in pairs)
                file.write(f"{int(tag)} qid:{i + 1}{cells}\n")
