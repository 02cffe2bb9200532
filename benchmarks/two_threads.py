"""Whole fits of grammars and alignments on two threads against one.

    python -m benchmarks.two_threads [--only grammar alignment] [--rounds 2]

GrammarSVM on sentences of the Penn Treebank sample, AlignmentSVM on random proteins and
relatives. Wall seconds, best of several fits in turn, compiled before, so the machine
must be idle; the weights of both must be the same bits. "cores" is what two processes
that share nothing gain over one: the most that threads can gain here. The table is kept
in `benchmarks/results/two_threads.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from multiprocessing import Process
from pathlib import Path

import numpy as np

from benchmarks.alignment_calls import LETTERS
from maxmargin import AlignmentSVM, GrammarSVM
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
    "grammar": (lambda jobs: GrammarSVM(n_jobs=jobs, max_iter=4), trees, 60),
    "alignment": (lambda jobs: AlignmentSVM(n_jobs=jobs, max_iter=10), pairs, 300),
}


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
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict] = [{"task": "cores", "times": cores()}]
    print(rows[-1], flush=True)
    for name in given.only:
        make, data, n = TASKS[name]
        X, Y = data(n)
        best = {1: np.inf, 2: np.inf}
        weights = {}
        for jobs in best:
            make(jobs).fit(X[:20], Y[:20])
        for _ in range(given.rounds):
            for jobs in best:
                start = time.perf_counter()
                weights[jobs] = make(jobs).fit(X, Y).coef_
                best[jobs] = min(best[jobs], time.perf_counter() - start)
        rows.append({
            "task": name, "one": round(best[1], 2), "two": round(best[2], 2),
            "times": round(best[1] / best[2], 2),
            "same bits": bool(np.array_equal(weights[1], weights[2])),
        })  # fmt: skip
        print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
