"""What Tables 6.1-6.4 and Figure 6.7 share: data sets, methods, and one sweep.

A sweep trains every method with 10 .. 1000 basis functions on one set and keeps what
came out in `results/parts`, so that sets can be run one at a time and the tables read
from the same runs:

    python -m experiments.yu2011.kernels adult ijcnn w8a covtype usps ocr0 ocr*
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from experiments import choices
from experiments.parts import Parts
from experiments.protocol import Setting
from experiments.runner import data_folder
from maxmargin import KernelSVM

SIZES = (10, 20, 50, 100, 200, 500, 1000)
# C and gamma are usual ones for the set.
SETS: dict[str, tuple[float, float]] = {
    "adult": (1.0, 0.05),
    "ijcnn": (16.0, 2.0),
    "w8a": (8.0, 0.05),
    "covtype": (10.0, 0.1),
    "usps": (10.0, 1 / 64),
    "ocr0": (5.0, 0.02),
    "ocr*": (5.0, 0.02),
}
PRINTED, PRINTED_TR = "CPSP, as printed", "CPSP(tr), as printed"
METHODS: dict[str, dict[str, str]] = {
    "CPSP": {"kernel_method": "cpsp"},
    "CPSP(tr)": {"kernel_method": "cpsp", "basis": "train"},
    PRINTED: {"kernel_method": "cpsp-as-written"},
    PRINTED_TR: {"kernel_method": "cpsp-as-written", "basis": "train"},
    "Nystrom": {"kernel_method": "nystroem"},
    "IncChol": {"kernel_method": "cholesky"},
    "Nystroem + LinearSVC": {},
}
TRAIN, TEST, PART, TOL = 5_000, 5_000, 1_500, 5e-3
WITHIN = 0.5
AGAIN = 0.05  # seconds for which predictions are repeated
TUNED, KEPT = 100, 200  # functions up to which C and gamma are searched, or compared
FACTORS = {"gamma": (1 / 16, 1 / 4, 1.0), "C": (0.1, 1.0, 10.0)}  # of those of a set
WIDER = 2
PROTOCOL = [
    Setting("data", "Adult, CCAT, OCR0, OCR* (MNIST), IJCNN; 20000 to 113533 rows",
            f"Adult, OCR0, OCR*, IJCNN; added: w8a, Covertype, USPS. {TRAIN} rows to train"),
    Setting("split", "training, validation and test part",
            f"{PART} rows to choose by, learned from {PART}; at most {TEST} to test"),
    Setting("choice", "C and gamma for each method and size on a log scale", {
        "times the usual ones of the set": FACTORS,
        "rule": f"gamma, then C, by the validation rows; grids grow up to {WIDER} times; "
        f"from {KEPT} functions on the choice of smaller ones",
    }),
    Setting("rivals", "Nystrom, IncChol, CVM, BVM, LASVM",
            "Nystrom, IncChol; the programs of the others are not packaged"),
    Setting("method", "Algorithm 6.3, epsilon = 0.001", f"`{PRINTED}`: Algorithm 6.3; "
            "`CPSP`: ours, whose points follow the dual's mixture of cuts and move on"),
]  # fmt: skip


def load(name: str, data: Path, train: int = TRAIN) -> tuple:
    """Training and test inputs and labels (-1, 1), or ten classes for usps."""
    if name in ("ocr0", "ocr*"):
        file = np.load(data / "mnist" / "mnist.npz")
        X, Xt = (file[f"X_{s}"] / 255.0 for s in ("train", "test"))
        y, yt = (_digits(name, file[f"y_{s}"]) for s in ("train", "test"))
    elif name == "usps":
        file = np.load(data / "usps" / "usps.npz")
        X, Xt = (file[f"X_{s}"] / 2000.0 for s in ("train", "test"))
        y, yt = file["y_train"].astype(int), file["y_test"].astype(int)
    elif name == "covtype":
        file = np.load(data / "covtype_15k" / "covtype_15k.npz")
        X = file["X"].astype(float)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        return _split(X, np.where(file["y"] == 2, 1, -1), train)
    elif name == "w8a":
        return _split(*_svmlight(data / "w8a" / "w8a.gz", 300), train)
    elif name == "adult":
        X, y = _svmlight(data / "a9a" / "a9a.gz", 123)
        Xt, yt = _svmlight(data / "a9a" / "a9a.t.gz", 123)
    else:
        X, y = _svmlight(data / "ijcnn1" / "ijcnn1.train.libsvm.gz", 22)
        Xt, yt = _svmlight(data / "ijcnn1" / "ijcnn1.test.libsvm.gz", 22)
    rng = np.random.default_rng(0)
    a, b = rng.permutation(len(y))[:train], rng.permutation(len(yt))[:TEST]
    return X[a], y[a], Xt[b], yt[b]


def _digits(name: str, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0 if name == "ocr0" else y < 5, 1, -1)


def _svmlight(path: Path, width: int) -> tuple:
    with gzip.open(path) as file:
        X, y = load_svmlight_file(file, n_features=width)
    return X.toarray(), y.astype(int)


def _split(X: np.ndarray, y: np.ndarray, train: int) -> tuple:
    order = np.random.default_rng(0).permutation(len(y))
    a, b = order[:train], order[train : train + TEST]
    return X[a], y[a], X[b], y[b]


def sweep(name: str, data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Accuracy, seconds of training and of prediction by method and size."""
    known = Parts(f"yu2011.kernels.{name}", keep=not quick)
    X, y, Xt, yt = load(name, data, 2000 if quick else TRAIN)

    def note(
        key: str, make: Any, some: list[tuple[float, float]] | None = None
    ) -> None:
        if key not in known:
            start = time.process_time()
            with choices.watched() as made:  # noted below, also for what was kept
                chosen = SETS[name] if quick else best(X, y, make, SETS[name], some)
            spent = round(time.process_time() - start, 2)
            known[key] = timed(make(*chosen), X, y, Xt, yt)
            known[key] |= {"C": chosen[0], "gamma": chosen[1], "choice": spent}
            known[key]["grids"] = {c.name: (c.value, c.grid) for c in made}
            known.store()
        for parameter, (value, grid) in known[key].get("grids", {}).items():
            choices.note(f"{parameter} on {name}", value, grid)

    known["n"], known["test"] = len(y), len(yt)
    note("linear", lambda c, g: LinearSVC(C=c, dual=True), [(0.1, 0.0)])
    note("SVC", lambda c, g: SVC(C=c, gamma=g, cache_size=1000))
    exact = (known["SVC"]["C"], known["SVC"]["gamma"])
    for k in SIZES[:4] if quick else SIZES:
        for method, options in METHODS.items():
            if quick and "printed" in method and k > SIZES[1]:
                continue
            some = None
            if k > TUNED and not quick:
                few = known[f"{method} {TUNED if k <= KEPT else KEPT}"]
                some = [(few["C"], few["gamma"])]
                some += [exact] if k <= KEPT and exact != some[0] else []

            def make(c: float, g: float, k: int = k, options: dict = options) -> Any:
                return machine(c, g, k, options, seed)

            note(f"{method} {k}", make, some)
    return known


def best(
    X: Any, y: Any, make: Any, usual: tuple[float, float],
    some: list[tuple[float, float]] | None = None,
) -> tuple[float, float]:  # fmt: skip
    """C and gamma of the best machine on `PART` rows, trained on `PART` others.

    Of some pairs if they are given, else gamma at the usual C, then C at that gamma.
    """
    a, b = slice(0, PART), slice(PART, 2 * PART)

    def wrong(C: float, gamma: float) -> float:
        return 100.0 - timed(make(C, gamma), X[a], y[a], X[b], y[b])["accuracy"]

    if some is not None:
        return min(some, key=lambda pair: wrong(*pair)) if len(some) > 1 else some[0]
    C, gamma = usual
    widths = [factor * gamma for factor in FACTORS["gamma"]]
    gamma = choices.search("gamma", widths, lambda g: wrong(C, g), WIDER).value
    costs = [factor * C for factor in FACTORS["C"]]
    C = choices.search("C", costs, lambda c: wrong(c, gamma), WIDER).value
    return C, gamma


def machine(C: float, gamma: float, k: int, options: dict, seed: int) -> Any:
    """One of the methods with k basis functions."""
    if options:
        return KernelSVM(
            C, gamma=gamma, n_basis=k, tol=TOL, random_state=seed, **options
        )
    features = Nystroem(gamma=gamma, n_components=k, random_state=seed)
    return make_pipeline(features, LinearSVC(C=C, loss="hinge", tol=1e-2, dual=True))


def timed(model: Any, X: Any, y: Any, Xt: Any, yt: Any) -> dict:
    """CPU seconds of one thread (prediction: mean of calls), accuracy in percent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(X, y)
        trained = time.process_time()
        score = 100.0 * model.score(Xt, yt)
        calls, begin = 0, time.process_time()
        while calls == 0 or time.process_time() - begin < AGAIN:
            model.predict(Xt)
            calls += 1
    out = {
        "accuracy": round(score, 3),
        "train": round(trained - start, 3),
        "predict": round((time.process_time() - begin) / calls, 5),
        "size": len(getattr(model, "basis_", getattr(model, "support_", ()))),
    }
    for row in getattr(model, "basis_trace_", [])[-1:]:
        told = [k for k in ("delta", "norm", "bound", "primal") if k in row]
        out |= {k: float(f"{row[k]:.4g}") for k in told}
    return out


def warm_up() -> None:
    """Compile outside the clock."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for labels in (np.sign(X[:, 0]), np.arange(60) % 3):
        for options in list(METHODS.values())[:6]:
            KernelSVM(n_basis=9, **options).fit(X, labels)


def needed(found: dict, method: str, sizes: tuple = SIZES) -> int | None:
    """Fewest basis functions that come within half a point of the exact machine."""
    goal = found["SVC"]["accuracy"] - WITHIN
    for k in sizes:
        row = found.get(f"{method} {k}")
        if row is not None and row["accuracy"] >= goal:
            return k
    return None


def sweeps(data: Path, quick: bool, seed: int) -> dict[str, dict]:
    """All sets; those that were run before are read."""
    warm_up()
    names = ("adult", "w8a") if quick else tuple(SETS)
    return {name: sweep(name, data, quick, seed) for name in names}


NOTES = [
    "SVC and 'Nystroem + LinearSVC' are scikit-learn's. usps is a problem of ten classes "
    "(SVC: one against one; ours: Crammer and Singer). CPU seconds of one thread, without "
    "the choice of C and gamma.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    warm_up()
    for name in args.sets:
        found = sweep(name, data_folder(), args.quick)
        print(name, found["SVC"], found["linear"])
        for k in SIZES:
            rows = {m: found.get(f"{m} {k}") for m in METHODS}
            line = {m: (r["accuracy"], r["train"]) for m, r in rows.items() if r}
            print(f"{k:5d}", line, flush=True)


if __name__ == "__main__":
    main()
