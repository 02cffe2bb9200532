"""Probabilities of classes, and answers that stop at a node of a taxonomy.

p(y) ~ exp(score(y) / T),    T fitted on held-out examples
answer = argmin_z  sum_y p(y) cost(z, y)      over the nodes z of the taxonomy
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from maxmargin.calibration.candidates import Candidates
from maxmargin.core.data.arrays import Floats
from maxmargin.estimators.calibrating.calibration import (
    MOST,
    Calibration,
    calibration_of,
)
from maxmargin.estimators.calibrating.outputs import NONE_FOUND
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import object_array
from maxmargin.structures.classes.taxonomy import Taxonomy


def is_calibrated(model: Any) -> bool:
    """Whether `predict_proba` is there; the error says how to get it."""
    if isinstance(vars(model).get("calibration_"), Calibration):
        return True
    raise AttributeError(
        f"this {type(model).__name__} is not calibrated, so it has no probabilities: set "
        "calibration=3 before fit, or call calibrate(X, y) with data that it was not "
        "trained on"
    )


def class_probabilities(model: Any, scores: Floats) -> Floats:
    """(n, k) from the scores of classes, or from their difference for two classes."""
    known = calibration_of(model)
    if known.outputs is None:
        raise ValueError(NONE_FOUND.format(known.n))
    if scores.ndim == 1:
        scores = np.column_stack((np.zeros(len(scores)), scores))
    return known.outputs(Candidates.of_table(scores)).scores.reshape(scores.shape)


def least_risk(
    p: Floats, taxonomy: Taxonomy, classes: list[Any], cost: float
) -> np.ndarray:
    """The node of the lowest expected cost for each row of probabilities."""
    nodes, table = taxonomy.answer_costs(classes, cost)
    # Of equal ones the first: classes stand before inner nodes.
    best = (p @ table.T).argmin(axis=1)
    return object_array([nodes[z] for z in best])


class ClassProbabilities(StructuredEstimator):
    """Probabilities of a classifier, and answers at the nodes of its taxonomy."""

    calibration: int = 0
    taxonomy: Any = None
    classes_: np.ndarray

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes (n, k); for two classes their difference (n,)."""
        raise NotImplementedError

    def calibrate(
        self, X: Any, y: Any, *, cv: int | None = None, n: int = MOST
    ) -> Self:
        """Learn how far scores can be trusted; `predict_proba` and others then work.

        Parameters
        ----------
        X, y : data
            Data that the model was not trained on; or, with `cv`, the training data.
        cv : int, optional
            Number of folds: each is scored by a model trained on the others.
        n : int
            Number of best classes that `predict_ranked` lists; all by default.
        """
        return super().calibrate(X, y, cv=cv, n=n)

    def _unknown(self, y: Any) -> Sequence[int]:
        return np.flatnonzero(~np.isin(np.asarray(y), self.classes_)).tolist()

    @available_if(is_calibrated)
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, k) in the order of `classes_`.

        Scores divided by a temperature and normalised, where the temperature comes from
        held-out data: see `calibrate`, and `calibration`. The likeliest class is the one
        that `predict` gives.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from maxmargin import MulticlassSVM
        >>> X, y = load_iris(return_X_y=True)
        >>> model = MulticlassSVM(calibration=3).fit(X, y)
        >>> p = model.predict_proba(X[:1])
        >>> p.shape, bool(p[0, 0] > 0.9)
        ((1, 3), True)
        """
        return class_probabilities(self, self.decision_function(X))

    def predict_node(self, X: Any, cost: float = 0.3) -> np.ndarray:
        """The class of each row, or a node above it where the model is not sure.

        Of all nodes z of the taxonomy the one with the lowest expected cost under
        `predict_proba`. If y is the true class, z costs ``cost * height(z)`` where z is y
        or above it, and otherwise the height of the first common ancestor of z and y.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features)
        cost : float
            What it costs to leave one level open, from 0 to 1. At 1, answers are always
            classes; the smaller it is, the sooner an answer stops higher up.

        Returns
        -------
        array (n,) of objects
            Nodes of the taxonomy.
        """
        if self.taxonomy is None:
            raise ValueError(
                f"predict_node needs a taxonomy: {type(self).__name__}(taxonomy=..)"
            )
        is_calibrated(self)
        p, tree = self.predict_proba(X), Taxonomy.of(self.taxonomy)
        return least_risk(p, tree, self.classes_.tolist(), cost)
