"""Lists of distinct strings as two arrays, so that model files hold them compactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Ints, pointers


@dataclass(frozen=True, eq=False)
class Strings:
    """Distinct strings in a fixed order.

    Parameters
    ----------
    text : array of uint8
        All strings one after the other, in UTF-8.
    ptr : array of int64 (n + 1,)
        Where each string begins, counted in characters.

    Examples
    --------
    >>> words = Strings.of(["ana", "río"])
    >>> len(words), words[1], words.index["ana"], words.ptr.tolist()
    (2, 'río', 0, [0, 3, 6])
    """

    text: NDArray[np.uint8]
    ptr: Ints

    @classmethod
    def of(cls, strings: Iterable[str]) -> Self:
        """Strings given one by one; all must differ."""
        kept = list(strings)
        text = "".join(kept).encode("utf-8", "surrogatepass")
        return cls(np.frombuffer(text, np.uint8).copy(), pointers(list(map(len, kept))))

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Offsets fit the text, and all strings differ."""
        ptr, text = self.ptr, self.text
        whole = text.dtype == np.uint8 and ptr.dtype == np.int64
        whole = whole and text.ndim == ptr.ndim == 1 and len(ptr) > 0
        if not whole or ptr[0] != 0 or (np.diff(ptr) < 0).any():
            raise ValueError("the offsets of a list of strings do not fit its text")
        if len(self.index) != len(self):
            raise ValueError("a list of strings has the same string twice")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays alone."""
        return Strings, (self.text, self.ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, i: int) -> str:
        return self.all[i]

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    @cached_property
    def all(self) -> list[str]:
        """The strings as a list."""
        try:
            text = self.text.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ValueError(f"a list of strings is not UTF-8 ({error})") from None
        if len(text) != self.ptr[-1]:
            raise ValueError("the offsets of a list of strings do not fit its text")
        return [text[a:b] for a, b in pairwise(self.ptr.tolist())]

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of each string in the list."""
        return {s: i for i, s in enumerate(self.all)}
