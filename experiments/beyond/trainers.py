"""Time to a gap and to the final accuracy, for every trainer, on the same problems.

Each trainer runs alone on one thread. The clock counts its steps only; the true gap
(primal by a full pass of the oracle) and the test error are measured off the clock.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.solvers import SOLVERS, curve, summary
from benchmarks.tasks import TASKS

TITLE = "Trainers: CPU seconds to a relative gap and to the final test error"
PUBLISHED: dict = {}
ALLOWED = 30.0  # CPU seconds per run


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """All trainers on all tasks; quick: three trainers on the small OCR split."""
    tasks = ["ocr-small"] if quick else list(TASKS)
    trainers = ["auto", "bcfw", "one-slack"] if quick else list(SOLVERS)
    rows = []
    for name in tasks:
        task = TASKS[name](data)
        seconds = 5.0 if quick else ALLOWED
        runs = {key: curve(task, SOLVERS[key], seconds) for key in trainers}
        best = min(runs.values(), key=lambda steps: steps[-1]["gap"])
        final = best[-1]["error"]
        for key, steps in runs.items():
            rows.append({
                "task": name, "trainer": key, **summary(steps, final),
                "last gap": steps[-1]["gap"], "test error": steps[-1]["error"],
                "oracle passes": steps[-1]["calls"], "planes": steps[-1]["planes"],
            })  # fmt: skip
    notes = ["Empty: not reached in the seconds allowed."]
    return {"rows": rows, "notes": notes}


def claims(result: dict) -> dict[str, bool]:
    """What the guide to trainers says."""
    rows = result["rows"]
    held = {}
    for task in dict.fromkeys(r["task"] for r in rows):
        for gap in ("0.1", "0.01"):
            times = {r["trainer"]: r[gap] for r in rows if r["task"] == task}
            auto = times.pop("auto")
            others = [t for t in times.values() if t is not None]
            name = f"{task}: auto reaches a gap of {gap} in 1.5 times the best, or less"
            held[name] = auto is not None and auto <= 1.5 * min(others, default=auto)
    return held
