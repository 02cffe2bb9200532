"""What users pass as X, y and `loss`: checks, and the forms that estimators return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.core.loss import Loss
from maxmargin.losses.labels import Hamming

FORMER_NAMES = {"hamming-normalized": "hamming-mean"}  # still accepted


def check_same_length(X: Any, y: Any) -> None:
    """Refuse X and y of different lengths, or without examples."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    n, m = check_examples(X), check_examples(y, "y")
    if n != m:
        raise ValueError(f"X has {n} examples, but y has {m}")
    if n == 0:
        raise ValueError("X and y are empty: there is nothing to learn from")


def check_examples(data: Any, name: str = "X") -> int:
    """How many examples; refuses what is no sequence of them, or lacks some."""
    single = isinstance(data, str | bytes | Mapping)
    if single or not (hasattr(data, "shape") or hasattr(data, "__len__")):
        raise TypeError(
            f"{name} is one {type(data).__name__}, not a list of examples: write "
            f"{'[' + name + ']' if single else 'list(' + name + ')'}"
        )
    if isinstance(data, list | tuple) or str(getattr(data, "dtype", "")) == "object":
        for i, example in enumerate(data):
            if example is None:
                raise ValueError(f"{name}[{i}] is None: there is no example")
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def named_loss(loss: Any, known: Mapping[str, Loss]) -> Loss:
    """A loss by name, as a cost matrix, or an object as it is."""
    if isinstance(loss, str):
        loss = FORMER_NAMES.get(loss, loss)
        if loss not in known:
            names = ", ".join(repr(k) for k in known)
            raise ValueError(f"loss={loss!r} is not known here: choose from {names}")
        return known[loss]
    if isinstance(loss, np.ndarray | list | tuple):
        return Hamming(cost=np.asarray(loss, dtype=np.float64))
    if not isinstance(loss, Loss):
        raise ValueError(
            f"loss={loss!r} is neither a name, nor a matrix of costs, nor a Loss; names "
            f"are {', '.join(repr(k) for k in known)}"
        )
    return loss


def by_position(values: Any) -> Any:
    """A list instead of a pandas series, whose numbers would mean its index."""
    one_series = hasattr(values, "iloc") and values.ndim == 1
    return values.tolist() if one_series else values


def object_array(items: Sequence[Any]) -> np.ndarray:
    """A 1-D object array, whatever the items are."""
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out
