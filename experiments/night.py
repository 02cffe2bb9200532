"""All experiments on one commit, unattended, several at a time.

    python -m experiments night [--jobs 2] [--data FOLDER]

Each experiment runs in a process of its own: the longest first, so that two cores end
together, or the shortest first with `--jobs 1`, so that a night that is cut short has made
as many records as it can. Records that this commit has made already are left as they are:
a night that was interrupted goes on. Changed code is refused, because its records would
name a commit that did not make them. What is printed goes to `results/night/<name>.log`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from experiments import catalogue, runner

LOGS = runner.RESULTS / "night"
PAUSE = 0.5  # seconds between looks at the processes
TOGETHER = (  # tables of the same runs: one process, or each would make them
    ("tsochantaridis2005.table2", "tsochantaridis2005.table3"),
    ("yu2011.table6_2", "yu2011.table6_3", "yu2011.table6_4", "yu2011.figure6_7"),
)


def waiting(commit: str, jobs: int = 2) -> list[tuple[str, ...]]:
    """What has no record of this commit, by how long it took the last time."""
    known = runner.stored()

    def made(name: str) -> str:
        return str(known.get(name, {}).get("made_with", {}).get("commit", ""))

    def seconds(names: tuple[str, ...]) -> float:
        return sum(float(known.get(n, {}).get("seconds", 1e6)) for n in names)

    grouped = {name: names for names in TOGETHER for name in names}
    todo = dict.fromkeys(
        grouped.get(name, (name,)) for name in catalogue.names() if made(name) != commit
    )
    return sorted(todo, key=seconds, reverse=jobs > 1)


def run(data: Path, jobs: int) -> int:
    """Run what is waiting; 1 if something failed."""
    if runner.changed():
        print("code differs from the commit: commit it first", file=sys.stderr)
        return 1
    todo, failed = waiting(runner.git("rev-parse", "--short", "HEAD"), jobs), []
    LOGS.mkdir(parents=True, exist_ok=True)
    running: dict[str, subprocess.Popen] = {}
    while todo or running:
        while todo and len(running) < jobs:
            names = todo.pop(0)
            running[names[0]] = start(names, data)
            print(f"{time.strftime('%H:%M')} {', '.join(names)} begins", flush=True)
        time.sleep(PAUSE)
        for name in [n for n, process in running.items() if process.poll() is not None]:
            code = running.pop(name).returncode
            print(f"{time.strftime('%H:%M')} {name} ends ({code})", flush=True)
            failed += [name] if code else []
    for name in failed:
        print(f"{name} failed: see {LOGS / name}.log", file=sys.stderr)
    return 1 if failed else 0


def start(names: tuple[str, ...], data: Path) -> subprocess.Popen:
    """Experiments one after the other, one thread."""
    log = (LOGS / f"{names[0]}.log").open("w")
    words = [sys.executable, "-m", "experiments", "run", *names, "--data", str(data)]
    one = {key: "1" for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return subprocess.Popen(
        words, cwd=catalogue.HOME.parent, stdout=log, stderr=subprocess.STDOUT,
        env=os.environ | one,
    )  # fmt: skip
