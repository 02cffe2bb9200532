"""CoreferenceSVM and CorrelationSVM: cluster the mentions of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import check_examples, check_same_length
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
from maxmargin.io.coreference.document import CoreferenceDocument
from maxmargin.losses.clusters import ForestLoss, PairLoss
from maxmargin.metrics.clusters import mitre_loss
from maxmargin.metrics.coreference import coreference_scores, entities_of
from maxmargin.reports.drawing.marked_text import (
    beside_html,
    clustered_text,
    clusters_html,
)
from maxmargin.structures.clusters.coreference import (
    Coreference,
    PairFeatures,
)
from maxmargin.structures.clusters.correlation import Correlation
from maxmargin.structures.clusters.mentions import (
    FIRST_NAMES,
    FIRST_PLAIN,
    NAMES,
    PLAIN,
    Document,
    Mention,
    pair_features,
)


@describe_parameters()
class CoreferenceSVM(StructuredEstimator):
    r"""Clustering by strong links, where the links are hidden (latent forests).

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_d \big( \max_{h} [\Delta_r(y_d, h) +
              \sum_{(i,j) \in h} \langle w, x_{ij} \rangle] - \max_{h \sim y_d}
              \sum_{(i,j) \in h} \langle w, x_{ij} \rangle \big)

    Parameters
    ----------
    r : float
        Penalty of a link between two true clusters. Values below one allow more links
        (higher recall).
    C : float
        Weight of the training errors in the objective. The loss of a document is counted
        in links.
    features : callable
        Makes `PairFeatures` of an element of X. By default, `Document` objects and
        documents of `maxmargin.io.coreference` get `pair_features`, and anything else must
        be pair features already.
    loss : {"forest"} or Loss
        "forest": number of mentions, less the number of true clusters, less the links of
        the forest within true clusters, plus `r` for each link between two of them.
    init : array
        Weights to start from; by default, training starts from chains in order of mention.

    Attributes
    ----------
    coef_ : array
        Weights of the pair features.
    result_ : LatentResult
        Certificate of the last convex problem, and `outer`, one row per completion.

    References
    ----------
    Yu 2011, section 5.4.2.

    Examples
    --------
    >>> from maxmargin import CoreferenceSVM
    >>> from maxmargin.structures.clusters.mentions import Document, Mention
    >>> text = [["Ann", "met", "Bob", "."], ["Ann", "saw", "Bob", "."]]
    >>> mentions = [Mention(0, 0, 0), Mention(0, 2, 2), Mention(1, 0, 0),
    ...             Mention(1, 2, 2)]
    >>> model = CoreferenceSVM(C=1.0).fit([Document(text, mentions)], [[0, 1, 0, 1]])
    >>> model.predict([Document(text, mentions)])[0]
    [0, 1, 0, 1]
    """

    def __init__(
        self,
        r: float = 0.25,
        C: float = 0.2,
        *,
        features: Callable[[Any], Any] | None = None,
        loss: LossChoice = "forest",
        init: Any = None,
        restarts: int = 1,
        rescaling: str = "margin",
        penalty: str = "linear",
        solver: SolverChoice = "auto",
        tol: float = 1e-2,
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
        self.r = r
        self.C = C
        self.features = features
        self.loss = loss
        self.init = init
        self.restarts = restarts
        self.rescaling = rescaling
        self.penalty = penalty
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

    def _structure(self, X: Any, y: Any) -> Structure:
        return Coreference()

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"forest": ForestLoss(self.r)}

    def fit(self, X: Any, y: Any = None, sample_weight: SampleWeight = None) -> Self:
        """Learn from documents.

        Parameters
        ----------
        X : sequence of Document, CoreferenceDocument, PairFeatures or matrices of pairs
        y : sequence of sequences, optional
            Cluster of each mention of each document; by default those that the documents
            bring along, as documents of `maxmargin.io.coreference` do.
        sample_weight : array (documents,), optional
            Factor on C of each document.
        """
        return super().fit(X, _clusters(X, y), sample_weight)

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        self._check_container(X)
        return super()._training_data(self._pairs(X), y, sample_weight)

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        return super()._batch_data(self._pairs(X), y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each mention of each document, numbered by first mention."""
        return super().predict(self._pairs(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean MITRE score, 1 - loss / 100; y as in `fit`."""
        y = _clusters(X, y)
        check_same_length(X, y, "score")
        found = self.predict(X)
        losses = [mitre_loss(a, b) for a, b in zip(y, found, strict=True)]
        return 1.0 - float(np.mean(losses)) / 100.0

    def _inputs(self, X: Any) -> Any:
        return self._pairs(X)

    def _weight_names(self) -> Sequence[str] | None:
        if self.features is not None:
            return None
        known = {len(names): names for names in (NAMES, FIRST_NAMES)}
        return known.get(self.structure_.dim)

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        def drawn(clusters: Any) -> str:
            if isinstance(x, Document):
                spans = [(m[0], m[1], m[2]) for m in x.mentions]
                return clustered_text(x.sentences, spans, list(clusters))
            if isinstance(x, CoreferenceDocument):
                return clustered_text(x.sentences, x.spans, list(clusters))
            names = [f"mention {m + 1}" for m in range(len(clusters))]
            return clusters_html(names, list(clusters))

        if truth is None or _first_members(output) == _first_members(truth):
            return drawn(output)
        return beside_html(drawn(output), drawn(truth))

    def _score_name(self) -> str:
        return "MITRE score, mean of documents"

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        keys, responses = (
            [entities_of(range(len(row)), list(row)) for row in rows]
            for rows in (y, predicted)
        )
        scores = coreference_scores(keys, responses)
        return [("MUC F1", scores.muc.f1), ("B-cubed F1", scores.b_cubed.f1),
                ("CEAF of entities F1", scores.ceaf_e.f1),
                ("CoNLL: their mean", scores.conll)]  # fmt: skip

    def _pairs(self, X: Any) -> Any:
        check_examples(X)
        if self.features is not None:
            own = self.features
            if not callable(own):
                raise ValueError(
                    f"features={own!r:.80}: a function, or None, is needed"
                )
            return [x if isinstance(x, PairFeatures) else own(x) for x in X]
        old = "structure_" in vars(self) and self.structure_.dim == len(FIRST_NAMES)
        plain = FIRST_PLAIN if old else len(PLAIN)  # models keep their features
        return [_document_pairs(i, x, plain) for i, x in enumerate(X)]


def _clusters(X: Any, y: Any) -> Any:
    """The clusters given, or those of the documents."""
    if y is not None:
        return y
    check_examples(X)
    for i, document in enumerate(X):
        if not isinstance(document, CoreferenceDocument):
            raise ValueError(
                f"y is missing, and document {i} is a {type(document).__name__}, which "
                "does not say its clusters: give the cluster of each mention"
            )
    return [document.clusters for document in X]


def _document_pairs(i: int, document: Any, plain: int) -> Any:
    if isinstance(document, CoreferenceDocument):
        mentions = [Mention(*span) for span in document.spans]
        document = Document(document.sentences, mentions)
    if not isinstance(document, Document):
        return document
    try:
        return pair_features(document, plain)
    except ValueError as wrong:
        raise ValueError(f"document {i}, {wrong}") from wrong


@describe_parameters(like=CoreferenceSVM)
class CorrelationSVM(CoreferenceSVM):
    r"""Correlation clustering trained by a structural SVM (SVM-cluster).

    .. math:: f(x) = \arg\max_y \sum_{i < j,\; y_i = y_j} \langle w, x_{ij} \rangle

    All pairs within a cluster count, and nothing is hidden. The loss is the percentage
    of wrong pairs.

    Parameters
    ----------
    C : float
        Weight of the training errors in the objective.
    inference : {"greedy", "relaxed"}
        "greedy": merge clusters as long as the score rises. "relaxed": a linear program
        over pairs, for documents of up to 150 mentions; training uses its fractional
        solutions.
    loss : {"pairs"} or Loss
        "pairs": percentage of wrong pairs.

    References
    ----------
    Finley and Joachims 2005; the baseline of Yu 2011, Table 5.2.

    Examples
    --------
    Features of the pairs 01, 02, 12 of three mentions:

    >>> import numpy as np
    >>> pairs = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # alike, not alike
    >>> model = CorrelationSVM(C=1.0, inference="relaxed").fit([pairs], [[0, 0, 1]])
    >>> model.predict([pairs])[0]
    [0, 0, 1]
    """

    RETIRED = ("init", "r", "restarts")  # parameters that older model files have

    def __init__(
        self,
        C: float = 0.2,
        *,
        inference: str = "greedy",
        features: Callable[[Any], Any] | None = None,
        loss: LossChoice = "pairs",
        rescaling: str = "margin",
        penalty: str = "linear",
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
        super().__init__(
            C=C, features=features, loss=loss, rescaling=rescaling, penalty=penalty,
            solver=solver, tol=tol, max_iter=max_iter, max_time=max_time,
            n_jobs=n_jobs, engine=engine, random_state=random_state,
            warm_start=warm_start, callbacks=callbacks, checkpoint=checkpoint,
            verbose=verbose,
        )  # fmt: skip
        self.inference = inference

    def _structure(self, X: Any, y: Any) -> Structure:
        return Correlation(self.inference)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {"pairs": PairLoss(), "forest": PairLoss()}


def _first_members(clusters: Any) -> list[int]:
    """The first mention in the cluster of each: the same however clusters are numbered."""
    numbers = list(clusters)
    return [numbers.index(number) for number in numbers]
