"""Tables of documents with a query for each row, as `RankingSVM` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import Floats, Ints, real_numbers
from maxmargin.core.data.validation import is_missing
from maxmargin.io.frames import column_apart


def is_table(X: Any) -> bool:
    """Whether X is one matrix or data frame, not a sequence of them."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype != object
    return sp.issparse(X) or (
        not isinstance(X, list | tuple) and np.ndim(X) == 2 and len(np.shape(X)) == 2
    )


def query_rows(qid: Any, X: Any) -> list[Ints]:
    """Rows of each query, in the order in which queries first appear."""
    if not is_table(X):
        raise ValueError(
            "with qid, X is one matrix or data frame (documents, features), not a "
            f"{type(X).__name__}"
        )
    names = np.asarray(qid)
    if names.shape != (X.shape[0],):
        raise ValueError(f"{names.size} entries of qid for {X.shape[0]} rows of X")
    missing = [i for i, name in enumerate(names.tolist()) if is_missing(name)]
    if missing:
        raise ValueError(
            f"qid[{missing[0]}] is {names[missing[0]]}: every row needs the query it belongs to"
        )
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
    return [parts[k] for k in np.argsort(first, kind="stable")]


def split_table(X: Any, groups: Sequence[Ints]) -> list[Any]:
    """The rows of each group as a matrix of its own."""
    matrix = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if not sp.issparse(matrix) and matrix.dtype.kind not in "biuf":
        raise ValueError(
            "X must hold numbers only: leave out the columns of query, grade and names"
        )
    return [matrix[rows] for rows in groups]


def table_and_queries(X: Any, qid: Any) -> tuple[Any, Any]:
    """The table of features, and the query of each row, also where a column has it."""
    return column_apart(X, qid) if isinstance(qid, str) else (X, qid)


def weight_of_queries(weight: Any, groups: Sequence[Ints]) -> Floats:
    """One weight for each query, from weights of queries or of documents.

    Examples
    --------
    >>> weight_of_queries([2.0, 2.0, 1.0], [np.array([0, 1]), np.array([2])]).tolist()
    [2.0, 1.0]
    """
    given = real_numbers(weight).reshape(-1)
    documents = sum(map(len, groups))
    if len(given) == len(groups):
        return given
    if len(given) != documents:
        raise ValueError(
            f"sample_weight has {len(given)} entries, but there are {len(groups)} "
            f"queries of {documents} documents: give one weight for each query, or one "
            "for each document"
        )
    out = np.empty(len(groups))
    for q, rows in enumerate(groups):
        own = given[rows]
        unlike = np.flatnonzero(own != own[0])
        if len(unlike):
            raise ValueError(
                f"sample_weight: documents {rows[0]} and {rows[unlike[0]]} of one query "
                f"have the weights {own[0]:g} and {own[unlike[0]]:g}; a query has one weight"
            )
        out[q] = own[0]
    return out
