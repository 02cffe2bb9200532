"""GrammarSVM: parse trees."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Ints
from maxmargin.core.loss import ZeroOne
from maxmargin.core.structure import Layers, Structure
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.estimators.fitting.inputs import by_position
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
from maxmargin.estimators.fitting.prediction import ask_batches, joined_layers
from maxmargin.losses.brackets import BracketF1, BracketHamming
from maxmargin.metrics.brackets import bracket_scores
from maxmargin.reports.explanation import Hard
from maxmargin.structures.grammar.structure import Grammar, GrammarInputs


@describe_parameters()
class GrammarSVM(StructuredEstimator):
    r"""Max-margin parsing with a weighted context-free grammar.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    X is a list of sentences, lists of tags or of (word, tag) pairs; y a list of trees,
    nested tuples ``(label, child, ...)`` with ``(tag, word)`` for each word, as
    `maxmargin.io.treebank.read_treebank` gives them.

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
        "all": length, starts, ends and split.
    anchor_by : {"label", "rule"}
        Whether these features have weights per label or per rule.
    rare : int
        Words seen at most this often are replaced by their shape, or by their tag.
    beam : float
        In prediction, constituents that score less than the best one of their span by more
        than this are dropped.
    fallback : {"none", "flat"}
        What is predicted for a sentence without a parse: None, or a flat tree.

    Attributes
    ----------
    coef_ : array
        Weights; `structure_.feature_names()` names them.
    result_ : Result
        Certificate: status, primal, dual, gap, history.
    structure_ : Grammar
        The grammar, read off the trees.

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

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: LossChoice = "f1",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        terminals: str = "tags",
        branching: str = "right",
        horizontal: int | None = 1,
        vertical: int = 1,
        anchors: Any = (),
        anchor_by: str = "label",
        rare: int = 1,
        beam: float = np.inf,
        fallback: str = "none",
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
        self.terminals = terminals
        self.branching = branching
        self.horizontal = horizontal
        self.vertical = vertical
        self.anchors = anchors
        self.anchor_by = anchor_by
        self.rare = rare
        self.beam = beam
        self.fallback = fallback
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
        return Grammar(
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

    def _known_losses(self, structure: Structure) -> LossesByName:
        return {
            "f1": BracketF1(),
            "hamming": BracketHamming(),
            "hamming-mean": BracketHamming(normalize=True),
            "zero-one": ZeroOne(),
        }

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """The k best trees of each sentence with their scores, best first."""
        check_is_fitted(self, "coef_")
        grammar = self.structure_
        assert isinstance(grammar, Grammar)
        parts = ask_batches(self, grammar, grammar.encode(X), partial(_best_many, k=k))
        found = joined_layers(parts)
        owner = np.repeat(np.arange(len(found.ptr) - 1), np.diff(found.ptr))
        repeated = grammar.encode([X[i] for i in owner])
        trees = grammar.decode_labels(repeated, found.labels)
        scored = list(zip(trees, found.score.tolist(), strict=True))
        return [scored[a:b] for a, b in pairwise(found.ptr.tolist())]

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """The examples whose true tree scores furthest below the best tree.

        Trees that the grammar cannot derive are left out; otherwise like
        `StructuredEstimator.hardest`.
        """
        check_is_fitted(self, "coef_")
        X, y = by_position(X), by_position(y)
        kept = [i for i in range(min(most, len(y))) if self._derives(X[i], y[i])]
        if not kept:
            return []
        cases = super().hardest([X[i] for i in kept], [y[i] for i in kept], n, most)
        return [replace(case, example=kept[case.example]) for case in cases]

    def _derives(self, sentence: Any, tree: Any) -> bool:
        one = self.structure_.encode([sentence])
        try:
            self.structure_.encode_labels(one, [tree])
        except ValueError:
            return False
        return True

    def score(self, X: Any, y: Any) -> float:
        """F1 of all labelled brackets, punctuation and top included.

        Published figures leave these out (evalb with COLLINS.prm): they are
        ``bracket_scores(y, model.predict(X), COLLINS).f1`` of `maxmargin.metrics`.
        """
        return bracket_scores(list(y), list(self.predict(X))).f1


def _best_many(
    grammar: Grammar, x: GrammarInputs, ids: Ints, w: Floats, k: int
) -> Layers:
    return grammar.nbest(x, ids, w, k)
