"""ChainSVM: label sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.calibration.spans import SpanConfidence
from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.data.tokens.sequences import flat_labels, mark_spans
from maxmargin.core.loss import Loss, ZeroOne
from maxmargin.core.problem import Problem
from maxmargin.core.structure import Structure
from maxmargin.estimators.calibrating import outside
from maxmargin.estimators.calibrating.held_out import LabelScores
from maxmargin.estimators.calibrating.labels import (
    label_margins,
    label_probabilities,
    label_sets,
    sure_spans,
)
from maxmargin.estimators.explaining import chain_weights
from maxmargin.estimators.fitting import prediction
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_same_length,
    object_array,
    warn_of_labels,
)
from maxmargin.estimators.fitting.kernels.mapped import KernelMixin, kernel_plan
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    FeaturesChoice,
    KernelChoice,
    LossChoice,
    LossesByName,
    SampleWeight,
    Seed,
    SolverChoice,
    describe_parameters,
)
from maxmargin.estimators.fitting.training import TrainingData, TrainingPlan
from maxmargin.features.builtin import templates_of
from maxmargin.losses.labels import Hamming, label_weights
from maxmargin.losses.partial import PartialLoss
from maxmargin.reports.drawing.marked_text import tagging_html, words_of
from maxmargin.reports.explanation import Explanation
from maxmargin.reports.weight_tables import LABELS, features_by_label, transition_table
from maxmargin.solvers.base import Result, Trainer, run
from maxmargin.solvers.cccp import CCCP
from maxmargin.structures.chain.constraints import legal_scores, suiting_rules
from maxmargin.structures.chain.one_sequence import labels_of_one
from maxmargin.structures.chain.structure import Chain
from maxmargin.structures.chain.tokens.encoded_files import Encoded
from maxmargin.structures.chain.tokens.named_and_dense import is_pair, split_pairs
from maxmargin.structures.chain.tokens.token_rows import Tokens
from maxmargin.structures.chain.weight_names import first_column, words_of_dicts
from maxmargin.structures.latent.partial import Partial


def _chain_of(structure: Structure) -> Chain:
    """The chain, of which some labels may be hidden."""
    chain = structure.inner if isinstance(structure, Partial) else structure
    assert isinstance(chain, Chain)
    return chain


@describe_parameters()
class ChainSVM(KernelMixin):
    r"""Max-margin sequence labelling: a linear chain, or one of order 2 or 3.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    X is a list of sequences, each a dense array (length, features), a scipy.sparse
    matrix, or a list of feature dicts or feature lists as sklearn-crfsuite takes them;
    or a `Sequences` (flat matrix and offsets). With `features`, sequences are lists of
    words, or of rows of columns (word, part of speech, ..). A pair (tokens, matrix) has
    the columns of a dense matrix beside named features. y has a list of labels for each.
    Unknown labels are None: training then alternates between predicting them and
    learning from them, starting from weights learned on the known labels only.

    Parameters
    ----------
    loss : {"hamming", "hamming-mean", "zero-one"}, array or Loss
        "hamming": number of wrong tokens. "hamming-mean": their share of the sequence.
        "zero-one": 1 if any token is wrong. An array is a table of costs, [true label,
        predicted label] in the order of `classes_`.
    class_weight : dict, "balanced" or None
        Cost of an error by true label, for the Hamming losses. "balanced": inversely
        proportional to the frequency of the label.
    outside_shift : "auto" or float
        Added to the score of label O in predictions: below zero, more spans are found.
        "auto": the best for the F1 of spans on three folds, if more than 95 % of the
        tokens are O and `loss` and `class_weight` are the default; else 0.
    eta : float
        Scale of the features that do not depend on the input (transitions, first and last
        labels, bias) relative to those that do.
    window : int
        The features of this many tokens before and after a token are used for it, too.
    order : {"auto", 1, 2, 3}
        Number of preceding labels that are scored together with the label of a token.
        "auto" is 2 for up to 12 labels that are named like spans (B-PER, I-PER, O), else 1.
    edge_features : bool
        Whether input features (or the kernel) meet pairs of neighbouring labels, too.
    start_end : bool
        Whether the first and the last label of a sequence have weights.
    bias : bool
        Whether each label has a weight that does not depend on the input.
    allowed : array (K, K) or set of label pairs
        Allowed transitions, [label, next label] in the order of `classes_`. They hold in
        training and in prediction.
    scheme : {"auto", "bio", "bioes", None}
        Derive allowed transitions and allowed first and last labels from the label names.
        "auto" does so if the labels of `fit` are named like spans (B-PER, I-PER, O);
        transitions that occur in y are allowed even if the scheme forbids them.
    features : Templates, {"ner", "pos", "chunk"} or path
        How features are made of words and columns: `maxmargin.features.Templates`, the
        name of built-in ones, or a template file of CRF++ or Wapiti.
    calibration : int
        Number of folds on which `fit` calibrates the scores, so that
        `predict_marginals` and `predict_set` work; 0: it does not.
    kernel : str, Kernel or callable
        Compare tokens by a kernel ("quadratic", "cubic", "rbf", `Polynomial(2)`, ...)
        instead of weighting their features. Transitions keep their weights.

    Attributes
    ----------
    classes_ : list
        Labels, sorted.
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    outside_shift_ : float
        What predictions add to the score of O; `coef_` and the certificate are without it.
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
    _counted = True  # whether the counts of the labels are those of all data
    outside_shift_: float

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: LossChoice = "hamming",
        class_weight: Any = None,
        outside_shift: float | str = "auto",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        eta: float = 1.0,
        window: int = 0,
        order: int | str = "auto",
        edge_features: bool = False,
        start_end: bool = True,
        bias: bool = True,
        allowed: Any = None,
        scheme: str | None = "auto",
        features: FeaturesChoice = None,
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
        calibration: int = 0,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.class_weight = class_weight
        self.outside_shift = outside_shift
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.eta = eta
        self.window = window
        self.order = order
        self.edge_features = edge_features
        self.start_end = start_end
        self.bias = bias
        self.allowed = allowed
        self.scheme = scheme
        self.features = features
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
        self.calibration = calibration
        self.verbose = verbose

    @property
    def classes_(self) -> list[Hashable]:
        """Labels, sorted."""
        check_is_fitted(self, "coef_")
        return list(self._chain.labels)

    @property
    def _chain(self) -> Chain:
        return _chain_of(self.structure_)

    def _structure(self, X: Any, y: Any) -> Structure:
        flat, ptr = flat_labels(y)
        order = self.order == "auto" and not self.kernel
        scheme = self.scheme == "auto" and self.allowed is None
        chain = self._unbound_chain(X)
        if mark_spans(set(flat)):
            chain = replace(chain, **suiting_rules(flat, ptr, order, scheme))
        if None not in flat:
            return chain
        if self.kernel is not None:
            raise ValueError("labels that are None cannot be trained with a kernel")
        return Partial(chain)

    def _unbound_chain(self, X: Any) -> Chain:
        templates = None
        if self.features is not None:
            templates = templates_of(self.features, split_pairs(X)[0])
        return Chain(
            eta=self.eta,
            window=self.window,
            order=1 if self.order == "auto" else cast(int, self.order),
            edge_features=self.edge_features,
            start_end=self.start_end,
            bias=self.bias,
            allowed=self.allowed,
            scheme=None if self.scheme == "auto" else self.scheme,
            templates=templates,
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
        counts = self._counts if self._counted else None
        weight = label_weights(self.class_weight, structure.labels, counts)
        return {
            "hamming": Hamming(class_weight=weight),
            "hamming-mean": Hamming(class_weight=weight, normalize=True),
            "zero-one": ZeroOne(),
        }

    def _fit_data(self, data: TrainingData) -> Self:
        if self._auto_shift() and not mark_spans(_chain_of(data.structure).labels):
            return super()._fit_data(data)
        outside.check_shift(self, data.structure)
        self.outside_shift_ = outside.chosen_shift(super()._fit_data(data), data)
        return self

    def _fit_batch(self, data: TrainingData) -> Self:
        self._counted = False  # later batches would have other counts
        return super()._fit_batch(data)

    def _problem(
        self, structure: Structure, x: Any, truth: Ragged, sample_weight: SampleWeight,
        C: float | None = None,
    ) -> Problem:  # fmt: skip
        k = structure.label_count()
        self._counts = np.bincount(truth.data[truth.data < k], minlength=k)
        return super()._problem(structure, x, truth, sample_weight, C)

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if self.kernel is not None:
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _adopt(self, structure: Structure, result: Result) -> None:
        super()._adopt(_chain_of(structure), result)
        self.outside_shift_ = 0.0 if self._auto_shift() else outside.given_shift(self)

    def _auto_shift(self) -> bool:
        return isinstance(self.outside_shift, str) and self.outside_shift == "auto"

    def _weights(self) -> Floats:
        return outside.shifted_weights(self)

    def _trained_weights(self) -> Floats:
        return self.coef_

    def fit(self, X: Any, y: Any = None, sample_weight: SampleWeight = None) -> Self:
        """Learn weights from X and y, or from `Encoded` sequences, which have labels."""
        self._counted = True
        super().fit(X, y, sample_weight)
        warn_of_labels(self.classes_, slips=self._chain.allowed is not self.allowed)
        return self.calibrate(X, y, cv=self.calibration) if self.calibration else self

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
            All labels, if the first batch does not show them; it fixes the features.
        """
        self._check_streams()
        if "result_" not in vars(self) and isinstance(X, Encoded):
            return self._fit_batch(self._training_data(X, y, sample_weight))
        if "result_" not in vars(self):
            # Later batches may break rules that the first one follows: no "auto".
            given = () if classes is None else tuple(classes)
            chain = replace(self._unbound_chain(X), labels=given)
            return self._fit_batch(self._data_for(chain, X, y, sample_weight))
        if classes is not None and set(classes) != set(self.classes_):
            raise ValueError(
                f"classes={list(classes)!r} are not those of the model, "
                f"{self.classes_!r}: the first batch fixes them"
            )
        return self._fit_batch(self._batch_data(X, y, sample_weight))

    def _data_for(
        self, chain: Chain, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        """A first batch, whose chain is bound to it."""
        check_same_length(X, y)
        X, y = by_position(X), by_position(y)
        chain = chain.bind(X, y)
        warn_of_labels(chain.labels, first=True)
        x = chain.encode(X)
        return TrainingData(chain, x, chain.encode_labels(x, y), sample_weight, X, y)

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        if not isinstance(X, Encoded):
            return super()._training_data(X, y, sample_weight)
        if y is not None:
            raise ValueError("encoded sequences contain their labels: leave y out")
        if self.features is not None:
            raise ValueError(
                "encoded sequences have their features: leave features out"
            )
        structure = X.bind(self._unbound_chain(()))
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
        chain, w = self._with_mask(allowed, scheme), self._weights()
        chain, x, w = chain.in_parts(X, w)
        x = x if forced is None else chain.constrain(x, forced)
        labels = prediction.predict_found(self, x, chain, w).labels
        return object_array(chain.decode_labels(x, labels))

    def tag(self, sentence: Any) -> list[Hashable]:
        """Labels of ONE sequence, for services: the quickest way to a prediction.

        Examples
        --------
        >>> from maxmargin import ChainSVM
        >>> X, y = [["Ana", "ríe"], ["hoy", "ríe", "Ana"]], [["N", "V"], ["A", "V", "N"]]
        >>> ChainSVM(C=1.0, features="pos").fit(X, y).tag(["Ana", "ríe", "hoy"])
        ['N', 'V', 'A']
        """
        if "coef_" not in vars(self):  # the check alone takes microseconds
            check_is_fitted(self, "coef_")
        labels = self._chain.labels
        found = labels_of_one(self._chain, sentence, self._weights())
        return [labels[k] for k in found]

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
        found = prediction.predict_layers(self, structure, x, k)
        return prediction.with_scores(structure.decode_labels(x, found.labels), found)

    def max_marginals(self, X: Any) -> list[Floats]:
        """Score of the best sequence that has label k at token t, (length, K) per input."""
        flat, ptr, _ = self._label_scores(X)
        return [flat[a:b] for a, b in pairwise(ptr.tolist())]

    def marginals(self, X: Any) -> list[Floats]:
        """Probability of each label at each token, (length, K) per input.

        Max-marginals, calibrated on held-out data by `calibrate`; rows sum to one, and
        columns are in the order of `classes_`.
        """
        return label_probabilities(self, X)

    def predict_marginals(self, X: Any) -> list[list[dict[Hashable, float]]]:
        """The same as `marginals` with labels, as sklearn-crfsuite gives them."""
        labels = self.classes_
        return [
            [dict(zip(labels, row, strict=True)) for row in table.tolist()]
            for table in self.marginals(X)
        ]

    def predict_set(
        self, X: Any, coverage: float = 0.9, per: str = "token"
    ) -> list[Any]:
        """Labels of each token among which the true one is, as often as `coverage`.

        Parameters
        ----------
        X : sequences
        coverage : float
            Between 0 and 1.
        per : {"token", "label", "sequence", "output"}
            What the promise is about: all tokens; the tokens of each true label, so that
            rare labels count; sequences, all of whose tokens must be covered at once; or,
            with "output", whole label sequences: sets are then sets of those.
        """
        if per == "output":
            return super().predict_set(X, coverage)
        return label_sets(self, X, coverage, per)

    def span_confidences(self, X: Any) -> list[list[SpanConfidence]]:
        """Spans of the best label sequences: kind, first and last token, probability."""
        return sure_spans(self, X)

    def _label_scores(self, X: Any) -> LabelScores:
        chain, x = self._prepared(X, None, None, None)
        parts = prediction.ask_batches(self, chain, x, Chain.max_marginals)
        flat = np.concatenate(parts)
        return LabelScores(flat, x.ptr, chain.labels)

    def confidence(self, X: Any) -> list[Floats]:
        """Margin of each token: how much less a sequence with another label scores."""
        return [label_margins(table) for table in self.max_marginals(X)]

    def score(self, X: Any, y: Any) -> float:
        """Share of tokens with the right label; tokens whose label is None do not count."""
        check_same_length(X, y, "score")
        return prediction.token_accuracy(y, self.predict(X), self.classes_)

    def top_features(self, label: Hashable, n: int = 20) -> list[tuple[str, float]]:
        """The n input features with the largest weights for a label, largest first.

        A negative `n` gives the smallest, smallest first.
        """
        check_is_fitted(self, "coef_")
        self._check_has_weights("top_features")
        return chain_weights.top_features(self._chain, self.coef_, label, n)

    def transitions(self) -> dict[tuple[Hashable, Hashable], float]:
        """Score of each pair of neighbouring labels, largest first."""
        check_is_fitted(self, "coef_")
        return chain_weights.transition_weights(self._chain, self.coef_)

    def info(self) -> chain_weights.ChainInfo:
        """Transitions, weights of features, labels and features, as CRFsuite names them.

        Examples
        --------
        >>> from maxmargin import ChainSVM
        >>> model = ChainSVM().fit([[["a"], ["b"]]], [["N", "V"]])
        >>> model.info().labels, sorted(model.state_features_)[:2]
        ({'N': 0, 'V': 1}, [('a', 'N'), ('a', 'V')])
        """
        check_is_fitted(self, "coef_")
        self._check_has_weights("info")
        return chain_weights.chain_info(self._chain, self.coef_)

    @property
    def transition_features_(self) -> dict[tuple[Hashable, Hashable], float]:
        """Weights of label pairs, as in sklearn-crfsuite."""
        return self.info().transitions

    @property
    def state_features_(self) -> dict[tuple[str, Hashable], float]:
        """Weights of (feature, label), as in sklearn-crfsuite."""
        return self.info().state_features

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
        margins = self.max_marginals([x])[0]
        return chain_weights.with_rivals(plain, self._chain.labels, margins)

    def _learned(self) -> Sequence[str]:
        drawn, shown = transition_table(self.transitions()), self.classes_[:LABELS]
        if self.kernel is not None:
            return [drawn, *super()._learned()]
        rows = [(y, self.top_features(y, 6), self.top_features(y, -3)) for y in shown]
        return [drawn, features_by_label(rows, len(self.classes_) - len(shown))]

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        words = self._words(x) or words_of(x)
        return tagging_html(words, output, truth, known=self.classes_)

    def _words(self, x: Any) -> tuple[str, ...]:
        tokens = x[0] if isinstance(x, tuple) and is_pair(x) else x
        if self._chain.reader is None:
            return words_of_dicts(tokens)
        return tuple(first_column(token) for token in tokens)

    def _encoded(self, X: Any, y: Any) -> tuple[Tokens, Ragged]:
        # New data may break the mask of training: their truth has a score all the same.
        structure = replace(self._chain, legal=np.empty(0))
        x = structure.encode(X)
        return x, structure.encode_labels(x, y)

    def _with_mask(self, allowed: Any, scheme: str | None) -> Chain:
        """The fitted chain, with another mask if one is given."""
        check_is_fitted(self, "coef_")
        if allowed is None and scheme is None:
            return self._chain
        legal = legal_scores(self._chain.labels, scheme, allowed)
        return replace(self._chain, legal=legal)

    def _prepared(
        self, X: Any, forced: Any, allowed: Any, scheme: str | None
    ) -> tuple[Chain, Tokens]:
        chain = self._with_mask(allowed, scheme)
        x = chain.encode(X)
        return chain, x if forced is None else chain.constrain(x, forced)
