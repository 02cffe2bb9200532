"""Output features of classes: descriptions and similarities.

    Lambda(y) = (e_y, d_y)       identity and a description, e.g. the words of a gloss
    <Lambda(y), Lambda(y')> = S  for a positive semi-definite similarity S of classes

Only inner products of Lambda matter to the scores and to ||w||, so features that
outnumber the classes are replaced by as many as there are classes with the same inner
products: training does not slow down with the length of the descriptions.

[1] Tsochantaridis et al. 2005, section 4.2.1, Propositions 21 and 22.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.lazy_names import LazyNames
from maxmargin.core.data.validation import check_sparse

NEGATIVE = 1e-8  # eigenvalues below minus this share of the largest are not rounding


class ProductNames(LazyNames):
    """Names of the weights of phi(x) (x) Lambda(y).

    Examples
    --------
    >>> ProductNames(["size", "constant"], ["cat", "dog"], sparse=True)[1]
    'size / dog'
    """

    def __init__(
        self, inputs: Sequence[str], outputs: Sequence[str], sparse: bool
    ) -> None:
        self.inputs, self.outputs, self.sparse = inputs, outputs, sparse

    def __len__(self) -> int:
        return len(self.inputs) * len(self.outputs)

    def name_of(self, at: int) -> str:
        """Name of weight number `at`."""
        if self.sparse:
            f, z = divmod(at, len(self.outputs))
        else:
            z, f = divmod(at, len(self.inputs))
        return f"{self.inputs[f]} / {self.outputs[z]}"


def described(classes: Sequence[Hashable], rows: Any) -> Floats:
    """Class descriptions as a dense matrix.

    Parameters
    ----------
    classes : sequence of k labels
    rows : array or sparse matrix (k, m), or mapping from label to row
        A matrix has its rows in the order of `classes`.

    Returns
    -------
    array (k, m)

    Examples
    --------
    >>> described(["a", "b"], {"b": [0.0, 1.0], "a": [2.0, 1.0]}).tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    if isinstance(rows, Mapping):
        for label in classes:
            if label not in rows:
                raise ValueError(f"class_features has no row for class {label!r}")
        rows = [rows[label] for label in classes]
        for row in filter(sp.issparse, rows):
            check_sparse(row, "a row of class_features")
        if any(sp.issparse(row) for row in rows):
            rows = sp.vstack([sp.csr_array(row).reshape(1, -1) for row in rows])
    if sp.issparse(rows):
        check_sparse(rows, "class_features")
    dense = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    matrix = _numbers(dense, "class_features")
    if matrix.ndim != 2 or len(matrix) != len(classes):
        raise ValueError(
            f"class_features has shape {matrix.shape}, but there are {len(classes)} "
            "classes: it needs one row for each, in sorted order"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"class_features: the row of class {classes[i]!r} has {matrix[i, j]} in "
            f"column {j}"
        )
    return matrix


def similar(similarity: ArrayLike, k: int) -> Floats:
    """Features (k, r) whose inner products are the given similarities.

    Parameters
    ----------
    similarity : array (k, k)
        Symmetric and positive semi-definite.
    k : int
        Number of classes.

    Raises
    ------
    ValueError
        If the matrix is not positive semi-definite; tells its smallest eigenvalue.

    Examples
    --------
    >>> features = similar([[1.0, 0.5], [0.5, 1.0]], 2)
    >>> np.round(features @ features.T, 6).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    S = _numbers(similarity, "class_similarity").copy()
    if S.shape != (k, k):
        raise ValueError(
            f"class_similarity has shape {S.shape}, but there are {k} classes: it must "
            f"be ({k}, {k}), in sorted order"
        )
    if not np.isfinite(S).all():
        i, j = np.argwhere(~np.isfinite(S))[0]
        raise ValueError(f"class_similarity[{i}, {j}] is {S[i, j]}")
    uneven = np.abs(S - S.T)
    if uneven.max() > 1e-8 * np.abs(S).max():
        i, j = np.unravel_index(int(uneven.argmax()), S.shape)
        raise ValueError(
            f"class_similarity is not symmetric: [{i}, {j}] is {S[i, j]}, but "
            f"[{j}, {i}] is {S[j, i]}"
        )
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    if values[0] < -NEGATIVE * max(abs(values[-1]), 1e-300):
        raise ValueError(
            "class_similarity is not positive semi-definite: its smallest eigenvalue "
            f"is {values[0]:.6g}"
        )
    keep = values > NEGATIVE * 1e-2 * max(values[-1], 1e-300)
    return np.ascontiguousarray(vectors[:, keep] * np.sqrt(values[keep]))


def compact(features: Floats) -> Floats:
    """The same inner products with no more features than classes."""
    k, z = features.shape
    return features if z <= k else similar(features @ features.T, k)


def _numbers(given: Any, name: str) -> Floats:
    """A matrix that the user gives."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={given!r:.40}: a matrix of numbers is needed"
        ) from None
