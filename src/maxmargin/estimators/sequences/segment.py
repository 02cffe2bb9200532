"""SegmentSVM: labelled spans of sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_examples,
    check_same_length,
    check_truth,
    warn_if_alike,
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
from maxmargin.estimators.fitting.prediction import (
    ask_batches,
    predict_found,
    predict_layers,
    with_scores,
)
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.features.builtin import NAMES, builtin_templates
from maxmargin.features.tables import Gazetteer
from maxmargin.features.templates import Templates
from maxmargin.losses.labels import Hamming
from maxmargin.losses.spans import SpanLoss
from maxmargin.metrics.sequences import SpanScore, span_f1, span_scores
from maxmargin.reports.drawing.marked_text import tagging_html, words_of
from maxmargin.reports.weight_tables import largest_weights, transition_table
from maxmargin.structures.chain.weight_names import first_column
from maxmargin.structures.segments.evidence import SEEN
from maxmargin.structures.segments.inputs import SegmentInputs
from maxmargin.structures.segments.spans import Span, given_spans, written
from maxmargin.structures.segments.structure import Segments
from maxmargin.structures.segments.vocabulary import FAMILIES

AUTO = (*FAMILIES, SEEN)
SEEN_FROM = 2000  # spans of training, below which "auto" leaves "seen" out


@describe_parameters()
class SegmentSVM(StructuredEstimator):
    r"""Max-margin segmentation: names, phrases and other spans, scored as wholes.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    A span has features of its own beside those of its words: its length, the phrase as a
    whole, its shape, the words around it. Predicted spans never overlap.

    X is a list of sentences. Without `features`, tokens come as for `ChainSVM`: dicts or
    lists of features, strings, or rows of arrays. With `features`, tokens are strings or
    rows of columns. y is a list of label sequences (BIO, IOB1, BIOES or BILOU, which is
    recognised), or of lists of spans ``(first token, token after the last, label)``.
    Predictions come in the form of y.

    Parameters
    ----------
    max_length : int
        Tokens of the longest span.
    features : Templates or str
        Templates that make features of tokens: an object of `maxmargin.features`, "ner",
        "pos" or "chunk", or the path of a template file. None: tokens come with their
        features.
    segment_features : "auto" or sequence of str
        Features of whole spans: "length", "phrase" (all words), "shape" (how they are
        written), "before", "after", "around" (words beside the span), "ends" (first and
        last word). "seen": how often the phrase and the words beside it were seen at
        spans of each label, in training counted on the other tenths of the data. All
        but "length" need the words. "auto": all, "seen" from 2000 spans on.
    words : str
        Where the word of a token is: the key of its dict, the prefix of one of its
        listed features ("w=" for "w=Ana"), or a column of the templates. Not needed if
        tokens are strings, or if the word is the first column.
    gazetteers : sequence of Gazetteer
        Lists of names; a span that is one of them has a feature.
    roles : {"bioes", "bio", None}
        What weights of words tell apart: first, inner, last and single words of a span;
        first and later ones; nothing.
    shared : bool
        Whether words also have weights by the label of the span alone.
    window : int
        The features of this many tokens before and after a token are used for it, too.
    loss : {"spans", "spans-mean", "hamming", "hamming-mean", "zero-one"} or Loss
        "spans": number of wrong and of missed spans (`SpanLoss` weighs them). "hamming":
        number of tokens whose BIO label is wrong. "-mean" divides by the number of true
        spans or of tokens. "zero-one": 1 if anything is wrong.
    forbidden : set of (label, next label)
        Labels that may not follow one another directly; "O" is a token outside.
    start_end : bool
        Whether the first and the last label of a sentence have weights.
    skip_pairs : bool
        Whether the labels of two successive spans are also scored together where tokens
        outside lie between them.
    longer : {"error", "split"}
        True spans of more than `max_length` tokens are refused, or cut into pieces.
    scheme : {"bio", "iob1", "bioes", "bilou"}
        Scheme of the label sequences in y. By default it is recognised, and labels that
        do not fit it are refused; if it is told, they are read as conlleval does, where
        an I- after O begins a span.

    Attributes
    ----------
    classes_ : list
        Labels of spans, sorted.
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Segments
        The structure, bound to the data.

    Examples
    --------
    >>> from maxmargin import SegmentSVM
    >>> X = [["Ana", "Ruiz", "ríe"], ["hoy", "ríe", "Eva"], ["Eva", "Ruiz", "va"]]
    >>> y = [["B-PER", "I-PER", "O"], ["O", "O", "B-PER"], ["B-PER", "I-PER", "O"]]
    >>> model = SegmentSVM(C=1.0, max_length=3).fit(X, y)
    >>> model.predict([["hoy", "va", "Ana", "Ruiz"]])[0]
    ['O', 'O', 'B-PER', 'I-PER']
    >>> model.predict_spans([["hoy", "va", "Ana", "Ruiz"]])[0]
    [(2, 4, 'PER')]
    """

    _predicts_labels = True

    def __init__(
        self,
        C: float = 0.05,
        *,
        max_length: int = 6,
        features: Templates | str | None = None,
        segment_features: Sequence[str] | str = "auto",
        words: str | None = None,
        gazetteers: Sequence[Gazetteer] = (),
        roles: str | None = "bioes",
        shared: bool = True,
        window: int = 0,
        loss: LossChoice = "hamming",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        forbidden: Any = None,
        start_end: bool = True,
        skip_pairs: bool = True,
        longer: str = "error",
        scheme: str | None = None,
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
        self.max_length = max_length
        self.features = features
        self.segment_features = segment_features
        self.words = words
        self.gazetteers = gazetteers
        self.roles = roles
        self.shared = shared
        self.window = window
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.forbidden = forbidden
        self.start_end = start_end
        self.skip_pairs = skip_pairs
        self.longer = longer
        self.scheme = scheme
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
        """Labels of spans, sorted."""
        check_is_fitted(self, "coef_")
        return list(self._segments.labels[1:])

    @property
    def _segments(self) -> Segments:
        structure = self.structure_
        assert isinstance(structure, Segments)
        return structure

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn weights; ends with a certificate in `result_`.

        Parameters
        ----------
        X : sequence of token sequences
        y : sequence of label sequences, or of lists of spans
        sample_weight : array (n,), optional
            Factor on C for each example.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        warn_if_alike(self.classes_)
        return self

    def _structure(self, X: Any, y: Any) -> Structure:
        auto = (
            isinstance(self.segment_features, str) and self.segment_features == "auto"
        )
        families = AUTO if auto else tuple(self.segment_features)
        return Segments(
            max_length=self.max_length,
            roles=self.roles,
            shared=self.shared,
            segment_features=families,
            seen_from=SEEN_FROM if families is AUTO else 0,
            gazetteers=tuple(self.gazetteers),
            templates=_templates(self.features, X),
            words=self.words,
            window=self.window,
            forbidden=self.forbidden,
            start_end=self.start_end,
            skip_pairs=self.skip_pairs,
            longer=self.longer,
            told_scheme=self.scheme,
        )

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        data = super()._training_data(X, y, sample_weight)
        assert isinstance(data.structure, Segments)
        return data._replace(x=data.structure.cross_fitted(data.x, data.truth))

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {
            "spans": SpanLoss(),
            "spans-mean": SpanLoss(normalize=True),
            "hamming": Hamming(),
            "hamming-mean": Hamming(normalize=True),
            "zero-one": ZeroOne(),
        }

    def predict_spans(self, X: Any) -> list[list[Span]]:
        """Best spans of each sentence: (first token, token after the last, label)."""
        check_is_fitted(self, "coef_")
        if check_examples(X) == 0:
            return []
        return self._found(self._segments.encode(by_position(X)))

    def tag(self, sentence: Any) -> Any:
        """Output of ONE sentence, for services, in the form of the training data.

        Examples
        --------
        >>> from maxmargin import SegmentSVM
        >>> X, y = [["Ana", "ríe"], ["hoy", "ríe", "Ana"]], [[(0, 1, "P")], [(2, 3, "P")]]
        >>> SegmentSVM(C=1.0).fit(X, y).tag(["Ana", "ríe", "hoy"])
        [(0, 1, 'P')]
        """
        return self.predict([sentence])[0]

    def _found(self, x: SegmentInputs) -> list[list[Span]]:
        return self._segments.spans(predict_found(self, x).labels)

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """The k best outputs of each sentence with their scores, best first."""
        check_is_fitted(self, "coef_")
        structure = self._segments
        x = structure.encode(by_position(X))
        found = predict_layers(self, structure, x, k)
        rows = structure.decode_labels(x, found.labels)
        return with_scores(rows, found)

    def max_marginals(self, X: Any) -> list[Floats]:
        """Score of the best output that has a BIO label at a token, per sentence.

        Arrays (length, labels), where labels are "O" and, for each of `classes_`, B- and
        I-, see ``structure_.code_names()``.
        """
        check_is_fitted(self, "coef_")
        structure = self._segments
        x = structure.encode(by_position(X))
        parts = ask_batches(self, structure, x, Segments.max_marginals)
        flat = np.concatenate(parts)
        return [flat[a:b] for a, b in pairwise(x.ptr.tolist())]

    def score(self, X: Any, y: Any) -> float:
        """F1 of spans; a span counts if its label and both ends are right.

        Labels in y are read as conlleval does: an I- after O begins a span.
        """
        return span_f1(*self._compared(X, y))

    def span_scores(self, X: Any, y: Any) -> dict[str, SpanScore]:
        """Precision, recall and F1 of spans by label, and "micro" of all spans.

        See `maxmargin.metrics.span_scores`.
        """
        return span_scores(*self._compared(X, y))

    def _compared(self, X: Any, y: Any) -> tuple[list[Any], list[Any]]:
        """True and predicted outputs as BIO labels."""
        check_is_fitted(self, "coef_")
        check_same_length(X, y, "score")
        X, y = by_position(X), by_position(y)
        x = self._segments.encode(X)
        sizes = np.diff(x.ptr).tolist()
        truth = given_spans(y, x.ptr, "bio").rows
        check_truth((label for row in truth for *_, label in row), self.classes_)
        found = self._found(x)
        return written(truth, sizes, "bio"), written(found, sizes, "bio")

    def transitions(self) -> dict[tuple[Hashable, Hashable], float]:
        """Score of each pair of neighbouring labels, largest first; "O" is outside."""
        check_is_fitted(self, "coef_")
        structure = self._segments
        names, at = structure.labels, structure.layout.pairs
        flat = self.coef_[at : at + len(names) ** 2]
        order = np.argsort(-flat, kind="stable").tolist()
        k = len(names)
        return {(names[j // k], names[j % k]): float(flat[j]) for j in order}

    def top_segment_features(
        self, label: Hashable, n: int = 20
    ) -> list[tuple[str, float]]:
        """The n features of spans with the largest weights for a label, largest first.

        A negative `n` gives those with the smallest weights, smallest first.
        """
        check_is_fitted(self, "coef_")
        structure = self._segments
        if label not in structure.labels[1:]:
            raise ValueError(f"unknown label {label!r}; see classes_")
        spot, names = structure.layout, structure.piece_names()
        if not names:
            return []
        kinds = spot.labels - 1
        block = self.coef_[spot.pieces : spot.pieces + len(names) * kinds]
        column = block.reshape(-1, kinds)[:, structure.labels.index(label) - 1]
        order = np.argsort(-column if n >= 0 else column, kind="stable")[: abs(n)]
        return [(names[j], float(column[j])) for j in order.tolist()]

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        """Encoded inputs and true outputs; spans that are too long come in pieces."""
        x = self._segments.encode(X)
        return x, self._segments.near_labels(x, y)

    def _shown_outputs(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._compared(X, y)

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        words = words_of(x) if self.features is None else [*map(first_column, x)]
        known = [f"B-{label}" for label in self.classes_]
        right = None if truth is None else _bio(truth, len(words))
        return tagging_html(words, _bio(output, len(words)), right, known=known)

    def _learned(self) -> Sequence[str]:
        return [
            transition_table(self.transitions()),
            largest_weights(self.top_weights(10)),
        ]


def _bio(output: Any, size: int) -> Sequence[Hashable]:
    """The output of one sentence, labels or spans, as BIO labels."""
    rows = given_spans([output], np.array([0, size]), "bio").rows
    labels: Sequence[Hashable] = written(rows, [size], "bio")[0]
    return labels


def _templates(features: Any, X: Any) -> Templates | None:
    """Templates given as an object, by name or as a file."""
    if features is None or isinstance(features, Templates):
        return features
    if isinstance(features, str) and features in NAMES:
        return builtin_templates(features, width=_width(X))
    if isinstance(features, str):
        try:
            return Templates.read(features)
        except FileNotFoundError:
            names = ", ".join(map(repr, NAMES))
            raise ValueError(
                f"features={features!r} is neither one of {names} nor a template file"
            ) from None
    raise ValueError(
        f"features={features!r:.60} is neither Templates, nor a name, nor the path of a "
        "template file as a string"
    )


def _width(X: Any) -> int:
    """Number of columns of the first token."""
    token = next((token for row in X for token in row), "")
    return 1 if isinstance(token, str) else len(token)
