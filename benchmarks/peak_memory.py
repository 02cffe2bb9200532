"""Peak memory of ChainSVM beside CRFsuite, each in a process of its own.

    python -m benchmarks.peak_memory [--tasks wsj ner] [--tol 0.01] [--iterations 20]

Features are lists of strings, made by the same function for both, and held in memory
while training runs. `added` is the peak less what the process held before `fit` (for
CRFsuite: before the data are appended). `pickle` and `file` are the size of the model.
All are in MB, and kept in `benchmarks/results/peak_memory.json`.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.tasks import word_features
from benchmarks.text_data import spanish, wsj
from maxmargin import ChainSVM

RESULTS = Path(__file__).parent / "results" / "peak_memory.json"


def data(task: str) -> tuple[list[Any], list[Any]]:
    """Sentences of features, and labels."""
    X, y = wsj()[0] if task == "wsj" else spanish("train")
    words = [[row[0] for row in sentence] for sentence in X]
    return [[word_features(s, t) for t in range(len(s))] for s in words], y


def held() -> float:
    """MB of this process now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def peak() -> float:
    """MB of this process at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(task: str, tol: float) -> dict[str, Any]:
    """ChainSVM.fit; compiled on a few sentences before."""
    X, y = data(task)
    ChainSVM(tol=0.5, max_iter=2, solver="lanes").fit(X[:50], y[:50])
    before = held()
    model = ChainSVM(tol=tol).fit(X, y)
    row = {"before": before, "peak": peak(), "added": peak() - before}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.mm"
        model.save(file)
        row["file"] = file.stat().st_size / 2**20
    row["pickle"] = len(pickle.dumps(model)) / 2**20
    return {**row, "dense weights": 8 * model.coef_.size / 2**20}


def theirs(task: str, iterations: int) -> dict[str, Any]:
    """CRFsuite, averaged perceptron."""
    import pycrfsuite

    X, y = data(task)
    before = held()
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": iterations})
    for rows, labels in zip(X, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(rows), labels)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        trainer.train(str(file))
        size = file.stat().st_size / 2**20
    return {"before": before, "peak": peak(), "added": peak() - before, "file": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=["wsj", "ner"])
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, task = options.child
        run = ours(task, options.tol) if name == "ChainSVM" else None
        print(json.dumps(run or theirs(task, options.iterations)))
        return
    table: dict[str, Any] = {}
    for task in options.tasks:
        rows: dict[str, Any] = {}
        for name in ("ChainSVM", "CRFsuite"):
            command = [sys.executable, "-m", "benchmarks.peak_memory", "--child", name]
            limits = [
                "--tol",
                str(options.tol),
                "--iterations",
                str(options.iterations),
            ]
            out = subprocess.run(
                [*command, task, *limits], capture_output=True, text=True, check=True
            )
            rows[name] = json.loads(out.stdout.strip().splitlines()[-1])
            print(task, name, {k: round(v, 1) for k, v in rows[name].items()}, "MB")
        added = rows["ChainSVM"]["added"] / rows["CRFsuite"]["added"]
        whole = rows["ChainSVM"]["peak"] / rows["CRFsuite"]["peak"]
        print(f"{task}: peak {whole:.2f} times CRFsuite's, added {added:.2f} times")
        table[task] = {**rows, "peak, times CRFsuite's": whole, "added, times": added}
        RESULTS.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
