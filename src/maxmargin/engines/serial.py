"""One chunk after the other, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maxmargin.engines.base import Engine, R, T


class Serial(Engine):
    """The engine for one core."""

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> list[R]:
        """[task(chunk) for chunk in chunks]."""
        return [task(chunk) for chunk in chunks]
