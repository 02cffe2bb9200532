"""KernelSVM against scikit-learn's SVC, in one run.

    python -m benchmarks.kernels [--data adult ijcnn w8a covtype usps ocr0 ocr*] [--sizes 50]
    python -m benchmarks.kernels --classes [usps covtype mnist letters] [--rows 10000]

First the dual values of both on 1000 rows, by one function; then 10000 rows: seconds of
training and prediction of the exact machine and of small bases as shares of SVC's, with
the points of accuracy lost. CPU seconds of one thread, JIT warmed outside the clock; the
cold start is measured in new processes. `--classes` compares
machines of several classes instead: SVC is one against one, ours that of Crammer and
Singer, so that accuracy and the certified gap stand beside the times (`--methods`:
which ones; "coarse" is "exact" to a gap of 1 %, "map" trains over a map of all rows);
kept in `benchmarks/results/kernel_classes.json`.
Growth with the number of rows (checkerboard,
10^4 .. 10^6) and accuracy by size of the basis are experiments:

    python -m experiments run yu2011.table6_1
    python -m experiments run yu2011.figure6_7
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from experiments.runner import data_folder
from experiments.yu2011 import kernels
from maxmargin import KernelSVM
from maxmargin.kernels import Rbf

SMALL = 1000
RESULTS = Path(__file__).parent / "results" / "kernel_classes.json"
COLD = """
import time, numpy as np
from maxmargin import KernelSVM
X = np.random.default_rng(0).normal(size=(300, 5))
y = np.sign(X[:, 0] * X[:, 1])
t = time.perf_counter(); KernelSVM().fit(X, y); first = time.perf_counter() - t
t = time.perf_counter(); KernelSVM().fit(X, y); second = time.perf_counter() - t
print(first - second)
"""


def dual(X: np.ndarray, support: np.ndarray, beta: np.ndarray, gamma: float) -> float:
    """The dual value of coefficients alpha_i y_i."""
    points = X[support]
    return float(np.abs(beta).sum() - 0.5 * beta @ Rbf(gamma)(points, points) @ beta)


def agreement(name: str) -> float:
    """Relative difference of the dual values."""
    X, y, _, _ = kernels.load(name, data_folder(), SMALL)
    y = np.where(y == y[0], 1, -1)
    C, gamma = kernels.SETS[name]
    svc = SVC(C=C, gamma=gamma, tol=1e-6).fit(X, y)
    own = KernelSVM(C, gamma=gamma, tol=1e-6).fit(X, y)
    theirs = dual(X, svc.support_, svc.dual_coef_.ravel(), gamma)
    ours = dual(X, own.support_, own.dual_coef_.ravel(), gamma)
    return abs(ours - theirs) / theirs


def cold_start() -> list[float]:
    """Seconds that the first fit takes longer, with a warm and an empty cache."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for _ in range(2):
            run = subprocess.run(
                [sys.executable, "-c", COLD], env=env, capture_output=True, text=True,
                check=True,
            )  # fmt: skip
            out.append(float(run.stdout))
    return out[::-1]


def compare(name: str, rows: int, sizes: list[int]) -> None:
    X, y, Xt, yt = kernels.load(name, data_folder(), rows)
    C, gamma = kernels.SETS[name]
    svc = kernels.timed(SVC(C=C, gamma=gamma, cache_size=1000), X, y, Xt, yt)
    print(f"{name}: n = {len(y)}, dual values differ by {agreement(name):.1e}")
    print(f"  SVC           {svc}")
    models = {"exact": KernelSVM(C, gamma=gamma, kernel_method="exact")}
    for k in sizes:
        models[f"cpsp {k}"] = KernelSVM(
            C, gamma=gamma, kernel_method="cpsp", n_basis=k, tol=5e-3
        )
    for label, model in models.items():
        own = kernels.timed(model, X, y, Xt, yt)
        train = own["train"] / svc["train"]
        predict = svc["predict"] / max(own["predict"], 1e-3)
        lost = svc["accuracy"] - own["accuracy"]
        print(
            f"  {label:12s}  {lost:+.2f} points lost, training {train:.2f} of SVC's time, "
            f"prediction {predict:.0f} times as fast, {own['size']} functions",
            flush=True,
        )


# C and gamma; usps and covtype were tuned on, the others were not
CLASSES = {
    "usps": (10.0, 0.02), "covtype": (10.0, 0.1), "mnist": (5.0, 0.02),
    "letters": (5.0, 0.02),
}  # fmt: skip
METHODS: dict[str, dict] = {
    "exact": {},
    "coarse": {"tol": 1e-2},
    "map": {"solver": "block-dual"},
    "cpsp": {"kernel_method": "cpsp", "n_basis": 500, "tol": 5e-3},
    "sampled": {"kernel_method": "sampled", "n_basis": 400},
}


def load_classes(name: str, rows: int) -> tuple:
    """Training and test rows with all classes of a set."""
    if name == "usps":
        return kernels.load("usps", data_folder(), rows)
    data, rng = data_folder(), np.random.default_rng(0)
    if name == "mnist":
        file = np.load(data / "mnist" / "mnist.npz")
        a = rng.permutation(len(file["y_train"]))[:rows]
        b = rng.permutation(len(file["y_test"]))[: kernels.TEST]
        X, Xt = file["X_train"][a] / 255.0, file["X_test"][b] / 255.0
        return X, file["y_train"][a].astype(int), Xt, file["y_test"][b].astype(int)
    if name == "letters":
        file = np.load(data / "ocr_letters" / "ocr_letters.npz")
        order = rng.permutation(len(file["y"]))
        X = np.unpackbits(file["X_bits"], axis=1).astype(float)
        y = file["y"].astype(int)
        a, b = order[:rows], order[rows : rows + kernels.TEST]
        return X[a], y[a], X[b], y[b]
    file = np.load(data / "covtype_15k" / "covtype_15k.npz")
    X, y = file["X"].astype(float), file["y"].astype(int)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    order = rng.permutation(len(y))
    a, b = order[:rows], order[rows : rows + kernels.TEST]
    return X[a], y[a], X[b], y[b]


def compare_classes(name: str, rows: int, methods: list[str]) -> list[dict]:
    """Machines of several classes beside SVC: times as shares, accuracy, gap."""
    X, y, Xt, yt = load_classes(name, rows)
    C, gamma = CLASSES[name]
    svc = kernels.timed(SVC(C=C, gamma=gamma, cache_size=1000), X, y, Xt, yt)
    print(f"{name}: n = {len(y)}, {len(np.unique(y))} classes\n  SVC       {svc}")
    figures = [{"set": name, "rows": len(y), "method": "SVC"} | svc]
    for method in methods:
        model = KernelSVM(C, gamma=gamma, **METHODS[method])
        own = kernels.timed(model, X, y, Xt, yt)
        result = model.result_
        figures.append({
            "set": name, "rows": len(y), "method": method, **own,
            "of SVC's time": round(own["train"] / svc["train"], 2), "gap": result.gap,
            "status": result.status.name,
        })  # fmt: skip
        print(
            f"  {method:9s} {own['accuracy']:.2f} %, training {own['train']:.2f} s, "
            f"{own['train'] / svc['train']:.2f} of SVC's time, {own['size']} functions; "
            f"gap {result.gap:.1e} ({result.certificate}), {result.status.name}",
            flush=True,
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 200])
    parser.add_argument("--classes", nargs="*", choices=list(CLASSES))
    parser.add_argument(
        "--methods", nargs="*", default=["exact", "coarse"], choices=METHODS
    )
    parser.add_argument("--data", nargs="*", default=list(kernels.SETS))
    parser.add_argument("--rows", type=int, default=kernels.TRAIN)
    args = parser.parse_args()
    kernels.warm_up()
    if args.classes is not None:
        X = np.random.default_rng(0).normal(size=(60, 3))
        for method in args.methods:
            KernelSVM(**METHODS[method] | {"n_basis": 9}).fit(X, np.arange(60) % 3)
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
        for name in args.classes or CLASSES:
            new = compare_classes(name, args.rows, args.methods)
            methods = {row["method"] for row in new}
            kept = [r for r in kept if r["set"] != name or r["method"] not in methods]
            kept += new
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        return
    for name in args.data:
        compare(name, args.rows, args.sizes)
    warm, empty = cold_start()
    print(f"cold start: {warm:.1f} s, with an empty cache {empty:.1f} s")


if __name__ == "__main__":
    main()
