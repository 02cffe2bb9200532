"""Levels of processors that machine code is made for, without importing Numba.

Every processor with the features of a level runs its code. x86-64-v3 is what Intel and
AMD have made since 2013 and 2015 (AVX2 and FMA); x86-64 is for what came before, and for
emulators. Vectors of 512 bits (x86-64-v4) make alignments faster, and nothing else: there
are extra copies of these loops.
"""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """A level: LLVM's name for it, the machines it is for, and what they must have."""

    cpu: str
    machines: tuple[str, ...]  # values of `platform.machine()`
    features: tuple[str, ...] = ()
    tuning: str = ""  # features that LLVM is asked for or not to use, beyond its name
    only: tuple[str, ...] = ()  # folders whose loops gain from the level; (): all loops


NATIVE = "native"  # the very processor that the code was compiled on
V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
LEVELS = {
    "x86-64-v4": Level(
        "x86-64-v4",
        ("x86_64", "AMD64"),
        (*V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
        tuning="-prefer-256-bit",  # LLVM would use vectors of 256 bits
        only=("maxmargin.inference.alignment.", "maxmargin.structures.alignment."),
    ),
    "x86-64-v3": Level("x86-64-v3", ("x86_64", "AMD64"), V3),
    "x86-64": Level("x86-64", ("x86_64", "AMD64")),
    "aarch64": Level("generic", ("aarch64", "arm64")),
}


def levels_for(machine: str) -> list[str]:
    """Levels that a wheel for a machine has, best first.

    Examples
    --------
    >>> levels_for("AMD64")
    ['x86-64-v4', 'x86-64-v3', 'x86-64']
    >>> levels_for("arm64"), levels_for("riscv64")
    (['aarch64'], [])
    """
    return [name for name, level in LEVELS.items() if machine in level.machines]
