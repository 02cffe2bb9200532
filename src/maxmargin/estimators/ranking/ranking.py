"""RankingSVM: rank the documents of queries."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from maxmargin.core.data.arrays import Floats, Ints, is_whole
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_parameters,
    check_same_length,
    example_C,
    named_loss,
    object_array,
    seed_of,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.estimators.ranking.query_tables import (
    is_table,
    query_rows,
    split_table,
    table_and_queries,
    weight_of_queries,
)
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
from maxmargin.reports.drawing.marked_text import ranking_html
from maxmargin.reports.explanation import Hard, SupportTable
from maxmargin.solvers.base import Result
from maxmargin.structures.ranking.orders import FullOrder
from maxmargin.structures.ranking.structure import Documents, Ranking


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
    init_coef_: Floats

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
        regularizer: str = "l2",
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
        self.regularizer = regularizer
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
        if not is_whole(self.k) or self.k < 1:
            raise ValueError(
                f"k={self.k!r}: the number of places that count must be a whole number, "
                "at least one"
            )
        loss = named_loss(self.loss, self._known_losses(Ranking()))
        if loss.form == "order":
            return FullOrder()
        if not isinstance(loss, DiscountedLoss):
            raise ValueError(f"loss={self.loss!r:.40} is not a loss of rankings")
        discount = loss.bind(self.k).discount()
        return Ranking(self.k, discount, binary=isinstance(loss, PrecisionAtK))

    def _known_losses(self, structure: Structure) -> LossesByName:
        letor = NDCGAtK(letor=True)
        return {
            "precision": PrecisionAtK(), "ndcg": NDCGAtK(), "ndcg-letor": letor,
            "map": AveragePrecision(), "roc": RocArea(),
        }  # fmt: skip

    def fit(
        self, X: Any, y: Any, sample_weight: SampleWeight = None, qid: Any = None
    ) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X : sequence of matrices (documents, features), one per query
            Arrays or sparse matrices. With `qid`: one matrix or data frame of all documents.
        y : sequence of arrays (documents,) of grades 0, 1, 2, ...
            With `qid`: one array of all grades.
        sample_weight : array (queries,), optional
            Factor on C of each query; with `qid` in the order in which the queries first
            appear, or one for each document, the same within a query. Queries whose
            documents are all relevant, or all not relevant, are ignored.
        qid : array (documents,) or str, optional
            The query of each document; equal ones need not stand together. A string names
            a column of the data frame X, which then is no feature.

        Examples
        --------
        >>> import numpy as np
        >>> from maxmargin import RankingSVM
        >>> X, qid = np.arange(8.0).reshape(8, 1) % 4, [1, 1, 1, 1, 2, 2, 2, 2]
        >>> model = RankingSVM(k=1).fit(X, [0, 0, 0, 1] * 2, qid=qid)
        >>> model.predict(X, qid=qid).tolist()
        [4, 3, 2, 1, 4, 3, 2, 1]
        """
        super().fit(*self._by_query(X, y, sample_weight, qid=qid))
        return self

    def _by_query(
        self, X: Any, y: Any, sample_weight: SampleWeight, qid: Any = None
    ) -> tuple[Any, Any, SampleWeight]:
        """Queries of a table, or the data as they are; remembers names of columns."""
        X, qid = table_and_queries(X, qid)
        table = X
        if qid is not None:
            check_same_length(X, y)
            groups = query_rows(qid, X)
            if sample_weight is not None:
                sample_weight = weight_of_queries(sample_weight, groups)
            X, y = split_table(X, groups), [np.asarray(y)[rows] for rows in groups]
        _check_feature_names(self, table, reset=True)
        return X, y, sample_weight

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        self._check_container(X)
        X, y = by_position(X), by_position(y)
        if sample_weight is not None:
            example_C(self.C, sample_weight, len(y))
        _check_queries(X, y)
        weight = self._query_weights(y, sample_weight)
        if not weight.any():
            raise ValueError(
                "no query (with a weight above zero) has both relevant and other "
                "documents: there is nothing to learn from"
            )
        some = np.flatnonzero(weight > 0)
        rows = [X[i] for i in some], [y[i] for i in some]
        structure = self._structure(*rows).bind(*rows)
        x = structure.encode(rows[0])
        truth = structure.encode_labels(x, rows[1])
        init = self.init_coef_ = self._initial(*rows, weight[some])
        return TrainingData(structure, x, truth, weight[some], *rows, init=init)

    def _examples(self, y: Any, sample_weight: SampleWeight) -> Ints:
        return np.flatnonzero(self._query_weights(y, sample_weight) > 0)

    def _query_weights(self, y: Any, sample_weight: SampleWeight) -> Floats:
        """Weight of each query; zero if all of its documents are alike."""
        mixed = np.array([0 < np.count_nonzero(g) < len(g) for g in y], float)
        return mixed if sample_weight is None else mixed * np.asarray(sample_weight)

    def _weight_names(self) -> list[str]:
        known = vars(self).get("feature_names_in_")
        if known is not None and len(known) == self.structure_.dim:
            return [str(name) for name in known]
        return [f"feature {j}" for j in range(self.structure_.dim)]

    def _initial(self, X: Sequence[Any], y: Sequence[Any], weight: Floats) -> Floats:
        if not isinstance(self.init, str):
            try:
                return np.ascontiguousarray(self.init, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"init={self.init!r:.40} is neither 'classification' nor an array"
                ) from None
        if self.init != "classification":
            raise ValueError(
                f"init={self.init!r} is neither 'classification' nor an array"
            )
        sparse = any(map(sp.issparse, X))
        flat = sp.vstack(X, format="csr") if sparse else np.concatenate(X)
        grades = np.concatenate(y)
        share = [np.full(len(g), w / len(g)) for g, w in zip(y, weight, strict=True)]
        first = LinearSVC(
            C=self.init_C, loss="hinge", max_iter=5000, tol=1e-3,
            class_weight="balanced", random_state=seed_of(self.random_state),
        )  # fmt: skip
        with warnings.catch_warnings():  # rough weights will do to start from
            warnings.simplefilter("ignore", ConvergenceWarning)
            first.fit(flat, grades > 0, sample_weight=np.concatenate(share))
        return np.ascontiguousarray(first.coef_[0])

    def decision_function(self, X: Any) -> Any:
        """Scores of documents: a list of arrays, one per query, or an array for a table."""
        check_is_fitted(self, "coef_")
        if is_table(X):
            _check_feature_names(self, X, reset=False)
            rows = [np.arange(X.shape[0])]
            x = self._documents(split_table(X, rows))
            return self.structure_.scores(x, self.coef_)[0]
        return self.structure_.scores(self._documents(X), self.coef_)

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """Documents of each query, best first.

        Parameters
        ----------
        X : as in `fit`
        qid : array (documents,) or str, optional
            The query of each document, where X is one table, or the name of its column.

        Returns
        -------
        orders : array of lists
            Numbers of the documents of each query. With `qid`: an array (documents,), the
            place of each document in the ranking of its query, from 1.
        """
        if qid is None:
            scores = self.decision_function(self._grouped(X))
            return object_array(
                [np.argsort(-s, kind="stable").tolist() for s in scores]
            )
        check_is_fitted(self, "coef_")
        X, qid = table_and_queries(X, qid)
        groups = query_rows(qid, X)
        places = np.empty(len(qid), np.int64)
        _check_feature_names(self, X, reset=False)
        for rows, order in zip(
            groups, self.predict(split_table(X, groups)), strict=True
        ):
            places[rows[order]] = np.arange(1, len(rows) + 1)
        return places

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """Mean over queries of the measure optimised: precision@k, NDCG@k, ..."""
        check_same_length(X, y, "score")
        X, y, _ = self._lists(X, y, qid)
        _check_queries(X, y)
        self.structure_.encode_labels(self._documents(X), y)  # refuses other grades
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

    def fit_path(
        self, X: Any, y: Any, Cs: Sequence[float],
        sample_weight: SampleWeight = None, qid: Any = None,
    ) -> list[Result]:  # fmt: skip
        """Fit for each C, from the smallest to the largest, warm-started.

        See `StructuredEstimator.fit_path`; `qid` is as in `fit`.
        """
        X, y, sample_weight = self._by_query(X, y, sample_weight, qid)
        return super().fit_path(X, y, Cs, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, sample_weight: SampleWeight = None, qid: Any = None
    ) -> Self:
        """Refused: the order of the documents is hidden, which needs all queries at once."""
        raise ValueError(
            "partial_fit is not available for outputs with hidden parts, such as the order of "
            "documents: use fit on all queries, with warm_start=True to go on"
        )

    def hardest(
        self, X: Any, y: Any, n: int = 5, most: int = 500, qid: Any = None
    ) -> list[Hard]:
        """The queries whose true order scores furthest below the best order.

        See `StructuredEstimator.hardest`; `qid` is as in `predict`.
        """
        check_is_fitted(self, "coef_")
        X, y, _ = self._lists(X, y, qid)
        return super().hardest(X, y, n, most)

    def support_structures(
        self, feature: str | int, X: Any, y: Any, n: int = 10,
        sample_weight: SampleWeight = None, qid: Any = None,
    ) -> SupportTable:  # fmt: skip
        """Which queries, against which wrong orders, made a weight.

        See `StructuredEstimator.support_structures`; `qid` is as in `fit`.
        """
        check_is_fitted(self, "coef_")
        X, y, sample_weight = self._lists(X, y, qid, sample_weight)
        return super().support_structures(feature, X, y, n, sample_weight)

    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: Any = None, *,
        title: str | None = None, command: str | None = None, qid: Any = None,
    ) -> None:  # fmt: skip
        """Write one HTML page about the model: certificate, scores, what it learned.

        See `StructuredEstimator.report`; `qid` is as in `predict`.
        """
        check_is_fitted(self, "coef_")
        if X is not None and y is not None:
            X, y, _ = self._lists(X, y, qid)
        super().report(path, X, y, title=title, command=command)

    def _lists(
        self, X: Any, y: Any, qid: Any, sample_weight: SampleWeight = None
    ) -> tuple[Any, Any, SampleWeight]:
        """Data with one matrix per query for a fitted model, also where X is a table."""
        if qid is None:
            return self._grouped(X), y, sample_weight
        check_is_fitted(self, "coef_")
        check_same_length(X, y)
        X, qid = table_and_queries(X, qid)
        groups = query_rows(qid, X)
        _check_feature_names(self, X, reset=False)
        if sample_weight is not None:
            sample_weight = weight_of_queries(sample_weight, groups)
        y = [np.asarray(y)[rows] for rows in groups]
        return split_table(X, groups), y, sample_weight

    def _grouped(self, X: Any) -> Any:
        """Refuse a table whose queries are not known."""
        if is_table(X):
            raise ValueError(
                "X is one table of documents: say which query each row belongs to, "
                "qid=..., or pass one matrix per query"
            )
        return X

    def _documents(self, X: Any) -> Documents:
        return self.structure_.encode(X)

    def _score_name(self) -> str:
        names = {"precision": "Precision", "ndcg": "NDCG", "ndcg-letor": "NDCG (LETOR)"}
        whole = {"map": "MAP", "roc": "ROC area"}
        if self.loss in whole:
            return whole[self.loss]
        if self.loss in names:
            return f"{names[self.loss]} among the first {self.k}"
        return super()._score_name()

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        scores = self.decision_function(X)
        k, measure = self.k, mean_over_queries
        return [
            (f"NDCG@{k}", measure(ndcg_at_k, y, scores, k)),
            ("precision@1", measure(precision_at_k, y, scores, 1)),
            ("MAP", measure(average_precision, y, scores)),
        ]

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        scores = self.decision_function([x])[0].tolist()
        return ranking_html(output, scores, grades=truth)


def _check_queries(X: Any, y: Any) -> None:
    """Refuse inputs that are not matrices, and grades that are not numbers."""
    for i, (x, grades) in enumerate(zip(X, y, strict=True)):
        if not sp.issparse(x) and np.ndim(x) != 2:
            raise ValueError(
                f"query {i}: X has one matrix (documents, features) per query, not a "
                f"{type(x).__name__}; for one table of all documents, pass qid=..."
            )
        if np.ndim(grades) != 1 or np.asarray(grades).dtype.kind not in "biuf":
            raise ValueError(f"query {i}: y has a list of grades 0, 1, 2, .. per query")
        bad = np.flatnonzero(~np.isfinite(np.asarray(grades, dtype=np.float64)))
        if len(bad):
            raise ValueError(
                f"query {i}, document {bad[0]}: the grade is {grades[bad[0]]}; leave out "
                "documents without a grade"
            )
