"""Runs with a worker killed at a random moment: is the certificate as good as ever?"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace

from benchmarks.scale.problems import cluster, dask_engine, synthetic
from maxmargin.solvers import OneSlack
from maxmargin.solvers.distributed import Cocoa

WORKERS = 3


class Killing:
    """Kills one of the workers after a while, unless the run ends before."""

    def __init__(self, machines, delay: float, who: int) -> None:
        self.machines, self.who, self.done = machines, who, False
        self._timer = threading.Timer(delay, self._kill)
        self._timer.start()

    def _kill(self) -> None:
        self.machines.kill(self.who)
        self.done = True

    def in_time(self) -> bool:
        """To be asked when the run has ended."""
        done = self.done
        self._timer.cancel()
        self._timer.join()
        return done


def faults(quick: bool) -> list[dict]:
    """Sums formed on the workers: a pass is asked for again."""
    return _runs(OneSlack(tol=0.05), 2 if quick else 10)


def shard_faults(quick: bool) -> list[dict]:
    """Shards: one of them loses its planes and dual variables."""
    return _runs(Cocoa(tol=1e-2, shards=3, portions=2), 2 if quick else 10)


def _runs(solver, count: int) -> list[dict]:
    """So many runs with a kill; one that came too late does not count."""
    problem, rng, rows = synthetic(300, C=0.05), random.Random(0), []
    with cluster(WORKERS) as machines:
        expected, usual = _undisturbed(problem, machines, solver)
        while sum(r["killed in time"] for r in rows) < count:
            while len(machines.workers) < WORKERS:
                machines.add_worker()
            row = _disturbed(problem, machines, solver, expected, usual, rng)
            rows.append(row)
            print(row, flush=True)
    counted = [r for r in rows if r["killed in time"]]
    print(f"{sum(r['certified'] for r in counted)} of {len(counted)} certified")
    return rows


def _undisturbed(problem, machines, solver):
    engine = dask_engine(machines.address)
    for _ in range(2):  # the first one compiles on the workers
        start = time.perf_counter()
        result = solver.solve(replace(problem, engine=engine))[0]
        usual = time.perf_counter() - start
    engine.close()
    print(f"undisturbed: {usual:.1f} s, {result.summary()}", flush=True)
    return result, usual


def _disturbed(problem, machines, solver, expected, usual, rng) -> dict:
    engine = dask_engine(machines.address)
    delay, who = rng.uniform(0.0, 0.9 * usual), rng.randrange(WORKERS)
    start = time.perf_counter()
    killing = Killing(machines, delay, who)
    result = solver.solve(replace(problem, engine=engine))[0]
    killed, seconds = killing.in_time(), time.perf_counter() - start
    engine.close()
    primal = problem.primal_at(result.w, problem.risk_at(result.w))
    return {
        "killed after": delay, "killed in time": killed, "seconds": seconds,
        "usual seconds": usual, "gap": result.gap, "lost": result.notes.get("lost", 0),
        "same bits": bool((result.w == expected.w).all()),
        "certified": bool(
            result.converged
            and abs(primal - result.primal) <= 1e-9 * primal
            and result.dual <= expected.primal
            and expected.dual <= result.primal
        ),
    }  # fmt: skip
