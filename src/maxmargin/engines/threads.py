"""A pool of threads, for compiled oracles, which release the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from maxmargin.core.engine import Engine, R, T


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
        if len(chunks) == 1:
            return [task(chunks[0])]
        return _lazily(lambda c: self._pool.submit(task, c), chunks, 4 * self.n_jobs)

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
