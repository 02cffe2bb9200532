"""Where the oracle runs: `map` a task over chunks of examples, results in order.

Results come back in the order of the chunks, whatever the number of workers, and
chunks do not depend on it either: one thread and eight give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Engine(ABC):
    """Runs one function on many chunks."""

    @abstractmethod
    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> list[R]:
        """[task(chunk) for chunk in chunks]."""

    def close(self) -> None:  # noqa: B027 - nothing to release by default
        """Release workers."""
