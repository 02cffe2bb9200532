"""Time to a gap and to the final accuracy, for every trainer, side by side.

    python -m benchmarks.solvers                          everything, under 12 minutes
    python -m benchmarks.solvers --tasks wsj              one part; the others stay
    python -m benchmarks.solvers --missing                only rows that are not stored
    python -m benchmarks.solvers --prototype PATH/block_dual.py --tasks ocr-small
    python -m benchmarks.solvers --tasks ner --solvers block-dual@30   30 MB for planes
    python -m benchmarks.solvers --show                   table and plot of what is stored

CPU seconds of the steps only; the true gap (primal by a full oracle pass at the best of
the last and the averaged weights) and the test error are measured off the clock after
each step. Loops are compiled before the clock starts. Rows are stored one by one in
benchmarks/results/solvers.json, the plot is docs/pictures/solvers.png.
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
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from benchmarks.tasks import TASKS, Task, data_folder
from maxmargin.core import Problem
from maxmargin.solvers import Auto, OneSlack, Subgradient
from maxmargin.solvers.choose import choose
from maxmargin.solvers.frank_wolfe import BCFW
from maxmargin.solvers.n_slack import SDM, BlockDual, NSlack, NSlackBlock

SOLVERS = {
    "auto": Auto(),
    "block-dual": BlockDual(),
    "bcfw": BCFW(),
    "bcfw-gap": BCFW(sampling="gap"),
    "bcfw-pairwise": BCFW(steps="pairwise", cache=30, average=False),
    "sdm": SDM(),
    "one-slack": OneSlack(),
    "n-slack": NSlack(),
    "n-slack-block": NSlackBlock(),
    "subgradient": Subgradient(max_iter=10_000),
}
SECONDS = {"ocr-small": 6.0, "ocr-large": 8.0, "ner": 16.0, "wsj": 14.0, "mnist": 6.0}
SLOW = ("one-slack", "n-slack", "n-slack-block", "subgradient")  # get half of it
GAPS = (1e-1, 1e-2, 1e-3)
STORE = Path(__file__).parent / "results" / "solvers.json"
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "solvers.png"


def averages(state):
    """Weights to judge: the last, and the average where the trainer keeps one."""
    out = [state.w]
    if len(getattr(state, "mean", ())) and getattr(state, "passes", 1):
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
    warm_up(problem, solver)
    state, spent, rows, dual = solver.start(problem), 0.0, [], 0.0
    best, at = np.inf, state.w
    next_look = 0.0
    state.deadline = latest(solver, 1.5 * seconds)
    while spent < seconds:
        begin = time.process_time()
        solver.step(problem, state)
        spent += time.process_time() - begin
        dual = max(dual, state.dual)
        if spent < next_look and state.gap() > tol:
            continue
        next_look = 1.12 * spent
        for w in averages(state):
            primal = problem.primal(w, problem.cuts(w).slack)
            if primal < best:
                best, at = primal, w.copy()
        if state.primal < best:
            best, at = state.primal, state.best_w.copy()
        gap = (best - dual) / best
        rows.append({
            "seconds": spent, "gap": gap, "primal": best, "dual": dual,
            "error": task.error(at), "calls": state.oracle_calls / problem.n,
            "planes": state.planes, "MB": megabytes(state),
        })  # fmt: skip
        if gap <= tol or state.status is not None:
            break
    return rows


def warm_up(problem: Problem, solver) -> None:
    """Compile what a run needs: a step or two, cut short if they are long ones."""
    state = solver.start(problem)
    state.deadline = latest(solver, 5.0)
    for _ in range(2):
        if not state.late():
            solver.step(problem, state)
    solver.certify(problem, state)


def latest(solver, seconds: float) -> float:
    """When to break off within a step, by the wall's clock: n-slack has long ones."""
    return time.perf_counter() + seconds if isinstance(solver, NSlack) else np.inf


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
    """Seconds to each gap and to within 0.1 % of the final accuracy; and there for good.

    The last is a matter of chance where 0.1 % is a handful of test outputs.
    """
    good = [r["error"] <= final + 1e-3 for r in rows]
    stays = [all(good[k:]) for k in range(len(good))]
    out = {f"{g:g}": _first(rows, [r["gap"] <= g for r in rows]) for g in GAPS}
    return out | {"accuracy": _first(rows, good), "for good": _first(rows, stays)}


def _first(rows: list[dict], met: list[bool]) -> float | None:
    return next((r["seconds"] for r, yes in zip(rows, met, strict=True) if yes), None)


def measure(
    tasks: list[str], solvers: list[str], data: Path, seconds: float | None = None
) -> Iterator[tuple[str, str, list[dict]]]:
    """Curves (task, trainer, rows), one after the other."""
    for name in tasks:
        task = TASKS[name](data) if solvers else None
        if solvers:  # the first run of a process pays for the memory of all
            curve(task, SOLVERS["auto"], 0.5 * SECONDS[name])
        for solver in solvers:
            limit = seconds or SECONDS[name] * (0.5 if solver in SLOW else 1.0)
            rows = curve(task, named(solver), limit)
            yield name, solver, rows


def stored() -> dict[str, dict[str, list[dict]]]:
    """Curves by task and trainer."""
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def save(store: dict) -> None:
    """Tasks and trainers in the order of this file, then others."""
    STORE.parent.mkdir(exist_ok=True)

    def ordered(rows: dict, names) -> dict:
        first = [k for k in names if k in rows]
        return {k: rows[k] for k in dict.fromkeys([*first, *rows])}

    store = {k: ordered(v, SOLVERS) for k, v in ordered(store, TASKS).items()}
    STORE.write_text(json.dumps(store))


def table(runs: dict[str, list[dict]]) -> tuple[float, list[dict]]:
    """Final test error of a task, and a row for each trainer.

    Runs that end at the smallest of `GAPS` differ in their errors by chance: the
    largest of these counts.
    """
    least = min(rows[-1]["gap"] for rows in runs.values())
    ends = [rows[-1] for rows in runs.values()]
    final = max(r["error"] for r in ends if r["gap"] <= max(least, GAPS[-1]))
    return final, [
        {
            "trainer": name, **summary(rows, final), "last gap": rows[-1]["gap"],
            "test error": rows[-1]["error"], "oracle passes": rows[-1]["calls"],
            "MB": rows[-1].get("MB"),
        }
        for name, rows in runs.items()
    ]  # fmt: skip


def behind(rows: list[dict]) -> dict[str, float]:
    """Seconds of `auto` over those of the best other trainer, column by column."""
    own = next(r for r in rows if r["trainer"] == "auto")
    out = {}
    for column in (*(f"{gap:g}" for gap in GAPS), "accuracy"):
        others = [
            r[column] for r in rows
            if r["trainer"] in SOLVERS and r["trainer"] != "auto" and r[column]
        ]  # fmt: skip
        if others or own[column]:
            best = min(others, default=np.inf)
            out[column] = own[column] / best if own[column] else np.inf
    return out


def show(store: dict) -> None:
    """Print the tables in Markdown."""
    for task, runs in store.items():
        final, rows = table(runs)
        print(f"\n**{task}** (final test error {100 * final:.2f} %)\n")
        print(
            "| trainer | 1e-1 | 1e-2 | 1e-3 | accuracy | for good | last gap | passes | MB |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for row in rows:
            times = [row[k] for k in ("0.1", "0.01", "0.001", "accuracy", "for good")]
            cells = [f"{t:.2f}" if t is not None else "-" for t in times]
            cells += [f"{row['last gap']:.1e}", f"{row['oracle passes']:.0f}"]
            cells += [f"{row['MB']:.0f}" if row["MB"] else ""]
            print(f"| {row['trainer']} | {' | '.join(cells)} |")
        if "auto" in runs:
            ratios = ", ".join(f"{k}: {v:.2f}" for k, v in behind(rows).items())
            print(f"\nauto / best other: {ratios}")


def plot(store: dict, path: Path) -> None:
    """Gap and test error against CPU seconds, a column for each task."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, len(store), figsize=(4 * len(store), 6), squeeze=False)
    colours = {name: f"C{k}" for k, name in enumerate((*SOLVERS, "prototype"))}
    for column, (task, runs) in enumerate(store.items()):
        for name, colour in colours.items():
            rows = runs.get(name, [])
            line = {"color": colour, "lw": 2.5 if name == "auto" else 1.2}
            seconds = [r["seconds"] for r in rows]
            gaps = [max(r["gap"], 1e-4) for r in rows]
            axes[0, column].loglog(seconds, gaps, label=name, **line)
            axes[1, column].semilogx(seconds, [100 * r["error"] for r in rows], **line)
        final = 100 * table(runs)[0]
        axes[0, column].set(title=task, ylabel="relative gap", ylim=(5e-4, 1.2))
        axes[1, column].set(xlabel="CPU seconds", ylabel="test error, %")
        axes[1, column].set_ylim(final - 0.1 * final, 1.6 * final)
    axes[0, 0].legend(fontsize=7)
    fig.tight_layout()
    fig.savefig(path, dpi=80)


def main() -> None:
    """Measure, store, show."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--seconds", type=float, help="CPU, per run")
    parser.add_argument("--missing", action="store_true", help="what is not stored")
    parser.add_argument("--prototype", type=Path, help="script to run beside (OCR)")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    tasks = [] if options.show else options.tasks.split(",")
    for name in tasks:
        solvers = options.solvers.split(",") if options.solvers else []
        if options.missing:
            solvers = [k for k in solvers if k not in stored().get(name, {})]
        for _, solver, rows in measure([name], solvers, data_folder(), options.seconds):
            keep(name, solver, rows)
        if options.prototype and name.startswith("ocr"):
            large = name == "ocr-large"
            keep(name, "prototype", prototype(options.prototype, data_folder(), large))
    show(stored())
    plot(stored(), PICTURE)
    print(f"\nplot: {PICTURE}")


def keep(task: str, solver: str, rows: list[dict]) -> None:
    """Store one curve beside the others."""
    store = stored()
    store.setdefault(task, {})[solver] = rows
    save(store)
    print(f"{task} {solver}: {rows[-1]}", flush=True)


if __name__ == "__main__":
    main()
