"""The Numba decorators: `loop`, `inner_loop`, `dense_loop` for sums over neighbours.

Every compiled function of the package is one of them: cached on disk, without the GIL,
serial. What Python calls is a `@loop`. What only other loops call is an `@inner_loop`,
which spares compiling an entry for Python: a call from there would end the process
(`tests/test_architecture.py` sees to it that there is none). A `@dense_loop` may
re-associate its sums, which vectorises products of contiguous arrays; on sums over
scattered places it would make the processor gather, which is twice as slow as plain
loads (AMD EPYC, 3.1 against 1.5 ns an entry). Infinities and NaN keep their meaning in
all. A loop calls loops of its own file or of a leaf file only (`LEAF_LOOPS` in that
test), because Numba's cache watches the calling file alone.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import event

_LOOP: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz"},
    "no_cfunc_wrapper": True,
}
_loop = numba.njit(**_LOOP)
_inner = numba.njit(**_LOOP | {"no_cpython_wrapper": True})
_dense = numba.njit(**_LOOP | {"fastmath": {"reassoc", "contract", "nsz"}})


def loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call."""
    return _loop(function)


def inner_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` with the first loop that calls it; Python must not call it."""
    return _inner(function)


def dense_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call; its sums may be re-associated."""
    return _dense(function)


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


class _NoCollection(event.Listener):
    """No garbage collection while Numba compiles, which takes a sixth of its time.

    Numba tells of compilations, one inside the other, under its own lock.
    """

    def __init__(self) -> None:
        self.depth, self.enabled = 0, False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.enabled:
            gc.enable()


event.register("numba:compile", _NoCollection())
