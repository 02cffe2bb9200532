"""PathCV: choose C by cross-validation.

On each fold, one estimator is fitted for increasing C, to a loose tolerance and each
time from the dual solution of the previous C. The path ends when some values in a row
score worse than the best one, so the large, expensive values of C are often not reached;
a fall that the folds do not agree on counts half. The best C is then fitted once on all
data, to the tolerance of the estimator.
benchmarks/path.py measures what this costs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, is_whole
from maxmargin.engines.choose import choose_engine
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    jobs_of,
    seed_of,
    take_rows,
)
from maxmargin.estimators.fitting.parameters import (
    SampleWeight,
    Seed,
    describe_parameters,
)
from maxmargin.estimators.fitting.path import checked_penalties
from maxmargin.estimators.fitting.training import path_over, train
from maxmargin.estimators.ranking.ranking import RankingSVM
from maxmargin.estimators.saving.model_files import load_as, save
from maxmargin.io.model_file.archive import MOST_BYTES
from maxmargin.io.model_file.model import Place
from maxmargin.solvers.base import Status

CS = tuple(10.0 ** (k / 2) for k in range(-6, 3))  # 0.001 .. 10, in half decades


def _has(name: str) -> Callable[[Any], bool]:
    """Whether the estimator, the fitted one if there is one, has a method."""

    def check(search: Any) -> bool:
        getattr(vars(search).get("estimator_", search.estimator), name)
        return True  # otherwise AttributeError says what is missing

    return check


@describe_parameters()
class PathCV(MetaEstimatorMixin, BaseEstimator):
    """An estimator of the package with C chosen by cross-validation.

    Parameters
    ----------
    estimator : StructuredEstimator or Pipeline
        The estimator to tune, or a scikit-learn `Pipeline` that ends with it; its own C
        is ignored.
    Cs : sequence of float
        Values of C to try, from small to large.
    cv : int, splitter or iterable
        Number of folds, stratified by class for classifiers; or a splitter of
        scikit-learn, or pairs (train, test) of indices. 1 holds out a quarter of the data
        once, which takes about a third of the time of three folds.
    tol : float
        Relative duality gap of the fits along the path.
    patience : int
        How many values of C may score worse than the best one before the path ends. A
        fall counts half if it is no larger than its standard error over the folds, or,
        with a single fold, than one over the number of held-out examples.
    scoring : str or callable
        A name that scikit-learn knows ("f1_macro"), or ``scoring(estimator, X, y)``; by
        default the `score` of the estimator.
    random_state : int or RandomState
        Seed of the folds. None is 0, so that runs repeat.
    n_jobs : int
        Number of threads that fit folds side by side; -1 uses all cores. None is 1, or
        what ``joblib.parallel_config`` says. The estimator has its own `n_jobs`, for the
        work within a fit.

    Attributes
    ----------
    C_ : float
        The C chosen.
    estimator_ : StructuredEstimator or Pipeline
        Fitted on all data.
    classes_ : array
        Labels, where the estimator is a classifier.
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

    C_: float
    estimator_: Any
    scores_: dict[float, list[float]]

    def __init__(
        self,
        estimator: Any,
        Cs: Any = CS,
        *,
        cv: Any = 1,
        tol: float = 0.05,
        patience: int = 1,
        scoring: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.tol = tol
        self.patience = patience
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """A classifier if the estimator is one; the same kinds of input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Which part asks for which metadata (scikit-learn's metadata routing)."""
        fits = MethodMapping().add(caller="fit", callee="fit")
        scores = MethodMapping().add(caller="fit", callee="score")
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=fits)
        scorer = check_scoring(self.estimator, self.scoring)
        router.add(scorer=scorer, method_mapping=scores)
        if hasattr(self.cv, "split"):
            splits = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=splits)
        return router

    def fit(
        self, X: Any, y: Any, sample_weight: SampleWeight = None, **params: Any
    ) -> Self:
        """Choose C on the folds, then fit on all data.

        Parameters
        ----------
        X, y : data
        sample_weight : array (n,), optional
            Factor on C for each example.
        **params
            `groups` for the splitter; with scikit-learn's metadata routing, what the
            estimator, the scorer and the splitter ask for.
        """
        final = _final(self.estimator)
        X, y = indexable(X)[0], indexable(y)[0]
        sample_weight = indexable(sample_weight)[0]
        check_same_length(X, y)
        if is_classifier(self.estimator):
            check_classification_targets(np.asarray(by_position(y)))
        Cs = np.sort(checked_penalties(self.Cs)).tolist()
        routed = self._routed(sample_weight, params)
        rows = self._folds(X, y, routed.split)
        folds = [_Fold(self, X, y, Cs, routed, *ids) for ids in rows]
        self.scores_ = {}
        best, worse, one_of = -np.inf, 0.0, 1.0 / max(len(rows[0][1]), 1)
        engine = choose_engine(None, min(jobs_of(self.n_jobs), len(folds)))
        try:
            for C in Cs:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    self.scores_[C] = list(engine.map(_Fold.next_score, folds))
                mean = float(np.mean(self.scores_[C]))
                if mean > best:
                    best, worse, self.C_ = mean, 0.0, C
                elif mean < best:
                    fall = np.subtract(self.scores_[self.C_], self.scores_[C])
                    worse += _counted(fall, one_of)
                if worse > self.patience:
                    break
        finally:
            engine.close()  # waits for fits that are on their way
            for fold in folds:
                fold.runs.close()
        if not np.isfinite(best):
            raise ValueError(f"all scores of all folds are {best}: C cannot be chosen")
        chosen = {f"{final.prefix}C": self.C_}
        self.estimator_ = clone(self.estimator).set_params(**chosen)
        self.estimator_.fit(X, y, **final.fit_params(routed.fit))
        return self

    def predict(self, X: Any, **params: Any) -> Any:
        """Predict with the estimator that was fitted on all data, which gets `params`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X, **params)

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores of the estimator that was fitted on all data."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probabilities, where the estimator that was fitted on all data has them."""
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_nbest"))
    def predict_nbest(self, X: Any, k: int = 5, **params: Any) -> Any:
        """The k best outputs of each input with their scores, where they can be listed."""
        return self.estimator_.predict_nbest(X, k, **params)

    @available_if(_has("predict_set"))
    def predict_set(self, X: Any, coverage: float = 0.9, **params: Any) -> Any:
        """Outputs of each input among which the true one is, as often as `coverage`."""
        return self.estimator_.predict_set(X, coverage, **params)

    @available_if(_has("predict_ranked"))
    def predict_ranked(self, X: Any, n: int | None = None) -> Any:
        """The n best outputs of each input with their probabilities, best first."""
        return self.estimator_.predict_ranked(X, n)

    @available_if(_has("explain"))
    def explain(self, x: Any, *, n: int | None = None) -> Any:
        """Why the estimator that was fitted on all data predicts what it predicts."""
        return self.estimator_.explain(x, n=n)

    @available_if(_has("report"))
    def report(self, path: Any, X: Any = None, y: Any = None, **params: Any) -> None:
        """Write one HTML page about the estimator that was fitted on all data."""
        self.estimator_.report(path, X, y, **params)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score by `scoring` of the estimator that was fitted on all data.

        Parameters
        ----------
        X, y : data
        **params
            For the scorer, such as `qid`.
        """
        check_is_fitted(self, "estimator_")
        scorer = check_scoring(self.estimator_, self.scoring)
        return float(scorer(self.estimator_, X, y, **params))

    @property
    def classes_(self) -> Any:
        """Labels of the estimator that was fitted on all data."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns of X, where they have any."""
        return self.estimator_.feature_names_in_

    def save(self, path: Place, *, notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file; see `maxmargin.save`."""
        save(self, path, notes=notes)

    @classmethod
    def load(cls, path: Place, *, own: Any = (), max_bytes: int = MOST_BYTES) -> Self:
        """Read a model file; see `maxmargin.load`."""
        return load_as(cls, path, own=own, max_bytes=max_bytes)

    def _routed(self, sample_weight: SampleWeight, params: dict[str, Any]) -> _Routed:
        """Metadata for fitting, scoring and splitting."""
        if get_config().get("enable_metadata_routing"):
            if sample_weight is not None:
                params = {**params, "sample_weight": sample_weight}
            routed = process_routing(self, "fit", **params)
            split = routed.splitter.split if hasattr(self.cv, "split") else {}
            return _Routed(routed.estimator.fit, routed.scorer.score, split)
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise TypeError(f"PathCV.fit does not know the parameter {unknown[0]!r}")
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return _Routed(weight, {}, params)

    def _folds(self, X: Any, y: Any, split: dict[str, Any]) -> list[tuple[Any, Any]]:
        """Pairs (train, test) of positions."""
        y = by_position(y)
        if not is_whole(self.cv):
            splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            return list(splitter.split(X, y, **split))
        if self.cv < 1:
            raise ValueError(f"cv={self.cv!r}: at least one fold is needed")
        kind = StratifiedKFold if is_classifier(self.estimator) else KFold
        folds = kind(
            4 if self.cv == 1 else int(self.cv), shuffle=True,
            random_state=seed_of(self.random_state),
        )  # fmt: skip
        return list(folds.split(np.zeros(len(y)), y))[: int(self.cv)]


def _counted(fall: Floats, one_of: float) -> float:
    """How much a value of C counts that scores worse: 1, or 1/2 if that may be chance.

    Parameters
    ----------
    fall : array
        By how much the score falls in each fold.
    one_of : float
        What one of the held-out examples adds to a mean, for a single fold.

    Examples
    --------
    >>> _counted(np.array([0.2, 0.3, 0.2]), 0.1), _counted(np.array([0.2, -0.1]), 0.1)
    (1.0, 0.5)
    """
    n = len(fall)
    with np.errstate(invalid="ignore"):  # scores may be infinite
        error = fall.std(ddof=1) / np.sqrt(n) if n > 1 else one_of
        return 0.5 if fall.mean() <= error * (1.0 + 1e-9) else 1.0


class _Routed(NamedTuple):
    """Metadata of `fit`, for each of those that use them."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]
    split: dict[str, Any]


class _Final(NamedTuple):
    """Where the estimator of the package is: alone, or at the end of a pipeline."""

    before: Any  # the pipeline without its last step, or None
    estimator: StructuredEstimator
    name: str

    @property
    def prefix(self) -> str:
        """Prefix of the parameters of the estimator."""
        return f"{self.name}__" if self.name else ""

    def fit_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of `fit` as the whole takes them."""
        if get_config().get("enable_metadata_routing"):
            return dict(params)
        return {f"{self.prefix}{name}": value for name, value in params.items()}


def _final(estimator: Any) -> _Final:
    """The estimator of the package within what PathCV was given."""
    before, final, name = None, estimator, ""
    if isinstance(estimator, Pipeline):
        name, final = estimator.steps[-1]
        before = estimator[:-1] if len(estimator.steps) > 1 else None
    if not isinstance(final, StructuredEstimator):
        raise TypeError(
            f"PathCV tunes estimators of maxmargin, or a Pipeline that ends with one, "
            f"not a {type(final).__name__}: use GridSearchCV for others"
        )
    return _Final(before, final, name)


def _queries(
    model: StructuredEstimator, rows: tuple[Any, Any], weight: Any,
    given: Mapping[str, Any],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Data of a fold; a table of documents with `qid` becomes a list of queries."""
    if isinstance(model, RankingSVM):
        return model._by_query(*rows, weight, given.get("qid"))
    return *rows, weight


class _Fold:
    """One fold: an estimator that goes up the path, scored on what is held out."""

    def __init__(
        self, owner: PathCV, X: Any, y: Any, Cs: list[float], routed: _Routed,
        fit: Any, held_out: Any,
    ) -> None:  # fmt: skip
        before, estimator, name = _final(owner.estimator)
        self.model = clone(estimator).set_params(tol=owner.tol)
        self.whole: Any = self.model
        self.scoring = check_scoring(owner.estimator, owner.scoring)
        rows = _safe_split(estimator, X, y, fit)
        self.test = _safe_split(estimator, X, y, held_out, fit)
        self.metadata = {k: take_rows(v, held_out) for k, v in routed.score.items()}
        given = {k: take_rows(v, fit) for k, v in routed.fit.items()}
        weight = given.pop("sample_weight", None)
        if before is not None:
            before = clone(before)
            rows = before.fit_transform(*rows, **given), rows[1]
            self.whole = Pipeline([*before.steps, (name, self.model)])
        fitted = _queries(self.model, rows, weight, given)
        data = self.model._training_data(*fitted)
        plan = self.model._plan(data, C=1.0)
        self.runs: Any = train(self.model, plan, path_over(Cs))

    def next_score(self) -> float:
        """Fit with the next C, from the dual of the last one, and score."""
        made = next(self.runs)
        if made.result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return float(self.scoring(self.whole, *self.test, **self.metadata))
