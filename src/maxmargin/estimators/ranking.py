"""RankingSVM: rank the documents of queries."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator, example_C, seed_of
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    named_loss,
    object_array,
)
from maxmargin.estimators.fitting.parameter_types import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.losses.ranking import (
    AveragePrecision,
    DiscountedLoss,
    NDCGAtK,
    PrecisionAtK,
    RocArea,
)
from maxmargin.metrics.ranking import (
    average_precision,
    mean_over_queries,
    ndcg_at_k,
    precision_at_k,
    roc_area,
)
from maxmargin.structures.ranking.orders import FullOrder
from maxmargin.structures.ranking.structure import Ranking


@describe_parameters()
class RankingSVM(StructuredEstimator):
    r"""Ranking that optimises precision@k, NDCG@k, MAP or ROC area.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_q \big( \max_h [\Delta(y_q, h) +
              \langle w, \psi(x_q, h) \rangle] - \max_{h \sim y_q} \langle w,
              \psi(x_q, h) \rangle \big), \quad \psi(x, h) = \sum_{j \le k} D_j x_{h_j}

    The order h of the documents is hidden. For "map" and "roc" all places count:
    :math:`\psi` is the mean of :math:`x_a - x_b` over all pairs with a before b.

    Parameters
    ----------
    k : int
        Number of top places that count; not used by "map" and "roc".
    C : float
        Weight of the training errors in the objective.
    loss : {"precision", "ndcg", "ndcg-letor", "map", "roc"}
        What is optimised: precision at k, NDCG at k, NDCG at k with the discount of LETOR,
        mean average precision, or the area under the ROC curve.
    init : {"classification"} or array
        Weights to start from, which matter here. "classification": those of a linear SVM
        that separates relevant documents from others, with the same total weight for each
        query.
    init_C : float
        C of that classification.
    restarts : int
        Number of starts; further ones are from perturbed initial weights. The one that
        reaches the lowest objective is kept.

    Attributes
    ----------
    coef_, init_coef_ : array (features,)
        Learned and initial weights.
    result_ : LatentResult
        Certificate of the last convex problem, and `outer`, one row per completion.

    References
    ----------
    Yu 2011, section 5.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import RankingSVM
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(20, 3)) for _ in range(10)]
    >>> y = [(x[:, 0] > 0.5).astype(int) for x in X]
    >>> model = RankingSVM(k=3).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> len(model.predict(X)[0])
    20
    """

    structure_: Ranking

    def __init__(
        self,
        k: int = 10,
        C: float = 1.0,
        *,
        loss: LossChoice = "precision",
        init: Any = "classification",
        init_C: float = 10.0,
        restarts: int = 1,
        rescaling: str = "margin",
        penalty: str = "linear",
        solver: SolverChoice = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        engine: EngineChoice = None,
        random_state: Seed = None,
        warm_start: bool = False,
        callbacks: CallbackChoice = None,
        checkpoint: CheckpointChoice = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.C = C
        self.loss = loss
        self.init = init
        self.init_C = init_C
        self.restarts = restarts
        self.rescaling = rescaling
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _structure(self, X: Any, y: Any) -> Ranking:
        if self.k < 1:
            raise ValueError(f"k={self.k!r}: at least one place must count")
        loss = named_loss(self.loss, self._known_losses(Ranking()))
        if loss.form == "order":
            return FullOrder()
        assert isinstance(loss, DiscountedLoss)
        discount = loss.bind(self.k).discount()
        return Ranking(self.k, discount, binary=isinstance(loss, PrecisionAtK))

    def _known_losses(self, structure: Structure) -> LossesByName:
        letor = NDCGAtK(letor=True)
        return {
            "precision": PrecisionAtK(), "ndcg": NDCGAtK(), "ndcg-letor": letor,
            "map": AveragePrecision(), "roc": RocArea(),
        }  # fmt: skip

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X : sequence of arrays (documents, features), one per query
        y : sequence of arrays (documents,) of grades 0, 1, 2, ...
        sample_weight : array (queries,), optional
            Factor on C of each query. Queries whose documents are all relevant, or all
            not relevant, are ignored.
        """
        super().fit(X, y, sample_weight)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_same_length(X, y)
        self._check_container(X)
        X, y = by_position(X), by_position(y)
        if sample_weight is not None:
            example_C(self.C, sample_weight, len(y))
        _check_queries(X, y)
        weight = self._query_weights(y, sample_weight)
        if not weight.any():
            raise ValueError(
                "no query has both relevant and other documents, and a weight"
            )
        some = np.flatnonzero(weight > 0)
        rows = [X[i] for i in some], [y[i] for i in some]
        structure = self._structure(*rows).bind(*rows)
        x = structure.encode(rows[0])
        truth = structure.encode_labels(x, rows[1])
        init = self.init_coef_ = self._initial(*rows)
        return TrainingData(structure, x, truth, weight[some], *rows, init=init)

    def _examples(self, y: Any, sample_weight: SampleWeight) -> Ints:
        return np.flatnonzero(self._query_weights(y, sample_weight) > 0)

    def _query_weights(self, y: Any, sample_weight: SampleWeight) -> Floats:
        """Weight of each query; zero if all of its documents are alike."""
        mixed = np.array([0 < np.count_nonzero(g) < len(g) for g in y], float)
        return mixed if sample_weight is None else mixed * np.asarray(sample_weight)

    def _weight_names(self) -> list[str]:
        return [f"feature {j}" for j in range(self.structure_.dim)]

    def _initial(self, X: Sequence[Any], y: Sequence[Any]) -> Floats:
        if not isinstance(self.init, str):
            return np.ascontiguousarray(self.init, dtype=np.float64)
        if self.init != "classification":
            raise ValueError(
                f"init={self.init!r} is neither 'classification' nor an array"
            )
        flat, grades = np.concatenate(X), np.concatenate(y)
        size = np.concatenate([np.full(len(g), 1.0 / len(g)) for g in y])
        first = LinearSVC(
            C=self.init_C, loss="hinge", max_iter=5000, tol=1e-3,
            class_weight="balanced", random_state=seed_of(self.random_state),
        )  # fmt: skip
        with warnings.catch_warnings():  # rough weights will do to start from
            warnings.simplefilter("ignore", ConvergenceWarning)
            first.fit(flat, grades > 0, sample_weight=size)
        return np.ascontiguousarray(first.coef_[0])

    def decision_function(self, X: Any) -> list[Floats]:
        """Scores of the documents of each query."""
        check_is_fitted(self, "coef_")
        x = self.structure_.encode(X)
        return self.structure_.scores(x, self.coef_)

    def predict(self, X: Any) -> np.ndarray:
        """Documents of each query, best first."""
        scores = self.decision_function(X)
        return object_array([np.argsort(-s, kind="stable").tolist() for s in scores])

    def score(self, X: Any, y: Any) -> float:
        """Mean over queries of the measure optimised: precision@k, NDCG@k, ..."""
        check_same_length(X, y)
        scores = self.decision_function(X)
        loss = named_loss(self.loss, self._known_losses(Ranking()))
        if isinstance(loss, AveragePrecision):
            return mean_over_queries(average_precision, y, scores)
        if isinstance(loss, RocArea):
            return mean_over_queries(roc_area, y, scores)
        if isinstance(loss, PrecisionAtK):
            return mean_over_queries(precision_at_k, y, scores, self.k)
        assert isinstance(loss, NDCGAtK)
        return mean_over_queries(ndcg_at_k, y, scores, self.k, letor=loss.letor)


def _check_queries(X: Any, y: Any) -> None:
    """Refuse inputs that are not matrices, and grades that are not numbers."""
    for i, (x, grades) in enumerate(zip(X, y, strict=True)):
        if sp.issparse(x) or np.ndim(x) != 2:
            raise ValueError(
                f"query {i}: X has one dense matrix (documents, features) per query, "
                f"not a {type(x).__name__}; the rows of one table must be grouped by query"
            )
        if np.ndim(grades) != 1 or np.asarray(grades).dtype.kind not in "biuf":
            raise ValueError(f"query {i}: y has a list of grades 0, 1, 2, .. per query")
