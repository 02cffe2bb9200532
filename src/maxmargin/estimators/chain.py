"""ChainSVM: label sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.loss import Loss, ZeroOne
from maxmargin.core.problem import Problem
from maxmargin.core.sequences import has_hidden
from maxmargin.core.structure import Layers, Structure
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    object_array,
)
from maxmargin.estimators.fitting.kernel_training import KernelMixin, kernel_plan
from maxmargin.estimators.fitting.parameter_types import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
)
from maxmargin.estimators.fitting.parameters import describe_parameters
from maxmargin.estimators.fitting.prediction import (
    ask_batches,
    joined_layers,
    predict_found,
)
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.losses.labels import Hamming
from maxmargin.losses.partial import PartialLoss
from maxmargin.metrics.sequences import token_error
from maxmargin.reports.explanation import Explanation
from maxmargin.reports.learned import LABELS, features_by_label, transition_table
from maxmargin.solvers.base import Result, Trainer, run
from maxmargin.solvers.cccp import CCCP
from maxmargin.structures.chain.constraints import legal_scores
from maxmargin.structures.chain.encoded import Encoded
from maxmargin.structures.chain.names import input_weights
from maxmargin.structures.chain.structure import Chain, Tokens
from maxmargin.structures.latent.partial import Partial


@describe_parameters()
class ChainSVM(KernelMixin):
    r"""Max-margin sequence labelling: a linear chain, or one of order 2 or 3.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    X is a list of sequences, each a dense array (length, features), a scipy.sparse
    matrix, or a list of feature dicts or feature lists as sklearn-crfsuite takes them;
    or a `Sequences` (flat matrix and offsets). y is a list of sequences of labels.
    Unknown labels are None: training then alternates between predicting them and
    learning from them, starting from weights learned on the known labels only.

    Parameters
    ----------
    loss : {"hamming", "hamming-mean", "zero-one"}, array or Loss
        "hamming": number of wrong tokens. "hamming-mean": their share of the sequence.
        "zero-one": 1 if any token is wrong. An array is a table of costs, [true label,
        predicted label] in the order of `classes_`.
    class_weight : dict or "balanced"
        Cost of an error by true label, for the Hamming losses. "balanced" makes it
        inversely proportional to the frequency of the label.
    eta : float
        Scale of the features that do not depend on the input (transitions, first and last
        labels, bias) relative to those that do.
    window : int
        The features of this many tokens before and after a token are used for it, too.
    order : {1, 2, 3}
        Number of preceding labels that are scored together with the label of a token.
    edge_features : bool
        Whether pairs of neighbouring labels have weights for the input features, too.
    start_end : bool
        Whether the first and the last label of a sequence have weights.
    bias : bool
        Whether each label has a weight that does not depend on the input.
    allowed : array (K, K) or set of label pairs
        Allowed transitions, [label, next label] in the order of `classes_`. They hold in
        training and in prediction.
    scheme : {"bio", "bioes"}
        Derive allowed transitions and allowed first and last labels from the label names.
    kernel : str, Kernel or callable
        Compare tokens by a kernel ("quadratic", "cubic", "rbf", `Polynomial(2)`, ...)
        instead of weighting their features. Transitions keep their weights.

    Attributes
    ----------
    classes_ : list
        Labels, sorted.
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Chain
        The structure, bound to the data.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> X = [[{"w": "Ana"}, {"w": "ríe"}], [{"w": "hoy"}, {"w": "ríe"}, {"w": "Ana"}]]
    >>> y = [["B-PER", "O"], ["O", "O", "B-PER"]]
    >>> model = ChainSVM(C=1.0).fit(X, y)
    >>> model.predict([[{"w": "ríe"}, {"w": "Ana"}]])[0]
    ['O', 'B-PER']
    """

    _predicts_labels = True

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: LossChoice = "hamming",
        class_weight: Any = None,
        rescaling: str | None = "margin",
        penalty: str = "linear",
        eta: float = 1.0,
        window: int = 0,
        order: int = 1,
        edge_features: bool = False,
        start_end: bool = True,
        bias: bool = True,
        allowed: Any = None,
        scheme: str | None = None,
        kernel: KernelChoice = None,
        kernel_method: str = "exact",
        n_basis: int = 200,
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
        self.C = C
        self.loss = loss
        self.class_weight = class_weight
        self.rescaling = rescaling
        self.penalty = penalty
        self.eta = eta
        self.window = window
        self.order = order
        self.edge_features = edge_features
        self.start_end = start_end
        self.bias = bias
        self.allowed = allowed
        self.scheme = scheme
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
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

    @property
    def classes_(self) -> list[Hashable]:
        """Labels, sorted."""
        check_is_fitted(self, "coef_")
        return list(self._chain.labels)

    @property
    def _chain(self) -> Chain:
        structure = self.structure_
        assert isinstance(structure, Chain)
        return structure

    def _structure(self, X: Any, y: Any) -> Structure:
        if not has_hidden(y):
            return self._unbound_chain()
        if self.kernel is not None:
            raise ValueError("labels that are None cannot be trained with a kernel")
        return Partial(self._unbound_chain())

    def _unbound_chain(self) -> Chain:
        return Chain(
            eta=self.eta,
            window=self.window,
            order=self.order,
            edge_features=self.edge_features,
            start_end=self.start_end,
            bias=self.bias,
            allowed=self.allowed,
            scheme=self.scheme,
        )

    def _loss(self, structure: Structure) -> Loss:
        if isinstance(structure, Partial):
            return PartialLoss(super()._loss(structure.inner))
        return super()._loss(structure)

    def _trainer(self, problem: Problem, data: TrainingData) -> Trainer:
        """With hidden labels: CCCP, from weights learned on the known ones."""
        trainer = super()._trainer(problem, data)
        if not isinstance(problem.structure, Partial):
            return trainer
        assert isinstance(trainer, CCCP)
        chain, x, truth, owner = problem.structure.known(problem.x, problem.truth)
        assert isinstance(problem.loss, PartialLoss)
        runs = Problem(
            chain, problem.loss.inner, problem.formulation, x, truth, problem.C[owner],
            problem.engine,
        )  # fmt: skip
        rough = max(self.tol, 0.01)
        first = run(replace(trainer.inner, tol=rough), runs)
        return replace(trainer, w=first.result.w)

    def _known_losses(self, structure: Structure) -> LossesByName:
        assert isinstance(structure, Chain)
        weight = self._label_weights(structure)
        return {
            "hamming": Hamming(class_weight=weight),
            "hamming-mean": Hamming(class_weight=weight, normalize=True),
            "zero-one": ZeroOne(),
        }

    def _label_weights(self, structure: Chain) -> Floats | None:
        if self.class_weight is None:
            return None
        if self.class_weight == "balanced":
            counts = self._counts.astype(np.float64)
            weights: Floats = counts.sum() / (len(counts) * np.maximum(counts, 1.0))
            return weights
        unknown = set(self.class_weight) - set(structure.labels)
        if unknown:
            raise ValueError(
                f"class_weight: unknown label {sorted(map(repr, unknown))[0]}"
            )
        return np.array([self.class_weight.get(y, 1.0) for y in structure.labels])

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        k, labels = data.structure.label_count(), data.truth.data
        self._counts = np.bincount(labels[labels < k], minlength=k)
        if self.kernel is not None:
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _adopt(self, structure: Structure, result: Result) -> None:
        inner = structure.inner if isinstance(structure, Partial) else structure
        super()._adopt(inner, result)

    def fit(self, X: Any, y: Any = None, sample_weight: SampleWeight = None) -> Self:
        """Learn weights from X and y, or from `Encoded` sequences, which have labels."""
        return super().fit(X, y, sample_weight)

    @available_if(lambda self: self._can_stream())
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: SampleWeight = None
    ) -> Self:
        """Continue training with another batch; earlier ones are not needed again.

        Parameters
        ----------
        X, y, sample_weight
            The batch, as for `fit`.
        classes : sequence, optional
            All labels, given with the first batch if it does not show them all. Features
            are always those of the first batch.

        Returns
        -------
        self
        """
        self._check_streams()
        if "result_" not in vars(self):
            given = () if classes is None else tuple(classes)
            return self._fit_batch(self._training_data(X, y, sample_weight, given))
        if classes is not None and set(classes) != set(self.classes_):
            raise ValueError(
                f"classes={list(classes)!r} are not those of the model, "
                f"{self.classes_!r}: the first batch fixes them"
            )
        return self._fit_batch(self._batch_data(X, y, sample_weight))

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight,
        classes: tuple[Hashable, ...] = (),
    ) -> TrainingData:  # fmt: skip
        if not isinstance(X, Encoded) and classes:
            check_same_length(X, y)
            X, y = by_position(X), by_position(y)
            chain = replace(self._unbound_chain(), labels=classes).bind(X, y)
            x = chain.encode(X)
            truth = chain.encode_labels(x, y)
            return TrainingData(chain, x, truth, sample_weight, X, y)
        if not isinstance(X, Encoded):
            return super()._training_data(X, y, sample_weight)
        if y is not None:
            raise ValueError("encoded sequences contain their labels: leave y out")
        structure = X.bind(self._unbound_chain())
        return TrainingData(structure, X.x, X.truth, sample_weight)

    def predict(
        self, X: Any, forced: Any = None, allowed: Any = None, scheme: str | None = None
    ) -> np.ndarray:
        """Best label sequence of each input, as a 1-D object array of lists.

        Parameters
        ----------
        X : sequences
        forced : list, optional
            Labels that are fixed: per sequence a dict {token: label}, a list with None
            where the label is free, or None.
        allowed, scheme : optional
            Allowed transitions for this prediction, instead of those of training.
        """
        structure, x = self._prepared(X, forced, allowed, scheme)
        labels = predict_found(self, x, structure).labels
        return object_array(structure.decode_labels(x, labels))

    def predict_nbest(
        self,
        X: Any,
        k: int = 5,
        forced: Any = None,
        allowed: Any = None,
        scheme: str | None = None,
    ) -> list[list[tuple[list[Hashable], float]]]:
        """The k best label sequences of each input with their scores, best first."""
        structure, x = self._prepared(X, forced, allowed, scheme)
        parts = ask_batches(self, structure, x, partial(_best_many, k=k))
        found = joined_layers(parts)
        rows = structure.decode_labels(x, found.labels)
        scored = list(zip(rows, found.score.tolist(), strict=True))
        return [scored[a:b] for a, b in pairwise(found.ptr.tolist())]

    def max_marginals(self, X: Any) -> list[Floats]:
        """Score of the best sequence that has label k at token t, (length, K) per input."""
        structure, x = self._prepared(X, None, None, None)
        flat = np.concatenate(ask_batches(self, structure, x, Chain.max_marginals))
        return [flat[a:b] for a, b in pairwise(x.ptr.tolist())]

    def confidence(self, X: Any) -> list[Floats]:
        """Margin of each token: how much less a sequence with another label scores.

        Zero is a tie. Margins have the unit of the loss: training asks for a margin of
        at least the cost of the error.
        """
        out = []
        for table in self.max_marginals(X):
            if table.shape[1] < 2:
                out.append(np.full(len(table), np.inf))
                continue
            top = np.partition(table, -2, axis=1)
            out.append(top[:, -1] - top[:, -2])
        return out

    def score(self, X: Any, y: Any) -> float:
        """Share of tokens with the right label; tokens whose label is None do not count."""
        return 1.0 - token_error(y, list(self.predict(X)))

    def top_features(self, label: Hashable, n: int = 20) -> list[tuple[str, float]]:
        """The n input features with the largest weights for a label, largest first.

        A negative `n` gives those with the smallest weights, smallest first.
        """
        check_is_fitted(self, "coef_")
        self._check_has_weights("top_features")
        structure = self._chain
        if label not in structure.labels:
            raise ValueError(f"unknown label {label!r}; see classes_")
        table = input_weights(structure.layout, self.coef_, structure.sparse)
        column, names = table[:, structure.labels.index(label)], structure.inputs()
        order = np.argsort(-column if n >= 0 else column, kind="stable")[: abs(n)]
        return [(names[j], float(column[j])) for j in order]

    def transitions(self) -> dict[tuple[Hashable, Hashable], float]:
        """Score of each pair of neighbouring labels, largest first."""
        check_is_fitted(self, "coef_")
        structure = self._chain
        k, at = len(structure.labels), structure.layout.pairs
        flat = float(structure.eta) * self.coef_[at : at + k * k]
        order = np.argsort(-flat, kind="stable")
        name = structure.labels
        return {(name[j // k], name[j % k]): float(flat[j]) for j in order}

    def explain(self, x: Any, *, n: int | None = None) -> Explanation:
        """Why each token of ONE sequence gets its label.

        Each part is a token, with its `label`, the `rival` label and the `margin`: how
        much less the best sequence with another label at this token scores. The scores
        of all parts add up to the score of the sequence.

        Parameters
        ----------
        x : one sequence
        n : int, optional
            Number of features kept per token, those that add most; by default all.
        """
        plain = super().explain(x, n=n)
        labels = self._chain.labels
        parts = []
        for part, y, row in zip(
            plain.parts, plain.output, self.max_marginals([x])[0], strict=True
        ):
            others = row.copy()
            others[labels.index(y)] = -np.inf
            best = int(np.argmax(others))
            margin = float(row[labels.index(y)] - others[best])
            parts.append(replace(part, label=y, rival=labels[best], margin=margin))
        return replace(plain, parts=tuple(parts))

    def _learned(self) -> Sequence[str]:
        drawn = transition_table(self.transitions())
        if self.kernel is not None:
            return [drawn, *super()._learned()]
        shown = self.classes_[:LABELS]
        features = [
            (y, self.top_features(y, 6), self.top_features(y, -3)) for y in shown
        ]
        others = len(self.classes_) - len(shown)
        return [drawn, features_by_label(features, others)]

    def _prepared(
        self, X: Any, forced: Any, allowed: Any, scheme: str | None
    ) -> tuple[Chain, Tokens]:
        check_is_fitted(self, "coef_")
        structure = self._chain
        if allowed is not None or scheme is not None:
            legal = legal_scores(structure.labels, scheme, allowed)
            structure = replace(structure, legal=legal)
        x = structure.encode(X)
        return structure, x if forced is None else structure.constrain(x, forced)


def _best_many(structure: Chain, x: Tokens, ids: Ints, w: Floats, k: int) -> Layers:
    return structure.nbest(x, ids, w, k)
