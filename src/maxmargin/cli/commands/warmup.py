"""`maxmargin warmup`: compile loops ahead."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from maxmargin.cli.errors import DONE, FAILED, UsageError


def run(estimators: Sequence[str], share: bool) -> int:
    """Make the machine code of some estimators, or all, ready for later processes."""
    from maxmargin.core.compiled.signatures import Listing

    listing = Listing.read()
    try:
        uses = listing.uses(estimators)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return _shared(estimators) if share else _kept(uses)


def _kept(uses: Sequence[tuple[str, tuple[object, ...]]]) -> int:
    """Compile into the user's cache, with a line of progress."""
    from maxmargin.core.compiled.machine_code import USES
    from maxmargin.core.compiled.packs import stores
    from maxmargin.core.compiled.signatures import every_loop

    loops, begin = every_loop(), time.perf_counter()
    for done, (loop, types) in enumerate(uses):
        _show(f"{done + 1} of {len(uses)}  {loop.removeprefix('maxmargin.')}")
        loops[loop].compile(types)
    _show("")
    counts, user = USES.counts(), stores().user
    print(
        f"{len(uses)} loops are ready after {time.perf_counter() - begin:.1f} s: "
        f"{counts['shipped']} came with the wheel, {counts['cached']} from the cache, "
        f"{counts['compiled']} were compiled"
    )
    if counts["compiled"] and (user.folder is None or not user.writable):
        print(f"maxmargin: nothing is kept: {user.problem}", file=sys.stderr)
        return FAILED
    if user.folder is not None:
        print(f"cache: {user.folder}")
    return DONE


def _shared(estimators: Sequence[str]) -> int:
    """Write a pack for this processor into the installed package."""
    from maxmargin.core.compiled import packs

    folder, user = packs.PACKS, packs.stores().user.folder
    try:  # before minutes are spent on compiling
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        print(
            f"maxmargin: nothing can be written to {folder}: {error.strerror}; run this "
            "as the user who installed the package, or leave --share out",
            file=sys.stderr,
        )
        return FAILED
    command = [sys.executable, "-m", "maxmargin.core.compiled.precompile", str(folder)]
    command += ["--only", ",".join(estimators)]
    if user is not None and os.access(user, os.W_OK):
        command += ["--cache", str(user)]
    if subprocess.run(command, check=False).returncode:
        return FAILED
    print(f"machine code for this processor: {folder}")
    return DONE


def _show(text: str) -> None:
    """Rewrite the line of a terminal; write nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text:78.78s}" + ("" if text else "\r"))
        sys.stderr.flush()
