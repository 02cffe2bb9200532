"""Where the machine code of a loop comes from: the wheel, the user's cache, or Numba.

    wheel       packs in `machine_code/`, one per level of processors, made when the
                wheel was built (`precompile.py`) and read-only since
    user cache  what this user has compiled before (`user_cache.py`)
    Numba       compiles, and the user cache keeps the result

Machine code is taken from a pack only where it fits: the same versions of Numba and
Python, the same platform, a processor that has all that the level asks for, and a loop
that has not changed since (`code_stamp.py`). Otherwise the loop is compiled, as if there
were no pack. `python -m maxmargin.runtime` prints which of them is used, and why.

Only loops of this package (and of users who take `loop` from it) pass through here;
functions compiled by `numba.njit` elsewhere keep Numba's own cache.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import pickle
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import compiler, config, sigutils
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from maxmargin.core.code_stamp import code_stamp
from maxmargin.core.compiling import compiling_now
from maxmargin.core.user_cache import UserCache

log = logging.getLogger("maxmargin")
PACKS = Path(__file__).parent / "machine_code"
MAGIC = b"maxmargin code 1\n"
# Settings of Numba that change machine code, and that its own cache does not watch.
SETTINGS = (
    "BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE",
)  # fmt: skip
# Levels of processors: LLVM's name, and the features without which it cannot run.
LEVELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "x86-64-v3": (
        "x86-64-v3",
        ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt"),
    ),
    "x86-64": ("x86-64", ()),
    "aarch64": ("generic", ()),
}


@dataclass(frozen=True)
class Target:
    """What machine code was made for."""

    numba: str
    python: str
    platform: str
    level: str  # of LEVELS, or "native"
    cpu: str
    features: str
    settings: tuple[str, ...]

    @classmethod
    def here(cls, level: str = "native") -> Target:
        """What this process compiles for."""
        cpu, features = host_cpu()
        return cls(
            numba.__version__, sys.implementation.cache_tag + sys.abiflags,
            f"{sys.platform}-{platform.machine()}", level, cpu, features,
            tuple(f"{name}={getattr(config, name, None)}" for name in SETTINGS),
        )  # fmt: skip

    def misfit(self, here: Target) -> str | None:
        """Why code made for this target cannot be used here; None if it can."""
        for part in ("numba", "python", "platform"):
            made, have = getattr(self, part), getattr(here, part)
            if made != have:
                return f"made for {part} {made}, this is {have}"
        if self.settings != here.settings:
            return f"settings of Numba differ: {' '.join(here.settings)}"
        if (self.cpu, self.features) == (here.cpu, here.features):
            return None
        if self.level == "native":
            return f"made for the processor {self.cpu}, this is {here.cpu}"
        if config.CPU_NAME is not None:
            return f"NUMBA_CPU_NAME asks for {config.CPU_NAME}"
        missing = sorted(set(LEVELS[self.level][1]) - host_features())
        return f"this processor has no {', '.join(missing)}" if missing else None


def host_cpu() -> tuple[str, str]:
    """Name and features of the processor that Numba compiles for."""
    name = config.CPU_NAME or llvm.get_host_cpu_name()
    if config.CPU_FEATURES is not None:
        return name, config.CPU_FEATURES
    if config.CPU_NAME:
        return name, ""
    return name, ",".join(sorted(f"+{feature}" for feature in host_features()))


@cache
def host_features() -> frozenset[str]:
    """Features of this processor, by LLVM's names."""
    try:
        return frozenset(k for k, has in llvm.get_host_cpu_features().items() if has)
    except RuntimeError:  # LLVM does not know this platform
        return frozenset()


class Pack:
    """A file with machine code for one target.

    A line `MAGIC`, a line of JSON with the target and with offset and length of each
    entry, then the entries.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            if file.readline() != MAGIC:
                raise ValueError(f"{path} is no file of machine code")
            head = json.loads(file.readline())
            self._begin = file.tell()
        self.target = Target(**head["target"] | {"settings": tuple(head["target"]["settings"])})
        self.entries: dict[str, tuple[int, int]] = head["entries"]

    def load(self, name: str) -> bytes | None:
        """The code of an entry; None if the pack does not have it."""
        place = self.entries.get(name)
        if place is None:
            return None
        with open(self.path, "rb") as file:
            file.seek(self._begin + place[0])
            return file.read(place[1])

    @staticmethod
    def write(path: Path, target: Target, codes: Iterable[tuple[str, bytes]]) -> None:
        """Write a pack."""
        entries, blobs, end = {}, [], 0
        for name, code in sorted(codes):
            entries[name] = end, len(code)
            blobs.append(code)
            end += len(code)
        head = json.dumps({"target": asdict(target), "entries": entries})
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".half")
        with open(half, "wb") as file:
            file.write(MAGIC + head.encode() + b"\n")
            file.writelines(blobs)
        os.replace(half, path)


@dataclass
class Stores:
    """The packs of the installation, those of them that fit, and the user's cache."""

    packs: list[tuple[Pack, str | None]] = field(default_factory=list)  # with misfit
    user: UserCache = field(default_factory=UserCache)

    @classmethod
    def found(cls, folder: Path = PACKS) -> Stores:
        """What there is for this process; packs may be switched off."""
        packs: list[tuple[Pack, str | None]] = []
        off = os.environ.get("MAXMARGIN_MACHINE_CODE") == "off"
        here = Target.here()
        for path in sorted(folder.glob("*.code"), key=_order):
            try:
                pack = Pack(path)
                why = pack.target.misfit(here)
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("%s cannot be used: %s", path, error)
                continue
            packs.append((pack, "MAXMARGIN_MACHINE_CODE is off" if off else why))
        return cls(packs)

    def shipped(self, name: str) -> bytes | None:
        """The code of an entry from the first pack that fits and has it."""
        for pack, misfit in self.packs:
            if misfit is None and (code := pack.load(name)) is not None:
                return code
        return None


def _order(path: Path) -> tuple[int, str]:
    """Native code first, then the levels as listed."""
    names = ["native", *LEVELS]
    return names.index(path.stem) if path.stem in names else len(names), path.stem


@cache
def stores() -> Stores:
    """Where this process looks for machine code; found at the first call of a loop."""
    return Stores.found()


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
    """The cache of one loop, as Numba's dispatcher wants it."""

    def __init__(self, dispatcher: Any) -> None:
        function = dispatcher.py_func
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
        if self._enabled:
            where = stores()
            for uses, data in (
                (USES.shipped, where.shipped(self.shipped_name(sig))),
                (USES.cached, where.user.load(self.cached_name(sig))),
            ):
                made = None if data is None else self._rebuilt(data, target_context)
                if made is not None:
                    if called:
                        uses.append(self.loop)
                    return made
        if called:
            USES.compiled.append(self.loop)
        return None

    def save_overload(self, sig: Any, made: Any) -> None:
        """Keep what has been compiled."""
        if not self._enabled or stores().user.folder is None:
            return
        if made.lifted or made.library.has_dynamic_globals:
            return  # holds addresses of this process
        # The annotated source, which nobody reads, would be a third of the file.
        data = dumps(made._replace(type_annotation="")._reduce())
        stores().user.save(self.cached_name(sig), data)

    def shipped_name(self, sig: Any) -> str:
        """Name of a signature's code in a pack."""
        return entry_name(self.loop, self.stamp(), signature_text(sig))

    def cached_name(self, sig: Any) -> str:
        """Name of a signature's code in the user's cache."""
        target = map(str, asdict(_here()).values())
        return entry_name(self.loop, self.stamp(), signature_text(sig), *target)

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
