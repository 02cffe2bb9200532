"""Table 5 at the paper's size: thousands of short trees, and fewer of them.

python -m experiments run tsochantaridis2005.table5_gum [--quick]
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.protocol import Setting
from experiments.tsochantaridis2005.parsers import (
    ANCHORS,
    EPSILON,
    GUM,
    against,
    measured,
    pcfg,
    short_trees,
    svm,
)
from experiments.tsochantaridis2005.table5 import PUBLISHED
from maxmargin.metrics import bracket_scores

TITLE = "Table 5 on GUM: grammars of thousands of short trees, by size of the sample"
SIZES = (300, 1000, 3119)
DRAWS = {300: 5, 1000: 3, 3119: 1}  # of training trees
C = 0.1
PROTOCOL = [
    Setting("data", "Penn Treebank, at most 10 words, 4098 trees",
            "GUM, parsed by machine, at most 10 words"),
    Setting("split", "one training and one test part", {
        "test": "one fifth (780 trees)", "draws by training trees": DRAWS,
    }),
    Setting("choice", "C = 1", f"C = {C:g}, not tuned"),
    Setting("method", "SVM2 by Algorithm 1, epsilon = 0.01",
            f"SVM2 by Algorithm 1 (b), epsilon = {EPSILON:g}"),
    Setting("test", "McNemar's test on F1", "McNemar's exact test over the sentences of all "
            "draws"),
]  # fmt: skip
NOTES = [
    "Scores over the test trees of all draws; `f1 +-` is the standard error of the mean "
    "over draws. anchored: by the default solver.",
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
        splits = []
        for draw in range(1 if quick else DRAWS[size]):
            some = np.random.default_rng([seed, draw]).permutation(rest)[:size]
            splits.append((some, test))
        base = None
        for name, make in METHODS.items():
            row, truth, found = measured(name, make, trees, splits, C, seed)
            base = base or found
            row["f1 +-"] = spread(truth, found, len(splits))
            row["against PCFG"] = "" if name == "PCFG" else against(truth, base, found)
            rows.append({"n": min(size, len(rest)), "draws": len(splits), **row})
    return {"rows": rows, "notes": NOTES, "part": quick}


def spread(truth: list, found: list, draws: int) -> float | str:
    """Standard error of the mean F1 over draws."""
    if draws < 2:
        return ""
    m = len(truth) // draws
    each = [
        100.0 * bracket_scores(truth[k * m : k * m + m], found[k * m : k * m + m]).f1
        for k in range(draws)
    ]
    return round(float(np.std(each, ddof=1) / np.sqrt(draws)), 2)


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
