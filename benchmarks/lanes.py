"""The trainer in lanes beside the block dual, in one process, one after the other.

    python -m benchmarks.lanes                       all tasks, gaps 1e-1, 1e-2, 1e-3
    python -m benchmarks.lanes --task ner --gap 1e-2
    python -m benchmarks.lanes --task ner --many     also 4 and 8 lanes
    python -m benchmarks.lanes --threads             block dual, 1 lane, 2 threads
    python -m benchmarks.lanes --task long           one document of 20 000 tokens

Tasks: ner and wsj (data sets), ocr and ocr2 (large split, orders 1 and 2), chunking
(synthetic, CoNLL-2000's size), synthetic (12 tokens, 5 features, 10 labels, noisy; 3000
sentences), long (50 sentences and one long document). Seconds are CPU seconds and the
wall clock, which needs an idle machine. "longest" is what remains of the CPU seconds if
every lane has a core of its own: in each round the longest lane counts. With `--threads`
lanes do run on threads, else one after the other, where they share the caches of a core.
Loops are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import heapq
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin import Sequences
from maxmargin.core import Engine, Formulation, Problem
from maxmargin.engines import Threads
from maxmargin.losses import Hamming
from maxmargin.solvers import BlockDual, Lanes, Solver
from maxmargin.structures.chain import Chain

from .tasks import data_folder, ner, ocr, wsj


def problem_of(X, y, C: float) -> Problem:
    structure = Chain().bind(X, y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, y)
    loss = Hamming().bind(structure.label_count())
    return Problem(
        structure, loss, Formulation("margin", "linear"), x, truth, np.full(truth.n, C)
    )


def synthetic(n: int = 3000, seed: int = 0) -> Problem:
    """Labels from a Markov chain; half of the features speak of another label."""
    rng = np.random.default_rng(seed)
    K, T, F, V = 10, 12, 5, 2000
    P = rng.dirichlet(np.full(K, 0.3), K).cumsum(1)
    y = np.zeros((n, T), int)
    y[:, 0] = rng.integers(0, K, n)
    for t in range(1, T):
        y[:, t] = (rng.random(n)[:, None] > P[y[:, t - 1]]).sum(1).clip(0, K - 1)
    emit = rng.dirichlet(np.full(V, 0.05), K).cumsum(1)
    flat, idx = y.ravel(), np.empty((n * T, F), int)
    for f in range(F):
        spoken = np.where(rng.random(n * T) < 0.5, flat, rng.integers(0, K, n * T))
        u = rng.random(n * T)
        for k in range(K):
            idx[spoken == k, f] = np.searchsorted(emit[k], u[spoken == k]).clip(
                0, V - 1
            )
    return problem_of(_binary(idx, V, np.arange(n + 1) * T), _rows(flat, n, T), 0.1)


def chunking(n: int = 8936, seed: int = 1) -> Problem:
    """Zipf's words with a favourite label each; 14 features, 22 labels."""
    rng = np.random.default_rng(seed)
    K, words, hashed = 22, 20000, 200000
    ends = np.append(0, np.cumsum(np.clip(rng.poisson(23.7, n), 3, 80)))
    N = int(ends[-1])
    zipf = 1.0 / np.arange(1, words + 1)
    w = rng.choice(words, N, p=zipf / zipf.sum())
    favourite, tag = rng.integers(0, K, words), rng.integers(0, 44, words)[w]
    P = rng.dirichlet(np.full(K, 0.15), K).cumsum(1)
    y, u, plain = np.empty(N, int), rng.random(N), rng.random(N) < 0.62
    for t in range(N):
        before = y[t - 1] if t else 0
        free = min(int((u[t] > P[before]).sum()), K - 1)
        y[t] = favourite[w[t]] if plain[t] else free

    def near(column, d):
        return column[np.clip(np.arange(N) + d, 0, N - 1)]

    columns = [(near(w, d), words) for d in range(-2, 3)]
    columns += [(near(tag, d), 44) for d in range(-2, 3)]
    columns += [(near(tag, d) * 44 + near(tag, d + 1), 44 * 44) for d in (-1, 0)]
    pairs = [near(w, d).astype(np.int64) * 7919 + near(w, d + 1) for d in (-1, 0)]
    columns += [(pair % hashed, hashed) for pair in pairs]
    base = np.cumsum([0] + [size for _, size in columns])
    idx = np.stack([c + b for (c, _), b in zip(columns, base, strict=False)], axis=1)
    used, idx = np.unique(idx, return_inverse=True)
    X = _binary(idx.reshape(N, -1), len(used), ends)
    return problem_of(X, Sequences(y, ends), 0.1)


def _binary(idx, width: int, ends) -> Sequences:
    rows, F = idx.shape
    ptr = np.arange(rows + 1) * F
    X = sp.csr_matrix((np.ones(rows * F), idx.ravel(), ptr), shape=(rows, width))
    X.sum_duplicates()
    X.data[:] = 1.0
    return Sequences(X, ends)


def _rows(flat, n: int, T: int) -> Sequences:
    return Sequences(flat, np.arange(n + 1) * T)


def long(tokens: int = 20_000) -> Problem:
    """The sentences of chunking: 50 as they are, and a document made of others."""
    small = chunking(50 + tokens // 20)
    ptr = small.truth.ptr
    ends = np.append(ptr[:51], ptr[-1])
    return problem_of(
        Sequences(small.x.vectors.matrix(), ends),
        Sequences(small.truth.data, ends),
        0.1,
    )


class OneAfterTheOther(Engine):
    """Tasks of several workers on one core; `spared` is what these would spare."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers, self.spared = workers, 0.0

    @property
    def workers(self) -> int:
        """How many tasks would run at a time."""
        return self._workers

    def map(self, task: Callable[[Any], Any], chunks: Sequence[Any]) -> Iterable[Any]:
        """task(chunk) for each chunk; whoever is free would take the next one."""
        out, busy, total = [], [0.0] * self._workers, 0.0
        for chunk in chunks:
            start = time.process_time()
            out.append(task(chunk))
            seconds = time.process_time() - start
            heapq.heapreplace(busy, busy[0] + seconds)
            total += seconds
        self.spared += total - max(busy)
        return out


class ClockedThreads(Threads):
    """Threads; `spared` is the CPU time of all but the longest task of each map."""

    def __init__(self, n_jobs: int) -> None:
        super().__init__(n_jobs)
        self.spared = 0.0

    def map(self, task: Callable[[Any], Any], chunks: Sequence[Any]) -> Iterable[Any]:
        """task(chunk) for each chunk; of many chunks, each thread has its share."""

        def clocked(chunk: Any) -> tuple[Any, float]:
            start = time.thread_time()
            return task(chunk), time.thread_time() - start

        done = list(super().map(clocked, chunks))
        seconds = [t for _, t in done]
        busiest = max([*seconds, sum(seconds) / self.n_jobs], default=0.0)
        self.spared += sum(seconds) - busiest
        return [result for result, _ in done]


TASKS: dict[str, Callable[[], Problem]] = {
    "ner": lambda: ner(data_folder()).problem,
    "wsj": lambda: wsj(data_folder()).problem,
    "ocr": lambda: ocr(data_folder(), True).problem,
    "ocr2": lambda: ocr(data_folder(), True, order=2).problem,
    "chunking": chunking,
    "synthetic": synthetic,
    "long": long,
}


def run(name: str, solver: Solver[Any], problem: Problem) -> None:
    """Solve, and print what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result, _ = solver.solve(problem)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    longest = ""
    if isinstance(problem.engine, OneAfterTheOther | ClockedThreads):
        longest = f" (longest {cpu - problem.engine.spared:.2f})"
    print(
        f"{name:12s} gap {solver.tol:g}: cpu {cpu:6.2f} s{longest}, wall {wall:6.2f} s, "
        f"{result.iterations} iterations, {result.oracle_calls / problem.n:.1f} "
        f"passes, primal {result.primal:.6g}, gap {result.gap:.1e}",
        flush=True,
    )


def compare(problem: Problem, tol: float, lanes: Sequence[int]) -> None:
    """The block dual, and so many lanes, each as if on a core of its own."""
    run("block dual", BlockDual(tol=tol), problem)
    for many in lanes:
        engine = OneAfterTheOther(many)
        solver = Lanes(tol=tol, lanes=many)
        run(f"{many} lanes", solver, replace(problem, engine=engine))


def race(problem: Problem, tol: float) -> None:
    """The block dual, one lane, and two lanes on two threads."""
    run("block dual", BlockDual(tol=tol), problem)
    run("1 lane", Lanes(tol=tol), problem)
    two = ClockedThreads(2)
    run("2 threads", Lanes(tol=tol, lanes=2), replace(problem, engine=two))
    two.close()


def main() -> None:
    """Read the flags and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=list(TASKS), nargs="*", default=list(TASKS))
    parser.add_argument("--gap", type=float, nargs="*", default=[1e-1, 1e-2, 1e-3])
    parser.add_argument("--many", action="store_true", help="also 4 and 8 lanes")
    parser.add_argument("--threads", action="store_true", help="two lanes on threads")
    args = parser.parse_args()
    print("load", os.getloadavg()[0], "cores", os.cpu_count())
    for task in args.task:
        problem = TASKS[task]()
        few = problem.slice(0, min(50, problem.n))[0]
        for solver in (BlockDual(), Lanes(lanes=1), Lanes(lanes=2)):
            replace(solver, tol=1e-2, max_iter=20).solve(few)
        print(f"{task}: {problem.n} examples, {problem.dim} weights", flush=True)
        for tol in args.gap:
            if args.threads:
                race(problem, tol)
            else:
                compare(problem, tol, (1, 2, 4, 8) if args.many else (1, 2))


if __name__ == "__main__":
    main()
