"""Table 6.1 and Figures 6.2-6.4 of yu2011: sampled cuts on a checkerboard.

python -m experiments run yu2011.table6_1
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from maxmargin import KernelSVM

TITLE = "Table 6.1: sampled cuts on a noisy 4 x 4 checkerboard, 10^4 .. 10^6 points"
PUBLISHED = {  # 10^6 points: training error, test error, CPU seconds
    "Sampling (r = 400)": (2.90, 2.99, 60101),
    "Sampling (r = 1000)": (2.89, 2.95, 151759),
    "Cholesky (250)": (3.11, 3.32, 2447),
    "SVM light": (2.87, 2.94, 36533),
}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SVC_MOST = 100_000
GAMMA, C, TEST = 20.0, 1.0, 50_000


def checkerboard(n: int, seed: int, noise: float = 0.01) -> tuple:
    """Points of the unit square, labelled by their field, then moved by noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.where(np.floor(4 * X).sum(axis=1) % 2 == 0, 1, -1)
    return X + noise * rng.normal(size=X.shape), y


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Seconds and errors by method and size."""
    Xt, yt = checkerboard(TEST, 1000 + seed)
    KernelSVM(kernel_method="sampled").fit(*checkerboard(500, 1))
    rows, seconds = [], {}
    sizes = (3000, 10_000, 30_000) if quick else SIZES
    for n in sizes:
        X, y = checkerboard(n, seed)
        models = {
            "sampled r = 400": KernelSVM(
                C, gamma=GAMMA, kernel_method="sampled", n_basis=400, tol=5e-3,
                random_state=seed, memory=6e9,
            ),
            "cholesky 250": KernelSVM(
                C, gamma=GAMMA, kernel_method="cholesky", n_basis=250, tol=1e-2,
                memory=8e9,
            ),
            "cpsp 100": KernelSVM(
                C, gamma=GAMMA, kernel_method="cpsp", n_basis=100, tol=1e-2,
                random_state=seed,
            ),
        }  # fmt: skip
        if n <= SVC_MOST:
            models["SVC"] = SVC(C=C, gamma=GAMMA, cache_size=1000)
        for name, model in models.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                model.fit(X, y)
                seconds[name, n] = time.process_time() - start
            part = slice(0, TEST)
            rows.append({
                "n": n,
                "method": name,
                "train error": f"{100 - 100 * model.score(X[part], y[part]):.2f}",
                "test error": f"{100 - 100 * model.score(Xt, yt):.2f}",
                "CPU seconds": f"{seconds[name, n]:.1f}",
                "functions": len(model.support_ if name == "SVC" else model.basis_),
                "cuts": model.result_.planes if name.startswith("sampled") else "",
            })  # fmt: skip
            print(rows[-1], flush=True)
    growth = {}
    for name in ("sampled r = 400", "SVC"):
        at = [n for n in sizes if (name, n) in seconds]
        times = [seconds[name, n] for n in at]
        growth[name] = round(float(np.polyfit(np.log(at), np.log(times), 1)[0]), 2)
    return {
        "rows": rows,
        "seconds grow as n to the power": growth,
        "notes": [
            "Noise 0.01 of the side of the board; training error on at most 50000 "
            "points; CPU seconds, one thread. C = 1 per point, as in the paper.",
            "SVC (scikit-learn) is run up to 100000 points.",
        ],
    }


def claims(result: dict) -> dict[str, bool]:
    """Linear growth, and errors as of SVC."""
    growth = result["seconds grow as n to the power"]
    error = {(r["n"], r["method"]): float(r["test error"]) for r in result["rows"]}
    own = [error[n, "sampled r = 400"] - e for (n, m), e in error.items() if m == "SVC"]
    return {
        "sampled cuts grow about linearly (power at most 1.15)": growth[
            "sampled r = 400"
        ]
        <= 1.15,
        "SVC grows faster": growth["SVC"] > growth["sampled r = 400"],
        "test error within 0.3 points of SVC": max(own) <= 0.3,
    }
