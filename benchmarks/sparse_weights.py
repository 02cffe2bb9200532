"""Weights kept against F1: regularizer="l1" beside CRFsuite's c1, on Spanish NER.

    python -m benchmarks.sparse_weights [--sentences 1500] [--C 0.5 1 2] [--c1 2 1 0.5]
                                        [--tol 0.05] [--json FILE]

Training on the first sentences of the training part, tests on testb; the same features
for all. CPU seconds of one thread, size of the model file in KB.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.chains import _named, ner
from maxmargin import ChainSVM
from maxmargin.metrics import span_f1


def ours(train: tuple, test: tuple, name: str, **options: Any) -> dict[str, Any]:
    """ChainSVM: weights that are not zero, F1, seconds, gap, size of the file."""
    few = train[0][:20], train[1][:20]
    ChainSVM(**options | {"max_iter": 2}).fit(*few)  # compiles
    begin = time.process_time()
    model = ChainSVM(**options).fit(*train)
    seconds = time.process_time() - begin
    file = io.BytesIO()
    model.save(file)
    return {
        "trainer": name, "weights": int(np.count_nonzero(model.coef_)),
        "F1": _f1(test[1], model.predict(test[0])), "seconds": seconds,
        "gap": model.result_.gap, "passes": model.result_.oracle_calls / len(train[0]),
        "file KB": len(file.getvalue()) / 1024,
    }  # fmt: skip


def theirs(train: tuple, test: tuple, c1: float, most: int) -> dict[str, Any]:
    """CRFsuite, L-BFGS (OWL-QN) with c1."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    settings = {"c1": c1, "c2": 0.0, "max_iterations": most}
    trainer.set_params(settings | {"feature.possible_transitions": True})
    for rows, tags in zip(_named(train[0]), train[1], strict=True):
        trainer.append(pycrfsuite.ItemSequence(rows), [str(tag) for tag in tags])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        begin = time.process_time()
        trainer.train(str(path))
        seconds = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        found = [tagger.tag(pycrfsuite.ItemSequence(r)) for r in _named(test[0])]
        info, size = tagger.info(), path.stat().st_size
    return {
        "trainer": f"CRFsuite, c1 = {c1:g}",
        "weights": len(info.state_features) + len(info.transitions),
        "F1": _f1(test[1], found), "seconds": seconds, "gap": None, "passes": None,
        "file KB": size / 1024,
    }  # fmt: skip


def _f1(truth: Any, found: Any) -> float:
    return 100.0 * span_f1(
        [list(map(str, row)) for row in truth], [list(r) for r in found]
    )


def show(row: dict[str, Any]) -> None:
    """A row of the table."""
    cells = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--C", type=float, nargs="*", default=[0.5, 1.0, 2.0])
    parser.add_argument("--c1", type=float, nargs="*", default=[2.0, 1.0, 0.5])
    parser.add_argument("--tol", type=float, default=0.05)
    parser.add_argument("--most", type=int, default=60, help="passes, or iterations")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    some = slice(0, given.sentences)
    X, y = ner("train", quick=False)
    train, test = (X[some], y[some]), ner("testb", quick=False)
    plain = {
        "start_end": False,
        "bias": False,
        "tol": given.tol,
        "max_iter": given.most,
    }
    rows = []
    for c1 in given.c1:
        rows.append(theirs(train, test, c1, given.most))
        show(rows[-1])
    for C in given.C:
        name = f"regularizer='l1', C = {C:g}"
        rows.append(ours(train, test, name, C=C, regularizer="l1", **plain))
        show(rows[-1])
    rows.append(ours(train, test, "regularizer='l2', C = 0.12", C=0.12, **plain))
    show(rows[-1])
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
