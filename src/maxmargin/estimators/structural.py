"""StructuralSVM: any structure, one of the package or your own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Latent, Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import check_same_length
from maxmargin.estimators.fitting.kernels.joint import joint_plan, own_pairs
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
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.losses.labels import Hamming
from maxmargin.losses.python_loss import OwnLoss
from maxmargin.structures.classes.structure import Multiclass
from maxmargin.structures.joint.structure import OwnPairs
from maxmargin.structures.python_structure import (
    OwnStructure,
    as_structure,
    check_own_loss,
    check_zero_at_truth,
    own_loss,
)


@describe_parameters()
class StructuralSVM(StructuredEstimator):
    r"""Max-margin training of any structure.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    Parameters
    ----------
    structure : Structure or object
        A `Structure`, or any object with three methods: ``joint_feature(x, y)``,
        ``loss(y, y_hat)`` and ``argmax(w, x, y=None)``. The last returns the best output;
        if y is given, the loss against y is added to the score. With a fourth method,
        ``complete(w, x, y)``, outputs may have hidden parts
        (see `maxmargin.structures.python_structure`).
    loss : {"auto", "hamming", "zero-one"}, array or Loss
        "auto" is the loss of the structure, or "hamming" if it has none. An array is a
        table of costs, [true label, predicted label].
    kernel : str, Kernel, JointKernel or callable
        Compare pairs (input, output) by a kernel instead of weighting joint features. A
        name ("linear", "quadratic", "cubic", "poly", "rbf") or a Kernel compares joint
        features; a function has two pairs as arguments, ``kernel((x, y), (x2, y2))``; a
        `JointKernel` is, say, a product of a kernel on inputs and one on outputs. The
        structure must then be an object of your own with a method ``outputs(x)`` that
        lists all outputs of x, or with an ``argmax(score, x, y=None)`` that is given a
        function ``score(y_hat)`` in place of weights.

    Attributes
    ----------
    coef_ : array
        Weights; with a kernel, the coefficients of the support pairs,
        ``structure_.inputs`` and ``structure_.outputs``.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Structure
        The structure, bound to the data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import StructuralSVM
    >>> class Sign:
    ...     "Two classes, told apart by the sign of a product."
    ...     def joint_feature(self, x, y):
    ...         return y * np.asarray(x)
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def argmax(self, w, x, y=None):
    ...         def worth(z):
    ...             gain = 0.0 if y is None else self.loss(y, z)
    ...             return w @ self.joint_feature(x, z) + gain
    ...         return max((-1, 1), key=worth)
    >>> X, y = [[1.0, 0.2], [-2.0, 0.1], [1.5, -0.3]], [1, -1, 1]
    >>> model = StructuralSVM(Sign(), C=1.0).fit(X, y)
    >>> model.predict([[3.0, 0.0]])
    array([1], dtype=object)
    >>> model.result_.status.name
    'CONVERGED'
    """

    def __init__(
        self,
        structure: Any = None,
        C: float = 0.2,
        *,
        loss: LossChoice = "auto",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        solver: SolverChoice = "auto",
        kernel: Any = None,
        restarts: int = 1,
        init: Any = None,
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
        self.structure = structure
        self.C = C
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.solver = solver
        self.kernel = kernel
        self.restarts = restarts
        self.init = init
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

    def _structure(self, X: Any, y: Any) -> Structure:
        if self.kernel is None:
            return as_structure(self.structure)
        if isinstance(self.structure, Structure):
            name = type(self.structure).__name__
            raise TypeError(
                f"structure={name} scores by weights: a kernel of pairs needs an object "
                "of your own that lists its outputs. Kernels on inputs are parameters of "
                "MulticlassSVM, ChainSVM, NetworkSVM and AlignmentSVM"
            )
        return own_pairs(self.structure, self.kernel, X, y)

    def _check_container(self, X: Any) -> None:
        """A table is fine where the structure takes rows."""
        if self.kernel is not None:
            return
        structure = as_structure(self.structure)
        if not isinstance(structure, Multiclass | OwnStructure):
            super()._check_container(X)

    def _known_losses(self, structure: Structure) -> LossesByName:
        own = own_loss(structure)
        if isinstance(structure, OwnPairs):
            own = OwnLoss(structure.owner)
        if own is not None:
            return {"auto": own, "zero-one": own.zero_one(0)}
        return {"auto": Hamming(), "hamming": Hamming(), "zero-one": ZeroOne()}

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if isinstance(data.structure, OwnPairs):
            check_zero_at_truth(OwnLoss(data.structure.owner), data.truth)
            return joint_plan(self, data.structure, data, C)
        check_own_loss(data.structure, data.x, data.truth)
        if self.init is not None and data.structure.offers(Latent) is None:
            raise ValueError(
                f"init={self.init!r:.80}: weights to start from are for outputs with hidden "
                "parts, which these are not"
            )
        return super()._plan(data, C)

    @available_if(lambda self: self._can_stream())
    def partial_fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Continue training with a further batch; not there with a kernel.

        See `StructuredEstimator.partial_fit`.
        """
        return super().partial_fit(X, y, sample_weight)

    def _can_stream(self) -> bool:
        """Whether there is a `partial_fit`."""
        if self.kernel is not None:
            raise AttributeError(
                "partial_fit is not available for kernels, which need all pairs at once"
            )
        return True

    def _size(self) -> tuple[int, str]:
        if isinstance(self.structure_, OwnPairs):
            return len(self.coef_), "support pairs"
        return super()._size()

    def _figures(self, X: Any, y: Any, predicted: Any) -> list[tuple[str, float]]:
        return [("mean loss of the predictions", 0.0 - self.score(X, y))]

    def _structure_name(self) -> str:
        return type(self.structure).__name__

    def _score_name(self) -> str:
        return "mean loss of the predictions"  # which a report shows as a figure

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predictions."""
        check_is_fitted(self, "coef_")
        check_same_length(X, y, "score")
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        problem = self._problem(self.structure_, x, truth, None)
        found = predict_found(self, x).labels
        return 0.0 - float(np.mean(problem.loss.value(truth, found)))  # 0, and not -0
