"""The length of a motif: origins of replication in yeast, held-out accuracy and ROC area.

    python -m benchmarks.motifs
    python -m benchmarks.motifs --lengths 11 17 --restarts 4

Every tenth pair of sequences in the order of the file is the test set (282 sequences are
origins, 1128 are not). Each length is scored by cross-validation of the training part, as
``MotifSVM(length=[..])`` does, and by a model of the whole training part on the test set.
Both classes count alike (``class_weight="balanced"``); "accuracy" is the mean of the shares
of both classes that are right. The first row scores sequences by their share of A and T.
Times are CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time

import numpy as np

from benchmarks.tasks import data_folder
from maxmargin import MotifSVM
from maxmargin.metrics import roc_area


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=[8, 11, 14, 17, 21])
    parser.add_argument("--C", type=float, default=0.3)
    parser.add_argument("--restarts", type=int, default=1)
    args = parser.parse_args()
    X, y, held_out = sequences()
    train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    truth = y[test]
    content = np.array([sum(c in "AT" for c in X[i]) / len(X[i]) for i in test])
    threshold = np.median(content)
    show("A and T", truth, content - threshold, "")
    settings = {
        "order": 1, "both_strands": True, "C": args.C, "restarts": args.restarts,
        "class_weight": "balanced", "tol": 0.01, "random_state": 0,
    }  # fmt: skip
    start = time.process_time()
    chosen = MotifSVM(length=args.lengths, **settings)
    chosen.fit([X[i] for i in train], y[train])
    seconds = time.process_time() - start
    for length in args.lengths:
        model = MotifSVM(length=length, **settings)
        model.fit([X[i] for i in train], y[train])
        scores = model.decision_function([X[i] for i in test])
        folds = f"cross-validation {chosen.length_scores_[length]:.3f}"
        show(f"length {length}", truth, scores, f"{folds}  {model.consensus()}")
    sys.stdout.write(f"chosen: {chosen.length_}, in {seconds:.0f} s\n")


def sequences() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Sequences, whether they are origins, and which are held out."""
    X, y = [], []
    with gzip.open(data_folder() / "yeast_ars" / "yeast_ars.tsv.gz", "rt") as file:
        for line in file:
            label, *_, sequence = line.rstrip("\n").split("\t")
            X.append(sequence)
            y.append(int(label == "+"))
    return X, np.array(y), np.arange(len(X)) // 2 % 10 == 0


def show(name: str, truth: np.ndarray, scores: np.ndarray, more: str) -> None:
    """One line."""
    right = [((scores > 0) == truth)[truth == label].mean() for label in (0, 1)]
    area = roc_area(truth, scores)
    sys.stdout.write(
        f"{name:10s} accuracy {np.mean(right):.3f}  ROC {area:.3f}  {more}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
