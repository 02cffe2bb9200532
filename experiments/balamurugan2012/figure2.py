"""Figure 2 of balamurugan2012: dual and accuracy against time, CP and SDCD, C = 0.01.

python -m experiments.balamurugan2012.figure2 [--quick]
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.tasks import ocr, wsj
from experiments.balamurugan2012.figure1 import crossing
from experiments.balamurugan2012.runs import command, history, plot, relative

TITLE = "Figure 2: relative dual difference and test accuracy against time, C=0.01"
PUBLISHED = "SDCD is an order of magnitude faster, and accurate from the first loops on"


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    tasks = {
        "OCR fold 0": (ocr(data, False, 0.01, 0, "summed", False), 0.1),
        "WSJ sample": (wsj(data, 0.01, "summed"), 1.0),
    }
    panels, notes = {}, [f"paper: {PUBLISHED}"]
    for name, (task, epsilon) in tasks.items():
        seconds = 20.0 if quick else 200.0
        rows = relative(
            history(task, "SDCD", seconds) + history(task, "CP", seconds, epsilon)
        )
        panels[name] = rows
        notes += [f"{name}, {text}" for text in crossing(rows)]
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    plot(panels, folder / "figure2.png")
    rows = [{"data": name, **r} for name, rows in panels.items() for r in rows]
    return {"rows": rows, "notes": notes}


if __name__ == "__main__":
    command(run, TITLE, "figure2")
