"""MultilabelSVM: several labels per example, with a taxonomy above them or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.calibration.sigmoid import fit_sigmoid
from maxmargin.calibration.thresholds import best_f1_threshold
from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.structure import Pieces, Structure
from maxmargin.estimators.class_inputs import (
    check_finite,
    check_rows,
    check_table,
    one_row,
)
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_parameters,
    check_same_length,
    check_truth,
    object_array,
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
from maxmargin.estimators.label_sets.label_tables import LabelTable
from maxmargin.inference.label_sets import set_margins
from maxmargin.losses.labels import Hamming
from maxmargin.reports.confusion import label_scores
from maxmargin.reports.drawing.marked_text import label_set_html
from maxmargin.reports.explanation import Hard, SupportTable
from maxmargin.solvers.base import Result
from maxmargin.structures.chain.weight_names import other_name
from maxmargin.structures.classes.label_sets import LabelSets
from maxmargin.structures.classes.output_features import ProductNames

AVERAGES = ("micro", "macro")


def _has_sigmoids(model: Any) -> bool:
    """Whether `predict_proba` is there; the error says how to get it."""
    if "sigmoids_" in vars(model):
        return True
    raise AttributeError(
        "this MultilabelSVM is not calibrated, so it has no probabilities: set "
        "calibration=3 before fit, or call calibrate(X, y) with data that it was not "
        "trained on"
    )


@describe_parameters()
class MultilabelSVM(StructuredEstimator):
    r"""Predict sets of labels; with a taxonomy, every label brings along those above it.

    .. math:: \min_w \tfrac12 \sum_l \|w_l\|^2 + C \sum_i \max_{S}
              [|S_i \triangle S| - \sum_{l \in S_i} \langle w_l, x_i \rangle
              + \sum_{l \in S} \langle w_l, x_i \rangle]

    over all sets S of labels that contain what lies above their labels. The best set is
    found exactly, in trees and where labels have several parents. Without a taxonomy this
    is one binary SVM for each label, with the C of ``LinearSVC(loss="hinge")``.

    Parameters
    ----------
    taxonomy : mapping, pairs, networkx.DiGraph or Taxonomy
        What lies above each label, as `Taxonomy.of` takes it; nodes may have several
        parents. A node above all others is no label. Labels above the given ones are added
        to the outputs of training.
    thresholds : {"micro", "macro"}
        Choose thresholds on the margins of labels that are best for F1, by
        cross-validation in `fit`: "micro": one for all labels, for the F1 of all labels
        together. "macro": one for each label, for the mean of their F1. None: zero, which
        is best for few wrong labels. See `choose_thresholds`.
    loss : {"hamming"} or Loss
        "hamming": the number of wrong labels. In a taxonomy a wrong branch costs more
        than a wrong leaf, since its inner nodes are wrong, too. ``Hamming(class_weight=[1,
        5])`` makes a missed label cost five times as much as one too many.
    fit_intercept : bool
        Whether to append a constant feature to the inputs.
    intercept_scaling : float
        Value of the constant feature. Larger values regularise the intercept less.
    calibration : int
        Number of folds by which `fit` calibrates the margins, so that `predict_proba`
        works; 0: it does not.

    Attributes
    ----------
    classes_ : list
        The labels: the columns of y; or, if y has sets, sorted, and with a taxonomy from
        the top down.
    thresholds_ : array (n_labels,)
        What the margin of each label must exceed.
    sigmoids_ : array (2, n_labels)
        Slopes and offsets of the probabilities of labels, after `calibrate`.
    coef_ : array
        Weights of all labels, flat; ``structure_.weights(coef_)`` is (features, labels).
    result_ : Result
        Certificate: status, primal, dual, gap, history.

    References
    ----------
    Rousu, Saunders, Szedmak, Shawe-Taylor 2006, Kernel-based learning of hierarchical
    multilabel classification models.

    Examples
    --------
    >>> from maxmargin import MultilabelSVM
    >>> X = [[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0], [0.0, 0.0]]
    >>> y = [["cat"], ["cat"], ["dog"], ["dog", "cat"], []]
    >>> animals = {"cat": "pet", "dog": "pet"}
    >>> model = MultilabelSVM(C=10.0, taxonomy=[*animals.items(), ("fly", None)])
    >>> model.fit(X, y).predict([[0.1, 1.0]]).tolist()
    [('pet', 'cat')]
    """

    _predicts_labels = True
    _predicts_sets = True
    structure_: LabelSets
    labels_: LabelTable
    thresholds_: Floats
    n_features_in_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        taxonomy: Any = None,
        thresholds: str | None = None,
        loss: LossChoice = "hamming",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        solver: SolverChoice = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        calibration: int = 0,
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
        self.C = C
        self.taxonomy = taxonomy
        self.thresholds = thresholds
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.calibration = calibration
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

    def __sklearn_tags__(self) -> Any:
        """Sparse inputs and several labels per example."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    @property
    def classes_(self) -> list[Any]:
        """The labels."""
        check_is_fitted(self, "labels_")
        return list(self.labels_.names)

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn weights; ends with a certificate in `result_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n, n_features)
        y : array, sparse matrix or data frame (n, n_labels) of zeros and ones, or sets
            Sets are lists, tuples or sets of labels, one per example.
        sample_weight : array (n,), optional
            Factor on C for each example.

        Returns
        -------
        self
        """
        if self.thresholds is not None and self.thresholds not in AVERAGES:
            raise ValueError(
                f"thresholds={self.thresholds!r} is neither 'micro' nor 'macro' nor None"
            )
        super().fit(X, y, sample_weight)
        if self.thresholds is not None:
            self.choose_thresholds(X, y, self.thresholds, cv=3)
        return self.calibrate(X, y, cv=self.calibration) if self.calibration else self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        X = self._checked(X, reset=True)
        self.labels_ = LabelTable.of(y, self.taxonomy)
        table = self.labels_.closed(y)
        structure = self._structure(X, y).bind(X, table)
        return self._encoded_data(structure, X, table, y, sample_weight)

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        check_same_length(X, y)
        X, table = self._checked(X), self.labels_.closed(y)
        return self._encoded_data(self.structure_, X, table, y, sample_weight)

    def _encoded_data(
        self,
        structure: LabelSets,
        X: Any,
        table: Ints,
        y: Any,
        sample_weight: SampleWeight,
    ) -> TrainingData:
        x = structure.encode(X)
        truth = structure.encode_labels(x, table)
        return TrainingData(structure, x, truth, sample_weight, X, y)

    def _checked(self, X: Any, reset: bool = False) -> Any:
        """X as a matrix of finite numbers."""
        check_rows(X)
        check_table(X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=reset,
            ensure_all_finite=False,
        )  # fmt: skip
        check_finite(X)
        return X

    def _structure(self, X: Any, y: Any) -> LabelSets:
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        if self.fit_intercept and not bias > 0.0:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling!r} must be greater than 0"
            )
        return LabelSets(self.labels_.parents, bias, k=len(self.labels_.names))

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"hamming": Hamming()}

    def _adopt(self, structure: Structure, result: Result) -> None:
        super()._adopt(structure, result)
        self.__dict__.pop("sigmoids_", None)  # of an earlier fit
        self.thresholds_ = np.zeros(len(self.labels_.names))

    def decision_function(self, X: Any) -> Floats:
        """Margins of the labels (n, n_labels), in the order of `classes_`.

        The margin of a label says how much the best set with it scores above the best set
        without it. In a taxonomy no label has a larger margin than one above it.
        """
        check_is_fitted(self, "result_")
        x = self.structure_.encode(self._checked(X))
        scores = self.structure_.scores(x, np.arange(x.n), self._weights())
        if self.structure_.parents:
            scores = set_margins(scores, self.structure_.parents)
        return np.ascontiguousarray(scores[:, self.labels_.place])

    def predict(self, X: Any) -> np.ndarray:
        """Labels of each row of X, in the form that y had in training.

        A table of zeros and ones, or one tuple of labels per row, with the labels above
        them.
        """
        return self.labels_.given(self._predicted(self.decision_function(X)))

    def _predicted(self, margins: Floats) -> np.ndarray:
        """Zeros and ones (n, n_labels), in the order of `classes_`."""
        return self.labels_.with_parents(margins > self.thresholds_).astype(np.int64)

    def choose_thresholds(
        self, X: Any, y: Any, average: str = "micro", cv: int | None = None
    ) -> Self:
        """Choose `thresholds_` for F1.

        Parameters
        ----------
        X, y
            Data that training has not seen; or, with `cv`, those of training.
        average : {"micro", "macro"}
            One threshold for all labels, or one for each.
        cv : int, optional
            Number of folds; each is scored by a model of the others.
        """
        check_is_fitted(self, "result_")
        if average not in AVERAGES:
            raise ValueError(f"average={average!r} is neither 'micro' nor 'macro'")
        check_same_length(X, y)
        if cv is None:
            margins = self.decision_function(X)
        else:
            margins = self._margins_of_folds(X, y, cv)
        truth = self.labels_.table(y)
        if average == "micro":
            self.thresholds_ = np.full(
                len(self.labels_.names), best_f1_threshold(margins, truth)[0]
            )
            return self
        allowed = np.zeros(truth.shape, bool)
        for z in self.labels_.order():  # from the top down, parents first
            above = allowed[:, self.labels_.above(z)].all(axis=1)
            lowest = min(float(margins[:, z].min()), 0.0) - 1.0
            score = np.where(above, margins[:, z], lowest)
            self.thresholds_[z] = max(best_f1_threshold(score, truth[:, z])[0], lowest)
            allowed[:, z] = above & (margins[:, z] > self.thresholds_[z])
        return self

    def calibrate(self, X: Any, y: Any, *, cv: int | None = None, n: int = 1) -> Self:
        """Learn how far margins can be trusted; `predict_proba` then works.

        Parameters
        ----------
        X, y : data
            Data that the model was not trained on; or, with `cv`, the training data.
        cv : int, optional
            Number of folds: each is scored by a model trained on the others.
        n : int
            Has no meaning here: there are no lists of best sets.
        """
        check_is_fitted(self, "result_")
        check_same_length(X, y)
        if cv is None:
            margins = self.decision_function(X)
        else:
            margins = self._margins_of_folds(X, y, cv)
        fitted = [
            fit_sigmoid(*pair) for pair in zip(margins.T, self.labels_.table(y).T)
        ]
        self.sigmoids_ = np.ascontiguousarray(np.array(fitted).T)
        return self

    @available_if(_has_sigmoids)
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each label, (n, n_labels) in the order of `classes_`.

        A logistic function of the margin of the label, fitted on held-out data: see
        `calibrate`, and `calibration`. With a taxonomy no label is more probable than one
        above it.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from maxmargin import MultilabelSVM
        >>> X, y = make_multilabel_classification(n_classes=3, random_state=0)
        >>> model = MultilabelSVM(calibration=3).fit(X, y)
        >>> model.predict_proba(X[:2]).shape
        (2, 3)
        """
        found: Floats = expit(
            self.decision_function(X) * self.sigmoids_[0] + self.sigmoids_[1]
        )
        for c in self.labels_.order():
            for parent in self.labels_.above(c):
                found[:, c] = np.minimum(found[:, c], found[:, parent])
        return found

    def _margins_of_folds(self, X: Any, y: Any, cv: int) -> Floats:
        """Margins of each example by a model that has not seen it."""
        X, table = self._checked(X), self.labels_.closed(y)
        if not 2 <= cv <= len(table):
            raise ValueError(f"cv={cv}: 2 to {len(table)} folds are possible")
        out = np.zeros(table.shape)
        for train, test in KFold(cv, shuffle=True, random_state=0).split(table):
            model = clone(self).set_params(callbacks=None, checkpoint=None, verbose=0)
            model.n_features_in_, model.labels_ = self.n_features_in_, self.labels_
            structure = model._structure(X, None).bind(X[train], table[train])
            rows = table[train]
            model._fit_data(model._encoded_data(structure, X[train], rows, rows, None))
            out[test] = model.decision_function(X[test])
        return out

    def score(self, X: Any, y: Any) -> float:
        """F1 of all labels together (micro-averaged); 1 is perfect."""
        margins = self.decision_function(X)
        check_same_length(margins, y, "score")
        check_truth(self.labels_.labels_of(y), self.classes_)
        found, truth = self._predicted(margins), self.labels_.table(y, strange=True)
        both, some = float((found * truth).sum()), float(found.sum() + truth.sum())
        some += self.labels_.strangers(y)
        return 2.0 * both / some if some > 0.0 else 1.0

    def top_features(
        self, label: Any, n: int = 20, names: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """The n features with the largest weights for a label, largest first.

        A negative number gives those with the smallest weights, smallest first. Names are
        those of the data frame of training, x0, x1, ..., or as given.
        """
        check_is_fitted(self, "result_")
        if label not in self.classes_:
            raise ValueError(
                f"{label!r} is not a label; labels are {self.classes_!r:.80}"
            )
        at = int(self.labels_.place[self.classes_.index(label)])
        row = self.structure_.weights(self._weights())[: self.n_features_in_, at]
        known = self._input_names() if names is None else list(names)
        if len(known) < len(row):
            raise ValueError(f"{len(known)} names were given for {len(row)} features")
        order = np.argsort(row if n < 0 else -row, kind="stable")[: abs(n)]
        return [(str(known[j]), float(row[j])) for j in order]

    # Translation between the terms of the structure and those of the user.

    def _inputs(self, X: Any) -> Any:
        if isinstance(X, list) and len(X) == 1:  # one row, or a matrix of one row
            X = one_row(X[0])
        check_rows(X)
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, np.float64)

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        table = np.asarray(decoded)[:, self.labels_.place]
        return list(object_array(self.labels_.sets(table)))

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        x = self.structure_.encode(self._inputs(X))
        return x, self.structure_.encode_labels(x, self.labels_.closed(y))

    def _input_names(self) -> list[str]:
        known = vars(self).get("feature_names_in_")
        if known is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in known]

    def _weight_names(self) -> Sequence[str]:
        inputs = self._input_names()
        inputs += [other_name("constant", inputs)] * bool(self.fit_intercept)
        return ProductNames(inputs, self._label_names(), self.structure_.inputs.sparse)

    def _label_names(self) -> list[str]:
        names: list[str] = [""] * len(self.labels_.names)
        for name, place in zip(self.labels_.names, self.labels_.place.tolist()):
            names[place] = str(name)
        return names

    def _piece_names(self, pieces: Pieces) -> list[str]:
        names = self._label_names()
        return [names[z] for z in pieces.output_features]

    def _examples(self, y: Any, sample_weight: SampleWeight) -> Ints:
        return np.arange(len(by_position(y)))

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """As for all estimators; truths are tuples of labels, also where y is a table."""
        check_is_fitted(self, "labels_")
        table = self.labels_.table(y)
        sets = self.labels_.sets(table)
        cases = super().hardest(X, table, n, most)
        return [replace(case, truth=sets[case.example]) for case in cases]

    def support_structures(
        self, feature: str | int, X: Any, y: Any, n: int = 10,
        sample_weight: SampleWeight = None,
    ) -> SupportTable:  # fmt: skip
        """As for all estimators; truths are tuples of labels, also where y is a table."""
        found = super().support_structures(feature, X, y, n, sample_weight)
        sets = self.labels_.sets(self.labels_.table(y))
        rows = tuple(replace(row, truth=sets[row.example]) for row in found.rows)
        return replace(found, rows=rows)

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        right = None
        if truth is not None:
            row = truth.toarray() if sp.issparse(truth) else truth
            if isinstance(row, np.ndarray):
                table = self.labels_.table(row.reshape(1, -1))
            else:
                table = self.labels_.table_of_sets([row], strange=True)
            right = self.labels_.sets(table)[0]
        return label_set_html(list(output), right, self.classes_)

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        truth, found = self._shown_outputs(X, y)
        scores = label_scores(truth, found)
        right = np.mean([set(a) == set(b) for a, b in zip(truth, found, strict=True)])
        mean = float(np.mean([s.f1 for s in scores])) if scores else 0.0
        return [("F1, mean of labels", mean), ("sets without error", float(right))]

    def _shown_outputs(self, X: Any, y: Any) -> tuple[Any, Any]:
        table = self._predicted(self.decision_function(X))
        return self.labels_.sets(self.labels_.table(y)), self.labels_.sets(table)
