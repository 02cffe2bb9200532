"""Which labels may be neighbours, and what is refused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Ragged
from maxmargin.core.data.tokens.label_schemes import SCHEMES
from maxmargin.structures.segments.evidence import SEEN
from maxmargin.structures.segments.layout import ROLES
from maxmargin.structures.segments.spans import LONGER
from maxmargin.structures.segments.vocabulary import FAMILIES

WIDEST = 1000  # tokens of a segment, and window


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


def check_settings(segments: Any) -> None:
    """Refuse hyper-parameters of `Segments` that mean nothing."""
    whole = isinstance(segments.max_length, int | np.integer)
    if not whole or not 1 <= segments.max_length <= WIDEST:
        raise ValueError(
            f"max_length={segments.max_length!r} is not a number of tokens from 1 to {WIDEST}"
        )
    if segments.roles not in ROLES:
        raise ValueError(f"roles={segments.roles!r} is not 'bioes', 'bio' or None")
    if segments.longer not in LONGER:
        raise ValueError(f"longer={segments.longer!r} is not 'error' or 'split'")
    if segments.told_scheme not in (None, *SCHEMES):
        raise ValueError(
            f"scheme={segments.told_scheme!r} is not one of {', '.join(map(repr, SCHEMES))}"
        )
    if not 0 <= segments.window <= WIDEST:
        raise ValueError(f"window={segments.window!r} is out of range")
    for name in segments.segment_features:
        if name not in (*FAMILIES, SEEN):
            raise ValueError(
                f"segment_features: {name!r} is not known; choose from "
                f"{', '.join(map(repr, (*FAMILIES, SEEN)))}"
            )
    for gazetteer in segments.gazetteers:
        if not gazetteer.lower:
            raise ValueError(
                f"gazetteer {gazetteer.name!r} is sensitive to case: segments are "
                "compared in lower case, make it with lower=True"
            )
    if segments.templates is not None and segments.templates.bigrams:
        raise ValueError(
            "templates with bigrams (features of label pairs) are not known to "
            "segments: leave the bigrams out"
        )
    if segments.templates is not None and segments.window:
        raise ValueError("templates read neighbours themselves: leave window at 0")
