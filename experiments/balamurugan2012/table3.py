"""Tables III and IV of balamurugan2012: SDCD against cutting planes on the OCR folds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.tasks import ocr
from experiments.balamurugan2012.runs import run_one

TITLE = "Tables III and IV: seconds and test accuracy, SDCD and CP, OCR folds"
PUBLISHED = {  # C -> method -> (seconds, accuracy) of folds 0 .. 9
    0.01: {
        "CP": (
            [115.36, 99.37, 119.97, 132.31, 142.08, 113.14, 156, 175.91, 133.95,
             113.33],
            [75.46, 76.05, 75.97, 76.8, 76.43, 75.87, 76.44, 75.66, 76.44, 75.78],
        ),
        "SDCD": (
            [24.89, 23.41, 20.84, 25.44, 29.35, 25.62, 34.66, 23.07, 30.87, 24.95],
            [74.43, 75.4, 75.3, 76.17, 75.47, 75.24, 75.99, 74.8, 75.6, 75.02],
        ),
    },
    0.1: {
        "CP": (
            [595.13, 628.05, 474.26, 432.04, 1288.68, 467.75, 418.11, 378.49, 511.23,
             1193.12],
            [73.46, 74.14, 74.1, 75.19, 75.28, 73.52, 74.2, 73.78, 75.5, 73.84],
        ),
        "SDCD": (
            [37.37, 38.73, 36.73, 49.69, 38.71, 33.47, 54.11, 68.39, 49.2, 37.63],
            [73.86, 74.54, 74.66, 75.56, 75.44, 73.88, 74.43, 74.02, 75.62, 74.57],
        ),
    },
    1.0: {
        "CP": (
            [4181.79, 9013.09, 4928.94, 9628, 8971.55, 7657.24, 7134.54, 4904.36,
             4118.72, 3822.71],
            [71.15, 71.56, 72.25, 73, 72.74, 71.24, 71.63, 71.18, 73.38, 71.74],
        ),
        "SDCD": (
            [106.39, 179.53, 123.81, 116.5, 178.28, 148.41, 184.26, 193.44, 146.02,
             116.76],
            [71.3, 72.05, 72.44, 73.15, 72.93, 71.39, 71.68, 71.68, 73.31, 71.85],
        ),
    },
}  # fmt: skip

ALLOWED = 60.0  # CPU seconds per run


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    folds = [0] if quick else range(10)
    rows, notes = [], []
    for C, published in PUBLISHED.items():
        if quick and C > 0.1:
            continue
        for fold in folds:
            task = ocr(data, False, C=C, fold=fold, penalty="summed", bias=False)
            for method, (seconds, accuracy) in published.items():
                row = run_one(task, method, 4.0 if quick else ALLOWED)
                rows.append({
                    "C": C, "fold": fold, **row, "published_seconds": seconds[fold],
                    "published_accuracy": accuracy[fold],
                })  # fmt: skip
        notes.append(_ratio(rows, C))
    notes.append("Train on one fold, test on the nine others, pixels and transitions,")
    notes.append("no bias; Hamming loss as it is (scale 1) for both methods.")
    return {"rows": rows, "notes": notes}


def _ratio(rows: list[dict], C: float) -> str:
    def mean(method, key):
        return np.mean([r[key] for r in rows if r["C"] == C and r["method"] == method])

    ours = mean("CP", "seconds") / mean("SDCD", "seconds")
    theirs = mean("CP", "published_seconds") / mean("SDCD", "published_seconds")
    cut = any(r["status"] == "STOPPED" for r in rows if r["C"] == C)
    at_least = "at least " if cut else ""
    return f"C={C}: CP takes {at_least}{ours:.1f} times as long (paper {theirs:.1f})"
