"""What Tables 2 and 3 share: 300 Spanish sentences, five folds, methods.

The quadratic kernel K(a, b) = (<a, b> + 1)^2 on the features of a token is worked with
through the features behind it, pairs of features, which for rows of zeros and ones are
few: the same machine, tens of times faster here. Folds are kept in `results/parts` as
they are done.
"""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments import choices
from experiments.parts import Parts
from experiments.protocol import UNKNOWN, Setting
from maxmargin import ChainSVM, Sequences
from maxmargin.baselines import CRF, HMM, Perceptron
from maxmargin.core import Formulation, Problem
from maxmargin.losses import Hamming
from maxmargin.metrics import token_error
from maxmargin.solvers.n_slack import NSlackBlock
from maxmargin.solvers.planes import planes_of
from maxmargin.structures.chain import Chain

SENTENCES, FOLDS, INNER = 300, 5, 3
FORMULATIONS = {
    "SVM2": Formulation(None, "squared"),
    "SVM2 slack": Formulation("slack", "squared"),
    "SVM2 margin": Formulation("margin", "squared"),
}
PERCEPTRON, AVERAGED = "Perceptron", "Perceptron, averaged"
LINEAR = "SVM linear"
TUNED = {  # name of the parameter and grid of each method that has one
    "HMM": ("counts added", (0.1, 1.0, 10.0)),
    "CRF": ("c2", (0.01, 0.1, 1.0)),
    "SVM": ("C", (0.01, 0.1, 1.0)),
    LINEAR: ("C", (0.01, 0.1, 1.0)),
}
METHODS = ("HMM", "CRF", PERCEPTRON, AVERAGED, "SVM", LINEAR)
EPOCHS, TOL = 20, 1e-2
C = 1.0  # of Table 3, on the plain sum of squared slacks, as in Tables 4 and 5
SOLVER = NSlackBlock(epsilon=0.01, tol=0.0, max_iter=200)
DATA = [
    Setting("data", f"{SENTENCES} sentences of CoNLL 2002, Spanish; which is not said",
            f"the first {SENTENCES} of the training part"),
    Setting("features", "not said (Altun et al. 2003)",
            "word, affixes, shape, part of speech of the token and its neighbours"),
    Setting("split", UNKNOWN, f"{FOLDS} folds"),
]  # fmt: skip


def load(data: Path, sentences: int = SENTENCES) -> tuple[Sequences, list, np.ndarray]:
    """Tokens with all their features, labels, and the columns of the words."""
    folder = data / "conll2002_esp"
    file = np.load(folder / "features.npz", allow_pickle=False)
    ends = file["train_offsets"][: sentences + 1].astype(np.int64)
    rows = int(ends[-1])
    ptr = file["train_indptr"][: rows + 1]
    idx = file["train_indices"][: ptr[-1]]
    used, columns = np.unique(idx, return_inverse=True)
    flat = sp.csr_array((np.ones(len(idx)), columns, ptr), (rows, len(used)))
    names = file["labels"]
    labels = names[file["train_y"][:rows]].tolist()
    y = [labels[a:b] for a, b in pairwise(ends)]
    with gzip.open(folder / "feature_names.txt.gz", "rt") as lines:
        every = [line.rstrip("\n") for line in lines]
    words = np.flatnonzero([every[j].startswith("w=") for j in used])
    return Sequences(flat, ends), y, words


def pairs(X: Sequences) -> Sequences:
    """The features behind the kernel for rows of zeros and ones, as a sparse matrix."""
    flat, d = sp.csr_array(X.flat), X.flat.shape[1]
    entries: list[tuple[np.ndarray, np.ndarray]] = []
    for a, b in pairwise(flat.indptr):
        own = np.sort(flat.indices[a:b]).astype(np.int64)
        i, j = np.triu_indices(len(own), 1)
        both = own[i] * d + own[j]  # sqrt 2 each; a feature alone sqrt(2 + 1)
        values = np.r_[np.full(len(both), 2**0.5), np.full(len(own), 3**0.5), 1.0]
        entries.append((np.r_[both, own * d + own, -1], values))
    keys = np.concatenate([k for k, _ in entries])
    used, columns = np.unique(keys, return_inverse=True)
    ptr = np.cumsum([0, *[len(k) for k, _ in entries]])
    values = np.concatenate([v for _, v in entries])
    return Sequences(
        sp.csr_array((values, columns, ptr), (len(ptr) - 1, len(used))), X.offsets
    )


def parts_of(n: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test sentences of each fold."""
    order = np.random.default_rng(seed).permutation(n)
    tests = [np.sort(order[k::FOLDS]) for k in range(FOLDS)]
    return [(np.setdiff1d(order, test), test) for test in tests]


def compared(data: Path, quick: bool, seed: int) -> list[dict[str, dict]]:
    """Table 2: wrong tokens by sentence of each method, by fold."""
    X, y, words = load(data, 60 if quick else SENTENCES)
    grids = {
        m: (name, grid[1:2] if quick else grid) for m, (name, grid) in TUNED.items()
    }
    rich, word = pairs(X), Sequences(sp.csr_array(X.flat)[:, words], X.offsets)
    inputs = {"HMM": word, PERCEPTRON: rich, AVERAGED: rich, "SVM": rich}
    out = []
    for k, (train, test) in enumerate(parts_of(len(y), seed)[: 2 if quick else None]):
        done = Parts(f"tsochantaridis2005.spanish.{k}", keep=not quick)
        for method in METHODS:

            def make(
                method: str = method, train: Any = train, test: Any = test
            ) -> dict:
                return one(method, inputs.get(method, X), y, train, test, grids)

            found = done.of(method, make)
            if "grid" in found:
                name = f"{TUNED[method][0]} of {method}"
                choices.note(name, found["value"], found["grid"])
        out.append(dict(done))
    return out


def one(method: str, X: Sequences, y: list, train: Any, test: Any, grids: dict) -> dict:
    """Wrong tokens by test sentence; the parameter chosen inside the training part."""
    start = time.process_time()
    found: dict[str, Any] = {}
    value = 0.0
    if method in grids:
        name, grid = grids[method]

        def held_out(value: float) -> float:
            wrong = []
            for k in range(INNER):
                own, held = train[np.arange(len(train)) % INNER != k], train[k::INNER]
                wrong += mistakes(fitted(method, value, X, y, own), X, y, held)
            return float(sum(wrong))

        value = grid[0]
        if len(grid) > 1:
            with choices.watched():  # noted where the fold is read
                choice = choices.search(name, grid, held_out)
            value = choice.value
            found |= {"value": value, "grid": list(choice.grid)}
    wrong = mistakes(fitted(method, value, X, y, train), X, y, test)
    tokens = [len(y[i]) for i in test]
    seconds = round(time.process_time() - start, 1)
    return found | {"wrong": wrong, "tokens": tokens, "seconds": seconds}


def fitted(method: str, value: float, X: Sequences, y: list, ids: Any) -> Any:
    """A method with this value of its parameter, trained on these sentences."""
    options: dict[str, Any] = {
        "rescaling": None, "penalty": "squared", "tol": TOL,
        "order": 1, "scheme": None, "outside_shift": 0.0,  # as the CRF and the perceptron
    }  # fmt: skip
    makes: dict[str, Callable[[], Any]] = {
        "HMM": lambda: HMM(smoothing=value),
        "CRF": lambda: CRF(c2=value),
        PERCEPTRON: lambda: Perceptron(Chain(), epochs=EPOCHS, average=False),
        AVERAGED: lambda: Perceptron(Chain(), epochs=EPOCHS),
        "SVM": lambda: ChainSVM(value, **options),
        LINEAR: lambda: ChainSVM(value, **options),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return makes[method]().fit(X[ids], [y[i] for i in ids])


def mistakes(model: Any, X: Sequences, y: list, ids: Any) -> list[int]:
    """Wrong tokens of each sentence."""
    found = model.predict(X[ids])
    return [
        sum(a != b for a, b in zip(y[i], row, strict=True))
        for i, row in zip(ids, found, strict=True)
    ]


def formulations(data: Path, quick: bool, seed: int) -> list[dict[str, dict]]:
    """Table 3: errors and constraints of each formulation, by fold."""
    X, y, _ = load(data, 25 if quick else SENTENCES)
    rich, out = pairs(X), []
    solver = replace(SOLVER, max_iter=4) if quick else SOLVER
    for k, ids in enumerate(parts_of(len(y), seed)[: 2 if quick else None]):
        done = Parts(f"tsochantaridis2005.formulations.{k}", keep=not quick)
        train, test = ((rich[part], [y[i] for i in part]) for part in ids)
        for name, formulation in FORMULATIONS.items():

            def make(form: Formulation = formulation, a: Any = train, b: Any = test):
                return machine(form, a, b, solver)

            done.of(name, make)
        out.append(dict(done))
    return out


def machine(
    formulation: Formulation, train: tuple, test: tuple, solver: NSlackBlock
) -> dict:
    """SVM2 by Algorithm 1, over the features behind the kernel."""
    start = time.process_time()
    chain = Chain().bind(*train)
    x = chain.encode(train[0])
    truth = chain.encode_labels(x, train[1])
    loss = Hamming().bind(len(chain.labels))
    problem = Problem(chain, loss, formulation, x, truth, np.full(truth.n, C))
    result, state = solver.solve(problem)
    errors = []
    for X, labels in (train, test):
        new = chain.encode(X)
        found = chain.argmax(new, np.arange(new.n), result.w).labels
        errors.append(100.0 * token_error(labels, chain.decode_labels(new, found)))
    held = distances(state.blocks.store, x.vectors.n * len(chain.labels))
    support = [distance for distance, alpha in held if alpha > 0.0]
    return {
        "train": errors[0], "test": errors[1], "constraints": len(held),
        "support": len(support), "loss": float(np.mean(support)),
        "loss of all": float(np.mean([distance for distance, _ in held])),
        "at one": 100.0 * float(np.mean(np.array(support) == 1)), "gap": result.gap,
        "passes": result.iterations, "ended": result.status.name,
        "seconds": round(time.process_time() - start, 1),
    }  # fmt: skip


def distances(store: Any, limit: int) -> list[tuple[int, float]]:
    """Hamming distance and alpha of each constraint.

    The distance is the number of (token, label) pairs of the truth that it lacks.
    """
    out = []
    for i in range(len(store.count)):
        (ptr, idx, val), _, alpha = planes_of(store, i)
        for (a, b), own in zip(pairwise(ptr), alpha, strict=True):
            lacks = int(((idx[a:b] < limit) & (val[a:b] > 0)).sum())
            out.append((lacks, float(own)))
    return out
