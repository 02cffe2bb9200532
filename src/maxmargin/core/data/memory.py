"""The one memory setting: how many bytes a trainer or a kernel may hold.

`MEMORY` is the default of every parameter named `memory`: 4 GB, or the number of bytes in
the environment variable `MAXMARGIN_MEMORY`, which is read once, at import.

    MAXMARGIN_MEMORY=16e9 python train.py

The default is a constant and not a share of the memory of the machine, because the
bound decides which cutting planes are dropped: with a constant, a run has the same
result on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

DEFAULT = 4e9  # bytes
VARIABLE = "MAXMARGIN_MEMORY"


def memory_setting(environment: Mapping[str, str] = os.environ) -> float:
    """Bytes allowed by the environment, `DEFAULT` where it does not say.

    Examples
    --------
    >>> memory_setting({}), memory_setting({"MAXMARGIN_MEMORY": "16e9"})
    (4000000000.0, 16000000000.0)
    """
    text = environment.get(VARIABLE)
    if not text:
        return DEFAULT
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not size > 0:
        raise ValueError(
            f"{VARIABLE}={text!r} is not a number of bytes: write 16e9 for 16 GB"
        )
    return size


MEMORY = memory_setting()


def refuse_larger(needed: float, allowed: float, what: str, instead: str) -> None:
    """Raise MemoryError if `needed` bytes are more than those allowed.

    Examples
    --------
    >>> refuse_larger(8e12, 4e9, "the Gram matrix of 1000000 rows", "allow more memory")
    Traceback (most recent call last):
    MemoryError: the Gram matrix of 1000000 rows needs 8000.0 GB, more than the 4.0 GB \
allowed: allow more memory
    """
    if needed > allowed:
        raise MemoryError(
            f"{what} needs {readable(needed)}, more than the "
            f"{readable(max(allowed, 0.0))} allowed: {instead}"
        )


def readable(size: float) -> str:
    """A number of bytes in GB or MB.

    Examples
    --------
    >>> readable(4e9), readable(2.5e6)
    ('4.0 GB', '2.5 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.3g} MB"
