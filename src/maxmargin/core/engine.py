"""Where the oracle runs: the interface of all engines, and the engine for one core.

    map(task, chunks)                    task(chunk), in the memory of this process
    ask(shared_data, question, w, ..)    question(shared_data, w, chunk) for each chunk
    total(shared_data, question, ..)     the same for spans of examples, summed
    call_shards(run, shared_data, ..)    one call per shard, with a dict that stays there
    end_run(run)                         these dicts are dropped

`shared_data` is what all questions are about: a Problem without its engine, or any
picklable object. Engines that leave the process send it once and keep it there; only
the weights `w` go out with each call, and only answers come back. `question` is a
function of a module, so that it can be sent by name.

Answers come in the order of the chunks and are summed along one fixed tree. Neither
depends on the number of workers, so one thread, eight threads and a cluster give the
same bits.

`ask` and `total` keep nothing between calls: a lost answer is simply asked for again.
`call_shards` sends only the entries of w that have changed since the last call, and
shards return only the entries that they changed. It keeps a dict per shard. If a worker
dies, its shards move to another one and start with an empty dict. The same call may be
made twice, so a question has to remember the turn that it answered last and repeat that
answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.vector_changes import (
    Change,
    Lease,
    Replicas,
    Weights,
    add_changes,
    update_of,
)

T = TypeVar("T")  # a chunk
R = TypeVar("R")  # an answer
D = TypeVar("D")  # shared data
M = TypeVar("M")  # a message to a shard

FAN = 8  # answers added to one at each node of the tree
Span = tuple[int, int]  # examples first .. last - 1
Question = Callable[[D, Floats, T], R]
Add = Callable[[R, R], R]
Memory = dict[str, Any]  # what a shard keeps between calls
ShardQuestion = Callable[[Any, Memory, Lease, M], tuple[Change, R]]


class Sliceable(Protocol):
    """Shared data that can be cut into shards of neighbouring examples."""

    def slice(self, start: int, stop: int) -> tuple[Any, int]:
        """Data that hold examples start .. stop - 1, and where these begin in them."""


class ClusterGoneError(RuntimeError):
    """The workers went away and did not come back."""


class Engine(ABC):
    """Runs one function on many chunks of the data."""

    remote: bool = False  # whether data have to be sent to the workers

    def __init__(self) -> None:
        self._memories: dict[tuple[str, Span], Memory] = {}
        self._parts: dict[tuple[str, Span], tuple[Any, int]] = {}
        self._replicas: dict[str, Replicas] = {}

    @property
    def workers(self) -> int:
        """How many chunks are worked on at a time."""
        return 1

    @abstractmethod
    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, in order; may be lazy."""

    def ask(
        self,
        shared_data: D,
        question: Question[D, T, R],
        w: Floats,
        chunks: Sequence[T],
    ) -> Iterable[R]:
        """question(shared_data, w, chunk) for each chunk, in order; may be lazy."""
        return self.map(lambda chunk: question(shared_data, w, chunk), chunks)

    def total(
        self,
        shared_data: D,
        question: Question[D, Ints, R],
        add: Add[R],
        w: Floats,
        spans: Sequence[Span],
    ) -> R:
        """question(shared_data, w, ids of the span), summed over all spans."""
        chunks = [ids_of(span) for span in spans]
        return tree_sum(add, self.ask(shared_data, question, w, chunks))

    def call_shards(
        self,
        run: str,
        shared_data: Sliceable,
        question: ShardQuestion[M, R],
        weights: Weights,
        shards: Sequence[Span],
        messages: Sequence[M],
    ) -> tuple[Change, list[R]]:
        """question(part of shared_data, memory, lease of w, message) for each shard.

        A question returns (change, reply): the sum of the changes is returned with the
        list of replies. It may write to the vector that it is lent, and leaves it as it
        was.
        """
        copies = self._replicas.get(run)
        if copies is None or copies.base is not weights.w:
            copies = self._replicas[run] = Replicas(weights.w, weights.version)
        copies.follow(update_of(weights, False))

        def call(k: int) -> tuple[Change, R]:
            key = run, shards[k]
            if key not in self._parts:
                self._parts[key] = shared_data.slice(*shards[k])
            memory = self._memories.setdefault(key, {})
            with copies.lease() as lease:
                return question(self._parts[key], memory, lease, messages[k])

        answers = list(self.map(call, range(len(shards))))
        total = tree_sum(add_changes, [change for change, _ in answers])
        return total, [reply for _, reply in answers]

    def end_run(self, run: str) -> None:
        """Forget what the shards of a run keep."""
        self._memories = {k: v for k, v in self._memories.items() if k[0] != run}
        self._parts = {k: v for k, v in self._parts.items() if k[0] != run}
        self._replicas.pop(run, None)

    def round_trip(self, w: Floats) -> float:
        """Seconds to send w to all workers and to get one such vector back."""
        return 0.0

    def close(self) -> None:
        """Release workers."""
        self._memories.clear()
        self._parts.clear()
        self._replicas.clear()


def ids_of(span: Span) -> Ints:
    """The examples of a span.

    Examples
    --------
    >>> ids_of((2, 5)).tolist()
    [2, 3, 4]
    """
    return np.arange(*span)


def tree_sum(add: Add[R], items: Iterable[R]) -> R:
    """Sum items along the fixed tree as they arrive; `add` may alter its left argument.

    A node is the sum, from left to right, of `FAN` neighbours of the level below. Only
    one sum per level is held, however many items there are.

    Examples
    --------
    >>> tree_sum(lambda a, b: f"({a}{b})", "abc")
    '((ab)c)'
    """
    sums: list[Any] = []
    counts: list[int] = []
    for item in items:
        _push(add, sums, counts, 0, item)
    if not counts:
        raise ValueError("there is nothing to sum")
    level = 0
    while level + 1 < len(counts):
        if counts[level]:
            _push(add, sums, counts, level + 1, sums[level])
            counts[level] = 0
        level += 1
    total: R = sums[-1]
    return total


def _push(add: Add[R], sums: list[Any], counts: list[int], level: int, item: R) -> None:
    """Add an item to a level; `FAN` of them move up as one."""
    if level == len(counts):
        sums.append(None)
        counts.append(0)
    sums[level] = add(sums[level], item) if counts[level] else item
    counts[level] += 1
    if counts[level] == FAN:
        counts[level] = 0
        _push(add, sums, counts, level + 1, sums[level])
        sums[level] = None  # frees its memory


class Serial(Engine):
    """The engine for one core: one chunk after the other, in the calling thread."""

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, one by one."""
        return map(task, chunks)
