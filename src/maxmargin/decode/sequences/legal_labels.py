"""Which label may follow which under BIO, IOB1, BIOES, BILOU, as tables of 0 and -inf.

In BIO (IOB2) every entity begins with B-; in BIOES single tokens are S- and the last of
several is E-; in IOB1 entities begin with I-, and B- stands only where an entity follows
another one of its type at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats
from maxmargin.structures.chain.constraints import legal_scores, split_label

SCHEMES = ("bio", "iob1", "bioes", "bilou")


def legal_tables(
    labels: Sequence[Hashable] | None, k: int, scheme: str | None, allowed: Any
) -> tuple[Floats, Floats, Floats] | None:
    """0 or -inf for transitions, first and last labels; None if all is legal.

    Examples
    --------
    >>> pairs, first, last = legal_tables(["O", "B-X", "I-X"], 3, "bio", None)
    >>> np.isfinite(pairs).astype(int).tolist(), np.isfinite(first).tolist()
    ([[1, 1, 0], [1, 1, 1], [1, 1, 1]], [True, True, False])
    """
    if scheme is None and allowed is None:
        return None
    if scheme is not None and scheme not in SCHEMES:
        raise ValueError(
            f"scheme={scheme!r} is not one of {', '.join(map(repr, SCHEMES))}"
        )
    names = list(range(k)) if labels is None else list(labels)
    flat = np.zeros(k * k + 2 * k)
    if scheme == "bilou":  # BIOES with other letters
        names, scheme = [_as_bioes(name) for name in names], "bioes"
    if scheme == "iob1":
        flat = flat + _iob1(names)
        scheme = None
    if scheme is not None or allowed is not None:
        flat = flat + legal_scores(names, scheme, allowed)
    return flat[: k * k].reshape(k, k), flat[k * k : k * k + k], flat[k * k + k :]


def _as_bioes(label: Hashable) -> Hashable:
    """E- and S- for L- and U-."""
    head, kind = split_label(label)
    letter = {"L": "E", "U": "S", "B": "B", "I": "I"}.get(head)
    if head != "O" and (letter is None or not kind):
        raise ValueError(
            f"label {label!r} does not fit scheme='bilou': labels are 'O', or B, I, L or "
            "U with '-' and a type"
        )
    return label if letter is None else f"{letter}-{kind}"


def _iob1(labels: Sequence[Hashable]) -> Floats:
    parts = [split_label(label) for label in labels]
    for label, (head, kind) in zip(labels, parts, strict=True):
        if head not in ("B", "I", "O") or (head == "O") != (kind == ""):
            raise ValueError(
                f"label {label!r} does not fit scheme='iob1': labels are 'O', or B or "
                "I with '-' and a type"
            )
    k = len(labels)
    pairs, first = np.zeros((k, k)), np.zeros(k)
    for j, (head, kind) in enumerate(parts):
        if head == "B":
            first[j] = -np.inf
            for i, (before, kind_before) in enumerate(parts):
                if before == "O" or kind_before != kind:
                    pairs[i, j] = -np.inf
    return np.concatenate([pairs.ravel(), first, np.zeros(k)])
