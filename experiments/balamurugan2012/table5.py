"""Table V of balamurugan2012: SDCD (summed error) beside SDM (largest error).


The paper's POS, WSJPOS and Brown sets are not free; here the 3914 WSJ sentences that
are, and the OCR folds, stand in for them.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.tasks import ocr, wsj
from experiments.balamurugan2012.runs import run_one

TITLE = "Table V: SDCD (C=0.01) and SDM (C=0.1): seconds, accuracy, sum |V_i|"
PUBLISHED = {
    "POS": {"SDCD": (715, 96.02, 133782), "SDM": (53, 96.03, 38891)},
    "WSJPOS": {"SDCD": (1588, 96.61, 305533), "SDM": (242, 96.67, 114891)},
    "Brown": {"SDCD": (10832, 97.46, 395130), "SDM": (1836, 97.56, 146127)},
}


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    limit = 8.0 if quick else 120.0
    makers = {
        "WSJ sample": wsj,
        "OCR fold 0": lambda data, C, penalty: ocr(
            data, False, C=C, penalty=penalty, bias=False
        ),
    }
    rows, notes = [], []
    for name, make in makers.items():
        pair = {}
        for method, C, penalty in (("SDCD", 0.01, "summed"), ("SDM", 0.1, "linear")):
            pair[method] = run_one(make(data, C=C, penalty=penalty), method, limit)
            rows.append({"data": name, "C": C, **pair[method]})
        ratio = pair["SDCD"]["seconds"] / pair["SDM"]["seconds"]
        planes = pair["SDCD"]["planes"] / pair["SDM"]["planes"]
        notes.append(f"{name}: SDCD / SDM: seconds {ratio:.2f}, planes {planes:.2f}")
    for name, published in PUBLISHED.items():
        time = published["SDCD"][0] / published["SDM"][0]
        planes = published["SDCD"][2] / published["SDM"][2]
        notes.append(f"paper, {name}: seconds {time:.2f}, planes {planes:.2f}")
    return {"rows": rows, "notes": notes}
