"""A pool of threads, for compiled oracles, which release the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from maxmargin.core.engine import Engine, R, T, lazily


class Threads(Engine):
    """The engine for several cores of one machine.

    Parameters
    ----------
    n_jobs : int
        Number of threads.
    """

    def __init__(self, n_jobs: int) -> None:
        super().__init__()
        self.n_jobs = self.workers = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="maxmargin")

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, several at a time."""
        if len(chunks) == 1:
            return [task(chunks[0])]
        return lazily(lambda c: self._pool.submit(task, c), chunks, 4 * self.n_jobs)

    def close(self) -> None:
        """End the threads."""
        super().close()
        self._pool.shutdown()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the number of threads."""
        return (Threads, (self.n_jobs,))
