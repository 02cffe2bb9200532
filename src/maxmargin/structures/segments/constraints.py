"""Which labels may be neighbours, and what is refused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.inference.chain.variants import LAYERS


def legal_pairs(labels: Sequence[Hashable], forbidden: Any) -> Floats:
    """0, or -inf for forbidden pairs [label, next label]; empty if nothing is forbidden.

    Examples
    --------
    >>> legal_pairs(("O", "PER"), {("PER", "PER")}).tolist()
    [0.0, 0.0, 0.0, -inf]
    """
    if forbidden is None or len(forbidden) == 0:
        return np.empty(0)
    where = {label: k for k, label in enumerate(labels)}
    out = np.zeros(len(labels) ** 2)
    for pair in forbidden:
        if isinstance(pair, str) or len(pair) != 2 or not set(pair) <= set(labels):
            known = ", ".join(map(repr, labels))
            raise ValueError(
                f"forbidden: {pair!r} is not a pair of known labels ({known})"
            )
        out[where[pair[0]] * len(labels) + where[pair[1]]] = -np.inf
    return out


def check_neighbours(labels: Sequence[Hashable], legal: Floats, rows: Ragged) -> None:
    """Refuse true neighbours that are forbidden: name the first ones."""
    if len(legal) == 0 or len(rows.data) < 2:
        return
    label = (rows.data + 1) // 2
    begins = (rows.data == 0) | (rows.data % 2 == 1)
    begins[rows.ptr[rows.ptr < len(begins)]] = False
    later = np.flatnonzero(begins)
    pairs = label[later - 1] * len(labels) + label[later]
    bad = later[~np.isfinite(legal[pairs])]
    if len(bad):
        i = int(np.searchsorted(rows.ptr, bad[0], "right")) - 1
        a, b = labels[label[bad[0] - 1]], labels[label[bad[0]]]
        raise ValueError(
            f"sequence {i}, token {bad[0] - rows.ptr[i]}: {b!r} follows {a!r}, which is "
            "forbidden"
        )


def check_possible(ids: Ints, score: Floats) -> None:
    """Refuse scores that are not finite: all outputs are forbidden."""
    if not np.isfinite(score).all():
        i = int(ids[np.flatnonzero(~np.isfinite(score))[0]])
        raise ValueError(f"sequence {i}: every output has forbidden neighbours")


def check_layers(ids: Ints, needed: Ints) -> None:
    """Refuse losses of too many values to be told apart."""
    over = np.flatnonzero(needed > LAYERS)
    if len(over):
        raise ValueError(
            f"sequence {int(ids[over[0]])}: its loss may take {int(needed[over[0]])} "
            f"values, more than the {LAYERS} layers that slack rescaling and squared "
            "penalties are computed in: split the sequence, use coarser costs, or "
            "rescaling='margin' with penalty='linear'"
        )
