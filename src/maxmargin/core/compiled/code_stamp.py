"""What a loop's machine code depends on, as a hash: `code_stamp`.

The stamp covers the bytecode of a function, the constants it reads from its module and,
in turn, every function that it calls, wherever that is written. Comments, docstrings,
line numbers and other functions of the file do not enter, so that an edit makes exactly
those loops stale that it changes.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def code_stamp(function: Callable[..., Any]) -> str:
    """Hash of a function and of all that its compiled form depends on.

    Examples
    --------
    >>> def one(x):
    ...     return x + 1
    >>> def other(x):
    ...     return x + 2
    >>> code_stamp(one) == code_stamp(one), code_stamp(one) == code_stamp(other)
    (True, False)
    """
    walk = _Walk()
    walk.value(function)
    return walk.digest.hexdigest()


class _Walk:
    """One walk over a function and all that it calls; each function is visited once."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self.seen: set[int] = set()

    def add(self, *texts: object) -> None:
        """Take in texts, each with an end mark."""
        for text in texts:
            data = text if isinstance(text, bytes) else str(text).encode()
            self.digest.update(len(data).to_bytes(8, "little"))
            self.digest.update(data)

    def function(self, function: Any) -> None:
        """Take in a plain function."""
        self.add("function", function.__module__, function.__qualname__)
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        self.value(function.__defaults__)
        for cell in function.__closure__ or ():
            self.value(cell.cell_contents)
        self.code(function.__code__, function.__globals__, function.__doc__)

    def code(
        self, code: types.CodeType, names: dict[str, Any], doc: str | None
    ) -> None:
        """Take in bytecode, its constants, and the values of the names it reads."""
        self.add("code", code.co_code, code.co_varnames, code.co_freevars)
        self.add(code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.code(constant, names, None)
            elif doc is None or constant != doc:
                self.value(constant)
        modules = []
        for name in code.co_names:
            self.add(name)
            if name in names:
                self.value(names[name])
                if _ours(names[name]):
                    modules.append(names[name])
        for module in modules:  # `module.name`: the name is one of co_names
            for name in code.co_names:
                if name in vars(module):
                    self.value(vars(module)[name])

    def value(self, value: Any) -> None:
        """Take in a constant or something that is called."""
        plain = getattr(value, "py_func", value)  # of a dispatcher of Numba
        if isinstance(plain, types.FunctionType):
            self.function(plain)
            if plain is not value:
                options = value.targetoptions
                self.add(*(f"{k}={_steady(options[k])}" for k in sorted(options)))
        elif isinstance(value, np.ndarray):
            self.add("array", value.dtype, value.shape, value.tobytes())
        elif isinstance(value, types.ModuleType):
            self.add("module", value.__name__)
        elif isinstance(value, tuple):
            self.add("tuple", len(value))
            for item in value:
                self.value(item)
        elif isinstance(value, type | types.BuiltinFunctionType | np.ufunc):
            self.add("named", getattr(value, "__module__", ""), value.__name__)
        else:
            self.add(type(value).__qualname__, _steady(value))


def _steady(value: Any) -> str:
    """Text of a value that is the same in every process: sets are put in order."""
    if isinstance(value, set | frozenset):
        return repr(sorted(map(_steady, value)))
    return repr(value)


def _ours(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and value.__name__.startswith(
        "maxmargin"
    )
