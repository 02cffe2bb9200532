"""MultilabelSVM on scene and yeast: F1 with and without thresholds chosen for it.

    python -m benchmarks.multilabel

C = 1; thresholds are chosen by three folds of the training part. LinearSVC with the hinge
loss is the same machine without thresholds. Times are CPU seconds of one process.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from benchmarks.tasks import data_folder
from maxmargin import MultilabelSVM

SETS = {"scene": "scene", "yeast": "yeast_multilabel"}


def main() -> None:
    """Print the table."""
    for name, folder in SETS.items():
        path = next((data_folder() / folder).glob("*.npz"))
        data = {key.lower(): value for key, value in np.load(path).items()}
        X, Y = data["x_train"].astype(float), data["y_train"].astype(int)
        test, truth = data["x_test"].astype(float), data["y_test"].astype(int)
        for thresholds in (None, "micro", "macro"):
            start = time.process_time()
            model = MultilabelSVM(C=1.0, thresholds=thresholds).fit(X, Y)
            seconds = time.process_time() - start
            show(name, f"thresholds={thresholds}", truth, model.predict(test), seconds)
        start = time.process_time()
        columns = [
            LinearSVC(loss="hinge", C=1.0, max_iter=10**5).fit(X, y).predict(test)
            for y in Y.T
        ]
        seconds = time.process_time() - start
        show(name, "LinearSVC", truth, np.column_stack(columns), seconds)


def show(
    name: str, who: str, truth: np.ndarray, found: np.ndarray, seconds: float
) -> None:
    """One line."""
    scores = [f1_score(truth, found, average=a) for a in ("micro", "macro")]
    told = " ".join(f"{s:.3f}" for s in scores)
    sys.stdout.write(f"{name:8s} {who:20s} micro, macro F1 {told}  {seconds:.1f} s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
