"""Runs shared by the tables: one trainer on one problem, CPU seconds and accuracy."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.tasks import Task
from maxmargin.solvers import (
    SDCD,
    LSECuttingPlane,
    LSECuttingPlaneAsWritten,
    SDCDAsWritten,
    Solver,
)
from maxmargin.solvers.n_slack import SDM

PRINTED, PRINTED_CP = "SDCD as printed", "CP as printed"
METHODS = ("SDCD", PRINTED, "CP", PRINTED_CP)  # ours and the algorithms as printed
CHANGE = 1e-4  # deltathresh of the paper, in units of C^2
MEANING = {
    "SDCD": "ours: exact solution of the block of an example",
    PRINTED: "Algorithm 2: one step for each y, in order",
    "CP": "ours: S_i emptied in each iteration",
    PRINTED_CP: "Algorithm 1: S_i never emptied",
}


def trainer(name: str, epsilon: float = 0.1, k: int = 1) -> Solver:
    """SDCD, CP, SDM with the stopping rules of the paper."""
    makes: dict[str, Solver] = {
        "SDCD": SDCD(k=k, change=CHANGE, tol=0.0),
        PRINTED: SDCDAsWritten(k=k, threshold=CHANGE, rule="relative", tol=0.0),
        "CP": LSECuttingPlane(k=k, epsilon=epsilon, tol=0.0),
        PRINTED_CP: LSECuttingPlaneAsWritten(k=k, epsilon=epsilon, tol=0.0),
        "SDM": SDM(tol=1e-2),
    }
    return makes[name]


def run_one(task: Task, name: str, seconds: float, epsilon: float = 0.1) -> dict:
    """Train, and what there is to say about it."""
    problem = task.problem
    solver = trainer(name, epsilon)
    state = solver.start(problem)
    solver.step(problem, state)  # compiles; the run proper begins anew
    begin = time.process_time()

    def late(row, ended):  # in CPU seconds, so that a busy machine does not matter
        return time.process_time() - begin > seconds

    result, _ = solver.solve(problem, watch=late)
    row = {
        "method": name,
        "seconds": time.process_time() - begin,
        "accuracy": 100.0 * (1.0 - task.error(result.w)),
        "planes": result.planes,
        "passes": result.oracle_calls / problem.n,
        "status": result.status.name,
        "gap": result.gap,
        "dual": result.dual,
    }
    print(f"{task.name} C={problem.C[0]:g}: {row}", flush=True)
    return row


def history(
    task: Task, name: str, seconds: float, epsilon: float = 0.1, k: int = 1
) -> list[dict]:
    """Dual value and test accuracy after each step, on the CPU clock of the steps."""
    problem = task.problem
    solver = trainer(name, epsilon, k)
    warm = solver.start(problem)
    solver.step(problem, warm)
    state, spent, rows, look = solver.start(problem), 0.0, [], 0.0
    while spent < seconds and state.status is None:
        begin = time.process_time()
        solver.step(problem, state)
        spent += time.process_time() - begin
        if spent >= look:
            look = 1.2 * spent
            rows.append({
                "method": name, "seconds": spent, "dual": state.dual,
                "accuracy": 100.0 * (1.0 - task.error(state.w)),
            })  # fmt: skip
    return rows


def relative(rows: list[dict]) -> list[dict]:
    """Add |f* - f| / |f*|, f* the last dual value of the same method."""
    best: dict[str, float] = {}
    for row in rows:
        best[row["method"]] = row["dual"]
    for row in rows:
        last = best[row["method"]]
        row["difference"] = abs(last - row["dual"]) / abs(last)
    return rows


def plot(panels: dict[str, list[dict]], path: Path) -> None:
    """Relative dual difference and accuracy against time, one column per data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(
        2, len(panels), figsize=(4 * len(panels), 6), squeeze=False
    )
    for column, (name, rows) in enumerate(panels.items()):
        for method in dict.fromkeys(r["method"] for r in rows):
            mine = [r for r in rows if r["method"] == method]
            t = [r["seconds"] for r in mine]
            axes[0, column].loglog(t, np.maximum([r["difference"] for r in mine], 1e-6))
            axes[1, column].semilogx(t, [r["accuracy"] for r in mine], label=method)
        axes[0, column].set(title=name, ylabel="relative dual difference")
        axes[1, column].set(xlabel="CPU seconds", ylabel="test accuracy, %")
    axes[1, 0].legend()
    fig.tight_layout()
    fig.savefig(path, dpi=90)


def crossings(name: str, rows: list[dict]) -> list[dict]:
    """For each method, CPU seconds to a dual that both of ours reach, and to an accuracy.

    The dual: 90 % of the lower of the last values of our SDCD and CP (methods may hold
    different sets V_i when time is up). The accuracy: one point below the lower of the
    two last. None: the algorithm as printed ended before.
    """
    methods = list(dict.fromkeys(r["method"] for r in rows))
    last = {m: [r for r in rows if r["method"] == m][-1] for m in methods}
    both = [last["SDCD"], last["CP"]]
    dual = 0.9 * min(r["dual"] for r in both)
    accuracy = min(r["accuracy"] for r in both) - 1.0
    out = []
    for method in methods:
        mine = [r for r in rows if r["method"] == method]
        out.append({
            "data": name, "method": method,
            "dual level": dual, "s to dual": _first(mine, "dual", dual),
            "accuracy level": accuracy,
            "s to accuracy": _first(mine, "accuracy", accuracy),
            "last dual": last[method]["dual"],
            "last accuracy": last[method]["accuracy"],
            "best accuracy": max(r["accuracy"] for r in mine),
            "seconds": mine[-1]["seconds"],
        })  # fmt: skip
    return out


def _first(rows: list[dict], key: str, level: float) -> float | None:
    return min((r["seconds"] for r in rows if r[key] >= level), default=None)
