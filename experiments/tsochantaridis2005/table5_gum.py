"""Table 5 at the paper's size: thousands of short trees, and fewer of them.

python -m experiments run tsochantaridis2005.table5_gum [--quick]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.tsochantaridis2005.parsers import (
    ANCHORS,
    GUM,
    against,
    measured,
    pcfg,
    short_trees,
    svm,
)
from experiments.tsochantaridis2005.table5 import PUBLISHED

TITLE = "Table 5 on GUM: grammars of thousands of short trees, by size of the sample"
SIZES = (300, 1000, 3119)
C = 0.1
NOTES = [
    "Trees of at most 10 words, made by a parser: one fifth (780) for testing, training "
    "samples from the rest. Same code and C = 0.1, not tuned; epsilon = 0.01, Algorithm 1 "
    "(b); anchored: by the default solver.",
    "against PCFG: test sentences with a better and a worse F1, sign test.",
]
METHODS = {
    "PCFG": pcfg(None, 0.0),
    "SVM2 zero-one": svm("zero-one", None, None),
    "SVM2 slack F1": svm("f1", "slack", None),
    "SVM2 margin F1": svm("f1", "margin", None),
    "SVM2 margin F1, anchored": svm("f1", "margin", None, ANCHORS),
}
__all__ = ["PUBLISHED", "TITLE", "claims", "run"]


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Every method on samples of each size."""
    trees = short_trees(data, GUM, 10)
    order = np.random.default_rng(seed).permutation(len(trees))
    test, rest = order[: len(trees) // 5], order[len(trees) // 5 :]
    rows = []
    for size in SIZES[:1] if quick else SIZES:
        base = None
        for name, make in METHODS.items():
            split = [(rest[:size], test)]
            row, truth, found = measured(name, make, trees, split, C, seed)
            base = base or found
            row["against PCFG"] = "" if name == "PCFG" else against(truth, base, found)
            rows.append({"n": min(size, len(rest)), **row})
    return {"rows": rows, "notes": NOTES, "part": quick}


def claims(result: dict) -> dict[str, bool]:
    """What the paper says of the table, at each size."""
    out: dict[str, bool] = {}
    if result["part"]:
        return out
    for n in dict.fromkeys(row["n"] for row in result["rows"]):
        f1 = {row["method"]: row["test f1"] for row in result["rows"] if row["n"] == n}
        best = max(f1["SVM2 slack F1"], f1["SVM2 margin F1"])
        out[f"n = {n}: trained for F1 beats PCFG"] = best > f1["PCFG"]
        out[f"n = {n}: trained for F1 beats zero-one"] = best > f1["SVM2 zero-one"]
        out[f"n = {n}: anchored features beat plain rules"] = (
            f1["SVM2 margin F1, anchored"] > f1["SVM2 margin F1"]
        )
    return out
