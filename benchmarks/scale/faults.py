"""Runs with a worker killed at a random moment: is the certificate as good as ever?"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace

from benchmarks.scale.problems import cluster, dask_engine, synthetic
from maxmargin.solvers.cocoa import Cocoa
from maxmargin.solvers.one_slack import OneSlack

SOLVERS = {
    "one-slack": OneSlack(tol=0.02),
    "cocoa": Cocoa(tol=1e-3, shards=3, portions=4),
}
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
    """Half of the runs per solver; a kill that came too late does not count."""
    problem = synthetic(2000)
    rng, rows = random.Random(0), []
    with cluster(WORKERS) as machines:
        for name, solver in SOLVERS.items():
            expected, usual = _undisturbed(problem, machines, solver)
            good = 0
            while good < (2 if quick else 10):
                while len(machines.workers) < WORKERS:
                    machines.add_worker()
                row = _disturbed(problem, machines, solver, expected, usual, rng)
                good += row["killed in time"]
                rows.append({"solver": name, **row})
                print(rows[-1], flush=True)
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
    delay, who = rng.uniform(0.0, usual), rng.randrange(WORKERS)
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
