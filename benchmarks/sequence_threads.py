"""Whole fits of label sequences on one, two and more threads.

    OMP_NUM_THREADS=1 python -m benchmarks.sequence_threads
    OMP_NUM_THREADS=1 python -m benchmarks.sequence_threads --only ner --threads 1 2 4 8

`ChainSVM(tol=0.01)` on the tasks of `benchmarks.lanes`, compiled before; on more than two
threads with as many lanes as threads. "longest" is the CPU time that remains if every
thread has a core of its own: of what runs side by side the longest counts. It hardly
depends on what else the machine does, unlike "wall". "cores" is what two processes that
share nothing gain over one in the same run: the most that threads can gain in "wall".
The rows of the tasks given replace those in `benchmarks/results/sequence_threads.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.lanes import TASKS, ClockedThreads
from benchmarks.two_threads import cores
from maxmargin import ChainSVM, Sequences
from maxmargin.core import Problem
from maxmargin.solvers import Lanes

RESULTS = Path(__file__).parent / "results" / "sequence_threads.json"
NAMES = ("ner", "wsj", "ocr", "ocr2")
WARM = 11_000  # tokens for compilation: enough for the same trainer


def data(problem: Problem, n: int) -> tuple[Sequences, Sequences]:
    """The first n examples of a problem as a user has them."""
    vectors, ends = problem.x.vectors, problem.truth.ptr[: n + 1]
    rows = len(vectors.ptr) - 1
    if len(vectors.idx):
        parts = vectors.val, vectors.idx, vectors.ptr
        X = sp.csr_matrix(parts, shape=(rows, int(vectors.width)))
    else:
        X = vectors.val.reshape(rows, -1)
    return Sequences(X[: ends[-1]], ends), Sequences(
        problem.truth.data[: ends[-1]], ends
    )


def fit(problem: Problem, threads: int, n: int) -> tuple[dict, np.ndarray]:
    """Fit to the first n examples: what it took, and the weights."""
    engine = ClockedThreads(threads)
    many = Lanes(lanes=threads, tol=1e-2) if threads > 2 else "auto"
    model = ChainSVM(
        C=float(problem.dual_set.upper[0]), order=problem.structure.order, tol=1e-2,
        engine=engine, solver=many,
    )  # fmt: skip
    X, y = data(problem, n)
    wall, cpu = time.perf_counter(), time.process_time()
    result = model.fit(X, y).result_
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    engine.close()
    row = {
        "threads": threads, "wall": round(wall, 2), "cpu": round(cpu, 2),
        "longest": round(cpu - engine.spared, 2), "iterations": result.iterations,
        "passes": round(result.oracle_calls / n, 1), "gap": float(f"{result.gap:.2g}"),
    }  # fmt: skip
    return row, result.w


def main() -> None:
    """Read the flags, fit, print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(NAMES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    load = round(os.getloadavg()[0], 1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rows = [row for row in kept if row["task"].split()[-1] not in given.only]
    rows.append(
        {"task": "cores for " + " ".join(given.only), "times": cores(), "load": load}
    )
    print(rows[-1], flush=True)
    for name in given.only:
        problem = TASKS[name]()
        few = int(np.searchsorted(problem.truth.ptr, WARM))
        one = None
        for threads in given.threads:
            fit(problem, threads, min(few, problem.n))
            row, w = fit(problem, threads, problem.n)
            one = one or row
            if threads == 2:
                row["same bits"] = bool(
                    np.array_equal(w, fit(problem, 2, problem.n)[1])
                )
            row["times"] = round(one["longest"] / row["longest"], 2)
            rows.append({"task": name} | row)
            print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
