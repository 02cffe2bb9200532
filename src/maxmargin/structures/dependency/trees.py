"""Dependency trees as rows of integers, and back; what is wrong with a tree.

A tree is a list with the head of each token: 0 is the root, h > 0 is token h - 1, as in
CoNLL-U. With labels it is a list of (head, label) pairs. Its row has
head * labels + label of each token.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from maxmargin.core.data.arrays import check_ordered
from maxmargin.core.data.validation import check_heads

Arc = tuple[int, str]  # head, label


def checked_arcs(i: int, tree: Any, n: int) -> list[Arc]:
    """Heads and labels ("" without labels) of tree i, if it is a tree of n tokens."""
    if tree is None or isinstance(tree, str) or not hasattr(tree, "__iter__"):
        raise ValueError(
            f"sentence {i}: {tree!r:.40} is not a tree: give the head of each token, or a "
            "(head, label) pair"
        )
    check_ordered(tree, f"sentence {i}")
    arcs = [_arc(i, t, entry) for t, entry in enumerate(tree)]
    if len(arcs) != n:
        raise ValueError(f"sentence {i} has {n} tokens, but heads of {len(arcs)}")
    for t, (head, _) in enumerate(arcs):
        if not 0 <= head <= n:
            raise ValueError(
                f"sentence {i}, token {t}: head {head} is not one of 0 .. {n} (0 is the "
                "root, 1 the first token)"
            )
    check_heads([head for head, _ in arcs], f"sentence {i}")
    return arcs


def _arc(i: int, t: int, entry: Any) -> Arc:
    head, label = entry, ""
    if isinstance(entry, tuple | list) and len(entry) == 2:
        head, label = entry
    if not isinstance(head, Integral) or isinstance(head, bool):
        kind = "whole number" if isinstance(head, Real) else "number"
        raise ValueError(f"sentence {i}, token {t}: the head {head!r:.40} is no {kind}")
    if not isinstance(label, str):
        raise ValueError(
            f"sentence {i}, token {t}: the label {label!r:.40} is not a string"
        )
    return int(head), label


def crossing_arcs(heads: Sequence[int]) -> tuple[int, int] | None:
    """Two tokens whose arcs cross when drawn above the sentence; None if none do.

    Examples
    --------
    >>> crossing_arcs([2, 0, 2]), crossing_arcs([3, 4, 0, 3])
    (None, (0, 1))
    """
    spans = [sorted((t + 1, head)) for t, head in enumerate(heads)]
    for t, (low, high) in enumerate(spans):
        for u in range(low, high - 1):  # tokens strictly inside, as 0-based numbers
            if not low <= heads[u] <= high:
                return min(t, u), max(t, u)
    return None


def is_projective(tree: Sequence[Any]) -> bool:
    """Whether no arcs of a tree cross.

    Examples
    --------
    >>> is_projective([2, 0, 2]), is_projective([(3, "a"), (4, "b"), (0, "c"), (3, "d")])
    (True, False)
    """
    heads = [entry[0] if isinstance(entry, tuple | list) else entry for entry in tree]
    return crossing_arcs(heads) is None


def projective_heads(heads: Sequence[int]) -> list[int]:
    """Heads of a projective tree: arcs that cross others move up to the head's head.

    The shortest arc whose tokens in between do not all hang below its head is lifted
    first, until there is none (Nivre and Nilsson 2005).

    Examples
    --------
    >>> projective_heads([3, 4, 0, 3])
    [3, 3, 0, 3]
    """
    out = list(heads)
    while True:
        lifted = _shortest_lift(out)
        if lifted is None:
            return out
        out[lifted] = out[out[lifted] - 1]


def _shortest_lift(heads: Sequence[int]) -> int | None:
    best, shortest = None, len(heads) + 2
    for t, head in enumerate(heads):
        if head == 0 or abs(head - t - 1) >= shortest:
            continue
        between = range(min(head, t + 1) + 1, max(head, t + 1))
        if not all(_below(heads, k, head) for k in between):
            best, shortest = t, abs(head - t - 1)
    return best


def _below(heads: Sequence[int], node: int, head: int) -> bool:
    while node not in (0, head):
        node = heads[node - 1]
    return node == head


def check_allowed(i: int, heads: Sequence[int], projective: bool, single: bool) -> None:
    """Refuse crossing arcs and several roots where they are not allowed."""
    roots = [t for t, head in enumerate(heads) if head == 0]
    if single and len(roots) > 1:
        raise ValueError(
            f"sentence {i}: tokens {roots[0]} and {roots[1]} both have the root as "
            "their head; use single_root=False if that is meant"
        )
    crossing = crossing_arcs(heads) if projective else None
    if crossing is not None:
        raise ValueError(
            f"sentence {i}: the arcs of tokens {crossing[0]} and {crossing[1]} cross; use "
            "projective=False, or move arcs up by projective_heads of "
            "maxmargin.structures.dependency"
        )
