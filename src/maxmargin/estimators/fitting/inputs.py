"""What users pass as X, y and `loss`: checks, and the forms that estimators return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

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


def take_rows(values: Any, ids: Any) -> Any:
    """Some examples by position, whatever the container and its index are."""
    return None if values is None else _safe_indexing(values, np.asarray(ids))


def object_array(items: Sequence[Any]) -> np.ndarray:
    """A 1-D object array, whatever the items are."""
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out


class Rule(NamedTuple):
    """What a parameter must be."""

    holds: Callable[[Any], bool]
    wanted: str


def _whole(least: int) -> Rule:
    def holds(value: Any) -> bool:
        plain = isinstance(value, Integral) and not isinstance(value, bool)
        return plain and int(value) >= least

    return Rule(holds, f"a whole number, at least {least}, is needed")


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (
        isinstance(value, Integral) and int(value) in (0, 1)
    )


def _is_callbacks(value: Any) -> bool:
    if value is None or callable(value):
        return True
    return isinstance(value, list | tuple) and all(map(callable, value))


def _is_seed(value: Any) -> bool:
    number = isinstance(value, Integral) and int(value) >= 0
    return value is None or number or isinstance(value, np.random.RandomState)


def _is_jobs(value: Any) -> bool:
    number = isinstance(value, Integral) and not isinstance(value, bool)
    return value is None or (number and int(value) != 0)


FLAG = Rule(_is_flag, "True or False is needed")
RULES = {
    "callbacks": Rule(_is_callbacks, "a function, or a list of functions, is needed"),
    "fit_intercept": FLAG,
    "memory": Rule(
        lambda v: isinstance(v, Real) and float(v) > 0.0,
        "a number of bytes greater than zero is needed",
    ),
    "n_basis": _whole(1),
    "n_jobs": Rule(_is_jobs, "a number of threads (-1: all cores), or None, is needed"),
    "normalize": FLAG,
    "random_state": Rule(
        _is_seed, "a whole number, zero or more, a RandomState or None is needed"
    ),
    "restarts": _whole(1),
    "symmetric": FLAG,
    "verbose": Rule(
        lambda v: isinstance(v, bool | Integral) and int(v) >= 0,
        "a whole number is needed, 0 for silence",
    ),
    "warm_start": FLAG,
}


def check_parameters(given: Mapping[str, Any]) -> None:
    """Refuse values that no estimator can use, with one sentence.

    Examples
    --------
    >>> check_parameters({"verbose": "x"})
    Traceback (most recent call last):
        ...
    ValueError: verbose='x': a whole number is needed, 0 for silence
    """
    for name, value in given.items():
        rule = RULES.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name}={value!r:.80}: {rule.wanted}")
