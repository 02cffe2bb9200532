"""Planes of networks in (node, label) coordinates: memory and time of training.

python -m benchmarks.network_planes [--data FOLDER] [--before CHECKOUT]

Multi-label data with a tree over the labels: a synthetic set of the size of bibtex (4880
examples, 159 labels, 1836 sparse features, 69 per example), yeast and scene; and snakes,
grids with edge features. Each is trained by `NetworkSVM` with its defaults, in a process
of its own, after a small fit that compiles the loops: CPU seconds of one thread, the gap
reached, peak memory, what was chosen, and the error on held-out data. With --before, the
same in another checkout of this repository, such as that of version 0.1.0. The table is
kept in `benchmarks/results/network_planes.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

RESULTS = Path(__file__).parent / "results" / "network_planes.json"
NAMES = ("bibtex-size", "yeast", "scene", "snakes")


def bibtex_size(n: int, test: int, labels: int, features: int, each: int) -> tuple:
    """Sparse binary rows; labels have words of their own, and follow their parents."""
    rng = np.random.default_rng(0)
    parent = np.array(
        [max(rng.integers(-1, k), -1) if k else -1 for k in range(labels)]
    )
    base = rng.beta(0.6, 60.0, labels)
    Y = np.zeros((n + test, labels), np.int64)
    for k in range(labels):
        up = Y[:, parent[k]] if parent[k] >= 0 else 0
        Y[:, k] = rng.random(n + test) < np.minimum(base[k] + 0.25 * up, 0.9)
    words = rng.integers(0, features, (labels, 40))
    popular = 1.0 / (20.0 + np.arange(features))
    popular /= popular.sum()
    words_of = []
    for i in range(n + test):
        own = words[np.flatnonzero(Y[i])].ravel()
        own = own[rng.random(len(own)) < 0.3]
        rest = rng.choice(features, max(each - len(own), 0), p=popular)
        words_of.append(np.unique(np.concatenate((own, rest))))
    ptr = np.concatenate(([0], np.cumsum([len(some) for some in words_of])))
    idx = np.concatenate(words_of)
    X = sp.csr_array((np.ones(len(idx)), idx, ptr), (n + test, features))
    return X[:n], Y[:n], X[n:], Y[n:]


def graphs_of(X: Any, edges: Any, labels: int) -> list:
    try:
        from maxmargin.structures.network import multilabel_graphs
    except ImportError:  # 0.1.0
        from maxmargin.structures.graphs import multilabel_graphs
    return multilabel_graphs(X, edges, labels)


def tree(Y: Any) -> Any:
    try:
        from maxmargin.structures.network import tree_edges
    except ImportError:
        from maxmargin.structures.graphs import tree_edges
    return tree_edges(Y)


def multilabel(name: str, data: Path) -> tuple:
    if name == "bibtex-size":
        X, Y, Xt, Yt = bibtex_size(4880, 2000, 159, 1836, 69)
    else:
        folder = {"scene": "scene/scene.npz", "yeast": "yeast_multilabel/yeast.npz"}
        file = np.load(data / folder[name])
        y = "y" if name == "scene" else "Y"
        X, Xt = (file[f"X_{part}"].astype(float) for part in ("train", "test"))
        Y, Yt = (file[f"{y}_{part}"].astype(int) for part in ("train", "test"))
    edges, k = tree(Y), Y.shape[1]
    return graphs_of(X, edges, k), Y, graphs_of(Xt, edges, k), Yt, {}


def snakes(data: Path) -> tuple:
    """Grids with the features of neighbours at nodes and of both ends at edges."""
    file = np.load(data / "snakes" / "snakes.npz")
    out: list[Any] = []
    for split in ("train", "test"):
        X, Y, at = (file[f"{k}_{split}"] for k in ("X", "Y", "offsets"))
        graphs = []
        for i, (r, c) in enumerate(file[f"shape_{split}"].astype(int)):
            image = X[at[i] : at[i + 1]].reshape(r, c, 3) / 255.0
            wide = np.pad(image, ((1, 1), (1, 1), (0, 0)))
            around = [wide[a : a + r, b : b + c] for a in range(3) for b in range(3)]
            nodes = np.concatenate(around, axis=2).reshape(r * c, -1)
            number = np.arange(r * c).reshape(r, c)
            across = np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()]
            down = np.c_[number[:-1].ravel(), number[1:].ravel()]
            edges = np.concatenate((across, down))
            kinds = np.repeat([0, 1], [len(across), len(down)])
            both = np.hstack((nodes[edges[:, 0]], nodes[edges[:, 1]]))
            graphs.append((nodes, edges, both, None, kinds))
        out += [graphs, [Y[at[i] : at[i + 1]].astype(int) for i in range(len(graphs))]]
    return *out, {"inference": "trws", "tol": 0.1}


def row(name: str, data: Path, limit: float) -> dict[str, Any]:
    """Train in this process."""
    from maxmargin import NetworkSVM

    X, Y, Xt, Yt, options = snakes(data) if name == "snakes" else multilabel(name, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = 40 if name == "snakes" else 200
        both = [i for i in range(few) if len(set(np.ravel(Y[i]).tolist())) > 1]
        NetworkSVM(max_iter=3, **options).fit(
            [X[i] for i in both], [Y[i] for i in both]
        )
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        start = time.process_time()
        model = NetworkSVM(max_time=limit, **options).fit(X, list(Y))
    seconds = time.process_time() - start
    r = model.result_
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    wrong = [np.asarray(a) != b for a, b in zip(model.predict(Xt), Yt, strict=True)]
    return {
        "task": name, "seconds": round(seconds, 1), "gap": float(f"{r.gap:.2g}"),
        "status": str(r.status), "iterations": r.iterations,
        "peak MB": round(peak), "before the fit MB": round(before),
        "error %": round(100 * float(np.concatenate([np.ravel(a) for a in wrong]).mean()), 2),
        "trainer": r.notes.get("chosen"), "why": r.notes.get("why"),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("MAXMARGIN_DATA", "../shared/data")
    )
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a fit")
    parser.add_argument("--row")
    given = parser.parse_args()
    if given.row:
        print(json.dumps(row(given.row, given.data, given.limit)))
        return
    here = Path(__file__).parents[1]
    trees = {"now": here} | ({"before": given.before} if given.before else {})
    rows = []
    for name in given.only:
        if name != "bibtex-size" and given.data is None:
            print(f"{name}: no --data", flush=True)
            continue
        for which, folder in trees.items():
            command = [sys.executable, __file__, "--row", name]
            command += ["--limit", str(given.limit)]
            command += ["--data", str(given.data)] if given.data else []
            env = os.environ | {
                "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            }  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            if done.returncode:
                print(name, which, done.stderr[-300:], flush=True)
                continue
            rows.append({"tree": which} | json.loads(done.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
