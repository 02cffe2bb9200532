"""The functions that workers of a cluster run; Dask sends them by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.engine import (
    Add,
    M,
    Memory,
    Question,
    R,
    ShardQuestion,
    Span,
    T,
    ids_of,
    tree_sum,
)
from maxmargin.engines.shipment import Shipment

_MEMORIES: dict[tuple[str, Span], Memory] = {}  # on the worker


def _local(shipment: Shipment, part: Span) -> tuple[Any, int]:
    """The problem in a shipment, and the number of the first example of the part in it."""
    if isinstance(shipment.content, tuple):
        return shipment.content
    return shipment.content, part[0]


def answers(
    shipment: Shipment, question: Question[Any, T, R], w: Floats, chunks: Sequence[T]
) -> list[R]:
    """question(shared_data, w, chunk) for each chunk."""
    w = np.require(w, requirements=["W", "C"])
    return [question(shipment.content, w, chunk) for chunk in chunks]


def group_sum(
    shipment: Shipment,
    question: Question[Any, Ints, R],
    add: Add[R],
    w: Floats,
    group: Sequence[Span],
) -> R:
    """question(shared_data, w, ids of the span), summed over the spans of a group."""
    problem, first = _local(shipment, group[0])
    w, shift = np.require(w, requirements=["W", "C"]), first - group[0][0]
    return tree_sum(add, (question(problem, w, ids_of(p) + shift) for p in group))


def added(add: Add[R], items: list[R]) -> R:
    """The sum of items, from left to right."""
    total: R = reduce(add, items[1:], _copied(items[0]))
    return total


def _copied(item: Any) -> Any:
    """A copy that `add` may alter: other tasks may read the original."""
    if isinstance(item, np.ndarray):
        return item.copy()
    return type(item)(*(np.array(v) if isinstance(v, np.ndarray) else v for v in item))


def call_shard(
    shipment: Shipment,
    run: str,
    question: ShardQuestion[M, R],
    w: Floats,
    shard: Span,
    message: M,
) -> tuple[Floats, R]:
    """question(part, memory of the shard, w, message), where the memory is."""
    memory = _MEMORIES.setdefault((run, shard), {})
    return question(
        _local(shipment, shard), memory, np.require(w, requirements=["W", "C"]), message
    )


def forget(run: str) -> None:
    """Drop what the shards of a run keep."""
    for key in [key for key in _MEMORIES if key[0] == run]:
        del _MEMORIES[key]


def same(w: Floats) -> Floats:
    """The vector, on whichever worker runs this."""
    return w


def first(pair: tuple[T, R]) -> T:
    """The vector of a (vector, reply) pair."""
    return pair[0]


def second(pair: tuple[T, R]) -> R:
    """The reply of a (vector, reply) pair."""
    return pair[1]
