"""Table 5 on longer sentences, of at most 15 words.

python -m experiments run tsochantaridis2005.table5_longer [--quick]
"""

from __future__ import annotations

from pathlib import Path

from experiments.protocol import Setting
from experiments.tsochantaridis2005 import table5
from experiments.tsochantaridis2005.parsers import EPSILON

TITLE = "Table 5, longer: grammars of sentences of at most 15 words (%)"
PUBLISHED = table5.PUBLISHED
C = 0.1
LONGEST = 15
PROTOCOL = [
    Setting("data", "at most 10 words", f"the free sample, at most {LONGEST} words: 922 trees"),
    Setting("split", "one training and one test part", "one fifth for testing"),
    Setting("choice", "C = 1", f"C = {C:g}, not tuned"),
    Setting("method", "SVM2 by Algorithm 1, epsilon = 0.01",
            f"SVM2 by Algorithm 1 (b), epsilon = {EPSILON:g}"),
]  # fmt: skip
NOTES = table5.NOTES


def run(data: Path, quick: bool = False, seed: int = 0) -> dict:
    """Every method on one split; quick: sentences of at most 11 words."""
    rows = table5.table(data, 11 if quick else LONGEST, 1, C, seed)
    return {"rows": rows, "notes": NOTES, "part": quick}


claims = table5.claims
quick_claims = table5.quick_claims
