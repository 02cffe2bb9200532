"""Measures of rankings as scorers of scikit-learn, for GridSearchCV and its like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from maxmargin.core.data.arrays import is_whole
from maxmargin.metrics.ranking import (
    average_precision,
    mean_over_queries,
    ndcg_at_k,
    precision_at_k,
    roc_area,
)

MEASURES = ("ndcg", "ndcg-letor", "map", "precision", "roc")


@dataclass(frozen=True)
class RankingScorer:
    """A measure of rankings that calls as `scorer(estimator, X, y, qid=None)`.

    Made by `ranking_scorer`. It asks for `qid` where scikit-learn routes metadata.
    """

    measure: str
    k: int

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        """Mean of the measure over queries."""
        scores = estimator.decision_function(X)
        if qid is not None:
            names, grades = np.asarray(qid), np.asarray(y)
            if names.shape != grades.shape:
                raise ValueError(
                    f"{names.size} entries of qid for {grades.size} grades"
                )
            scores = np.asarray(scores)
            rows = [np.flatnonzero(names == name) for name in np.unique(names)]
            y, scores = [grades[r] for r in rows], [scores[r] for r in rows]
        elif len(y) and np.ndim(scores[0]) == 0:
            raise ValueError(
                "X is one table of documents: the scorer needs qid, which scikit-learn "
                "passes on with enable_metadata_routing=True and fit(.., qid=..)"
            )
        return mean_over_queries(self._of_query(), y, scores)

    def _of_query(self) -> Callable[..., float]:
        if self.measure == "map":
            return average_precision
        if self.measure == "roc":
            return roc_area
        if self.measure == "precision":
            return partial(precision_at_k, k=self.k)
        return partial(ndcg_at_k, k=self.k, letor=self.measure == "ndcg-letor")

    def get_metadata_routing(self) -> MetadataRequest:
        """Says that `qid` is wanted (scikit-learn's metadata routing)."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request


def ranking_scorer(measure: str = "ndcg", k: int = 10) -> RankingScorer:
    """A scorer for `GridSearchCV(scoring=...)`, `cross_val_score` and `PathCV`.

    Parameters
    ----------
    measure : {"ndcg", "ndcg-letor", "map", "precision", "roc"}
        Mean over queries of NDCG or precision among the first k, of average precision,
        or of the ROC area.
    k : int
        Number of places that count; not used by "map" and "roc".

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from maxmargin import RankingSVM
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(RankingSVM(k=3).set_fit_request(qid=True),
    ...                           {"C": [0.1, 1.0]}, cv=GroupKFold(3),
    ...                           scoring=ranking_scorer("ndcg", k=5))
    ...     best = search.fit(X, y, qid=qid, groups=qid).best_score_
    >>> bool(best > 0.9)
    True
    """
    if measure not in MEASURES:
        raise ValueError(
            f"measure={measure!r} is not known: choose from {', '.join(MEASURES)}"
        )
    if not is_whole(k) or k < 1:
        raise ValueError(
            f"k={k!r}: the number of places must be a whole number above 0"
        )
    return RankingScorer(measure, int(k))
