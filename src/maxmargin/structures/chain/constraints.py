"""Which label may follow which, and labels that are given: masks, BIO and BIOES names.

A mask is kept as one flat array of 0 (legal) and -inf (illegal) that is added to the
scores: K * K transitions, then K first labels, then K last labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged

SCHEMES = ("bio", "bioes")
Mask = NDArray[np.bool_]
FEW = 12  # labels of spans up to which order 2 suits them


def legal_scores(
    labels: Sequence[Hashable], scheme: str | None, allowed: Any
) -> Floats:
    """0 or -inf for each transition, first and last label; empty if all is legal."""
    if scheme is None and allowed is None:
        return np.empty(0)
    k = len(labels)
    mask, first, last = np.ones((k, k), bool), np.ones(k, bool), np.ones(k, bool)
    if scheme is not None:
        mask, first, last = _scheme_mask(labels, scheme)
    if allowed is not None:
        mask = mask & _given_mask(labels, allowed)
    flat = np.concatenate([mask.ravel(), first, last])
    return np.where(flat, 0.0, -np.inf)


def found_rules(flat: Sequence[Any], ptr: Ints) -> tuple[str | None, Mask | None]:
    """(scheme, allowed) for labels that mark spans, as far as the data follow a scheme.

    Data with errors, where the scheme forbids what occurs, get a mask that allows what
    the scheme allows and what occurs. All else is None.

    Examples
    --------
    >>> found_rules(["B-PER", "I-PER", "O"], np.array([0, 3]))
    ('bio', None)
    >>> found_rules(["N", "V"], np.array([0, 2]))
    (None, None)
    >>> scheme, mask = found_rules(["O", "I-PER", "B-PER"], np.array([0, 3]))
    >>> scheme, mask.tolist()  # labels: B-PER, I-PER, O
    (None, [[True, True, True], [True, True, True], [True, True, True]])
    """
    known = sorted({label for label in flat if label is not None}, key=str)
    heads = {split_label(label)[0] if type(label) is str else "" for label in known}
    spans = [label for label in known if label != "O"]
    if not spans or not all(split_label(label)[1] for label in spans):
        return None, None
    if not heads <= set("BIOES") or not heads & set("IES"):
        return None, None
    scheme = "bioes" if heads & set("ES") else "bio"
    mask, first, last = _scheme_mask(known, scheme)
    where: dict[Any, int] = {label: k for k, label in enumerate(known)}
    where[None] = -1
    code = np.fromiter(map(where.__getitem__, flat), np.int64, len(flat))
    inner = np.ones(len(code), bool)
    filled = np.diff(ptr) > 0
    heads_at, tips_at = ptr[:-1][filled], ptr[1:][filled] - 1
    inner[heads_at] = False
    after = np.flatnonzero(inner)
    after = after[(code[after] >= 0) & (code[after - 1] >= 0)]
    legal = mask[code[after - 1], code[after]].all()
    begin, end = code[heads_at], code[tips_at]
    legal = legal and first[begin[begin >= 0]].all() and last[end[end >= 0]].all()
    if legal:
        return scheme, None
    mask[code[after - 1], code[after]] = True
    return None, mask


def suiting_rules(
    flat: Sequence[Any], ptr: Ints, order: bool, scheme: bool
) -> dict[str, Any]:
    """Fields of `Chain` that suit labels which mark spans: order and scheme, if asked for.

    Examples
    --------
    >>> suiting_rules(["B-PER", "I-PER", "O"], np.array([0, 3]), True, True)
    {'order': 2, 'scheme': 'bio', 'allowed': None}
    """
    name, mask = found_rules(flat, ptr)
    short = (name is not None or mask is not None) and len(set(flat)) <= FEW
    fields: dict[str, Any] = {"order": 2} if order and short else {}
    return fields | ({"scheme": name, "allowed": mask} if scheme else {})


def _given_mask(labels: Sequence[Hashable], allowed: Any) -> Mask:
    k = len(labels)
    if isinstance(allowed, set | frozenset):
        where = {label: j for j, label in enumerate(labels)}
        mask = np.zeros((k, k), bool)
        for pair in allowed:
            if len(pair) != 2 or pair[0] not in where or pair[1] not in where:
                raise ValueError(f"allowed: {pair!r} is not a pair of known labels")
            mask[where[pair[0]], where[pair[1]]] = True
        return mask
    mask = np.asarray(allowed)
    if mask.dtype.kind not in "biuf" or not ((mask == 0) | (mask == 1)).all():
        raise ValueError(
            "allowed must be a set of label pairs, or an array of True and False"
        )
    mask = mask.astype(bool)
    if mask.shape != (k, k):
        raise ValueError(
            f"allowed has shape {mask.shape}, but there are {k} labels: it must be "
            f"({k}, {k}), [before, after] in sorted label order, or a set of pairs"
        )
    return mask


def split_label(label: Hashable) -> tuple[str, str]:
    """('B', 'PER') of 'B-PER'; ('O', '') of 'O'.

    Examples
    --------
    >>> split_label("B-PER"), split_label("O")
    (('B', 'PER'), ('O', ''))
    """
    head, _, kind = str(label).partition("-")
    return head, kind


def _scheme_mask(labels: Sequence[Hashable], scheme: str) -> tuple[Mask, Mask, Mask]:
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not one of 'bio', 'bioes'")
    heads = "BIO" if scheme == "bio" else "BIOES"
    parts = [split_label(label) for label in labels]
    for label, (head, kind) in zip(labels, parts):
        if head not in heads or len(head) != 1 or (head == "O") != (kind == ""):
            raise ValueError(
                f"label {label!r} does not fit scheme={scheme!r}: labels are 'O' or "
                f"one of {', '.join(h for h in heads if h != 'O')} with '-' and a type"
            )
    inside = "I" if scheme == "bio" else "IE"
    mask = np.ones((len(labels), len(labels)), bool)
    for i, (head, kind) in enumerate(parts):
        opened = head in "BI"
        for j, (after, kind2) in enumerate(parts):
            goes_on = after in inside
            if goes_on:
                mask[i, j] = opened and kind == kind2
            elif scheme == "bioes":
                mask[i, j] = not opened
    first = np.array([head not in inside for head, _ in parts], bool)
    last = np.array([scheme == "bio" or head not in "BI" for head, _ in parts], bool)
    return mask, first, last


def forced_labels(
    labels: Sequence[Hashable], ptr: Ints, forced: Sequence[Any]
) -> Labels:
    """Number of the label that each token must have, -1 where any label will do."""
    where = {label: k for k, label in enumerate(labels)}
    out = np.full(int(ptr[-1]), -1, np.int32)
    if isinstance(forced, Mapping | str):
        raise ValueError(
            f"forced is one {type(forced).__name__}: a list with an entry for each "
            "sequence is needed, as in [{0: 'O'}]"
        )
    if len(forced) != len(ptr) - 1:
        raise ValueError(
            f"forced has {len(forced)} entries for {len(ptr) - 1} sequences"
        )
    for i, row in enumerate(forced):
        if isinstance(row, str):
            raise ValueError(
                f"sequence {i}: forced is the string {row!r:.40}: give a label for each "
                "token, or None, or a mapping from tokens to labels"
            )
        items = row.items() if isinstance(row, Mapping) else enumerate(row or ())
        for t, label in items:
            if label is None:
                continue
            if not 0 <= t < ptr[i + 1] - ptr[i]:
                raise ValueError(f"sequence {i} has no token {t} to force")
            if label not in where:
                raise ValueError(f"sequence {i}, token {t}: unknown label {label!r}")
            out[ptr[i] + t] = where[label]
    return out


def check_truth(labels: Sequence[Hashable], legal: Floats, truth: Ragged) -> None:
    """Refuse true labels that the mask forbids: name the first one."""
    k = len(labels)
    if len(legal) == 0 or len(truth.data) == 0:
        return
    mask = np.isfinite(legal[: k * k]).reshape(k, k)
    first, last = np.isfinite(legal[k * k : k * k + k]), np.isfinite(legal[k * k + k :])
    _check_reach(labels, mask, first, last, truth)
    data, filled = truth.data, np.flatnonzero(truth.sizes)
    heads, tips = truth.ptr[filled], truth.ptr[filled + 1] - 1
    for ok, at, what in ((first, heads, "begin"), (last, tips, "end")):
        bad = np.flatnonzero(~ok[data[at]])
        if len(bad):
            label = labels[data[at[bad[0]]]]
            raise ValueError(
                f"{_place(truth, at[bad[0]])}: no sequence may {what} with {label!r}"
                f"{_iob1(label)}"
            )
    inner = np.ones(len(data), bool)
    inner[heads] = False
    after = np.flatnonzero(inner)
    bad = after[~mask[data[after - 1], data[after]]]
    if len(bad):
        a, b = labels[data[bad[0] - 1]], labels[data[bad[0]]]
        raise ValueError(
            f"{_place(truth, bad[0])}: {b!r} may not follow {a!r}{_iob1(b)}"
        )


def _iob1(label: Hashable) -> str:
    """What to do about an entity that begins with I-."""
    if split_label(label)[0] != "I":
        return ""
    return (
        ". If the data are IOB1, where entities begin with I-, rewrite the first label of "
        "each entity as B- (IOB2), or leave scheme out"
    )


def _check_reach(
    labels: Sequence[Hashable], mask: Mask, first: Mask, last: Mask, truth: Ragged
) -> None:
    """Every label must lie on some legal path from a first to a last label."""
    reached, leaves = first.copy(), last.copy()
    for _ in labels:
        reached |= mask[reached].any(axis=0)
        leaves |= mask[:, leaves].any(axis=1)
    lost = np.flatnonzero(~(reached & leaves))
    for k in map(int, lost):
        at = np.flatnonzero(truth.data == k)
        where = f"{_place(truth, at[0])}: " if len(at) else ""
        raise ValueError(
            f"{where}label {labels[k]!r} can never occur: the allowed transitions do not "
            f"lead to it, or not from it to an end{_advice(labels, k)}"
        )


def _advice(labels: Sequence[Hashable], k: int) -> str:
    """What to do about labels that BIO does not allow."""
    head, kind = split_label(labels[k])
    if head != "I" or f"B-{kind}" in labels:
        return ""
    return (
        f". There is no 'B-{kind}', so the data look like IOB1, where entities begin with "
        "I-: rewrite the first label of each entity as B- (IOB2), or leave scheme out"
    )


def _place(truth: Ragged, row: int) -> str:
    i = int(np.searchsorted(truth.ptr, row, "right")) - 1
    return f"sequence {i}, token {row - truth.ptr[i]}"
