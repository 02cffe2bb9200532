"""Coarse-to-fine training of grammars: time saved, and what pruning misses.

    python -m benchmarks.coarse_grammar [--train 200] [--longest 15] [--thresholds 5 10]
                                        [--json FILE]

Sentences of the Penn Treebank sample, tags given, symbols annotated with their parent.
Training with exact charts, with charts that a coarse grammar prunes, and with pruned
charts followed by exact training. The gap is always that of the exact problem. CPU
seconds of one thread, with JIT warmed outside of the clock.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

from experiments.runner import data_folder
from maxmargin import GrammarSVM
from maxmargin.io import read_treebank, tagged_words


def main() -> None:
    """Print a row for each way to train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--test", type=int, default=200)
    parser.add_argument("--longest", type=int, default=15)
    parser.add_argument("--C", type=float, default=0.2)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--loss", default="hamming")
    parser.add_argument("--thresholds", type=float, nargs="*", default=[5.0, 10.0])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    trees = read_treebank(data_folder() / "ptb_sample/wsj_sample.mrg.txt.gz").trees
    short = [t for t in trees if len(tagged_words(t)) <= asked.longest]
    train, test = short[: asked.train], short[asked.train :][: asked.test]
    X, Xt = ([tagged_words(t) for t in some] for some in (train, test))
    settings: dict[str, Any] = {
        "C": asked.C, "tol": asked.tol, "loss": asked.loss, "vertical": 2,
    }  # fmt: skip
    ways: dict[str, dict[str, Any]] = {"exact": {}}
    for threshold in asked.thresholds:
        ways[f"pruned {threshold:g}"] = {"coarse": threshold, "refine": False}
        ways[f"pruned {threshold:g}, then exact"] = {"coarse": threshold}
    print(
        f"{'charts':24} {'kept':>6} {'CPU s':>7} {'gap':>8} {'missed':>8} {'test F1':>8}"
    )
    rows = []
    for name, options in ways.items():
        model = GrammarSVM(**settings, **options)
        model.fit(X[:5], train[:5])  # compile
        start = time.process_time()
        model.fit(X, train)
        spent = time.process_time() - start
        note = model.result_.notes.get("coarse", {})
        rows.append({
            "charts": name, "kept": note.get("kept", 1.0), "CPU s": spent,
            "gap": model.result_.gap, "missed": note.get("missed", 0.0),
            "test F1": model.score(Xt, test),
        })  # fmt: skip
        print(
            f"{name:24} {note.get('kept', 1.0):6.3f} {spent:7.1f} "
            f"{model.result_.gap:8.4f} {note.get('missed', 0.0):8.3f} "
            f"{rows[-1]['test F1']:8.4f}"
        )
    if asked.json is not None:
        made = {**settings, "train": len(X), "test": len(Xt), "longest": asked.longest}
        asked.json.write_text(json.dumps({**made, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
