"""Checks of the inputs of classifiers; messages name the row or the label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.validation import check_sparse


def check_finite(X: Any) -> None:
    """Refuse NaN and infinity, and say where they are."""
    values = X.data if sp.issparse(X) else X
    if np.isfinite(values).all():
        return
    if sp.issparse(X):
        rows = sp.coo_array(X)
        p = int(np.flatnonzero(~np.isfinite(rows.data))[0])
        i, j, value = rows.coords[0][p], rows.coords[1][p], rows.data[p]
    else:
        i, j = np.argwhere(~np.isfinite(X))[0]
        value = X[i, j]
    name = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(f"Input X contains {name}: row {i}, column {j}")


def check_rows(X: Any) -> None:
    """Refuse a sparse matrix whose indices lie outside of its shape."""
    if sp.issparse(X):
        check_sparse(X, "X")


def class_numbers(classes: np.ndarray, y: Any) -> Ints:
    """Index of each label among the sorted classes; other labels are refused."""
    labels = np.asarray(y)
    strange = np.flatnonzero(~np.isin(labels, classes))
    if len(strange):
        label = labels[strange[:1]].tolist()[0]
        raise ValueError(
            f"y[{strange[0]}] is {label!r}, which is not among the {len(classes)} "
            "classes of training"
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
