"""Label sequences in this tree beside another checkout, for instance 0.1.0.

    git worktree add --detach /tmp/before fb05be3      # the last commit of 0.1.0
    python -m benchmarks.before --tree /tmp/before
    python -m benchmarks.before --tree /tmp/before --task ner --gap 0.1 0.01 --jobs 2

Each task is written to a file, and `ChainSVM` is fitted to it by a new process for each
tree, one after the other. Loops are compiled on a few sentences before the clock starts.
Seconds are CPU seconds of the whole fit, and the wall clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

TASKS = ("ner", "wsj", "ocr", "synthetic", "synthetic-30k", "chunking")


def write(task: str, file: Path) -> None:
    """The data of a task as plain arrays, which both trees can read."""
    from .lanes import TASKS as MADE
    from .lanes import synthetic

    problem = synthetic(30_000) if task == "synthetic-30k" else MADE[task]()
    vectors, truth = problem.x.vectors, problem.truth
    np.savez(
        file, val=vectors.val, idx=vectors.idx, ptr=vectors.ptr, width=vectors.width,
        ends=truth.ptr, y=truth.data, C=problem.dual_set.upper[0],
    )  # fmt: skip


def fit(file: str, tol: float, jobs: int) -> None:
    """Fit in this process and print what it took; run by `main` for each tree."""
    from maxmargin import ChainSVM, Sequences

    data = np.load(file)
    ends, tokens = data["ends"], len(data["ptr"]) - 1
    X = sp.csr_matrix(
        (data["val"], data["idx"], data["ptr"]), shape=(tokens, int(data["width"]))
    )

    def part(n: int) -> tuple[Sequences, Sequences]:
        stop = ends[n]
        return Sequences(X[:stop], ends[: n + 1]), Sequences(
            data["y"][:stop], ends[: n + 1]
        )

    model = ChainSVM(C=float(data["C"]), order=1, tol=tol, n_jobs=jobs)
    warm = int(np.searchsorted(ends, 11_000))  # enough tokens for the same trainer
    ChainSVM(C=float(data["C"]), order=1, tol=0.5, n_jobs=jobs).fit(*part(warm))
    wall, cpu = time.perf_counter(), time.process_time()
    result = model.fit(*part(len(ends) - 1)).result_
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"cpu": cpu, "wall": wall, "gap": result.gap}))


def run(tree: str, file: str, tol: float, jobs: int) -> dict[str, float]:
    """One fit by the package in a tree, in a new process."""
    code = f"from before import fit; fit({file!r}, {tol!r}, {jobs!r})"
    here = str(Path(__file__).parent)
    paths = os.pathsep.join((str(Path(tree) / "src"), here))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True,
        check=True, cwd=tempfile.gettempdir(),
    )  # fmt: skip
    out: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return out


def main() -> None:
    """Read the flags, run both trees, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", required=True, help="the other checkout")
    parser.add_argument("--task", choices=TASKS, nargs="*", default=list(TASKS))
    parser.add_argument("--gap", type=float, nargs="*", default=[0.1, 0.01, 0.001])
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    here = str(Path(__file__).resolve().parents[1])
    print("load", os.getloadavg()[0], "cores", os.cpu_count())
    print("| task | gap | before: CPU s (wall) | now: CPU s (wall) | ratio of CPU |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for task in args.task:
            file = Path(folder) / f"{task}.npz"
            write(task, file)
            for tol in args.gap:
                old, new = (
                    run(t, str(file), tol, args.jobs) for t in (args.tree, here)
                )
                print(
                    f"| {task} | {tol:g} | {old['cpu']:.2f} ({old['wall']:.2f}) | "
                    f"{new['cpu']:.2f} ({new['wall']:.2f}) | "
                    f"{old['cpu'] / new['cpu']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
