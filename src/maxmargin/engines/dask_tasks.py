"""What workers of a cluster run: functions of a module, so that they travel by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.core.engine import Add, Question, Span, spread, tree_sum
from maxmargin.engines.shipment import Parcel

_ROOMS: dict[tuple[str, Span], dict[str, Any]] = {}  # in the worker: what shards keep


def _local(parcel: Parcel, part: Span) -> tuple[Any, int]:
    """The problem that a parcel holds, and where the part begins in it."""
    if isinstance(parcel.home, tuple):
        return parcel.home
    return parcel.home, part[0]


def answers(parcel: Parcel, question: Question, w: Floats, chunks: Any) -> list[Any]:
    """question(home, w, chunk) for each chunk."""
    w = np.require(w, requirements=["W", "C"])
    return [question(parcel.home, w, chunk) for chunk in chunks]


def group_sum(
    parcel: Parcel, question: Question, add: Add, w: Floats, group: Sequence[Span]
) -> Any:
    """question(home, w, part), added up over the parts of a group."""
    problem, first = _local(parcel, group[0])
    w, shift = np.require(w, requirements=["W", "C"]), first - group[0][0]
    return tree_sum(add, (question(problem, w, spread(p) + shift) for p in group))


def added(add: Add, items: list[Any]) -> Any:
    """Items added from left to right."""
    return reduce(add, items[1:], _own(items[0]))


def _own(item: Any) -> Any:
    """A copy that `add` may alter: others may ask for the original."""
    if isinstance(item, np.ndarray):
        return item.copy()
    return type(item)(*(np.array(v) if isinstance(v, np.ndarray) else v for v in item))


def visit(
    parcel: Parcel, run: str, question: Any, w: Floats, shard: Span, message: Any
) -> Any:
    """question(part, memory of the shard, w, message), where the memory is."""
    room = _ROOMS.setdefault((run, shard), {})
    return question(
        _local(parcel, shard), room, np.require(w, requirements=["W", "C"]), message
    )


def forget(run: str) -> None:
    """Drop the memories of a run."""
    for key in [key for key in _ROOMS if key[0] == run]:
        del _ROOMS[key]


def same(w: Floats) -> Floats:
    """The vector, on whichever worker runs this."""
    return w


def first(pair: tuple[Any, Any]) -> Any:
    """The vector of a (vector, reply) pair."""
    return pair[0]


def second(pair: tuple[Any, Any]) -> Any:
    """The reply of a (vector, reply) pair."""
    return pair[1]
