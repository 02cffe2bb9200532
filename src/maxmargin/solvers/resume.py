"""The dual state as plain data, and back: what a checkpoint holds.

`dump` walks a state: fields of dataclasses, and of objects that name in `DUAL` the
attributes that are dual state (planes, alpha, marginals). What a solver derives from
the data is left out (`DERIVED`); `graft` puts the rest into the state that `start` has
just made from the same data. Everything a step reads is then as it was, so a resumed
run takes the same steps as one that was never interrupted.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Protocol

import numpy as np


class Keeper(Protocol):
    """Where checkpoints go; `estimators.checkpoint` has one that writes files."""

    def earlier(self) -> dict[str, Any] | None:
        """What an earlier run left."""

    def due(self) -> bool:
        """Whether it is time for another."""

    def keep(self, data: dict[str, Any]) -> None:
        """Take a checkpoint in."""


def dump(state: Any) -> dict[str, Any]:
    """What cannot be derived from the data again, as nested dictionaries."""
    return {name: _dumped(getattr(state, name)) for name in _names(state)}


def _dumped(value: Any) -> Any:
    if hasattr(value, "DUAL") or (is_dataclass(value) and hasattr(value, "DERIVED")):
        return dump(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    return value


def graft(state: Any, data: dict[str, Any]) -> None:
    """Put what `dump` made into a fresh state of the same kind, in place."""
    names = set(_names(state))
    if names != set(data):
        strange = ", ".join(sorted(names ^ set(data)))
        raise ValueError(f"the checkpoint is of another kind of run ({strange})")
    for name, new in data.items():
        old = getattr(state, name)
        if hasattr(old, "DUAL"):
            graft(old, new)
        elif isinstance(old, tuple) and hasattr(old, "_asdict"):
            setattr(state, name, type(old)(**new))
        elif isinstance(old, np.ndarray) and np.shape(old) == np.shape(new):
            old[...] = new  # others may hold the same array
        else:
            setattr(state, name, new)
    settle = getattr(state, "settle", None)
    if settle is not None:
        settle()


def _names(state: Any) -> tuple[str, ...]:
    if hasattr(state, "DUAL"):
        return state.DUAL
    derived = state.DERIVED
    return tuple(f.name for f in fields(state) if f.name not in derived)
