"""What training in batches costs, beside one fit on all data.

    python -m benchmarks.streams

1500 scanned digits (scikit-learn's) in 30 batches of 50, and 240 synthetic label sequences
in 12 batches of 20; CPU seconds, loops compiled before the clock starts.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from maxmargin import ChainSVM, MulticlassSVM


def sequences(n, seed=0, labels=8, features=20):
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(labels, features))
    X, Y = [], []
    for _ in range(n):
        y = np.cumsum(rng.integers(3, size=rng.integers(4, 12))) % labels
        X.append(centre[y] + 2.0 * rng.normal(size=(len(y), features)))
        Y.append(y.tolist())
    return X, Y


def clocked(task):
    begin = time.process_time()
    out = task()
    return out, time.process_time() - begin


def in_batches(model, X, y, size, classes):
    model = clone(model)
    for s in range(0, len(y), size):
        model.partial_fit(X[s : s + size], y[s : s + size], classes=classes)
    return model


def compare(name, model, X, y, size, classes):
    clone(model).fit(X[: 2 * size], y[: 2 * size])  # compiles
    in_batches(model, X[: 2 * size], y[: 2 * size], size, classes)
    whole, once = clocked(lambda: clone(model).fit(X, y))
    stream, total = clocked(lambda: in_batches(model, X, y, size, classes))
    n = -(-len(y) // size)
    print(f"{name}: fit {once:.3f} s, {n} batches {total:.2f} s ({total / n:.3f} each)")
    for what, result in (("fit", whole.result_), ("batches", stream.result_)):
        print(f"  {what}: {result.summary()}")


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    compare("digits", MulticlassSVM(), X[:1500] / 16.0, y[:1500], 50, range(10))
    X, Y = sequences(240)
    compare("sequences", ChainSVM(C=0.1), X, Y, 20, list(range(8)))


if __name__ == "__main__":
    main()
