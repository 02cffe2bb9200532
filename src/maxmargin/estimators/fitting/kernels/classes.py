"""Classifiers with a kernel: the best classes and the hardest rows, by scores alone."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.estimators.fitting.inputs import by_position, output_at
from maxmargin.estimators.fitting.kernels.mapped import KernelMixin
from maxmargin.reports.explanation import RIGHT, Hard


class KernelClasses(KernelMixin):
    """A kernel has no weights of features, but every class has a score."""

    classes_: np.ndarray

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes (n, k); for two classes their difference (n,)."""

    def best_few(self, x: Any, k: int = 3) -> list[tuple[Any, float]]:
        """The k best classes of ONE row with their scores, best first."""
        if self.kernel is None or self._has_pairs():
            return super().best_few(x, k)
        row = x if hasattr(x, "shape") and len(x.shape) == 2 else [x]
        return self._best_classes(self._class_scores(row)[0], k)

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose true output scores furthest below the best output.

        See `StructuredEstimator.hardest`.
        """
        if self.kernel is None:
            return super().hardest(X, y, n, most)
        number = {label: c for c, label in enumerate(self.classes_.tolist())}
        out = []
        for i, row in enumerate(
            self._class_scores(by_position(X)[: min(most, len(y))])
        ):
            truth, few = output_at(y, i), self._best_classes(row, 3)
            if truth not in number:  # training has not shown it: it has no score
                out.append(Hard(i, truth, math.inf, few, possible=False))
                continue
            short_by = float(row.max() - row[number[truth]])
            short_by = 0.0 if short_by <= RIGHT else short_by
            tied = short_by == 0.0 and few[0][0] != truth
            out.append(Hard(i, truth, short_by, few, tied=tied))
        return sorted(out, key=lambda case: (-case.short_by, not case.tied))[:n]

    def _class_scores(self, X: Any) -> Floats:
        """A score for each class; those of two classes differ by the decision value."""
        scores = self.decision_function(X)
        return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores

    def _best_classes(self, row: Floats, k: int) -> list[tuple[Any, float]]:
        order = np.argsort(-row, kind="stable")[:k]
        return [(self.classes_[c], float(row[c])) for c in order]
