"""The Numba decorators `loop`, `inner_loop`, `uncounted_loop` and `dense_loop`.

Every compiled function of the package is one of them: kept on disk, without the GIL,
serial. What Python calls is a `@loop`. What only other loops call is an `@inner_loop`,
which has no entry point for Python: a call from Python would end the process
(`tests/test_architecture.py` checks that there is none). A loop calls loops of its own
file or of a leaf file only (`LEAF_LOOPS` in that test), so that one sees what a change
affects. Infinities and NaN keep their meaning in all loops.

An `@uncounted_loop` is an inner loop that makes no arrays and returns none. Numba then
leaves out its reference counts: atomic additions at every slice and every array of a
tuple that is named, which took up to half of the time of loops over short rows, and made
threads wait for each other.

A `@dense_loop` may re-associate its sums, which vectorises products of contiguous
arrays; on sums over scattered places it would make the processor gather, which is twice
as slow as plain loads (AMD EPYC, 3.1 against 1.5 ns an entry). It sums in a local
variable, in a loop that writes no array. Otherwise the compiler makes a vector and a
scalar version and chooses between them by the addresses of the arrays, so that the last
bit of a sum depends on where they happen to lie (the same test checks this).

At the first call of a loop its machine code is taken from the wheel, else from the
user's cache, else it is compiled (`compiled/`). `LOOPS` lists the loops of the modules
imported so far by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from maxmargin.core.compiled.machine_code import LoopCache

_LOOP: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz"},
    "no_cfunc_wrapper": True,
}
_loop = numba.njit(**_LOOP)
_inner = numba.njit(**_LOOP | {"no_cpython_wrapper": True})
_uncounted = numba.njit(**_LOOP | {"no_cpython_wrapper": True, "_nrt": False})
_dense = numba.njit(**_LOOP | {"fastmath": {"reassoc", "contract", "nsz"}})

LOOPS: dict[str, Any] = {}  # entry loops, by module and name
INNER_LOOPS: dict[str, Any] = {}


def loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call."""
    return _kept(_loop(function), LOOPS)


def inner_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` with the first loop that calls it; Python must not call it."""
    return _kept(_inner(function), INNER_LOOPS)


def uncounted_loop(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that makes and returns no arrays, without their counts."""
    return _kept(_uncounted(function), INNER_LOOPS)


def dense_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call; its sums may be re-associated."""
    return _kept(_dense(function), LOOPS)


def _kept(dispatcher: Any, loops: dict[str, Any]) -> Any:
    """Give a dispatcher of Numba our cache, and list it."""
    if vars(numba.config)["DISABLE_JIT"]:  # njit has returned the plain function
        return dispatcher
    function = dispatcher.py_func
    dispatcher._cache = LoopCache(dispatcher)
    loops[f"{function.__module__}.{function.__qualname__}"] = dispatcher
    return dispatcher
