"""Do triples of letters help? Handwritten words as chains and as networks with cliques.

    python -m benchmarks.cliques [--train 300] [--test 1000] [--C 0.16] [--json FILE]

Words of fold 0 train, words of fold 1 test. A chain of order two and a network with a
clique for every three neighbouring letters have the same weights, so that their duals
must agree; both are compared with pairs only, and with two patterns in place of the
table. CPU seconds of one thread, with JIT warmed outside of the clock.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.runner import data_folder
from experiments.taskar2003.figure1b import load
from maxmargin import ChainSVM, NetworkSVM
from maxmargin.structures.network import Graph


def graphs(words: list[np.ndarray], order: int) -> list[Graph]:
    """Words as graphs: edges between neighbours, cliques of order + 1 letters."""
    return [
        Graph(
            word,
            [[t, t + 1] for t in range(len(word) - 1)],
            cliques=[list(range(t, t + order + 1)) for t in range(len(word) - order)]
            if order > 1
            else None,
        )
        for word in words
    ]


def main() -> None:
    """Print a row for each machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--C", type=float, default=0.16)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    words, letters, fold = load(data_folder())
    train = np.flatnonzero(fold == 0)[: asked.train]
    test = np.flatnonzero(fold == 1)[: asked.test]
    settings: dict[str, Any] = {"C": asked.C, "tol": asked.tol}
    machines: dict[str, tuple[Any, Any]] = {
        "chain, order 1": (ChainSVM(start_end=False, **settings), None),
        "chain, order 2": (ChainSVM(order=2, start_end=False, **settings), None),
        "network, pairs": (NetworkSVM(**settings), 1),
        "network, triples": (NetworkSVM(**settings), 2),
        "network, all equal": (NetworkSVM(cliques="equal", **settings), 2),
    }
    print(f"{'machine':20} {'dual':>10} {'test error':>10} {'CPU s':>7} {'weights':>8}")
    rows = []
    for name, (model, order) in machines.items():
        parts = [[words[i] for i in some] for some in (train, test)]
        truth = [[letters[i] for i in some] for some in (train, test)]
        if order is not None:
            parts = [graphs(part, order) for part in parts]
        model.fit(parts[0][:5], truth[0][:5])  # compile
        start = time.process_time()
        model.fit(parts[0], truth[0])
        spent = time.process_time() - start
        error = 1.0 - model.score(parts[1], truth[1])
        result = model.result_
        print(
            f"{name:20} {result.dual:10.4f} {error:10.4f} {spent:7.1f} {result.w.size:8d}"
        )
        rows.append({
            "machine": name, "dual": result.dual, "test error": error, "CPU s": spent,
            "weights": result.w.size, "gap": result.gap,
        })  # fmt: skip
    if asked.json is not None:
        settings |= {"train": len(train), "test": len(test)}
        asked.json.write_text(json.dumps({**settings, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
