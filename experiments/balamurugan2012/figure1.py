"""Figure 1 of balamurugan2012: dual against time, CP and SDCD, multiclass, C = 0.01.

    python -m experiments.balamurugan2012.figure1 [--quick]

Both hold all classes in V_i. CP uses the Hamming loss times 10 as the paper does, so
the two minimise different functions; each curve is relative to its own optimum.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.tasks import make
from experiments.balamurugan2012.runs import command, history, plot, relative
from maxmargin.structures.multiclass import Multiclass

TITLE = "Figure 1: relative dual difference against time, covertype sample, C=0.01"
PUBLISHED = "SDCD reaches the optimum an order of magnitude faster than CP"


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    z = np.load(data / "covtype_15k" / "covtype_15k.npz")
    X, y = z["X"].astype(float), np.unique(z["y"], return_inverse=True)[1]
    X = X / np.maximum(np.abs(X).max(axis=0), 1e-12)
    order = np.random.default_rng(seed).permutation(len(y))
    n = 2000 if quick else 10000
    train, test = order[:n], order[-3000:]
    rows = []
    for method, cost in (("SDCD", 1.0), ("CP", 10.0)):
        task = make(
            "covertype", Multiclass(), (X[train], y[train]), (X[test], y[test]),
            0.01, "summed", cost,
        )  # fmt: skip
        rows += history(task, method, 15.0 if quick else 120.0, k=7)
    rows = relative(rows)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    plot({"covertype": rows}, folder / "figure1.png")
    return {"rows": rows, "notes": [f"paper: {PUBLISHED}", *crossing(rows)]}


def crossing(rows: list[dict], level: float = 1e-2) -> list[str]:
    """Seconds at which each method is within `level` of its last dual value."""
    out = []
    for method in dict.fromkeys(r["method"] for r in rows):
        mine = [r for r in rows if r["method"] == method]
        late = [r["seconds"] for r in mine if r["difference"] > level]
        out.append(
            f"{method}: within {level:g} of its last dual after {max(late):.2f} s"
        )
    return out


if __name__ == "__main__":
    command(run, TITLE, "figure1")
