"""Ranking on OHSUMED beside LambdaMART: the five folds of LETOR.

    pip install lightgbm        # for LambdaMART; without it that row is left out
    python -m benchmarks.ranking

Fold k tests on part k, validates on the part before and trains on the other three. Every
method chooses its setting by MAP on the validation part: C of `RankingSVM`, the number of
leaves, trees and the rate of LambdaMART. Features are scaled to 0 .. 1 by query. Figures
are means over all 106 queries; NDCG has the discount of LETOR. Times are CPU seconds of
all trainings of a method.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.tasks import data_folder
from maxmargin import RankingSVM
from maxmargin.baselines.pairwise_ranking import PairwiseRanking
from maxmargin.io import read_letor
from maxmargin.metrics import average_precision, ndcg_at_k, precision_at_k

Scorer = Callable[[Any], list[Any]]


def folds() -> Iterator[tuple[Any, Any, Any]]:
    """(training, validation, test) parts, each (X, y)."""
    folder = data_folder() / "letor_ohsumed"
    parts = [
        read_letor(folder / f"part{k}.txt.gz").normalized()[:2] for k in range(1, 6)
    ]
    for k in range(5):
        three = [parts[(k + j) % 5] for j in (1, 2, 3)]
        train = tuple([q for part in three for q in part[a]] for a in (0, 1))
        yield train, parts[k - 1], parts[k]


def svm(loss: str) -> Callable[[Any], Iterator[tuple[str, Scorer]]]:
    """RankingSVM for several C."""

    def models(train: Any) -> Iterator[tuple[str, Scorer]]:
        for C in (0.1, 1.0, 10.0, 100.0):
            model = RankingSVM(k=10, C=C, loss=loss, tol=0.01).fit(*train)
            yield f"C={C:g}", model.decision_function

    return models


def pairwise(train: Any) -> Iterator[tuple[str, Scorer]]:
    """The pairwise ranking SVM."""
    for C in (0.1, 1.0, 10.0, 100.0):
        model = PairwiseRanking(C=C, tol=0.01).fit(*train)
        yield f"C={C:g}", model.decision_function


def lambdamart(train: Any) -> Iterator[tuple[str, Scorer]]:
    """LambdaMART of LightGBM."""
    import lightgbm

    X, y = np.concatenate(train[0]), np.concatenate(train[1])
    sizes = [len(g) for g in train[1]]
    for leaves, rate, trees in itertools.product((4, 8, 31), (0.03, 0.1), (50, 200)):
        model = lightgbm.LGBMRanker(
            num_leaves=leaves, learning_rate=rate, n_estimators=trees, n_jobs=1,
            min_child_samples=20, random_state=0, verbose=-1,
        ).fit(X, y, group=sizes)  # fmt: skip
        name = f"leaves={leaves}, rate={rate}, trees={trees}"
        yield name, lambda queries, m=model: [m.predict(x) for x in queries]


def measures(grades: Any, scores: Any) -> list[float]:
    """MAP, P@1, P@10, NDCG@1, NDCG@10 of one query."""
    return [
        average_precision(grades, scores),
        precision_at_k(grades, scores, 1),
        precision_at_k(grades, scores, 10),
        ndcg_at_k(grades, scores, 1, letor=True),
        ndcg_at_k(grades, scores, 10, letor=True),
    ]


def main() -> None:
    """Print the table."""
    methods = {
        'RankingSVM(loss="map")': svm("map"),
        'RankingSVM(loss="ndcg-letor")': svm("ndcg-letor"),
        'RankingSVM(loss="precision")': svm("precision"),
        'RankingSVM(loss="roc")': svm("roc"),
        "pairwise ranking SVM": pairwise,
    }
    if importlib.util.find_spec("lightgbm"):
        methods["LambdaMART (LightGBM)"] = lambdamart
    data = list(folds())
    for name, models in methods.items():
        start, rows, chosen = time.process_time(), [], []
        for train, check, test in data:
            best, setting, kept = -1.0, "", None
            for label, scorer in models(train):
                value = np.mean(
                    [
                        average_precision(g, s)
                        for g, s in zip(check[1], scorer(check[0]))
                    ]
                )
                if value > best:
                    best, setting, kept = float(value), label, scorer(test[0])
            rows += [measures(g, s) for g, s in zip(test[1], kept)]
            chosen.append(setting)
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
        figures = " ".join(f"{v:.4f}" for v in mean)
        sys.stdout.write(
            f"{name:32s} MAP P@1 P@10 NDCG@1 NDCG@10: {figures}  (MAP +- {error[0]:.4f})  "
            f"{time.process_time() - start:.1f} CPU s; {'; '.join(chosen)}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
