"""MulticlassSVM: classification, with or without features of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.loss import Loss, ZeroOne
from maxmargin.core.structure import Pieces, Structure
from maxmargin.estimators.calibrating.classes import ClassProbabilities
from maxmargin.estimators.class_inputs import (
    check_finite,
    check_labels,
    check_rows,
    check_table,
    class_factors,
    class_numbers,
    cost_table,
    objects_of,
    one_row,
    plain_labels,
    rows_of,
    true_labels,
    warn_if_one_column_rules,
)
from maxmargin.estimators.explaining.class_weights import top_features
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_parameters,
    check_same_length,
    example_C,
    warn_if_alike,
)
from maxmargin.estimators.fitting.kernels.classes import KernelClasses
from maxmargin.estimators.fitting.kernels.joint import joint_plan
from maxmargin.estimators.fitting.kernels.mapped import (
    KernelMachine,
    checked_square,
    kernel_plan,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.joint import Joint, JointKernel, SameOutput
from maxmargin.losses.labels import Hamming
from maxmargin.metrics import hierarchical_scores
from maxmargin.solvers.base import Result
from maxmargin.structures.chain.weight_names import other_name
from maxmargin.structures.classes.output_features import (
    ProductNames,
    compact,
    described,
    similar,
)
from maxmargin.structures.classes.structure import Multiclass
from maxmargin.structures.classes.taxonomy import Taxonomy
from maxmargin.structures.joint.structure import ClassPairs


@describe_parameters()
class MulticlassSVM(ClassifierMixin, ClassProbabilities, KernelClasses):
    r"""Multiclass support vector machine with output features.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y [\Delta(y_i, y)
              - \langle w, \phi(x_i) \otimes (\Lambda(y_i) - \Lambda(y)) \rangle]

    Without output features :math:`\Lambda` this is the machine of Crammer and Singer,
    and C has the scale of ``LinearSVC(multi_class="crammer_singer")``.

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective, ``1/2 ||w||^2 + C * sum(slacks)``.
        With inputs in the usual scalings the default is close to the best: test accuracy
        at C = 0.05, 0.2, 0.5, 1 was 91.8, 91.8, 91.2, 91.0 on usps and 82.5, 84.3, 84.9,
        84.4 on 20 newsgroups.
    loss : {"zero-one", "taxonomy"}, array (k, k), mapping or Loss
        "taxonomy": height of the lowest common ancestor of the two classes. An array is a
        table of costs, [true class, predicted class] in sorted order; a mapping has the
        costs by pair (true, predicted), 1 for pairs it does not have.
    taxonomy : mapping, pairs or Taxonomy
        Tree above the classes, as `Taxonomy.of` takes it. Classes share one weight vector
        per common ancestor.
    node_weights : mapping
        Scale of the feature of each node of the taxonomy; 1 for nodes it does not have.
    class_features : array or sparse matrix (k, m), or mapping
        Features of the classes, in sorted order or by label. An indicator of the class is
        added to them.
    class_similarity : array (k, k)
        Positive semi-definite similarity of the classes, in sorted order. Several kinds of
        output features can be combined.
    fit_intercept : bool
        Whether to append a constant feature to the inputs.
    intercept_scaling : float
        Value of the constant feature. Larger values regularise the intercept less.
    class_weight : {"balanced"} or mapping
        Factor on C by class.
    kernel : str, Kernel, JointKernel or callable
        Compare inputs by a kernel instead of weighting their features. `KernelSVM` has
        more options. A `JointKernel` compares pairs (row of X, number of the class in
        sorted order), and X may then be a list of any objects that it can compare;
        ``Joint(kernel, table)``, a kernel on inputs times a table over classes, is the
        same as `class_similarity=table` and has all kernel methods.
    calibration : int
        Number of folds by which `fit` calibrates the scores, so that `predict_proba`,
        `predict_node` and `predict_set` work; 0: it does not.

    Attributes
    ----------
    classes_ : array (k,)
        Labels, sorted.
    coef_ : array (k, n_features), or (1, n_features) for two classes
        Weights of each class; with two classes those of the second less those of the
        first, as in scikit-learn.
    intercept_ : array (k,) or (1,)
        Constants of each class.
    result_ : Result
        Certificate: status, primal, dual, gap, history. ``result_.w`` are the weights
        of the output features, ``structure_.weights(result_.w)`` as a matrix.
    structure_ : Multiclass
        The structure, bound to the data.
    n_iter_ : int
        Steps made by the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> names = load_iris().target_names[y]
    >>> flowers = {"versicolor": "tall", "virginica": "tall", "setosa": "top",
    ...            "tall": "top"}
    >>> model = MulticlassSVM(taxonomy=flowers, loss="taxonomy").fit(X, names)
    >>> model.score(X, names) > 0.95
    True
    >>> model.result_.status.name, model.coef_.shape
    ('CONVERGED', (3, 4))
    """

    _predicts_labels = True
    classes_: np.ndarray
    intercept_: Floats
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: LossChoice = "zero-one",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        solver: SolverChoice = "auto",
        taxonomy: Any = None,
        node_weights: Any = None,
        class_features: Any = None,
        class_similarity: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        kernel: KernelChoice = None,
        kernel_method: str = "exact",
        n_basis: int = 200,
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
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.solver = solver
        self.taxonomy = taxonomy
        self.node_weights = node_weights
        self.class_features = class_features
        self.class_similarity = class_similarity
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
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
        """Sparse inputs are accepted; precomputed kernels come as square matrices."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn weights; ends with a certificate in `result_`.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features)
        y : array (n,) of labels
        sample_weight : array (n,), optional
            Factor on C for each example; examples of weight zero are ignored.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        warn_if_alike(self.classes_.tolist())
        return self.calibrate(X, y, cv=self.calibration) if self.calibration else self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight, known: Any = None,
        needs: str = "a classifier needs two or more",
    ) -> TrainingData:  # fmt: skip
        """Rows and class numbers; `known` are classes that y need not show."""
        check_parameters(self.get_params(deep=False))
        X, y = self._checked(X, y)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        if known is not None:
            classes = np.unique(np.asarray(known))
            labels = class_numbers(classes, y, "classes given")
        weight = example_C(self.C, sample_weight, len(labels)) / self.C
        weight *= class_factors(self.class_weight, classes, y)[labels]
        if not weight.any():
            raise ValueError("all sample weights are zero: there is nothing to learn")
        used = np.unique(labels[weight > 0])
        if len(classes if known is not None else used) < 2:
            raise ValueError(f"y has examples of one class only: {needs}")
        if (weight == 0).any() and self.kernel != "precomputed":
            X, labels, weight = X[weight > 0], labels[weight > 0], weight[weight > 0]
        self.classes_ = classes
        if X.ndim == 1:
            pairs = self._class_pairs()
            rows = pairs.encode(X), Ragged.single(labels)
            return TrainingData(pairs, *rows, weight, X, classes[labels])
        structure = replace(self._structure(X, labels), k=len(classes)).bind(X, labels)
        x = structure.encode(X)
        truth = structure.encode_labels(x, labels)
        return TrainingData(structure, x, truth, weight, X, classes[labels])

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Training rows as a matrix, or objects that a joint kernel compares."""
        items = self._objects(X)
        if items is None:
            check_rows(X)
            check_table(X)
        if y is not None:
            check_labels(y)
            y = plain_labels(y)
        if items is not None:
            check_same_length(items, y)
            self.__dict__.pop("n_features_in_", None)
            return items, column_or_1d(by_position(y))
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
        )
        check_finite(X)
        if isinstance(self.kernel, str):
            warn_if_one_column_rules(X, self.kernel)
        return X, y

    def _objects(self, X: Any) -> np.ndarray | None:
        """Inputs that are no rows of numbers; None where they are, or have to be."""
        compares = isinstance(self.kernel, JointKernel) and not self._is_product()
        return objects_of(X) if compares else None

    @available_if(lambda self: self._can_stream())
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: SampleWeight = None
    ) -> Self:
        """Continue training with another batch; earlier ones are not needed again.

        Rows of earlier batches are kept until the model is saved or pickled. After that
        one bound on their cost stands for them, and the certificate is "reduced".

        Parameters
        ----------
        X, y, sample_weight
            The batch, as for `fit`.
        classes : array, optional
            All classes, given with the first batch if it does not contain them all; the
            batch itself may then have one class only.

        Returns
        -------
        self
        """
        self._check_streams()
        if "result_" not in vars(self):
            needs = "give those of all batches, two or more, classes=[..]"
            data = self._training_data(X, y, sample_weight, classes, needs)
        elif classes is None or np.array_equal(np.unique(classes), self.classes_):
            data = self._batch_data(X, y, sample_weight)
        else:
            raise ValueError(
                f"classes={list(classes)!r} are not those of the model, "
                f"{self.classes_.tolist()!r}: the first batch fixes them"
            )
        self._fit_batch(data)
        return self

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        """A further batch, with the numbers of the classes of the first."""
        check_rows(X)
        X, y = validate_data(
            self, X, y, reset=False, accept_sparse="csr", dtype=np.float64,
            ensure_all_finite=False,
        )  # fmt: skip
        check_finite(X)
        x = self.structure_.encode(X)
        try:
            labels = class_numbers(self.classes_, y)
        except ValueError as error:
            raise ValueError(f"{error}: the first batch fixes them") from None
        weight = example_C(self.C, sample_weight, len(labels)) / self.C
        weight *= class_factors(self.class_weight, self.classes_, y)[labels]
        return TrainingData(self.structure_, x, Ragged.single(labels), weight, X, y)

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if isinstance(self.kernel, JointKernel) and not self._is_product():
            return joint_plan(self, *self._joint_data(data), C)
        if self.kernel is not None:
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _is_product(self) -> bool:
        """Whether the kernel is one on rows times a table over classes."""
        kernel = self.kernel
        return (
            isinstance(kernel, Joint)
            and isinstance(kernel.inputs, Kernel)
            and isinstance(kernel.outputs, np.ndarray)
        )

    def _kernel(self, X: Any) -> Any:
        """The kernel on inputs, scaled to the inputs X."""
        if isinstance(self.kernel, Joint):
            return checked_square(self.kernel.inputs, X)
        return super()._kernel(X)

    def _joint_data(self, data: TrainingData) -> tuple[ClassPairs, TrainingData]:
        """The classes under a joint kernel, and the rows as objects."""
        plain = self._class_pairs()
        return plain, data._replace(structure=plain, x=plain.encode(data.X))

    def _class_pairs(self) -> ClassPairs:
        """The classes under a joint kernel."""
        given = self.taxonomy, self.class_features, self.class_similarity
        if any(value is not None for value in given):
            raise ValueError(
                "a joint kernel compares classes itself: leave out taxonomy, "
                "class_features and class_similarity"
            )
        if self.kernel_method != "exact":
            raise ValueError(
                f"kernel_method={self.kernel_method!r} is not available for a joint kernel "
                "that is not a product of a kernel on inputs and a table over classes"
            )
        kernel: Any = self.kernel
        if self.fit_intercept:
            kernel = kernel + SameOutput(float(self.intercept_scaling) ** 2)
        return ClassPairs(kernel, k=len(self.classes_))

    def _adopt(self, structure: Any, result: Result) -> None:
        """Also set coef_ and intercept_ of the classes."""
        super()._adopt(structure, result)
        self.n_iter_ = result.iterations
        if isinstance(structure, ClassPairs):
            del self.coef_
            return
        weights = structure.lambdas() @ structure.weights(result.w).T
        if len(self.classes_) == 2:
            weights = weights[1:] - weights[:1]
        if self.fit_intercept:
            self.intercept_ = structure.bias * weights[:, -1]
            weights = weights[:, :-1]
        else:
            self.intercept_ = np.zeros(len(weights))
        self.coef_ = np.ascontiguousarray(weights)

    def _adopt_expansion(self, machine: KernelMachine) -> None:
        """Also set the dual coefficients and the intercepts of the classes."""
        super()._adopt_expansion(machine)
        self.n_iter_ = machine.result.iterations
        structure: Any = machine.structure
        table, constants = structure.lambdas(), structure.split_weights(machine.w)[1]
        del self.coef_
        if len(self.classes_) == 2:
            table = table[1:] - table[:1]
        self.dual_coef_ = self.expansion_.beta @ table.T
        self.intercept_ = np.zeros(len(table))
        if self.fit_intercept:
            self.intercept_ = structure.bias * (table @ constants)

    def _structure(self, X: Any, y: Any) -> Multiclass:
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        if self.fit_intercept and not bias > 0.0:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling!r} must be greater than 0"
            )
        return Multiclass(self._output_features(), bias, k=len(self.classes_))

    def _output_features(self) -> Floats | None:
        """Features Lambda of the classes; None if they are only indicators."""
        parts = []
        classes = self.classes_.tolist()
        if self.taxonomy is not None:
            tree = Taxonomy.of(self.taxonomy)
            parts.append(tree.features(classes, self.node_weights)[0])
        elif self.node_weights is not None:
            raise ValueError("node_weights are given, but no taxonomy")
        if self.class_features is not None:
            if self.taxonomy is None:
                parts.append(np.eye(len(classes)))
            parts.append(compact(described(classes, self.class_features)))
        if self._is_product() and self.class_similarity is not None:
            raise ValueError(
                "the joint kernel has a table over classes already: leave out "
                "class_similarity"
            )
        table = self.class_similarity
        if self._is_product() and isinstance(self.kernel, Joint):
            table = self.kernel.outputs
        if table is not None:
            parts.append(similar(table, len(classes)))
        return np.hstack(parts) if parts else None

    def _known_losses(self, structure: Structure) -> LossesByName:
        known: dict[str, Any] = {"zero-one": ZeroOne()}
        if self.taxonomy is not None:
            table = Taxonomy.of(self.taxonomy).heights(self.classes_.tolist())
            known["taxonomy"] = Hamming(cost=table)
        elif isinstance(self.loss, str) and self.loss == "taxonomy":
            raise ValueError("loss='taxonomy' needs a taxonomy")
        return known

    def _loss(self, structure: Structure) -> Loss:
        if isinstance(self.loss, Mapping):
            return Hamming(cost=cost_table(self.loss, self.classes_))
        return super()._loss(structure)

    def _weights(self) -> Floats:
        return self.result_.w

    def _inputs(self, X: Any) -> Any:
        items = self._objects(X)
        if items is not None:
            return items
        if isinstance(X, list) and len(X) == 1:  # one row, or a matrix of one row
            X = one_row(X[0])
        check_rows(X)
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, np.float64)

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        return list(self.classes_[np.asarray(decoded)].tolist())

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        x = self.structure_.encode(self._inputs(X))
        return x, Ragged.single(class_numbers(self.classes_, y))

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        if self.taxonomy is None or not set(y) <= set(self.classes_):
            return []
        tree = Taxonomy.of(self.taxonomy)
        scores = hierarchical_scores(tree.paths(list(y)), tree.paths(list(predicted)))
        return [("F1, nodes above counted", scores.f1)]

    def _examples(self, y: Any, sample_weight: SampleWeight) -> Ints:
        given = np.ones(len(y)) if sample_weight is None else sample_weight
        return np.flatnonzero(np.asarray(given) > 0)

    def _weight_names(self) -> Sequence[str]:
        """Names "feature / class", or "feature / node" with a taxonomy."""
        structure: Any = self.structure_
        if self._has_pairs():
            classes = self.classes_[list(structure.outputs)]
            return [f"likeness to pair {p}: {c}" for p, c in enumerate(classes)]
        known = getattr(self, "feature_names_in_", None)
        width = structure.width - bool(self.fit_intercept)
        inputs = [f"x{j}" for j in range(width)] if known is None else list(known)
        inputs += [other_name("constant", inputs)] * bool(self.fit_intercept)
        return ProductNames(inputs, self._output_names(), structure.sparse)

    def _output_names(self) -> list[str]:
        structure: Any = self.structure_
        names: list[Any] = []
        if self.taxonomy is not None:
            tree = Taxonomy.of(self.taxonomy)
            names += tree.features(self.classes_.tolist(), self.node_weights)[1]
        elif structure.outputs is None or self.class_features is not None:
            names += self.classes_.tolist()
        names += [f"output {z}" for z in range(len(names), structure.z)]
        return [str(name) for name in names]

    def _piece_names(self, pieces: Pieces) -> list[str]:
        if self._has_pairs():
            return super()._piece_names(pieces)
        outputs = self._output_names()
        return [outputs[z] for z in pieces.output_features]

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes (n, k); for two classes their difference (n,).

        Parameters
        ----------
        X : array or sparse matrix (n, n_features)
        """
        check_is_fitted(self, "result_")
        items = self._objects(X)
        X = rows_of(self, X) if items is None else items
        if isinstance(self.structure_, ClassPairs):
            table = self.structure_.table(self.structure_.encode(X), self.result_.w)
            scores = table[:, 1:] - table[:, :1] if table.shape[1] == 2 else table
        elif self.kernel is not None:
            scorer = replace(self.expansion_, beta=self.dual_coef_)
            scores = scorer(X) + self.intercept_
        else:
            scores = safe_sparse_dot(X, self.coef_.T, dense_output=True)
            scores = scores + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Label with the highest score of each row of X."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def top_features(
        self, label: Any, n: int = 20, names: Any = None
    ) -> list[tuple[str, float]]:
        """The n features with the largest weights for a class, largest first.

        Parameters
        ----------
        label : a class
        n : int
            A negative number gives those with the smallest weights, smallest first.
        names : sequence of str, optional
            Names of the features, for instance ``vectorizer.get_feature_names_out()``; by
            default those of the data frame of training, or x0, x1, ...
        """
        check_is_fitted(self, "result_")
        self._check_has_weights("top_features")
        return top_features(self, label, n, names)

    def score(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> float:
        """Share of right predictions; a label unseen in training counts as an error."""
        predicted = self.predict(X)
        check_same_length(predicted, y, "score")
        right = true_labels(y, self.classes_) == np.asarray(predicted.tolist(), object)
        weight = example_C(1.0, sample_weight, len(right))
        return float(np.average(right, weights=weight))
