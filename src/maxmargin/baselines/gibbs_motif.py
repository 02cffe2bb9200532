"""Motif finding by Gibbs sampling: one motif in every positive sequence.

Place of the motif in sequence i given all other places, up to a factor,

    P(h_i = h) = prod_j p_j(x_{h+j}) / q(x_{h+j} | the bases before),

p_j from the counts at the other places plus pseudo-counts, q a Markov background of
order 0 to 3 estimated beforehand. A sequence is scored by its best log-odds window.

[1] Lawrence et al. 1993; as the control in Yu 2011, section 5.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.inference.motif_sampler import log_background, markov, sample
from maxmargin.structures.motif import Motif

PSEUDO = 0.5


@dataclass
class GibbsMotif:
    """Gibbs sampler with a Markov background.

    Parameters
    ----------
    length, order, both_strands
        As in `MotifSVM`.
    sweeps : int
        Passes over the sequences per start.
    restarts : int
        Starts; the places of the highest log-odds ever seen are kept.
    seed : int

    Examples
    --------
    >>> X = ["ccTATAgc", "gTATAccg", "cgcTATAc"]
    >>> model = GibbsMotif(length=4, order=0).fit(X, ["gcgcgccg", "ccggcgcc"])
    >>> "".join("ACGT"[k] for k in model.probabilities_.argmax(axis=1))
    'TATA'
    """

    length: int = 11
    order: int = 3
    both_strands: bool = False
    sweeps: int = 200
    restarts: int = 5
    seed: int = 0

    def fit(self, X: Sequence[Any], background: Sequence[Any] | None = None) -> Self:
        """Learn from positive sequences; the background from others if given."""
        structure = Motif(self.length, self.order, self.both_strands)
        x = structure.bind(X, [1] * len(X)).encode(X)
        if (np.diff(x.ptr) < self.length).any():
            i = int(np.flatnonzero(np.diff(x.ptr) < self.length)[0])
            raise ValueError(f"sequence {i} is shorter than the motif")
        behind = structure.encode(background) if background is not None else x
        self._q = markov(behind.context, self.order)
        odds = log_background(x.context, self._q)
        best = -np.inf
        for r in range(self.restarts):
            rng = np.random.default_rng([self.seed, r])
            draws = rng.random((self.sweeps + 1, len(X)))
            strands = 2 if self.both_strands else 1
            value, counts, _ = sample(
                x.ptr, x.letter, odds, self.length, strands, draws, PSEUDO, 4
            )
            if value > best:
                best, self.counts_ = value, counts
        p = self.counts_ + PSEUDO
        self.probabilities_ = p / p.sum(axis=1, keepdims=True)
        self.log_odds_ = best
        return self

    def decision_function(self, X: Sequence[Any]) -> Floats:
        """Log-odds of the best window of each sequence."""
        structure = Motif(self.length, self.order, self.both_strands)
        w = np.concatenate((np.log(self.probabilities_).ravel(), self._q))
        x = structure.encode(X)
        return structure.gains(x, np.arange(x.n), w)[1]
