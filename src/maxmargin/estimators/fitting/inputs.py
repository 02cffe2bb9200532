"""Checks of what users pass as X and y, and the shapes that estimators return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


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
