"""What users pass as X, y and `loss`: checks, and the forms that estimators return."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing, check_random_state

from maxmargin.core.data.arrays import Floats
from maxmargin.core.loss import Loss
from maxmargin.estimators.fitting.parameters import SampleWeight
from maxmargin.estimators.parameter_rules import check_parameters
from maxmargin.losses.labels import Hamming

FORMER_NAMES = {"hamming-normalized": "hamming-mean"}  # still accepted
SPAN = re.compile(r"[BIESLU]-.+")  # a label that marks a span


def check_same_length(X: Any, y: Any) -> None:
    """Refuse X and y of different lengths, or without examples."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    n, m = check_examples(X), check_examples(y, "y")
    if n != m:
        raise ValueError(f"X has {n} examples, but y has {m}")
    if n == 0:
        raise ValueError("X and y are empty: there is nothing to learn from")


def warn_if_alike(labels: Iterable[Any]) -> None:
    """Say so where labels differ in case or blanks only; letters and digits may.

    Examples
    --------
    >>> warn_if_alike(["B-PER", "B-LOC", "O", "a", "A"])
    """
    seen: dict[str, str] = {}
    for label in labels:
        if not isinstance(label, str) or len(label) < 2:
            continue
        other = seen.setdefault(label.strip().lower(), label)
        if other != label:
            warnings.warn(
                f"labels {other!r} and {label!r} differ in case or blanks only, and are "
                "learned as two labels: write them alike if they are the same",
                UserWarning,
                stacklevel=4,
            )
            return


def warn_of_labels(labels: Sequence[Any]) -> None:
    """Say so where there is one label only, and where some labels mark no spans.

    Examples
    --------
    >>> warn_of_labels(["B-PER", "B-LOC", "I-LOC", "O"])
    >>> warn_of_labels(["N", "V"])
    """
    warn_if_alike(labels)
    said = ""
    if len(labels) == 1:
        said = f"all labels are {labels[0]!r}: the model can predict nothing else"
    names = [label for label in labels if label != "O"]
    marked = [v for v in names if isinstance(v, str) and SPAN.fullmatch(v)]
    if len(names) < len(labels) and 2 * len(marked) >= len(names) > len(marked):
        odd = next(v for v in names if v not in marked)
        said = (
            f"label {odd!r} is neither 'O' nor like {marked[0]!r}, so the labels count as "
            "no scheme and any may follow any: check the spelling"
        )
    if said:
        warnings.warn(said, UserWarning, stacklevel=4)


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


def jobs_of(n_jobs: Any) -> int:
    """Number of threads, as joblib counts: None is 1 or its setting, -1 all cores."""
    check_parameters({"n_jobs": n_jobs})
    return int(effective_n_jobs(n_jobs))


def example_C(C: Any, sample_weight: SampleWeight, n: int) -> Floats:
    """C of each example."""
    if not isinstance(C, Real) or not 0 < float(C) < np.inf:
        hint = "; penalty='hard' allows no slack at all" if np.inf == C else ""
        raise ValueError(
            f"C={C!r}: the penalty must be a finite number greater than zero{hint}"
        )
    if sample_weight is None:
        return np.full(n, float(C))
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight={sample_weight!r:.80}: one number for each of the {n} "
            "examples is needed"
        ) from None
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but there are {n} examples"
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}: weights must be finite and "
            "not negative"
        )
    if not weight.any():
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return float(C) * weight


def seed_of(random_state: Any) -> int:
    """An integer seed; None means 0, so that runs repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
