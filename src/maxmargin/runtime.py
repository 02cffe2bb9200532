"""Which machine code is in use here, and why: `python -m maxmargin.runtime`."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from typing import Any

from maxmargin import __version__
from maxmargin.core.compiled.compiling import compile_seconds
from maxmargin.core.compiled.machine_code import USES
from maxmargin.core.compiled.packs import Target, stores


def describe() -> dict[str, Any]:
    """Versions, packs of machine code with the reason why one is not used, the cache.

    Examples
    --------
    >>> sorted(describe())
    ['cache', 'loops', 'packs', 'seconds_compiling', 'versions']
    """
    here, found = Target.here(), stores()
    return {
        "versions": {
            "maxmargin": __version__, "numba": here.numba, "python": here.python,
            "platform": here.platform, "processor": here.cpu,
            "release": platform.python_version(),
        },
        "packs": [
            {
                "file": str(pack.path), "level": pack.target.level,
                "loops": len(pack.entries), "used": misfit is None, "why_not": misfit,
            }
            for pack, misfit in found.packs
        ],
        "cache": {
            "folder": None if found.user.folder is None else str(found.user.folder),
            "files": found.user.count(), "problem": found.user.problem,
        },
        "loops": USES.counts(),  # that this process has called
        "seconds_compiling": compile_seconds(),
    }  # fmt: skip


def text() -> str:
    """The same in words."""
    told = describe()
    version, lines = told["versions"], []
    lines.append(
        f"maxmargin {version['maxmargin']}, Numba {version['numba']}, "
        f"Python {version['release']}, {version['platform']} ({version['processor']})"
    )
    if not told["packs"]:
        lines.append(
            "no machine code came with this installation: loops are compiled when they "
            "are first called"
        )
    for pack in told["packs"]:
        verdict = "used" if pack["used"] else f"not used: {pack['why_not']}"
        lines.append(f"machine code {pack['level']}: {pack['loops']} loops, {verdict}")
    cache = told["cache"]
    if cache["folder"] is None:
        lines.append(f"compiled loops are not kept: {cache['problem']}")
    else:
        problem = f" ({cache['problem']})" if cache["problem"] else ""
        lines.append(f"compiled loops: {cache['files']} in {cache['folder']}{problem}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print it; `--json` for programs."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv not in ([], ["--json"]):
        sys.stderr.write("usage: python -m maxmargin.runtime [--json]\n")
        return 2
    sys.stdout.write((json.dumps(describe(), indent=1) if argv else text()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
