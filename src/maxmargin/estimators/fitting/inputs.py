"""What users pass as X, y, `loss` and parameters: checks, and what estimators return."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing, check_random_state

from maxmargin.core.data.arrays import Floats, is_number, is_whole, real_numbers
from maxmargin.core.data.warned import warn
from maxmargin.core.loss import Loss
from maxmargin.losses.labels import Hamming

if TYPE_CHECKING:  # it imports checks of model files, which import this file
    from maxmargin.estimators.fitting.parameters import SampleWeight

FORMER_NAMES = {"hamming-normalized": "hamming-mean"}  # still accepted
SPAN = re.compile(r"[BIESLU]-.+")  # a label that marks a span


def check_same_length(X: Any, y: Any, method: str = "fit") -> None:
    """Refuse X and y of different lengths, or without examples, for "fit" or "score"."""
    if y is None:
        raise ValueError(f"{method} requires y to be passed, but the target y is None")
    n, m = check_examples(X), check_examples(y, "y")
    if n != m:
        raise ValueError(f"X has {n} examples, but y has {m}")
    if n == 0:
        purpose = "learn from" if method == "fit" else method
        raise ValueError(f"X and y are empty: there is nothing to {purpose}")


def check_truth(truth: Iterable[Any], known: Iterable[Any]) -> None:
    """Say so where no true label is among those of training; refuse text beside numbers.

    For `score`: the share of right labels would be 0, whatever the model predicts. Labels
    that are None do not count.

    Examples
    --------
    >>> check_truth(["a", "c", None], ["a", "b"])
    >>> check_truth([0, 1], ["a", "b"])
    Traceback (most recent call last):
    ValueError: y has labels such as 0, and those of training are such as 'a': text is ...
    """
    seen, known = {label for label in truth if label is not None}, set(known)
    if not seen or not known or seen & known:
        return
    one, other = min(seen, key=repr), min(known, key=repr)
    told = f"y has labels such as {one!r:.40}, and those of training are such as {other!r:.40}"
    if isinstance(one, str) != isinstance(other, str):
        raise ValueError(f"{told}: text is never equal to a number")
    warn(
        f"{told}: none of them is the same, so all predictions count as wrong",
        UserWarning,
    )


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
            warn(
                f"labels {other!r} and {label!r} differ in case or blanks only, and are "
                "learned as two labels: write them alike if they are the same",
                UserWarning,
            )
            return


def warn_of_labels(
    labels: Sequence[Any], first: bool = False, slips: bool = False
) -> None:
    """Say so where there is one label only, and where some labels mark no spans.

    `first`: the labels are those of a first batch. `slips`: some sequences are not as the
    scheme of their labels wants them.

    Examples
    --------
    >>> warn_of_labels(["B-PER", "B-LOC", "I-LOC", "O"])
    >>> warn_of_labels(["N", "V"])
    """
    warn_if_alike(labels)
    said = ""
    if len(labels) == 1:
        said = f"all labels are {labels[0]!r}: the model can predict nothing else"
        said += "; name the labels of later batches, classes=[..]" if first else ""
    names = [label for label in labels if label != "O"]
    marked = [v for v in names if isinstance(v, str) and SPAN.fullmatch(v)]
    if len(names) < len(labels) and 2 * len(marked) >= len(names) > len(marked):
        odd = next(v for v in names if v not in marked)
        said = (
            f"label {odd!r} is neither 'O' nor like {marked[0]!r}, so the labels count as "
            "no scheme and any may follow any: check the spelling"
        )
    if slips:
        said = (
            "some spans of y are not as BIO or BIOES wants them, such as an I- without its "
            "B-, so predictions may contain the same: convert_scheme(y, 'bio', 'iob1') of "
            "maxmargin.core mends them, and scheme='bio' names the first place"
        )
    if said:
        warn(said, UserWarning)


def check_examples(data: Any, name: str = "X") -> int:
    """Number of examples; refuses X if it is not a sequence, or if some are missing."""
    refuse_lazy(data, name)
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


def refuse_lazy(data: Any, name: str = "X") -> None:
    """Refuse frames that are not computed yet, such as a LazyFrame of polars."""
    if callable(getattr(data, "collect", None)) and hasattr(data, "lazy"):
        raise TypeError(
            f"{name} is a {type(data).__name__}, whose rows are not computed yet: write "
            f"{name}.collect()"
        )


def named_loss(loss: Any, known: Mapping[str, Loss]) -> Loss:
    """A loss by name, as a cost matrix, or an object as it is."""
    if isinstance(loss, str):
        loss = FORMER_NAMES.get(loss, loss)
        if loss not in known:
            names = ", ".join(repr(k) for k in known)
            raise ValueError(f"loss={loss!r} is not known here: choose from {names}")
        return known[loss]
    if isinstance(loss, np.ndarray | list | tuple):
        return Hamming(cost=real_numbers(loss))
    if not isinstance(loss, Loss):
        raise ValueError(
            f"loss={loss!r} is neither a name, nor a matrix of costs, nor a Loss; names "
            f"are {', '.join(repr(k) for k in known)}"
        )
    return loss


def by_position(values: Any) -> Any:
    """A list instead of a pandas series, whose numbers would mean its index, or of Arrow."""
    if hasattr(values, "to_pylist") and not hasattr(values, "column_names"):
        return values.to_pylist()
    one_series = hasattr(values, "iloc") and values.ndim == 1
    return values.tolist() if one_series else values


def outputs_by_position(y: Any) -> Any:
    """Outputs by position, and each of them that is a series or of Arrow as a list."""
    rows = by_position(y)
    if not isinstance(rows, list | tuple) or not any(map(_has_index, rows)):
        return rows
    return [by_position(row) for row in rows]


def _has_index(values: Any) -> bool:
    return hasattr(values, "to_pylist") or hasattr(values, "iloc")


def take_rows(values: Any, ids: Any) -> Any:
    """Some examples by position, whatever the container and its index are."""
    return None if values is None else _safe_indexing(values, np.asarray(ids))


def output_at(y: Any, i: int) -> Any:
    """True output i, by position: of a data frame with one column its value."""
    if not hasattr(y, "columns"):
        return y[i]
    row = np.asarray(take_rows(y, [i])).ravel()
    return row[0] if len(row) == 1 else row


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
    if not is_number(C) or not 0 < float(C) < np.inf:
        hint = "; penalty='hard' allows no slack at all" if np.inf == C else ""
        raise ValueError(
            f"C={C!r}: the penalty must be a finite number greater than zero{hint}"
        )
    if sample_weight is None:
        return np.full(n, float(C))
    try:
        weight = real_numbers(sample_weight)
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


class Rule(NamedTuple):
    """What a parameter must be."""

    holds: Callable[[Any], bool]
    wanted: str


def _whole(least: int) -> Rule:
    def holds(value: Any) -> bool:
        return is_whole(value) and int(value) >= least

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
    number = is_whole(value) and int(value) >= 0
    return value is None or number or isinstance(value, np.random.RandomState)


def _is_jobs(value: Any) -> bool:
    return value is None or (is_whole(value) and int(value) != 0)


def _or_none(rule: Rule) -> Rule:
    wanted = rule.wanted.replace(" is needed", ", or None, is needed")
    return Rule(lambda v: v is None or rule.holds(v), wanted)


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(is_number, value.values()))
    return value is None or isinstance(value, str)


def _is_length(value: Any) -> bool:
    several = isinstance(value, list | tuple) and all(map(is_whole, value))
    return is_whole(value) or several or value == "auto"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


FLAG = Rule(_is_flag, "True or False is needed")
NUMBER = Rule(is_number, "a number is needed")
NAME = Rule(lambda v: isinstance(v, str), "a name is needed")
WHOLE = Rule(is_whole, "a whole number is needed")  # structures check its range
KERNEL_METHODS = (
    "exact", "sampled", "cpsp", "nystroem", "cholesky", "sampled-as-written",
    "cpsp-as-written",
)  # fmt: skip
RULES = {
    "alphabets": Rule(
        lambda v: v is None or isinstance(v, str | Mapping),
        "a name, a dict from track to letters, or None is needed",
    ),
    "anchors": Rule(
        lambda v: isinstance(v, str) or _is_list(v), "a name, or a list, is needed"
    ),
    "band": _or_none(WHOLE),
    "beam": NUMBER,
    "bias": FLAG,
    "both_strands": FLAG,
    "calibration": Rule(
        lambda v: is_whole(v) and (int(v) == 0 or int(v) > 1),
        "a number of folds, at least 2, is needed, or 0",
    ),
    "cliques": Rule(
        lambda v: isinstance(v, tuple | Mapping) or v in ("table", "equal"),
        "'table', 'equal', a tuple of patterns or a dict is needed",
    ),
    "class_weight": Rule(
        _is_class_weight, "'balanced', a dict from label to weight, or None is needed"
    ),
    "coarse": _or_none(NUMBER),
    "coef0": NUMBER,
    "edge_features": FLAG,
    "end_gaps": FLAG,
    "eta": Rule(
        lambda v: is_number(v) and float(v) >= 0.0, "a number, zero or more, is needed"
    ),
    "forbidden": Rule(
        lambda v: v is None or (hasattr(v, "__len__") and not isinstance(v, str)),
        "a list of pairs, or None, is needed",
    ),
    "gazetteers": Rule(
        lambda v: _is_list(v) and all(hasattr(g, "phrases") for g in v),
        "a list of Gazetteer is needed",
    ),
    "gaps": Rule(
        lambda v: isinstance(v, str) or hasattr(v, "opening"),
        "'affine', 'linear', 'structural' or Gaps is needed",
    ),
    "horizontal": _or_none(WHOLE),
    "init_C": Rule(
        lambda v: is_number(v) and float(v) > 0.0, "a number above zero is needed"
    ),
    "intercept_scaling": NUMBER,
    "kernel_method": Rule(
        lambda v: isinstance(v, str) and v in KERNEL_METHODS,
        f"is not known: choose from {', '.join(map(repr, KERNEL_METHODS))}",
    ),
    "length": Rule(_is_length, "a whole number, a list of them, or 'auto' is needed"),
    "max_length": WHOLE,
    "projective": _or_none(FLAG),
    "r": NUMBER,
    "rare": WHOLE,
    "refine": FLAG,
    "roles": _or_none(NAME),
    "segment_features": Rule(
        lambda v: isinstance(v, str) or _is_list(v), "a list of names is needed"
    ),
    "shared": FLAG,
    "single_root": FLAG,
    "skip_pairs": FLAG,
    "start_end": FLAG,
    "sweeps": _whole(0),  # 0: places are drawn uniformly
    "tagger": Rule(
        lambda v: v is None or isinstance(v, str) or hasattr(v, "get_params"),
        "'chain', an estimator, or None is needed",
    ),
    "vertical": WHOLE,
    "window": WHOLE,
    "words": _or_none(NAME),
    "callbacks": Rule(_is_callbacks, "a function, or a list of functions, is needed"),
    "fit_intercept": FLAG,
    "memory": Rule(
        lambda v: is_number(v) and float(v) > 0.0,
        "a number of bytes greater than zero is needed",
    ),
    "mode": NAME,
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
            link = " " if rule.wanted.startswith("is ") else ": "
            raise ValueError(f"{name}={value!r:.80}{link}{rule.wanted}")
