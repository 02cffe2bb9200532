"""Checks of constructor parameters that several estimators share, in one place.

Every route to training (`fit`, `fit_path`, `partial_fit`, `PathCV`) passes through
`check_parameters`. Parameters of the solver (`tol`, `max_iter`, `max_time`) are checked
by `solvers.base.check`, those of one estimator by its structure.
"""

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
