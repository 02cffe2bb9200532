"""Spanish named entities: hinges and likelihood, all tuned by one fixed rule.

    MAXMARGIN_DATA=... python -m benchmarks.neural.ner_choice --json FILE
    ... --kinds softmax-margin log-likelihood --seeds 10 11 12 13 14

Every loss gets the same number of settings, drawn at random from `SPACE` before anything
is trained. Each is trained with two seeds and tested on testa. The setting with the
best mean is trained with five other seeds and tested on testb, once. A run that is in
FILE is not repeated. See `benchmarks/neural/ner.py` for the network.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.neural.ner import Setting, read, run

SPACE = {
    "rate": (3e-3, 4e-3, 6e-3),
    "dropout": (0.4, 0.5),
    "decay": (0.0, 0.01),
    "average": (0.98, 0.99),
    "end": (0.05, 0.3),
    "margin": (0.5, 1.0),  # not the likelihood's
}
FIXED = {  # found before, on testa
    "hinge": {"missed": 2.0},
    "softmax-margin": {"temperature": 0.3},
    "log-likelihood": {},
}
CHOICE, FINAL = (0, 1), (5, 6, 7, 8, 9)  # seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=4, help="of each loss")
    parser.add_argument(
        "--kinds", nargs="+", default=["hinge", "log-likelihood"], choices=FIXED
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=FINAL, help="of the runs on testb"
    )
    parser.add_argument("--json", required=True, help="keeps the runs")
    args = parser.parse_args()
    torch.set_num_threads(1)
    kept, path = {}, Path(args.json)
    if path.exists():
        kept = json.loads(path.read_text())
    data: dict[str, Any] = {}

    def f1(kind: str, setting: Setting, seed: int, test: str) -> float:
        key = f"{kind} {json.dumps(setting._asdict())} {seed} {test}"
        if key not in kept:
            if test not in data:
                data[test] = read(test)
            sets, labels = data[test]
            kept[key] = 100 * run(kind, seed, sets, labels, setting)["f1"]
            path.write_text(json.dumps(kept, indent=1) + "\n")
        return kept[key]

    best = {}
    for kind in args.kinds:
        means = {}
        for setting in draw(kind, args.settings):
            means[setting] = np.mean([f1(kind, setting, s, "testa") for s in CHOICE])
            print(
                f"{kind:15} testa {means[setting]:.2f}  {changes(setting)}", flush=True
            )
        best[kind] = max(means, key=lambda s: means[s])
    for kind, setting in best.items():
        runs = np.array([f1(kind, setting, s, "testb") for s in args.seeds])
        error = runs.std(ddof=1) / np.sqrt(len(runs))
        print(
            f"{kind:15} testb {runs.mean():.2f} +- {error:.2f}  {changes(setting)}",
            flush=True,
        )


def draw(kind: str, n: int) -> list[Setting]:
    """The first n different settings of a fixed sequence."""
    rng = np.random.default_rng(0)
    found: dict[Setting, None] = {}
    while len(found) < n:
        some = {
            name: values[rng.integers(len(values))] for name, values in SPACE.items()
        }
        if kind == "log-likelihood":
            del some["margin"]
        found[Setting(**some, **FIXED[kind])] = None
    return list(found)


def changes(setting: Setting) -> str:
    """What is not as in `Setting()`."""
    own, default = setting._asdict(), Setting()._asdict()
    return " ".join(f"{k}={v}" for k, v in own.items() if v != default[k])


if __name__ == "__main__":
    main()
