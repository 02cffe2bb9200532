"""What may be wrong with an answer of a chain's oracle, said by sequence."""

from __future__ import annotations

import numpy as np

from maxmargin.core.arrays import Floats, Ints


def check_possible(ids: Ints, score: Floats) -> None:
    """Refuse scores that are not finite: no labels fit the mask."""
    if not np.isfinite(score).all():
        i = int(ids[np.flatnonzero(~np.isfinite(score))[0]])
        raise ValueError(
            f"sequence {i}: no label sequence is possible under the transition mask "
            "and the forced labels"
        )


def check_layers(ids: Ints, needed: Ints, most: int) -> None:
    """Refuse what the last layer, shared by all higher costs, would make inexact."""
    over = np.flatnonzero(needed > most)
    if len(over):
        raise ValueError(
            f"sequence {int(ids[over[0]])}: its loss may take {int(needed[over[0]])} "
            f"values, more than the {most} layers that slack rescaling and squared "
            "penalties are computed in: split the sequence, use coarser costs, or "
            "rescaling='margin' with penalty='linear'"
        )
