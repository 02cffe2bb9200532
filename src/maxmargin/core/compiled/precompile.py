"""Compile loops ahead, into a pack of machine code.

    python -m maxmargin.core.compiled.precompile FOLDER --level x86-64-v3

is what the build of a wheel runs (`hatch_build.py`); `maxmargin warmup --share` writes a
pack for this very processor into the installed package. Which loops, and for which
types, is in `signatures.json`.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from maxmargin.core.compiled.levels import LEVELS, NATIVE


def main(argv: Sequence[str] | None = None) -> int:
    """Write a pack. What Numba compiles for is set before it is imported."""
    parser = argparse.ArgumentParser(
        prog="python -m maxmargin.core.compiled.precompile"
    )
    parser.add_argument("folder", type=Path, help="where the pack is written")
    parser.add_argument(
        "--level", default=NATIVE, choices=(NATIVE, *LEVELS), help="of processors"
    )
    parser.add_argument("--only", default="", help="estimators, with commas between")
    parser.add_argument(
        "--cache", help="folder that keeps what is compiled for a next time"
    )
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    only = tuple(filter(None, args.only.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MAXMARGIN_CACHE_DIR"] = args.cache or folder
        os.environ["MAXMARGIN_MACHINE_CODE"] = "off"
        if args.level != NATIVE:
            os.environ["NUMBA_CPU_NAME"] = LEVELS[args.level].cpu
            os.environ["NUMBA_CPU_FEATURES"] = LEVELS[args.level].tuning
        write_pack(args.folder, args.level, only)
    return 0


def write_pack(folder: Path, level: str, estimators: Sequence[str] = ()) -> Path:
    """Compile the loops of some estimators, or all, and write `folder/level.code`.

    Of a level that only some loops gain from, those.
    """
    from maxmargin.core.compiled.packs import Pack, Target, stores
    from maxmargin.core.compiled.signatures import Listing, every_loop

    loops = every_loop()
    _forget_paths()
    only = LEVELS[level].only if level != NATIVE else ()
    codes = []
    for use in Listing.read().uses(estimators):
        if only and not use.loop.startswith(only):
            continue
        loops[use.loop].compile(use.types)
        held = loops[use.loop]._cache
        code = stores().user.load(held.cached_name(use.types))
        if code is None:
            raise RuntimeError(f"{use.loop} cannot be kept: {stores().user.problem}")
        codes.append((held.shipped_name(use.types), code))
    path = folder / f"{level}.code"
    Pack.write(path, Target.here(level), codes)
    return path


def _forget_paths() -> None:
    """Name source files in the package, so that no path of this machine is shipped."""
    from maxmargin.core.jit import INNER_LOOPS, LOOPS

    for dispatcher in (*LOOPS.values(), *INNER_LOOPS.values()):
        function: Any = dispatcher.py_func
        name = function.__module__.replace(".", "/") + ".py"
        function.__code__ = _renamed(function.__code__, name)


def _renamed(code: CodeType, name: str) -> CodeType:
    consts = tuple(
        _renamed(c, name) if isinstance(c, CodeType) else c for c in code.co_consts
    )
    return code.replace(co_filename=name, co_consts=consts)


if __name__ == "__main__":
    sys.exit(main())
