"""Inference on networks: how long each method takes, and how far from its bound.

python -m benchmarks.networks [--quick]

A 100 x 100 grid with 5 labels is decoded by every method that takes it; graphs of 10^5
nodes by those that are exact there. Then one graph of 10^5 nodes is trained to a gap of
1 % by SMO on the factored dual and by the default solver, each in a process of its own:
seconds, gap reached, peak memory; a kernel on it is refused. CPU seconds of one thread,
compiled beforehand; the first, cold call is reported apart. The table is kept in
`benchmarks/results/networks.json`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from maxmargin import NetworkSVM
from maxmargin.inference.graph import GraphTables, plan
from maxmargin.inference.graph.decode import decode
from maxmargin.structures.network import grid_edges

RESULTS = Path(__file__).parent / "results" / "networks.json"
LIMIT = 60.0  # seconds for training on a long graph
METHODS = ("trws", "loopy", "expansion")


def grid(rows: int, columns: int, k: int, rng, table) -> GraphTables:
    edges, _ = grid_edges(rows, columns)
    return GraphTables.of(rng.normal(size=(rows * columns, k)), edges, table)


def chain_edges(n: int) -> np.ndarray:
    """Every node linked to the next: a forest."""
    return np.c_[np.arange(n - 1), np.arange(1, n)]


def ladder_edges(n: int) -> np.ndarray:
    """Every node linked to the next two: treewidth 2."""
    return np.concatenate([chain_edges(n), np.c_[np.arange(n - 2), np.arange(2, n)]])


def timed(tables: GraphTables, method: str) -> dict:
    cold = time.process_time()
    graphs = plan(
        tables.node_ptr, tables.edge_ptr, tables.edges, tables.n_labels, method
    )
    planned = time.process_time() - cold
    decode(tables, graphs, method)
    cold = time.process_time() - cold
    start = time.process_time()
    found = decode(tables, graphs, method)
    seconds = time.process_time() - start
    gap = float((found.bound - found.score).sum() / np.abs(found.score).sum())
    return {"seconds": f"{seconds:.3f}", "plan": f"{planned:.2f}",
            "cold": f"{cold:.1f}", "gap": f"{gap:.1e}"}  # fmt: skip


def task(n: int, edges: np.ndarray) -> tuple[list, list]:
    """One graph; the label of a node depends on its neighbour's features, too."""
    rng = np.random.default_rng(1)
    nodes = rng.normal(size=(n, 4))
    y = (nodes[:, 0] + np.roll(nodes[:, 0], 1) > 0).astype(int)
    return [(nodes, edges)], [y]


def trained(n: int, shape: str, solver: str, inference: str) -> dict:
    """Training on one long graph, in this process."""
    edges = {"chain": chain_edges, "ladder": ladder_edges}[shape]
    options = {"inference": inference, "tol": 0.01, "solver": solver}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NetworkSVM(1e-2, **options).fit(*task(1000, edges(1000)))  # compiled
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        X, y = task(n, edges(n))
        start = time.process_time()
        model = NetworkSVM(1e-4, max_time=LIMIT, **options).fit(X, y)
        seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    r = model.result_
    return {
        "what": f"{solver}, {shape} of {n}", "method": inference,
        "seconds": f"{seconds:.1f}", "plan": "", "cold": "", "gap": f"{r.gap:.1e}",
        "note": f"{r.certificate}, {r.iterations} steps, {memory:.2f} GB peak "
        f"({before:.2f} before), error {1 - model.score(X, y):.3f}",
    }  # fmt: skip


def refused(n: int) -> dict:
    """What a kernel on a long graph is answered, and how soon."""
    X, y = task(n, chain_edges(n))
    start = time.process_time()
    try:
        NetworkSVM(kernel="rbf").fit(X, y)
        answer = "trained"
    except ValueError as wrong:
        answer = str(wrong)
    return {
        "what": f"kernel, chain of {n}", "method": "auto",
        "seconds": f"{time.process_time() - start:.1f}", "plan": "", "cold": "",
        "gap": "", "note": answer,
    }  # fmt: skip


def apart(*arguments: str) -> dict:
    """A row made by another process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.networks", "--row", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def decoded(side: int, n: int) -> Iterator[dict]:
    """Every method on what it takes."""
    rng = np.random.default_rng(0)
    for name, table in (("Potts", np.eye(5)), ("random", rng.normal(size=(5, 5)))):
        tables = grid(side, side, 5, rng, table)
        for method in METHODS:
            what = {"what": f"{side} x {side} x 5, {name}", "method": method}
            yield what | timed(tables, method)
    two = grid(side, side, 2, rng, np.eye(2))
    yield {"what": f"{side} x {side} x 2", "method": "cut"} | timed(two, "cut")
    for name, edges, method in (
        ("chain", chain_edges(n), "forest"), ("ladder", ladder_edges(n), "junction"),
        ("ladder", ladder_edges(n), "trws"),
    ):  # fmt: skip
        long = GraphTables.of(rng.normal(size=(n, 5)), edges, rng.normal(size=(5, 5)))
        yield {"what": f"{name} of {n} x 5", "method": method} | timed(long, method)


def run(quick: bool = False) -> Iterator[dict]:
    """All rows, as they are made."""
    side, n = (40, 5000) if quick else (100, 100_000)
    yield from decoded(side, n)
    for shape, inference in (
        ("chain", "auto"), ("ladder", "junction"), ("ladder", "trws"),
    ):  # fmt: skip
        for solver in ("smo", "auto"):
            yield apart(str(n), shape, solver, inference)
    if not quick:
        yield refused(n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--row", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.row:
        print(json.dumps(trained(int(asked.row[0]), *asked.row[1:])))
        return
    widths = {"what": 28, "method": 10, "seconds": 8, "plan": 5, "cold": 5, "gap": 8}
    print("".join(f"{k:{n}}" for k, n in widths.items()))
    rows = []
    for row in run(asked.quick):
        rows.append({"note": "", **row})
        cells = "".join(f"{row[k]!s:{n}}" for k, n in widths.items())
        print(cells + rows[-1]["note"], flush=True)
    if not asked.quick:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
