"""Averaged structured perceptron for any structure.

    for each example:  y = argmax_y <w, psi(x_i, y)>;  w += psi(x_i, y_i) - psi(x_i, y),

and the weights returned are the mean of all w on the way.

[1] Collins: Discriminative training methods for hidden Markov models, 2002.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ragged
from maxmargin.core.structure import Structure


class Perceptron:
    """Averaged structured perceptron (see the module docstring).

    Parameters
    ----------
    structure : Structure
        Not bound.
    epochs : int, default=10
        Passes over the examples; ends early after one without a mistake.
    average : bool, default=True
        Whether to return mean weights instead of the last ones.
    seed : int, default=0
        Of the order of examples.

    Examples
    --------
    >>> from maxmargin.structures.chain.structure import Chain
    >>> X, y = [[["the"], ["dog"]], [["a"], ["dog"], ["runs"]]], [["D", "N"], ["D", "N", "V"]]
    >>> Perceptron(Chain()).fit(X, y).predict([[["the"], ["dog"], ["runs"]]])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        structure: Structure,
        epochs: int = 10,
        average: bool = True,
        seed: int = 0,
    ) -> None:
        self.structure = structure
        self.epochs = epochs
        self.average = average
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Perceptron:
        """Learn weights; `mistakes_` counts wrong outputs per pass."""
        structure = self.structure.bind(X, y)
        x = structure.encode(X)
        truth = structure.encode_labels(x, y)
        w, drift = np.zeros(structure.dim), np.zeros(structure.dim)
        rng, turn = np.random.default_rng(self.seed), 0
        self.mistakes_: list[int] = []
        for _ in range(self.epochs):
            wrong = 0
            for i in rng.permutation(truth.n):
                wrong += _visit(structure, x, truth, int(i), w, drift, turn)
                turn += 1
            self.mistakes_.append(wrong)
            if wrong == 0:
                break
        # The mean of all w is w minus the steps, each times the share before it.
        self.coef_ = w - drift / max(turn, 1) if self.average else w
        self.structure_ = structure
        return self

    def predict(self, X: Any) -> list[Any]:
        """Best outputs."""
        x = self.structure_.encode(X)
        found = self.structure_.argmax(x, np.arange(x.n), self.coef_)
        return self.structure_.decode_labels(x, found.labels)


def _visit(
    structure: Structure,
    x: Any,
    truth: Ragged,
    i: int,
    w: Floats,
    drift: Floats,
    turn: int,
) -> bool:
    """One example; whether its output was wrong."""
    ids = np.array([i])
    found = structure.argmax(x, ids, w).labels
    row = truth.row(i)
    if np.array_equal(found.data, row):
        return False
    own = structure.features(x, ids, Ragged(np.array([0, len(row)]), row))
    other = structure.features(x, ids, found)
    for rows, sign in ((own, 1.0), (other, -1.0)):
        np.add.at(w, rows.idx, sign * rows.val)
        np.add.at(drift, rows.idx, turn * sign * rows.val)
    return True
