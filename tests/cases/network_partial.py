"""Tiny networks of which some labels are not known."""

from cases import network as full
from maxmargin.losses import Hamming, PartialLoss
from maxmargin.structures.latent import PartialNetwork

LOSSES = [PartialLoss(Hamming()), PartialLoss(Hamming(normalize=True))]


def tiny(rng):
    """The forests of the other case with a third of the labels hidden."""
    _, X, Y = full.tiny(rng)
    hidden = [[None if rng.random() < 0.3 else y for y in row] for row in Y]
    hidden[0] = Y[0]
    return PartialNetwork(), X, hidden


def outputs(structure, x, i):
    """All labellings."""
    return full.outputs(structure, x, i)


def same(y, z):
    """Labels and Nones alike."""
    return list(y) == list(z)
