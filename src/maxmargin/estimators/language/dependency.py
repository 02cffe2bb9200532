"""DependencySVM: dependency trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Floats
from maxmargin.core.data.warned import warn
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_examples,
    check_parameters,
    check_same_length,
    check_truth,
    object_array,
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
    has_output,
    predict_layers,
    with_scores,
)
from maxmargin.estimators.fitting.training import TrainingData
from maxmargin.estimators.language.tagging import (
    is_bare,
    tagged_sentences,
    trained_tagger,
)
from maxmargin.io.sequences.conllu import ConlluSentence
from maxmargin.io.trees.dependencies import sentence_tokens
from maxmargin.losses.trees import ArcLoss
from maxmargin.metrics.trees.dependencies import attachment_scores
from maxmargin.reports.drawing.arcs import svg_arcs
from maxmargin.reports.drawing.marked_text import beside_html
from maxmargin.reports.explanation import Hard
from maxmargin.structures.dependency.structure import Dependency
from maxmargin.structures.dependency.tokens import checked_sentence

AT_ONCE = 10**6  # arcs of the sentences that are encoded together for prediction


@describe_parameters()
class DependencySVM(StructuredEstimator):
    r"""Max-margin dependency parsing: the head of each word, and the label of the arc.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    The best tree is found exactly, by Eisner's algorithm (projective trees) or by
    Chu-Liu/Edmonds (all trees). X is a list of sentences: lists of (word, tag) pairs or of
    words, or sentences of `maxmargin.io.sequences.read_conllu`. y is a list of trees: of
    each word its head, or a (head, label) pair. Head 0 is the root, head 1 the first word.

    Parameters
    ----------
    loss : {"hamming", "heads", "hamming-mean", "zero-one"} or Loss
        "hamming": number of words with a wrong head or label. "heads": with a wrong head,
        whatever the label. "hamming-mean": "hamming" divided by the number of words.
        "zero-one": 1 if the tree is wrong.
    projective : bool or None
        Whether arcs may not cross. None: they may not if they do not in the training trees.
    single_root : bool
        Whether one word only may have the root as its head.
    rare : int
        Words seen at most this often in training count as unknown.
    tagger : {"chain"} or estimator
        Tags the words of sentences that come without tags, as lists of words. "chain": a
        `ChainSVM`, trained on the words and tags of X. An estimator is cloned and trained
        in the same way; its inputs are those of `maxmargin.io.sequences.pos`.

    Attributes
    ----------
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Dependency
        Words, tags, labels and features of the training trees.
    tagger_ : estimator
        The trained tagger, if `tagger` is given.
    tagged_ : bool
        Whether the training sentences had tags.

    References
    ----------
    McDonald, Crammer and Pereira 2005; McDonald, Pereira, Ribarov and Hajic 2005.

    Examples
    --------
    >>> from maxmargin import DependencySVM
    >>> X = [[("I", "PRON"), ("saw", "VERB"), ("a", "DET"), ("dog", "NOUN")],
    ...      [("dogs", "NOUN"), ("bark", "VERB")]]
    >>> y = [[(2, "nsubj"), (0, "root"), (4, "det"), (2, "obj")],
    ...      [(2, "nsubj"), (0, "root")]]
    >>> model = DependencySVM(C=1.0, rare=0).fit(X, y)
    >>> model.predict([[("we", "PRON"), ("bark", "VERB")]])[0]
    [(2, 'nsubj'), (0, 'root')]
    """

    tagged_: bool

    def __init__(
        self,
        C: float = 0.03,
        *,
        loss: LossChoice = "hamming",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        projective: bool | None = None,
        single_root: bool = True,
        rare: int = 1,
        tagger: Any = None,
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
        self.C = C
        self.loss = loss
        self.rescaling = rescaling
        self.penalty = penalty
        self.projective = projective
        self.single_root = single_root
        self.rare = rare
        self.tagger = tagger
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
        return Dependency(self.projective, self.single_root, self.rare)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {
            "hamming": ArcLoss(),
            "heads": ArcLoss(label_cost=0.0),
            "hamming-mean": ArcLoss(normalize=True),
            "zero-one": ZeroOne(),
        }

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        self._check_container(X)
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        X = _without_conllu(X)
        checked = [checked_sentence(i, x) for i, x in enumerate(X)]
        self.tagged_ = any(len(x) > 0 and not is_bare(x) for x in X)
        bare = [i for i, x in enumerate(X) if is_bare(x)]
        if bare and self.tagged_:
            raise ValueError(
                f"sentence {bare[0]} has words without tags, and others have tags: give "
                "all words a tag, or none"
            )
        if self.tagger is not None:
            if bare:
                raise ValueError(
                    f"sentence {bare[0]} has words without tags: a tagger learns from "
                    "(word, tag) pairs"
                )
            self.tagger_ = trained_tagger(self.tagger, checked)
        return super()._training_data(X, y, sample_weight)

    def _batch_data(self, X: Any, y: Any, sample_weight: SampleWeight) -> TrainingData:
        return super()._batch_data(self._inputs(X), y, sample_weight)

    def _inputs(self, X: Any) -> Any:
        """Sentences of CoNLL-U as (word, tag) pairs; tags of the tagger where none are."""
        sentences = _without_conllu(X)
        if self.tagger is not None:
            return tagged_sentences(self.tagger_, sentences)
        if vars(self).get("tagged_") is True:  # older files do not say
            for i, sentence in enumerate(sentences):
                if is_bare(sentence):
                    raise ValueError(
                        f"sentence {i} has words without tags, and training had tags: give "
                        "(word, tag) pairs, or train with tagger='chain'"
                    )
        return sentences

    def tagged(self, X: Any) -> list[Any]:
        """Sentences as `predict` reads them: words without tags get those of the tagger."""
        check_is_fitted(self, "coef_")
        return list(self._inputs(X))

    def predict(self, X: Any) -> np.ndarray:
        """The tree of each sentence: heads, or (head, label) pairs if labels were learned."""
        check_is_fitted(self, "coef_")
        if check_examples(X) == 0:
            return object_array([])
        sentences = [checked_sentence(i, x) for i, x in enumerate(self._inputs(X))]
        self._warn_of_tags(sentences)
        found = [
            tree
            for part in _parts(sentences)
            for tree in super(DependencySVM, self).predict(part)
        ]
        return object_array(found)

    def _warn_of_tags(self, sentences: list[Any]) -> None:
        """Say so where all tags are new: they may be of another set, or stand first."""
        structure = self.structure_
        assert isinstance(structure, Dependency)
        known = set(structure.vocabulary.tags)
        seen = [tag for sentence in sentences for _, tag in sentence]
        if vars(self).get("tagged_") and seen and known.isdisjoint(seen):
            warn(
                f"none of the tags occurred in training, such as {seen[0]!r:.40}; training "
                f"had {', '.join(map(repr, sorted(known)[:5]))}. Tokens are (word, tag) "
                "pairs, with the tags of training",
                UserWarning,
            )

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """The k best trees of each sentence with their scores, best first."""
        check_is_fitted(self, "coef_")
        structure = self.structure_
        assert isinstance(structure, Dependency)
        sentences = self._inputs(X)
        x = structure.encode(sentences)
        found = predict_layers(self, structure, x, k)
        trees = structure.decode_labels(x, found.labels)
        return with_scores(trees, found)

    def arc_margins(self, x: Any) -> Floats:
        """How sure each arc of the best tree of ONE sentence is.

        Returns
        -------
        array (words,)
            What the best tree without this arc (or with another label on it) scores less.
        """
        check_is_fitted(self, "coef_")
        structure = self.structure_
        assert isinstance(structure, Dependency)
        inputs, one = structure.encode(self._inputs([x])), np.array([0])
        n = int(inputs.ptr[1])
        best = structure.argmax(inputs, one, self.coef_)
        flat = structure.max_marginals(inputs, one, self.coef_).reshape(n, -1)
        each = np.arange(n)
        flat[each, best.labels.data] = -np.inf
        margins: Floats = best.score[0] - flat.max(axis=1, initial=-np.inf)
        return margins

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose true tree scores furthest below the best tree.

        Trees that the model cannot predict (arcs that cross, labels that training has not
        shown) are left out; otherwise like `StructuredEstimator.hardest`. Pictures mark
        the arcs of the best tree that the true tree does not have.
        """
        check_is_fitted(self, "coef_")
        X, y = self._inputs(X), by_position(y)
        kept = [
            i
            for i in range(min(most, len(y)))
            if has_output(self.structure_, X[i], y[i])
        ]
        if not kept:
            return []
        cases = super().hardest([X[i] for i in kept], [y[i] for i in kept], n, most)
        out = []
        for case in cases:
            i = kept[case.example]
            words = [word for word, _ in checked_sentence(i, X[i])]
            picture = self._drawn(words, case.best[0][0], case.truth)
            out.append(replace(case, example=i, picture=picture))
        return out

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        words = [word for word, _ in checked_sentence(0, self._inputs([x])[0])]
        return self._drawn(words, output, truth)

    def _drawn(self, words: Sequence[str], output: Any, truth: Any) -> str:
        drawn = svg_arcs(words, output, truth)
        if truth is None or list(output) == list(truth):
            return drawn
        return beside_html(drawn, svg_arcs(words, truth, output))

    def _score_name(self) -> str:
        return "LAS: right heads and relations"

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        scores = attachment_scores(list(by_position(y)), list(predicted))
        return [("UAS: right heads", scores.uas), ("trees without error", scores.exact)]

    def _out_of_reach(self, X: Any, y: Any, predicted: Any, most: int) -> Sequence[int]:
        """Mistakes whose true tree the model cannot predict: `hardest` has no score."""
        X, y = self._inputs(by_position(X)[:most]), by_position(y)[:most]
        wrong = [i for i, t in enumerate(y) if list(predicted[i]) != list(t)]
        return [i for i in wrong if not has_output(self.structure_, X[i], y[i])]

    def score(self, X: Any, y: Any) -> float:
        """Share of words with the right head and label (LAS; UAS if there are no labels).

        See `maxmargin.metrics.attachment_scores` for both, with or without punctuation.
        """
        check_same_length(X, y, "score")
        truth = list(by_position(y))
        arcs = (arc for tree in truth for arc in tree if np.iterable(arc))
        structure = self.structure_
        assert isinstance(structure, Dependency)
        check_truth((label for _, label in arcs), structure.labels)
        return attachment_scores(truth, list(self.predict(X))).las


def _without_conllu(X: Any) -> list[Any]:
    """Sentences of CoNLL-U as (word, tag) pairs, or as words where no word has a tag."""
    check_examples(X)
    out = []
    for x in by_position(X):
        if isinstance(x, ConlluSentence):
            bare = all(tag == "_" for tag in x.column("upos"))
            x = sentence_tokens(x, "none" if bare else "upos")
        out.append(x)
    return out


def _parts(sentences: Sequence[Any]) -> Iterator[list[Any]]:
    """Sentences one after the other, so many at a time that features fit into memory."""
    part: list[Any] = []
    arcs = 0
    for sentence in sentences:
        if part and arcs + len(sentence) ** 2 > AT_ONCE:
            yield part
            part, arcs = [], 0
        part.append(sentence)
        arcs += len(sentence) ** 2
    yield part
