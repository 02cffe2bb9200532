"""Levels of processors that machine code is made for, without importing Numba.

Every processor with the features of a level runs its code. x86-64-v3 is what Intel and
AMD have made since 2013 and 2015 (AVX2 and FMA).
"""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """A level: LLVM's name for it, the machines it is for, and what they must have."""

    cpu: str
    machines: tuple[str, ...]  # values of `platform.machine()`
    features: tuple[str, ...] = ()


NATIVE = "native"  # the very processor that the code was compiled on
LEVELS = {
    "x86-64-v3": Level(
        "x86-64-v3",
        ("x86_64", "AMD64"),
        ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt"),
    ),
    "x86-64": Level("x86-64", ("x86_64", "AMD64")),
    "aarch64": Level("generic", ("aarch64", "arm64")),
}


def levels_for(machine: str) -> list[str]:
    """Levels for a machine, best first; wheels are built for the best alone.

    Examples
    --------
    >>> levels_for("x86_64"), levels_for("riscv64")
    (['x86-64-v3', 'x86-64'], [])
    """
    return [name for name, level in LEVELS.items() if machine in level.machines]
