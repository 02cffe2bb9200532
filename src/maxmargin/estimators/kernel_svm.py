"""KernelSVM: classification with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.memory import MEMORY
from maxmargin.core.problem import Problem
from maxmargin.core.structure import MappedInputs
from maxmargin.estimators.fitting.kernels.mapped import (
    MappedProblem,
    checked_square,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
    LossChoice,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.multiclass import MulticlassSVM
from maxmargin.kernels.functions import named_kernel
from maxmargin.kernels.joint import JointKernel
from maxmargin.solvers.base import Trainer
from maxmargin.solvers.kernel.binary_smo import BinarySmo
from maxmargin.structures.classes.structure import Multiclass

SIGNS = np.array([[-0.5], [0.5]])  # Lambda of two classes: psi = 1/2 y phi(x)


@describe_parameters(like=MulticlassSVM)
class KernelSVM(MulticlassSVM):
    r"""Support vector machine with a kernel: exact, or with few basis functions.

    .. math:: f(x) = \sum_j \beta_j K(b_j, x) + b

    With two classes and ``kernel_method="exact"`` this is the problem of
    ``sklearn.svm.SVC``, including its unregularised intercept. In all other cases the
    intercept is regularised like the other weights, and more than two classes are
    trained together (Crammer and Singer). Probabilities come from held-out data: see
    `calibration`.

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective, on the scale of ``sklearn.svm.SVC``.
    kernel : str, Kernel or callable
        "rbf", "poly", "quadratic", "cubic", "linear" or "precomputed". A callable
        takes two matrices of rows and returns the matrix of kernel values.
    gamma : float or {"scale", "auto"}
        Parameter of "rbf" and "poly"; by default one over the mean squared length of the
        rows. "scale" and "auto" are those of scikit-learn: 1 / (n_features * X.var()) and
        1 / n_features.
    degree : int
        Degree of "poly", (gamma <a, b> + coef0)^degree.
    coef0 : float
        Constant of "poly".
    basis : {"free", "train"}
        Whether the points of "cpsp" may be any points, where the kernel is differentiable,
        or training rows only (CPSP(tr)).
    solver : str or Solver
        The trainer over the explicit feature maps of the kernel methods. The method "exact"
        with ``solver="auto"`` has solvers of its own, for two classes and for more; the
        methods "...-as-written" take an object of their algorithm, with all its options.
    loss : {"zero-one"}, array (k, k), mapping or Loss
        An array is a table of costs, [true class, predicted class] in sorted order; a
        mapping has the costs by pair (true, predicted), 1 for pairs it does not have.
    kernel_method : {"exact", "sampled", "cpsp", "nystroem", "cholesky", ...}
        "exact" uses all training rows, by columns of the Gram matrix (the whole matrix
        with hard margins or a `solver` of your choice). "cpsp" builds a basis of
        `n_basis` points, which need not be training rows; it needs the fewest points
        for a given accuracy.
        "sampled" draws `n_basis` rows per iteration, in time linear in the number of
        rows. "nystroem" and "cholesky" choose `n_basis` training rows without looking
        at y. "sampled-as-written" and "cpsp-as-written" are Algorithms 6.2 and 6.3 of Yu
        2011 as printed, to compare with; `tol` is then their epsilon.

    Attributes
    ----------
    classes_ : array (k,)
    expansion_ : Expansion
        Points and coefficients of f.
    basis_ : array (m, n_features)
        The points; for precomputed kernels the indices of training rows.
    support_ : array (m,)
        Indices of the training rows among the points; "exact" and "sampled" only.
    dual_coef_ : array (m, z)
        Coefficients of the points.
    intercept_ : array
    basis_trace_ : list of dict
        One row per iteration. "cpsp": size of the basis, objective, delta = ||v - P v||
        and the bound from it, "cut delta" = ||g - P g|| of the cut; in the last row
        "theorem 6.4". "sampled": number of functions, objective and estimated gap.
    result_ : Result
        Certificate. For "sampled" the dual is estimated from the rows drawn.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from maxmargin import KernelSVM
    >>> X, y = make_circles(200, noise=0.1, factor=0.3, random_state=0)
    >>> exact = KernelSVM().fit(X, y)
    >>> few = KernelSVM(kernel_method="cpsp", n_basis=5).fit(X, y)
    >>> exact.score(X, y), few.score(X, y), few.basis_.shape
    (1.0, 1.0, (5, 2))
    """

    taxonomy = node_weights = class_features = class_similarity = None
    regularizer = "l2"
    dual_coef_: Floats

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelChoice = "rbf",
        kernel_method: str = "exact",
        n_basis: int = 200,
        gamma: float | str | None = None,
        degree: int = 2,
        coef0: float = 1.0,
        basis: str = "free",
        memory: float = MEMORY,
        loss: LossChoice = "zero-one",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        solver: SolverChoice = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
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
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.basis = basis
        self.memory = memory
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
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

    def _kernel(self, X: Any) -> Any:
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return checked_square(named_kernel(self.kernel, X, **given), X)

    def _structure(self, X: Any, y: Any) -> Multiclass:
        if isinstance(self.kernel, JointKernel):
            raise TypeError(
                "KernelSVM compares inputs; MulticlassSVM takes joint kernels"
            )
        structure = super()._structure(X, y)
        if len(self.classes_) == 2:
            return Multiclass(SIGNS, structure.bias)
        return structure

    def _kernel_trainer(
        self, problem: Problem
    ) -> tuple[Trainer, Problem, MappedProblem | None]:
        if not self._is_classical(problem):
            return super()._kernel_trainer(problem)
        structure = problem.structure.require(MappedInputs, "a kernel")
        kernel = self._checked_kernel(structure.input_matrix(problem.x))
        moves = self.max_iter or max(BinarySmo.max_iter, 100 * problem.n)
        trainer = BinarySmo(
            self.tol, moves, self.max_time, self._seed(), kernel, self.memory
        )
        return trainer, problem, None

    def _is_classical(self, problem: Problem) -> bool:
        """Whether this is the problem of SVC, with a constant that is not regularised."""
        exact = self.kernel_method == "exact" and self.fit_intercept
        plain = self.penalty == "linear" and self.solver == "auto"
        zero_one = isinstance(self.loss, str) and self.loss == "zero-one"
        two = problem.structure.label_count() == 2
        return two and exact and plain and zero_one
