"""Where the machine code of a loop comes from: the wheel, the user's cache, or Numba.

    wheel       packs of machine code, made when the wheel was built (`packs.py`)
    user cache  what this user has compiled before (`user_cache.py`)
    Numba       compiles, and the user cache keeps the result

Code is found by the name of the loop and a hash of all that it depends on
(`code_stamp.py`), so that a loop that has changed is compiled again. Where nothing fits it
is compiled, as if there were no packs. `python -m maxmargin.runtime` prints which of them
is used, and why.

Only loops of this package (and of users who take `loop` from it) pass through here;
functions compiled by `numba.njit` elsewhere keep Numba's own cache.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from numba.core import compiler, sigutils
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from maxmargin.core.compiled.code_stamp import code_stamp
from maxmargin.core.compiled.compiling import compiling_now
from maxmargin.core.compiled.packs import Target, stores

log = logging.getLogger("maxmargin")


@dataclass
class Uses:
    """Loops that Python has called, by where their machine code came from."""

    shipped: list[str] = field(default_factory=list)
    cached: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many of each."""
        return {kind: len(names) for kind, names in vars(self).items()}


USES = Uses()
Recorder = Callable[[str, tuple[Any, ...]], None]
RECORDERS: list[Recorder] = []  # told of each loop that Python calls, with its types


def entry_name(loop: str, stamp: str, signature: str, *more: str) -> str:
    """The name of an entry: of the loop, and a hash of what its code depends on."""
    text = "\n".join((stamp, signature, *more))
    digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    return f"{loop.removeprefix('maxmargin.')}-{digest}"


class LoopCache:
    """The cache of one loop, as Numba's dispatcher wants it.

    Parameters
    ----------
    dispatcher : Dispatcher
    kind : {"entry", "inner"}
        Whether its code is called by Python, or linked into that of other loops.
    """

    def __init__(self, dispatcher: Any, kind: str) -> None:
        function = dispatcher.py_func
        self.kind = kind
        self.loop = f"{function.__module__}.{function.__qualname__}"
        self._dispatcher, self._stamp, self._enabled = dispatcher, "", True

    @property
    def cache_path(self) -> str | None:
        """Folder of the user's cache."""
        folder = stores().user.folder
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Look for code, and keep it."""
        self._enabled = True

    def disable(self) -> None:
        """Compile always."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing: a loop that has changed has another name."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Machine code for a signature; None where it must be compiled."""
        called = not compiling_now()  # by Python, not by a loop that is compiled
        types, _ = sigutils.normalize_signature(sig)
        if called:
            for record in RECORDERS:
                record(self.loop, types)
        for uses, data in self._stored(sig):
            made = None if data is None else self._rebuilt(data, target_context)
            if made is not None:
                if called:
                    uses.append(self.loop)
                return made
        if called:
            USES.compiled.append(self.loop)
        return None

    def _stored(self, sig: Any) -> Iterator[tuple[list[str], bytes | None]]:
        """The code of the wheel, then of the user's cache, and the list of its uses."""
        if self._enabled:
            yield USES.shipped, stores().shipped(self.shipped_name(sig))
            yield USES.cached, stores().user.load(self.cached_name(sig))

    def save_overload(self, sig: Any, made: Any) -> None:
        """Keep what has been compiled.

        Ctrl-C while LLVM works is raised in a function that LLVM calls at the end. Python
        drops it there, and the machine code with it; it is raised again here.
        """
        made.library._ensure_finalized()
        if made.library._compiled_object is None:
            raise KeyboardInterrupt
        if not self._enabled or stores().user.folder is None:
            return
        if made.lifted or made.library.has_dynamic_globals:
            return  # holds addresses of this process
        # The annotated source, which nobody reads, would be a third of the file.
        data = dumps(made._replace(type_annotation="")._reduce())
        stores().user.save(self.cached_name(sig), data)

    def shipped_name(self, sig: Any) -> str:
        """Name of a signature's code in a pack."""
        return self._name(sig)

    def cached_name(self, sig: Any) -> str:
        """Name of a signature's code in the user's cache."""
        return self._name(sig, *map(str, asdict(_here()).values()))

    def _name(self, sig: Any, *target: str) -> str:
        more = target if self.kind == "entry" else (*target, self.kind)
        return entry_name(self.loop, self.stamp(), signature_text(sig), *more)

    def stamp(self) -> str:
        """Hash of the loop and of all that it calls."""
        if not self._stamp:
            self._stamp = code_stamp(self._dispatcher)
        return self._stamp

    def _rebuilt(self, data: bytes, target_context: Any) -> Any:
        """The compiled loop from its bytes.

        Numba's own cache first makes its contexts ready for compiling, which takes
        half a second; for running machine code its allocator is enough.
        """
        rtsys.initialize(target_context)
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception as error:  # whatever is wrong with it: compile
            log.warning("machine code of %s cannot be used: %s", self.loop, error)
            return None


@cache
def _here() -> Target:
    return Target.here()


def signature_text(sig: Any) -> str:
    """Types of the arguments, as text."""
    types, result = sigutils.normalize_signature(sig)
    return f"({', '.join(map(repr, types))}) -> {result}"
