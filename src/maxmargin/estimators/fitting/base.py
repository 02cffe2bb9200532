"""What all estimators share: from X, y to a Problem, a solver, and a result.

A subclass says which structure and which losses it has; fitting, warnings, the
engine, prediction in chunks and the certificate are here.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ragged
from maxmargin.core.engine import Engine
from maxmargin.core.formulations import Formulation
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent, Structure
from maxmargin.engines.choose import choose_engine
from maxmargin.estimators.explaining.report import ReportMixin, by_position
from maxmargin.estimators.fitting.callbacks import WatchMixin
from maxmargin.estimators.fitting.checkpoint import keeper_of, terminable
from maxmargin.estimators.fitting.model_files import FileMixin
from maxmargin.estimators.fitting.path import PathMixin
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.estimators.fitting.streaming import StreamMixin
from maxmargin.losses.base import named_loss
from maxmargin.solvers.base import Result, Solver
from maxmargin.solvers.cccp import CCCP
from maxmargin.solvers.choose import choose

# planes, what of, who asks for runs, and what callbacks may score on
PRIVATE = ("_state", "_mark", "_schedule", "_shown")


class StructuredEstimator(
    WatchMixin, FileMixin, PathMixin, StreamMixin, ReportMixin, BaseEstimator
):
    """Base of the estimators; see `ChainSVM`, `MulticlassSVM`, `StructuralSVM`.

    Subclasses store the constructor's parameters under their names and implement
    `_structure` and `_known_losses`.
    """

    C: float
    loss: Any
    rescaling: str | None
    penalty: str
    solver: Any
    tol: float
    max_iter: int | None
    max_time: float | None
    n_jobs: int | None
    engine: Any
    random_state: Any
    warm_start: bool
    _state: Any
    _mark: Any
    callbacks: Any
    verbose: int
    checkpoint: Any = None
    restarts: int = 1  # hidden parts: starts, initial weights,
    init: Any = None
    given: bool = False  # and whether y already has hidden parts to start from

    structure_: Structure
    coef_: Floats
    result_: Result

    def _structure(self, X: Any, y: Any) -> Structure:
        """The structure, not yet bound."""
        raise NotImplementedError

    def _known_losses(self, structure: Structure) -> dict[str, Any]:
        """Losses by name, not yet bound."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn weights; ends with a certificate in `result_`.

        Parameters
        ----------
        X : sequence of inputs
        y : sequence of outputs, one per input
        sample_weight : array (n,), optional
            Factor on C for each example.

        Returns
        -------
        self
        """
        check_same_length(X, y)
        X, y = by_position(X), by_position(y)
        self._show(X, y)
        structure = self._structure(X, y).bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        return self._fit_encoded(structure, x, truth, sample_weight)

    def _fit_encoded(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: Any
    ) -> Any:
        problem = self._problem(structure, x, truth, sample_weight)
        solver = self._solver(problem)
        mark = fingerprint(problem) if self.warm_start else None
        same = mark is not None and mark == self.__dict__.get("_mark")
        warm = self.__dict__.get("_state") if same else None
        keeps = self.warm_start or "_schedule" in self.__dict__
        keeper = keeper_of(self.checkpoint, problem, solver)
        try:
            with self._watching(lambda one, made: one._take(structure, made)) as watch:
                for result, state in self._runs(solver, problem, warm, watch, keeper):
                    self._take(structure, result)
                    self._state, self._mark = (state, mark) if keeps else (None, None)
                    warn_unless_converged(result)
        finally:
            self._release(problem.engine)
        return self

    def _take(self, structure: Structure, result: Result) -> None:
        """Become what training has led to."""
        self.structure_, self.result_, self.coef_ = structure, result, result.w

    def _runs(
        self, solver: Solver, problem: Problem, warm: Any, watch: Any, keeper: Any
    ) -> Any:
        """One run of the solver, or those that `fit_path` or `partial_fit` ask for."""
        runs = self.__dict__.get("_schedule")
        if runs is not None:
            return runs(solver, problem, watch)
        if keeper is None:
            return [solver.solve(problem, warm, watch)]
        with terminable():
            result, state = solver.solve(problem, warm, watch, keeper)
        keeper.finish(result)
        return [(result, state)]

    def _problem(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: Any
    ) -> Problem:
        return Problem(
            structure,
            self._loss(structure).bind(structure.label_count()),
            Formulation(self.rescaling, self.penalty),
            x,
            truth,
            penalties_of(self.C, sample_weight, truth.n),
            self._engine(),
        )

    def _solver(self, problem: Problem) -> Any:
        """The trainer; outputs with hidden parts are completed in turns with it."""
        inner = choose(
            self.solver, problem, tol=self.tol, max_iter=self.max_iter,
            max_time=self.max_time, seed=seed_of(self.random_state),
        )  # fmt: skip
        if problem.structure.offers(Latent) is None:
            return inner
        return CCCP(inner, restarts=self.restarts, w=self.init, given=self.given)

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _loss(self, structure: Structure) -> Any:
        """The loss asked for, not yet bound."""
        return named_loss(self.loss, self._known_losses(structure))

    def predict(self, X: Any) -> np.ndarray:
        """Best output of each input, as a 1-D object array."""
        check_is_fitted(self, "coef_")
        if check_examples(X) == 0:
            return object_array([])
        x = self.structure_.encode(X)
        labels = predict_found(self, x).labels
        return object_array(self.structure_.decode_labels(x, labels))

    def _engine(self) -> Engine:
        """The engine asked for; joblib's `parallel_config` counts for n_jobs."""
        jobs = effective_n_jobs(self.n_jobs)
        if isinstance(self.engine, str) and self.n_jobs is None and jobs == 1:
            jobs = effective_n_jobs(-1)
        return choose_engine(self.engine, jobs)

    def _release(self, engine: Engine) -> None:
        """Close an engine, unless the user gave it."""
        if engine is not self.engine:
            engine.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the dual state, which only `warm_start` uses."""
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in PRIVATE}


def fingerprint(problem: Problem) -> bytes | None:
    """A hash of all that planes depend on, C apart; None if it cannot be pickled.

    A warm start takes over planes, and planes of other data would make the dual, and
    with it the certificate, wrong.
    """
    parts = (problem.structure, problem.loss, problem.formulation, problem.x)
    buffers: list[pickle.PickleBuffer] = []
    digest = hashlib.blake2b(digest_size=16)
    try:
        head = pickle.dumps(
            (*parts, problem.truth), protocol=5, buffer_callback=buffers.append
        )
    except Exception:  # whatever a pickle of the user's objects may raise
        return None
    digest.update(head)
    for buffer in buffers:
        digest.update(buffer.raw())
    return digest.digest()


def check_same_length(X: Any, y: Any) -> None:
    """Refuse X and y of different lengths, or without examples."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    n, m = check_examples(X), check_examples(y, "y")
    if n != m:
        raise ValueError(f"X has {n} examples, but y has {m}")
    if n == 0:
        raise ValueError("X and y are empty: there is nothing to learn from")


def check_examples(data: Any, name: str = "X") -> int:
    """How many examples; refuses what is no sequence of them, or lacks some."""
    single = isinstance(data, str | bytes | Mapping)
    if single or not (hasattr(data, "shape") or hasattr(data, "__len__")):
        raise TypeError(
            f"{name} is one {type(data).__name__}, not a list of examples: write "
            f"{'[' + name + ']' if single else 'list(' + name + ')'}"
        )
    if isinstance(data, list | tuple) or str(getattr(data, "dtype", "")) == "object":
        for i, example in enumerate(data):
            if example is None:
                raise ValueError(f"{name}[{i}] is None: there is no example")
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def penalties_of(C: Any, sample_weight: Any, n: int) -> Floats:
    """C of each example."""
    if not isinstance(C, Real) or not 0 < float(C) < np.inf:
        hint = "; penalty='hard' allows no slack at all" if np.inf == C else ""
        raise ValueError(
            f"C={C!r}: the penalty must be a finite number greater than zero{hint}"
        )
    if sample_weight is None:
        return np.full(n, float(C))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but there are {n} examples"
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}: weights must be finite and "
            "not negative"
        )
    return float(C) * weight


def seed_of(random_state: Any) -> int:
    """An integer seed; None means 0, so that runs repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def warn_unless_converged(result: Result) -> None:
    """Say so when neither the tolerance nor another rule asked for was met."""
    if not result.status.as_asked:
        warnings.warn(
            f"{result.status.value} ({result.summary()})", ConvergenceWarning,
            stacklevel=4,
        )  # fmt: skip


def object_array(items: Sequence[Any]) -> np.ndarray:
    """A 1-D object array, whatever the items are."""
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out
