"""The Numba decorators `loop`, `inner_loop` and `dense_loop`.

Every compiled function of the package is one of them: kept on disk, without the GIL,
serial. What Python calls is a `@loop`. What only other loops call is an `@inner_loop`,
which has no entry point for Python: a call from Python would end the process
(`tests/test_architecture.py` checks that there is none). A loop calls loops of its own
file or of a leaf file only (`LEAF_LOOPS` in that test), so that one sees what a change
affects. Infinities and NaN keep their meaning in all loops.

Numba counts references by atomic additions at every slice and every array of a tuple that
is named, which took up to half of the time of loops over short rows, and made threads
wait for each other. The counts of loops that make no arrays and return none are left out
(`compiled/compiler.py`).

A `@dense_loop` may re-associate its sums, which vectorises products of contiguous
arrays; on sums over scattered places it would make the processor gather, which is twice
as slow as plain loads (AMD EPYC, 3.1 against 1.5 ns an entry). It sums in a local
variable, in a loop that writes no array. Otherwise the compiler makes a vector and a
scalar version and chooses between them by the addresses of the arrays, so that the last
bit of a sum depends on where they happen to lie (the same test checks this).

What a loop calls is compiled for it alone and has no entry point, also where it is a
`@loop` itself (`compiled/compiler.py`).

At the first call of a loop its machine code is taken from the wheel, else from the
user's cache, else it is compiled (`compiled/`). `LOOPS` lists the loops of the modules
imported so far by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba

from maxmargin.core.compiled.compiler import InnerCompiler, LoopCompiler
from maxmargin.core.compiled.machine_code import LoopCache

_LOOP: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz"},
    "no_cfunc_wrapper": True,
}
_DENSE = _LOOP | {"fastmath": {"reassoc", "contract", "nsz"}}

LOOPS: dict[str, Any] = {}  # entry loops, by module and name
INNER_LOOPS: dict[str, Any] = {}


def loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call."""
    return _entry(function, _LOOP)


def dense_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call; its sums may be re-associated."""
    return _entry(function, _DENSE)


def inner_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` with the first loop that calls it; Python must not call it."""
    return _inner(function, _LOOP)


def _entry(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A loop for Python; other loops are linked with a version without entry point."""
    dispatcher = numba.njit(**options, pipeline_class=LoopCompiler)(function)
    if not _plain():
        _kept(dispatcher, LOOPS)
        inner = cache(partial(_inner, function, options))
        dispatcher.get_call_template = lambda *types: inner().get_call_template(*types)
        dispatcher.get_overload = lambda types: inner().get_overload(types)
    return dispatcher


def _inner(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    made = options | {"no_cpython_wrapper": True}
    dispatcher = numba.njit(**made, pipeline_class=InnerCompiler)(function)
    return dispatcher if _plain() else _kept(dispatcher, INNER_LOOPS)


def _plain() -> bool:
    """Whether nothing is compiled, and `njit` returns the plain function."""
    return bool(vars(numba.config)["DISABLE_JIT"])


def _kept(dispatcher: Any, loops: dict[str, Any]) -> Any:
    """Give a dispatcher of Numba our cache, and list it."""
    function = dispatcher.py_func
    dispatcher._cache = LoopCache(dispatcher, "entry" if loops is LOOPS else "inner")
    loops[f"{function.__module__}.{function.__qualname__}"] = dispatcher
    return dispatcher
