"""StructuralSVM: any structure, one of the package or your own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.parameter_types import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    LossChoice,
    LossesByName,
    Seed,
    SolverChoice,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.losses.labels import Hamming
from maxmargin.structures.classes.structure import Multiclass
from maxmargin.structures.python_structure import (
    OwnStructure,
    as_structure,
    check_own_loss,
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

    Attributes
    ----------
    coef_ : array
        Weights.
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
        solver: SolverChoice = "auto",
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
        self.solver = solver
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
        return as_structure(self.structure)

    def _check_container(self, X: Any) -> None:
        """A table is fine where the structure takes rows."""
        structure = as_structure(self.structure)
        if not isinstance(structure, Multiclass | OwnStructure):
            super()._check_container(X)

    def _known_losses(self, structure: Structure) -> LossesByName:
        own = own_loss(structure)
        if own is not None:
            return {"auto": own, "zero-one": own.zero_one(0)}
        return {"auto": Hamming(), "hamming": Hamming(), "zero-one": ZeroOne()}

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        check_own_loss(data.structure, data.truth)
        return super()._plan(data, C)

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predictions."""
        check_is_fitted(self, "coef_")
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        problem = self._problem(self.structure_, x, truth, None)
        found = predict_found(self, x).labels
        return -float(np.mean(problem.loss.value(truth, found)))
