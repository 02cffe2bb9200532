"""Rounds of shards: passes to a gap of 1 %, with exchanges, and as weights grow."""

from __future__ import annotations

import time
from dataclasses import replace

from benchmarks.scale.problems import cluster, dask_engine, synthetic
from benchmarks.tasks import TASKS, data_folder
from maxmargin.core import Problem
from maxmargin.solvers.distributed import Cocoa
from maxmargin.solvers.n_slack import BlockDual

SHARDS, ROUNDS, TOL = 16, 16, 1e-2


def passes(quick: bool) -> list[dict]:
    """Two dask workers, 16 shards, against the block dual on one core."""
    rows = []
    with cluster(2) as machines:
        for name in ("ocr-small",) if quick else ("ocr-large", "ner", "wsj"):
            problem = TASKS[name](data_folder()).problem
            one = BlockDual(TOL).solve(problem)[0]
            engine = dask_engine(machines.address)
            solver = Cocoa(TOL, shards=SHARDS, portions=ROUNDS)
            start = time.perf_counter()
            result = solver.solve(replace(problem, engine=engine))[0]
            spent = time.perf_counter() - start
            engine.close()
            rows.append({
                "task": name, "dim": problem.dim, "gap": result.gap,
                "passes": result.oracle_calls / problem.n, "rounds": result.iterations,
                "passes of the block dual": one.oracle_calls / problem.n,
                "ratio": result.oracle_calls / one.oracle_calls,
                "wall seconds per round": spent / result.iterations,
            })  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def exchanges(quick: bool) -> list[dict]:
    """16 shards on one core, in twice the passes of the block dual at most."""
    rows = []
    for name in ("ocr-small",) if quick else ("ner", "wsj"):
        problem = TASKS[name](data_folder()).problem
        one = BlockDual(TOL).solve(problem)[0]
        for most in (8, 0):
            solver = Cocoa(TOL, shards=SHARDS, portions=ROUNDS, exchanges=most)
            row = {
                "task": name, "exchanges": most,
                "passes of the block dual": one.oracle_calls / problem.n,
            } | run_for(problem, solver, 2 * one.oracle_calls, one.primal)  # fmt: skip
            rows.append(row)
            print(row, flush=True)
    return rows


def run_for(problem: Problem, solver: Cocoa, calls: int, primal: float) -> dict:
    """Rounds up to so many oracle calls, then a certificate; duals against `primal`."""
    state, start, near = solver.start(problem), time.process_time(), None
    while state.gap() > solver.tol and state.oracle_calls < calls:
        solver.step(problem, state)
        if near is None and state.dual >= (1.0 - TOL) * primal:
            near = state.oracle_calls / problem.n, state.turn
    spent, passes = time.process_time() - start, state.oracle_calls / problem.n
    gap, rounds = state.gap(), state.turn
    if gap > solver.tol:
        solver.certify(problem, state)
        gap = min(gap, state.gap())
    return {
        "passes": passes, "rounds": rounds, "CPU seconds": spent, "gap": gap,
        "dual below the primal of the block dual": 1.0 - state.dual / primal,
        "passes and rounds to 1 % below": near,
    }  # fmt: skip


def wider(problem: Problem, factor: int) -> Problem:
    """The same sentences among more features, which none of them has."""
    vectors = problem.x.vectors
    width = factor * vectors.width
    x = problem.x._replace(vectors=vectors._replace(width=width))
    labels = problem.structure.labels
    structure = problem.structure.sized(labels, None, width, True)
    return replace(problem, x=x, structure=structure)


def dim(quick: bool) -> list[dict]:
    """CPU seconds of a round of 16 shards on one core, after the first pass."""
    rows = []
    small = synthetic(500 if quick else 2000)
    for factor in (1, 10, 100):
        problem = wider(small, factor)
        solver = Cocoa(1e-6, shards=SHARDS, portions=ROUNDS)
        state = solver.start(problem)
        clock = []
        for _ in range(3 * ROUNDS):
            start = time.process_time()
            solver.step(problem, state)
            clock.append(time.process_time() - start)
        touched = 0 if state.news is None else len(state.news)
        problem.engine.end_run(state.run)
        late = sorted(clock[ROUNDS:])
        rows.append({
            "dim": problem.dim, "CPU seconds per round": late[len(late) // 2],
            "weights changed in a round": touched, "dual": state.dual,
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows
