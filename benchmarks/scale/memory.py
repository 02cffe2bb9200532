"""Peak memory where the data are ten times larger than what a run may take."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.scale.problems import folder_of, synthetic
from maxmargin.solvers import OneSlack
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.solvers.n_slack import BlockDual
from maxmargin.structures.chain import open_encoded

# One slack needs 16 bytes a sentence. Trainers that hold planes need 1 to 2 kB: they get
# sentences of 43 kB, with 300 features a token.
RUNS = {
    "one-slack": (1_000_000, 3),
    "block-dual": (12_000, 300),
    "bcfw": (12_000, 300),
}


def trainer(solver: str, bound: float):
    """A few passes: as much as planes need to become several per sentence."""
    return {
        "one-slack": OneSlack(max_iter=3),
        "block-dual": BlockDual(max_iter=4, memory=0.5 * bound),
        "bcfw": BCFW(max_iter=4, memory=0.5 * bound),
    }[solver]


def of_this_process(kind: str) -> int:
    """VmHWM (peak, with pages of files), or RssAnon (memory proper, now), in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return 1024 * int(line.split()[1])
    return 0


def memory(quick: bool) -> list[dict]:
    """Each run in a process of its own, so that the peak is its own."""
    rows = []
    for solver, (n, features) in RUNS.items():
        n = n // 10 if quick else n
        synthetic(n, features)
        out = subprocess.run(
            [sys.executable, "-m", "benchmarks.scale.memory", solver, str(n),
             str(features)], capture_output=True, text=True, check=True,
        )  # fmt: skip
        rows.append(json.loads(out.stdout.strip().splitlines()[-1]))
        print(rows[-1], flush=True)
    return rows


def child(solver: str, n: int, features: int) -> None:
    """Print what training took beyond what any run needs."""
    data = open_encoded(folder_of(n, features))
    bound = data.nbytes / 10
    trainer(solver, 1e9).solve(synthetic(1000, features))  # compile and import
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, with_files = of_this_process("RssAnon"), of_this_process("VmHWM")
    over, seen = threading.Event(), [before]

    def watch() -> None:
        while not over.wait(0.002):
            seen.append(of_this_process("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    result = trainer(solver, bound).solve(synthetic(n, features))[0]
    over.set()
    watcher.join()
    grown = max(seen) - before
    row = {
        "solver": solver, "n": n, "features a token": features, "data": data.nbytes,
        "bound": bound, "grown": grown, "under": grown <= bound,
        "grown with pages of files": of_this_process("VmHWM") - with_files,
        "planes": result.planes, "gap": result.gap,
    }  # fmt: skip
    print(json.dumps(row))


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
