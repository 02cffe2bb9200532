"""Tasks for benchmarks and experiments: a training problem, and errors on test data."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Formulation, Problem
from maxmargin.losses import Hamming
from maxmargin.structures.chain import Chain
from maxmargin.structures.classes import Multiclass


class Task(NamedTuple):
    name: str
    problem: Problem
    error: Callable[[Any], float]  # share of wrong labels on the test data, at w


def data_folder() -> Path:
    here = Path(__file__).resolve().parents[1]
    return Path(os.environ.get("MAXMARGIN_DATA", here.parent / "shared" / "data"))


def make(name, structure, train, test, C, penalty="linear", cost=1.0) -> Task:
    """Bind, encode and wrap up; `cost` multiplies the Hamming loss."""
    structure = structure.bind(*train)
    x = structure.encode(train[0])
    truth = structure.encode_labels(x, train[1])
    k = structure.label_count()
    loss = Hamming(cost=cost * (1.0 - np.eye(k))).bind(k)
    formulation = Formulation("margin", penalty)
    problem = Problem(structure, loss, formulation, x, truth, np.full(truth.n, C))
    x_test = structure.encode(test[0])
    y_test = structure.encode_labels(x_test, test[1]).data
    ids = np.arange(x_test.n)

    def error(w):
        return float((structure.argmax(x_test, ids, w).labels.data != y_test).mean())

    return Task(name, problem, error)


def ocr_parts(data: Path, fold: int, large: bool):
    """Words of one fold and of the nine others; large: train on the nine."""
    z = np.load(data / "ocr_letters" / "ocr_letters.npz")
    X = np.unpackbits(z["X_bits"], axis=1).astype(float)
    y, offsets, folds = z["y"].astype(int), z["offsets"], z["fold"]

    def part(mask):
        words = np.flatnonzero(mask)
        spans = [slice(offsets[i], offsets[i + 1]) for i in words]
        return [X[s] for s in spans], [y[s] for s in spans]

    chosen = (folds == fold) != large
    return part(chosen), part(~chosen)


def ocr(
    data: Path, large: bool, C=None, fold=0, penalty="linear", bias=True, order=1
) -> Task:
    train, test = ocr_parts(data, fold, large)
    structure = Chain(start_end=False, bias=bias, order=order)
    C = 100.0 / len(train[0]) if C is None else C
    return make(
        "ocr-large" if large else "ocr-small", structure, train, test, C, penalty
    )


def ner(data: Path, C=0.12) -> Task:
    z = np.load(data / "conll2002_esp" / "features.npz")

    def part(name):
        ptr, idx = z[f"{name}_indptr"], z[f"{name}_indices"]
        flat = sp.csr_matrix(
            (np.ones(len(idx)), idx, ptr), (len(ptr) - 1, int(z["n_features"]))
        )
        offsets, y = z[f"{name}_offsets"], z[f"{name}_y"].astype(int)
        spans = [slice(a, b) for a, b in pairwise(offsets)]
        return [flat[s] for s in spans], [y[s] for s in spans]

    return make(
        "ner", Chain(start_end=False, bias=False), part("train"), part("testb"), C
    )


def word_features(words: list[str], t: int) -> list[str]:
    """Word, affixes and shape; neighbours."""
    word = words[t]
    lower = word.lower()
    out = [f"w={lower}", f"cap={word[0].isupper()}", f"first={t == 0}"]
    out += [f"s{k}={lower[-k:]}" for k in (1, 2, 3)] + [
        f"p{k}={lower[:k]}" for k in (1, 2)
    ]
    out += [f"digit={any(c.isdigit() for c in word)}", f"hyphen={'-' in word}"]
    out.append(f"w-1={words[t - 1].lower() if t else '<s>'}")
    out.append(f"w+1={words[t + 1].lower() if t + 1 < len(words) else '</s>'}")
    return out


def wsj(data: Path, C=0.1, penalty="linear") -> Task:
    train, test = ([], []), ([], [])
    with gzip.open(
        data / "wsj_pos" / "wsj_pos.txt.gz", "rt", encoding="utf-8"
    ) as lines:
        for line in lines:
            name, text = line.rstrip("\n").split("\t")
            pairs = [item.rsplit("/", 1) for item in text.split(" ")]
            words = [word for word, _ in pairs]
            part = train if int(name[-4:]) <= 150 else test
            part[0].append([word_features(words, t) for t in range(len(words))])
            part[1].append([tag for _, tag in pairs])
    known = {tag for row in train[1] for tag in row}
    keep = [i for i, row in enumerate(test[1]) if known.issuperset(row)]
    test = [test[0][i] for i in keep], [test[1][i] for i in keep]
    return make("wsj", Chain(start_end=False, bias=False), train, test, C, penalty)


def mnist(data: Path, C=0.1) -> Task:
    z = np.load(data / "mnist" / "mnist.npz")
    names = {k.lower(): k for k in z.files}
    X = z[names["x_train"]][:10000].reshape(10000, -1) / 255.0
    T = z[names["x_test"]].reshape(len(z[names["x_test"]]), -1) / 255.0
    y, t = z[names["y_train"]][:10000].astype(int), z[names["y_test"]].astype(int)
    return make("mnist", Multiclass(bias=1.0), (X, y), (T, t), C)


TASKS: dict[str, Callable[[Path], Task]] = {
    "ocr-small": lambda data: ocr(data, False),
    "ocr-large": lambda data: ocr(data, True),
    "ner": ner,
    "wsj": wsj,
    "mnist": mnist,
}
