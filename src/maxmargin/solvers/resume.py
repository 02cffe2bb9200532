"""The dual state as plain data, and back: what a checkpoint holds.

`snapshot_of` walks a state: fields of dataclasses, and of objects that name in `DUAL`
the attributes that are dual state (planes, alpha, marginals). What a solver derives from
the data is left out (`DERIVED`); `restore_into` puts the rest into the state that
`start` has just made from the same data. Everything a step reads is then as it was, so a
resumed run takes the same steps as one that was never interrupted; its values are the
same up to rounding.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import LARGEST
from maxmargin.core.data.validation import check_types, mismatch, require


class Keeper(Protocol):
    """Where checkpoints go; `estimators.saving.checkpoint` has one that writes files."""

    def earlier(self) -> dict[str, Any] | None:
        """What an earlier run left."""

    def due(self) -> bool:
        """Whether it is time for another."""

    def keep(self, data: dict[str, Any]) -> None:
        """Take a checkpoint in."""

    def interrupted(self) -> bool:
        """Whether the run has been asked to end after the step."""


@runtime_checkable
class HoldsDual(Protocol):
    """An object with dual state in the attributes that `DUAL` names."""

    DUAL: ClassVar[tuple[str, ...]]


@runtime_checkable
class ChecksRestored(Protocol):
    """An object whose arrays grow, so that their sizes are not those of a fresh one."""

    def check_restored(self) -> None:
        """Raise ValueError unless loops can use what was restored."""


@runtime_checkable
class HoldsScratch(Protocol):
    """An object whose scratch space must fit what was restored."""

    def resize_scratch(self) -> None:
        """Make scratch space for the arrays that were restored."""


def snapshot_of(state: Any) -> dict[str, Any]:
    """What cannot be derived from the data again, as nested dictionaries."""
    return {name: _plain(getattr(state, name)) for name in _names(state)}


def _plain(value: Any) -> Any:
    if isinstance(value, HoldsDual):
        return snapshot_of(value)
    if _is_named_tuple(value):
        return value._asdict()
    return value


def restore_into(state: Any, data: dict[str, Any]) -> None:
    """Put what `snapshot_of` made into a fresh state of the same kind, in place.

    A file may say anything: types, and shapes that do not grow, are compared with those
    of the fresh state; `check_restored` looks at what grows.
    """
    require(isinstance(data, dict), "the checkpoint is not whole")
    names = set(_names(state))
    if names != set(data):
        strange = ", ".join(sorted(names ^ set(data)))
        raise ValueError(f"the checkpoint is of another kind of run ({strange})")
    for name, new in data.items():
        old = getattr(state, name)
        if isinstance(old, HoldsDual):
            restore_into(old, new)
        elif _is_named_tuple(old):
            setattr(state, name, type(old)(**{k: _copied(v) for k, v in new.items()}))
            check_types(getattr(state, name))
        else:
            _check_like(name, old, new)
            if isinstance(old, np.ndarray) and np.shape(old) == np.shape(new):
                old[...] = new  # others may hold the same array
            else:
                setattr(state, name, _copied(new))
    best = data.get("best_w")
    if best is not None:
        _check_like("best_w", state.w, best)
    if isinstance(state, ChecksRestored):
        state.check_restored()
    if isinstance(state, HoldsScratch):
        state.resize_scratch()


def _copied(value: Any) -> Any:
    """Arrays of its own: a file may name one array twice, and loops write into them."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _check_like(name: str, old: Any, new: Any) -> None:
    """Refuse a value of another type, and an array of another shape than a fresh one."""
    if isinstance(old, np.ndarray):
        wrong = mismatch(new, NDArray[old.dtype.type])
        require(not wrong, f"the checkpoint's {name} is {wrong}")
        same = new.shape == old.shape or (old.size == 0 and new.ndim == old.ndim)
        require(same, f"the checkpoint's {name} has the shape {new.shape}")
        _check_numbers(name, old, new)
    elif isinstance(old, bool | int | float):
        wrong = mismatch(new, type(old))
        require(not wrong, f"the checkpoint's {name} is {wrong}")
        require(new == new, f"the checkpoint's {name} is NaN")
        counts = not isinstance(old, int) or new >= 0
        require(counts, f"the checkpoint's {name} is {new!r}")
    elif old is None:
        plain = new is None or isinstance(new, np.ndarray | Enum)
        require(plain, f"the checkpoint's {name} is a {type(new).__name__}")
    elif isinstance(old, list):
        require(isinstance(new, list), f"the checkpoint's {name} is not a list")


def _check_numbers(name: str, old: NDArray[Any], new: NDArray[Any]) -> None:
    """Refuse NaN, and numbers that overflow where those of a fresh state do not."""
    require(not np.isnan(new).any(), f"the checkpoint's {name} has a NaN")
    if new.dtype.kind == "f" and (np.abs(old) <= LARGEST).all():
        small = (np.abs(new) <= LARGEST).all()
        require(small, f"the checkpoint's {name} has a number beyond {LARGEST}")


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_asdict")


def _names(state: Any) -> tuple[str, ...]:
    if isinstance(state, HoldsDual):
        return state.DUAL
    assert is_dataclass(state)
    derived: tuple[str, ...] = getattr(state, "DERIVED", ())
    return tuple(f.name for f in fields(state) if f.name not in derived)
