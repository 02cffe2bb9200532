"""Runs shared by the tables: one trainer on one problem, CPU seconds and accuracy."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.tasks import Task
from maxmargin.solvers.n_slack import SDM
from maxmargin.solvers.summed import SDCD, LSECuttingPlane


def trainer(name: str, epsilon: float = 0.1, k: int = 1):
    """SDCD, CP, SDM with the stopping rules of the paper."""
    if name == "SDCD":
        # The paper's rule, change <= 1e-4, in units of C (see `SDCD.change`).
        return SDCD(k=k, change=1e-4, tol=0.0)
    if name == "CP":
        return LSECuttingPlane(k=k, epsilon=epsilon, tol=0.0)
    return SDM(tol=1e-2)


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
    """For each method, CPU seconds to a dual that both reach, and to an accuracy.

    The dual: 90 % of the lower of the two last values (the methods may hold different
    sets V_i when time is up). The accuracy: one point below the lower of the two last.
    """
    methods = list(dict.fromkeys(r["method"] for r in rows))
    last = {m: [r for r in rows if r["method"] == m][-1] for m in methods}
    dual = 0.9 * min(r["dual"] for r in last.values())
    accuracy = min(r["accuracy"] for r in last.values()) - 1.0
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
