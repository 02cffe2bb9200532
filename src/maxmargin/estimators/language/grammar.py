"""GrammarSVM: parse trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.data.arrays import Ragged
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Structure
from maxmargin.estimators.fitting.inputs import (
    by_position,
    check_examples,
    check_parameters,
    check_same_length,
    object_array,
)
from maxmargin.estimators.fitting.kernels.mapped import (
    KernelMixin,
    kernel_plan,
)
from maxmargin.estimators.fitting.parameters import (
    CallbackChoice,
    CheckpointChoice,
    EngineChoice,
    KernelChoice,
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
from maxmargin.estimators.fitting.training import (
    TrainingData,
    TrainingPlan,
    coarse_first,
    train,
)
from maxmargin.estimators.language.tagging import tagged_sentences, trained_tagger
from maxmargin.io.treebank import tagged_words, warn_of_empty_elements
from maxmargin.io.trees.nltk_trees import from_nltk, is_nltk, to_nltk
from maxmargin.losses.trees import BracketF1, BracketHamming
from maxmargin.metrics.trees.brackets import bracket_scores
from maxmargin.reports.drawing.trees import svg_tree
from maxmargin.reports.explanation import Hard
from maxmargin.structures.grammar.coarse_to_fine import kept_share, pruned
from maxmargin.structures.grammar.kernel_structure import KernelGrammar
from maxmargin.structures.grammar.structure import Grammar


@describe_parameters()
class GrammarSVM(KernelMixin):
    r"""Max-margin parsing with a weighted context-free grammar.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    X is a list of sentences, lists of tags or of (word, tag) pairs; y a list of trees,
    nested tuples ``(label, child, ...)`` with ``(tag, word)`` for each word, as
    `maxmargin.io.treebank.read_treebank` gives them, or trees of NLTK: then `predict`
    returns trees of NLTK, too.

    Parameters
    ----------
    loss : {"f1", "hamming", "hamming-mean", "zero-one"} or Loss
        "f1": 1 - F1 of labelled brackets. "hamming": number of wrong and missing brackets.
        "hamming-mean": that number divided by the number of true brackets. "zero-one": 1
        if the tree is wrong.
    terminals : {"tags", "words"}
        "tags": the tags of the words are given. "words": tags are predicted with the tree.
    branching : {"right", "left"}
        In which direction rules with more than two children are binarised.
    horizontal : int or None
        Number of siblings that symbols made by binarisation remember. Few let the grammar
        derive rules that training has not shown; None: all of them, so that it derives
        the rules of the training trees only.
    vertical : int
        1: plain labels. 2: labels are annotated with their parent. 3: also with its parent.
    anchors : tuple of str, str or "all"
        Features of the place of a rule in the sentence: "length", "before", "first",
        "starts", "last", "after", "ends", "split", or "word:" and one of the last seven.
        "all": length, starts, ends and split (with a kernel: without split).
    anchor_by : {"label", "rule"}
        Whether these features have weights per label or per rule.
    kernel : str, Kernel or callable
        Compare the anchored features of the spans of nodes by a kernel ("quadratic",
        "rbf", `Polynomial(2)`, ...) instead of weighting them. Rules keep their weights.
        All anchors but "split" can be compared.
    rare : int
        Words seen at most this often are replaced by their shape, or by their tag.
    coarse : float
        Train with pruned charts first: a constituent is looked at only if it occurs in a
        tree of a coarse grammar (plain labels, rules by their probability) whose log
        probability is below that of the best tree by at most this. None: no pruning.
        See `maxmargin.structures.grammar.coarse_to_fine`.
    refine : bool
        Whether training with pruned charts is followed by exact training that starts from
        its constraints. If not, one exact pass measures what pruning has missed: `gap` of
        the result is that of the problem without pruning.
    beam : float
        In prediction, constituents that score less than the best one of their span by more
        than this are dropped.
    fallback : {"smooth", "flat", "none"}
        What is predicted for a sentence that the rules of the training trees do not derive.
        "smooth": the tree with the fewest other rules, in which a phrase has a child that
        training has not shown. "flat": a flat tree. "none": None.
    tagger : {"chain"} or estimator
        Tags the words of sentences that come without tags, as lists of words. "chain": a
        `ChainSVM`, trained on the words and tags of the trees. An estimator is cloned and
        trained in the same way; its inputs are those of `maxmargin.io.sequences.pos`.

    Attributes
    ----------
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Grammar
        The grammar, read off the trees.
    tagger_ : estimator
        The trained tagger, if `tagger` is given.
    nltk_trees_ : bool
        Whether the training trees were trees of NLTK.

    Examples
    --------
    >>> from maxmargin import GrammarSVM
    >>> X = [["DT", "NN", "VBD"], ["PRP", "VBD", "DT", "NN"]]
    >>> y = [
    ...     ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat"))),
    ...     ("S", ("NP", ("PRP", "I")),
    ...           ("VP", ("VBD", "saw"), ("NP", ("DT", "a"), ("NN", "dog")))),
    ... ]
    >>> model = GrammarSVM(C=1.0).fit(X, y)
    >>> model.predict([[("she", "PRP"), ("slept", "VBD")]])[0]
    ('S', ('NP', ('PRP', 'she')), ('VP', ('VBD', 'slept')))
    """

    _at_prediction = ("beam", "fallback")
    nltk_trees_: bool

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: LossChoice = "f1",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        regularizer: str = "l2",
        terminals: str = "tags",
        branching: str = "right",
        horizontal: int | None = 1,
        vertical: int = 1,
        anchors: Any = (),
        anchor_by: str = "label",
        kernel: KernelChoice = None,
        kernel_method: str = "exact",
        n_basis: int = 200,
        rare: int = 1,
        coarse: float | None = None,
        refine: bool = True,
        beam: float = np.inf,
        fallback: str = "smooth",
        tagger: Any = None,
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
        self.rescaling = rescaling
        self.penalty = penalty
        self.regularizer = regularizer
        self.terminals = terminals
        self.branching = branching
        self.horizontal = horizontal
        self.vertical = vertical
        self.anchors = anchors
        self.anchor_by = anchor_by
        self.kernel = kernel
        self.kernel_method = kernel_method
        self.n_basis = n_basis
        self.rare = rare
        self.coarse = coarse
        self.refine = refine
        self.beam = beam
        self.fallback = fallback
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
        anchors = (self.anchors,) if isinstance(self.anchors, str) else self.anchors
        if anchors == ("all",):
            anchors = ("length", "starts", "ends", "split")
            anchors = anchors if self.kernel is None else anchors[:-1]
        return (Grammar if self.kernel is None else KernelGrammar)(
            terminals=self.terminals,
            branching=self.branching,
            horizontal=self.horizontal,
            vertical=self.vertical,
            anchors=tuple(anchors),
            anchor_by=self.anchor_by,
            rare=self.rare,
            beam=self.beam,
            fallback=self.fallback,
        )

    def _fit_data(self, data: TrainingData) -> Self:
        """One run; with pruned charts first, where that is asked for."""
        if self.coarse is None:
            return super()._fit_data(data)
        if self.kernel is not None:
            raise ValueError(
                "coarse charts are not available with a kernel: leave out coarse, or kernel"
            )
        if self.checkpoint is not None:
            raise ValueError(
                "there are no checkpoints with coarse charts: leave out checkpoint, or "
                "coarse"
            )
        plan = self._plan(data)
        assert isinstance(data.structure, Grammar)
        x = pruned(
            data.structure, data.x, data.truth, data.X, data.y, float(self.coarse)
        )
        schedule = coarse_first(
            replace(plan.problem, x=x), {"kept": kept_share(x)}, self.refine
        )
        for made in train(self, plan, schedule):
            self._state, self._mark = (made.state if self.warm_start else None), None
        return self

    def _plan(self, data: TrainingData, C: float | None = None) -> TrainingPlan:
        if self.kernel is not None:
            return kernel_plan(self, data, C)
        return super()._plan(data, C)

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {
            "f1": BracketF1(),
            "hamming": BracketHamming(),
            "hamming-mean": BracketHamming(normalize=True),
            "zero-one": ZeroOne(),
        }

    def fit(self, X: Any, y: Any, sample_weight: SampleWeight = None) -> Self:
        """Learn from sentences and their trees.

        Parameters
        ----------
        X : sequence of sentences
            Tags, or (word, tag) pairs; words alone if there is a tagger, or if
            terminals="words".
        y : sequence of trees
            Nested tuples, or trees of NLTK.
        sample_weight : array (sentences,), optional
            Factor on C of each sentence.
        """
        super().fit(X, y, sample_weight)
        self.nltk_trees_ = any(is_nltk(tree) for tree in y)
        return self

    def _training_data(
        self, X: Any, y: Any, sample_weight: SampleWeight
    ) -> TrainingData:
        check_parameters(self.get_params(deep=False))
        check_same_length(X, y)
        self._check_container(X)
        trees = [from_nltk(tree) for tree in by_position(y)]
        warn_of_empty_elements(trees)
        if self.tagger is not None:
            self.tagger_ = self._trained_tagger(trees)
            X = [_with_tags_of(x, tree) for x, tree in zip(by_position(X), trees)]
        return super()._training_data(X, trees, sample_weight)

    def _trained_tagger(self, trees: Any) -> Any:
        """A tagger of the words of trees."""
        if self.terminals != "tags":
            raise ValueError(
                "a tagger is for terminals='tags': with 'words' tags are found"
            )
        return trained_tagger(self.tagger, [tagged_words(tree) for tree in trees])

    def _inputs(self, X: Any) -> Any:
        """Sentences with tags: those of the tagger where there are words alone."""
        check_examples(X)
        X = list(by_position(X))
        return X if self.tagger is None else tagged_sentences(self.tagger_, X)

    def predict(self, X: Any) -> np.ndarray:
        """The tree of each sentence; see `fallback` for those without a parse."""
        check_is_fitted(self, "coef_")
        if check_examples(X) == 0:
            return object_array([])
        trees = list(super().predict(self._inputs(X)))
        return object_array(self._outputs(trees))

    def _outputs(self, decoded: Sequence[Any]) -> Sequence[Any]:
        return [to_nltk(tree) for tree in decoded] if self._in_nltk() else decoded

    def _in_nltk(self) -> bool:
        return vars(self).get("nltk_trees_") is True  # older files do not say

    def _encoded(self, X: Any, y: Any) -> tuple[Any, Ragged]:
        return super()._encoded(X, [from_nltk(tree) for tree in y])

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """The k best trees of each sentence with their scores, best first."""
        check_is_fitted(self, "coef_")
        grammar = self.structure_
        assert isinstance(grammar, Grammar)
        sentences = self._inputs(X)
        x = grammar.encode(sentences)
        found = predict_layers(self, grammar, x, k)
        owner = np.repeat(np.arange(len(found.ptr) - 1), np.diff(found.ptr))
        repeated = x._replace(tokens=[x.tokens[i] for i in owner])
        trees = self._outputs(grammar.decode_labels(repeated, found.labels))
        return with_scores(trees, found)

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose true tree scores furthest below the best tree.

        Trees that the grammar cannot derive are left out; otherwise like
        `StructuredEstimator.hardest`.
        """
        check_is_fitted(self, "coef_")
        X, y = self._inputs(X), [from_nltk(tree) for tree in by_position(y)]
        kept = [
            i
            for i in range(min(most, len(y)))
            if has_output(self.structure_, X[i], y[i])
        ]
        if not kept:
            return []
        cases = super().hardest([X[i] for i in kept], [y[i] for i in kept], n, most)
        return [replace(case, example=kept[case.example]) for case in cases]

    def _out_of_reach(self, X: Any, y: Any, predicted: Any, most: int) -> Sequence[int]:
        """Mistakes whose true tree the grammar cannot derive: `hardest` has no score."""
        X = self._inputs(by_position(X)[:most])
        truth = [from_nltk(tree) for tree in by_position(y)[:most]]
        wrong = [i for i, t in enumerate(truth) if from_nltk(predicted[i]) != t]
        return [i for i in wrong if not has_output(self.structure_, X[i], truth[i])]

    def score(self, X: Any, y: Any) -> float:
        """F1 of all labelled brackets, punctuation and top included.

        Published figures leave these out (evalb with COLLINS.prm): they are
        ``bracket_scores(y, model.predict(X), COLLINS).f1`` of `maxmargin.metrics`.
        """
        check_same_length(X, y, "score")
        truth = [from_nltk(tree) for tree in by_position(y)]
        return bracket_scores(truth, [from_nltk(t) for t in self.predict(X)]).f1

    def _figures(self, X: Any, y: Any, predicted: Any) -> Sequence[tuple[str, float]]:
        found = bracket_scores(list(y), list(predicted))
        exact = sum(a == b for a, b in zip(y, predicted, strict=True)) / max(len(y), 1)
        unparsed = sum(tree is None for tree in predicted) / max(len(y), 1)
        return [("bracket precision", found.precision), ("bracket recall", found.recall),
                ("exact match", exact), ("unparsed", unparsed)]  # fmt: skip

    def _draw(self, x: Any, output: Any, truth: Any = None) -> str:
        if output is None:
            return '<p class="faint">The grammar has no tree for this sentence.</p>'
        output, truth = from_nltk(output), None if truth is None else from_nltk(truth)
        if truth is None or truth == output:
            return svg_tree(output)
        return (
            f'<div class="sides"><div><h4>found</h4>{svg_tree(output, truth)}</div>'
            f"<div><h4>truth</h4>{svg_tree(truth, output)}</div></div>"
        )


def _with_tags_of(sentence: Any, tree: Any) -> Any:
    """A sentence of words with the tags of its tree; any other as it is."""
    tokens = tagged_words(tree)
    if list(sentence) == [word for word, _ in tokens]:
        return tokens
    return sentence
