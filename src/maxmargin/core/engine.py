"""Where the oracle runs, in four verbs.

    map(task, chunks)                  any function, in the memory of this process
    ask(home, question, w, chunks)     question(home, w, chunk) for each chunk, in order
    total(home, question, add, w, ..)  the answers of all parts of `home`, added up
    visit(run, home, question, w, ..)  one call per shard, with a memory that stays there

`home` is what stays where it is: a Problem without its engine, or any picklable object;
`question` is a function of a module; `w` goes out once per call, answers come back.
Engines that leave the process ship a home once and remember it.

Answers come in the order of the chunks and are added along one fixed tree, and neither
depends on the number of workers: one thread, eight threads and a cluster give the same
bits. `ask` and `total` keep nothing between calls, so a lost answer is asked for again.
`visit` keeps a dict per shard; one that got lost comes back empty. It may ask the same
twice, so questions remember the turn they answered last and repeat that answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from maxmargin.core.arrays import Floats, Ints

T = TypeVar("T")
R = TypeVar("R")

FAN = 8  # answers added to one at each node of the tree
Span = tuple[int, int]  # examples first .. last - 1
Question = Callable[[Any, Floats, Any], Any]
Add = Callable[[Any, Any], Any]
Call = Callable[[Any, dict[str, Any], Floats, Any], tuple[Floats, Any]]


class ClusterGoneError(RuntimeError):
    """The workers went away and did not come back."""


class Engine(ABC):
    """Runs one function on many chunks."""

    workers: int = 1
    remote: bool = False  # whether data have to be sent to the workers

    def __init__(self) -> None:
        self._memories: dict[tuple[str, Span], Any] = {}

    @abstractmethod
    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, in order; may be lazy."""

    def ask(
        self, home: Any, question: Question, w: Floats, chunks: Sequence[Any]
    ) -> Iterable[Any]:
        """question(home, w, chunk) for each chunk, in order; may be lazy."""
        return self.map(lambda chunk: question(home, w, chunk), chunks)

    def total(
        self, home: Any, question: Question, add: Add, w: Floats, parts: Sequence[Span]
    ) -> Any:
        """question(home, w, ids of the part), added up over all parts."""
        return tree_sum(add, self.ask(home, question, w, [spread(p) for p in parts]))

    def visit(
        self,
        run: str,
        home: Any,
        question: Call,
        w: Floats,
        shards: Sequence[Span],
        messages: Sequence[Any],
    ) -> tuple[Floats, list[Any]]:
        """question(part of home, memory of the shard, w, message) for each shard.

        Questions return (vector, reply); vectors are added along the tree.
        """

        def call(k: int) -> Any:
            room = self._memories.setdefault((run, shards[k]), {})
            return question(home.slice(*shards[k]), room, w, messages[k])

        vectors, replies = zip(*self.map(call, range(len(shards))), strict=True)
        return tree_sum(np.add, vectors), list(replies)

    def leave(self, run: str) -> None:
        """Forget the memories of a run."""
        self._memories = {k: v for k, v in self._memories.items() if k[0] != run}

    def round_trip(self, w: Floats) -> float:
        """Seconds to send w to all workers and to get one such vector back."""
        return 0.0

    def close(self) -> None:
        """Release workers."""
        self._memories.clear()


def spread(part: Span) -> Ints:
    """The examples of a part."""
    return np.arange(*part)


def tree_sum(add: Add, items: Iterable[Any]) -> Any:
    """Add items along the fixed tree as they come; `add` may alter its left argument.

    A node is the sum, from left to right, of `FAN` neighbours of the level below. One
    sum per level is held, however many items there are.

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
        raise ValueError("there is nothing to add up")
    level = 0
    while level + 1 < len(counts):
        if counts[level]:
            _push(add, sums, counts, level + 1, sums[level])
            counts[level] = 0
        level += 1
    return sums[-1]


def _push(add: Add, sums: list[Any], counts: list[int], level: int, item: Any) -> None:
    if level == len(counts):
        sums.append(None)
        counts.append(0)
    sums[level] = add(sums[level], item) if counts[level] else item
    counts[level] += 1
    if counts[level] == FAN:
        counts[level] = 0
        _push(add, sums, counts, level + 1, sums[level])
        sums[level] = None


def lazily(
    submit: Callable[[T], Any], chunks: Sequence[T], ahead: int
) -> Iterator[Any]:
    """Results of futures in order, with at most `ahead` of them under way."""
    waiting: list[Any] = []
    try:
        for chunk in chunks:
            waiting.append(submit(chunk))
            if len(waiting) >= ahead:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


class Serial(Engine):
    """The engine for one core: one chunk after the other, in the calling thread."""

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, one by one."""
        return map(task, chunks)
