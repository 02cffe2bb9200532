"""The build step that puts machine code into a wheel, if it is asked for.

    MAXMARGIN_PRECOMPILE=1 pip wheel . --no-deps              all loops
    MAXMARGIN_PRECOMPILE=ChainSVM pip wheel . --no-deps       those of an estimator (or A,B)

Without the variable the wheel is pure Python. With it, the loops listed in
`core/compiled/signatures.json` are compiled for the processor levels of this platform,
side by side, which takes some minutes, and the wheel is for this platform and this minor
version of Python. `MAXMARGIN_PRECOMPILE_CACHE` names a folder that keeps what was compiled
for the next build, `MAXMARGIN_PRECOMPILE_LEVELS` a choice of levels.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from runpy import run_path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASKED = os.environ.get("MAXMARGIN_PRECOMPILE", "")
PURE = ("", "0")


class MachineCode(BuildHookInterface):
    """Compiles loops and adds the packs to the wheel."""

    def dependencies(self) -> list[str]:
        """What compiling needs: all that the package needs."""
        return [] if ASKED in PURE else list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the packs before files are collected."""
        if ASKED in PURE or self.target_name != "wheel" or version != "standard":
            return
        self.made = tempfile.TemporaryDirectory()
        levels = self._levels()
        processes = [self._compile(level) for level in levels]
        if any([process.wait() for process in processes]):
            raise RuntimeError("the loops could not be compiled: see above")
        for pack in (f"{level}.code" for level in levels):
            place = f"maxmargin/core/compiled/packs/{pack}"
            build_data["force_include"][str(Path(self.made.name) / pack)] = place
        build_data["pure_python"] = False
        build_data["tag"] = _tag()

    def finalize(self, version: str, build_data: dict[str, Any], artifact: str) -> None:
        """Remove the packs, which are in the wheel now."""
        if "made" in vars(self):
            self.made.cleanup()

    def _levels(self) -> list[str]:
        chosen = os.environ.get("MAXMARGIN_PRECOMPILE_LEVELS")
        if chosen:
            return chosen.split(",")
        path = Path(self.root, "src", "maxmargin", "core", "compiled", "levels.py")
        found: list[str] = run_path(str(path))["levels_for"](platform.machine())
        if not found:
            raise RuntimeError(
                f"there is no level of processors for {platform.machine()} in "
                "core/compiled/levels.py: build without MAXMARGIN_PRECOMPILE"
            )
        return found

    def _compile(self, level: str) -> subprocess.Popen[bytes]:
        self.app.display_info(f"compiling loops for {level}")
        command = [sys.executable, "-m", "maxmargin.core.compiled.precompile"]
        command += [self.made.name, "--level", level]
        if ASKED != "1":
            command += ["--only", ASKED]
        if "MAXMARGIN_PRECOMPILE_CACHE" in os.environ:
            command += ["--cache", os.environ["MAXMARGIN_PRECOMPILE_CACHE"]]
        paths = [str(Path(self.root) / "src"), os.environ.get("PYTHONPATH", "")]
        here = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.Popen(command, env=here)


def _tag() -> str:
    """Tag of wheels for this Python and platform.

    The machine code calls nothing but Numba's runtime and functions of the C library
    that each version of it has; Numba's own wheels are for these platforms or newer ones.
    """
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    abi = python + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "")
    machine = platform.machine().lower()
    if sys.platform == "darwin":
        return f"{python}-{abi}-macosx_11_0_{machine}"
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        return f"{python}-{abi}-manylinux_2_17_{machine}"
    return (
        f"{python}-{abi}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    )
