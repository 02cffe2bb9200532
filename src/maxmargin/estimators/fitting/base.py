"""The base class of all estimators: from X and y to a problem, a solver and a result.

A subclass names its structure and its losses. Fitting and predicting are done here;
everything else that one may ask a fitted model is a function of another module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maxmargin.bounds.comparison import Comparison, model_bounds
from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.engine import Engine, Serial
from maxmargin.core.formulations import Formulation
from maxmargin.core.loss import Loss
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Latent, Pieces, Structure
from maxmargin.engines.choose import choose_engine
from maxmargin.estimators.calibrating.held_out import LabelScores
from maxmargin.estimators.calibrating.outputs import (
    Ranked,
    calibrated,
    output_sets,
    predict_ranked,
)
from maxmargin.estimators.explaining.explain import best_few, explain, top_weights
from maxmargin.estimators.explaining.pictures import DrawnOutputs
from maxmargin.estimators.explaining.report import hardest, report
from maxmargin.estimators.explaining.support_examples import support_structures
from maxmargin.estimators.fitting.callbacks import CallbackSupportMixin
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_examples,
    check_parameters,
    check_same_length,
    example_C,
    jobs_of,
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
)
from maxmargin.estimators.fitting.path import fit_path
from maxmargin.estimators.fitting.prediction import predict_found
from maxmargin.estimators.fitting.training import (
    TrainingData,
    TrainingPlan,
    next_batch,
    once,
    train,
)
from maxmargin.estimators.saving.checkpoint import keeper_of, run_hash
from maxmargin.estimators.saving.model_files import load_as, save
from maxmargin.io.model_file.archive import MOST_BYTES
from maxmargin.io.model_file.model import Place
from maxmargin.reports.explanation import Explanation, Hard, SupportTable
from maxmargin.reports.history import history_frame
from maxmargin.reports.weight_tables import largest_weights
from maxmargin.solvers.base import Result, State, Trainer
from maxmargin.solvers.cccp import CCCP
from maxmargin.solvers.choose import choose
from maxmargin.solvers.enumerated.stream import AlphaStreamState
from maxmargin.solvers.n_slack.stream import ModelState, StreamState

if TYPE_CHECKING:
    from maxmargin.reports.history import DataFrame

OF_EARLIER = ("expansion_", "basis_trace_", "calibration_", "score_distribution_")
PRIVATE = ("_state", "_mark", "_shifted")  # not pickled: dual state, mark, a copy


class StructuredEstimator(CallbackSupportMixin, DrawnOutputs, BaseEstimator):
    """Base of the estimators; see `ChainSVM`, `MulticlassSVM`, `StructuralSVM`.

    Subclasses store the constructor's parameters and implement `_structure` and
    `_known_losses`. Methods below "Translation" give other modules the user's terms.
    """

    _predicts_labels: ClassVar[bool] = False  # or sequences of labels
    _at_prediction: ClassVar[tuple[str, ...]] = ()  # may change on a fitted model

    C: float
    loss: LossChoice
    rescaling: str | None
    penalty: str
    regularizer: str = "l2"
    solver: SolverChoice
    tol: float
    max_iter: int | None
    max_time: float | None
    n_jobs: int | None
    engine: EngineChoice
    random_state: Seed
    warm_start: bool
    _state: Any
    _mark: Any
    callbacks: CallbackChoice
    verbose: int
    checkpoint: CheckpointChoice = None
    restarts: int = 1  # outputs with hidden parts: number of starts,
    init: Any = None  # weights to start from,

    structure_: Structure
    coef_: Floats
    result_: Result

    def _structure(self, X: Any, y: Any) -> Structure:
        """The structure, not yet bound."""
        raise NotImplementedError

    def _known_losses(self, structure: Structure) -> LossesByName:
        """Losses by name, not yet bound."""
        raise NotImplementedError

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of prediction also change a fitted model.

        All others have an effect at the next `fit`.
        """
        super().set_params(**params)
        changed = {k: v for k, v in params.items() if k in self._at_prediction}
        if changed and "structure_" in vars(self):
            self.structure_ = self._with_settings(changed)
        return self

    def _with_settings(self, changed: Mapping[str, Any]) -> Structure:
        """The fitted structure with other parameters of prediction."""
        structure: Any = self.structure_
        changed_structure: Structure = replace(structure, **changed)
        return changed_structure

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
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
        return self._fit_data(self._training_data(X, y, sample_weight))

    def fit_path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: SampleWeight = None
    ) -> list[Result]:
        """Fit for each C, from the smallest to the largest, warm-started.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        Cs : sequence of float
            Penalties, in any order.

        Returns
        -------
        list of Result
            In the order of `Cs`; `result.w` are the weights, ``result.notes["C"]`` is
            their C. The estimator is left fitted at the largest; its parameter `C` stays
            as it is.

        Examples
        --------
        >>> from maxmargin import StructuralSVM
        >>> from maxmargin.structures import Multiclass
        >>> X, y = np.array([[1.0, 0.1], [0.2, 1.0], [0.9, 0.0]]), [0, 1, 0]
        >>> path = StructuralSVM(Multiclass()).fit_path(X, y, [1.0, 0.1])
        >>> [round(result.primal, 3) for result in path]
        [0.69, 0.263]
        """
        return fit_path(self, X, y, Cs, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Continue training with a further batch; earlier ones are not needed again.

        Not for kernels, nor for outputs with hidden parts.

        The first batch, or an earlier `fit`, fixes labels and features, so it must show
        all labels. The planes of earlier batches are kept and improved along with those
        of the new; data of an earlier `fit`, or of a model that was loaded, count as one
        plane, the tangent of their risk at the weights.

        Parameters
        ----------
        X, y, sample_weight
            The batch, as for `fit`.

        Returns
        -------
        self
        """
        self._check_streams()
        made = self._batch_data if "result_" in vars(self) else self._training_data
        return self._fit_batch(made(X, y, sample_weight))

    def _check_streams(self) -> None:
        """Refuse parameters that need all data at once."""
        if self._class_weight() == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all data at once: for partial_fit give "
                "the weights of the classes as a dict"
            )

    def _class_weight(self) -> Any:
        """The parameter `class_weight`, where the estimator has one."""
        return self.get_params(deep=False).get("class_weight")

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        """X and y as a structure has encoded them, which is bound to them."""
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        self._check_container(X)
        X, y = by_position(X), by_position(y)
        structure = self._structure(X, y).bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        return TrainingData(structure, x, truth, sample_weight, X, y)

    def _check_container(self, X: Any) -> None:
        """Refuse one matrix or frame where a list of examples is needed."""
        if issparse(X) or hasattr(X, "columns"):
            raise TypeError(
                f"X is one {type(X).__name__}, not a list of examples: "
                f"{type(self).__name__} takes one input per output"
            )

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        """A further batch, encoded by the structure that the first one was bound to."""
        check_same_length(X, y)
        X, y = by_position(X), by_position(y)
        x = self.structure_.encode(X)
        truth = self.structure_.encode_labels(x, y)
        return TrainingData(self.structure_, x, truth, sample_weight, X, y)

    def _fit_data(self, data: TrainingData) -> Self:
        """One run, from the dual of the last fit where that is asked for."""
        plan = self._plan(data)
        mark = run_hash(plan.problem) if self.warm_start else None
        same = mark is not None and mark == self.__dict__.get("_mark")
        start = self.__dict__.get("_state") if same else None
        keeper = None
        if self.checkpoint is not None:
            keeper = keeper_of(self.checkpoint, plan.problem, plan.trainer)
        for made in train(self, plan, once(start, keeper)):
            self._state = made.state if self.warm_start else None
            self._mark = mark
        return self

    def _fit_batch(self, data: TrainingData) -> Self:
        """A run on the planes of all batches so far and on a new one."""
        state = self._stream_state()
        for made in train(self, self._plan(data), next_batch(state)):
            self._state, self._mark = made.state, None
        return self

    def _stream_state(self) -> State | None:
        """The state after earlier batches, or that of the model; None: there is none."""
        state = self.__dict__.get("_state")
        if isinstance(state, StreamState | AlphaStreamState):
            return state
        if "result_" not in vars(self):
            return None
        return ModelState(w=self.result_.w, primal=self.result_.primal)

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        """What to run, with another C than the estimator's if one is given."""
        problem, structure = self._problem(*data[:4], C), data.structure
        return TrainingPlan(
            self._trainer(problem, data), problem,
            lambda one, result, state: one._adopt(structure, result), data.X, data.y,
        )  # fmt: skip

    def _adopt(self, structure: Structure, result: Result) -> None:
        """Become the model that training has led to."""
        self.structure_, self.result_, self.coef_ = structure, result, result.w
        for name in OF_EARLIER:
            self.__dict__.pop(name, None)

    def _problem(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: SampleWeight,
        C: float | None = None,
    ) -> Problem:  # fmt: skip
        check_parameters(self.get_params(deep=False))
        return Problem(
            structure,
            self._loss(structure).bind(structure.label_count()),
            Formulation(self.rescaling, self.penalty, self.regularizer),
            x,
            truth,
            example_C(self.C if C is None else C, sample_weight, truth.n),
            self._engine(),
        )

    def _trainer(self, problem: Problem, data: TrainingData) -> Trainer:
        """The trainer; outputs with hidden parts are completed in turns with it."""
        inner = choose(
            self.solver, problem, tol=self.tol, max_iter=self.max_iter,
            max_time=self.max_time, seed=seed_of(self.random_state),
        )  # fmt: skip
        if problem.structure.offers(Latent) is None:
            return inner
        w = self.init if data.init is None else data.init
        return CCCP(inner, restarts=self.restarts, w=w, given=data.given)

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _loss(self, structure: Structure) -> Loss:
        """The loss chosen by the parameter, not yet bound."""
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
        """The engine chosen by `engine` and `n_jobs`; respects joblib's `parallel_config`."""
        jobs = jobs_of(self.n_jobs)
        if isinstance(self.engine, str) and self.n_jobs is None and jobs == 1:
            jobs = jobs_of(-1)
        if self.engine is None and jobs == 1:
            return Serial()
        return choose_engine(self.engine, jobs)

    def _release(self, engine: Engine) -> None:
        """Close an engine, unless the user gave it."""
        if engine is not self.engine:
            engine.close()

    def score(self, X: Any, y: Any) -> float:
        """How good the predictions are; larger is better."""
        raise NotImplementedError

    def history_frame(self) -> DataFrame:
        """The steps of the last fit as a pandas data frame, by iteration."""
        check_is_fitted(self, "result_")
        return history_frame(self.result_.history)

    def explain(self, x: Any, *, n: int | None = None) -> Explanation:
        """Why the model predicts what it predicts for ONE input.

        Parameters
        ----------
        x : one input
        n : int, optional
            Number of features kept per part, those that add most; by default all.

        Returns
        -------
        Explanation
            Output, score, runner-up, margin, and `parts` with their features by name;
            print it, loop over it, or call `to_frame()`.
        """
        return explain(self, x, n)

    def support_structures(
        self,
        feature: str | int,
        X: Any,
        y: Any,
        n: int = 10,
        sample_weight: SampleWeight = None,
    ) -> SupportTable:
        """Which training examples, against which wrong outputs, made a weight.

        The convex problem is solved once more with a record of outputs, so this takes
        about as long as `fit`. Hidden parts stay as training has completed them.

        Parameters
        ----------
        feature : str or int
            Name of a weight (as `explain` shows it), or its number.
        X, y, sample_weight
            The training data.
        n : int
            Number of rows kept, those that add most.

        Returns
        -------
        SupportTable
            Rows of example, truth, wrong output, loss, alpha and what they add. All
            rows, those not kept included, add up to the weight.
        """
        return support_structures(self, feature, X, y, n, sample_weight)

    def top_weights(self, n: int = 12) -> list[tuple[str, float]]:
        """The n largest and the n smallest weights by name, largest first."""
        return top_weights(self, n)

    def best_few(self, x: Any, k: int = 3) -> list[tuple[Any, float]]:
        """The k best outputs of ONE input with their scores, best first.

        Structures that cannot list outputs give the best one and the runner-up.
        """
        return best_few(self, x, k)

    def calibrate(self, X: Any, y: Any, *, cv: int | None = None, n: int = 20) -> Self:
        """Learn how far scores can be trusted; `predict_set` and others then work.

        Parameters
        ----------
        X, y : data
            Data that the model was not trained on; or, with `cv`, the training data.
        cv : int, optional
            Number of folds: each is scored by a model trained on the others.
        n : int
            Number of best outputs that are listed for each input.
        """
        check_is_fitted(self, "result_")
        self.calibration_ = calibrated(self, X, y, cv, n)
        return self

    def predict_ranked(self, X: Any, n: int | None = None) -> Ranked:
        """The n best outputs of each input with their probabilities, best first."""
        return predict_ranked(self, X, n)

    def predict_set(self, X: Any, coverage: float = 0.9) -> list[Any]:
        """Outputs of each input among which the true one is, as often as `coverage`."""
        return output_sets(self, X, coverage)

    def _label_scores(self, X: Any) -> LabelScores | None:
        """Scores of the labels of tokens, where outputs are label sequences."""
        return None

    def _unknown(self, y: Any) -> Sequence[int]:
        """Examples whose true output training has not shown."""
        return ()

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose true output scores furthest below the best output.

        Parameters
        ----------
        X, y : data
        n : int
            Number of examples returned.
        most : int
            Number of examples looked at, the first ones.

        Returns
        -------
        list of Hard
            Worst first; `short_by` is zero where the prediction is right or `tied`.
        """
        return hardest(self, X, y, n, most)

    def bounds(
        self, X: Any, y: Any, epsilon: float = 0.1, *, R: float | None = None,
        Delta: float | None = None, sample_weight: SampleWeight = None,
    ) -> list[Comparison]:  # fmt: skip
        """What theorems allow for the training data, beside what happened in `fit`.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        epsilon : float
            Of ``solver=NSlack(epsilon=..)`` or ``OneSlack(epsilon=..)``.
        R, Delta : float, optional
            Largest length of a difference of features, and largest loss; by default from
            the data, where these tell. See `maxmargin.bounds`. With a kernel R is needed.
        """
        check_is_fitted(self, "result_")
        x, truth = self._encoded(X, y)
        problem = self._problem(self.structure_, x, truth, sample_weight)
        weights = None if "expansion_" in vars(self) else self._trained_weights()
        return model_bounds(problem, weights, epsilon, self.result_.notes, R, Delta)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        command: str | None = None,
    ) -> None:
        """Write one HTML page about the model: certificate, scores, what it learned.

        Parameters
        ----------
        path : str or path
            File to write; the page needs no other file and no network.
        X, y : optional
            Data to score the model on, preferably data that it was not trained on.
        title, command : str, optional
            Heading, and the command that trained the model.
        """
        parameters = self.get_params()
        report(self, path, X, y, parameters=parameters, title=title, command=command)

    def save(self, path: Place, *, notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file; see `maxmargin.save`."""
        save(self, path, notes=notes)

    @classmethod
    def load(cls, path: Place, *, own: Any = (), max_bytes: int = MOST_BYTES) -> Self:
        """Read a model file; see `maxmargin.load`."""
        return load_as(cls, path, own=own, max_bytes=max_bytes)

    # Translation between the terms of the structure and those of the user.

    def _inputs(self, X: Any) -> Any:
        """Inputs in the form that the structure takes."""
        return X

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        """Outputs of the structure as `predict` returns them."""
        return decoded

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        """Encoded inputs and true outputs, hidden parts completed."""
        x = self.structure_.encode(self._inputs(X))
        truth = self.structure_.encode_labels(x, y)
        latent = self.structure_.offers(Latent)
        if latent is not None:
            truth = latent.complete(x, np.arange(truth.n), self._weights(), truth)
        return x, truth

    def _words(self, x: Any) -> tuple[str, ...]:
        """Words of one input, where it has any, for reports."""
        return ()

    def _examples(self, y: Any, sample_weight: SampleWeight) -> Ints:
        """Numbers of the examples that training uses."""
        return np.arange(len(y))

    def _weights(self) -> Floats:
        """Weights in the coordinates of the structure."""
        return self.coef_

    def _trained_weights(self) -> Floats:
        """The same, as training left them."""
        return self._weights()

    def _weight_names(self) -> Sequence[str] | None:
        """Names of the weights, where they have any."""
        return self.structure_.feature_names()

    def _piece_names(self, pieces: Pieces) -> list[str]:
        """Names of the pieces of an output, in the user's terms."""
        return pieces.names

    def _check_has_weights(self, what: str) -> None:
        """Refuse questions about weights where a kernel has replaced them."""

    def _size(self) -> tuple[int, str]:
        """How large the model is, and in what."""
        return int(np.size(self.coef_)), "weights"

    def _shown_outputs(self, X: Any, y: Any) -> tuple[Any, Any]:
        """True and predicted outputs as a report shows them."""
        return y, self.predict(X)

    def _learned(self) -> Sequence[str]:
        """What the model has learned, as pieces of HTML for a report."""
        return [largest_weights(self.top_weights(10))]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the dual state, and weights only once: those of the result."""
        state = super().__getstate__()
        state = {k: v for k, v in state.items() if k not in PRIVATE}
        if "result_" in state and state.get("coef_") is state["result_"].w:
            state["coef_"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo `__getstate__`."""
        if state.get("coef_", ...) is None:
            state = {**state, "coef_": state["result_"].w}
        super().__setstate__(state)
