"""A pool of threads, for compiled oracles, which release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from threading import Lock
from typing import Any

from maxmargin.core.engine import Engine, R, T

AHEAD = 4  # chunks per thread whose answers may wait to be fetched


class Threads(Engine):
    """The engine for several cores of one machine.

    Parameters
    ----------
    n_jobs : int
        Number of threads.
    """

    def __init__(self, n_jobs: int) -> None:
        super().__init__()
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="maxmargin")

    @property
    def workers(self) -> int:
        """How many chunks are worked on at a time."""
        return self.n_jobs

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, several at a time."""
        ahead = AHEAD * self.n_jobs
        if len(chunks) <= ahead:
            return work_together(task, chunks, self.n_jobs, self._pool)
        return _lazily(lambda c: self._pool.submit(task, c), chunks, ahead)

    def close(self) -> None:
        """End the threads."""
        super().close()
        self._pool.shutdown()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the number of threads."""
        return (Threads, (self.n_jobs,))


def _lazily(
    submit: Callable[[T], Future[R]], chunks: Sequence[T], ahead: int
) -> Iterator[R]:
    """Results of futures in order, with at most `ahead` of them submitted at a time."""
    waiting: list[Future[R]] = []
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


def work_together(
    task: Callable[[T], R],
    chunks: Sequence[T],
    n_jobs: int,
    pool: ThreadPoolExecutor | None = None,
) -> list[R]:
    """task(chunk) for each chunk on `n_jobs` threads, one of them the caller's.

    The others are those of `pool`, by default of one that is kept for all callers.
    Tasks may take less than a millisecond. Everyone takes the next chunk when ready, so
    nobody waits for a thread that the machine has not started yet: it finds nothing
    left to do. Answers are in the order of the chunks.

    Examples
    --------
    >>> work_together(lambda k: k * k, [1, 2, 3], 2)
    [1, 4, 9]
    """
    if n_jobs <= 1 or len(chunks) <= 1:
        return [task(chunk) for chunk in chunks]
    answers: dict[int, R] = {}
    left, lock = iter(range(len(chunks))), Lock()

    def work() -> None:
        while True:
            with lock:
                k = next(left, None)
            if k is None:
                return
            answers[k] = task(chunks[k])

    pool = pool or _helpers(n_jobs - 1, os.getpid())
    helpers = [pool.submit(work) for _ in range(min(n_jobs, len(chunks)) - 1)]
    running: list[Future[None]] = []
    try:
        work()
    finally:  # after this, no thread writes to arrays of the caller
        running += [helper for helper in helpers if not helper.cancel()]
        wait(running)
    for helper in running:
        helper.result()
    return [answers[k] for k in range(len(chunks))]


@lru_cache(maxsize=4)
def _helpers(count: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process: those of a parent are gone after a fork."""
    return ThreadPoolExecutor(count, thread_name_prefix="maxmargin")
