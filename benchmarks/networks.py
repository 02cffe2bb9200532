"""Inference on networks: how long each method takes, and how far from its bound.

python -m benchmarks.networks [--quick]

A 100 x 100 grid with 5 labels is decoded by every method that takes it; graphs of 10^5
nodes by those that are exact there, trained for a few passes of SMO and, by the default
solver, to a gap of 1 %. CPU seconds of one thread, compiled beforehand; the first, cold
call is reported apart.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from maxmargin import NetworkSVM
from maxmargin.inference.decode import decode, plan
from maxmargin.inference.tables import Tables
from maxmargin.structures.graphs import grid_edges

METHODS = ("trws", "loopy", "expansion")


def grid(rows: int, columns: int, k: int, rng, table) -> Tables:
    edges, _ = grid_edges(rows, columns)
    return Tables.of(rng.normal(size=(rows * columns, k)), edges, table)


def ladder(n: int, k: int, rng) -> Tables:
    """Every node linked to the next two: treewidth 2."""
    edges = np.concatenate([
        np.c_[np.arange(n - 1), np.arange(1, n)], np.c_[np.arange(n - 2), np.arange(2, n)]
    ])  # fmt: skip
    return Tables.of(rng.normal(size=(n, k)), edges, rng.normal(size=(k, k)))


def timed(tables: Tables, method: str) -> dict:
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


def long_graph(n: int, edges: np.ndarray, inference: str, rng, **options) -> dict:
    """Training on one graph of n nodes."""
    nodes = rng.normal(size=(n, 4))
    y = (nodes[:, 0] + np.roll(nodes[:, 0], 1) > 0).astype(int)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NetworkSVM(1e-4, inference=inference, **options)
        model.fit([(nodes, edges)], [y])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": f"{time.process_time() - start:.1f}", "plan": "", "cold": "",
            "gap": f"{model.result_.gap:.1e}, {memory:.1f} GB peak"}  # fmt: skip


def run(quick: bool = False) -> list[dict]:
    rng = np.random.default_rng(0)
    side, n = (40, 5000) if quick else (100, 100_000)
    rows = []
    for name, table in (("Potts", np.eye(5)), ("random", rng.normal(size=(5, 5)))):
        tables = grid(side, side, 5, rng, table)
        for method in METHODS:
            rows.append({"what": f"{side} x {side} x 5, {name}", "method": method}
                        | timed(tables, method))  # fmt: skip
    two = grid(side, side, 2, rng, np.eye(2))
    rows.append({"what": f"{side} x {side} x 2", "method": "cut"} | timed(two, "cut"))
    chain = np.c_[np.arange(n - 1), np.arange(1, n)]
    line = Tables.of(rng.normal(size=(n, 5)), chain, rng.normal(size=(5, 5)))
    rows.append({"what": f"chain of {n}", "method": "forest"} | timed(line, "forest"))
    narrow = ladder(n, 5, rng)
    rows.append(
        {"what": f"ladder of {n}", "method": "junction"} | timed(narrow, "junction")
    )
    for name, edges, inference in (
        ("chain", chain, "auto"),
        ("ladder", narrow.edges, "junction"),
        ("ladder", narrow.edges, "trws"),
    ):
        few = long_graph(n, edges, inference, rng, solver="smo", max_iter=5)
        rows.append(
            {"what": f"smo, {name} of {n}, 5 passes", "method": inference} | few
        )
        all_ = long_graph(n, edges, inference, rng, tol=0.01, max_time=60.0)
        rows.append({"what": f"auto, {name} of {n}", "method": inference} | all_)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rows = run(parser.parse_args().quick)
    widths = {k: max(len(str(r[k])) for r in [*rows, {k: k}]) for k in rows[0]}
    print("  ".join(f"{k:{n}}" for k, n in widths.items()))
    for row in rows:
        print("  ".join(f"{row[k]!s:{n}}" for k, n in widths.items()))


if __name__ == "__main__":
    main()
