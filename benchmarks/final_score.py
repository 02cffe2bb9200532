"""How long to the final score: ChainSVM beside CRFsuite's averaged perceptron.

    OMP_NUM_THREADS=1 python -m benchmarks.final_score [--only ner wsj chunking]

Spanish NER (F1 of spans on testb), WSJ parts of speech (accuracy) and a synthetic task of
CoNLL-2000's size (accuracy; 2000 further sentences for the test). Both get the same
binary features and make first-order chains. `ChainSVM` stops at several tolerances, with
one thread; CRFsuite makes 20 iterations. CPU seconds: of the whole `fit` from a sparse
matrix for `ChainSVM`, without handing over the data for CRFsuite. Loops are compiled
before.
The rows are kept in `benchmarks/results/final_score.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.lanes import chunking
from benchmarks.tasks import data_folder, word_features, wsj
from maxmargin import ChainSVM, Sequences
from maxmargin.metrics import span_f1

RESULTS = Path(__file__).parent / "results" / "final_score.json"
TOLERANCES = (0.3, 0.1, 0.03, 0.01, 0.001)  # chunking: without the last two
WARM = 11_000  # tokens for compilation: enough for the same trainer
Part = tuple[Sequences, list[list[str]]]


def ner_data() -> tuple[Part, Part, float]:
    """Spanish NER with the features of the data set."""
    z = np.load(data_folder() / "conll2002_esp" / "features.npz")
    names = z["labels"]

    def part(name: str) -> Part:
        ptr, idx = z[f"{name}_indptr"], z[f"{name}_indices"]
        shape = len(ptr) - 1, int(z["n_features"])
        ends = z[f"{name}_offsets"]
        X = sp.csr_matrix((np.ones(len(idx)), idx, ptr), shape=shape)
        return Sequences(X, ends), _cut(names[z[f"{name}_y"]], ends)

    return part("train"), part("testb"), 0.12


def wsj_data() -> tuple[Part, Part, float]:
    """Parts of speech; features of the test that training lacks are left out."""
    task = wsj(data_folder())
    problem, encode = task.problem, task.problem.structure
    test = _wsj_test(encode)
    train = _part(problem.x.vectors, problem.truth)
    return train, test, 0.1


def _wsj_test(structure: Any) -> Part:
    X, y, known = [], [], set(structure.labels)
    path = data_folder() / "wsj_pos" / "wsj_pos.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            name, text = line.rstrip("\n").split("\t")
            pairs = [item.rsplit("/", 1) for item in text.split(" ")]
            tags = [tag for _, tag in pairs]
            if int(name[-4:]) > 150 and known.issuperset(tags):
                words = [word for word, _ in pairs]
                X.append([word_features(words, t) for t in range(len(words))])
                y.append(tags)
    x = structure.encode(X)
    return _part(x.vectors, structure.encode_labels(x, y))


def chunking_data(test: int = 2000) -> tuple[Part, Part, float]:
    """The synthetic task of `benchmarks.lanes`, with further sentences for the test."""
    n = 8936
    problem = chunking(n + test)
    return (
        _part(problem.x.vectors, problem.truth, 0, n),
        _part(problem.x.vectors, problem.truth, n, n + test),
        0.1,
    )


def _part(vectors: Any, truth: Any, first: int = 0, last: int | None = None) -> Part:
    ends = truth.ptr[first : None if last is None else last + 1]
    X = vectors.matrix()[ends[0] : ends[-1]]
    y = np.array([f"L{k}" for k in range(truth.data.max() + 1)])[truth.data]
    begin = ends - ends[0]
    return Sequences(X, begin), _cut(y[ends[0] : ends[-1]], begin)


def _cut(y: Any, ends: Any) -> list[list[str]]:
    return [y[a:b].tolist() for a, b in pairwise(ends)]


def score(task: str, truth: list[list[str]], found: list[list[str]]) -> float:
    """F1 of spans for names, else the share of correct labels."""
    if task == "ner":
        return float(span_f1(truth, found))
    return float(np.mean(np.concatenate(truth) == np.concatenate(found)))


def ours(task: str, train: Part, test: Part, C: float) -> list[dict[str, Any]]:
    """A row for each tolerance."""
    X, y = train
    few = int(np.searchsorted(X.offsets, WARM))
    ChainSVM(C=C, order=1, tol=0.5).fit(X[:few], y[:few])
    rows = []
    for tol in TOLERANCES[: 3 if task == "chunking" else None]:
        model = ChainSVM(C=C, order=1, tol=tol)
        begin = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - begin
        found = [list(row) for row in model.predict(test[0])]
        rows.append({
            "task": task, "trainer": f"ChainSVM tol={tol:g}",
            "seconds": round(seconds, 2), "score": score(task, test[1], found),
            "gap": float(f"{model.result_.gap:.2g}"),
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def named(X: Sequences) -> list[list[list[str]]]:
    """Features as strings, as CRFsuite takes them."""
    m, ends = X.flat.tocsr(), X.offsets
    words = [f"f{k}" for k in range(m.shape[1])]
    tokens = [[words[k] for k in m.indices[a:b]] for a, b in pairwise(m.indptr)]
    return [tokens[a:b] for a, b in pairwise(ends)]


def perceptron(task: str, train: Part, test: Part) -> dict[str, Any]:
    """CRFsuite with 20 iterations of its averaged perceptron."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": 20})
    for rows, labels in zip(named(train[0]), train[1], strict=True):
        trainer.append(pycrfsuite.ItemSequence(rows), labels)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        trainer.train(f"{folder}/model")
        seconds = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        found = [tagger.tag(rows) for rows in named(test[0])]
        tagger.close()
    row = {
        "task": task, "trainer": "CRFsuite ap, 20 iterations",
        "seconds": round(seconds, 2), "score": score(task, test[1], found),
    }  # fmt: skip
    print(row, flush=True)
    return row


DATA = {"ner": ner_data, "wsj": wsj_data, "chunking": chunking_data}


def main() -> None:
    """Read the flags, train, print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=DATA, default=list(DATA))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("load", round(os.getloadavg()[0], 1))
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rows = [row for row in kept if row["task"] not in given.only]
    for task in given.only:
        train, test, C = DATA[task]()
        rows += [perceptron(task, train, test), *ours(task, train, test, C)]
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
