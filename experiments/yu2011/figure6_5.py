"""Figures 6.5 and 6.6 of yu2011: sampled cuts on ADULT by the size of the samples.

python -m experiments run yu2011.figure6_5 [--quick]
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from experiments.parts import Parts
from experiments.protocol import Setting
from experiments.yu2011 import kernels
from maxmargin import KernelSVM

TITLE = "Figures 6.5 and 6.6: seconds, iterations and errors against sample size, ADULT"
PUBLISHED = {
    "text": "iterations fall as samples grow, seconds do not; training and test errors "
    "are flat but for samples of 100 or C = 0.01"
}
SAMPLES, CS, SEEDS = (100, 400, 1000, 4000), (0.01, 0.1, 1.0, 10.0, 100.0), 3
TRAIN, TOL = 5000, 5e-3
METHODS = {"as printed": "sampled-as-written", "ours": "sampled"}
PROTOCOL = [
    Setting("data", "Adult, 22697 rows", f"Adult, {TRAIN} rows"),
    Setting("split", "three runs", f"{SEEDS} seeds"),
    Setting("choice", "C = 0.01 .. 100 times n; samples of 100 to 10000",
            {"C times n": CS, "samples": SAMPLES}),
    Setting("method", "Algorithm 6.2, epsilon = 0.001",
            f"as printed: Algorithm 6.2; ours: to {TOL:g} of the objective"),
]  # fmt: skip
NOTES = ["Mean over the seeds; `sd` is the standard deviation of the test error."]


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """One row for each C and sample size."""
    X, y, Xt, yt = kernels.load("adult", data, 1000 if quick else TRAIN)
    gamma = kernels.SETS["adult"][1]
    seeds = range(seed, seed + (1 if quick else SEEDS))
    KernelSVM(1.0, gamma=gamma, kernel_method="sampled", n_basis=50).fit(
        X[:200], y[:200]
    )
    rows, parts = [], Parts("yu2011.figure6_5", not quick)
    for (name, how), C in product(METHODS.items(), CS[1:2] if quick else CS):
        for size in SAMPLES[:2] if quick else SAMPLES:
            task = ((X, y), (Xt, yt), how, C, gamma, size)
            told = [
                parts.of(f"{name} C={C:g} {size} {s}", partial(one, *task, s))
                for s in seeds
            ]
            mean = {k: round(float(np.mean([t[k] for t in told])), 2) for k in told[0]}
            spread = float(np.std([t["test error"] for t in told]))
            row = {"method": name, "C": C, "samples": size}
            rows.append(row | mean | {"sd": round(spread, 2)})
    return {"rows": rows, "notes": NOTES, "part": quick}


def one(
    train: tuple, test: tuple, how: str, C: float, gamma: float, size: int, seed: int
) -> dict[str, float]:
    """One machine."""
    model = KernelSVM(
        C,
        gamma=gamma,
        kernel_method=how,
        n_basis=size,
        random_state=seed,
        tol=TOL,
    )
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*train)
    return {
        "CPU s": time.process_time() - begin,
        "iterations": model.result_.iterations,
        "train error": 100.0 - 100.0 * model.score(*train),
        "test error": 100.0 - 100.0 * model.score(*test),
    }


def claims(result: dict) -> dict[str, bool]:
    """Fewer iterations with larger samples; flat errors from 400 on."""
    if result["part"]:
        return {}
    rows = [r for r in result["rows"] if r["method"] == "as printed"]

    def of(C: float, column: str) -> list[float]:
        return [r[column] for r in rows if r["C"] == C]

    spread = max(np.ptp(of(C, "test error")[1:]) for C in CS)
    return {
        "samples of 4000 need no more iterations than samples of 100": all(
            of(C, "iterations")[-1] <= of(C, "iterations")[0] for C in CS
        ),
        "test errors differ by less than 0.5 points from samples of 400 on": bool(
            spread < 0.5
        ),
    }
