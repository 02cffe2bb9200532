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

from collections.abc import Callable
from typing import Any

import numba

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


def dense_loop(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call; its sums may be re-associated."""
    return _dense(function)
