"""Checks of the inputs of classifiers; messages name the row or the label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.arrays import Floats, Ints, usable
from maxmargin.core.validation import check_sparse
from maxmargin.estimators.fitting.inputs import by_position


def check_finite(X: Any) -> None:
    """Refuse NaN, infinity and numbers whose square is infinite; say where they are."""
    values = X.data if sp.issparse(X) else X
    if usable(values).all():
        return
    if sp.issparse(X):
        rows = sp.coo_array(X)
        p = int(np.flatnonzero(~usable(rows.data))[0])
        i, j, value = rows.coords[0][p], rows.coords[1][p], rows.data[p]
    else:
        i, j = np.argwhere(~usable(X))[0]
        value = X[i, j]
    if np.isfinite(value):
        raise ValueError(
            f"Input X, row {i}, column {j}: {value} is too large, its square overflows; "
            "scale the features"
        )
    name = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(f"Input X contains {name}: row {i}, column {j}")


def check_rows(X: Any) -> None:
    """Refuse a sparse matrix whose indices lie outside of its shape."""
    if sp.issparse(X):
        check_sparse(X, "X")


def check_table(X: Any) -> None:
    """Refuse sequences where one row of numbers per example is needed."""
    if not isinstance(X, list | tuple) or len(X) == 0:
        return
    row = X[0]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return
    if isinstance(row, np.ndarray) or (
        isinstance(row, list | tuple)
        and any(isinstance(v, list | tuple | dict | np.ndarray) for v in row[:1])
    ):
        raise ValueError(
            "X[0] is a sequence of rows, but a classifier takes one row of numbers per "
            "example: for sequences of labels use ChainSVM"
        )


def check_labels(y: Any) -> None:
    """Refuse labels that are missing, and labels of several types."""
    given = by_position(y)
    if not isinstance(given, list | tuple) and not _is_object(given):
        return
    labels = list(given)
    for i, label in enumerate(labels):
        if label is None or label != label:
            raise ValueError(f"Input y contains NaN or None: y[{i}] is {label!r}")
    text = [isinstance(label, str) for label in labels]
    if any(text) and not all(text):
        i, j = text.index(True), text.index(False)
        raise ValueError(
            f"labels are of several types: y[{i}] is {labels[i]!r}, y[{j}] is "
            f"{labels[j]!r}; use one type"
        )


def class_numbers(
    classes: np.ndarray, y: Any, what: str = "classes of training"
) -> Ints:
    """Index of each label among the sorted classes; other labels are refused."""
    labels = np.asarray(y)
    strange = np.flatnonzero(~np.isin(labels, classes))
    if len(strange):
        label = labels[strange[:1]].tolist()[0]
        raise ValueError(
            f"y[{strange[0]}] is {label!r}, which is not among the {len(classes)} "
            f"{what}"
        )
    return np.searchsorted(classes, labels)


def cost_table(costs: Mapping[Any, float], classes: np.ndarray) -> Floats:
    """Costs by pair of labels as a table in sorted order; 1 for missing pairs."""
    table = 1.0 - np.eye(len(classes))
    place = {label: c for c, label in enumerate(classes.tolist())}
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"loss: {pair!r} is not a pair (true, predicted) of labels"
            )
        for label in pair:
            if label not in place:
                raise ValueError(f"loss: {label!r} in {pair!r} is not a class of y")
        table[place[pair[0]], place[pair[1]]] = cost
    return table


def _is_object(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == np.dtype(object)
