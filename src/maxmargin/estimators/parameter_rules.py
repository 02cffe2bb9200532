"""What the parameters of estimators must be, by name: at `fit`, and in model files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np


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


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and not np.isnan(float(value))


def _or_none(rule: Rule) -> Rule:
    wanted = rule.wanted.replace(" is needed", ", or None, is needed")
    return Rule(lambda v: v is None or rule.holds(v), wanted)


def _is_class_weight(value: Any) -> bool:
    return value is None or isinstance(value, str | Mapping)


def _is_length(value: Any) -> bool:
    several = isinstance(value, list | tuple) and all(map(_is_whole, value))
    return _is_whole(value) or several or value == "auto"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


FLAG = Rule(_is_flag, "True or False is needed")
NUMBER = Rule(_is_number, "a number is needed")
NAME = Rule(lambda v: isinstance(v, str), "a name is needed")
WHOLE = Rule(_is_whole, "a whole number is needed")  # structures check its range
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
        lambda v: _is_whole(v) and (int(v) == 0 or int(v) > 1),
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
        lambda v: _is_number(v) and float(v) >= 0.0, "a number, zero or more, is needed"
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
        lambda v: _is_number(v) and float(v) > 0.0, "a number above zero is needed"
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
    "sweeps": _whole(1),
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
        lambda v: isinstance(v, Real) and float(v) > 0.0,
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
