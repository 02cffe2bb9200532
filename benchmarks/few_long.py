"""Few long examples: 50 sentences and one document of 20 000 tokens, beside CRFsuite.

    python -m benchmarks.few_long [--tokens 20000] [--solvers auto lanes]
        [--before CHECKOUT]

Sentences of WSJ with their parts of speech, features of words. The last example is one
long document, or ("cut") the same tokens as sentences. CPU seconds of one thread to a gap
of 1e-3 (60 seconds at most), compiled before; accuracy on 500 other sentences.
CRFsuite: averaged perceptron, 20 passes. With --before, the same in another checkout,
such as that of version 0.1.0. The table is kept in `benchmarks/results/few_long.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "few_long.json"
HELD_OUT = 500


def data(tokens: int, cut: bool) -> tuple[list, list, list, list]:
    """Training and test sentences: lists of features, labels."""
    from benchmarks.tasks import word_features
    from benchmarks.text_data import wsj

    X, Y = wsj()[0]
    words = [[row[0] for row in sentence] for sentence in X]
    Xt, Yt = words[:HELD_OUT], Y[:HELD_OUT]
    few, labels = words[HELD_OUT : HELD_OUT + 50], Y[HELD_OUT : HELD_OUT + 50]
    long, tags, at = [], [], HELD_OUT + 50
    while sum(map(len, long)) < tokens:
        long.append(words[at])
        tags.append(list(Y[at]))
        at += 1
    if not cut:
        long, tags = [list(chain(*long))], [list(chain(*tags))]
    train, test = [*few, *long], Xt
    make = [[word_features(s, t) for t in range(len(s))] for s in train]
    held = [[word_features(s, t) for t in range(len(s))] for s in test]
    return make, [*map(list, labels), *tags], held, [*map(list, Yt)]


def right(found: Any, truth: list) -> float:
    """Share of the tokens with the right label, in percent."""
    pairs = [(a, b) for one, two in zip(found, truth) for a, b in zip(one, two)]
    return round(100.0 * sum(a == b for a, b in pairs) / len(pairs), 2)


def ours(file: Path, solver: str) -> dict[str, Any]:
    from maxmargin import ChainSVM

    X, Y, Xt, Yt = json.loads(file.read_text())
    warnings.simplefilter("ignore")
    ChainSVM(solver=solver, max_iter=3).fit(X[:20], Y[:20])
    start = time.process_time()
    model = ChainSVM(solver=solver, max_time=60.0).fit(X, Y)
    spent, r = time.process_time() - start, model.result_
    return {
        "seconds": round(spent, 2), "iterations": r.iterations,
        "gap": float(f"{r.gap:.2g}"), "trainer": r.notes.get("chosen"),
        "passes": round(r.oracle_calls / len(X), 1),
        "accuracy": right(model.predict(Xt), Yt),
    }  # fmt: skip


def theirs(file: Path) -> dict[str, Any]:
    import pycrfsuite

    X, Y, Xt, Yt = json.loads(file.read_text())
    start = time.process_time()
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": 20})
    for rows, labels in zip(X, Y):
        trainer.append(pycrfsuite.ItemSequence(rows), labels)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        trainer.train(file)
        spent = time.process_time() - start
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        return {"seconds": round(spent, 2), "accuracy": right(map(tagger.tag, Xt), Yt)}


def in_process(made: tuple, folder: Path, solver: str) -> dict[str, Any]:
    """A row, made by a process of its own with the code of a checkout."""
    env = os.environ | {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "data.json"
        file.write_text(json.dumps(made))
        command = [sys.executable, __file__, "--row", str(file), solver]
        done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        return {"failed": done.stderr[-400:]}
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--solvers", nargs="+", default=["auto"])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        file, solver = Path(given.row[0]), given.row[1]
        print(json.dumps(theirs(file) if solver == "crfsuite" else ours(file, solver)))
        return
    runs = [("now", solver) for solver in [*given.solvers, "crfsuite"]]
    folders = {"now": Path(__file__).parents[1], "before": given.before}
    runs += [("before", "auto")] if given.before else []
    rows = []
    for form in ("long", "cut"):
        for tree, solver in runs:
            row = in_process(data(given.tokens, form == "cut"), folders[tree], solver)
            rows.append({"example": form, "tree": tree, "solver": solver} | row)
            print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
