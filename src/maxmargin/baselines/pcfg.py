"""Probabilistic context-free grammar from counts, as the weights of a `Grammar`.

    log P(x, y) = sum over nodes A -> rest of  log (count(A -> rest) + smoothing)
                                               / (sum of the same over all rules of A)

which, without smoothing, is the maximum of the likelihood; smoothing spreads mass over
all rules of A that occur (and over the roots). The best tree is the grammar's own CKY.

[1] The first row of Table 5 in Tsochantaridis et al. 2005; Johnson 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.structures.grammar.structure import Grammar
from maxmargin.structures.grammar.treebank.productions import (
    log_probabilities as log_probabilities,
)


class PCFG:
    """Probabilistic context-free grammar (see the module docstring).

    Parameters
    ----------
    grammar : Grammar, optional
        How rules are read off trees; anchored features stay without weight.
    smoothing : float, default=0.0
        Added to each count.

    Examples
    --------
    >>> tree = ("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))
    >>> model = PCFG().fit([["DT", "NN", "VBD"]], [tree])
    >>> model.predict([[("a", "DT"), ("dog", "NN"), ("ran", "VBD")]])
    [('S', ('NP', ('DT', 'a'), ('NN', 'dog')), ('VP', ('VBD', 'ran')))]
    """

    def __init__(self, grammar: Grammar | None = None, smoothing: float = 0.0) -> None:
        if smoothing < 0:
            raise ValueError(f"smoothing={smoothing} must not be negative")
        self.grammar = Grammar() if grammar is None else grammar
        self.smoothing = smoothing

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> PCFG:
        """Count."""
        self.structure_ = self.grammar.bind(X, y)
        assert self.structure_.productions is not None
        self.coef_ = np.zeros(self.structure_.dim)
        weights = log_probabilities(self.structure_.productions, self.smoothing)
        self.coef_[: len(weights)] = weights
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Most probable tree of each sentence; None, or flat, where there is none."""
        x = self.structure_.encode(X)
        found = self.structure_.argmax(x, np.arange(x.n), self.coef_)
        return self.structure_.decode_labels(x, found.labels)
