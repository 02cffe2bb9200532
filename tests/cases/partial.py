"""A tiny chain of which some labels are not known."""

from cases import chain as full
from maxmargin.losses import Hamming, PartialLoss
from maxmargin.structures.chain import Chain
from maxmargin.structures.latent import Partial

LOSSES = [PartialLoss(Hamming()), PartialLoss(Hamming(normalize=True))]


def tiny(rng):
    """The chain of the other case with a third of the labels hidden."""
    _, X, Y = full.tiny(rng)
    hidden = [[None if rng.random() < 0.3 else y for y in row] for row in Y]
    hidden[0] = Y[0]
    return Partial(Chain(start_end=bool(rng.integers(2)))), X, hidden


def outputs(structure, x, i):
    """All label sequences."""
    return full.outputs(structure.inner, x, i)
