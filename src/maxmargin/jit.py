"""`loop`: the one Numba decorator, and `dense_loop` for sums over neighbours.

Every compiled function of the package is a `@loop`: cached on disk, without the
GIL, serial. A `@dense_loop` may re-associate its sums, which vectorises products of
contiguous arrays; on sums over scattered places it would make the processor gather,
which is twice as slow as plain loads (AMD EPYC, 3.1 against 1.5 ns an entry).
Infinities and NaN keep their meaning in both. A loop calls loops of its own file or of
a leaf file only (`arrays.py`; in solvers `steps.py`, `parts.py`, `plane_store.py`; for
alignments those of `LEAF_LOOPS` in `tests/test_architecture.py`), because Numba's cache
watches the calling file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import event

_plain = numba.njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"}
)
_dense = numba.njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
)


def loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call."""
    return _plain(function)


@contextmanager
def compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if a loop is compiled in the block, not taken from the disk."""
    with event.install_listener("numba:compile", _Once(tell)):
        yield


class _Once(event.Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell: Callable[[], None] | None = tell

    def on_start(self, event: Any) -> None:
        tell, self.tell = self.tell, None
        if tell is not None:
            tell()

    def on_end(self, event: Any) -> None:
        pass


def dense_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call; its sums may be re-associated."""
    return _dense(function)
