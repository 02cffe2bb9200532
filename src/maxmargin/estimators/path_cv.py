"""PathCV: choose C by cross-validation.

On each fold, one estimator is fitted for increasing C, to a loose tolerance and each
time from the dual solution of the previous C. The path ends when the mean score has
fallen for some values in a row, so the large, expensive values of C are often not
reached. The best C is then fitted once on all data, to the tolerance of the estimator.
benchmarks/path.py measures what this costs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.fitting.base import seed_of
from maxmargin.estimators.fitting.inputs import check_same_length
from maxmargin.estimators.fitting.model_files import load_as, save
from maxmargin.estimators.fitting.parameter_types import (
    Seed,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.path import checked_penalties
from maxmargin.estimators.fitting.training import path_over, train
from maxmargin.io.model_file.archive import MOST_BYTES
from maxmargin.io.model_file.model import Place

CS = tuple(10.0 ** (k / 2) for k in range(-6, 3))  # 0.001 .. 10, in half decades


@describe_parameters()
class PathCV(MetaEstimatorMixin, BaseEstimator):
    """An estimator of the package with C chosen by cross-validation.

    Parameters
    ----------
    estimator : StructuredEstimator
        The estimator to tune; its own C is ignored.
    Cs : sequence of float
        Values of C to try, from small to large.
    cv : int
        Number of folds. 1 holds out a quarter of the data once, which takes about a third
        of the time of three folds.
    tol : float
        Relative duality gap of the fits along the path.
    patience : int
        How many values of C may score worse than the best one before the path ends.
    scoring : callable
        ``scoring(estimator, X, y)``; by default the `score` of the estimator.
    random_state : int or RandomState
        Seed of the folds. None is 0, so that runs repeat.

    Attributes
    ----------
    C_ : float
        The C chosen.
    estimator_ : StructuredEstimator
        Fitted on all data.
    scores_ : dict
        Scores of the folds for each C that was tried.

    Examples
    --------
    >>> from maxmargin.structures.classes.structure import Multiclass
    >>> from maxmargin.estimators.structural import StructuralSVM
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> X = np.eye(3)[y] + 0.3 * rng.normal(size=(60, 3))
    >>> model = PathCV(StructuralSVM(Multiclass())).fit(X, y)
    >>> model.C_ in model.scores_, model.estimator_.C == model.C_
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        Cs: Any = CS,
        *,
        cv: int = 1,
        tol: float = 0.05,
        patience: int = 1,
        scoring: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.tol = tol
        self.patience = patience
        self.scoring = scoring
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose C on the folds, then fit on all data."""
        check_same_length(X, y)
        Cs = np.sort(checked_penalties(self.Cs)).tolist()
        folds = [_Fold(self, X, y, Cs, *rows) for rows in self._folds(len(y))]
        self.scores_: dict[float, list[float]] = {}
        best, worse = -np.inf, 0
        try:
            for C in Cs:
                self.scores_[C] = [fold.next_score() for fold in folds]
                mean = float(np.mean(self.scores_[C]))
                if mean > best:
                    best, worse, self.C_ = mean, 0, C
                elif mean < best:
                    worse += 1
                if worse > self.patience:
                    break
        finally:
            for fold in folds:
                fold.runs.close()
        self.estimator_ = clone(self.estimator).set_params(C=self.C_).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the estimator that was fitted on all data."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "score"))
    def score(self, X: Any, y: Any) -> float:
        """Score of the estimator that was fitted on all data."""
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(X, y))

    def save(self, path: Place, *, notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file; see `maxmargin.save`."""
        save(self, path, notes=notes)

    @classmethod
    def load(cls, path: Place, *, own: Any = (), most: int = MOST_BYTES) -> Self:
        """Read a model file; see `maxmargin.load`."""
        return load_as(cls, path, own=own, most=most)

    def _folds(self, n: int) -> list[tuple[Any, Any]]:
        splits = max(int(self.cv), 4 if self.cv == 1 else 2)
        folds = KFold(splits, shuffle=True, random_state=seed_of(self.random_state))
        return list(folds.split(np.arange(n)))[: int(self.cv)]


class _Fold:
    """One fold: an estimator that goes up the path, scored on what is held out."""

    def __init__(
        self, owner: PathCV, X: Any, y: Any, Cs: list[float], fit: Any, held_out: Any
    ) -> None:
        self.model = clone(owner.estimator).set_params(tol=owner.tol)
        self.test = _rows(X, held_out), _rows(y, held_out)
        self.scoring = owner.scoring
        data = self.model._training_data(_rows(X, fit), _rows(y, fit), None)
        plan = self.model._plan(data, C=1.0)
        self.runs: Any = train(self.model, plan, path_over(Cs))

    def next_score(self) -> float:
        """Fit with the next C, from the dual of the last one, and score."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            next(self.runs)
        if self.scoring is not None:
            return float(self.scoring(self.model, *self.test))
        return float(self.model.score(*self.test))


def _rows(items: Any, ids: Any) -> Any:
    """Some of the examples, in the container they came in."""
    if isinstance(items, list | tuple):
        return [items[i] for i in ids]
    return items[ids]
