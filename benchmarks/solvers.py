"""Time to a gap and to the final accuracy, for every trainer, side by side.

    python -m benchmarks.solvers                          everything
    python -m benchmarks.solvers --tasks ocr-small --solvers auto,bcfw --seconds 10
    python -m benchmarks.solvers --prototype PATH/block_dual.py --tasks ocr-small
    python -m benchmarks.solvers --tasks ner --solvers block-dual@30,bcfw   30 MB for planes
    python -m benchmarks.solvers --show                 table and plot of what is stored

CPU seconds of the steps only; the true gap (primal by a full oracle pass at the best of
the last and the averaged weights) and the test error are measured off the clock after
each step. Loops are compiled before the clock starts. Results of parts that were run
separately are collected in benchmarks/results/solvers.json.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from benchmarks.tasks import TASKS, Task, data_folder
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.bcfw import BCFW
from maxmargin.solvers.block_dual import BlockDual
from maxmargin.solvers.choose import choose
from maxmargin.solvers.n_slack import NSlackBlock
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.sdm import SDM
from maxmargin.solvers.subgradient import Subgradient

SOLVERS = {
    "auto": Auto(),
    "block-dual": BlockDual(),
    "bcfw": BCFW(),
    "bcfw-gap": BCFW(sampling="gap"),
    "bcfw-pairwise": BCFW(steps="pairwise", cache=30, average=False),
    "sdm": SDM(),
    "one-slack": OneSlack(),
    "n-slack-block": NSlackBlock(),
    "subgradient": Subgradient(max_iter=10_000),
}
GAPS = (1e-1, 1e-2, 1e-3)
STORE = Path(__file__).parent / "results" / "solvers.json"


def averages(state):
    """Weights to judge: the last, and the average where the trainer keeps one."""
    out = [state.w]
    if getattr(state, "mean", None) is not None and getattr(state, "passes", 1):
        out.append(state.mean)
    if hasattr(getattr(state, "kept", None), "mean"):
        out.append(state.kept.mean(state.w)[0])
    return out


def named(name: str):
    """A trainer by name; `block-dual@30` may hold 30 MB of planes."""
    if "@" in name:
        return BlockDual(memory=1e6 * float(name.split("@")[1]))
    return SOLVERS[name]


def megabytes(state) -> float | None:
    """What the planes held take."""
    held = getattr(state, "blocks", None) or getattr(state, "kept", None)
    return held.nbytes / 1e6 if hasattr(held, "nbytes") else None


def curve(task: Task, solver, seconds: float, tol: float = 1e-3) -> list[dict]:
    """Steps of one run, with the true gap and the test error after each."""
    problem = task.problem
    solver = replace(solver, tol=tol)
    if isinstance(solver, BlockDual) and problem.outputs() is not None:
        solver = choose("block-dual", problem, tol=tol)  # all outputs are held at once
    warm = solver.start(problem)
    for _ in range(2):
        solver.step(problem, warm)
    state, spent, rows, dual = solver.start(problem), 0.0, [], 0.0
    best = np.inf
    next_look = 0.0
    while spent < seconds:
        begin = time.process_time()
        solver.step(problem, state)
        spent += time.process_time() - begin
        dual = max(dual, state.dual)
        if spent < next_look and state.gap() > tol:
            continue
        next_look = 1.15 * spent
        for w in averages(state):
            primal = problem.primal(w, problem.cuts(w).slack)
            if primal < best:
                best, at = primal, w.copy()
        best = min(best, state.primal)
        gap = (best - dual) / best
        rows.append({
            "seconds": spent, "gap": gap, "primal": best, "dual": dual,
            "error": task.error(at), "calls": state.oracle_calls / problem.n,
            "planes": state.planes, "MB": megabytes(state),
        })  # fmt: skip
        if gap <= tol or state.status is not None:
            break
    return rows


def prototype(path: Path, data: Path, large: bool) -> list[dict]:
    """The prototype on the same task, its clock set to CPU seconds."""
    spec = importlib.util.spec_from_file_location("prototype", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["prototype"] = module  # Numba's cache looks it up by name
    spec.loader.exec_module(module)
    module.time = SimpleNamespace(perf_counter=time.process_time)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        module.main(str(data / "ocr_letters"), "large" if large else "small", 100.0)
    pattern = r"pass\s+(\d+)\s+([\d.]+) s.*gap ([\d.]+)\s+test error ([\d.]+)"
    return [
        {"seconds": float(s), "gap": float(g), "error": float(e), "calls": int(p)}
        for p, s, g, e in re.findall(pattern, text.getvalue())
    ]


def summary(rows: list[dict], final: float) -> dict:
    """Seconds to each gap, and to within 0.1 % of the final accuracy for good."""
    out = {}
    for gap in GAPS:
        times = [r["seconds"] for r in rows if r["gap"] <= gap]
        out[f"{gap:g}"] = times[0] if times else None
    late = [r["seconds"] for r in rows if r["error"] > final + 1e-3]
    settled = [r["seconds"] for r in rows if r["seconds"] > max(late, default=-1.0)]
    out["accuracy"] = settled[0] if settled else None
    return out


def save(store: dict) -> None:
    STORE.parent.mkdir(exist_ok=True)
    STORE.write_text(json.dumps(store))


def show(store: dict) -> None:
    for task, runs in store.items():
        reference = min(runs.values(), key=lambda rows: rows[-1]["gap"])
        final = reference[-1]["error"]
        print(f"\n{task}: CPU seconds to a relative gap, and to within 0.1 % of the")
        print(f"final test error {100 * final:.2f} %; passes of the oracle at the end")
        print(
            f"{'trainer':16s}{'1e-1':>9s}{'1e-2':>9s}{'1e-3':>9s}{'error':>9s}", end=""
        )
        print(f"{'last gap':>11s}{'passes':>8s}{'MB':>7s}")
        for name, rows in runs.items():
            cells = summary(rows, final).values()
            line = "".join(
                f"{c:9.2f}" if c is not None else f"{'-':>9s}" for c in cells
            )
            last = rows[-1]
            held = f"{last['MB']:7.0f}" if last.get("MB") else ""
            print(f"{name:16s}{line}{last['gap']:11.1e}{last['calls']:8.1f}{held}")


def plot(store: dict, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, len(store), figsize=(4 * len(store), 6), squeeze=False)
    for column, (task, runs) in enumerate(store.items()):
        for name, rows in runs.items():
            seconds = [r["seconds"] for r in rows]
            axes[0, column].loglog(seconds, [r["gap"] for r in rows], label=name)
            axes[1, column].semilogx(seconds, [100 * r["error"] for r in rows])
        axes[0, column].set(title=task, ylabel="relative gap")
        axes[1, column].set(xlabel="CPU seconds", ylabel="test error, %")
    axes[0, 0].legend(fontsize=7)
    fig.tight_layout()
    fig.savefig(path, dpi=90)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--seconds", type=float, default=30.0, help="CPU, per run")
    parser.add_argument("--prototype", type=Path, help="script to run beside (OCR)")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in [] if options.show else options.tasks.split(","):
        task = TASKS[name](data_folder())
        runs = store.setdefault(name, {})
        for solver in options.solvers.split(",") if options.solvers else []:
            runs[solver] = curve(task, named(solver), options.seconds)
            print(f"{name} {solver}: {runs[solver][-1]}", flush=True)
            save(store)
        if options.prototype and name.startswith("ocr"):
            large = name == "ocr-large"
            runs["prototype"] = prototype(options.prototype, data_folder(), large)
            save(store)
    show(store)
    plot(store, STORE.with_name("solvers.png"))


if __name__ == "__main__":
    main()
