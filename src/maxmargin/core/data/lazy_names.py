"""Names of weights and features, each made when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, overload


class LazyNames(Sequence[str]):
    """Names of weights or features that are made when asked for: there may be millions."""

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: Any) -> Any:
        """Name of weight or feature number `key`."""
        numbers = range(len(self))[key]
        if isinstance(numbers, range):
            return [self.name_of(j) for j in numbers]
        return self.name_of(numbers)

    @abstractmethod
    def name_of(self, at: int) -> str:
        """Name of weight or feature number `at`."""
