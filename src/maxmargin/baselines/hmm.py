"""Hidden Markov model from counts, as the weights of a chain.

    log P(x, y) = log P(y_1) + sum_t log P(y_t | y_{t-1}) + sum_t log P(x_t | y_t)
                  + log P(end | y_L),

all probabilities by counts plus `smoothing`. Emissions: "multinomial", where each
feature of a token is drawn by itself (a word, or several categorical features), or
"bernoulli", where each feature is on or off (pixels). Both are linear in x, so the
model is a weight vector for `Chain`, and its Viterbi is the chain's.

[1] The baseline HMM of Tsochantaridis et al. 2005, Table 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.structures.chain.structure import Chain

EMISSIONS = ("multinomial", "bernoulli")


class HMM:
    """Hidden Markov model from counts (see the module docstring).

    Parameters
    ----------
    emission : {"multinomial", "bernoulli"}, default="multinomial"
        How a token comes from its label.
    smoothing : float, default=0.1
        Added to each count.

    Examples
    --------
    >>> X = [[["the"], ["dog"], ["runs"]], [["the"], ["cat"]]]
    >>> y = [["D", "N", "V"], ["D", "N"]]
    >>> HMM().fit(X, y).predict([[["the"], ["runs"]]])
    [['D', 'V']]
    """

    def __init__(self, emission: str = "multinomial", smoothing: float = 0.1) -> None:
        if emission not in EMISSIONS:
            raise ValueError(f"emission={emission!r} is not one of {EMISSIONS}")
        if not smoothing > 0:
            raise ValueError(f"smoothing={smoothing!r} must be greater than zero")
        self.emission = emission
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any) -> HMM:
        """Count."""
        chain = Chain().bind(X, y)
        x = chain.encode(X)
        truth = chain.encode_labels(x, y)
        matrix = x.vectors.csr()
        if self.emission == "bernoulli":
            matrix = (matrix != 0).astype(np.float64)
        elif matrix.nnz and matrix.data.min() < 0:
            raise ValueError(
                "multinomial emissions need features that are not negative"
            )
        k, spot, a = len(chain.labels), chain.layout, self.smoothing
        say = np.zeros((k, matrix.shape[0]))
        say[truth.data, np.arange(matrix.shape[0])] = 1.0
        counts = np.asarray(matrix.T @ say.T)  # (features, labels)
        seen = np.bincount(truth.data, minlength=k).astype(np.float64)
        w = np.zeros(chain.dim)
        if self.emission == "multinomial":
            table = np.log(counts + a) - np.log((counts + a).sum(axis=0))
        else:
            on = (counts + a) / (seen + 2 * a)
            table = np.log(on) - np.log1p(-on)
            w[spot.bias : spot.bias + k] = np.log1p(-on).sum(axis=0)
        w[: spot.width * k] = (table if chain.sparse else table.T).ravel()
        self._count_labels(w, chain, truth)
        self.structure_, self.coef_ = chain, w
        return self

    def _count_labels(self, w: Floats, chain: Chain, truth: Any) -> None:
        k, spot, a = len(chain.labels), chain.layout, self.smoothing
        filled = np.flatnonzero(truth.sizes)
        heads, tips = truth.ptr[filled], truth.ptr[filled + 1] - 1
        inner = np.ones(len(truth.data), bool)
        inner[heads] = False
        after = np.flatnonzero(inner)
        steps = np.zeros((k, k + 1))  # the last column: the sequence ends
        np.add.at(steps, (truth.data[after - 1], truth.data[after]), 1.0)
        np.add.at(steps, (truth.data[tips], k), 1.0)
        start = np.bincount(truth.data[heads], minlength=k) + a
        moves = np.log(steps + a) - np.log((steps + a).sum(axis=1, keepdims=True))
        w[spot.start : spot.start + k] = np.log(start / start.sum())
        w[spot.pairs : spot.pairs + k * k] = moves[:, :k].ravel()
        w[spot.end : spot.end + k] = moves[:, k]

    def predict(self, X: Any) -> list[list[Any]]:
        """Most probable labels."""
        x = self.structure_.encode(X)
        found = self.structure_.argmax(x, np.arange(x.n), self.coef_)
        return self.structure_.decode_labels(x, found.labels)
