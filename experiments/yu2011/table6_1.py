"""Table 6.1 and Figures 6.2-6.4 of yu2011: sampled cuts on a checkerboard.

python -m experiments run yu2011.table6_1
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from experiments.parts import Parts
from maxmargin import KernelSVM

TITLE = "Table 6.1: sampled cuts on a noisy 4 x 4 checkerboard, 10^4 .. 10^6 points"
PUBLISHED = {  # 10^6 points: training error, test error, CPU seconds
    "Sampling (r = 400)": (2.90, 2.99, 60101),
    "Sampling (r = 1000)": (2.89, 2.95, 151759),
    "Cholesky (250)": (3.11, 3.32, 2447),
    "SVM light": (2.87, 2.94, 36533),
}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
METHODS = ("sampled 400", "sampled 1000", "cholesky 250", "cpsp 100", "SVC")
MOST = {"SVC": 100_000, "cholesky 250": 300_000, "cpsp 100": 300_000}
GAMMA, C, TEST = 20.0, 1.0, 50_000


def checkerboard(n: int, seed: int, noise: float = 0.01) -> tuple:
    """Points of the unit square, labelled by their field, then moved by noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.where(np.floor(4 * X).sum(axis=1) % 2 == 0, 1, -1)
    return X + noise * rng.normal(size=X.shape), y


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Seconds and errors by method and size; runs done before are read."""
    Xt, yt = checkerboard(TEST, 1000 + seed)
    KernelSVM(kernel_method="sampled").fit(*checkerboard(500, 1))
    done = Parts("yu2011.checkerboard", keep=not quick)
    for n in (3000, 10_000, 30_000) if quick else SIZES:
        for method in METHODS:
            key = f"{n} {method}"
            if n > MOST.get(method, np.inf) or key in done:
                continue
            done[key] = {"n": n, "method": method} | one(n, method, seed, Xt, yt)
            done.store()
    rows = sorted(done.values(), key=lambda r: (r["n"], METHODS.index(r["method"])))
    growth = {}
    for method in METHODS:
        own = [r for r in rows if r["method"] == method]
        if len(own) < 2:
            continue
        size, seconds = ([r[k] for r in own] for k in ("n", "CPU seconds"))
        power = np.polyfit(np.log(size), np.log(seconds), 1)[0]
        growth[method] = round(float(power), 2)
    return {
        "rows": rows,
        "part": quick,
        "seconds grow as n to the power": growth,
        "notes": [
            "Noise 0.01 of the side of the board; training error on at most 50000 "
            "points; CPU seconds, one thread. C = 1 per point, as in the paper.",
            "SVC is scikit-learn's. Tolerance of sampled planes 0.5 % of the objective.",
            "Not run: SVC beyond 10^5 points, Cholesky and CPSP beyond 3 10^5 (memory). "
            "Claims look at methods that have a row wherever SVC has one.",
            "Algorithm 6.2 as written (one sampled cut per turn in the quadratic program) "
            "needed 178 turns at 10^4 points and stopped 1.2 % above the optimum, 0.6 "
            "points of error above SVC, in 3.0 s: the optimum of a model of noisy cuts is "
            "not that of the risk. Sampled planes that only span a space, with exact "
            "planes in it, need 4 turns, 0.2 s, and stop 0.15 % above.",
        ],
    }


def one(n: int, method: str, seed: int, Xt: np.ndarray, yt: np.ndarray) -> dict:
    """One machine on n points."""
    X, y = checkerboard(n, seed)
    name, _, size = method.partition(" ")
    model: Any = SVC(C=C, gamma=GAMMA, cache_size=1000)
    if name != "SVC":
        model = KernelSVM(
            C, gamma=GAMMA, kernel_method=name, n_basis=int(size), random_state=seed,
            tol=5e-3 if name == "sampled" else 1e-2, memory=8e9,
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    return {
        "train error": round(100 - 100 * model.score(X[:TEST], y[:TEST]), 2),
        "test error": round(100 - 100 * model.score(Xt, yt), 2),
        "CPU seconds": round(seconds, 2),
        "functions": len(model.support_ if name == "SVC" else model.basis_),
    }


def claims(result: dict) -> dict[str, bool]:
    """Linear growth, and errors as of SVC."""
    growth = result["seconds grow as n to the power"]
    error = {(r["n"], r["method"]): r["test error"] for r in result["rows"]}
    exact = {n: e for (n, method), e in error.items() if method == "SVC"}
    excess = {
        method: max(error[n, method] - e for n, e in exact.items())
        for method in growth
        if all((n, method) in error for n in exact) and method != "SVC"
    }
    most = 1.5 if result["part"] else 1.15  # tenths of seconds are noisy
    return {
        f"sampled cuts grow about linearly (power at most {most})": growth[
            "sampled 400"
        ]
        <= most,
        "SVC grows faster": growth["SVC"] > growth["sampled 400"],
        **{
            f"{method}: test error within 0.3 points of SVC": worst <= 0.3
            for method, worst in excess.items()
        },
    }
