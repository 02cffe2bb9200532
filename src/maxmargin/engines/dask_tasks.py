"""The functions that workers of a cluster run; Dask sends them by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any
from uuid import uuid4
from weakref import finalize

import numpy as np
from distributed import get_worker

from maxmargin.core.compiled.compiling import compile_seconds
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.vector_changes import (
    Change,
    Replicas,
    StaleWeightsError,
    Update,
    add_changes,
)
from maxmargin.core.engine import (
    FAN,
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
_REPLICAS: dict[str, Replicas] = {}  # copies of w, by run
_LOCK = threading.Lock()
COMPILED = "maxmargin-compiled"  # where workers tell clients for how long they compiled
PROCESS = uuid4().hex
_told = 0.0  # seconds of compiling that clients know of


def _tells(task: Callable[..., R]) -> Callable[..., R]:
    """The task, after which clients are told what this process has compiled."""

    @wraps(task)
    def told(*given: Any) -> R:
        global _told
        answer = task(*given)
        with _LOCK:
            before, _told = _told, compile_seconds()
            seconds = _told - before
        if seconds > 0:
            get_worker().log_event(COMPILED, [PROCESS, seconds])
        return answer

    return told


def _local(shipment: Shipment, part: Span) -> tuple[Any, int]:
    """The problem in a shipment, and the number of the first example of the part in it."""
    if isinstance(shipment.content, tuple):
        return shipment.content
    return shipment.content, part[0]


@_tells
def answers(
    shipment: Shipment, question: Question[Any, T, R], w: Floats, chunks: Sequence[T]
) -> list[R]:
    """question(shared_data, w, chunk) for each chunk."""
    w = np.require(w, requirements=["W", "C"])
    return [question(shipment.content, w, chunk) for chunk in chunks]


@_tells
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


class Tie:
    """What the shards of a run keep on this worker is kept as long as this is there.

    The client holds it. If the client has gone, however it ended, the scheduler drops it,
    and nobody else would say `forget`.
    """

    def __init__(self, run: str) -> None:
        self.run = run
        self._end = finalize(self, forget, run)
        self._end.atexit = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Put on disk, or on another worker: the copy takes over."""
        self._end.detach()
        return Tie, (self.run,)


@_tells
def call_shards(
    run: str,
    tie: Tie,
    question: ShardQuestion[M, R],
    update: Update,
    shards: Sequence[tuple[int, Span, M]],
    shipments: list[Shipment],
    count: int,
) -> tuple[dict[int, Change], dict[int, R]]:
    """question(part, memory of the shard, lease of w, message), where the memories are.

    Memories last until the tie is dropped, and not before this call has ended.

    Changes and replies by the number of the shard, of which there are `count`. Shards
    that are all leaves of one node of the tree are added up here, under the number of
    the first.
    """
    with _LOCK:
        if run not in _REPLICAS and update.idx is None:
            own = np.array(update.val)
            _REPLICAS[run] = Replicas(own, update.version)
        if run not in _REPLICAS:
            raise StaleWeightsError("w is not here")
        copies = _REPLICAS[run]
        copies.follow(update)
    changes: dict[int, Change] = {}
    replies: dict[int, R] = {}
    for (k, shard, message), shipment in zip(shards, shipments, strict=True):
        memory = _MEMORIES.setdefault((run, shard), {})
        with copies.lease() as lease:
            change, reply = question(_local(shipment, shard), memory, lease, message)
        changes[k], replies[k] = change, reply
    return _added_nodes(changes, count), replies


def _added_nodes(changes: dict[int, Change], count: int) -> dict[int, Change]:
    """All leaves of a node as one."""
    for first in [k for k in changes if k % FAN == 0]:
        node = range(first, min(first + FAN, count))
        if all(k in changes for k in node):
            changes[first] = reduce(add_changes, [changes.pop(k) for k in node])
    return changes


def node(members: Sequence[int], *parts: dict[int, Change]) -> Change:
    """The sum of the shards of one node of the tree, some of which may be added up."""
    found = {k: change for part in parts for k, change in part.items()}
    return reduce(add_changes, [found[k] for k in members if k in found])


def forget(run: str) -> None:
    """Drop what the shards of a run keep."""
    for key in list(_MEMORIES):
        if key[0] == run:
            _MEMORIES.pop(key, None)
    _REPLICAS.pop(run, None)


def runs_kept() -> list[str]:
    """Runs of which this worker keeps anything."""
    return sorted({run for run, _ in list(_MEMORIES)} | set(_REPLICAS))


def same(w: T) -> T:
    """The same, on whichever worker runs this."""
    return w


def first(pair: tuple[T, R]) -> T:
    """The vector of a (vector, reply) pair."""
    return pair[0]


def second(pair: tuple[T, R]) -> R:
    """The reply of a (vector, reply) pair."""
    return pair[1]
