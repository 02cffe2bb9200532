"""scikit-learn, imported without packages that its base classes do not use.

`import sklearn` also imports scipy.stats and pandas, for a few functions that nothing here
calls. That is half a second of a new process, more than all other imports together. While
scikit-learn is imported for the first time, each of the two is therefore a module that
imports the real one when it is first asked for an attribute. Afterwards `sys.modules` is as
if they had not been imported: an `import pandas` by others runs as always.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any

UNUSED = ("scipy.stats", "pandas")


class Deferred(ModuleType):
    """Stands for a module that is imported when it is first asked for an attribute."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def deferred(names: tuple[str, ...]) -> Iterator[None]:
    """Defer the import of modules in the block; of those installed and not imported yet."""
    stand_ins = {name: Deferred(name) for name in names if _to_be_imported(name)}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _to_be_imported(name: str) -> bool:
    return name not in sys.modules and find_spec(name) is not None


def import_scikit_learn() -> None:
    """Import scikit-learn; nothing where somebody else has done so before."""
    if "sklearn" not in sys.modules:
        with deferred(UNUSED):
            importlib.import_module("sklearn")
