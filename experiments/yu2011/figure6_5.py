"""Figures 6.5 and 6.6 of yu2011: sampled cuts on ADULT by the size of the samples.

python -m experiments run yu2011.figure6_5 [--quick]
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from experiments.parts import Parts
from experiments.yu2011 import kernels
from maxmargin import KernelSVM

TITLE = "Figures 6.5 and 6.6: seconds, iterations and errors against sample size, ADULT"
PUBLISHED = {
    "text": "iterations fall as samples grow, seconds do not; training and test errors "
    "are flat but for samples of 100 or C = 0.01"
}
SAMPLES, CS, SEEDS = (100, 400, 1000, 4000), (0.1, 1.0, 10.0), 2
TRAIN = 5000
NOTES = [
    f"{TRAIN} of the training rows (thesis: 22697), mean of {SEEDS} seeds (3), samples "
    "up to 4000 (10000); C per example, as the thesis's C / n.",
]


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """One row for each C and sample size."""
    X, y, Xt, yt = kernels.load("adult", data, 1000 if quick else TRAIN)
    gamma = kernels.SETS["adult"][1]
    seeds = range(seed, seed + (1 if quick else SEEDS))
    KernelSVM(1.0, gamma=gamma, kernel_method="sampled", n_basis=50).fit(
        X[:200], y[:200]
    )
    rows, parts = [], Parts("yu2011.figure6_5", not quick)
    for C in CS[1:2] if quick else CS:
        for size in SAMPLES[:2] if quick else SAMPLES:
            task = ((X, y), (Xt, yt), C, gamma, size)
            told = [
                parts.of(f"C={C:g} {size} {s}", partial(one, *task, s)) for s in seeds
            ]
            mean = {k: float(np.mean([t[k] for t in told])) for k in told[0]}
            rows.append(
                {"C": C, "samples": size} | {k: round(v, 2) for k, v in mean.items()}
            )
    return {"rows": rows, "notes": NOTES, "part": quick}


def one(
    train: tuple, test: tuple, C: float, gamma: float, size: int, seed: int
) -> dict[str, float]:
    """One machine."""
    model = KernelSVM(
        C,
        gamma=gamma,
        kernel_method="sampled",
        n_basis=size,
        random_state=seed,
        tol=5e-3,
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
    rows = result["rows"]

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
