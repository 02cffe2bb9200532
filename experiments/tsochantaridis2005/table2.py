"""Table 2 of Tsochantaridis et al. 2005: named entities, four methods.

python -m experiments run tsochantaridis2005.table2
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.protocol import UNKNOWN, Setting
from experiments.tsochantaridis2005 import spanish

TITLE = "Table 2: test error (% of tokens), named entities in 300 Spanish sentences"
PUBLISHED = {"HMM": 9.36, "CRF": 5.17, "Perceptron": 5.94, "SVM": 5.08}
PROTOCOL = [
    *spanish.DATA,
    Setting("choice", UNKNOWN, {
        f"{name} of {method}": grid for method, (name, grid) in spanish.TUNED.items()
    } | {"rule": f"fewest wrong tokens in {spanish.INNER} inner folds; a grid grows "
         "while its best value lies at an end"}),
    Setting("method", "SVM with the zero-one loss, quadratic kernel; Collins' perceptron "
            "with that kernel; HMM; CRF",
            "SVM2 with the zero-one loss and the perceptron, last weights and averaged, "
            f"on the features of the kernel, {spanish.EPOCHS} epochs; CRF on the plain "
            "features; HMM on words"),
]  # fmt: skip
NOTES = [
    "`against SVM`: difference of the errors in points with its standard error, sentence "
    "by sentence over all folds.",
    "SVM linear, beside the paper: plain features, for comparison with the CRF.",
]


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Error over all folds, standard deviation between folds, and against the SVM."""
    done = spanish.compared(data, quick, seed)
    rows = []
    base = np.concatenate([fold["SVM"]["wrong"] for fold in done])
    for name in spanish.METHODS:
        folds = [100.0 * sum(f[name]["wrong"]) / sum(f[name]["tokens"]) for f in done]
        wrong = np.concatenate([fold[name]["wrong"] for fold in done])
        tokens = np.concatenate([fold[name]["tokens"] for fold in done])
        gain, error = paired(wrong, base, tokens)
        rows.append({
            "method": name,
            "test error": round(100.0 * float(wrong.sum() / tokens.sum()), 2),
            "sd": round(float(np.std(folds, ddof=1)), 2),
            "against SVM": "" if name == "SVM" else f"{gain:+.2f} ({error:.2f})",
            "published": PUBLISHED.get(name.split(",")[0], ""),
            "seconds per fold": round(np.mean([f[name]["seconds"] for f in done]), 1),
        })  # fmt: skip
    return {"rows": rows, "notes": NOTES}


def paired(wrong: np.ndarray, base: np.ndarray, tokens: np.ndarray) -> tuple:
    """Difference of two error rates in points, and its standard error by sentences."""
    rate = (wrong - base).sum() / tokens.sum()
    rest = wrong - base - rate * tokens
    n = len(tokens)
    error = np.sqrt(n / (n - 1) * (rest**2).sum()) / tokens.sum()
    return 100.0 * float(rate), 100.0 * float(error)


def claims(result: dict) -> dict[str, bool]:
    """A check of the run; what the paper says is in `statements`."""
    error = {row["method"]: row["test error"] for row in result["rows"]}
    return {
        "discriminative methods are far better than the HMM": max(
            error[m] for m in ("CRF", "Perceptron", "SVM")
        )
        < 0.8 * error["HMM"]
    }
