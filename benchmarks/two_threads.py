"""Whole fits of grammars and alignments on two threads against one.

    python -m benchmarks.two_threads [--only grammar alignment] [--rounds 2] [--limits]

GrammarSVM on sentences of the Penn Treebank sample, AlignmentSVM on random proteins and
relatives. Wall seconds, best of several fits in turn, compiled before, so the machine
must be idle; the weights of both must be the same bits. "cores" is what two processes
that share nothing gain over one: the most that threads can gain here. "limit" is the
most that two cores could gain if nothing disturbed them: CPU seconds of a fit over those
outside inference and the longer half of each pass's tasks. With --limits only that is
measured. The table is kept in `benchmarks/results/two_threads.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Sequence
from multiprocessing import Process
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alignment_calls import LETTERS
from maxmargin import AlignmentSVM, GrammarSVM
from maxmargin.core.engine import Serial
from maxmargin.io import read_treebank, tagged_words

RESULTS = Path(__file__).parent / "results" / "two_threads.json"


def trees(n: int) -> tuple[list, list]:
    """Sentences of 18 to 25 words of the Penn Treebank sample."""
    data = Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))
    every = read_treebank(data / "ptb_sample/wsj_sample.mrg.txt.gz").trees
    Y = [t for t in every if 18 <= len(tagged_words(t)) <= 25][:n]
    return [tagged_words(t) for t in Y], Y


def pairs(n: int, low: int = 400, high: int = 700) -> tuple[list, list]:
    """Proteins, relatives with substitutions and deletions, and how they align."""
    rng, letters = np.random.default_rng(0), np.array(list(LETTERS))
    X, Y = [], []
    for _ in range(n):
        a = rng.integers(0, 20, rng.integers(low, high + 1))
        b = np.where(rng.random(len(a)) < 0.4, a, rng.integers(0, 20, len(a)))
        kept = rng.random(len(b)) > 0.05
        one, two = "".join(letters[a]), "".join(letters[b])
        gapped = "".join(c if k else "-" for c, k in zip(two, kept))
        X.append((one, gapped.replace("-", "")))
        Y.append((one, gapped))
    return X, Y


TASKS = {
    "grammar": (lambda jobs: GrammarSVM(n_jobs=jobs, max_iter=4), trees, 300),
    "small grammar": (lambda jobs: GrammarSVM(n_jobs=jobs, max_iter=4), trees, 60),
    "alignment": (lambda jobs: AlignmentSVM(n_jobs=jobs, tol=1e-4), pairs, 300),
}


class Watched(Serial):
    """One core, and the CPU seconds of each task."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = self.longer = 0.0

    def map(self, task: Any, chunks: Sequence[Any]) -> list[Any]:
        """task(chunk) for each chunk, as if two threads took the next one in turn."""
        out, ends = [], [0.0, 0.0]
        for chunk in chunks:
            start = time.thread_time()
            out.append(task(chunk))
            spent = time.thread_time() - start
            self.inside += spent
            ends[ends.index(min(ends))] += spent
        self.longer += max(ends)
        return out


def limit(model: Any, X: list, Y: list) -> float:
    """Seconds of a fit over those with the tasks shared out to two cores."""
    engine = Watched()
    start = time.process_time()
    model.set_params(engine=engine).fit(X, Y)
    spent = time.process_time() - start
    return round(spent / (spent - engine.inside + engine.longer), 2)


def spin(steps: int) -> int:
    """Work that needs no memory."""
    total = 0
    for k in range(steps):
        total += k & 7
    return total


def cores() -> float:
    """Work per second of two processes, times that of one."""
    spent = {}
    for count in (1, 2):
        workers = [Process(target=spin, args=(20_000_000,)) for _ in range(count)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        spent[count] = time.perf_counter() - start
    return round(2.0 * spent[1] / spent[2], 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--limits", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict] = []
    if not given.limits:
        rows.append({"task": "cores", "times": cores()})
        print(rows[-1], flush=True)
    for name in given.only:
        make, data, n = TASKS[name]
        X, Y = data(n)
        best = {1: np.inf, 2: np.inf}
        weights = {}
        for jobs in best:
            make(jobs).fit(X[:20], Y[:20])
        most = limit(make(1), X, Y)
        if given.limits:
            rows.append({"task": name, "limit": most})
            print(rows[-1], flush=True)
            continue
        for _ in range(given.rounds):
            for jobs in best:
                start = time.perf_counter()
                weights[jobs] = make(jobs).fit(X, Y).coef_
                best[jobs] = min(best[jobs], time.perf_counter() - start)
        rows.append({
            "task": name, "one": round(best[1], 2), "two": round(best[2], 2),
            "times": round(best[1] / best[2], 2), "limit": most,
            "same bits": bool(np.array_equal(weights[1], weights[2])),
        })  # fmt: skip
        print(rows[-1], flush=True)
    before = {row["task"]: row for row in json.loads(RESULTS.read_text())}
    kept = before | {row["task"]: before.get(row["task"], {}) | row for row in rows}
    RESULTS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")


if __name__ == "__main__":
    main()
