"""MultilabelSVM on scene and yeast: F1 with and without thresholds chosen for it.

    python -m benchmarks.multilabel
    python -m benchmarks.multilabel --probabilities

C = 1; thresholds are chosen by three folds of the training part. LinearSVC with the hinge
loss is the same machine without thresholds. Times are CPU seconds of one process.

With --probabilities: mean squared error and log loss of the probabilities of the test
part, calibrated by three folds of the training part, and for comparison those of the
shares of the labels in the training part.
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
        if "--probabilities" in sys.argv[1:]:
            show_probabilities(name, X, Y, test, truth)
            continue
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


def show_probabilities(
    name: str, X: np.ndarray, Y: np.ndarray, test: np.ndarray, truth: np.ndarray
) -> None:
    """One line for calibrated probabilities, one for shares."""
    model = MultilabelSVM(C=1.0, calibration=3).fit(X, Y)
    shares = np.broadcast_to(Y.mean(axis=0), truth.shape)
    for who, p in (("calibrated", model.predict_proba(test)), ("shares", shares)):
        squared = ((p - truth) ** 2).mean()
        loss = -np.log(np.where(truth == 1, p, 1.0 - p)).mean()
        sys.stdout.write(
            f"{name:8s} {who:12s} squared error {squared:.3f} log loss {loss:.3f}\n"
        )


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
