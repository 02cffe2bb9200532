"""Engines beside each other: bits, speed, overhead; and a pass over growing samples."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from benchmarks.scale.problems import (
    cluster,
    dask_engine,
    folder_of,
    grammar,
    seconds_of,
    synthetic,
)
from maxmargin.core import Serial
from maxmargin.engines import Threads
from maxmargin.solvers import OneSlack
from maxmargin.solvers.distributed import Cocoa
from maxmargin.solvers.n_slack import BlockDual
from maxmargin.structures.chain import open_encoded


def bits(quick: bool) -> list[dict]:
    from maxmargin.engines import Processes

    problem = synthetic(300 if quick else 1000, C=0.1)
    solvers = {
        "one-slack": OneSlack(tol=0.02),
        "block-dual": BlockDual(tol=1e-3, block=100),
        "cocoa, 2 shards": Cocoa(tol=1e-3, shards=2, portions=4),
    }
    rows = []
    with cluster(2) as machines:
        engines = {
            "serial": Serial(), "2 threads": Threads(2), "2 processes": Processes(2),
            "2 dask workers": dask_engine(machines.address),
        }  # fmt: skip
        for name, solver in solvers.items():
            first = None
            for where, engine in engines.items():
                if name.startswith("cocoa") and where == "2 processes":
                    continue  # shards keep a memory: threads or dask
                start = time.perf_counter()
                result = solver.solve(replace(problem, engine=engine))[0]
                first = first or result
                rows.append({
                    "solver": name, "engine": where, "gap": result.gap,
                    "same bits": bool((result.w == first.w).all())
                    and result.primal == first.primal and result.dual == first.dual,
                    "seconds": time.perf_counter() - start,
                })  # fmt: skip
                print(rows[-1], flush=True)
        for engine in engines.values():
            engine.close()
    return rows


def speedup(quick: bool) -> list[dict]:
    problem = grammar(64 if quick else 160)
    w = 0.1 * np.random.default_rng(0).normal(size=problem.dim)

    def passes(engine) -> tuple[float, float]:
        p = replace(problem, engine=engine)
        ids = np.arange(p.n)
        blocks = [ids[s : s + 32] for s in range(0, p.n, 32)]
        total = seconds_of(lambda: p.sum_cut(w), 2)
        some = blocks[: 2 if engine.remote else len(blocks)]
        by_block = seconds_of(lambda: [p.planes(w, b) for b in some], 1)
        return total, by_block * len(blocks) / len(some)

    rows = []

    def note(name, engine):
        total, blocks = passes(engine)
        rows.append({"engine": name, "sum_cut": total, "blocks of 32": blocks})
        print(rows[-1], flush=True)
        engine.close()

    note("serial", Serial())
    note("2 threads", Threads(2))
    for k in (1, 2):
        with cluster(k) as machines:
            note(f"{k} dask workers", dask_engine(machines.address))
    one = {r["engine"]: r["sum_cut"] for r in rows}
    print(f"threads: {one['serial'] / one['2 threads']:.2f}x of one")
    print(f"dask: {one['1 dask workers'] / one['2 dask workers']:.2f}x of one worker")
    print(f"oracle: {1e3 * one['serial'] / problem.n:.2f} ms a sentence")
    return rows


def overhead(quick: bool) -> list[dict]:
    """A pass over 2000 short sentences: here, and on one dask worker."""
    problem, rows = synthetic(2000), []
    w = 0.1 * np.random.default_rng(0).normal(size=problem.dim)
    with cluster(1) as machines:
        far = dask_engine(machines.address)
        for name, engine in (("serial", Serial()), ("1 dask worker", far)):
            p = replace(problem, engine=engine)
            rows.append({
                "engine": name, "pass": seconds_of(lambda p=p: p.sum_cut(w), 20),
                "round trip": engine.round_trip(w),
            })  # fmt: skip
            print(rows[-1], flush=True)
        far.close()
    return rows


def linear(quick: bool) -> list[dict]:
    rows = []
    for n in (10**3, 10**4, 10**5) if quick else (10**3, 10**4, 10**5, 10**6):
        start = time.process_time()
        problem = synthetic(n)
        made = time.process_time() - start
        w = 0.1 * np.random.default_rng(0).normal(size=problem.dim)
        problem.slice(0, 100)[0].sum_cut(w)
        start = time.process_time()
        problem.sum_cut(w)
        spent = time.process_time() - start
        rows.append({
            "n": n, "CPU seconds per pass": spent, "microseconds a sentence":
            1e6 * spent / n, "bytes": open_encoded(folder_of(n)).nbytes, "encoding": made,
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows
