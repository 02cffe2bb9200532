"""Algorithms as their papers print them, beside our variants, in one run.

    python -m benchmarks.as_written [--parts summed kernels samples bounds]
                                    [--rows 1000] [--words 200] [--only ALGORITHM ...]
                                    [--json FILE]

summed   Balamurugan et al. 2012 on OCR words: Algorithm 2 (SDCD, both readings of its
         rule), Algorithm 1 (with and without emptying S_i), OP2-n-slack
kernels  Yu 2011 on a checkerboard, adult and ijcnn1: Algorithms 6.2 and 6.3, CPSP(tr)
samples  Algorithm 6.2 by the number of rows drawn per cut, three seeds each: how far its
         objective ends above the exact one, beside the sampling term of Theorem 6.2
bounds   what the theorems allow, beside what happened

CPU seconds of one thread; loops are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tasks import data_folder, make, ocr_parts
from experiments.yu2011 import kernels
from maxmargin import KernelSVM, bounds
from maxmargin.solvers import SDCD, LSENSlack, OneSlack, SDCDAsWritten, Solver
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.summed import LSECuttingPlane, LSECuttingPlaneAsWritten
from maxmargin.structures.chain import Chain

C_SUMMED = 0.01  # of the paper's figures
MOST = 500  # iterations of cutting-plane methods
SUMMED: dict[str, Solver] = {
    "SDCD, ours": SDCD(change=1e-4, tol=0.0),
    "SDCD, ours, k=1, block=1": SDCD(change=1e-4, tol=0.0, k=1, block=1),
    "Algorithm 2, relative rule": SDCDAsWritten(rule="relative", tol=0.0),
    "Algorithm 2, absolute rule": SDCDAsWritten(tol=0.0),
    "CP, ours": LSECuttingPlane(epsilon=0.1, tol=0.0, max_iter=MOST),
    "Algorithm 1, S_i kept": LSECuttingPlaneAsWritten(
        tol=0.0, kappa1=10, max_iter=MOST
    ),
    "Algorithm 1, S_i emptied": LSECuttingPlaneAsWritten(
        tol=0.0, kappa1=10, reset=True, max_iter=MOST
    ),
    "OP2-n-slack": LSENSlack(tol=1e-2, max_iter=MOST),
}
KERNELS: dict[str, dict[str, Any]] = {
    "exact": {"kernel_method": "exact"},
    "sampled, ours": {"kernel_method": "sampled"},
    "Algorithm 6.2": {"kernel_method": "sampled-as-written"},
    "CPSP, ours": {"kernel_method": "cpsp"},
    "Algorithm 6.3": {"kernel_method": "cpsp-as-written"},
    "CPSP(tr), ours": {"kernel_method": "cpsp", "basis": "train"},
    "Algorithm 6.3, CPSP(tr)": {"kernel_method": "cpsp-as-written", "basis": "train"},
}
SAMPLES, POINTS = 200, 50  # rows drawn per cut, points of a basis
DRAWN = (100, 400, 1000, 4000)  # rows per cut, those of the thesis that fit
SEEDS = 3  # as in the thesis


def words_of_fold(words: int) -> tuple[tuple, tuple]:
    """The first words of fold 0, and 2000 of the others that have no other letters.

    0 words: the whole fold, tested on all words of the other nine.
    """
    train, test = ocr_parts(data_folder(), 0, large=False)
    if words == 0:
        return train, test
    letters = {letter for row in train[1][:words] for letter in row.tolist()}
    known = [i for i, row in enumerate(test[1]) if letters.issuperset(row.tolist())]
    chosen = known[:2000]
    tests = [test[0][i] for i in chosen], [test[1][i] for i in chosen]
    return (train[0][:words], train[1][:words]), tests


def summed_rows(words: int, only: Sequence[str]) -> list[dict[str, Any]]:
    """The summed error on the first words of fold 0, tested on as many of the others."""
    train, test = words_of_fold(words)
    chain = Chain(start_end=False, bias=False)
    task = make("ocr", chain, train, test, C_SUMMED, "summed")
    eight = train[0][:8], train[1][:8]
    tiny = make("ocr", chain, eight, eight, C_SUMMED, "summed")
    rows = []
    for name in only:
        solver = SUMMED[name]
        replace(solver, max_iter=3).solve(tiny.problem)  # compiles
        begin = time.process_time()
        result, _ = solver.solve(task.problem)
        rows.append({
            "set": f"ocr, {len(train[0])} words", "algorithm": name,
            "iterations": result.iterations, "seconds": time.process_time() - begin,
            "oracle calls": result.oracle_calls, "outputs": result.planes,
            "dual": result.dual, "primal": result.primal,
            "error %": 100.0 * task.error(result.w), "ended": result.status.name,
            **{k: v for k, v in result.notes.items() if k == "missed"},
        })  # fmt: skip
        show(rows[-1])
    return rows


def board(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes alternate on a board of 4 x 4 squares; points near edges are noisy."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 4.0, size=(n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)
    return X + 0.08 * rng.normal(size=X.shape), y


def kernel_sets(rows: int) -> dict[str, Callable[[], tuple]]:
    data = data_folder()
    return {
        "checkerboard": lambda: (*board(rows, 0), *board(4000, 1), 10.0, 3.0),
        "adult": lambda: (*kernels.load("adult", data, rows), *kernels.SETS["adult"]),
        "ijcnn": lambda: (*kernels.load("ijcnn", data, rows), *kernels.SETS["ijcnn"]),
    }


def kernel_rows(rows: int) -> list[dict[str, Any]]:
    """Each method with 200 rows per cut, or 50 points."""
    out = []
    for name, load in kernel_sets(rows).items():
        X, y, Xt, yt, C, gamma = load()
        for method, given in KERNELS.items():
            size = SAMPLES if "sampled" in given["kernel_method"] else POINTS
            model = KernelSVM(C, gamma=gamma, n_basis=size, **given)
            model.fit(X[:60], y[:60])  # compiles
            begin = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - begin
            result = model.result_
            out.append({
                "set": f"{name}, {rows} rows", "algorithm": method,
                "iterations": result.iterations, "seconds": seconds,
                "functions": len(model.expansion_.beta), "primal": result.primal,
                "error %": 100.0 * (1.0 - model.score(Xt, yt)),
                "ended": result.status.name,
                **{k: v for k, v in result.notes.items() if str(k).startswith("theorem")},
            })  # fmt: skip
            show(out[-1])
    return out


def sample_rows(rows: int) -> list[dict[str, Any]]:
    """Algorithm 6.2 with more and more rows per cut."""
    out = []
    for name, load in kernel_sets(rows).items():
        X, y, Xt, yt, C, gamma = load()
        exact = KernelSVM(C, gamma=gamma).fit(X, y)
        best, wrong = exact.result_.primal, 100.0 * (1.0 - exact.score(Xt, yt))
        for size in DRAWN:
            runs = [sampled_run(X, y, C, gamma, size, seed) for seed in range(SEEDS)]
            above = [100.0 * (m.result_.primal / best - 1.0) for m in runs]
            error = [100.0 * (1.0 - m.score(Xt, yt)) for m in runs]
            out.append({
                "set": f"{name}, {rows} rows", "rows per cut": size,
                "iterations": float(np.mean([m.result_.iterations for m in runs])),
                "above exact %": float(np.mean(above)), "spread": float(np.std(above)),
                "theorem 6.2 %": 100.0 * runs[0].result_.notes["theorem 6.2"] / best,
                "error %": float(np.mean(error)), "exact error %": wrong,
            })  # fmt: skip
            show(out[-1])
    return out


def sampled_run(X: Any, y: Any, C: float, gamma: float, size: int, seed: int) -> Any:
    model = KernelSVM(C, gamma=gamma, kernel_method="sampled-as-written", n_basis=size)
    return model.set_params(random_state=seed).fit(X, y)


def bound_rows(words: int) -> list[dict[str, Any]]:
    """Theorem 18, Theorem 3.1 and M3N's Theorem 6.1 on OCR words."""
    few, test = words_of_fold(words)
    task = make("ocr", Chain(start_end=False), few, test, 0.1)
    out = []
    for epsilon in (1.0, 0.5):
        for kind in (OneSlack, NSlack):
            run = kind(epsilon=epsilon, tol=0.0, max_iter=MOST)
            result, _ = run.solve(task.problem)
            pairs = bounds.training_bounds(task.problem, epsilon, result.notes)
            out += [
                _compared(f"{kind.__name__}, epsilon {epsilon}", row)
                for row in pairs
                if not np.isnan(row.happened)
            ]
    w = result.w
    out.append(
        _compared("OCR", bounds.generalisation_bound(task.problem, w, task.error(w)))
    )
    return out


def _compared(what: str, row: bounds.Comparison) -> dict[str, Any]:
    made = {
        "run": what, "quantity": row.name, "theorem": row.source, "bound": row.bound,
        "happened": row.happened, "holds": row.holds,
    }  # fmt: skip
    show(made)
    return made


def show(row: dict[str, Any]) -> None:
    """A row of a table."""
    cells = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ("summed", "kernels", "samples", "bounds")
    parser.add_argument("--parts", nargs="+", choices=names, default=names)
    parser.add_argument("--rows", type=int, default=1000, help="rows of kernel sets")
    parser.add_argument(
        "--words", type=int, default=200, help="words of OCR; 0: fold 0"
    )
    parser.add_argument(
        "--only", nargs="+", choices=tuple(SUMMED), default=tuple(SUMMED),
        metavar="ALGORITHM", help="of the part summed: some of its algorithms",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # runs that end by a limit say so in their row
    made: dict[str, Callable[[], list]] = {
        "summed": lambda: summed_rows(given.words, given.only),
        "kernels": lambda: kernel_rows(given.rows),
        "samples": lambda: sample_rows(given.rows),
        "bounds": lambda: bound_rows(min(given.words or 100, 100)),
    }
    out = {name: made[name]() for name in given.parts}
    if given.json is not None:
        given.json.write_text(json.dumps(out, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
