"""What larger samples and more machines would take: measured costs, and arithmetic.

    pass of one slack     n t / cores + net
    pass of shards        n (t + d) / cores + rounds * net
    net                   2 hops (8 dim / bandwidth + latency)

t: oracle seconds per sentence, d: dual seconds per sentence and pass.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from benchmarks.scale.problems import cluster, dask_engine, seconds_of, synthetic
from benchmarks.tasks import TASKS, data_folder
from maxmargin.core import Serial
from maxmargin.solvers import Auto, OneSlack
from maxmargin.solvers.distributed import Cocoa
from maxmargin.solvers.n_slack import BlockDual

TOL = 1e-2
CORES, BANDWIDTH, LATENCY = 16, 1e9, 1e-3  # of a machine, and of the network, assumed
ROUNDS = 16  # of shards in a pass
MEMORY = 64e9  # bytes of a machine for planes


def model(quick: bool) -> list[dict]:
    """Costs of the tasks, passes to a gap of 1 %, then hours on more machines."""
    rows = []
    for name in ("ocr-small",) if quick else ("ocr-large", "ner", "wsj"):
        problem = TASKS[name](data_folder()).problem
        rows.append({"task": name, **costs(problem, 10.0 if quick else 30.0)})
        print(rows[-1], flush=True)
    for row in rows:
        predictions(row, rows[0])
    return rows


def costs(problem, limit: float) -> dict:
    """CPU microseconds a sentence, passes, and bytes."""
    w = np.zeros(problem.dim)
    problem.sum_cut(w)
    start = time.process_time()
    problem.sum_cut(w)
    oracle = (time.process_time() - start) / problem.n
    BlockDual(max_iter=2).solve(problem)  # compile
    start = time.process_time()
    result, state = BlockDual(TOL).solve(problem)
    spent = time.process_time() - start
    passes = result.oracle_calls / problem.n
    shards = Cocoa(TOL, shards=16, portions=ROUNDS, max_time=limit).solve(problem)[0]
    one = OneSlack(TOL, max_time=limit).solve(problem)[0]
    return {
        "n": problem.n, "dim": problem.dim, "oracle us": 1e6 * oracle,
        "dual us": 1e6 * max(spent / problem.n / passes - oracle, 0.0),
        "passes": passes, "bytes of w": 8 * problem.dim,
        "plane bytes": state.blocks.nbytes / problem.n,
        "passes of 16 shards": shards.oracle_calls / problem.n,
        "gap of 16 shards": shards.gap, "passes of one slack": one.iterations,
        "gap of one slack": one.gap,
    }  # fmt: skip


def predictions(row: dict, known: dict) -> None:
    """Print hours by trainer for 1, 10 and 1000 machines."""
    few, many = passes(row, known, "16 shards"), passes(row, known, "one slack")
    print(
        f"\n{row['task']}: hours; one slack {many:.0f} passes, shards {few:.0f} passes"
    )
    for n in (10**6, 10**8, 10**9):
        cells = []
        for machines in (1, 10, 1000):
            net = network(row["bytes of w"], machines)
            t, d = 1e-6 * row["oracle us"], 1e-6 * row["dual us"]
            one = many * (n * t / (CORES * machines) + net)
            shards = few * (n * (t + d) / (CORES * machines) + ROUNDS * net)
            fits = row["plane bytes"] * n / machines <= MEMORY
            cells.append(f"{one / 3600:.2g} / {shards / 3600:.2g}{'' if fits else '*'}")
        print(f"  n=1e{int(np.log10(n))}: " + "; ".join(cells))


def passes(row: dict, known: dict, trainer: str) -> float:
    """Passes to the gap; of a run that was cut short, those of the block dual times
    what the trainer needed more of them on the task `known`."""
    if row[f"gap of {trainer}"] <= TOL:
        return float(row[f"passes of {trainer}"])
    more = known[f"passes of {trainer}"] / known["passes"]
    return float(row["passes"] * more)


def network(size: float, machines: int) -> float:
    """Seconds to send w to all machines and to get a sum back, along trees."""
    hops = np.ceil(np.log2(machines)) if machines > 1 else 0
    return float(2 * hops * (size / BANDWIDTH + LATENCY))


def check(quick: bool) -> list[dict]:
    """Seconds predicted from a small sample, and measured on growing ones."""
    small = synthetic(5000)
    w = 0.1 * np.random.default_rng(0).normal(size=small.dim)
    oracle = seconds_of(lambda: small.sum_cut(w)) / small.n
    rows = []
    for workers in (1, 2):
        with cluster(workers) as machines:
            engine = dask_engine(machines.address)
            trip = engine.round_trip(w)
            for n in (5000,) if quick else (5000, 20_000, 40_000):
                row = _measured(n, w, engine, oracle / workers, trip)
                rows.append({"workers": workers, **row})
                print(rows[-1], flush=True)
            print(choices(engine), flush=True)
            engine.close()
    return rows


def _measured(n: int, w, engine, share: float, trip: float) -> dict:
    """One pass, and a whole run of one slack at the same C in all."""
    problem = replace(synthetic(n, C=20.0 / n), engine=engine)
    predicted = n * share + trip
    made = seconds_of(lambda: problem.sum_cut(w))
    start = time.perf_counter()
    result = OneSlack(tol=0.1).solve(problem)[0]
    spent = time.perf_counter() - start
    return {
        "n": n, "pass": made, "pass predicted": predicted, "round trip": trip,
        "passes": result.iterations, "run": spent,
        "run predicted": result.iterations * predicted, "gap": result.gap,
    }  # fmt: skip


def choices(engine) -> dict[str, str]:
    """What `auto` takes where the network is as it is, and where planes do not fit."""
    out = {}
    for n, memory in ((2000, 4e9), (40_000, 4e9), (40_000, 1e6)):
        problem = replace(synthetic(n), engine=engine)
        notes = Auto(memory=memory).resolve(problem).notes
        where = "here" if notes.get("here") else "there"
        out[f"n={n}, memory={memory:g}"] = f"{notes['chosen']} {where}: {notes['why']}"
    plain = Auto().resolve(replace(synthetic(2000), engine=Serial())).notes
    return {**out, "no workers": plain["chosen"]}
