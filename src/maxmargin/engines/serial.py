"""One chunk after the other, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from maxmargin.engines.base import Engine, R, T


class Serial(Engine):
    """The engine for one core."""

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, one by one."""
        return map(task, chunks)
