"""Constraints of Algorithm 1 by the number of examples and by epsilon: Figure 2.

python -m experiments run tsochantaridis2005.figure2 [--quick]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.protocol import Setting
from experiments.tsochantaridis2005.table4 import C, svm
from maxmargin.datasets import make_homologs

TITLE = "Figure 2: constraints |S| of Algorithm 1 on homologs, SVM2, C = 0.01"
PUBLISHED = {
    "by n": "appears to grow sub-linearly (a plot; no figures in the text)",
    "by epsilon": "slower than the bound of Theorem 18; epsilon = 0.1 is good enough",
}
SIZES = (1, 2, 4, 10, 20)  # Table 4 has |S| of 40 and 80, too
EPSILONS = (1.0, 0.5, 0.3, 0.1, 0.03, 0.01)
SAMPLES = 10
PROTOCOL = [
    Setting("data", "synthetic, 5.3", "synthetic, 5.3"),
    Setting("split", "10 samples", f"{SAMPLES} samples"),
    Setting("choice", "C = 0.01, n = 20, epsilon = 0.1 unless varied",
            {"C": C, "n": SIZES, "epsilon": EPSILONS}),
    Setting("method", "SVM2 by Algorithm 1", "SVM2 by Algorithm 1"),
]  # fmt: skip


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """|S| by n at epsilon = 0.1, and by epsilon at n = 20."""
    samples = 2 if quick else SAMPLES
    sizes, epsilons = (SIZES[:4], EPSILONS[:4]) if quick else (SIZES, EPSILONS)
    rows = [row("n", n, 0.1, samples, seed) for n in sizes]
    rows += [row("epsilon", 20, epsilon, samples, seed) for epsilon in epsilons]
    notes = [
        "Mean and standard error over the samples; data as in Table 4.",
        f"|S| grows as n to the power {power(rows, 'n', 'n'):.2f}, and as 1 / epsilon to "
        f"the power {-power(rows, 'epsilon', 'epsilon'):.2f} (fits of log |S|).",
    ]
    return {"rows": rows, "notes": notes}


def row(varied: str, n: int, epsilon: float, samples: int, seed: int) -> dict[str, Any]:
    """One point of a curve."""
    sizes, errors = [], []
    for k in range(samples):
        model = svm(*make_homologs(n, 2 * (1000 * seed + k)), epsilon)
        test = make_homologs(100, 2 * (1000 * seed + k) + 1)
        sizes.append(model.result_.planes)
        errors.append(100.0 * (1.0 - model.score(*test)))
    spread = np.std([sizes, errors], axis=1, ddof=1) / np.sqrt(samples)
    return {
        "varied": varied,
        "n": n,
        "epsilon": epsilon,
        "|S|": f"{np.mean(sizes):.1f} ({spread[0]:.1f})",
        "test error": f"{np.mean(errors):.1f} ({spread[1]:.1f})",
    }


def power(rows: list[dict[str, Any]], varied: str, of: str) -> float:
    """Slope of log |S| over the log of what is varied, where |S| is not zero."""
    points = [
        (r[of], float(r["|S|"].split()[0])) for r in rows if r["varied"] == varied
    ]
    x, y = np.log([p for p in points if p[1] > 0]).T
    return float(np.polyfit(x, y, 1)[0])


def claims(result: dict) -> dict[str, bool]:
    """What the paper says of the figure."""
    rows = result["rows"]
    return {
        "|S| grows sub-linearly with n": power(rows, "n", "n") < 1.0,
        "|S| grows less than 1 / epsilon": power(rows, "epsilon", "epsilon") > -1.0,
    }
