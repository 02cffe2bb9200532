"""Run an experiment and keep what came out: one JSON file per table, with its making.

`results/<paper>.<table>.json` is committed; quick runs go to `results/quick/`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from experiments import catalogue, choices, protocol

RESULTS = catalogue.HOME / "results"
TIMES = re.compile(r"(?i:\b(cpu|seconds?|ms|min|minutes)\b)|\bs\b|%SVM")
PACKAGES = ("maxmargin", "numpy", "scipy", "numba", "scikit-learn")


def data_folder() -> Path:
    """MAXMARGIN_DATA, else `../shared/data`."""
    return Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))


def run(name: str, data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Run one experiment and return its record, ready to be stored."""
    module = catalogue.module(name)
    wall, cpu = time.perf_counter(), cpu_seconds()
    with choices.watched() as made:
        result = plain(module.run(data, quick=quick, seed=seed))
    record = {
        "name": name,
        "title": module.TITLE,
        "published": plain(getattr(module, "PUBLISHED", {})),
        **result,
        "protocol": protocol.listed(getattr(module, "PROTOCOL", [])),
        "choices": plain(choices.summary(made)),
        "quick": quick,
        "seed": seed,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(cpu_seconds() - cpu, 1),
        "command": f"python -m experiments run {name}" + (" --quick" if quick else ""),
        "made_with": versions(),
    }
    claims = getattr(module, "claims", None)
    if quick:  # a part of the data may need looser bounds
        claims = getattr(module, "quick_claims", claims)
    if claims is not None:
        record["claims"] = plain(claims(result))
    if not quick:
        warn_of_edges(record)
    return record


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def warn_of_edges(record: dict) -> None:
    """Say which values were chosen at the end of their grid."""
    for row in record["choices"]:
        if row["on edge"]:
            print(
                f"{record['name']}: {row['name']} was chosen on the edge of its grid "
                f"{row['on edge']} times; widen it",
                file=sys.stderr,
            )


def store(record: dict) -> Path:
    """Write a record beside the others and say where."""
    folder = RESULTS / "quick" if record["quick"] else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['name']}.json"
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(record, indent=1) + "\n")
    draft.replace(path)
    return path


def stored(quick: bool = False) -> dict[str, dict]:
    """All records by name."""
    folder = RESULTS / "quick" if quick else RESULTS
    return {p.stem: json.loads(p.read_text()) for p in sorted(folder.glob("*.json"))}


def differences(before: dict, after: dict) -> Iterator[str]:
    """Cells of two records that are not the same; times may differ."""
    if len(before["rows"]) != len(after["rows"]):
        yield f"{len(before['rows'])} rows, now {len(after['rows'])}"
    for k, (old, new) in enumerate(zip(before["rows"], after["rows"])):
        for column in {**old, **new}:
            if not TIMES.search(column) and old.get(column) != new.get(column):
                yield f"row {k}, {column}: {old.get(column)}, now {new.get(column)}"


def versions() -> dict[str, str]:
    """What made a record, where and when: packages, Python, machine, date, commit."""
    made = {name: importlib.metadata.version(name) for name in PACKAGES}
    made["python"] = platform.python_version()
    made["machine"] = f"{platform.machine()}, {os.cpu_count()} cores"
    made["date"] = time.strftime("%Y-%m-%d")
    with suppress(OSError, subprocess.CalledProcessError):  # an archive has no history
        made["commit"] = git("rev-parse", "--short", "HEAD") + "+" * changed()
    return made


def git(*words: str) -> str:
    """What git says."""
    return subprocess.run(
        ["git", *words], cwd=catalogue.HOME.parent, capture_output=True, text=True,
        check=True,
    ).stdout.strip()  # fmt: skip


def changed() -> bool:
    """Whether code differs from the commit; records and pages may."""
    code = ("src", "benchmarks/*.py", "experiments/*.py", "experiments/*/*.py")
    return bool(git("status", "--porcelain", "--untracked-files=no", "--", *code))


def code(paper: str) -> str:
    """A hash of the package and of the folder of a paper: which code made a part."""
    root, seen = catalogue.HOME.parent, hashlib.sha256()
    files = sorted((root / "src").rglob("*.py"))
    files += sorted(
        p
        for p in (catalogue.HOME / paper).glob("*.py")
        if not p.stem.endswith("statements")
    )
    for path in files:
        seen.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return seen.hexdigest()[:12]


def plain(value: Any) -> Any:
    """What JSON can hold: arrays to lists, numpy scalars to Python's, keys to text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value
