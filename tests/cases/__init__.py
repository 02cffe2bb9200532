"""Tiny random instances of each structure, with all their outputs.

A module has `tiny(rng) -> (structure, X, Y)`, `outputs(structure, x, i)` (all encoded
outputs of example i, as lists) and `LOSSES`; where outputs do not compare by ==, also
`same(y, z)`; `PRUNED = True` if layers may be left out that no formulation prefers. The
contract tests find the modules by themselves.
"""

import importlib
import pkgutil


def modules():
    """All cases, by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"cases.{name}") for name in names}
