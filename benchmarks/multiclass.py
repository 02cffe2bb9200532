"""MulticlassSVM against LinearSVC(multi_class="crammer_singer"), in one run.

    python -m benchmarks.multiclass [--data covtype usps mnist news20] [--C 0.1 1]

Both minimise 1/2 ||W||^2 + C sum_i max_y [1 - delta(y_i, y) - (s(y_i) - s(y))], so C
needs no conversion; neither has an intercept here. Times are CPU seconds of `fit`,
JIT warmed outside the clock, to a primal value within 1e-3 of the best known; one
function evaluates both. LinearSVC gets the loosest tolerance of a grid that reaches it
(its best case: a user would have to know it), ours stops by its own certificate.
The slack and squared variants are timed against margin rescaling on the same data, and
the cold start is measured in new processes, with a warm and with an empty cache.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM

CLOSE = 1e-3
TOLERANCES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
COLD = """
import time, numpy as np
from sklearn.svm import LinearSVC
from maxmargin import MulticlassSVM
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 20)), rng.integers(4, size=300)
t = time.perf_counter(); MulticlassSVM().fit(X, y); first = time.perf_counter() - t
t = time.perf_counter(); MulticlassSVM().fit(X, y); second = time.perf_counter() - t
print(first - second)
"""


def data_folder() -> Path:
    return Path(os.environ.get("MAXMARGIN_DATA", "../shared/data"))


def tf_idf(folder: Path, split: str) -> tuple:
    """Rows of length one, (1 + log count) * idf."""
    file = np.load(folder / "news20_taxonomy" / "news20.npz")
    parts = (file[f"{name}_{split}"] for name in ("counts", "indices", "indptr"))
    counts, indices, indptr = parts
    seen = np.bincount(file["indices_train"], minlength=32443)
    idf = 1.0 + np.log((1 + len(file["y_train"])) / (1.0 + seen))
    values = (1.0 + np.log(counts)) * idf[indices]
    X = sp.csr_matrix(
        (values, indices.astype(np.int32), indptr), (len(indptr) - 1, 32443)
    )
    length = np.sqrt(X.multiply(X).sum(axis=1)).A1
    X.data /= np.repeat(np.maximum(length, 1e-12), np.diff(indptr))
    return X, file[f"y_{split}"].astype(np.int64)


def load(name: str) -> tuple:
    """Training inputs in standard scalings, and labels 0 .. k - 1."""
    folder = data_folder()
    if name == "news20":
        return tf_idf(folder, "train")
    if name == "covtype":
        file = np.load(folder / "covtype_15k" / "covtype_15k.npz")
        X = file["X"].astype(np.float64)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        return X, file["y"].astype(np.int64) - 1
    file = np.load(folder / name / f"{name}.npz")
    scale = {"usps": 2000.0, "mnist": 255.0}[name]
    return file["X_train"] / scale, file["y_train"].astype(np.int64)


def primal(W: np.ndarray, X, y: np.ndarray, C: float) -> float:
    """The objective that both minimise."""
    scores, rows = X @ W.T, np.arange(len(y))
    slack = scores + 1.0 - scores[rows, y][:, None]
    slack[rows, y] = 0.0
    return 0.5 * float((W**2).sum()) + C * float(slack.max(axis=1).sum())


def timed_fit(model, X, y) -> float:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(X, y)
    return time.process_time() - start


def ours(C: float, **settings) -> MulticlassSVM:
    return MulticlassSVM(C=C, fit_intercept=False, **settings)


def against_linear_svc(name: str, X, y, C: float) -> dict:
    """Times of both to within CLOSE of the best primal value known."""
    model = ours(C)
    seconds = timed_fit(model, X, y)
    finer = ours(C, tol=1e-4)
    timed_fit(finer, X, y)
    goal = (1.0 + CLOSE) * finer.result_.primal
    row = {
        "data": name,
        "C": C,
        "ours": seconds,
        "primal": primal(model.coef_, X, y, C),
    }
    assert row["primal"] <= goal, "the certificate promised less"
    for tol in TOLERANCES:
        other = LinearSVC(
            C=C, multi_class="crammer_singer", fit_intercept=False, tol=tol,
            max_iter=5000,
        )  # fmt: skip
        row["LinearSVC"] = timed_fit(other, X, y)
        row["its primal"], row["its tol"] = primal(other.coef_, X, y, C), tol
        if row["its primal"] <= goal:
            break
    row["ratio"] = row["ours"] / row["LinearSVC"]
    return row


def variants(name: str, X, y, C: float) -> list[dict]:
    """Other formulations, relative to margin rescaling with the linear penalty."""
    k = int(y.max()) + 1
    cost = np.where(np.arange(k)[:, None] % 2 == np.arange(k) % 2, 1.0, 2.0)
    np.fill_diagonal(cost, 0.0)
    rows, first = [], None
    for loss, label in (("zero-one", "0/1"), (cost, "1 or 2")):
        for rescaling, penalty in (
            ("margin", "linear"), ("slack", "linear"), ("margin", "squared"),
            ("slack", "squared"), ("margin", "summed"),
        ):  # fmt: skip
            model = ours(C, loss=loss, rescaling=rescaling, penalty=penalty)
            seconds = timed_fit(model, X, y)
            first = seconds if (rescaling, penalty) == ("margin", "linear") else first
            rows.append({
                "data": name, "C": C, "loss": label, "rescaling": rescaling,
                "penalty": penalty, "seconds": seconds, "ratio": seconds / first,
            })  # fmt: skip
    return rows


def warm_up() -> None:
    """Compile both representations and all formulations outside the clock."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    for X in (rng.normal(size=(30, 4)), sp.random(30, 9, 0.2, "csr", random_state=0)):
        for penalty in ("linear", "squared", "summed"):
            timed_fit(ours(0.1, penalty=penalty), X, y)


def cold_start() -> dict:
    """Seconds that the first fit of a process takes longer than the second."""
    out = {}
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for name in ("empty cache", "warm cache"):
            done = subprocess.run(
                [sys.executable, "-c", COLD], env=env, capture_output=True, text=True,
                check=True,
            )  # fmt: skip
            out[name] = float(done.stdout)
    return out


def show(rows: list[dict]) -> None:
    for row in rows:
        parts = [f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}"
                 for k, v in row.items()]  # fmt: skip
        print("  ".join(parts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ["covtype", "usps", "mnist", "news20"]
    parser.add_argument("--data", nargs="+", default=names, choices=names)
    parser.add_argument("--C", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--rows", type=int, help="use the first rows only")
    parser.add_argument("--no-variants", action="store_true")
    parser.add_argument("--no-cold", action="store_true")
    args = parser.parse_args()
    warm_up()
    for name in args.data:
        X, y = load(name)
        X, y = X[: args.rows], y[: args.rows]
        for C in args.C:
            show([against_linear_svc(name, X, y, C)])
        if not args.no_variants:
            show(variants(name, X, y, args.C[0]))
    if not args.no_cold:
        show([cold_start()])


if __name__ == "__main__":
    main()
