"""Problems of any size, and clusters of processes on loopback."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from maxmargin.core import Formulation, Problem, Ragged, Vectors, pointers
from maxmargin.losses import Hamming
from maxmargin.structures.chain import Chain, Tokens, open_encoded, write_encoded

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
LABELS, WORDS, LENGTH = 10, 5000, 12
CLASSES = 50  # of words: what the features beside the word itself tell


def width_of(features: int) -> int:
    return WORDS + CLASSES * (features - 1)


def batches(n: int, features: int, seed: int = 0):
    """Encoded sentences of `LENGTH` tokens on average."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, WORDS + 1)
    ends = np.cumsum(chance / chance.sum())
    divisors = 7 ** np.arange(features - 1) % 4999
    for s in range(0, n, 10_000):
        sizes = rng.integers(LENGTH // 2, LENGTH * 3 // 2, size=min(10_000, n - s))
        word = np.minimum(np.searchsorted(ends, rng.random(sizes.sum())), WORDS - 1)
        label = np.where(rng.random(len(word)) < 0.85, word % LABELS, 0)
        rest = word[:, None] // np.maximum(divisors, 1) % CLASSES
        rest = rest + WORDS + CLASSES * np.arange(features - 1)
        idx = np.column_stack((word, rest)).astype(np.int32)
        rows = features * np.arange(len(word) + 1)
        vectors = Vectors(rows, idx.ravel(), np.ones(idx.size), width_of(features))
        ptr = pointers(sizes)
        yield (
            Tokens(vectors, ptr, np.empty(0, np.int32)),
            Ragged(ptr, label.astype(np.int32)),
        )


def folder_of(n: int, features: int = 3) -> Path:
    return Path(tempfile.gettempdir()) / f"maxmargin-synthetic-{n}-{features}"


def synthetic(n: int, features: int = 3, C: float = 0.01) -> Problem:
    """Sentences in files, written at first use."""
    folder = folder_of(n, features)
    if not (folder / "meta.json").exists():
        width = width_of(features)
        chain = Chain().sized(tuple(range(LABELS)), None, width, True)
        write_encoded(batches(n, features), folder, chain)
    data = open_encoded(folder)
    k = len(data.labels)
    return Problem(
        data.bind(Chain()), Hamming().bind(k), Formulation("margin", "linear"), data.x,
        data.truth, np.full(data.n, C),
    )  # fmt: skip


def grammar(n: int = 400) -> Problem:
    """Random sentences under a random grammar: CKY, some 20 ms a sentence."""
    from maxmargin.losses import BracketF1
    from maxmargin.structures.grammar import Grammar

    rng = np.random.default_rng(0)

    def tree(depth: int):
        if depth == 0 or rng.random() < 0.15:
            return (f"T{rng.integers(8)}", f"w{rng.integers(100)}")
        kids = tuple(tree(depth - 1) for _ in range(rng.integers(2, 4)))
        return (f"N{rng.integers(12)}", *kids)

    def leaves(node):
        if isinstance(node[1], str):
            return [(node[1], node[0])]
        return [leaf for child in node[1:] for leaf in leaves(child)]

    trees = [("S", tree(3), tree(3)) for _ in range(n)]
    X = [leaves(t) for t in trees]
    structure = Grammar().bind(X, trees)
    x = structure.encode(X)
    return Problem(
        structure, BracketF1().bind(structure.label_count()),
        Formulation("margin", "linear"), x, structure.encode_labels(x, trees),
        np.full(n, 0.1),
    )  # fmt: skip


def cluster(workers: int):
    from cluster import Cluster

    return Cluster(workers, scratch=tempfile.mkdtemp(prefix="dask-"))


def dask_engine(address: str, patience: float = 60.0):
    from maxmargin.engines import DaskEngine

    return DaskEngine(address, patience)


def seconds_of(task, repeat: int = 3) -> float:
    """Least wall seconds of several calls, after one that does not count."""
    task()
    clock = []
    for _ in range(repeat):
        start = time.perf_counter()
        task()
        clock.append(time.perf_counter() - start)
    return min(clock)
