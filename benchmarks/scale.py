"""Cost of a pass, of a round trip and of faults; what larger samples would take.

    python -m benchmarks.scale bits       same bits from every engine
    python -m benchmarks.scale speedup    1 and 2 threads, 1 and 2 dask workers (grammar)
    python -m benchmarks.scale linear     seconds per pass, 10^3 .. 10^6 sentences
    python -m benchmarks.scale memory     peak memory, data ten times the bound
    python -m benchmarks.scale faults     20 runs, a worker killed at a random moment
    python -m benchmarks.scale model      the cost model of docs/scaling.md

Each part prints a table and stores it under benchmarks/results/scale.json. Clusters are
processes on loopback that this program starts and ends.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.tasks import TASKS, data_folder
from maxmargin.arrays import Ragged, Vectors, pointers
from maxmargin.engines.serial import Serial
from maxmargin.engines.threads import Threads
from maxmargin.formulations import Formulation
from maxmargin.losses import Hamming
from maxmargin.problem import Problem
from maxmargin.solvers.block_dual import BlockDual
from maxmargin.solvers.cocoa import Cocoa
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.structures.chain import Chain, Tokens
from maxmargin.structures.encoded import open_encoded, write_encoded

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
STORE = Path(__file__).with_name("results") / "scale.json"
LABELS, WORDS, LENGTH = 10, 5000, 12
WIDTH = WORDS + 100


def batches(n: int, seed: int = 0):
    """Encoded sentences of `LENGTH` tokens on average, three features each."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, WORDS + 1)
    ends = np.cumsum(chance / chance.sum())
    for s in range(0, n, 20_000):
        sizes = rng.integers(LENGTH // 2, LENGTH * 3 // 2, size=min(20_000, n - s))
        word = np.minimum(np.searchsorted(ends, rng.random(sizes.sum())), WORDS - 1)
        label = np.where(rng.random(len(word)) < 0.85, word % LABELS, 0)
        idx = np.column_stack((word, WORDS + word % 50, WORDS + 50 + word // 7 % 50))
        rows = 3 * np.arange(len(word) + 1)
        vectors = Vectors(rows, idx.astype(np.int32).ravel(), np.ones(idx.size), WIDTH)
        ptr = pointers(sizes)
        yield (
            Tokens(vectors, ptr, np.empty(0, np.int32)),
            Ragged(ptr, label.astype(np.int32)),
        )


def synthetic(n: int, folder: Path, C: float = 0.01) -> Problem:
    if not (folder / "meta.json").exists():
        chain = Chain().sized(tuple(range(LABELS)), None, WIDTH, True)
        write_encoded(batches(n), folder, chain)
    data = open_encoded(folder)
    k = len(data.labels)
    return Problem(
        data.bind(Chain()), Hamming().bind(k), Formulation("margin", "linear"), data.x,
        data.truth, np.full(data.n, C),
    )  # fmt: skip


def grammar(n: int = 400) -> Problem:
    """Random sentences under a random grammar: CKY, 0.1-1 ms a sentence."""
    from maxmargin.losses import BracketF1
    from maxmargin.structures.grammar import Grammar

    rng = np.random.default_rng(0)

    def tree(depth: int):
        if depth == 0 or rng.random() < 0.15:
            return (f"T{rng.integers(8)}", f"w{rng.integers(100)}")
        kids = tuple(tree(depth - 1) for _ in range(rng.integers(2, 4)))
        return (f"N{rng.integers(12)}", *kids)

    def leaves(node):
        if isinstance(node[1], str):
            return [(node[1], node[0])]
        return [leaf for child in node[1:] for leaf in leaves(child)]

    trees = [("S", tree(3), tree(3)) for _ in range(n)]
    X = [leaves(t) for t in trees]
    structure = Grammar().bind(X, trees)
    x = structure.encode(X)
    return Problem(
        structure, BracketF1().bind(structure.label_count()),
        Formulation("margin", "linear"), x, structure.encode_labels(x, trees),
        np.full(n, 0.1),
    )  # fmt: skip


def cluster(workers: int):
    from cluster import Cluster

    return Cluster(workers, scratch=tempfile.mkdtemp(prefix="dask-"))


def dask_engine(address: str):
    from maxmargin.engines.dask import DaskEngine

    return DaskEngine(address)


def seconds_of(task, repeat: int = 3) -> float:
    task()
    clock = []
    for _ in range(repeat):
        start = time.perf_counter()
        task()
        clock.append(time.perf_counter() - start)
    return min(clock)


def bits(quick: bool) -> list[dict]:
    from maxmargin.engines.processes import Processes

    problem = TASKS["ocr-small"](data_folder()).problem
    solvers = {
        "one-slack": OneSlack(tol=0.1, max_iter=15 if quick else 100),
        "block-dual": BlockDual(tol=0.05 if quick else 1e-2),
        "cocoa, 2 shards": Cocoa(tol=0.2, shards=2, portions=4, max_iter=20),
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
    problem = grammar(64 if quick else 400)
    w = 0.1 * np.random.default_rng(0).normal(size=problem.dim)

    def passes(engine) -> tuple[float, float]:
        p = replace(problem, engine=engine)
        ids = np.arange(p.n)
        blocks = [ids[s : s + 32] for s in range(0, p.n, 32)]
        total = seconds_of(lambda: p.sum_cut(w))
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
    small = replace(problem.part(0, problem.n)[0], engine=Serial())
    print(f"oracle: {1e3 * one['serial'] / small.n:.2f} ms a sentence")
    return rows


def linear(quick: bool) -> list[dict]:
    rows = []
    for n in (10**3, 10**4, 10**5) if quick else (10**3, 10**4, 10**5, 10**6):
        folder = Path(tempfile.gettempdir()) / f"maxmargin-synthetic-{n}"
        start = time.process_time()
        problem = synthetic(n, folder)
        made = time.process_time() - start
        w = 0.1 * np.random.default_rng(0).normal(size=problem.dim)
        problem.part(0, 100)[0].sum_cut(w)
        start = time.process_time()
        problem.sum_cut(w)
        spent = time.process_time() - start
        rows.append({
            "n": n, "CPU seconds per pass": spent, "microseconds a sentence":
            1e6 * spent / n, "bytes": open_encoded(folder).nbytes, "encoding": made,
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def peak(kind: str) -> int:
    """Peak of this process in bytes: VmHWM, or RssAnon now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return 1024 * int(line.split()[1])
    return 0


def memory(quick: bool) -> list[dict]:
    """Run `memory_child` in a process of its own, so that the peak is its own."""
    import subprocess

    n = 200_000 if quick else 1_000_000
    folder = Path(tempfile.gettempdir()) / f"maxmargin-synthetic-{n}"
    synthetic(n, folder)
    rows = []
    for solver in ("one-slack", "block-dual"):
        out = subprocess.run(
            [sys.executable, "-m", "benchmarks.scale", "child", "--n", str(n),
             "--solver", solver], capture_output=True, text=True, check=True,
        )  # fmt: skip
        rows.append(json.loads(out.stdout.strip().splitlines()[-1]))
        print(rows[-1], flush=True)
    return rows


def memory_child(n: int, solver: str) -> None:
    folder = Path(tempfile.gettempdir()) / f"maxmargin-synthetic-{n}"
    few = synthetic(1000, Path(tempfile.gettempdir()) / "maxmargin-synthetic-1000")
    data = open_encoded(folder)
    bound = data.nbytes / 10
    trainer = {
        "one-slack": OneSlack(max_iter=2),
        "block-dual": BlockDual(max_iter=1, memory=bound / 2),
    }[solver]
    trainer.solve(few)  # compile and import: what any run needs
    base = peak("VmHWM")
    trainer.solve(synthetic(n, folder))
    row = {
        "solver": solver, "n": n, "data": data.nbytes, "bound": bound,
        "imports": base, "peak": peak("VmHWM"), "grown": peak("VmHWM") - base,
        "anonymous": peak("RssAnon"),
    }  # fmt: skip
    print(json.dumps(row))


def faults(quick: bool) -> list[dict]:
    problem = synthetic(2000, Path(tempfile.gettempdir()) / "maxmargin-synthetic-2000")
    rows = []
    rng = random.Random(0)
    for run in range(4 if quick else 20):
        name = ("one-slack", "cocoa")[run % 2]
        solver = {
            "one-slack": OneSlack(tol=0.05),
            "cocoa": Cocoa(tol=0.01, shards=3, portions=4),
        }[name]
        with cluster(3) as machines:
            engine = dask_engine(machines.address)
            delay = rng.uniform(0.1, 4.0)
            who = rng.randrange(3)
            timer = threading.Timer(delay, machines.kill, [who])
            timer.start()
            result = solver.solve(replace(problem, engine=engine))[0]
            killed = len(machines.workers) == 2
            timer.cancel()
            engine.close()
        check = problem.primal_at(result.w, problem.risk_at(result.w))
        rows.append({
            "solver": name, "killed after": delay, "killed in time": killed,
            "status": result.status.name, "gap": result.gap, "certified":
            bool(result.converged and abs(check - result.primal) < 1e-9 * check),
        })  # fmt: skip
        print(rows[-1], flush=True)
    print(f"{sum(r['certified'] for r in rows)} of {len(rows)} certified")
    return rows


def model(quick: bool) -> list[dict]:
    """Oracle and dual seconds per sentence, passes, bytes per pass; then predictions."""
    rows = []
    for name in ("ocr-large", "ner") if quick else ("ocr-large", "ner", "wsj"):
        problem = TASKS[name](data_folder()).problem
        w = np.zeros(problem.dim)
        problem.sum_cut(w)
        start = time.process_time()
        problem.sum_cut(w)
        oracle = (time.process_time() - start) / problem.n
        BlockDual(max_iter=1).solve(problem)
        start = time.process_time()
        result, state = BlockDual(tol=1e-2).solve(problem)
        spent = time.process_time() - start
        passes = result.oracle_calls / problem.n
        rows.append({
            "task": name, "n": problem.n, "dim": problem.dim,
            "oracle us": 1e6 * oracle, "passes": passes, "steps": result.iterations,
            "dual us": 1e6 * max(spent - passes * problem.n * oracle, 0.0)
            / (problem.n * passes), "bytes of w": 8 * problem.dim,
            "planes bytes": state.blocks.nbytes / problem.n, "gap": result.gap,
        })  # fmt: skip
        print(rows[-1], flush=True)
    for row in rows:
        predictions(row)
    return rows


def predictions(row: dict, bandwidth: float = 1e9, passes: int = 25) -> None:
    """Hours by trainer for 1, 10, 1000 machines of 16 cores and a 1 GB/s network."""
    print(f"\n{row['task']}: hours (one-slack 100 passes; shards {passes} passes)")
    for n in (10**6, 10**8, 10**9):
        cells = []
        for machines in (1, 10, 1000):
            cores = 16 * machines
            hops = np.ceil(np.log2(machines)) if machines > 1 else 0
            net = 2 * hops * (row["bytes of w"] / bandwidth + 1e-3)
            visit = 1e-6 * (row["oracle us"] + row["dual us"])
            one = 100 * (n * 1e-6 * row["oracle us"] / cores + net)
            shards = passes * (n * visit / cores + 16 * net)
            fits = row["planes bytes"] * n / machines < 64e9
            cells.append(f"{one / 3600:.3g} / {shards / 3600:.3g}{'' if fits else '*'}")
        print(f"  n=1e{int(np.log10(n))}: " + "; ".join(cells))
    print("  *: planes would not fit into 64 GB a machine: one-slack, or merged planes")


PARTS = {f.__name__: f for f in (bits, speedup, linear, memory, faults, model)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "child"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--solver", default="one-slack")
    options = parser.parse_args()
    if options.parts == ["child"]:
        memory_child(options.n, options.solver)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in options.parts:
        print(f"--- {name}", flush=True)
        store[name] = PARTS[name](options.quick)
        STORE.parent.mkdir(exist_ok=True)
        STORE.write_text(json.dumps(store, indent=1))


if __name__ == "__main__":
    main()
