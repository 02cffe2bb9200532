"""`loop`: the one Numba decorator.

Every compiled function of the package is a `@loop`: cached on disk, without the
GIL, serial. Sums may be re-associated, so that they vectorise; infinities and NaN
keep their meaning. A loop calls loops of its own file or of the leaf file
`arrays.py` only, because Numba's cache watches the calling file alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

_decorate = numba.njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
)


def loop(function: F) -> F:
    """Compile `function` at its first call."""
    return _decorate(function)  # type: ignore[no-any-return]
