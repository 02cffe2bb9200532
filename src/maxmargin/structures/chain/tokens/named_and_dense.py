"""Tokens with named features and a dense matrix beside them, in one model.

A sequence is then a pair (tokens, matrix): tokens in a form with names (dicts, lists of
features, or sentences for templates), and a matrix (length, columns) of, say, word
vectors. The columns of the matrix come after the named features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Vectors, pointers, usable
from maxmargin.core.data.tokens.sequences import Sequences, place
from maxmargin.core.jit import loop


def split_pairs(X: Any) -> tuple[Any, Floats | None]:
    """Tokens of all sequences, and the matrices beside them, one below the other.

    The second is None where sequences are not pairs.

    Examples
    --------
    >>> pairs = [([["cap"], ["low"]], np.ones((2, 3))), ([["low"]], np.zeros((1, 3)))]
    >>> tokens, matrix = split_pairs(pairs)
    >>> tokens, matrix.shape
    ([[['cap'], ['low']], [['low']]], (3, 3))
    """
    if isinstance(X, Sequences):
        return X, None
    rows = X if type(X) is list else list(X)
    found = [isinstance(row, tuple) and is_pair(row) for row in rows]
    if not any(found):
        return rows, None
    if not all(found):
        raise ValueError(
            f"sequence {found.index(True)} is a pair (tokens, matrix), but sequence "
            f"{found.index(False)} is not: give all sequences in one form"
        )
    return [tokens for tokens, _ in rows], _stacked(rows)


def is_pair(row: tuple[Any, ...]) -> bool:
    """Whether a sequence is (tokens, matrix): an array of two dimensions is last."""
    return len(row) == 2 and isinstance(row[1], np.ndarray) and row[1].ndim == 2


def _stacked(rows: Sequence[tuple[Any, Any]]) -> Floats:
    parts, width = [], rows[0][1].shape[1]
    for i, (tokens, matrix) in enumerate(rows):
        if matrix.shape != (len(tokens), width):
            raise ValueError(
                f"sequence {i}: the matrix beside {len(tokens)} tokens has shape "
                f"{matrix.shape}: ({len(tokens)}, {width}) is expected"
            )
        if matrix.dtype.kind not in "biuf":
            raise ValueError(
                f"sequence {i}: the matrix beside the tokens holds {matrix.dtype}, not "
                "numbers"
            )
        parts.append(matrix.astype(np.float64))
    out = np.ascontiguousarray(np.concatenate(parts))
    good = usable(out).all(axis=1)
    if not good.all():
        ptr = pointers([len(tokens) for tokens, _ in rows])
        bad = int(np.flatnonzero(~good)[0])
        raise ValueError(
            f"{place(bad, ptr)}: a number of the matrix is not finite, or so large that "
            "its square overflows"
        )
    return out


def check_beside(matrix: Floats | None, columns: int) -> None:
    """Refuse other matrices beside the tokens than in training."""
    found = 0 if matrix is None else matrix.shape[1]
    if found == columns:
        return
    said = f"a matrix of {columns} columns" if columns else "no matrix"
    raise ValueError(
        f"in training, tokens had {said} beside them; here there "
        f"{f'are {found} columns' if found else 'is no matrix'}"
    )


def with_columns(vectors: Vectors, matrix: Floats) -> Vectors:
    """Sparse rows, with the non-zero entries of a dense matrix after their own."""
    ptr, idx, val = _appended(*vectors[:3], vectors.width, matrix)
    return Vectors(ptr, idx, val, vectors.width + matrix.shape[1])


@loop
def _appended(ptr, idx, val, width, dense):
    n, columns = dense.shape
    out_ptr = np.zeros(n + 1, np.int64)
    for r in range(n):
        count = ptr[r + 1] - ptr[r]
        for f in range(columns):
            count += dense[r, f] != 0.0
        out_ptr[r + 1] = out_ptr[r] + count
    out_idx, out_val = np.empty(out_ptr[n], np.int32), np.empty(out_ptr[n])
    m = 0
    for r in range(n):
        for p in range(ptr[r], ptr[r + 1]):
            out_idx[m], out_val[m] = idx[p], val[p]
            m += 1
        for f in range(columns):
            if dense[r, f] != 0.0:
                out_idx[m], out_val[m] = width + f, dense[r, f]
                m += 1
    return out_ptr, out_idx, out_val
