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
    if scheme is not None:
        flat = flat + _scheme_scores(names, scheme)
        _check_useful(names, scheme, *_split(flat, k))
    if allowed is not None:
        flat = flat + legal_scores(names, None, allowed)
    return _split(flat, k)


def _split(flat: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Transitions, first and last labels."""
    return flat[: k * k].reshape(k, k), flat[k * k : k * k + k], flat[k * k + k :]


def _scheme_scores(names: Sequence[Hashable], scheme: str) -> Floats:
    """0 or -inf by the rules of a scheme."""
    if scheme == "iob1":
        return _iob1(names)
    if scheme == "bilou":  # BIOES with other letters
        return legal_scores([_as_bioes(name) for name in names], "bioes", None)
    return legal_scores(names, scheme, None)


def _check_useful(
    names: Sequence[Hashable], scheme: str, pairs: Floats, first: Floats, last: Floats
) -> None:
    """Refuse labels that no legal sequence contains: the scheme is another one.

    Otherwise a tagger with the labels O and I-X, say, would silently answer O everywhere.
    """
    step, before, behind = pairs == 0, first == 0, last == 0
    for _ in names:
        before = before | step[before].any(axis=0)
        behind = behind | step[:, behind].any(axis=1)
    dead = np.flatnonzero(~(before & behind))
    if len(dead):
        raise ValueError(
            f"label {names[dead[0]]!r} is in no legal sequence of these labels under "
            f"scheme={scheme!r}: is the scheme another one ('bio', 'iob1', 'bioes', "
            "'bilou'), or is a label missing?"
        )


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
