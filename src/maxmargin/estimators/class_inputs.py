"""Checks of the inputs of classifiers; messages name the row or the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import validate_data

from maxmargin.core.data.arrays import Floats, Ints, usable
from maxmargin.core.data.validation import check_sparse, is_missing
from maxmargin.core.data.warned import warn
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_truth,
    object_array,
    refuse_lazy,
)

NEARNESS = ("rbf", "poly", "quadratic", "cubic")  # kernels that compare whole rows
RULES = 0.99  # share of one column in the squared distances that is worth a warning
DICTS = "; DictVectorizer of scikit-learn makes them of dicts"
TEXTS = "; TfidfVectorizer of scikit-learn makes them of texts"
LOOK = 2000  # rows looked at


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


def objects_of(X: Any) -> np.ndarray | None:
    """Inputs as an array of objects; None where X is a table of numbers.

    Tables are matrices, frames, and lists of rows of numbers of one length. Anything
    else in a list or an array is an object: a string, a set, a graph, or a number.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"X is {X!r:.40}, not a list of inputs: write [X]")
    if isinstance(X, Set | Iterator):
        raise TypeError(f"X is a {type(X).__name__}, not a list: write list(X)")
    if len(getattr(X, "shape", (0,))) > 1 or hasattr(X, "columns"):
        return None
    items = list(by_position(X))
    if not any(isinstance(x, str | Set | Mapping) for x in items[:1]):
        try:
            table = np.asarray(items)
        except ValueError:  # rows of several lengths
            return object_array(items)
        if table.ndim == 2 and table.dtype.kind in "biuf":
            return None
    return object_array(items)


def check_table(X: Any) -> None:
    """Refuse sequences where one row of numbers per example is needed."""
    if isinstance(X, Set | Iterator):
        raise TypeError(f"X is a {type(X).__name__}, not a table: write list(X)")
    refuse_lazy(X)
    if (
        hasattr(X, "iloc")
        and X.ndim == 1
        and isinstance(X.iloc[0] if len(X) else 0, str)
    ):
        raise ValueError(f"X is a column of texts, not a table of numbers{TEXTS}")
    _check_columns(X)
    _check_entries(X)
    if not isinstance(X, list | tuple) or len(X) == 0:
        return
    row = X[0]
    if isinstance(row, str | Mapping) or not hasattr(row, "__len__"):
        made = TEXTS if isinstance(row, str) else ""
        made = DICTS if isinstance(row, Mapping) else made
        raise ValueError(
            f"X[0] is {row!r:.40}, but a classifier takes one row of numbers per example"
            f"{made}"
        )
    if isinstance(row, np.ndarray) and row.ndim == 1 and isinstance(X[-1], np.ndarray):
        return
    if (
        np.ndim(row) > 1
        if isinstance(row, np.ndarray)
        else (
            isinstance(row, list | tuple)
            and any(isinstance(v, list | tuple | dict | np.ndarray) for v in row[:1])
        )
    ):
        raise ValueError(
            "X[0] is a sequence of rows, but a classifier takes one row of numbers per "
            "example: for sequences of labels use ChainSVM"
        )
    for i, other in enumerate(X):
        if not hasattr(other, "__len__") or len(other) != len(row):
            raise ValueError(
                f"X[{i}] is {other!r:.40}, but X[0] has {len(row)} numbers: each row needs "
                "as many"
            )


def _check_entries(X: Any) -> None:
    """Refuse dates, and text that is no number, in an array or rows; say where."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise ValueError(f"X holds {X.dtype}: a classifier takes numbers")
        if X.ndim != 2 or X.dtype.kind not in "USO":
            return
    elif not isinstance(X, list | tuple):
        return
    for i, row in enumerate(X):
        if not isinstance(row, list | tuple | np.ndarray):
            continue
        if isinstance(row, np.ndarray) and row.dtype.kind not in "USO":
            continue
        if not {str, bytes, np.str_, np.bytes_}.isdisjoint(map(type, row)):
            for j, value in enumerate(row):
                if isinstance(value, str | bytes) and not _is_written_number(value):
                    raise ValueError(
                        f"X, row {i}, column {j} is {_plain(value)!r:.40}: a classifier "
                        "takes numbers; use OneHotEncoder for categories"
                    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_written_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_columns(X: Any) -> None:
    """Refuse columns of a pandas frame that hold no numbers; say which."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(kinds, "items"):
        return
    for name, kind in kinds.items():
        column = X[name]
        if str(kind) in ("object", "category", "string", "str"):
            try:
                column.astype(np.float64)
            except (TypeError, ValueError):
                text = [v for v in column.dropna().tolist() if isinstance(v, str)]
                shown = f", such as {text[0]!r:.40}" if text else ""
                raise ValueError(
                    f"X, column {name!r} holds {kind}{shown}: a classifier takes numbers; "
                    "use OneHotEncoder for categories, TfidfVectorizer for texts"
                ) from None
        elif getattr(kind, "kind", "f") in "mM":
            raise ValueError(
                f"X, column {name!r} holds {kind}: a classifier takes numbers"
            )


def check_labels(y: Any) -> None:
    """Refuse labels that are missing, and labels of several types."""
    given = by_position(y)
    if callable(getattr(given, "null_count", None)):  # polars
        given = given.to_list()
    if _are_paths(given):
        raise ValueError(
            "y has a path of labels per row: join_paths of maxmargin.structures.classes "
            "makes one label of each path, and Taxonomy.from_paths the taxonomy"
        )
    if not isinstance(given, list | tuple) and not _is_object(given):
        return
    labels = list(given)
    for i, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"Input y contains NaN or None: y[{i}] is {label!r}")
        plain = isinstance(label, str | bytes | Number | np.generic)
        if not plain and isinstance(labels[-1], str | bytes | Number | np.generic):
            raise ValueError(f"y[{i}] is {label!r:.40}: labels are names or numbers")
    text = [isinstance(label, str) for label in labels]
    if any(text) and not all(text):
        i, j = text.index(True), text.index(False)
        raise ValueError(
            f"labels are of several types: y[{i}] is {labels[i]!r}, y[{j}] is "
            f"{labels[j]!r}; use one type"
        )


def true_labels(y: Any, classes: np.ndarray) -> np.ndarray:
    """Labels of y as objects, for `score`, compared with the classes of training."""
    truth = np.asarray(by_position(y), dtype=object).ravel()
    check_truth(truth.tolist(), classes.tolist())
    return truth


def plain_labels(y: Any) -> Any:
    """Labels of NumPy's StringDType as objects; whole numbers of pandas stay whole.

    scikit-learn refuses the former, and makes fractions of Int64, UInt8 and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_labels(pd.Series([3, 4], dtype="Int64")).dtype
    dtype('int64')
    """
    kind = getattr(y, "dtype", None)
    if getattr(kind, "kind", "") == "T":
        return y.astype(object)
    plain = getattr(kind, "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "iub":
        return y.to_numpy(dtype=plain)
    return y


def one_row(x: Any) -> Any:
    """One row of numbers as a matrix; several rows are refused.

    Examples
    --------
    >>> one_row([1.0, 2.0]).shape, one_row(np.ones((1, 3))).shape
    ((1, 2), (1, 3))
    """
    row = x if sp.issparse(x) else np.asarray(x)
    if row.ndim > 1 and row.shape[0] > 1:
        raise ValueError(
            f"one row is needed here, but x has {row.shape[0]}: give them one by one"
        )
    return row if sp.issparse(row) else row.reshape(1, -1)


def _are_paths(y: Any) -> bool:
    """Whether each row of y is a list of names, from the top of a taxonomy down."""
    if isinstance(y, np.ndarray):
        return y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "OUS"
    if not isinstance(y, list | tuple) or len(y) == 0:
        return False
    return all(
        isinstance(row, list | tuple) and any(isinstance(v, str) for v in row)
        for row in y
    )


def warn_if_one_column_rules(X: Any, kernel: Any) -> None:
    """Say so where a kernel sees hardly more than one column of X.

    The share of a column in the squared distances between rows is that of its variance.
    """
    if kernel not in NEARNESS or X.shape[1] < 2 or X.shape[0] < 3:
        return
    rows = X if X.shape[0] <= LOOK else X[:: X.shape[0] // LOOK]
    mean = np.asarray(rows.mean(axis=0)).ravel()
    square = rows.multiply(rows) if sp.issparse(rows) else np.square(rows)
    variance = np.asarray(square.mean(axis=0)).ravel() - mean**2
    others = int((variance > 1e-12 * np.maximum(mean**2, 1e-300)).sum()) - 1
    j, total = int(np.argmax(variance)), float(variance.sum())
    if others > 0 and total > 0.0 and variance[j] > RULES * total:
        warn(
            f"column {j} makes up {variance[j] / total:.2%} of the squared distances "
            f"between rows, so kernel={kernel!r} hardly sees the {others} others: scale "
            "the columns to similar ranges, for instance with StandardScaler",
            UserWarning,
        )


def rows_of(model: Any, X: Any) -> Any:
    """Rows for a fitted model, checked, as a matrix."""
    check_rows(X)
    check_table(X)
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        check_finite(X)
    X = validate_data(
        model, X, accept_sparse="csr", dtype=np.float64, reset=False,
        ensure_all_finite=False,
    )  # fmt: skip
    check_finite(X)
    return X


def class_numbers(
    classes: np.ndarray, y: Any, what: str = "classes of training"
) -> Ints:
    """Index of each label among the sorted classes; other labels are refused."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:  # a data frame with one column
        labels = labels[:, 0]
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


def class_factors(weight: Any, classes: np.ndarray, y: np.ndarray) -> Floats:
    """What the C of each class is multiplied by, for a `class_weight`."""
    if weight is None:  # scikit-learn would import its preprocessing first
        return np.ones(len(classes))
    if isinstance(weight, Mapping):
        known = set(classes.tolist())
        strange = [c for c in weight if c not in known]
        if strange:
            raise ValueError(f"class_weight: {strange[0]!r} is not a class of y")
    factor: Floats = compute_class_weight(weight, classes=classes, y=y)
    return factor


def _is_object(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == np.dtype(object)
