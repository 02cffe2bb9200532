"""GrammarSVM: parse trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.structure import Structure
from maxmargin.estimators.explaining.report import by_position
from maxmargin.estimators.fitting.base import StructuredEstimator
from maxmargin.losses.base import ZeroOne
from maxmargin.losses.brackets import BracketF1, BracketHamming
from maxmargin.metrics.brackets import bracket_scores
from maxmargin.reports.explanation import Hard
from maxmargin.structures.grammar.structure import Grammar


class GrammarSVM(StructuredEstimator):
    r"""Max-margin parsing with a weighted context-free grammar.

    .. math:: \min_w \tfrac12 \|w\|^2 + C \sum_i \max_y
              [\Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle]

    X is a list of sentences, lists of tags or of (word, tag) pairs; y a list of trees,
    nested tuples ``(label, child, ...)`` with ``(tag, word)`` for each word, as
    `maxmargin.io.treebank.read_treebank` gives them.

    Parameters
    ----------
    C : float, default=0.2
        Penalty of the slacks; multiplies their plain sum.
    loss : {"f1", "hamming", "hamming-mean", "zero-one"} or Loss, default="f1"
        "f1": 1 - F1 of labelled brackets; "hamming": wrong and missing brackets;
        "hamming-mean": their number per true bracket; "zero-one": any error.
    rescaling : {"margin", "slack", None}, default="margin"
        How the loss enters; None is the zero-one loss.
    penalty : {"linear", "squared", "hard", "summed"}, default="linear"
        SVM1, SVM2, SVM0 (hard margin), or linear summed error.
    terminals : {"tags", "words"}, default="tags"
        "tags": tags are given; "words": tokens are words, tags are found with the tree.
    branching : {"right", "left"}, default="right"
        Which way rules with more than two children are split.
    horizontal : int or None, default=None
        Children that symbols made by splitting remember; None: all.
    vertical : int, default=1
        2: labels know their parent; 3: also its parent.
    anchors : tuple of str, str or "all", default=()
        Features of where a rule stands: "length", "before", "first", "starts", "last",
        "after", "ends", "split", or "word:" and one of the last seven; "all": length,
        starts, ends and split.
    anchor_by : {"label", "rule"}, default="label"
        What anchored features tell apart.
    rare : int, default=1
        Words seen at most this often count as their shape, or tag.
    beam : float, default=inf
        Predictions drop parts that score less than the best of their span by more.
    fallback : {"none", "flat"}, default="none"
        What a sentence without a parse becomes: None, or a flat tree.
    solver, tol, max_iter, max_time, n_jobs, engine, random_state, warm_start
        As in `StructuralSVM`.
    callbacks, checkpoint, verbose
        As there.

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

    def __init__(
        self,
        C: float = 0.2,
        *,
        loss: Any = "f1",
        rescaling: str | None = "margin",
        penalty: str = "linear",
        terminals: str = "tags",
        branching: str = "right",
        horizontal: int | None = None,
        vertical: int = 1,
        anchors: Any = (),
        anchor_by: str = "label",
        rare: int = 1,
        beam: float = np.inf,
        fallback: str = "none",
        solver: Any = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        engine: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        callbacks: Any = None,
        checkpoint: Any = None,
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

    def _known_losses(self, structure: Structure) -> dict[str, Any]:
        return {
            "f1": BracketF1(),
            "hamming": BracketHamming(),
            "hamming-mean": BracketHamming(normalize=True),
            "zero-one": ZeroOne(),
        }

    def predict_nbest(self, X: Any, k: int = 5) -> list[list[tuple[Any, float]]]:
        """Find the k best trees of each sentence with their scores, best first."""
        check_is_fitted(self, "coef_")
        grammar = self.structure_
        assert isinstance(grammar, Grammar)
        x = grammar.encode(X)
        out = []
        for i in range(x.n):
            found = grammar.nbest(x, np.array([i]), self.coef_, k)
            own = grammar.encode([X[i]] * found.labels.n)
            trees = grammar.decode_labels(own, found.labels)
            out.append(list(zip(trees, found.score.tolist(), strict=True)))
        return out

    def hardest(self, X: Any, y: Any, n: int = 5, most: int = 500) -> list[Hard]:
        """As for all estimators; trees that the grammar cannot make are left out."""
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
        """F1 of labelled brackets over all sentences together."""
        return bracket_scores(list(y), list(self.predict(X))).f1
