"""Machine code in files: what it was made for, whether it fits here, where it lies.

A pack is a file with the machine code of many loops for one target. Those of a wheel lie
in `packs/` and are never written to. It is used only where it fits: the same versions
of Numba and Python, the same platform, and a processor with all the features of the
pack's level.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba

from maxmargin.core.compiled.levels import LEVELS, NATIVE
from maxmargin.core.compiled.user_cache import UserCache

log = logging.getLogger("maxmargin")
PACKS = Path(__file__).parent / "packs"
MAGIC = b"maxmargin code 1\n"
config: dict[str, Any] = vars(numba.config)  # Numba reads its settings from here
# Settings of Numba that change machine code, and that its own cache does not watch.
SETTINGS = (
    "BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """What machine code was made for."""

    numba: str
    python: str
    platform: str
    level: str  # of LEVELS, or NATIVE
    cpu: str
    features: str
    settings: tuple[str, ...]

    @classmethod
    def here(cls, level: str = NATIVE) -> Target:
        """What this process compiles for."""
        cpu, features = host_cpu()
        return cls(
            numba.__version__, sys.implementation.cache_tag + sys.abiflags,
            f"{sys.platform}-{platform.machine()}", level, cpu, features,
            tuple(f"{name}={config.get(name)}" for name in SETTINGS),
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
        if self.level == NATIVE:
            return f"made for the processor {self.cpu}, this is {here.cpu}"
        asked = config.get("CPU_NAME")
        if asked is not None:
            return f"NUMBA_CPU_NAME asks for {asked}"
        missing = sorted(set(LEVELS[self.level].features) - host_features())
        return f"this processor has no {', '.join(missing)}" if missing else None


def host_cpu() -> tuple[str, str]:
    """Name and features of the processor that Numba compiles for."""
    name, features = config.get("CPU_NAME"), config.get("CPU_FEATURES")
    if features is None:
        host = ",".join(sorted(f"+{feature}" for feature in host_features()))
        features = "" if name else host
    return name or llvm.get_host_cpu_name(), features


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
                raise ValueError(f"{path} is not a file of machine code")
            head = json.loads(file.readline())
            self._begin = file.tell()
        settings = {"settings": tuple(head["target"]["settings"])}
        self.target = Target(**head["target"] | settings)
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
        """What there is for this process.

        `MAXMARGIN_MACHINE_CODE` may be off, or name the only level that is wanted.
        """
        packs: list[tuple[Pack, str | None]] = []
        wanted, here = _wanted(), Target.here()
        better: set[str] = set()  # what packs that came before have
        for path in sorted(folder.glob("*.code"), key=_order):
            try:
                pack = Pack(path)
                why = _unwanted(pack, wanted) or pack.target.misfit(here)
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("%s cannot be used: %s", path, error)
                continue
            if why is None and better.issuperset(pack.entries):
                why = "a better level has its loops"
            if why is None:
                better.update(pack.entries)
            packs.append((pack, why))
        return cls(packs)

    def shipped(self, name: str) -> bytes | None:
        """The code of an entry from the first pack that fits and has it."""
        for pack, misfit in self.packs:
            if misfit is None and (code := pack.load(name)) is not None:
                return code
        return None


def _wanted() -> str | None:
    """What `MAXMARGIN_MACHINE_CODE` asks for: "off", a level, or nothing."""
    wanted = os.environ.get("MAXMARGIN_MACHINE_CODE") or None
    known = ["off", NATIVE, *LEVELS]
    if wanted is None or wanted in known:
        return wanted
    log.warning(
        "MAXMARGIN_MACHINE_CODE=%s is ignored: it may be %s", wanted, ", ".join(known)
    )
    return None


def _unwanted(pack: Pack, wanted: str | None) -> str | None:
    """Why a pack is not to be used by `MAXMARGIN_MACHINE_CODE`; None if it may be."""
    if wanted is None or wanted == pack.target.level:
        return None
    if wanted == "off":
        return "MAXMARGIN_MACHINE_CODE is off"
    return f"MAXMARGIN_MACHINE_CODE asks for {wanted}"


def _order(path: Path) -> tuple[int, str]:
    """Native code first, then the levels as listed."""
    names = [NATIVE, *LEVELS]
    return names.index(path.stem) if path.stem in names else len(names), path.stem


@cache
def stores() -> Stores:
    """Where this process looks for machine code; found at the first call of a loop."""
    return Stores.found()
